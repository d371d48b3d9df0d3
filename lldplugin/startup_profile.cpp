//===- startup_profile.cpp - reads a startup profile -----------------------===//
//
// Everything here is untrusted input: each line is checked, and the first bad one ends the reading
// with its number, because a half-understood profile would silently cost its user the front.
//
//===----------------------------------------------------------------------===//

#include "startup_profile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace llvm;

namespace frontload {

static constexpr StringLiteral magic = "frontload-startup-profile";
static constexpr unsigned majorVersion = 1;

static constexpr StringLiteral classNames[numSectionClasses] = {"rodata", "text", "relro", "data",
                                                                "bss"};

StringRef toString(SectionClass c) { return classNames[static_cast<unsigned>(c)]; }

static std::optional<SectionClass> parseClass(StringRef s) {
  for (unsigned i = 0; i < numSectionClasses; ++i)
    if (s == classNames[i])
      return static_cast<SectionClass>(i);
  return std::nullopt;
}

/// Undoes the escapes of names: `\\`, `\t`, `\n` and `\xNN`.
static std::optional<std::string> unescape(StringRef s) {
  std::string result;
  result.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      result.push_back(s[i]);
      continue;
    }
    if (++i == s.size())
      return std::nullopt;
    uint8_t byte;
    switch (s[i]) {
    case '\\':
      result.push_back('\\');
      break;
    case 't':
      result.push_back('\t');
      break;
    case 'n':
      result.push_back('\n');
      break;
    case 'x':
      if (s.substr(i + 1, 2).size() != 2 || s.substr(i + 1, 2).getAsInteger(16, byte))
        return std::nullopt;
      result.push_back(static_cast<char>(byte));
      i += 2;
      break;
    default:
      return std::nullopt;
    }
  }
  return result;
}

/// Parses one entry line; an error is what is wrong with it.
static Expected<ProfileEntry> parseEntry(StringRef line) {
  SmallVector<StringRef, 6> fields;
  line.split(fields, '\t');
  if (fields.size() < 5 || fields.size() > 6)
    return createStringError("an entry has 5 or 6 fields separated by tabs, not " +
                             Twine(fields.size()));
  ProfileEntry entry;
  if (fields[0] != "function" && fields[0] != "data")
    return createStringError("unknown kind '" + fields[0] + "'");
  std::optional<SectionClass> sectionClass = parseClass(fields[1]);
  if (!sectionClass)
    return createStringError("unknown section class '" + fields[1] + "'");
  entry.sectionClass = *sectionClass;
  uint64_t runs, step;
  if (fields[2].getAsInteger(10, runs) || runs == 0)
    return createStringError("bad number of runs '" + fields[2] + "'");
  if (!fields[3].consume_front("+") || fields[3].getAsInteger(10, step))
    return createStringError("bad rank step '" + fields[3] + "'");
  std::optional<std::string> name = unescape(fields[4]);
  std::optional<std::string> file = unescape(fields.size() == 6 ? fields[5] : "");
  if (!name || !file)
    return createStringError("bad escape in a name");
  if (name->empty())
    return createStringError("empty name");
  entry.name = std::move(*name);
  entry.file = std::move(*file);
  return entry;
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
  if (version != majorVersion)
    return fail("profile version " + Twine(version) + " is not supported, only " +
                Twine(majorVersion));
  // A profile that was cut in a line must not pass for a shorter one.
  if (!text.ends_with("\n"))
    return fail("truncated: the last line has no end");

  StartupProfile profile;
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    ++lineNumber;
    if (line.empty() || line.starts_with("#"))
      continue;
    // The header says what people want to know; no line of it matters to a link.
    if (!line.contains('\t') && profile.entries.empty())
      continue;
    Expected<ProfileEntry> entry = parseEntry(line);
    if (!entry)
      return fail(toString(entry.takeError()));
    profile.entries.push_back(std::move(*entry));
  }
  return profile;
}

} // namespace frontload
