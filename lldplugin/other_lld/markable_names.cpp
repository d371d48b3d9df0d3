//===- markable_names.cpp - which names of sections a mark may overwrite ---===//

#include "other_lld/markable_names.h"
#include "elf/elf_object.h"
#include "plan/section_marks.h"
#include "llvm/ADT/BitVector.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// Whether the string table `names` overlaps something else, as in no sane object.
template <class ELFT>
static bool isShared(StringRef object, const ElfObject<ELFT> &elf, StringRef names) {
  uint64_t begin = names.data() - object.data(), end = begin + names.size();
  auto overlaps = [&](uint64_t offset, uint64_t size) {
    return offset < end && offset + size > begin;
  };
  auto sections = elf.sections();
  uint64_t headers = reinterpret_cast<const char *>(sections.data()) - object.data();
  if (overlaps(0, sizeof(typename ELFT::Ehdr)) ||
      overlaps(headers, sections.size() * sizeof(typename ELFT::Shdr)))
    return true;
  return count_if(sections, [&](const auto &s) {
           return s.sh_type != ELF::SHT_NOBITS && s.sh_type != ELF::SHT_NULL &&
                  overlaps(s.sh_offset, s.sh_size);
         }) != 1;
}

namespace {
/// Where in a table of strings names begin.
class Beginnings {
public:
  explicit Beginnings(StringRef t) : table(t), bits(t.size()) {}
  void add(const char *name) {
    if (name >= table.begin() && name < table.end())
      bits.set(name - table.begin());
  }
  bool hasAny(size_t begin, size_t end) const {
    int found = bits.find_first_in(begin, std::min<size_t>(end, bits.size()));
    return found != -1;
  }

private:
  StringRef table;
  BitVector bits;
};
} // namespace

template <class ELFT>
static std::vector<MarkableName> look(StringRef bytes, const ElfObject<ELFT> &object,
                                      ArrayRef<const char *> names) {
  std::vector<MarkableName> result(names.size());
  StringRef table = object.sectionNameTable();
  bool isOdd = isShared(bytes, object, table);
  DenseMap<const char *, size_t> position;
  for (auto [i, name] : enumerate(names))
    position[name] = i;
  Beginnings ofSections(table), ofSymbols(table);
  SmallVector<uint32_t, 0> positionOf(object.sections().size(), names.size()); // by section
  for (auto [i, section] : enumerate(object.sections())) {
    const char *name = object.nameBegin(section).data();
    if (auto it = position.find(name); it != position.end())
      positionOf[i] = it->second,
      result[it->second].isMerged |= bool(section.sh_flags & ELF::SHF_MERGE);
    if (!object.isRelocations(section))
      ofSections.add(name);
  }
  for (const auto &symbol : object.symbols()) {
    StringRef begin = object.nameBegin(symbol);
    if (begin.empty() || begin.front() == '\0')
      continue;
    ofSymbols.add(begin.data());
    uint32_t i = positionOf[object.sectionOf(symbol)];
    if (i < names.size() && (result[i].symbol.empty() || symbol.getBinding() != ELF::STB_LOCAL))
      result[i].symbol = object.name(symbol);
  }
  for (auto [i, name] : enumerate(names)) {
    size_t at = name - table.begin(), end = at + markSize;
    size_t first = at == 0 ? 0 : table.rfind('\0', at) + 1; // of the string that the name ends
    result[i].isMarkable = !isOdd && table.find('\0', at) >= end && !ofSymbols.hasAny(first, end) &&
                           !ofSections.hasAny(first, at) && !ofSections.hasAny(at + 1, end);
  }
  return result;
}

std::vector<MarkableName> lookAtNames(StringRef bytes, ArrayRef<const char *> names) {
  std::vector<MarkableName> result(names.size());
  withElfObject(bytes, /*isLinked=*/false,
                [&](const auto &object) { result = look(bytes, object, names); });
  return result;
}

} // namespace frontload
