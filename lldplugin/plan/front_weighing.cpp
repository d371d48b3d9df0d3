//===- front_weighing.cpp - whether a file is better with its front --------===//

#include "plan/front_weighing.h"
#include "cold_start/io_model.h"
#include "cold_start/program_loading.h"
#include "cold_start/start_model.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace frontload {

/// All devices have the same readahead, and only that counts here.
static const DeviceProfile &device() { return deviceProfiles().front(); }

/// At most this many starts are tried by shares of the runs, and this many by chance.
static constexpr size_t maxStarts = 8;

/// A start may take this many times as long.
static constexpr double maxFactor = 1.05;

/// If the profile does not say which pages of a large name a start touches, they are guessed. For
/// each share of the touches that is guessed, this share of the bytes read may be guessed wrong. Of
/// 210 generated programs, 5 had a start that read more with a front than without. With this, 1
/// has, and 15 have no front for it: the mean start takes 67.7% of its time without one, not 65.6%.
static constexpr double guessedWrong = 0.15;

/// No start is tried if the front reads this many times less than can be read without one at least.
static constexpr uint64_t minGain = 2;

/// With at least this many windows, averages are likely to hold.
static constexpr size_t minWindows = 64;

/// Whether the sections that all runs touch are so many, and so far apart, that the front reads far
/// less. All sections of the link are assumed to have the same size, and to lie in its order. Of
/// two neighbouring touched windows at least one is read.
static bool isClearlyBetter(uint64_t contents, const Front &front, const FrontLink &link) {
  if (!link.numMet())
    return false;
  const uint64_t window = device().readaheadBytes;
  const double windows = static_cast<double>(contents) / static_cast<double>(window);
  DenseSet<uint64_t> touched;
  for (uint32_t position : link.metByAllRuns())
    touched.insert(static_cast<uint64_t>(position * windows / static_cast<double>(link.numMet())));
  return touched.size() >= minWindows && touched.size() / 2 * window >= minGain * front.read();
}

namespace {
/// Something that a start touches, in the file with the front.
struct Touch {
  enum class Kind : uint8_t { Read, Write, Use } kind;
  uint64_t address;
  uint32_t entry = 0;  ///< of the profile
  double share = 1;    ///< of the runs
  uint64_t keptBy = 0; ///< which of the kept runs touch it
  bool isGuessed = false;
};
} // namespace

/// Calls `visit` with an offset in each page that an entry has touched, of the `room` bytes from
/// its symbol on. Without a stretch, the touched bytes are assumed to be spread.
static void forEachTouched(const ProfileEntry &entry, uint64_t room,
                           function_ref<void(uint64_t)> visit) {
  auto visitPages = [&](uint64_t begin, uint64_t end) {
    for (uint64_t offset = begin; offset < std::min(end, room); offset += device().pageBytes)
      visit(offset);
  };
  if (entry.stretch)
    return visitPages(entry.stretch->begin, entry.stretch->end);
  uint64_t windows = std::max<uint64_t>(entry.windows, 1);
  uint64_t bytes = std::max<uint64_t>(entry.bytes, 1);
  for (uint64_t i = 0; i < windows; ++i)
    visitPages(room / windows * i, room / windows * i + divideCeil(bytes, windows));
}

/// The touches of the runs in the profile, in first-touch order.
static std::vector<Touch> touchesOf(const FrontLink &link, ArrayRef<PlacedSection> sections) {
  const StartupProfile &profile = link.startupProfile();
  std::vector<Touch> result;
  auto add = [&](uint64_t address, uint32_t entry, bool isGuessed) {
    const ProfileEntry &by = profile.entries[entry];
    result.push_back({Touch::Kind::Use, address, entry, profile.share(by), by.keptBy, isGuessed});
  };
  DenseMap<std::pair<uint32_t, uint32_t>, const PlacedSection *> byIndex;
  for (const PlacedSection &placed : sections) {
    if (!placed.address)
      continue;
    byIndex[{placed.section.object, placed.section.index}] = &placed;
    if (placed.guessedBy && *placed.guessedBy < profile.entries.size())
      for (uint64_t offset = 0; offset < placed.section.size; offset += device().pageBytes)
        add(*placed.address + offset, *placed.guessedBy, false);
  }
  for (const std::vector<EntryPlace> *places :
       {&link.entryPlaces().movable, &link.entryPlaces().kept})
    for (const EntryPlace &place : *places) {
      const PlacedSection *placed = byIndex.lookup({place.object, place.section});
      if (!placed || place.value >= placed->section.size)
        continue;
      uint64_t address = *placed->address + place.value;
      const ProfileEntry &entry = profile.entries[place.entry];
      const uint64_t room = placed->section.size - place.value;
      const bool isGuessed = !entry.stretch && room > device().pageBytes;
      forEachTouched(entry, room,
                     [&](uint64_t offset) { add(address + offset, place.entry, isGuessed); });
    }
  llvm::stable_sort(result, [&](const Touch &a, const Touch &b) {
    return profile.entries[a.entry].position < profile.entries[b.entry].position;
  });
  return result;
}

namespace {
/// Both files, and what a start touches of them.
struct Files {
  StringRef linked;
  ArrayRef<FileSegment> segments;
  const PlainLayout &plain;
  std::vector<FileRange> prefetched;
  std::vector<Touch> byLoader, beforePrefetch;
};
} // namespace

/// The counts of a start that makes these touches, in order.
static StartCounts startWith(const Files &files, ArrayRef<Touch> own, StartModel model,
                             ArrayRef<FileRange> prefetched,
                             function_ref<std::optional<uint64_t>(uint64_t)> addressOf) {
  model.execute();
  auto visit = [&](ArrayRef<Touch> touches) {
    for (const Touch &touch : touches)
      if (std::optional<uint64_t> address = addressOf(touch.address))
        switch (touch.kind) {
        case Touch::Kind::Read:
          model.read(*address);
          break;
        case Touch::Kind::Write:
          model.write(*address);
          break;
        case Touch::Kind::Use:
          model.use(*address);
          break;
        }
  };
  visit(files.beforePrefetch);
  model.prefetch(prefetched);
  visit(files.byLoader);
  visit(own);
  return model.counts();
}

namespace {
/// A start to try, with its touches besides the loader's.
struct Start {
  double share; ///< as in WeighedStart
  std::vector<Touch> touches;
};
} // namespace

/// Whether `run` makes a touch that a share of the runs makes, if touches are independent: always
/// the same for the same name.
static bool isTouchedBy(size_t run, const Touch &touch) {
  uint64_t drawn = xxh3_64bits(ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(&touch.entry),
                                                 sizeof touch.entry)) ^
                   densemap::detail::mix(run);
  return static_cast<double>(densemap::detail::mix(drawn) % 1000) < 1000 * touch.share;
}

/// The starts to try: those of the kept runs, which touch data by chance if they did not record
/// any. As there may be other runs, also starts that touch all that a share of the runs does, from
/// the least to the most that any run can touch, and some that touch each name by chance.
static std::vector<Start> startsOf(const StartupProfile &profile,
                                   const std::vector<Touch> &touches) {
  std::vector<double> shares;
  for (const Touch &touch : touches)
    shares.push_back(touch.share);
  llvm::sort(shares, std::greater<>());
  shares.erase(llvm::unique(shares), shares.end());
  std::vector<Start> result;
  auto add = [&](double share, function_ref<bool(const Touch &)> isIn) {
    Start &start = result.emplace_back(Start{share, {}});
    llvm::copy_if(touches, std::back_inserter(start.touches), isIn);
  };
  for (size_t run = 0; run < profile.keptRuns.size(); ++run)
    add(static_cast<double>(profile.keptRuns[run].weight) / static_cast<double>(profile.runs),
        [&](const Touch &touch) {
          const EntryKind kind = profile.entries[touch.entry].kind;
          return profile.keptThatTell(kind) >> run & 1 ? touch.keptBy >> run & 1
                                                       : isTouchedBy(run, touch);
        });
  const size_t tried = std::min(shares.size(), maxStarts);
  for (size_t i = 0; i < tried; ++i) {
    double share = shares[i * shares.size() / tried];
    add(share, [&](const Touch &touch) { return touch.share >= share; });
  }
  for (size_t run = 0; shares.size() > 1 && run < maxStarts; ++run)
    add(shares.back(), [&](const Touch &touch) { return isTouchedBy(run, touch); });
  return result;
}

static WeighedStart tryStart(const Files &files, const Start &start) {
  const size_t guessed =
      count_if(start.touches, [](const Touch &touch) { return touch.isGuessed; });
  return {start.share,
          static_cast<double>(guessed) /
              static_cast<double>(std::max(start.touches.size(), size_t{1})),
          startWith(files, start.touches, StartModel(device(), files.linked.size(), files.segments),
                    files.prefetched, [](uint64_t address) { return address; }),
          startWith(files, start.touches,
                    StartModel(device(), files.plain.fileBytes(), files.plain.segments()), {},
                    [&](uint64_t address) { return files.plain.addressOf(address); })};
}

bool WeighedStart::isWorse(uint64_t moreFilling) const {
  const uint64_t moreBytes = device().pageBytes + moreFilling;
  const double sure = 1 - guessedWrong * guessed;
  auto isMore = [&](uint64_t withFront, uint64_t without, uint64_t more) {
    return static_cast<double>(withFront) >
           sure * static_cast<double>(without) + static_cast<double>(more);
  };
  return isMore(front.bytesRead, plain.bytesRead, moreBytes) ||
         isMore(front.majorFaults, plain.majorFaults, 1) ||
         any_of(deviceProfiles(), [&](const DeviceProfile &on) {
           return front.secondsOn(on) > maxFactor * plain.secondsOn(on) + on.seconds(1, moreBytes);
         });
}

const WeighedStart *Weighing::worst() const {
  const WeighedStart *result = nullptr;
  auto ratio = [](const WeighedStart &start) {
    return static_cast<double>(start.front.bytesRead) / static_cast<double>(start.plain.bytesRead);
  };
  for (const WeighedStart &start : starts)
    if (start.isWorse(moreFilling) && (!result || ratio(start) > ratio(*result)))
      result = &start;
  return result;
}

Expected<Weighing> weighFront(StringRef linked, const Front &front, const FrontLink &link) {
  TimeTraceScope scope("Weigh the front");
  auto segments = readSegments(linked);
  if (!segments)
    return segments.takeError();
  auto contents = contentsOf(linked);
  if (!contents)
    return contents.takeError();
  // A file whose loaded part is no longer than a window is read at once in any case.
  if (segments->back().offset + segments->back().fileBytes <= device().readaheadBytes ||
      isClearlyBetter(contents->bytes, front, link))
    return Weighing();
  std::vector<PlacedSection> sections = link.placedSections();
  auto plain = PlainLayout::of(linked, sections, link.linkTraits().plain);
  if (!plain)
    return plain.takeError();
  Files files = {linked, *segments, *plain, {}, {}, {}};
  if (link.linkTraits().prefetches)
    files.prefetched = frontRanges({linked, *segments});
  std::vector<Touch> *touches = &files.beforePrefetch;
  if (Error e = loadProgram(linked, *segments,
                            {[&](uint64_t a) { touches->push_back({Touch::Kind::Read, a}); },
                             [&](uint64_t a) { touches->push_back({Touch::Kind::Write, a}); },
                             [&] { touches = &files.byLoader; }}))
    return e;
  Weighing result;
  result.moreFilling = contents->filling - std::min(contents->filling, plain->filling());
  for (const Start &start : startsOf(link.startupProfile(), touchesOf(link, sections)))
    result.starts.push_back(tryStart(files, start));
  return result;
}

std::string describe(const WeighedStart &start) {
  std::string text;
  raw_string_ostream os(text);
  auto tell = [&](const StartCounts &counts) {
    os << counts.bytesRead << " bytes in " << counts.requests << " requests";
  };
  os << "a cold start may read ";
  tell(start.front);
  os << " with the front, and ";
  tell(start.plain);
  os << " without";
  return text;
}

} // namespace frontload
