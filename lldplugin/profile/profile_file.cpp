// The file that a startup profile is read from.
#include "profile/profile_file.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

std::optional<Refusal> readProfile(const std::string &path, StartupProfile &profile) {
  // Read, not mapped: it may be rewritten while the link refers to its names.
  auto text = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!text)
    return Refusal{path + ": " + text.getError().message(),
                   "record one with 'frontload record' and 'frontload profile'", exitUsage};
  Expected<StartupProfile> parsed = parseStartupProfile(path, (*text)->getBuffer());
  if (!parsed)
    return Refusal{toString(parsed.takeError()), "make it again with 'frontload profile'",
                   exitData};
  if (parsed->entries.empty())
    return Refusal{path + ": the profile has no names", "record the program's start again",
                   exitData};
  (void)text->release();
  profile = std::move(*parsed);
  return std::nullopt;
}

/// libfoo.so of libfoo.so.1.2, and of the libfoo.so.1.2T and libfoo.soT that libtool links before
/// it installs them.
static StringRef withoutVersion(StringRef name) {
  for (size_t so = name.find(".so"); so != StringRef::npos; so = name.find(".so", so + 1)) {
    StringRef rest = name.substr(so + 3);
    if (rest == "T" || (rest.consume_front(".") && !rest.empty() && isDigit(rest.front())))
      return name.take_front(so + 3);
  }
  return name;
}

/// app of app-0123456789abcdef and libfoo.so of libfoo-0123456789abcdef.so: the outputs of rustc,
/// which Cargo links or copies to where users look for them.
static std::string withoutHash(StringRef name) {
  constexpr size_t digits = 16;
  StringRef suffix = name.ends_with(".so") ? ".so" : "";
  StringRef stem = name.drop_back(suffix.size());
  if (stem.size() <= digits + 1 || stem[stem.size() - digits - 1] != '-' ||
      !all_of(stem.take_back(digits), [](char c) { return isHexDigit(c) && !isUpper(c); }))
    return name.str();
  return (stem.drop_back(digits + 1) + suffix).str();
}

std::vector<std::string> profileNames(StringRef output) {
  StringRef name = withoutVersion(sys::path::filename(output));
  std::vector<std::string> names = {name.str()};
  if (std::string other = withoutHash(name); other != name) {
    names.push_back(other);
    // rustc's name has underscores where Cargo's, which users see, may have hyphens.
    llvm::replace(other, '_', '-');
    if (other != names.back())
      names.push_back(other);
  }
  // A program that libtool links for use before it is installed.
  if (sys::path::filename(sys::path::parent_path(output)) == ".libs" && name.consume_front("lt-"))
    names.push_back(name.str());
  for (std::string &n : names)
    n += ".startup";
  return names;
}

std::optional<Refusal> findProfile(StringRef folder, StringRef output, std::string &profile) {
  profile.clear();
  sys::fs::file_status status;
  std::error_code e = sys::fs::status(folder, status);
  if (e == std::errc::no_such_file_or_directory && !folder.empty())
    return std::nullopt;
  if (!e && !sys::fs::is_directory(status))
    e = make_error_code(std::errc::not_a_directory);
  if (e)
    return Refusal{("--startup-profile-dir: '" + folder + "': " + e.message()).str(),
                   "name the folder of the profiles, or leave the option out", exitUsage};
  for (const std::string &name : profileNames(output)) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    // A dangling symbolic link is a profile that has got lost.
    e = sys::fs::status(path, status, /*follow=*/false);
    if (e == std::errc::no_such_file_or_directory || e == std::errc::filename_too_long)
      continue;
    if (e)
      return Refusal{(path + ": " + e.message()).str(),
                     "make the profile readable, or leave --startup-profile-dir out", exitUsage};
    profile = path.str().str();
    break;
  }
  return std::nullopt;
}

} // namespace frontload
