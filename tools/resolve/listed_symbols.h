// Names of the profile in a list of symbols.
//
// Other programs read files that are not ELF, and list what they define: a text of lines
//
//   OBJECT BINDING NAME ...
//
// with a zero byte after each field. OBJECT is the base name of the file, or archive(member).
// BINDING is `local` or `global`. NAME is the symbol without the decoration of its file format.
// Further fields are ignored.
#pragma once

#include "names/found_names.h"
#include "profile/startup_profile.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace frontload {

/// A symbol that an entry of the profile stands for.
struct ListedPlace {
  uint32_t entry;
  Likeness likeness;
  uint32_t line; ///< of the list, from 0
  llvm::StringRef object, name;
};

/// The symbols that entries stand for, in the order of the list; `path` is for messages.
llvm::Expected<std::vector<ListedPlace>> findListed(const StartupProfile &profile,
                                                    llvm::StringRef path, llvm::StringRef list);

/// Whether a local symbol recorded in `file`, an object or a source file, may be that of `object`.
/// Other systems build the same source into other objects: `lib.a(b.cpp.o)` and `b.cpp.obj` are
/// alike, and so are `b.cpp` and `b.o`.
bool isOfOneSource(llvm::StringRef file, llvm::StringRef object);

} // namespace frontload
