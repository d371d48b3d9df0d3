//===- output_kind.cpp - what kind of file a linker is to make -------------===//

#include "program/output_kind.h"
#include "program/command_line.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace frontload {

bool OutputKind::take(ArrayRef<const char *> args, size_t &i) {
  StringRef arg = args[i];
  if (arg == "-r" || arg == "-i") // the latter is GNU ld's alone
    return isRelocatable = true;
  if (takeOption(args, i, "dynamic-linker", dynamicLinker))
    return true;
  if (!arg.consume_front("-"))
    return false;
  arg.consume_front("-");
  if (arg == "relocatable")
    isRelocatable = true;
  else if (arg == "pie" || arg == "pic-executable" || arg == "no-pie")
    isPie = arg != "no-pie";
  else if (arg == "shared" || arg == "Bshareable")
    isShared = true;
  else if (arg == "no-dynamic-linker")
    dynamicLinker.clear();
  else
    return false;
  return true;
}

OutputKind outputKind(ArrayRef<const char *> args) {
  OutputKind kind;
  for (size_t i = 0; i < args.size(); ++i)
    kind.take(args, i);
  return kind;
}

} // namespace frontload
