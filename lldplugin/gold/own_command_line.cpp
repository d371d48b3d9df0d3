//===- own_command_line.cpp - gold's own command line ----------------------===//

#include "gold/own_command_line.h"
#include "program/command_line.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace frontload {

GoldCommandLine parseGoldCommandLine(StringRef arguments) {
  SmallVector<const char *, 0> words;
  for (; arguments.contains('\0'); arguments = arguments.split('\0').second)
    words.push_back(arguments.data());
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, words);
  GoldCommandLine line;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string value;
    if (is_contained({"-q", "-emit-relocs", "--emit-relocs"}, StringRef(words[i])))
      line.emitsRelocations = true;
    else if (takeOption(words, i, "icf", value))
      line.foldsCode = value != "none";
    else if (takeOption(words, i, "section-ordering-file", value))
      line.ordering = "--section-ordering-file";
    else if (takeOption(words, i, "sort-section", value) && value == "name")
      line.ordering = "--sort-section=name";
  }
  return line;
}

GoldCommandLine ownCommandLine() {
  auto arguments = MemoryBuffer::getFileAsStream("/proc/self/cmdline");
  return arguments ? parseGoldCommandLine((*arguments)->getBuffer()) : GoldCommandLine();
}

} // namespace frontload
