// A copy of a program in which valgrind finds no debug info.
//
// Valgrind reads the debug info of everything it runs, and gives up if it does not understand it:
// version 3.19 does so for many files with DWARF 5. The recording does not need debug info. In the
// copy, the names of the debug sections are empty; no address and no offset changes.
//
// The program sees the copy in argv[0] and /proc/self/exe; its file name is the same. Links beside
// the copy, and beside its folder, lead to what lies beside the program, so relative paths such as
// $ORIGIN/../lib still work.
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
