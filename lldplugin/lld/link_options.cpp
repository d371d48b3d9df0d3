// What a command line says about the front.
#include "lld/link_options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace frontload {

/// Of --front-align: from a page to the largest page that processors have.
static constexpr uint64_t minAlign = 4 << 10, maxAlign = 1 << 30;

/// Parses the value of --front-align; 0 if it is none.
static uint64_t parseFrontAlign(StringRef text) {
  uint64_t unit = text.consume_back("K")   ? 1 << 10
                  : text.consume_back("M") ? 1 << 20
                  : text.consume_back("G") ? 1 << 30
                                           : 1;
  uint64_t count;
  if (text.getAsInteger(10, count) || count > maxAlign / unit)
    return 0;
  uint64_t bytes = count * unit;
  return isPowerOf2_64(bytes) && bytes >= minAlign ? bytes : 0;
}

namespace {
/// How an option is written. All but letters have one dash or two.
enum class Form : uint8_t {
  Flag,
  Value,         ///< behind = or in the next argument
  TwoDashes,     ///< the same, with two dashes only: -output=x is an -o
  OptionalValue, ///< behind =
  Letter,        ///< one dash, and a value in the same or the next argument
};

struct Option {
  StringRef names; ///< without dashes, separated by |
  Form form;
  void (*read)(LinkOptions &options, StringRef value);
};
} // namespace

/// If `args[i]` is `option`, returns its value, or the name of a flag, and moves `i` to the last
/// argument used.
static std::optional<std::string> take(const Option &option, ArrayRef<const char *> args,
                                       size_t &i) {
  StringRef arg = args[i], name = arg.substr(arg.starts_with("--") ? 2 : 1);
  for (StringRef known : split(option.names, '|')) {
    std::string value;
    switch (option.form) {
    case Form::Flag:
      if (name == known)
        return known.str();
      break;
    case Form::OptionalValue:
      if (name.split('=').first == known)
        return name.split('=').second.str();
      break;
    case Form::Letter:
      if (takeLetter(args, i, ("-" + known).str(), value))
        return value;
      break;
    case Form::Value:
    case Form::TwoDashes:
      if ((option.form == Form::Value || arg.starts_with("--")) &&
          takeOption(args, i, known, value))
        return value;
    }
  }
  return std::nullopt;
}

/// Reads `args[i]`, if it is one of `known`, and moves `i` to the last argument used.
static bool readOne(ArrayRef<Option> known, ArrayRef<const char *> args, size_t &i,
                    LinkOptions &options) {
  for (const Option &option : known)
    if (std::optional<std::string> value = take(option, args, i)) {
      option.read(options, *value);
      return true;
    }
  return false;
}

/// Reads one of our options, which lld does not know.
static bool readOwn(ArrayRef<const char *> args, size_t &i, LinkOptions &options) {
  using enum Form;
  using enum LinkOptions::FrontChoice;
  static const Option known[] = {
      {"startup-profile", Value, [](auto &o, auto v) { o.profile = v; }},
      {"startup-profile-dir", Value, [](auto &o, auto v) { o.profileFolder = v; }},
      {"front", Value, [](auto &o, auto v) { o.front = v; }},
      {"front-report", Value, [](auto &o, auto v) { o.report = v; }},
      {"min-match", Value,
       [](auto &o, auto v) {
         std::optional<double> percent = parseMinMatch(v);
         o.badMinMatch = percent ? std::nullopt : std::optional(v.str());
         o.minMatch = percent.value_or(defaultMinMatch);
       }},
      {"front-align", Value,
       [](auto &o, auto v) {
         o.frontAlign = v;
         o.traits.frontAlign = parseFrontAlign(v);
       }},
      {"front-prefetch|front-prefetch=inside", Flag,
       [](auto &o, auto v) {
         o.traits.prefetches = true;
         o.prefetchesInside = v.ends_with("=inside");
       }},
      {"front-always", Flag, [](auto &o, auto) { o.choice = Always; }},
      {"front-never", Flag, [](auto &o, auto) { o.choice = Never; }},
  };
  return readOne(known, args, i, options);
}

static void readKeyword(LinkOptions &o, StringRef value) { // -z
  if (value == "pack-relative-relocs" || value == "nopack-relative-relocs")
    o.decidesPacking = true;
  else if (value.consume_front("max-page-size="))
    value.getAsInteger(0, o.traits.maxPage);
}

/// Reads an option of lld that a front has to know of.
static bool readLld(ArrayRef<const char *> args, size_t &i, LinkOptions &options) {
  using enum Form;
  static const Option known[] = {
      {"output", TwoDashes, [](auto &o, auto v) { o.output = v; }},
      {"help", Flag, [](auto &o, auto) { o.isHelp = true; }},
      {"build-id", OptionalValue,
       [](auto &o, auto v) { o.keepsBuildId = v.starts_with_insensitive("0x"); }},
      {"image-base", Value, [](auto &o, auto v) { o.imageBase = v; }},
      {"icf", Value,
       [](auto &o, auto v) {
         o.traits.folding = v == "all" ? Folding::All : v == "safe" ? Folding::Safe : Folding::None;
       }},
      {"pack-dyn-relocs", Value, [](auto &o, auto) { o.decidesPacking = true; }},
      // Values that are not inputs, and letters behind longer names that begin with them.
      {"defsym|soname|hash-style|Map|dependency-file|reproduce", Value, [](auto &, auto) {}},
      {"z", Letter, readKeyword},
      {"O", Letter,
       [](auto &o, auto v) {
         if (unsigned level; !v.getAsInteger(10, level))
           o.traits.mergesStrings = level == 1;
       }},
      {"o", Letter, [](auto &o, auto v) { o.output = v; }},
      {"h", Letter, [](auto &, auto) {}},
  };
  return readOne(known, args, i, options);
}

std::vector<const char *> parseLinkOptions(ArrayRef<const char *> args, LinkOptions &options) {
  std::vector<const char *> others = {args[0]};
  for (size_t i = 1; i < args.size(); ++i) {
    StringRef arg = args[i];
    size_t first = i;
    if (!arg.starts_with("-"))
      options.libraries.inputs.push_back({arg.str(), false, false});
    else if (readOwn(args, i, options))
      continue;
    else if (std::optional<LayoutOption> conflict = layoutOption(args, i))
      options.conflict = conflict;
    else if (arg.starts_with("--lld="))
      options.conflict = {arg.str(), "another lld takes an order file, by frontload order"};
    else if (!options.kind.take(args, i) && !readLld(args, i, options))
      options.libraries.take(args, i);
    others.insert(others.end(), args.begin() + first, args.begin() + i + 1);
  }
  options.traits.isRelocated = options.kind.isRelocated();
  options.traits.copiesConstants = !options.kind.isShared && !options.kind.dynamicLinker.empty();
  return others;
}

/// What is wrong with the value of --front-align, or with --image-base for it.
static std::optional<Refusal> checkFrontAlign(const LinkOptions &options) {
  if (!options.frontAlign)
    return std::nullopt;
  uint64_t align = options.traits.frontAlign;
  if (!align)
    return Refusal{"--front-align: '" + *options.frontAlign +
                       "' is not a power of two from 4K to 1G",
                   "name the size of a large folio, such as 64K or 2M", exitUsage};
  // Address and offset differ by the base. lld reports a base that is no number.
  uint64_t base;
  if (!StringRef(options.imageBase).getAsInteger(0, base) && base % align)
    return Refusal{"--front-align=" + *options.frontAlign + ": --image-base=" + options.imageBase +
                       " is not a multiple of it",
                   "leave it out, or name a multiple", exitUsage};
  return std::nullopt;
}

std::optional<Refusal> checkLinkOptions(const LinkOptions &options) {
  if (options.badMinMatch)
    return badMinMatch("--min-match", *options.badMinMatch);
  if (auto refusal = checkFrontAlign(options))
    return refusal;
  if (options.front && *options.front != "auto")
    return Refusal{"--front: '" + *options.front + "' is not auto",
                   "give --front=auto, or --startup-profile=FILE", exitUsage};
  bool isWithoutFront = options.profile.empty() && !options.profileFolder && !options.front;
  StringRef given = !isWithoutFront             ? ""
                    : options.traits.prefetches ? "--front-prefetch"
                    : options.frontAlign        ? "--front-align"
                    : !options.report.empty()   ? "--front-report"
                                                : "";
  if (!given.empty())
    return Refusal{(given + ": there is no front without a profile").str(),
                   "add --startup-profile=FILE or --front=auto", exitUsage};
  return std::nullopt;
}

} // namespace frontload
