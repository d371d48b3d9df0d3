//===- own_options.cpp - the options of frontload-cc -----------------------===//

#include "cc/own_options.h"
#include "profile/match_summary.h"
#include "program/diagnostics.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace frontload {

static std::optional<Refusal> readMode(StringRef where, StringRef value,
                                       std::optional<Mode> &mode) {
  mode = StringSwitch<std::optional<Mode>>(value)
             .Case("off", Mode::Off)
             .Case("record", Mode::Record)
             .Case("use", Mode::Use)
             .Default(std::nullopt);
  if (mode)
    return std::nullopt;
  return Refusal{(where + ": '" + value + "' is not a mode").str(), "give off, record or use",
                 exitUsage};
}

static std::optional<Refusal> readMinMatch(StringRef where, StringRef value, std::string &percent) {
  percent = value.str();
  return parseMinMatch(value) ? std::nullopt : std::optional(badMinMatch(where, value));
}

/// The value of a variable. An empty variable counts as unset, as make and shells leave it.
static std::optional<std::string> variable(StringRef name) {
  std::optional<std::string> value = sys::Process::GetEnv(name);
  return value && !value->empty() ? value : std::nullopt;
}

static std::optional<Refusal> readEnvironment(OwnOptions &options, std::optional<Mode> &mode) {
  if (auto value = variable("FRONTLOAD"))
    if (auto refusal = readMode("FRONTLOAD", *value, mode))
      return refusal;
  options.profile = variable("FRONTLOAD_PROFILE").value_or("");
  options.linkLog = variable("FRONTLOAD_LINK_LOG").value_or("");
  if (auto value = variable("FRONTLOAD_PROFILE_DIR")) {
    // Builds link in many folders, and only one of them would have profiles at a relative path.
    if (!sys::path::is_absolute(*value))
      return Refusal{"FRONTLOAD_PROFILE_DIR: '" + *value + "' is not an absolute path",
                     "put \"$PWD\"/ before it", exitUsage};
    options.profileFolder = *value;
  }
  if (auto value = variable("FRONTLOAD_MIN_MATCH"))
    if (auto refusal = readMinMatch("FRONTLOAD_MIN_MATCH", *value, options.minMatch))
      return refusal;
  if (auto value = variable("FRONTLOAD_PREFETCH")) {
    if (*value != "0" && *value != "1")
      return Refusal{"FRONTLOAD_PREFETCH: '" + *value + "' is neither 0 nor 1",
                     "1 makes programs read their front when they start", exitUsage};
    options.wantsPrefetch = *value == "1";
  }
  return std::nullopt;
}

/// If `arg` is option `name` with a value, stores the value.
static bool takeValue(StringRef arg, StringRef name, StringRef &value) {
  if (!arg.consume_front(name) || !arg.consume_front("="))
    return false;
  value = arg;
  return true;
}

std::optional<Refusal> readOwnOptions(ArrayRef<const char *> &args, OwnOptions &options) {
  std::optional<Mode> mode;
  if (auto refusal = readEnvironment(options, mode))
    return refusal;
  for (; !args.empty(); args = args.drop_front()) {
    StringRef arg = args[0], value;
    std::optional<Refusal> refusal;
    if (takeValue(arg, "--mode", value)) {
      refusal = readMode("--mode", value, mode);
    } else if (takeValue(arg, "--profile", value)) {
      options.profile = value;
    } else if (takeValue(arg, "--profile-dir", value)) {
      options.profileFolder = value;
      options.profile.clear(); // the environment has only a default
    } else if (takeValue(arg, "--min-match", value)) {
      refusal = readMinMatch("--min-match", value, options.minMatch);
    } else if (takeValue(arg, "--link-log", value)) {
      options.linkLog = value;
    } else if (arg == "--prefetch") {
      options.wantsPrefetch = true;
    } else if (arg == "--no-section-flags") {
      options.addsSectionFlags = false;
    } else if (arg == "--help") {
      options.isHelp = true;
    } else if (arg == "--version") {
      options.isVersion = true;
    } else if (arg.starts_with("--") && !arg.starts_with("--sysroot") &&
               !arg.starts_with("--target")) { // for a compiler that is not named
      return Refusal{(arg + ": no such option, or it has no value").str(),
                     "options have the form --name=VALUE: frontload-cc --help", exitUsage};
    } else {
      break;
    }
    if (refusal)
      return refusal;
  }
  // Naming a profile turns its use on.
  bool hasProfile = !options.profile.empty() || !options.profileFolder.empty();
  options.mode = mode.value_or(hasProfile ? Mode::Use : Mode::Off);
  return std::nullopt;
}

} // namespace frontload
