//===- prefetch_library.cpp - what --front-prefetch adds to a link ---------===//

#include "lld/prefetch_library.h"
#include "program/output_kind.h"
#include "program/own_files.h"

using namespace llvm;

namespace frontload {

Expected<std::vector<std::string>> prefetchArguments(ArrayRef<const char *> args, bool isInside) {
  OutputKind output = outputKind(args);
  if (output.isShared)
    return std::vector<std::string>();
  isInside |= output.dynamicLinker.empty();
#ifdef __GLIBC__
  // The library was built with the same libc as ld.frontload.
  if (StringRef(output.dynamicLinker).contains("ld-musl"))
    return createStringError("musl knows no IFUNC, and the library of this installation has one");
#endif
  Expected<std::string> library =
      findOwnLibrary(isInside ? StringRef(prefetchArchive) : "libfrontload-prefetch.so");
  if (!library)
    return library.takeError();
  if (isInside)
    return std::vector<std::string>{"-u", "frontload_prefetch_at_start", *library};
  // Behind all other libraries, to be relocated first (instrument/prefetch/at_start.c).
  return std::vector<std::string>{"--push-state", "--no-as-needed", *library, "--pop-state"};
}

} // namespace frontload
