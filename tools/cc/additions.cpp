//===- additions.cpp - the flags that frontload-cc adds to a call ----------===//

#include "cc/additions.h"
#include "cc/link_refusal.h"
#include "profile/profile_folder.h"
#include "program/diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

/// Whether the file at `path` is a link map, or does not exist.
static bool isMapOrNothing(const std::string &path) {
  if (!sys::fs::exists(path))
    return true;
  auto head = MemoryBuffer::getFileSlice(path, 64, 0);
  return head && (*head)->getBuffer().ltrim(' ').starts_with("VMA ");
}

/// Whether the output is to be a file: not a pipe, and not in /dev, where no map can be beside it.
static bool isToBeFile(StringRef output) {
  sys::fs::file_status status;
  return !output.starts_with("/dev/") &&
         (sys::fs::status(output, status) || sys::fs::is_regular_file(status));
}

/// Passes a folder with a program named ld.lld. All versions of gcc and clang look there first,
/// while only clang has --ld-path.
std::optional<Refusal> Additions::addLinker() {
  SmallString<128> folder =
      sys::path::parent_path(sys::path::parent_path(sys::fs::getMainExecutable(nullptr, nullptr)));
  sys::path::append(folder, "lib", "frontload", "gcc");
  SmallString<128> linker = folder;
  sys::path::append(linker, "ld.lld");
  if (!sys::fs::can_execute(linker))
    return Refusal{
        (linker + ": " + make_error_code(std::errc::no_such_file_or_directory).message()).str(),
        "frontload-cc belongs in the bin folder of Frontload; a link to it may be "
        "anywhere",
        exitUsage};
  flags.insert(flags.end(), {("-B" + folder).str(), "-fuse-ld=lld"});
  return std::nullopt;
}

void Additions::addMap() {
  if (!isToBeFile(command.output))
    return;
  for (StringRef argument : command.linkerArguments)
    if (is_contained({"-Map", "--Map", "-M", "--print-map"}, argument.split('=').first))
      return;
  std::string map = command.output + ".map";
  if (isMapOrNothing(map))
    flags.insert(flags.end(), {"-Xlinker", "-Map=" + map});
  else
    note(map + ": is not a link map, so it is left alone; name a map with -Wl,-Map=FILE");
}

void Additions::addProfile(bool isTried) {
  // The linker looks into a folder, so that one command line fits all links.
  if (!options.profile.empty() && !isTried)
    flags.insert(flags.end(), {"-Xlinker", "--startup-profile=" + options.profile});
  else if (!options.profileFolder.empty())
    flags.insert(flags.end(), {"-Xlinker", "--startup-profile-dir=" + options.profileFolder});
  else
    return;
  if (options.wantsPrefetch)
    flags.insert(flags.end(), {"-Xlinker", "--front-prefetch"});
  if (!options.minMatch.empty())
    flags.insert(flags.end(), {"-Xlinker", "--min-match=" + options.minMatch});
}

std::optional<Refusal> Additions::make(StringRef compiler, Family family) {
  if (command.makesCode && options.addsSectionFlags && family != Family::Unknown)
    flags = {"-ffunction-sections", "-fdata-sections"};
  if (!command.isLink || command.isRelocatable)
    return std::nullopt;
  bool isTried = isProbe(command);
  bool isUse = options.mode == Mode::Use;
  std::string profile = isTried ? "" : options.profile;
  if (isUse && !isTried && profile.empty()) {
    if (options.profileFolder.empty())
      return Refusal{"--mode=use: there is no profile",
                     "add --profile=FILE or --profile-dir=DIR, or set FRONTLOAD_PROFILE_DIR",
                     exitUsage};
    if (auto refusal = findProfile(options.profileFolder, command.output, profile))
      return refusal;
  }
  if (auto why = whyNotOurs(compiler, family, command)) {
    // Without a profile, no front is lost.
    if (!isTried && !(isUse && profile.empty()))
      note(command.output + ": is linked without Frontload: " + *why);
    return std::nullopt;
  }
  if (auto refusal = addLinker())
    return refusal;
  if (!isUse) {
    if (!isTried)
      addMap();
    return std::nullopt;
  }
  addProfile(isTried);
  return std::nullopt;
}

} // namespace frontload
