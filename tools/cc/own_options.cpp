// The options of frontload-cc.
#include "cc/own_options.h"
#include "profile/match_summary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace frontload {

/// The options with a value, and the variables that stand for them.
static constexpr std::pair<StringLiteral, StringLiteral> settings[] = {
    {"--mode", "FRONTLOAD"},
    {"--profile", "FRONTLOAD_PROFILE"},
    {"--profile-dir", "FRONTLOAD_PROFILE_DIR"},
    {"--min-match", "FRONTLOAD_MIN_MATCH"},
    {"--link-log", "FRONTLOAD_LINK_LOG"},
};

/// Stores the value of an option; `where` is the option or the variable, for errors.
static std::optional<Refusal> store(OwnOptions &options, StringRef option, StringRef where,
                                    StringRef value) {
  if (option == "--mode") {
    options.mode = StringSwitch<std::optional<Mode>>(value)
                       .Case("off", Mode::Off)
                       .Case("record", Mode::Record)
                       .Case("use", Mode::Use)
                       .Default(std::nullopt);
    if (!options.mode)
      return Refusal{(where + ": '" + value + "' is not a mode").str(), "give off, record or use",
                     exitUsage};
  } else if (option == "--min-match") {
    options.minMatch = value;
    if (!parseMinMatch(value))
      return badMinMatch(where, value);
  } else {
    (option == "--profile"       ? options.profile
     : option == "--profile-dir" ? options.profileFolder
                                 : options.linkLog) = value;
  }
  return std::nullopt;
}

/// The value of a variable. An empty variable counts as unset, as make and shells leave it.
static std::optional<std::string> variable(StringRef name) {
  std::optional<std::string> value = sys::Process::GetEnv(name);
  return value && !value->empty() ? value : std::nullopt;
}

static std::optional<Refusal> readEnvironment(OwnOptions &options) {
  for (auto [option, name] : settings)
    if (auto value = variable(name))
      if (auto refusal = store(options, option, name, *value))
        return refusal;
  // Builds link in many folders, and only one of them would have profiles at a relative path.
  if (!options.profileFolder.empty() && !sys::path::is_absolute(options.profileFolder))
    return Refusal{"FRONTLOAD_PROFILE_DIR: '" + options.profileFolder + "' is not an absolute path",
                   "put \"$PWD\"/ before it", exitUsage};
  if (auto value = variable("FRONTLOAD_PREFETCH")) {
    if (*value != "0" && *value != "1")
      return Refusal{"FRONTLOAD_PREFETCH: '" + *value + "' is neither 0 nor 1",
                     "1 makes programs read their front when they start", exitUsage};
    options.wantsPrefetch = *value == "1";
  }
  return std::nullopt;
}

std::optional<Refusal> readOwnOptions(ArrayRef<const char *> &args, OwnOptions &options) {
  if (auto refusal = readEnvironment(options))
    return refusal;
  for (; !args.empty(); args = args.drop_front()) {
    StringRef arg = args[0];
    auto [name, value] = arg.split('=');
    if (arg.contains('=') && is_contained(make_first_range(settings), name)) {
      if (name == "--profile-dir")
        options.profile.clear(); // the environment has only a default
      if (auto refusal = store(options, name, name, value))
        return refusal;
    } else if (arg == "--prefetch") {
      options.wantsPrefetch = true;
    } else if (arg == "--own-linker") {
      options.keepsLinker = true;
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
  }
  // Naming a profile turns its use on.
  bool hasProfile = !options.profile.empty() || !options.profileFolder.empty();
  if (!options.mode)
    options.mode = hasProfile ? Mode::Use : Mode::Off;
  return std::nullopt;
}

} // namespace frontload
