// The sections of a link, before it is written.
#include "plan/linked_sections.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;

namespace frontload {

static Rights rightsOf(StringRef name, uint32_t type, uint64_t flags) {
  if (flags & ELF::SHF_EXECINSTR)
    return Rights::Execute;
  if (!(flags & ELF::SHF_WRITE))
    return Rights::Read;
  bool isRelro =
      type != ELF::SHT_PROGBITS || (flags & ELF::SHF_TLS) || hasStem(name, ".data.rel.ro");
  return isRelro ? Rights::Relro : Rights::Write;
}

/// `isBehind` is whether a section without a pattern lies behind the front.
static Part partOf(std::optional<Pattern> pattern, Rights rights, bool isBehind) {
  static constexpr Part ofPattern[numPatterns] = {
      Part::FrontRodata, Part::FrontText, Part::Relro, Part::Data,
      Part::RestOfData,  Part::Strings,   Part::Text,  Part::Rodata};
  static constexpr Part others[][2] = {{Part::Constants, Part::Rodata},
                                       {Part::FrontText, Part::Text},
                                       {Part::Relro, Part::Relro},
                                       {Part::Data, Part::RestOfData}};
  return pattern ? ofPattern[static_cast<unsigned>(*pattern)]
                 : others[static_cast<unsigned>(rights)][isBehind];
}

/// The output section of input sections with this name, up to its second dot.
LinkedSections::Output LinkedSections::outputOf(StringRef name) {
  auto [found, isNew] = outputs.try_emplace(name);
  if (isNew)
    found->second = {
        uint32_t(outputs.size()),
        is_contained({".text", ".rodata", ".eh_frame", ".gcc_except_table", ".data"}, name) ||
            is_contained(behind, name)};
  return found->second;
}

template <class ELFT>
void LinkedSections::forEachOf(const ElfObject<ELFT> &object, uint32_t number,
                               ArrayRef<NumberedName> names,
                               function_ref<void(const Piece &, uint32_t)> visit) {
  StringRef lastName;
  Output last = {};
  forEachNamed(object, names, [&](uint32_t index, uint32_t numberOfName) {
    const auto &section = object.sections()[index];
    if (section.sh_type == ELF::SHT_NOBITS || !(section.sh_flags & ELF::SHF_ALLOC))
      return;
    StringRef name = object.name(section), outputName = name.substr(0, name.find('.', 1));
    if (lastName != outputName) {
      lastName = outputName;
      last = outputOf(outputName);
    }
    std::optional<uint32_t> planNumber = placement.numberOf(name.data());
    const PlannedSection *planned = planNumber ? &placement.sections()[*planNumber] : nullptr;
    std::optional<Pattern> pattern = planned ? planned->pattern : placement.patternOfOther(name);
    Rights rights = rightsOf(name, section.sh_type, section.sh_flags);
    bool isLarge = (section.sh_flags & ELF::SHF_WRITE) && section.sh_flags & ELF::SHF_X86_64_LARGE;
    bool isBehind = last.isBehind || is_contained(behind, name);
    Part part = isLarge ? Part::LargeData : partOf(pattern, rights, isBehind);
    bool isRead = pattern ? planned && placement.isOfAllRuns(*planned)
                          : part != Part::Relro || !placement.uses(Pattern::Relro);
    visit({section.sh_size, std::max<uint64_t>(section.sh_addralign, 1), rights, part, last.number,
           pattern && planned ? planned->order : UINT32_MAX,
           part < Part::Text && part != Part::Strings && isRead, number, index, planned},
          numberOfName);
  });
}

void LinkedSections::forEach(ArrayRef<const char *> names,
                             function_ref<void(const Piece &, uint32_t)> visit) {
  for (auto [number, bytes, own] : enumerate(link.inputs(), namesByObject(link.inputs(), names)))
    if (!own.empty())
      withElfObject(bytes, /*isLinked=*/false,
                    [&](const auto &object) { forEachOf(object, uint32_t(number), own, visit); });
}

} // namespace frontload
