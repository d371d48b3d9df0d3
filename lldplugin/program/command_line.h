// How a linker's command line is read.
//
// lld's own table of options is inside lld, and gold tells a plugin none of its own. These
// functions read their command lines, by lld's rules.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace frontload {

/// If `args[i]` is option `name` (with one dash or two; its value after `=` or in the next
/// argument), stores the value, moves `i` to the last argument used, and returns true.
bool takeOption(llvm::ArrayRef<const char *> args, size_t &i, llvm::StringRef name,
                std::string &value);

/// The same for an option of one dash and one letter, such as "-L"; its value is in the same or in
/// the next argument.
bool takeLetter(llvm::ArrayRef<const char *> args, size_t &i, llvm::StringRef option,
                std::string &value);

/// An option that decides the order or place of sections, as a front does. ld.frontload refuses it,
/// and frontload-cc leaves such links alone.
struct LayoutOption {
  std::string option;
  std::string reason; ///< why it cannot be had with a front
};

/// The option `args[i]`, if it is such an option of lld or GNU ld.
std::optional<LayoutOption> layoutOption(llvm::ArrayRef<const char *> args, size_t i);

/// What kind of file a linker is to make: an object, a program at a fixed place, a
/// position-independent one, a shared library. Of contradictory options the last counts.
struct OutputKind {
  bool isRelocatable = false; ///< an object: -r
  bool isPie = false;
  bool isShared = false;
  /// Empty for a static program. Compiler drivers always name the dynamic linker of a dynamic one;
  /// -static comes and goes between libraries.
  std::string dynamicLinker;

  /// Whether the loader chooses its place, and so relocates its data.
  bool isRelocated() const { return isPie || isShared; }

  /// If `args[i]` is one of these options, notes it, moves `i` to the last argument used, and
  /// returns true.
  bool take(llvm::ArrayRef<const char *> args, size_t &i);
};

/// The kind by all of `args`.
OutputKind outputKind(llvm::ArrayRef<const char *> args);

} // namespace frontload
