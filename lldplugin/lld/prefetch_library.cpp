//===- prefetch_library.cpp - what --front-prefetch adds to a link ---------===//

#include "prefetch_library.h"
#include "command_line.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

enum class Output { Shared, Dynamic, Static };

static Output outputOf(ArrayRef<const char *> args) {
  // Compiler drivers name a dynamic linker for whatever has one; -static comes and goes between
  // libraries.
  Output output = Output::Static;
  std::string value;
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef arg = args[i];
    if (arg == "-shared" || arg == "--shared" || arg == "-Bshareable")
      return Output::Shared;
    if (takeOption(args, i, "dynamic-linker", value))
      output = Output::Dynamic;
  }
  return output;
}

/// Where a library of ours is: beside the folder that this program was built or installed to.
static Expected<std::string> find(StringRef name) {
  std::string self = sys::fs::getMainExecutable(nullptr, nullptr);
  StringRef prefix = sys::path::parent_path(sys::path::parent_path(self));
  SmallString<128> path;
  for (StringRef folder : {"lib", FRONTLOAD_LIBRARY_FOLDER}) {
    path = prefix;
    sys::path::append(path, folder, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return createStringError(path + ": " +
                           make_error_code(std::errc::no_such_file_or_directory).message());
}

Expected<std::vector<std::string>> prefetchArguments(ArrayRef<const char *> args) {
  Output output = outputOf(args);
  if (output == Output::Shared)
    return std::vector<std::string>();
  bool isStatic = output == Output::Static;
  Expected<std::string> library =
      find(isStatic ? "libfrontload-prefetch.a" : "libfrontload-prefetch.so");
  if (!library)
    return library.takeError();
  if (isStatic)
    return std::vector<std::string>{"-u", "frontload_prefetch_at_start", *library};
  // Behind all others, so that it is relocated first (instrument/prefetch/at_start.c).
  return std::vector<std::string>{"--push-state", "--no-as-needed", *library, "--pop-state"};
}

} // namespace frontload
