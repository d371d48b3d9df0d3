//===- link_refusal.cpp - links that frontload-cc leaves alone -------------===//

#include "cc/link_refusal.h"
#include "cc/gcc_lto.h"
#include "program/layout_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

/// Whether programs for this target are not ELF files.
static bool isForeign(StringRef target) {
  return any_of(ArrayRef<StringRef>{"mingw", "windows", "msvc", "cygwin", "apple", "darwin", "wasm",
                                    "emscripten", "-aix"},
                [&](StringRef system) { return target.contains(system); });
}

/// Whether the file at `path` is a linker script that places sections.
static bool placesSections(const std::string &path) {
  // Only regular files: the linker has to read pipes itself.
  sys::fs::file_status status;
  if (sys::fs::status(path, status) || !sys::fs::is_regular_file(status) || status.getSize() < 8)
    return false;
  auto head = MemoryBuffer::getFileSlice(path, 8, 0);
  // Binary files (ELF, bitcode) have such bytes, and archives begin with "!<".
  if (!head || (*head)->getBuffer().starts_with("!<") ||
      any_of((*head)->getBuffer(), [](char c) { return c < '\t' || c == 0x7f; }))
    return false;
  auto text = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return text && (*text)->getBuffer().contains("SECTIONS");
}

/// Whether the file at `path` needs gcc's plugin. Large files are mapped, not read.
static bool isForGccLto(const std::string &path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status) || !sys::fs::is_regular_file(status))
    return false;
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file && needsGccLto((*file)->getBuffer());
}

static std::optional<std::string> whyNotOurLinker(const CompilerCommand &command) {
  if (!command.linkerPath.empty()) {
    if (sys::path::filename(command.linkerPath) != "ld.frontload")
      return "--ld-path=" + command.linkerPath + " is another linker";
  } else if (!command.linker.empty() && command.linker != "lld" &&
             sys::path::filename(command.linker) != "ld.frontload") {
    return "-fuse-ld=" + command.linker + " is another linker";
  }
  for (const std::string &folder : command.programFolders) {
    SmallString<128> linker(folder);
    sys::path::append(linker, "ld");
    // -B may also be a prefix of file names, without a slash.
    if (sys::fs::can_execute(linker) || sys::fs::can_execute(folder + "ld"))
      return "-B" + folder + " has another linker";
  }
  return std::nullopt;
}

std::optional<std::string> whyNotOurs(StringRef compiler, Family family,
                                      const CompilerCommand &command) {
  if (family == Family::Unknown)
    return (compiler + " is not a compiler that frontload-cc knows").str();
  if (isForeign(command.target.empty() ? sys::path::filename(compiler) : StringRef(command.target)))
    return "its target does not use ELF files";
  if (auto why = whyNotOurLinker(command))
    return why;
  // lld cannot load gcc's plugin.
  if (command.isLto && family != Family::Clang)
    return "gcc's -flto needs another linker";
  std::vector<const char *> args;
  for (const std::string &argument : command.linkerArguments)
    args.push_back(argument.c_str());
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef arg = args[i];
    if (std::optional<LayoutOption> option = layoutOption(args, i))
      return option->option + ": " + option->reason;
    if (arg == "-dT" || (arg.starts_with("-T") && arg != "-Tldata-segment") ||
        is_contained({"--script", "-script", "--default-script", "-default-script"},
                     arg.split('=').first))
      return "a linker script decides its layout";
  }
  if (any_of(command.files, placesSections))
    return "a linker script decides its layout";
  if (family != Family::Clang)
    for (const std::string &path : command.files)
      if (isForGccLto(path))
        return path + " was made with gcc's -flto, which needs another linker";
  return std::nullopt;
}

} // namespace frontload
