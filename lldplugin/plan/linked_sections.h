//===- linked_sections.h - the input sections of a link, one by one --------===//
//
// Of each section of the link, a linker tells only where its name lies in the mapped object. This
// finds all sections by these places at once.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_LINKED_SECTIONS_H
#define FRONTLOAD_LLDPLUGIN_PLAN_LINKED_SECTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace frontload {

/// An input section that is in the link.
struct LinkedSection {
  llvm::StringRef name; ///< where it lies in the object
  uint32_t object;      ///< its number
  uint32_t index;       ///< in the object's section table
  uint32_t type;        ///< SHT_...
  uint64_t flags;       ///< SHF_...
  uint64_t size;        ///< in bytes
  uint64_t alignment;   ///< 1 if it has none
};

/// The sections with these names, in their order. `objects` are the bytes of all objects, by
/// number. Names outside of the objects (those of the linker's own sections) are passed over. Of
/// the sections of an object that share a name, each is found once.
std::vector<LinkedSection> findLinkedSections(llvm::ArrayRef<const char *> names,
                                              llvm::ArrayRef<llvm::StringRef> objects);

} // namespace frontload

#endif
