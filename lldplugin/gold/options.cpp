//===- options.cpp - the plugin's options ----------------------------------===//

#include "gold/options.h"
#include "program/diagnostics.h"

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

} // namespace frontload
