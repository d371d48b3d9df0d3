// Which of the words is the compiler.
#include "cc/compiler.h"
#include "base/execute.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace frontload {

/// The path of the program that `name` calls, or the name itself if it has a slash. frontload-cc
/// examines a program before it becomes it, so this finds exactly what base/execute.h will execute.
/// LLVM's own search passes over the current folder, which an empty name in PATH stands for, and
/// finds nothing without PATH.
static std::optional<std::string> findProgram(StringRef name) {
  if (name.contains('/'))
    return name.str();
  std::string path = sys::Process::GetEnv("PATH").value_or(USUAL_FOLDERS);
  for (StringRef folder : split(path, ':'))
    if (std::string found = ((folder.empty() ? "." : folder) + "/" + name).str();
        sys::fs::can_execute(found))
      return found;
  return std::nullopt;
}

/// A program's name without folder, version and .exe: gcc of /usr/bin/gcc-12.
static StringRef plainName(StringRef program) {
  StringRef name = sys::path::filename(program);
  name.consume_back(".exe");
  // The version, which may have dots: gcc-12, clang-3.9.
  StringRef stem = name.rtrim("0123456789.");
  if (stem.size() < name.size() && stem.consume_back("-"))
    name = stem;
  return name;
}

/// By the name alone. A prefix of the compiler's own name is its target or a library.
static Family familyOfName(StringRef name) {
  static constexpr StringLiteral gcc[] = {"gcc", "g++", "gfortran", "gnat", "gccgo", "gdc"};
  static constexpr StringLiteral clang[] = {"clang", "clang++", "flang", "icx", "icpx"};
  static constexpr StringLiteral either[] = {"cc",    "c++",    "c89",    "c99", "c17",
                                             "mpicc", "mpicxx", "mpic++", "f77", "f95"};
  StringRef last = name.substr(name.rfind('-') + 1);
  return is_contained(gcc, last)      ? Family::Gcc
         : is_contained(clang, last)  ? Family::Clang
         : is_contained(either, last) ? Family::Either
                                      : Family::Unknown;
}

/// The family of a program, by its own name or by that of its link's target.
static Family familyOf(StringRef program) {
  Family family = familyOfName(plainName(program));
  if (family != Family::Either)
    return family;
  // Debian's cc leads to a gcc, FreeBSD's to a clang.
  SmallString<128> real;
  std::optional<std::string> path = findProgram(program);
  if (!path || sys::fs::real_path(*path, real))
    return family;
  Family led = familyOfName(plainName(real));
  return led == Family::Unknown ? family : led;
}

bool isArgument(StringRef word) {
  static constexpr StringLiteral inputs[] = {".o",  ".a",   ".so",  ".rlib", ".c",
                                             ".cc", ".cpp", ".cxx", ".s",    ".S"};
  return word.starts_with("-") || word.starts_with("@") ||
         is_contained(inputs, sys::path::extension(word));
}

Compiler findCompiler(ArrayRef<const char *> words) {
  for (auto [i, word] : enumerate(words)) {
    // Only a launcher parses its own options, so a program with options is no known launcher. And
    // zig has a command `cc`.
    if (isArgument(word) || sys::path::filename(word) == "zig")
      break;
    if (sys::path::filename(word) == "frontload-cc")
      continue; // named twice
    if (Family family = familyOf(word); family != Family::Unknown)
      return {i, family};
  }
  return {};
}

bool isOurselves(StringRef program) {
  std::optional<std::string> found = findProgram(program);
  return found && sys::fs::equivalent(*found, sys::fs::getMainExecutable(nullptr, nullptr));
}

} // namespace frontload
