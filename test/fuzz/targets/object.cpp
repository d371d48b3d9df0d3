// The view of an input object: each table of it, of whatever kind.
#include "elf/elf_object.h"
#include "target.h"
#include "llvm/ADT/STLExtras.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef bytes) {
  for (bool isLinked : {false, true}) {
    withElfObject(bytes, isLinked, [&](const auto &object) {
      uint64_t sum = 0;
      std::vector<std::pair<uint32_t, uint32_t>> all;
      for (const auto &[i, section] : enumerate(object.sections())) {
        sum += object.name(section).size() + object.contents(section).size();
        object.classify(section);
        all.push_back({0, i});
      }
      for (const auto &symbol : object.symbols()) {
        sum += object.name(symbol).size();
        must(object.sectionOf(symbol) < std::max<size_t>(object.sections().size(), 1));
      }
      auto visit = [&](uint64_t n, int64_t addend = 0) { sum += n + uint64_t(addend); };
      object.forEachRelocationsOf(all, [&](const auto &relocations, uint32_t) {
        object.forEachTarget(relocations, visit);
        object.forEachRelocation(relocations, [&](const auto &entry) { visit(entry.r_offset); });
      });
      object.forEachGroup(
          [&](StringRef name, auto members) { visit(name.size() + members.size()); });
      visit(object.listsSignificantSymbols());
    });
  }
}
