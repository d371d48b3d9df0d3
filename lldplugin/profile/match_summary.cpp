// How much of a profile a link has found.
#include "profile/match_summary.h"
#include "profile/startup_profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"
#include <utility>

using namespace llvm;

namespace frontload {

static constexpr size_t maxInLine = 3, maxInList = 10;

bool MatchSummary::isBelow(double percent) const {
  if (total() == 0)
    return percent > 0;
  return static_cast<double>(found) * 100 < percent * static_cast<double>(total());
}

/// Writes a name with the escapes of profiles, and of bytes that would affect a terminal.
static void writeName(raw_ostream &os, StringRef name) {
  constexpr size_t maxShown = 200;
  const std::string text = escapeName(name.take_front(maxShown)); // is UTF-8
  for (size_t i = 0; i < text.size();) {
    StringRef letter = StringRef(text).substr(i, getNumBytesForUTF8(uint8_t(text[i])));
    if (sys::unicode::columnWidthUTF8(letter) != sys::unicode::ErrorNonPrintableCharacter)
      os << letter;
    else
      for (char byte : letter)
        os << "\\x" << utohexstr(uint8_t(byte), /*LowerCase=*/true, /*Width=*/2);
    i += letter.size();
  }
  if (name.size() > maxShown)
    os << "...";
}

std::string MatchSummary::describe() const {
  std::string text;
  raw_string_ostream os(text);
  os << found << " of " << total() << " names found ("
     << format("%.1f%%",
               total() ? 100.0 * static_cast<double>(found) / static_cast<double>(total()) : 100.0)
     << ")";
  if (ambiguous)
    os << ", " << ambiguous << " of them ambiguous";
  const char *first = "; not counted: ";
  auto notCounted = [&](uint64_t count, StringRef one, StringRef several, StringRef what) {
    if (count)
      os << std::exchange(first, ", ") << count << ' ' << (count == 1 ? one : several) << what;
  };
  notCounted(strings, "string", "strings", "");
  notCounted(kept, "name", "names", " in sections that keep their place");
  notCounted(faded, "name", "names", " that starts touch no more and that are gone");
  notCounted(inlined, "name", "names", " that only a build with hooks has");
  os << (missing.empty() ? "" : "; missing: ");
  interleave(
      ArrayRef(missing).take_front(maxInLine), os, [&](StringRef name) { writeName(os, name); },
      ", ");
  if (missing.size() > maxInLine)
    os << ", ...";
  return text;
}

/// The first ten missing names, one in a line.
static std::string listMissing(ArrayRef<StringRef> missing) {
  std::string text;
  raw_string_ostream os(text);
  for (StringRef name : missing.take_front(maxInList)) {
    os << "\n  ";
    writeName(os, name);
  }
  if (missing.size() > maxInList)
    os << "\n  ... and " << missing.size() - maxInList << " more";
  return text;
}

MatchVerdict MatchSummary::judge(StringRef path, double percent, StringRef option) const {
  auto about = [&](const Twine &text) { return (path + ": " + text).str(); };
  if (!isBelow(percent))
    return {about(describe()), "", false};
  const std::string outOfDate =
      "the profile belongs to another program, or is out of date: record it again";
  if (total() == 0)
    return {about("it has no names that a link could place"), outOfDate, true};
  const std::string accept =
      (", or accept less with " + option + "=PERCENT; missing:" + listMissing(missing)).str();
  if (found == 0)
    return {about("none of its " + Twine(total()) + " names is in this link"), outOfDate + accept,
            true};
  return {about(describe()), "record the profile again" + accept, true};
}

std::optional<double> parseMinMatch(StringRef text) {
  double percent;
  if (text.getAsDouble(percent) || !(percent >= 0 && percent <= 100))
    return std::nullopt;
  return percent;
}

Refusal badMinMatch(StringRef where, StringRef value) {
  return {(where + ": '" + value + "' is not a number from 0 to 100").str(),
          "it is the percentage of names that must be found", exitUsage};
}

} // namespace frontload
