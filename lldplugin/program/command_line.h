//===- command_line.h - how a linker's command line is read ----------------===//
//
// lld's own table of options is inside lld, and gold tells a plugin none of its own. These
// functions read their command lines, by lld's rules.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_COMMAND_LINE_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_COMMAND_LINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

/// If `args[i]` is option `name` (with one dash or two; its value after `=` or in the next
/// argument), stores the value, moves `i` to the last argument used, and returns true.
inline bool takeOption(llvm::ArrayRef<const char *> args, size_t &i, llvm::StringRef name,
                       std::string &value) {
  llvm::StringRef arg = args[i];
  if (!arg.consume_front("-"))
    return false;
  arg.consume_front("-");
  if (!arg.consume_front(name))
    return false;
  if (arg.consume_front("=")) {
    value = arg.str();
    return true;
  }
  if (!arg.empty() || i + 1 == args.size())
    return false;
  value = args[++i];
  return true;
}

/// The same for an option of one dash and one letter, such as "-L"; its value is in the same or in
/// the next argument.
inline bool takeLetter(llvm::ArrayRef<const char *> args, size_t &i, llvm::StringRef option,
                       std::string &value) {
  llvm::StringRef arg = args[i];
  if (!arg.consume_front(option) || (arg.empty() && i + 1 == args.size()))
    return false;
  value = arg.empty() ? args[++i] : arg.str();
  return true;
}

} // namespace frontload

#endif
