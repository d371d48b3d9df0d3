//===- constructors.h - the variants of constructors and destructors -------===//
//
// A compiler emits a C++ constructor up to three times, for complete objects and for bases, often
// as two names of one section. The optimizer decides which of them a program has.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_CONSTRUCTORS_H
#define FRONTLOAD_LLDPLUGIN_NAMES_CONSTRUCTORS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

/// The names of the other variants of a constructor or destructor (Itanium C++ ABI 5.1.4.3: C1 C2
/// C3, D0 D1 D2); none for anything else, and none for names of more than 4 KiB.
llvm::SmallVector<std::string, 4> otherVariants(llvm::StringRef name);

} // namespace frontload

#endif
