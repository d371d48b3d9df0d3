//===- compiler.cpp - which of the words is the compiler -------------------===//

#include "cc/compiler.h"
#include "cc/program_search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

/// A compiler's name as it is everywhere: clang++ of x86_64-linux-gnu-clang++-22.
static StringRef plainName(StringRef program) {
  StringRef name = sys::path::filename(program);
  name.consume_back(".exe");
  // The version, which may have dots: gcc-12, clang-3.9.
  StringRef stem = name.rtrim("0123456789.");
  if (stem.size() < name.size() && stem.consume_back("-"))
    name = stem;
  return name;
}

/// By the name alone. The part before a compiler's own name is its target or a library's.
static Family familyOfName(StringRef name) {
  static constexpr StringLiteral gcc[] = {"gcc", "g++", "gfortran", "gnat", "gccgo", "gdc"};
  static constexpr StringLiteral clang[] = {"clang", "clang++", "flang", "icx", "icpx"};
  static constexpr StringLiteral either[] = {"cc",  "c++",   "c89",    "c99",
                                             "c17", "mpicc", "mpicxx", "mpic++"};
  StringRef last = name.substr(name.rfind('-') + 1);
  return is_contained(gcc, last)      ? Family::Gcc
         : is_contained(clang, last)  ? Family::Clang
         : is_contained(either, last) ? Family::Either
                                      : Family::Unknown;
}

Family familyOf(StringRef program) {
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
    // A program with options is no launcher, or one of options that only it knows. And zig has a
    // command `cc`.
    if (isArgument(word) || sys::path::filename(word) == "zig")
      break;
    if (sys::path::filename(word) == "frontload-cc")
      continue; // said twice
    if (Family family = familyOf(word); family != Family::Unknown)
      return {i, family};
  }
  return {};
}

} // namespace frontload
