// Parses a compiler's command line.
#include "cc/compiler_command.h"
#include "program/command_line.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

/// Options of gcc and clang whose value is the next argument, and not an input.
// clang-format off: it would put one on a line
static constexpr StringLiteral withValue[] = {
    "-A", "-D", "-F", "-I", "-MF", "-MJ", "-MQ", "-MT", "-U", "-V", "-Xarch_device",
    "-Xarch_host", "-Xassembler", "-Xclang", "-Xopenmp-target", "-Xpreprocessor", "-arch",
    "-aux-info", "-b", "-cxx-isystem", "-dumpbase", "-dumpbase-ext", "-dumpdir", "-e",
    "-framework", "-gcc-toolchain", "-idirafter", "-iframework", "-imacros", "-imultilib",
    "-include", "-include-pch", "-iprefix", "-iquote", "-isysroot", "-isystem", "-isystem-after",
    "-ivfsoverlay", "-iwithprefix", "-iwithprefixbefore", "-iwithsysroot", "-mllvm", "-rpath",
    "-serialize-diagnostics", "-u", "-wrapper", "--config", "--entry", "--param",
    "--serialize-diagnostics", "--sysroot"};
// clang-format on

/// Options of a call that makes neither an object nor a program.
// clang-format off: it would put one on a line
static constexpr StringLiteral withoutObject[] = {
    "-E", "-S", "-M", "-MM", "-fsyntax-only", "-cc1", "-cc1as", "-###", "--analyze", "-emit-ast",
    "-verify-pch", "-fdriver-only", "-rewrite-objc", "-rewrite-legacy-objc", "-module-file-info",
    "-extract-api", "--preprocess", "--assemble", "--dependencies", "--user-dependencies",
    "--version", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs", "-help",
    "--help", "--target-help"};
// clang-format on

namespace {
enum class Language { ByName, Code, Assembler, Header, Object };
} // namespace

/// Whether a compiler takes another linker or another C library for this option.
static bool isChoice(StringRef arg) {
  static constexpr StringLiteral choices[] = {
      "-fuse-ld=", "--ld-path=", "-B",    "--prefix", "--target", "-target",
      "--sysroot", "-m32",       "-mx32", "-m64",     "-mabi=",   "--gcc-toolchain"};
  return any_of(choices, [&](StringRef choice) { return arg.starts_with(choice); });
}

/// The language of a value of -x.
static Language languageOf(StringRef x) {
  if (x == "none")
    return Language::ByName;
  if (x.starts_with("assembler"))
    return Language::Assembler;
  return x.contains("header") ? Language::Header : Language::Code;
}

/// How a compiler treats a file of this name: files with unknown extensions go to the linker.
static Language languageOfFile(StringRef path) {
  return StringSwitch<Language>(sys::path::extension(path))
      .Cases({".c", ".i", ".ii", ".m", ".mi", ".mm", ".mii", ".M"}, Language::Code)
      .Cases({".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C"}, Language::Code)
      .Cases({".cppm", ".ccm", ".cxxm", ".c++m", ".ixx", ".pcm"}, Language::Code)
      .Cases({".f", ".for", ".ftn", ".F", ".FOR", ".fpp", ".FPP", ".FTN"}, Language::Code)
      .Cases({".f90", ".f95", ".f03", ".f08", ".F90", ".F95", ".F03", ".F08"}, Language::Code)
      .Cases({".adb", ".ads", ".d", ".go", ".cu", ".hip", ".cl", ".ll", ".bc"}, Language::Code)
      .Cases({".s", ".S", ".sx"}, Language::Assembler)
      .Cases({".h", ".hh", ".H", ".hp", ".hxx", ".hpp", ".HPP", ".h++"}, Language::Header)
      .Default(Language::Object);
}

namespace {
enum class Stage {
  Nothing, ///< preprocessed, checked, printed, or left as assembler
  Object,  ///< -c
  Program,
};

class Parser {
public:
  explicit Parser(ArrayRef<const char *> words) : args(words) {}

  CompilerCommand parse() {
    bool isAllInputs = false; // behind --
    for (; i < args.size(); ++i) {
      StringRef arg = args[i];
      if (arg == "--" && !isAllInputs)
        isAllInputs = true;
      else if (arg.starts_with("-") && arg != "-" && !isAllInputs) {
        const size_t first = i;
        parseOption(arg);
        if (isChoice(arg))
          command.choices.insert(command.choices.end(), args.begin() + first, args.begin() + i + 1);
      } else
        addInput(arg);
    }
    if (makesHeader) // a precompiled one
      stage = std::min(stage, Stage::Object);
    command.hasInputs |= hasLibraries;
    command.isLink = stage == Stage::Program && (command.hasInputs || asksLinker);
    command.makesCode &= stage != Stage::Nothing;
    auto linkerArgs = map_to_vector(command.linkerArguments, std::mem_fn(&std::string::c_str));
    command.isRelocatable |= outputKind(linkerArgs).isRelocatable;
    return std::move(command);
  }

private:
  /// If the current argument is option `name`, takes its value, which is the next argument or, if
  /// it can be joined, behind the name.
  bool take(StringRef name, std::string &value, bool isJoined) {
    StringRef arg = args[i];
    if (!arg.consume_front(name))
      return false;
    if (arg.empty() && i + 1 < args.size())
      value = args[++i];
    else if (isJoined && !arg.empty())
      value = arg;
    else
      return false;
    return true;
  }

  void parseOption(StringRef arg) {
    std::string value;
    StringRef bare = arg;
    bare.consume_front("-"); // some options have two
    if (is_contained({"-c", "--compile", "--precompile", "-fmodule-header"}, arg) ||
        arg.starts_with("-fmodule-header=")) {
      stage = std::min(stage, Stage::Object);
    } else if (is_contained(withoutObject, arg) || bare.starts_with("-print-") ||
               arg.starts_with("--help=")) {
      stage = Stage::Nothing;
    } else if (arg.consume_front("--output=")) {
      command.output = arg;
    } else if (!arg.starts_with("-objc") &&
               (take("-o", value, true) || take("--output", value, false))) {
      command.output = value;
    } else if (take("-x", value, true) || take("--language", value, false)) {
      language = languageOf(value);
    } else if (arg.consume_front("--language=")) {
      language = languageOf(arg);
    } else if (arg.consume_front("-Wl,")) {
      SmallVector<StringRef, 8> parts;
      arg.split(parts, ',');
      addForLinker({parts.begin(), parts.end()});
    } else if (take("-Xlinker", value, false)) {
      addForLinker({value});
    } else if (take("-T", value, true) || take("-z", value, true)) {
      command.linkerArguments.insert(command.linkerArguments.end(),
                                     {arg.take_front(2).str(), value});
    } else if (take("-l", value, true)) {
      command.libraries.addLibrary(value);
      hasLibraries = true;
    } else if (take("-L", value, true)) {
      command.libraries.folders.push_back(value);
    } else if (arg == "-shared") {
      command.isShared = true;
    } else if (arg == "-static" || arg == "-static-pie") {
      command.libraries.isStatic = true;
    } else if (take("-B", value, true) || take("--prefix", value, false)) {
      command.programFolders.push_back(value);
    } else if (arg.consume_front("--prefix=")) {
      command.programFolders.push_back(arg.str());
    } else if (arg.consume_front("-fuse-ld=")) {
      command.linker = arg;
    } else if (arg.consume_front("--ld-path=")) {
      command.linkerPath = arg;
    } else if (arg.consume_front("--target=") || arg.consume_front("-target=")) {
      command.target = arg;
    } else if (take("-target", value, false)) {
      command.target = value;
    } else if (arg == "-r") {
      command.isRelocatable = true;
    } else if (arg == "-N") {
      command.linkerArguments.push_back("-N");
    } else if (arg == "-flto" || arg.starts_with("-flto=")) {
      command.isLto = true;
    } else if (arg == "-fno-lto") {
      command.isLto = false;
    } else if (is_contained(withValue, arg)) {
      ++i;
    }
  }

  void addForLinker(const std::vector<std::string> &words) {
    asksLinker = true;
    append_range(command.linkerArguments, words);
    auto linkerArgs = map_to_vector(words, std::mem_fn(&std::string::c_str));
    for (size_t n = 0; n < words.size(); ++n)
      if (!command.libraries.take(linkerArgs, n) && words[n].front() != '-')
        command.libraries.inputs.push_back({words[n], false, false});
  }

  void addInput(StringRef arg) {
    command.hasInputs = true;
    Language kind = language != Language::ByName ? language
                    : arg == "-"                 ? Language::Code
                                                 : languageOfFile(arg);
    if (kind == Language::Object) {
      command.files.push_back(arg.str());
      return;
    }
    command.sources.push_back(arg.str());
    command.makesCode |= kind != Language::Assembler;
    makesHeader |= kind == Language::Header;
  }

  ArrayRef<const char *> args;
  size_t i = 0;
  CompilerCommand command;
  Language language = Language::ByName;
  Stage stage = Stage::Program;
  bool hasLibraries = false, asksLinker = false, makesHeader = false;
};
} // namespace

CompilerCommand parseCompilerCommand(ArrayRef<const char *> args) { return Parser(args).parse(); }

/// Whether `path` is in a folder that Go's linker makes for itself; older ones also run there.
static bool isInGoFolder(StringRef path) {
  SmallString<128> folder(path);
  sys::fs::make_absolute(folder);
  return sys::path::filename(sys::path::parent_path(folder)).starts_with("go-link-");
}

/// Whether the only source of a program is a build system's probe. Users may also name programs
/// trivial and testfile, but not all else about them is as in Go and Meson.
static bool isProbeSource(StringRef source, StringRef output) {
  StringRef stem = sys::path::stem(source);
  return stem == "conftest" || stem.starts_with("sanitycheck") ||
         (stem == "testfile" && output == "output.exe") ||
         (stem == "trivial" && isInGoFolder(source));
}

bool isProbe(const CompilerCommand &command) {
  if (command.output == "/dev/null" || !command.hasInputs)
    return true;
  // CMake's and Autoconf's probes are recognized by their output; Autoconf's, Go's and Meson's two
  // by their source.
  StringRef output = sys::path::filename(command.output);
  return output.starts_with("cmTC_") || output.starts_with("conftest") ||
         (command.sources.size() == 1 && command.files.empty() &&
          isProbeSource(command.sources[0], output));
}

} // namespace frontload
