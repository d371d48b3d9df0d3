//===- linked_sections.cpp - the sections of a link, before it is written --===//

#include "plan/linked_sections.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include <numeric>

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

/// The names that lie in each object, which is where sections have them.
static std::vector<std::vector<NumberedName>> byObject(const FrontLink &link,
                                                       ArrayRef<const char *> names) {
  const ArrayRef<StringRef> objects = link.inputs();
  std::vector<uint32_t> byAddress(objects.size());
  std::iota(byAddress.begin(), byAddress.end(), 0);
  llvm::sort(byAddress,
             [&](uint32_t a, uint32_t b) { return objects[a].data() < objects[b].data(); });
  std::vector<std::vector<NumberedName>> result(objects.size());
  StringRef bytes; // of the last object
  std::vector<NumberedName> *found = nullptr;
  for (auto [number, name] : enumerate(names)) {
    if (name < bytes.begin() || name >= bytes.end()) {
      auto after = llvm::partition_point(
          byAddress, [&](uint32_t object) { return objects[object].data() <= name; });
      if (after == byAddress.begin())
        continue;
      bytes = objects[*--after];
      found = &result[*after];
    }
    found->emplace_back(name, uint32_t(number));
  }
  return result;
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
  // lld has the sections of nearly all objects in the order of their section tables.
  size_t next = 0;
  auto take = [&](const char *name) -> std::optional<uint32_t> {
    if (next == names.size() || names[next].first != name)
      return std::nullopt;
    return names[next++].second;
  };
  for (const auto &section : object.sections())
    take(object.nameBegin(section).data());
  DenseMap<const char *, uint32_t> inAnyOrder;
  if (next != names.size())
    inAnyOrder.insert_range(names);
  next = 0;
  StringRef lastName;
  Output last = {};
  for (auto [index, section] : enumerate(object.sections())) {
    const char *address = object.nameBegin(section).data();
    std::optional<uint32_t> numberOfName;
    if (inAnyOrder.empty())
      numberOfName = take(address);
    else if (auto found = inAnyOrder.find(address); found != inAnyOrder.end())
      numberOfName = found->second;
    if (!numberOfName || section.sh_type == ELF::SHT_NOBITS || !(section.sh_flags & ELF::SHF_ALLOC))
      continue;
    StringRef name = object.name(section), outputName = name.substr(0, name.find('.', 1));
    if (lastName != outputName) {
      lastName = outputName;
      last = outputOf(outputName);
    }
    std::optional<uint32_t> planNumber = placement.numberOf(address);
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
           part < Part::Text && part != Part::Strings && isRead, number, uint32_t(index), planned},
          *numberOfName);
  }
}

void LinkedSections::forEach(ArrayRef<const char *> names,
                             function_ref<void(const Piece &, uint32_t)> visit) {
  for (auto [number, bytes, own] : enumerate(link.inputs(), byObject(link, names)))
    if (!own.empty())
      withElfObject(bytes, /*isLinked=*/false,
                    [&](const auto &object) { forEachOf(object, uint32_t(number), own, visit); });
}

} // namespace frontload
