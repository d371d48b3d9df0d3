// Reads a startup profile.
//
// Everything here is untrusted input. Each line is checked, and the first bad one ends the reading
// with its number: a profile that is half understood would silently cost its user the front.
#include "profile/startup_profile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace frontload {

static constexpr StringLiteral magic = "frontload-startup-profile";
/// Entries of versions after 2 may also have a stretch, a spread and the kept runs that touched
/// them, which their syntax shows. Those of version 5 also have the runs of each generation, if
/// there are several, and those of version 6 may be inlinable.
static constexpr unsigned oldestVersion = 2, newestVersion = 6;

static std::optional<EntryKind> parseKind(StringRef s) {
  static constexpr StringLiteral names[] = {"function", "data", "section", "string"};
  const StringLiteral *found = llvm::find(names, s);
  return found == std::end(names) ? std::nullopt
                                  : std::optional(static_cast<EntryKind>(found - names));
}

/// Undoes the escapes of names: `\\`, `\t`, `\n` and `\xNN`. `kept` stores the unescaped names.
static std::optional<StringRef> unescape(StringRef s, std::deque<std::string> &kept) {
  if (!s.contains('\\'))
    return s;
  std::string &result = kept.emplace_back();
  for (StringRef rest = s; !rest.empty();) {
    auto [plain, escape] = rest.split('\\');
    result += plain;
    uint8_t byte;
    if (plain.size() == rest.size()) {
      break;
    } else if (escape.consume_front("\\")) {
      result += '\\';
    } else if (escape.consume_front("t")) {
      result += '\t';
    } else if (escape.consume_front("n")) {
      result += '\n';
    } else if (escape.consume_front("x") && escape.size() >= 2 &&
               !escape.take_front(2).getAsInteger(16, byte)) {
      result += static_cast<char>(byte);
      escape = escape.drop_front(2);
    } else {
      return std::nullopt;
    }
    rest = escape;
  }
  return result;
}

std::string escapeName(StringRef name) {
  std::string result;
  auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f && c != '\\'; };
  while (true) {
    StringRef plain = name.take_while(isPlain); // usually the whole name
    result += plain;
    name = name.drop_front(plain.size());
    if (name.empty())
      return result;
    uint8_t byte = name.front();
    size_t length = 1;
    if (byte == '\\')
      result += "\\\\";
    else if (byte == '\t')
      result += "\\t";
    else if (byte == '\n')
      result += "\\n";
    else if (byte >= 0x80 && isLegalUTF8Sequence(name.bytes_begin(), name.bytes_end()))
      result += name.take_front(length = getNumBytesForUTF8(byte));
    else
      result += "\\x" + utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
    name = name.drop_front(length);
  }
}

/// Parses a count of at least `min`.
static bool parseCount(StringRef s, uint64_t &count, uint64_t min = 1) {
  return !s.getAsInteger(10, count) && count >= min;
}

/// Parses the offsets of the first and the last byte of a stretch in which `bytes` were touched.
static bool parseStretch(StringRef s, uint64_t bytes, ProfileEntry &entry) {
  auto [first, last] = s.split('-');
  Stretch &stretch = entry.stretch.emplace();
  if (!parseCount(first, stretch.begin, /*min=*/0) ||
      !parseCount(last, stretch.end, /*min=*/stretch.begin) || stretch.end == UINT64_MAX)
    return false;
  uint64_t length = ++stretch.end - stretch.begin;
  return bytes <= length && length <= longestStretch;
}

/// Parses how much of a name was touched: `-`, or `~` if it is inlinable, or bytes, or
/// bytes/windows, or bytes@first-last.
static bool parseTouched(StringRef s, ProfileEntry &entry) {
  entry.inlinable = s == "~";
  entry.measured = s != "-" && !entry.inlinable;
  if (!entry.measured)
    return true;
  if (s.contains('@')) {
    auto [bytes, stretch] = s.split('@');
    return parseCount(bytes, entry.bytes) && parseStretch(stretch, entry.bytes, entry);
  }
  auto [bytes, windows] = s.split('/');
  return parseCount(bytes, entry.bytes) &&
         (!s.contains('/') || parseCount(windows, entry.windows, /*min=*/2));
}

/// Parses the distance to the previous entry's rank: `+3`, or `+3@5:40:17,9:2:300` with the octaves
/// of its positions, which only merging uses.
static bool parseStep(StringRef s) {
  auto [step, spread] = s.split('@');
  uint64_t number;
  if (!step.consume_front("+") || !parseCount(step, number, /*min=*/0))
    return false;
  SmallVector<StringRef, 4> octaves;
  if (s.contains('@'))
    spread.split(octaves, ',');
  return all_of(octaves, [&](StringRef octave) {
    SmallVector<StringRef, 3> numbers;
    octave.split(numbers, ':');
    return numbers.size() == 3 &&
           all_of(numbers, [&](StringRef each) { return parseCount(each, number, /*min=*/0); });
  });
}

/// Parses the kept runs: `id:weight`, with `:data` and `@generation` behind it, and spaces between.
/// Only merging uses the ids and generations.
static bool parseKeptRuns(StringRef s, StartupProfile &profile) {
  SmallVector<StringRef> runs;
  s.split(runs, ' ', /*MaxSplit=*/mostKeptRuns);
  if (runs.size() > mostKeptRuns)
    return false;
  for (StringRef run : runs) {
    SmallVector<StringRef, 3> parts;
    run.split('@').first.split(parts, ':');
    KeptRun &kept = profile.keptRuns.emplace_back(KeptRun{0, parts.size() == 3});
    if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() || !all_of(parts[0], isHexDigit) ||
        !parseCount(parts[1], kept.weight) || kept.weight > UINT64_MAX / mostKeptRuns ||
        (kept.hasData && parts[2] != "data"))
      return false;
  }
  return true;
}

/// Parses how many runs touched an entry: `9`, or `9@2,0,1` with the runs of each generation, where
/// 9 is their sum weighted by age. `=` and the set of kept runs that touched it may follow. An
/// error says what is wrong.
static Error parseRuns(StringRef s, const StartupProfile &profile, ProfileEntry &entry) {
  auto [counts, kept] = s.split('=');
  auto [runs, listed] = counts.split('@');
  SmallVector<StringRef, 8> byGeneration;
  if (counts.contains('@'))
    listed.split(byGeneration, ',');
  const uint64_t tell = profile.keptThatTell(entry.kind);
  entry.keptBy = tell;
  bool isBad = !parseCount(runs, entry.runs) ||
               byGeneration.size() != (profile.generations > 1 ? profile.generations : 0) ||
               (s.contains('=') && kept.getAsInteger(16, entry.keptBy));
  const unsigned newest = entry.kind == EntryKind::Function ? 0 : profile.newestWithData;
  entry.faded = !byGeneration.empty();
  for (auto [place, each] : enumerate(byGeneration)) {
    uint64_t number = 0;
    isBad |= !parseCount(each, number, /*min=*/0);
    if (number > 0 && place <= newest)
      entry.faded = false;
  }
  if (isBad)
    return createStringError("bad number of runs '" + s + "'");
  const uint64_t all = entry.kind == EntryKind::Function ? profile.runs : profile.dataRuns;
  if (entry.runs > all)
    return createStringError("touched by " + Twine(entry.runs) + " of " + Twine(all) + " runs");
  const uint64_t others = all - std::min(all, profile.weightOf(tell));
  const uint64_t known = profile.weightOf(entry.keptBy & tell);
  if ((entry.keptBy & ~tell) || entry.runs < known || entry.runs > known + others)
    return createStringError("'" + s + "' does not fit to the kept runs");
  return Error::success();
}

/// Parses `2.10:2:0 2.9:1:1`: the label, the runs and the runs with data of each generation.
static bool parseGenerations(StringRef s, StartupProfile &profile) {
  SmallVector<StringRef, 8> generations;
  s.split(generations, ' ');
  profile.generations = generations.size();
  profile.newestWithData = generations.size();
  for (auto [place, generation] : enumerate(generations)) {
    SmallVector<StringRef, 4> parts;
    generation.split(parts, ':');
    uint64_t runs, dataRuns;
    if (parts.size() < 3 || !parseCount(parts[1], runs) ||
        !parseCount(parts[2], dataRuns, /*min=*/0))
      return false;
    if (dataRuns > 0)
      profile.newestWithData = std::min<unsigned>(profile.newestWithData, place);
  }
  return true;
}

/// Parses one entry line; an error says what is wrong.
static Expected<ProfileEntry> parseEntry(StringRef line, StartupProfile &profile) {
  SmallVector<StringRef, 8> fields;
  line.split(fields, '\t', /*MaxSplit=*/7);
  if (fields.size() < 6 || fields.size() > 7)
    return createStringError("an entry has 6 or 7 fields separated by tabs, not " +
                             Twine(fields.size()));
  ProfileEntry entry;
  std::optional<EntryKind> kind = parseKind(fields[0]);
  if (!kind)
    return createStringError("unknown kind '" + fields[0] + "'");
  entry.kind = *kind;
  std::optional<SectionClass> sectionClass = parseSectionClass(fields[1]);
  if (!sectionClass)
    return createStringError("unknown section class '" + fields[1] + "'");
  entry.sectionClass = *sectionClass;
  if (Error e = parseRuns(fields[2], profile, entry))
    return e;
  if (!parseStep(fields[3]))
    return createStringError("bad rank step '" + fields[3] + "'");
  if (!parseTouched(fields[4], entry))
    return createStringError("bad number of touched bytes '" + fields[4] + "'");
  std::optional<StringRef> name = unescape(fields[5], profile.unescaped);
  std::optional<StringRef> file =
      unescape(fields.size() == 7 ? fields[6] : StringRef(), profile.unescaped);
  if (!name || !file)
    return createStringError("bad escape in a name");
  if (name->empty())
    return createStringError("empty name");
  if (entry.kind == EntryKind::Section && file->empty())
    return createStringError("a section without its object");
  entry.name = *name;
  entry.file = *file;
  return entry;
}

/// Parses one line of the header; ignores lines for people. Returns whether it is well-formed.
static bool parseHeaderLine(StringRef line, StartupProfile &profile) {
  auto [key, value] = line.split(' ');
  if (key == "runs")
    return parseCount(value, profile.runs);
  if (key == "kept-runs")
    return profile.keptRuns.empty() && parseKeptRuns(value, profile);
  if (key == "cold-parts")
    profile.knowsColdParts = value != "unknown";
  if (key == "generations")
    return parseGenerations(value, profile);
  profile.hasBlocks |= key.starts_with("blocks:");
  return key != "data-runs" || parseCount(value, profile.dataRuns, /*min=*/0);
}

double StartupProfile::share(const ProfileEntry &entry) const {
  return static_cast<double>(entry.runs) /
         static_cast<double>(entry.kind == EntryKind::Function ? runs : dataRuns);
}

uint64_t StartupProfile::keptThatTell(EntryKind kind) const {
  uint64_t kept = 0;
  for (auto [bit, run] : enumerate(keptRuns))
    kept |= static_cast<uint64_t>(kind == EntryKind::Function || run.hasData) << bit;
  return kept;
}

uint64_t StartupProfile::weightOf(uint64_t kept) const {
  uint64_t weight = 0;
  for (auto [bit, run] : enumerate(keptRuns))
    if (kept >> bit & 1)
      weight += run.weight;
  return weight;
}

Expected<StartupProfile> parseStartupProfile(StringRef path, StringRef text) {
  unsigned lineNumber = 1;
  auto fail = [&](const Twine &what) {
    return createStringError(path + ":" + Twine(lineNumber) + ": " + what);
  };

  auto [first, rest] = text.split('\n');
  if (!first.consume_front(magic) || !first.consume_front(" "))
    return fail("not a startup profile");
  unsigned version;
  if (first.trim().getAsInteger(10, version))
    return fail("bad version '" + first + "'");
  if (version < oldestVersion || version > newestVersion)
    return fail("profile version " + Twine(version) +
                (version > newestVersion ? " is newer than this frontload, which reads versions "
                                         : " is not supported, only ") +
                Twine(oldestVersion) + " to " + Twine(newestVersion));
  // A profile that was cut in a line must not pass for a shorter one.
  if (!text.ends_with("\n"))
    return fail("truncated: the last line has no newline");

  StartupProfile profile;
  constexpr StringLiteral shortestEntry = "data\tbss\t1\t+0\t-\tx\n";
  profile.entries.reserve(std::min(rest.count('\n'), rest.size() / shortestEntry.size()));
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    ++lineNumber;
    if (line.empty() || line.starts_with("#"))
      continue;
    if (!line.contains('\t') && profile.entries.empty()) {
      if (!parseHeaderLine(line, profile))
        return fail("bad number in '" + line + "'");
      continue;
    }
    Expected<ProfileEntry> entry = parseEntry(line, profile);
    if (!entry)
      return fail(toString(entry.takeError()));
    entry->position = profile.entries.size();
    profile.entries.push_back(std::move(*entry));
  }
  if (profile.dataRuns > profile.runs)
    return fail(Twine(profile.dataRuns) + " of " + Twine(profile.runs) + " runs have data");
  return profile;
}

} // namespace frontload
