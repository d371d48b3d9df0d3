// What a front adds to lld's command line.
#pragma once

#include "lld/link_options.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// Whether `-z pack-relative-relocs` is to be added to a link with these options. Relative
/// relocations are most of what a position-independent program reads before its first instruction,
/// and packed (DT_RELR) they are a twentieth of the size. A loader that does not know the format
/// runs the program unrelocated, into a crash. So the link must have the shared library of a glibc
/// that defines the version GLIBC_ABI_DT_RELR, which is 2.36 or newer: lld then makes the output
/// need that version, and an older glibc refuses the program.
///
/// Other links stay as they are: nothing in a static program tells what its libc can do, musl
/// (which has the format since 1.2.4) does not say so in its file, and Android's linkers are given
/// --pack-dyn-relocs by its own build systems.
bool shouldPackRelativeRelocations(const LinkOptions &options);

/// Whether the link makes a program for another machine than our library for the prefetch, as the
/// 32-bit programs of a 64-bit build are.
bool isForOtherMachine(const LinkOptions &options);

/// The arguments to put behind those of the user. Fails if --front-prefetch needs a library that is
/// missing or does not fit the libc.
llvm::Expected<std::vector<std::string>> addedArguments(const LinkOptions &options);

} // namespace frontload
