// The flags that frontload-cc adds to a call.
#include "cc/additions.h"
#include "cc/gcc_lto.h"
#include "cc/other_linker.h"
#include "profile/profile_file.h"
#include "program/command_line.h"
#include "program/diagnostics.h"
#include "program/staged_files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVectorExtras.h"
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

/// Whether `path` is a regular file whose contents fulfil `test`. The linker has to read pipes
/// itself. Large files are mapped, not read.
static bool testFile(const std::string &path, function_ref<bool(StringRef)> test) {
  if (!sys::fs::is_regular_file(path))
    return false;
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file && test((*file)->getBuffer());
}

/// Whether the file at `path` is a linker script that places sections.
static bool placesSections(const std::string &path) {
  return testFile(path, [](StringRef text) {
    // Binary files (ELF, bitcode) have such bytes, and archives begin with "!<".
    return !text.starts_with("!<") &&
           none_of(text.take_front(8), [](char c) { return c < '\t' || c == 0x7f; }) &&
           text.contains("SECTIONS");
  });
}

/// Whether the object or archive at `path`, or a member of a thin archive, needs gcc's plugin.
static bool isGccLto(const std::string &path) {
  return testFile(path, [&](StringRef file) {
    return needsGccLto(file, [&](StringRef member) {
      SmallString<128> place = sys::path::parent_path(path);
      if (sys::path::is_absolute(member))
        place.clear();
      sys::path::append(place, member);
      return testFile(place.str().str(), [](StringRef object) { return needsGccLto(object); });
    });
  });
}

/// The first file that needs gcc's plugin; empty if none does.
static std::string gccLtoFile(const CompilerCommand &command) {
  LibrarySearch libraries = command.libraries;
  SmallVector<StringRef, 4> more; // gcc searches these last
  StringRef(getenv("LIBRARY_PATH")).split(more, ':', -1, /*KeepEmpty=*/false);
  for (StringRef folder : more)
    libraries.folders.push_back(folder.str());
  std::vector<std::string> paths = command.files;
  for (const LibrarySearch::Input &input : libraries.inputs)
    paths.push_back(libraries.fileOf(input));
  auto found = find_if(paths, isGccLto);
  return found == paths.end() ? "" : *found;
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

/// Why no linker can do this link by `compiler` in our way; nothing if one can.
static std::optional<std::string> whyNotAny(StringRef compiler, Family family,
                                            const CompilerCommand &command) {
  if (family == Family::Unknown)
    return (compiler + " is not a compiler that frontload-cc knows").str();
  if (isForeign(command.target.empty() ? sys::path::filename(compiler) : StringRef(command.target)))
    return "its target does not use ELF files";
  auto args = map_to_vector(command.linkerArguments, std::mem_fn(&std::string::c_str));
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
  return std::nullopt;
}

/// Whether lld refuses this argument, which GNU ld takes (binutils 2.40, LLVM 22).
static bool isUnknownToLld(StringRef argument) {
  static constexpr StringLiteral names =
      " audit copy-dt-needed-entries ctf-share-types ctf-variables default-imported-symver "
      "default-symver depaudit disable-multiple-abs-defs dynamic-list-cpp-new "
      "dynamic-list-cpp-typeinfo dynamic-list-data gc-keep-exported hash-size "
      "ignore-unresolved-symbol ld-generated-unwind-info max-cache-size no-ctf-variables "
      "no-define-common no-ld-generated-unwind-info no-map-whole-files "
      "no-print-map-discarded no-strip-discarded no-warn-execstack no-warn-rwx-segments "
      "no-warn-search-mismatch print-map-discarded reduce-memory-overheads require-defined "
      "spare-dynamic-tags split-by-file split-by-reloc strip-discarded traditional-format "
      "version-exports-section warn-rwx-segments warn-section-align warn-textrel ";
  StringRef name = argument.split('=').first;
  return name.consume_front("-") &&
         (name.consume_front("-"), names.contains((" " + name + " ").str()));
}

/// Why this link needs another linker than ld.frontload; nothing if it needs none.
static std::optional<std::string> whyNotOurs(Family family, const CompilerCommand &command) {
  if (auto why = whyNotOurLinker(command))
    return why;
  // lld cannot load gcc's plugin.
  if (command.isLto && family != Family::Clang)
    return "gcc's -flto needs another linker";
  if (auto unknown = find_if(command.linkerArguments, isUnknownToLld);
      unknown != command.linkerArguments.end())
    return "lld does not know " + *unknown;
  std::string path = family != Family::Clang ? gccLtoFile(command) : "";
  return path.empty()
             ? std::nullopt
             : std::optional(path + " was made with gcc's -flto, which needs another linker");
}

/// Whether the file at `path` is a link map, or does not exist.
static bool isMapOrNothing(const std::string &path) {
  if (!sys::fs::exists(path))
    return true;
  auto head = MemoryBuffer::getFileSlice(path, 64, 0);
  return head && (*head)->getBuffer().ltrim(' ').starts_with("VMA ");
}

/// Passes a folder with a program named ld.lld. All versions of gcc and clang look there first,
/// while only clang has --ld-path.
static std::optional<Refusal> addLinker(const CompilerCommand &command,
                                        std::vector<std::string> &flags) {
  SmallString<128> folder =
      sys::path::parent_path(sys::path::parent_path(sys::fs::getMainExecutable(nullptr, nullptr)));
  sys::path::append(folder, "lib", "frontload", "gcc");
  SmallString<128> linker = folder;
  sys::path::append(linker, "ld.lld");
  if (!sys::fs::can_execute(linker))
    return Refusal{
        (linker + ": " + make_error_code(std::errc::no_such_file_or_directory).message()).str(),
        "frontload-cc belongs in the bin folder of Frontload; a link to it may be anywhere",
        exitUsage};
  flags.insert(flags.end(), {("-B" + folder).str(), "-fuse-ld=lld"});
  // Version scripts may name symbols that are not there, as with GNU ld.
  if (command.linker.empty() && command.linkerPath.empty())
    flags.insert(flags.end(), {"-Xlinker", "--undefined-version"});
  return std::nullopt;
}

static void addMap(const CompilerCommand &command, std::vector<std::string> &flags) {
  // In /dev no map can be beside it.
  if (StringRef(command.output).starts_with("/dev/") || !makesFile(command.output))
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

static void addProfile(const OwnOptions &options, bool isTried, std::vector<std::string> &flags) {
  auto add = [&](const std::string &argument) {
    flags.insert(flags.end(), {"-Xlinker", argument});
  };
  // The linker looks into a folder, so that one command line fits all links.
  if (!options.profile.empty() && !isTried)
    add("--startup-profile=" + options.profile);
  else if (!options.profileFolder.empty())
    add("--startup-profile-dir=" + options.profileFolder);
  else
    return;
  if (options.wantsPrefetch)
    add("--front-prefetch");
  if (!options.minMatch.empty())
    add("--min-match=" + options.minMatch);
}

std::optional<Refusal> makeAdditions(const OwnOptions &options, const CompilerCommand &command,
                                     ArrayRef<const char *> words, Family family,
                                     Additions &additions) {
  std::vector<std::string> &flags = additions.flags;
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
  auto why = whyNotAny(words.back(), family, command);
  if (!why) {
    const bool hasProfile = isUse && !profile.empty();
    if (options.keepsLinker && !hasProfile)
      return std::nullopt;
    why = options.keepsLinker ? "--own-linker" : whyNotOurs(family, command);
    if (why && hasProfile && addForOtherLinker(options, command, words, profile, *why, additions))
      return std::nullopt;
  }
  if (why) {
    // Without a profile, no front is lost.
    if (!isTried && !(isUse && profile.empty()))
      note(command.output + ": is linked without Frontload: " + *why);
    return std::nullopt;
  }
  if (auto refusal = addLinker(command, flags))
    return refusal;
  if (isUse)
    addProfile(options, isTried, flags);
  else if (!isTried)
    addMap(command, flags);
  return std::nullopt;
}

} // namespace frontload
