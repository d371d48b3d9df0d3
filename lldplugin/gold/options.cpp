// The plugin's options, and gold's.
#include "gold/options.h"
#include "program/command_line.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace frontload {

std::optional<Refusal> parseGoldOptions(ArrayRef<StringRef> words, GoldOptions &options) {
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    std::string option = ("--plugin-opt=" + word).str();
    if (name != "profile" && name != "report" && name != "min-match")
      return Refusal{option + ": unknown option",
                     "there are: profile=FILE, report=FILE, min-match=N", exitUsage};
    if (value.empty())
      return Refusal{option + ": has no value",
                     ("give it as --plugin-opt=" + name + "=VALUE").str(), exitUsage};
    if (name == "profile")
      options.profile = value;
    else if (name == "report")
      options.report = value;
    else if (std::optional<double> percent = parseMinMatch(value))
      options.minMatch = *percent;
    else
      return Refusal{option + ": is not a percentage", "give a number from 0 to 100, such as 80",
                     exitUsage};
  }
  if (options.profile.empty())
    return Refusal{"no profile", "add --plugin-opt=profile=FILE", exitUsage};
  return std::nullopt;
}

GoldCommandLine parseGoldCommandLine(StringRef arguments) {
  SmallVector<const char *, 0> words;
  for (; arguments.contains('\0'); arguments = arguments.split('\0').second)
    // gold has read a response file that is a pipe, and opening the pipe again may wait for ever.
    if (StringRef word = arguments.split('\0').first;
        !word.consume_front("@") || sys::fs::is_regular_file(word))
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

} // namespace frontload
