//===- plain_layout.h - where the same link would put all without a front --===//
//
// Whether a front is worth having depends on the file that the linker would write without one.
// Linking that file as well would take as long again. This lays it out as lld does by default, from
// the sections in the link: accurate to a few alignments, which is less than one fault reads.
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
  /// The output section that holds it, and, if it has a pattern, its place among the sections of
  /// the pattern, which come first.
  llvm::StringRef output;
  std::optional<uint32_t> order;
  /// The entry that is assumed to touch it, if no entry of the profile names it.
  std::optional<uint32_t> guessedBy;
  std::optional<uint64_t> address; ///< set by PlainLayout
  bool isOurs = false;             ///< whether it prefetches the front, so no other file has it
};

class PlainLayout {
public:
  /// `linked` is the file with a front, `sections` are those of the link in the order of the
  /// command line, which get their addresses in that file.
  static llvm::Expected<PlainLayout> of(llvm::StringRef linked,
                                        llvm::MutableArrayRef<PlacedSection> sections,
                                        const PlainTraits &traits);

  /// Where the byte at address `front` of the file with a front would be; none if it would not be.
  std::optional<uint64_t> addressOf(uint64_t front) const;

  /// Ascending. The addresses are not lld's, but have the same places within pages and segments.
  llvm::ArrayRef<FileSegment> segments() const { return allSegments; }
  uint64_t fileBytes() const { return size; }
  /// The bytes that fill pages between loaded contents, at most a page each time.
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

/// The loaded contents of a linked file.
struct LoadedContents {
  uint64_t bytes;   ///< of its sections
  uint64_t filling; ///< as PlainLayout::filling()
};
llvm::Expected<LoadedContents> contentsOf(llvm::StringRef linked);

} // namespace frontload

#endif
