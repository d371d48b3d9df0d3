//===- packed_relocations.h - when relative relocations can be packed ------===//
//
// Relative relocations are most of what a position-independent program reads before its first
// instruction, and packed (DT_RELR) they are a twentieth of the size. A loader that does not know
// the format runs the program unrelocated, into a crash, so only one that does gets them packed.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_PACKED_RELOCATIONS_H
#define FRONTLOAD_LLDPLUGIN_LLD_PACKED_RELOCATIONS_H

#include "lld/link_options.h"

namespace frontload {

/// Whether `-z pack-relative-relocs` is to be added to a link with these options: they make a
/// position-independent program or a shared library, do not say themselves how relocations are
/// packed, and link the shared library of a glibc that defines the version
/// GLIBC_ABI_DT_RELR, which is 2.36 or newer. lld then makes the output need that version, so an
/// older glibc refuses the program instead of crashing in it.
///
/// Other links stay as they are: nothing in a static program tells what its libc can do, musl
/// (which has the format since 1.2.4) does not say so in its file, and Android's linkers are given
/// --pack-dyn-relocs by its own build systems.
bool shouldPackRelativeRelocations(const LinkOptions &options);

} // namespace frontload

#endif
