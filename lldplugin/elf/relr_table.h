//===- relr_table.h - goes through a table of packed relocations -----------===//
//
// A DT_RELR table of a few words may stand for many more relocations than it has bytes, so this
// does not collect them.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_ELF_RELR_TABLE_H
#define FRONTLOAD_LLDPLUGIN_ELF_RELR_TABLE_H

#include "llvm/ADT/ArrayRef.h"

namespace frontload {

/// Calls `visitWord()` before each word of the table, and `visitPlace(address)` for each place that
/// the words say is relocated: an even word is an address to relocate, an odd one a bitmap of the
/// words behind it (System V ABI, generic part).
template <class ELFT, class VisitWord, class VisitPlace>
void forEachPackedRelocation(llvm::ArrayRef<typename ELFT::Relr> words, VisitWord visitWord,
                             VisitPlace visitPlace) {
  using Word = typename ELFT::uint;
  Word next = 0;
  for (Word word : words) {
    visitWord();
    if (word % 2 == 0) {
      visitPlace(word);
      next = word + sizeof(Word);
      continue;
    }
    Word place = next;
    for (Word bits = word >> 1; bits; bits >>= 1, place += sizeof(Word))
      if (bits % 2)
        visitPlace(place);
    next += (8 * sizeof(Word) - 1) * sizeof(Word);
  }
}

} // namespace frontload

#endif
