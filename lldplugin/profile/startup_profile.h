// Reads a startup profile.
//
// A startup profile is the durable, name-based record of what a program touches while it starts.
// The format is declared in scripts/frontload/profile/format.py; this is the reader for linkers.
#pragma once

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

/// The range of a large name that contains all its touched bytes: the offset of the first, and one
/// past the last.
struct Stretch {
  uint64_t begin = 0, end = 0;
  bool operator==(const Stretch &) const = default;
};
/// The size of the longest stretch, in bytes.
constexpr uint64_t longestStretch = 16 << 10;

struct ProfileEntry {
  llvm::StringRef name;
  /// For a local symbol: the source file (STT_FILE) it was found under, or the object, which tells
  /// same-named local symbols apart, else empty. For a section: the object.
  llvm::StringRef file;
  /// The weight of the runs that touched it: the runs of newer generations weigh more.
  uint64_t runs = 1;
  /// How many bytes of it were touched; 0 if no run recorded them.
  uint64_t bytes = 0;
  /// The number of its windows of 64 KiB with touched bytes, which is about the number of faults of
  /// a cold start; 1 if the recorder does not count them.
  uint64_t windows = 1;
  std::optional<Stretch> stretch;
  /// Which of the kept runs touched it: bit i stands for `StartupProfile::keptRuns[i]`.
  uint64_t keptBy = 0;
  /// Its place in first-touch order.
  uint32_t position = 0;
  EntryKind kind = EntryKind::Function;
  SectionClass sectionClass = SectionClass::Text;
  /// Whether a run that records data touched it, so that the profile has its data.
  bool measured = false;
  /// Whether only programs with hooks touched it, which record functions that they inline. Another
  /// build need not have it.
  bool inlinable = false;
  /// Whether only older generations touched it, of those that could record it. It may have been
  /// removed from the program.
  bool faded = false;
};

/// A run for which the profile records which entries it touched.
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
  /// Whether a cold part without an entry was not entered. In a profile of a build that counts for
  /// PGO it may have been: the counts create the cold parts.
  bool knowsColdParts = true;
  /// Whether it has basic blocks of functions. Then cold parts have the blocks that no run touched.
  bool hasBlocks = false;
  /// The number of generations of the runs; 0 if none has a label. The runs, those of the entries
  /// and the weights of kept runs are already weighted by age.
  unsigned generations = 0;
  /// The newest generation that recorded data, counted from the newest of all.
  unsigned newestWithData = 0;
  /// Some of the runs, or all.
  std::vector<KeptRun> keptRuns;
  /// In first-touch order.
  std::vector<ProfileEntry> entries;
  /// Names that have escapes in the text.
  std::deque<std::string> unescaped;

  /// The share of the runs that touched `entry`, of those that could record it: above 0, at most 1.
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
