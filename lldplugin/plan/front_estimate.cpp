// Whether a front is worth having.
#include "plan/front_estimate.h"
#include "cold_start/io_model.h"
#include "plan/linked_sections.h"
#include "startup_set/front_worth.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/xxhash.h"
#include <tuple>

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
/// 500 generated programs, 5 have a start that reads more with a front than without.
static constexpr double guessedWrong = 0.15;

/// About how large the headers, the dynamic section, and a relocation are.
static constexpr uint64_t headerBytes = 2048, dynamicBytes = 512, relocationBytes = 24;

/// Segments get addresses that lie so far apart.
static constexpr unsigned segmentShift = 40;

namespace {
/// The numbers of the pieces that are not input sections, and of the first that is one.
enum : uint32_t { headers, dynamic, relocations, firstSection };

/// Something that a start touches.
struct Touch {
  uint32_t piece; ///< its number
  uint64_t offset;
  bool byLoader = true; ///< which writes to what the program only reads
  uint32_t entry = 0;   ///< of the profile
  double share = 1;     ///< of the runs
  uint64_t keptBy = 0;  ///< which of the kept runs touch it
  bool isGuessed = false;
};

/// Both files.
class Files {
public:
  explicit Files(const FrontLink &link);
  /// Whether the loaded part is no longer than a window.
  bool isReadAtOnce() const { return loadedBytes(WithFront) <= device().readaheadBytes; }
  void addAllTouches();
  std::vector<EstimatedStart> tryStarts() const;

private:
  uint64_t loadedBytes(Layout layout) const {
    return segments[layout].back().offset + segments[layout].back().fileBytes;
  }
  template <class ELFT> void addRelocations(const ElfObject<ELFT> &object, uint32_t number);
  uint32_t find(uint32_t object, uint32_t index) const;
  void layOut(Layout layout);
  void addTouch(uint32_t piece, uint64_t offset, uint32_t entry, bool isGuessed);
  void addTouches(const EntryPlace &place);
  void addPrefetch();
  StartCounts startWith(ArrayRef<Touch> own, Layout layout) const;

  const FrontLink &link;
  const Placement &placement;
  const StartupProfile &profile;
  std::vector<Piece> pieces;
  std::vector<FileSegment> segments[2];
  std::vector<FileRange> prefetched;
  std::vector<Touch> byLoader, touches; ///< in their order
};
} // namespace

/// lld's -z max-page-size, to whose multiples a linear file aligns segments.
static uint64_t maxPageOf(const FrontLink &link) {
  if (uint64_t given = link.linkTraits().maxPage)
    return given;
  for (StringRef object : link.inputs())
    if (object.starts_with(ELF::ElfMagic) && object.size() > 19) {
      unsigned machine = uint8_t(object[18]) | uint8_t(object[19]); // in either byte order
      return is_contained({ELF::EM_386, ELF::EM_X86_64, ELF::EM_S390, ELF::EM_RISCV}, machine)
                 ? 4 << 10
                 : 64 << 10;
    }
  return device().pageBytes;
}

Files::Files(const FrontLink &l)
    : link(l), placement(l.placement()), profile(l.startupProfile()),
      pieces({{headerBytes, 1, Rights::Read, Part::Headers},
              {dynamicBytes, 8, Rights::Relro, Part::Relro},
              {0, 8, Rights::Read, Part::Relocations}}) {
  LinkedSections(link).forEach(link.account().liveNames(),
                               [&](const Piece &piece, uint32_t) { pieces.push_back(piece); });
  if (link.linkTraits().isRelocated)
    for (auto [number, bytes] : enumerate(link.inputs()))
      withElfObject(bytes, /*isLinked=*/false,
                    [&](const auto &object) { addRelocations(object, uint32_t(number)); });
  for (Layout layout : {Plain, WithFront})
    layOut(layout);
}

/// Adds what the runs in the profile touch, and what the program asks for.
void Files::addAllTouches() {
  // A profile with data names all touched sections.
  if (!profile.dataRuns)
    for (auto [number, piece] : enumerate(pieces))
      if (const PlannedSection *planned = piece.planned;
          planned && planned->region == Region::Front && planned->sum.referred &&
          planned->entry < profile.entries.size())
        for (uint64_t offset = 0; offset < piece.size; offset += device().pageBytes)
          addTouch(uint32_t(number), offset, planned->entry, false);
  for (const std::vector<EntryPlace> *places :
       {&link.entryPlaces().movable, &link.entryPlaces().kept})
    llvm::for_each(*places, [&](const EntryPlace &place) { addTouches(place); });
  llvm::stable_sort(touches, [&](const Touch &a, const Touch &b) {
    return profile.entries[a.entry].position < profile.entries[b.entry].position;
  });
  if (link.linkTraits().prefetches)
    addPrefetch();
}

/// The number of the first piece that is this section of an object, or lies behind it.
uint32_t Files::find(uint32_t object, uint32_t index) const {
  const auto *found = std::partition_point(
      pieces.data() + firstSection, pieces.data() + pieces.size(), [&](const Piece &piece) {
        return std::tie(piece.object, piece.index) < std::tie(object, index);
      });
  return uint32_t(found - pieces.data());
}

/// Adds the relocations of an object's sections that stay for the dynamic linker.
template <class ELFT> void Files::addRelocations(const ElfObject<ELFT> &object, uint32_t number) {
  SmallVector<std::pair<uint32_t, uint32_t>, 0> relocated; // a piece, and its section
  for (uint32_t piece = find(number, 0); piece != pieces.size() && pieces[piece].object == number;
       ++piece)
    if (pieces[piece].rights >= Rights::Relro)
      relocated.push_back({piece, pieces[piece].index});
  object.forEachRelocationsOf(relocated, [&](auto tables, uint32_t piece) {
    uint64_t lastPage = UINT64_MAX;
    object.forEachRelocation(tables, [&](const auto &entry) {
      const uint64_t offset = entry.r_offset;
      byLoader.push_back({relocations, pieces[relocations].size});
      pieces[relocations].size += relocationBytes;
      uint64_t page = offset / device().pageBytes;
      if (std::exchange(lastPage, page) != page)
        byLoader.push_back({piece, offset});
    });
  });
}

/// Gives the pieces their addresses: those have the places in pages that lld's have.
void Files::layOut(Layout layout) {
  const uint64_t maxPage = maxPageOf(link);
  std::vector<Piece *> sorted;
  for (Piece &piece : pieces)
    sorted.push_back(&piece);
  llvm::stable_sort(sorted, [&](const Piece *a, const Piece *b) {
    auto key = [&](const Piece *piece) {
      return layout == Plain
                 ? std::tuple(static_cast<unsigned>(piece->rights), piece->output, 0u)
                 : std::tuple(static_cast<unsigned>(piece->part), piece->order, piece->output);
    };
    return key(a) < key(b);
  });
  std::optional<Rights> rights;
  uint64_t offset = 0;
  for (Piece *piece : sorted) {
    if (rights != piece->rights) {
      rights = piece->rights;
      if (layout == WithFront) // a linear file
        offset = alignTo(offset, maxPage);
      uint64_t address = (uint64_t(segments[layout].size()) << segmentShift) + offset;
      segments[layout].push_back({address, offset, 0, 0, rights == Rights::Execute,
                                  rights == Rights::Write ? address : UINT64_MAX});
    }
    offset = alignTo(offset, piece->alignment);
    FileSegment &segment = segments[layout].back();
    piece->address[layout] = segment.address + (offset - segment.offset);
    offset += piece->size;
    segment.fileBytes = segment.memoryBytes = offset - segment.offset;
    // The kernel clears the rest of a page behind data. A linear file has it behind large data
    // only.
    if (layout == Plain ? piece->rights >= Rights::Relro : piece->part == Part::LargeData)
      segment.memoryBytes = alignTo(offset, device().pageBytes) - segment.offset;
  }
}

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

void Files::addTouch(uint32_t piece, uint64_t offset, uint32_t entry, bool isGuessed) {
  const ProfileEntry &by = profile.entries[entry];
  touches.push_back({piece, offset, false, entry, profile.share(by), by.keptBy, isGuessed});
}

/// Adds the touches of an entry in a place of its own.
void Files::addTouches(const EntryPlace &place) {
  uint32_t piece = find(place.object, place.section);
  if (piece == pieces.size() || pieces[piece].object != place.object ||
      pieces[piece].index != place.section || place.value >= pieces[piece].size)
    return;
  const ProfileEntry &entry = profile.entries[place.entry];
  const uint64_t room = pieces[piece].size - place.value;
  const bool isGuessed = !entry.stretch && room > device().pageBytes;
  forEachTouched(entry, room, [&](uint64_t offset) {
    addTouch(piece, place.value + offset, place.entry, isGuessed);
  });
}

/// Adds what a program asks for that prefetches its front.
void Files::addPrefetch() {
  std::vector<FileRange> ranges;
  uint64_t rodata = UINT64_MAX;
  for (const Piece &piece : pieces) {
    uint64_t offset = piece.address[WithFront] % (uint64_t(1) << segmentShift);
    if (piece.isRead)
      ranges.push_back({offset, offset + piece.size});
    else if (piece.part == Part::Rodata)
      rodata = std::min(rodata, offset);
  }
  for (const auto &[part, offset] : link.account().expectedParts())
    ranges.push_back({rodata + offset + part.stretch.begin, rodata + offset + part.stretch.end});
  prefetched = joined(std::move(ranges), isWorthReading);
}

/// The counts of a start that makes these touches, in order.
StartCounts Files::startWith(ArrayRef<Touch> own, Layout layout) const {
  StartModel model(device(), loadedBytes(layout), segments[layout]);
  auto visit = [&](ArrayRef<Touch> some) {
    for (const Touch &touch : some) {
      const Piece &piece = pieces[touch.piece];
      uint64_t address = piece.address[layout] + touch.offset;
      touch.byLoader &&piece.rights >= Rights::Relro ? model.write(address) : model.use(address);
    }
  };
  model.execute();
  if (link.linkTraits().isRelocated || link.linkTraits().prefetches) // the program is dynamic
    visit({{headers, 0}, {dynamic, 0}});
  if (layout == WithFront)
    model.prefetch(prefetched);
  visit(byLoader);
  visit(own);
  return model.counts();
}

/// Whether `run` makes a touch that a share of the runs makes, if touches are independent: always
/// the same for the same name.
static bool isTouchedBy(size_t run, const Touch &touch) {
  uint64_t drawn = xxh3_64bits(ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(&touch.entry),
                                                 sizeof touch.entry)) ^
                   densemap::detail::mix(run);
  return static_cast<double>(densemap::detail::mix(drawn) % 1000) < 1000 * touch.share;
}

/// Tries the starts of the kept runs, which touch data by chance if they did not record any. As
/// there may be other runs, also starts that touch all that a share of the runs does, from the
/// least to the most that any run can touch, and some that touch each name by chance.
std::vector<EstimatedStart> Files::tryStarts() const {
  std::vector<double> shares;
  for (const Touch &touch : touches)
    shares.push_back(touch.share);
  llvm::sort(shares, std::greater<>());
  shares.erase(llvm::unique(shares), shares.end());
  std::vector<EstimatedStart> result;
  auto add = [&](double share, function_ref<bool(const Touch &)> isIn) {
    std::vector<Touch> own;
    llvm::copy_if(touches, std::back_inserter(own), isIn);
    auto guessed =
        static_cast<double>(count_if(own, [](const Touch &touch) { return touch.isGuessed; }));
    result.push_back({share, guessed / static_cast<double>(std::max(own.size(), size_t{1})),
                      startWith(own, WithFront), startWith(own, Plain)});
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

std::vector<EstimatedStart> estimateStarts(const FrontLink &link) {
  TimeTraceScope scope("Weigh the front");
  Files files(link);
  if (files.isReadAtOnce())
    return {};
  files.addAllTouches();
  return files.tryStarts();
}

bool EstimatedStart::isWorse() const {
  const double sure = 1 - guessedWrong * guessed;
  const uint64_t page = device().pageBytes;
  auto isMore = [&](uint64_t withFront, uint64_t without, uint64_t more) {
    return static_cast<double>(withFront) >
           sure * static_cast<double>(without) + static_cast<double>(more);
  };
  return isMore(front.bytesRead, plain.bytesRead, page) ||
         isMore(front.majorFaults, plain.majorFaults, 1) ||
         any_of(deviceProfiles(), [&](const DeviceProfile &on) {
           return front.secondsOn(on) > maxFactor * plain.secondsOn(on) + on.seconds(1, page);
         });
}

uint64_t bytesSaved(ArrayRef<EstimatedStart> starts) {
  uint64_t least = starts.empty() ? 0 : UINT64_MAX;
  for (const EstimatedStart &start : starts)
    least = std::min(least, start.plain.bytesRead -
                                std::min(start.plain.bytesRead, start.front.bytesRead));
  return least;
}

const EstimatedStart *worstOf(ArrayRef<EstimatedStart> starts) {
  const EstimatedStart *result = nullptr;
  auto ratio = [](const EstimatedStart &start) {
    return static_cast<double>(start.front.bytesRead) / static_cast<double>(start.plain.bytesRead);
  };
  for (const EstimatedStart &start : starts)
    if (start.isWorse() && (!result || ratio(start) > ratio(*result)))
      result = &start;
  return result;
}

std::string EstimatedStart::describe() const {
  auto tell = [](const StartCounts &counts) {
    return (Twine(counts.bytesRead) + " bytes in " + Twine(counts.requests) + " requests").str();
  };
  return "a cold start may read " + tell(front) + " with the front, and " + tell(plain) +
         " without";
}

} // namespace frontload
