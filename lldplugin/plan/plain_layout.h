//===- plain_layout.h - where the same link would put all without a front --===//
//
// To say whether a front is worth having, one has to know the file that the linker would have
// written without one. Linking it as well would take as long again. This lays it out as lld does
// by default, from the sections that are in the link: accurate to a few alignments, which is less
// than what one fault reads.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_PLAIN_LAYOUT_H
#define FRONTLOAD_LLDPLUGIN_PLAN_PLAIN_LAYOUT_H

#include "elf/linked_file.h"
#include "plan/linked_sections.h"
#include "plan/plain_traits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace frontload {

/// The output section that lld puts a section into by its name.
llvm::StringRef plainOutputOf(llvm::StringRef name, const PlainTraits &traits);

/// A section of the link, and where it is in the file with a front.
struct PlacedSection {
  LinkedSection section;
  /// The output section that it is in; and, where it is one of a pattern, its place among those,
  /// which come before all others.
  llvm::StringRef output;
  std::optional<uint32_t> order;
  /// If no entry of the profile names it, and yet it is taken to be touched: the entry that is
  /// taken to touch it.
  std::optional<uint32_t> guessedBy;
  std::optional<uint64_t> address; ///< set by PlainLayout
  bool isOurs = false; ///< whether it is of what prefetches the front, which others do not link
};

class PlainLayout {
public:
  /// `linked` is the file with a front, `sections` are those of the link in the order of the
  /// command line, which get their addresses in that file.
  static llvm::Expected<PlainLayout> of(llvm::StringRef linked,
                                        llvm::MutableArrayRef<PlacedSection> sections,
                                        const PlainTraits &traits);

  /// Where that which is at an address of the file with a front would be; none if it would not be.
  std::optional<uint64_t> addressOf(uint64_t front) const;

  /// They ascend. Their addresses are not those that lld would choose, but lie as theirs do within
  /// pages and within segments.
  llvm::ArrayRef<FileSegment> segments() const { return allSegments; }
  uint64_t fileBytes() const { return size; }
  /// How many bytes fill pages between what is loaded of it, at most a page each time.
  uint64_t filling() const { return fillingBytes; }

private:
  friend class PlainLayoutMaker;
  /// A part of both files.
  struct Piece {
    uint64_t front, size, plain;
  };

  std::vector<Piece> pieces; ///< by their place in the front's file
  std::vector<FileSegment> allSegments;
  uint64_t size = 0, fillingBytes = 0;
};

/// What of a linked file is loaded.
struct LoadedContents {
  uint64_t bytes;   ///< of its sections
  uint64_t filling; ///< as PlainLayout::filling()
};
llvm::Expected<LoadedContents> contentsOf(llvm::StringRef linked);

} // namespace frontload

#endif
