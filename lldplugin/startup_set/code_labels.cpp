// Code that a runtime finds between two labels.
#include "startup_set/code_labels.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// Whether OCaml's compiler and runtime have such symbols.
static bool isOfOcaml(StringRef name) { return name.starts_with("caml"); }

template <class ELFT>
bool mayLabelCode(const ElfObject<ELFT> &object, const typename ELFT::Sym &symbol, StringRef name,
                  uint32_t section) {
  if (symbol.getType() != ELF::STT_NOTYPE)
    return false;
  const auto &header = object.sections()[section];
  // Assemblers always make a section .text, which may be empty.
  return (header.sh_flags & ELF::SHF_EXECINSTR) &&
         ((!header.sh_size && object.nameBegin(header).starts_with(".text.")) ||
          name == "caml_system__code_begin");
}

template <class ELFT> void keepLabelled(ObjectScan<ELFT> &scan) {
  if (scan.codeLabels.empty())
    return;
  ElfObject<ELFT> &object = *scan.object;
  for (auto [name, section] : scan.codeLabels)
    if (isOfOcaml(name) && name.ends_with("code_begin") && !name.starts_with("caml_system") &&
        !name.starts_with("caml_hot"))
      scan.firstLabel = section;
    else if (isOfOcaml(name))
      object.keepPlace(section);
    else
      for (auto [index, header] : enumerate(object.sections()))
        if (header.sh_flags & ELF::SHF_EXECINSTR)
          object.keepPlace(uint32_t(index));
  for (EntryMatch &m : scan.matches)
    if (object.keepsPlace(m.section))
      m.keptSection = std::exchange(m.section, 0);
}

template <class ELFT> void placeFirstLabel(ObjectScan<ELFT> &scan) {
  if (!scan.firstLabel)
    return;
  auto hasCode = [](const Places &places) {
    return any_of(
        places, [](const auto &place) { return place.second.sectionClass == SectionClass::Text; });
  };
  if (hasCode(scan.named) || hasCode(scan.next))
    scan.named[scan.firstLabel] = Place{0, SectionClass::Text};
}

#define INSTANTIATE(ELFT)                                                                          \
  template bool mayLabelCode(const ElfObject<ELFT> &, const ELFT::Sym &, StringRef, uint32_t);     \
  template void keepLabelled(ObjectScan<ELFT> &);                                                  \
  template void placeFirstLabel(ObjectScan<ELFT> &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
