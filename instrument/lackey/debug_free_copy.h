// A copy of a program that valgrind finds no debug info in.
//
// Valgrind reads the debug info of all that it runs, and gives up where it does not know it:
// version 3.19 does at many files with DWARF 5. The recording has no use for it. The copy differs
// from the program in the names of its debug sections, which are empty; no address, no offset
// changes.
//
// What the program sees of it: its argv[0] and /proc/self/exe name the copy, whose file name is the
// program's. Beside the copy, and beside the folder that it is in, are links to what is there
// beside the program, so that what is found from there ($ORIGIN/../lib and the like) is found.
#ifndef FRONTLOAD_LACKEY_DEBUG_FREE_COPY_H
#define FRONTLOAD_LACKEY_DEBUG_FREE_COPY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace frontload {

/// Makes the copy of a program in `folder`, which must not exist yet; the copy is to have the file
/// name of `calledAs`, by which the user calls it. Returns its path, or "" if the program has no
/// debug info and can run as it is.
llvm::Expected<std::string> copyWithoutDebugInfo(llvm::StringRef program, llvm::StringRef calledAs,
                                                 const std::string &folder);

} // namespace frontload

#endif
