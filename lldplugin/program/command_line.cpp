// How a linker's command line is read.
#include "program/command_line.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace frontload {

/// Takes the dashes of an option from `arg`: one, or two.
static bool consumeDashes(StringRef &arg) {
  bool isOption = arg.consume_front("-");
  arg.consume_front("-");
  return isOption;
}

bool takeOption(ArrayRef<const char *> args, size_t &i, StringRef name, std::string &value) {
  StringRef arg = args[i];
  if (!consumeDashes(arg) || !arg.consume_front(name))
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

bool takeLetter(ArrayRef<const char *> args, size_t &i, StringRef option, std::string &value) {
  StringRef arg = args[i];
  if (!arg.consume_front(option) || (arg.empty() && i + 1 == args.size()))
    return false;
  value = arg.empty() ? args[++i] : arg.str();
  return true;
}

std::optional<LayoutOption> layoutOption(ArrayRef<const char *> args, size_t i) {
  StringRef arg = args[i], name = arg.split('=').first;
  std::string value;
  if (takeLetter(args, i, "-z", value) && value == "nosectionheader")
    return LayoutOption{"-z nosectionheader", "the section headers tell where the front is"};
  if (arg == "--unique" || arg == "-unique")
    return LayoutOption{arg.str(), "it puts every section into one of its own"};
  if (arg == "--enable-non-contiguous-regions")
    return LayoutOption{arg.str(), "it moves sections to where a memory region has room for them"};
  if (arg == "-N" || arg == "--omagic")
    return LayoutOption{arg.str(), "it puts everything into one segment"};
  if (!consumeDashes(name))
    return std::nullopt;
  if (is_contained({"Tbss", "Tdata", "Ttext", "section-start"}, name))
    return LayoutOption{arg.str(), "it decides where sections lie in memory"};
  if (is_contained({"symbol-ordering-file", "shuffle-sections"}, name))
    return LayoutOption{arg.str(), "both decide the order of sections"};
  return std::nullopt;
}

bool OutputKind::take(ArrayRef<const char *> args, size_t &i) {
  StringRef arg = args[i];
  if (arg == "-r" || arg == "-i") // the latter is GNU ld's alone
    return isRelocatable = true;
  if (takeOption(args, i, "dynamic-linker", dynamicLinker))
    return true;
  if (!consumeDashes(arg))
    return false;
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
