//===- startup_profile.h - reads a startup profile -------------------------===//
//
// A startup profile is the durable, name-based record of what a program touches while it starts.
// The format is declared in scripts/frontload/profile/format.py; this is the reader for linkers.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_STARTUP_PROFILE_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_STARTUP_PROFILE_H

#include "elf/section_class.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace frontload {

/// What a name stands for.
enum class EntryKind : uint8_t {
  Function,
  Data,
  Section, ///< an input section that no symbol names; the name is the section's
  String,  ///< a string in a merged section; the name is its contents
};

/// The place in a name where all its touched bytes lie, if that is one place of a large name: the
/// offset of the first, and one past the last.
struct Stretch {
  uint64_t begin = 0, end = 0;
  bool operator==(const Stretch &) const = default;
};
/// No stretch is longer, in bytes.
constexpr uint64_t longestStretch = 16 << 10;

struct ProfileEntry {
  llvm::StringRef name;
  /// For a local symbol: the source file (STT_FILE) it was found under, or the object, which tells
  /// same-named local symbols apart, else empty. For a section: the object.
  llvm::StringRef file;
  /// The weight of the runs that touched it: the runs of newer generations weigh more.
  uint64_t runs = 1;
  /// How many bytes of it were touched; 0 if no run tells.
  uint64_t bytes = 0;
  /// How many windows of 64 KiB its touched bytes need, which is about how many faults they cost if
  /// nothing is in memory; 1 if the recorder does not tell.
  uint64_t windows = 1;
  std::optional<Stretch> stretch;
  /// Which of the kept runs touched it: bit i stands for `StartupProfile::keptRuns[i]`.
  uint64_t keptBy = 0;
  /// Its place in first-touch order.
  uint32_t position = 0;
  EntryKind kind = EntryKind::Function;
  SectionClass sectionClass = SectionClass::Text;
  /// Whether a run that records data touched it, too, so that the profile knows its data.
  bool measured = false;
  /// Whether only older generations touched it, of those that could tell. Then it may have gone
  /// from the program, too.
  bool faded = false;
};

/// One of the runs of which a profile tells what each of them touched.
struct KeptRun {
  uint64_t weight;
  bool hasData;
};
/// As many as there are bits in a word.
constexpr size_t mostKeptRuns = 64;

struct StartupProfile {
  StartupProfile() = default;
  StartupProfile(StartupProfile &&) = default; // no copies: entries refer to the names
  StartupProfile &operator=(StartupProfile &&) = default;

  /// The weight of all runs, and of those that recorded data.
  uint64_t runs = 1;
  uint64_t dataRuns = 0;
  /// Whether a cold part that is not among the entries was not entered. In a profile of a build
  /// that counts for PGO it may have been: cold parts are the work of the counts.
  bool knowsColdParts = true;
  /// Whether it knows basic blocks of functions. Then a cold part has the blocks that no run
  /// touched.
  bool hasBlocks = false;
  /// How many generations the runs are of; 0 if none has a label. The runs, those of the entries
  /// and the weights of kept runs are weighed by their age already.
  unsigned generations = 0;
  /// The newest of them that recorded data, counted from the newest of all.
  unsigned newestWithData = 0;
  /// Some of the runs, or all.
  std::vector<KeptRun> keptRuns;
  /// In first-touch order.
  std::vector<ProfileEntry> entries;
  /// The names that are not in the text as they are.
  std::deque<std::string> unescaped;

  /// The share of the runs that touched `entry`, of those that could have told: above 0, at most 1.
  double share(const ProfileEntry &entry) const;
  /// The kept runs that can have touched an entry of this kind, as the bits of a word.
  uint64_t keptThatTell(EntryKind kind) const;
  /// The weight of kept runs.
  uint64_t weightOf(uint64_t kept) const;
};

/// Parses the text of a profile, to which the entries then refer. `path` is for messages; errors
/// say `path:line: what is wrong`.
llvm::Expected<StartupProfile> parseStartupProfile(llvm::StringRef path, llvm::StringRef text);

/// `name` with the escapes of the format, as it stands in profiles.
std::string escapeName(llvm::StringRef name);

} // namespace frontload

#endif
