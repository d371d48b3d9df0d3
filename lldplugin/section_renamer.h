//===- section_renamer.h - marks startup sections in mapped objects --------===//
//
// The linker reads input objects from private mappings of the files. A startup section is marked by
// moving its sh_name, the offset of its name, some characters forward, in the mapping only: no
// string table is edited, no size changes, and members of archives work like files.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_SECTION_RENAMER_H
#define FRONTLOAD_LLDPLUGIN_SECTION_RENAMER_H

#include "startup_set.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// Makes those of `buffers` writable for which `isNeeded(index)`, and perhaps others. Neighbours in
/// memory, the members of an archive, are done together: a system call for each would cost more
/// than all of the planning, and each separate piece would be a mapping of its own, of which a
/// process can have only so many (vm.max_map_count).
llvm::Error makeWritable(llvm::ArrayRef<llvm::MemoryBufferRef> buffers,
                         llvm::function_ref<bool(size_t)> isNeeded);

/// Renames `sections` of the object in the writable `buffer`. Calls `visit` with each section and
/// the pointer to its new name, which is what the linker will see.
void renameStartupSections(llvm::MemoryBufferRef buffer, const StartupSections &sections,
                           llvm::function_ref<void(const StartupSection &, const char *)> visit);

} // namespace frontload

#endif
