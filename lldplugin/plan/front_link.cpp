//===- front_link.cpp - one link with a front ------------------------------===//

#include "plan/front_link.h"
#include "names/name_hashes.h"
#include "plan/other_script.h"
#include "profile/tiers.h"
#include "program/own_files.h"
#include "startup_set/front_worth.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TimeProfiler.h"
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

using namespace llvm;

namespace frontload {

/// Less data than this, a page, is not put in order.
static constexpr uint64_t minToOrder = 4096;

/// At most this many unwanted bytes, four pages, stay in the front: they are not worth moving.
static constexpr uint64_t maxUnwanted = 16 << 10;

/// Code and data must not lie further apart than 2 GiB. At most this many bytes of large data
/// (SHF_X86_64_LARGE, which code reaches wherever it is) lie between them.
static constexpr uint64_t maxBetween = 1 << 30;

/// Most sections need at most this many bytes for their alignment.
static constexpr uint64_t maxPadding = 16;

static bool isLarge(const OtherOutput &output) { return output.flags & ELF::SHF_X86_64_LARGE; }

/// Whether a linker script can have the name in quotes.
static bool isPlainName(StringRef name) {
  return llvm::all_of(name, [](char c) { return isPrint(c) && c != '"' && c != '\\'; });
}

static StartupProfile inPlannedOrder(StartupProfile profile) {
  sortByTier(profile);
  return profile;
}

/// The pattern of a section; none of writable data behind the front, which has no order.
static std::optional<Pattern> patternOf(SectionClass c, Region region) {
  bool isFront = region == Region::Front;
  auto ifFront = [&](Pattern pattern) { return isFront ? std::optional(pattern) : std::nullopt; };
  switch (c) {
  case SectionClass::Rodata:
    return isFront ? Pattern::Rodata : Pattern::NextRodata;
  case SectionClass::Text:
    return isFront ? Pattern::Text : Pattern::NextText;
  case SectionClass::Relro:
    return ifFront(Pattern::Relro);
  case SectionClass::Data:
    return ifFront(Pattern::Data);
  case SectionClass::Bss:
    return ifFront(Pattern::Bss);
  }
  llvm_unreachable("a class without a pattern");
}

/// Whether .data.rel.ro can be put in order. The linker tells by a section's name whether it may be
/// folded, and a mark would change the name.
static bool mayOrderRelro(const LinkTraits &traits) {
  return traits.folding == Folding::None || traits.selection != Selection::ByMark;
}

/// The patterns that a script needs: by the profile, not by the classes that are found, since
/// link-time optimization may bring more.
static PatternSet patternsOf(const StartupProfile &profile, const LinkTraits &traits) {
  PatternSet patterns = {};
  auto use = [&](Pattern pattern) { patterns[static_cast<unsigned>(pattern)] = true; };
  for (Pattern always :
       {Pattern::Rodata, Pattern::Text, Pattern::Data, Pattern::NextRodata, Pattern::NextText})
    use(always);
  if (traits.mergesStrings)
    use(Pattern::Strings);
  // Every pattern costs a hundredth of the link. Relocation writes to nearly all of .data.rel.ro,
  // if there is any; .bss is not in the file, and less than a page of it has no order worth having.
  for (SectionClass c : {SectionClass::Relro, SectionClass::Bss}) {
    uint64_t bytes = 0;
    for (const ProfileEntry &entry : profile.entries)
      if (entry.sectionClass == c)
        bytes += entry.bytes ? entry.bytes : minToOrder;
    bool isLeft = c == SectionClass::Relro && (traits.isRelocated || !mayOrderRelro(traits));
    if ((bytes >= minToOrder || c == SectionClass::Relro) && !isLeft)
      use(*patternOf(c, Region::Front));
  }
  return patterns;
}

FrontLink::FrontLink(StartupProfile p, std::string path, LinkTraits t)
    : profile(inPlannedOrder(std::move(p))), pathOfProfile(std::move(path)), traits(t),
      firstTier(sizeOfFirstTier(profile)), patterns(patternsOf(profile, t)),
      startupSet(profile, t.mergesStrings, t.folding,
                 t.isRelocated ? UnnamedRule::Relocated : UnnamedRule::Placed) {}

void FrontLink::addScript(StringRef script) { isEndAssigned |= assigns(script, "_end"); }

std::optional<MemoryBufferRef> FrontLink::firstObject() const {
  auto found = llvm::find_if(objects, [](const InputObject &o) { return !o.isLazy && o.isElf(); });
  if (found == objects.end())
    found = llvm::find_if(objects, std::mem_fn(&InputObject::isElf));
  return found == objects.end() ? std::nullopt : std::optional(found->buffer);
}

/// How many threads the linker may have.
static unsigned numThreads() { return parallel::strategy.compute_thread_count(); }

void FrontLink::beginPlanning() {
  if (numThreads() > 1)
    planner =
        std::thread([this, begun = std::exchange(objects, {})] { plan(begun, numThreads() - 1); });
}

void FrontLink::awaitPlanner() {
  if (planner.joinable())
    planner.join();
}

void FrontLink::finishPlanning() {
  TimeTraceScope scope("Finish planning the front");
  awaitPlanner();
  plan(std::exchange(objects, {}), numThreads());
}

void FrontLink::plan(ArrayRef<InputObject> begun, unsigned threads) {
  for (const InputObject &object : begun) {
    inputBytes.push_back(object.buffer.getBuffer());
    isOurs.push_back(sys::path::filename(object.archive) == prefetchArchive);
  }
  size_t before = known.size();
  take(startupSet.find(begun, threads));
  if (startupSet.hasIdleRelro() && mayOrderRelro(traits) && !hasScript)
    patterns[static_cast<unsigned>(Pattern::Relro)] = true;
  if (known.size() != before)
    putInOrder();
  // The linker does not wait for this here.
  for (const EntryPlace &p :
       ArrayRef(startupSet.entryPlaces().movable).drop_front(placeNumbers.size()))
    placeNumbers.push_back(numbers.find(p.sectionName)->second);
}

/// Takes note of the sections found in the next objects.
void FrontLink::take(std::vector<StartupSections> found) {
  size_t numSections = 0;
  for (const StartupSections &sections : found)
    numSections += sections.size();
  known.reserve(known.size() + numSections);
  numbers.reserve(numbers.size() + numSections);
  sectionsFound.reserve(sectionsFound.size() + found.size());
  for (StartupSections &sections : found) {
    uint32_t object = sectionsFound.size();
    for (const StartupSection &section : sections) {
      auto [entry, isNew] = numbers.try_emplace(section.name, uint32_t(known.size()));
      Known fresh{section.name,
                  section.rank,
                  object,
                  section.index,
                  section.sectionClass,
                  section.region,
                  false,
                  false,
                  0,
                  0,
                  {}};
      Known &k = isNew ? known.emplace_back(fresh) : known[entry->second];
      if (std::tie(section.region, section.rank) < std::tie(k.region, k.rank))
        std::tie(k.region, k.rank) = std::tie(section.region, section.rank);
      k.contents += Placed{1, !section.named, section.size};
      knownNames.add(hashOfAddress(section.name));
    }
    sectionsFound.push_back(std::move(sections));
  }
}

/// Gives the known sections their order in their patterns. Sections of one rank (all next sections,
/// those that one function refers to) lie in the order of the objects on the command line.
void FrontLink::putInOrder() {
  // The known sections are in that order, so counting those of each rank sorts them.
  const size_t numRanks = profile.entries.size() + 1;
  auto placeOf = [&](const Known &k) { return static_cast<size_t>(k.region) * numRanks + k.rank; };
  std::vector<uint32_t> ends(2 * numRanks);
  for (const Known &k : known)
    ++ends[placeOf(k)];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<uint32_t> begins(ends);
  std::vector<uint32_t> sorted(known.size());
  for (uint32_t i = known.size(); i-- > 0;)
    sorted[--begins[placeOf(known[i])]] = i;

  std::array<uint32_t, numPatterns + 1> next = {}; // the last: for no pattern
  auto nextOf = [&](const Known &k) -> uint32_t & {
    std::optional<Pattern> pattern = patternOf(k.sectionClass, k.region);
    return next[pattern ? static_cast<unsigned>(*pattern) : numPatterns];
  };
  DenseMap<CachedHashStringRef, uint32_t> copies; // the order of the names of one rank
  for (auto [begin, end] : zip_equal(begins, ends)) {
    if (end - begin == 1) { // as for most ranks
      Known &only = known[sorted[begin]];
      only.order = nextOf(only)++;
      continue;
    }
    copies.clear();
    for (uint32_t i : ArrayRef(sorted).slice(begin, end - begin)) {
      Known &k = known[i];
      auto [copy, isFirst] = copies.try_emplace(hashName(k.name), nextOf(k));
      nextOf(k) += isFirst;
      k.order = copy->second;
    }
  }
}

/// The patterns that have sections, or may get some: each costs a hundredth of the link.
PatternSet FrontLink::neededPatterns() const {
  if (expectsObjects)
    return patterns;
  PatternSet needed = {};
  // The first two nearly always have sections; of strings it is not known.
  for (Pattern kept : {Pattern::Rodata, Pattern::Text, Pattern::Strings})
    needed[static_cast<unsigned>(kept)] = patterns[static_cast<unsigned>(kept)];
  for (const Known &k : known)
    if (std::optional<Pattern> pattern = usedPatternOf(k))
      needed[static_cast<unsigned>(*pattern)] = true;
  return needed;
}

std::string FrontLink::script() const { return symbolsScript(); }

std::string FrontLink::laterScript() {
  hasScript = true;
  return frontScript(neededPatterns(), traits.selection,
                     {traits.frontAlign, traits.copiesConstants,
                      // Go's runtime looks for its constants before its variables only.
                      /*dataIsFirst=*/!startupSet.hasGo()}) +
         behindScript(outputsBehind());
}

/// Whether a section that the linker keeps together under a name of its own is worth a place in the
/// front.
static bool belongsToFront(const OtherOutput &output) {
  return frontload::belongsToFront(output.bytes, output.windows, std::min(output.windows, 1.0)) &&
         output.bytes <= bytesIfFaulted(output.windows);
}

OutputsBehind FrontLink::outputsBehind() const {
  std::vector<std::pair<StringRef, const OtherOutput *>> unwanted;
  uint64_t largeBytes = 0;
  for (const auto &[name, output] : startupSet.otherOutputs()) {
    if (!belongsToFront(output))
      unwanted.push_back({name, &output});
    if (isLarge(output) && !output.isZeros)
      largeBytes += output.bytes;
  }
  llvm::sort(unwanted, [](const auto &a, const auto &b) {
    return std::tie(a.second->bytes, a.first) < std::tie(b.second->bytes, b.first);
  });
  OutputsBehind result;
  uint64_t small = 0;
  for (auto [name, output] : unwanted) {
    // Small sections are not worth moving.
    if (small + output->bytes <= maxUnwanted && !isLarge(*output)) {
      small += output->bytes;
      continue;
    }
    // Data too large to lie between code and data stays where the linker puts it, far from both.
    bool isFar = isLarge(*output) && (output->isZeros || largeBytes > maxBetween);
    if (output->keepsPlace || isFar || !isPlainName(name))
      result.unmoved.push_back(name.str());
    else if (output->isZeros)
      result.zeros.push_back(name.str());
    else if (output->flags & ELF::SHF_EXECINSTR)
      result.code.push_back(name.str());
    else if (output->flags & ELF::SHF_WRITE)
      result.data.push_back(name.str());
    else
      result.constants.push_back(name.str());
  }
  return result;
}

/// The output section of a pattern.
static StringRef outputOf(Pattern pattern) {
  switch (pattern) {
  case Pattern::Rodata:
    return frontRodataSection;
  case Pattern::Text:
    return frontTextSection;
  case Pattern::Relro:
    return ".data.rel.ro";
  case Pattern::Data:
    return frontDataSection;
  case Pattern::Bss:
    return ".bss";
  case Pattern::Strings:
    return stringsSection;
  case Pattern::NextText:
    return ".text";
  case Pattern::NextRodata:
    return ".rodata";
  }
  llvm_unreachable("a pattern without an output section");
}

StringMap<uint64_t> FrontLink::wantedBytes() const {
  StringMap<uint64_t> result;
  for (Pattern pattern : {Pattern::Rodata, Pattern::Text, Pattern::Data, Pattern::Relro}) {
    // In .data.rel.ro, other sections lie behind those of the pattern.
    bool isLimited = pattern == Pattern::Relro && patterns[static_cast<unsigned>(pattern)];
    uint64_t bytes = 0;
    for (const Known &k : known) {
      if (!k.isPlaced || usedPatternOf(k) != pattern)
        continue;
      if (k.rank < firstTier)
        bytes += k.contents.bytes + k.contents.sections * maxPadding;
      else
        isLimited = true;
    }
    if (isLimited)
      result[outputOf(pattern)] = bytes;
  }
  return result;
}

/// All sections of an object from the first that has the name of `k` on.
ArrayRef<StartupSection> FrontLink::sectionsOf(const Known &k) const {
  const StartupSections &all = sectionsFound[k.object]; // by index
  const auto *first = llvm::partition_point(
      all, [&](const StartupSection &section) { return section.index < k.index; });
  return ArrayRef(first, all.end());
}

std::vector<ExpectedPart> FrontLink::expectedParts() const {
  std::vector<ExpectedPart> result;
  DenseMap<std::pair<uint32_t, uint32_t>, std::vector<LeftOutPart>> parts; // by object and section
  for (const LeftOutPart &part : startupSet.leftOutParts())
    parts[{part.object, part.section}].push_back(part);
  if (parts.empty())
    return result;
  // Sections that no entry names lie behind these.
  std::vector<const Known *> leading;
  for (const Known &k : known)
    if (k.isPlaced && !k.keepsPlace && k.rank < profile.entries.size() &&
        usedPatternOf(k) == Pattern::NextRodata)
      leading.push_back(&k);
  llvm::sort(leading, [](const Known *a, const Known *b) {
    return std::tie(a->order, a->object) < std::tie(b->order, b->object);
  });
  uint64_t offset = 0;
  for (const Known *k : leading) {
    uint64_t left = k->contents.sections;
    for (const StartupSection &section : sectionsOf(*k)) {
      if (section.name != k->name)
        continue;
      offset = alignTo(offset, uint64_t(1) << section.alignment);
      std::vector<LeftOutPart> own = parts.lookup({k->object, section.index});
      llvm::sort(own, [](const LeftOutPart &a, const LeftOutPart &b) {
        return a.stretch.begin < b.stretch.begin;
      });
      for (const LeftOutPart &part : own)
        result.push_back({part, offset});
      offset += section.size;
      if (--left == 0)
        break;
    }
  }
  return result;
}

/// The pattern of a known section, if the script has it.
std::optional<Pattern> FrontLink::usedPatternOf(const Known &k) const {
  std::optional<Pattern> pattern = patternOf(k.sectionClass, k.region);
  return pattern && patterns[static_cast<unsigned>(*pattern)] ? pattern : std::nullopt;
}

std::vector<PlacedSection> FrontLink::placedSections() const {
  std::vector<PlacedSection> result;
  for (LinkedSection &section : findLinkedSections(met, inputBytes)) {
    std::optional<uint32_t> number = numberOf(section.name);
    std::optional<Pattern> pattern =
        number ? usedPatternOf(known[*number]) : patternOfUnknown(section.name);
    StringRef output = pattern ? outputOf(*pattern) : plainOutputOf(section.name, traits.plain);
    std::optional<uint32_t> order =
        number && pattern ? std::optional(known[*number].order) : std::nullopt;
    // A profile with data names all touched sections.
    bool isGuessed = number && known[*number].region == Region::Front && !profile.dataRuns &&
                     known[*number].contents.referred;
    result.push_back({section, output, order,
                      isGuessed ? std::optional(known[*number].rank) : std::nullopt, std::nullopt,
                      isOurs[section.object]});
  }
  return result;
}

std::vector<uint32_t> FrontLink::metByAllRuns() const {
  std::vector<uint32_t> result;
  for (const Known &k : known)
    if (k.isPlaced && !k.keepsPlace && k.rank < firstTier)
      result.push_back(k.position);
  return result;
}

std::vector<FrontLink::PlannedSection> FrontLink::plannedSections() const {
  std::vector<PlannedSection> result;
  result.reserve(known.size());
  for (const Known &k : known)
    result.push_back({k.name, k.object, usedPatternOf(k), k.order});
  return result;
}

std::optional<uint32_t> FrontLink::numberOf(StringRef name) const {
  if (!knownNames.mayContain(hashOfAddress(name.data())))
    return std::nullopt;
  auto it = numbers.find(name.data());
  return it == numbers.end() ? std::nullopt : std::optional(it->second);
}

/// The pattern of a section that is not one of the startup set.
std::optional<Pattern> FrontLink::patternOfUnknown(StringRef name) const {
  return traits.mergesStrings && isStringSection(name) ? std::optional(Pattern::Strings)
                                                       : std::nullopt;
}

std::optional<Pattern> FrontLink::patternFor(StringRef name) const {
  std::optional<uint32_t> number = numberOf(name);
  return number ? usedPatternOf(known[*number]) : patternOfUnknown(name);
}

bool FrontLink::isCodeOfAllRuns(StringRef name) const {
  std::optional<uint32_t> number = numberOf(name);
  return number && known[*number].rank < firstTier &&
         usedPatternOf(known[*number]) == Pattern::Text;
}

FrontLink::MetSection FrontLink::meet(StringRef name) {
  met.push_back(name.data());
  // All sections of the link are asked about, so a look at the next known one is worth it.
  bool isNext = afterMet < known.size() && known[afterMet].name == name.data();
  std::optional<uint32_t> number = isNext ? afterMet : numberOf(name);
  if (!number)
    return {patternOfUnknown(name), std::nullopt};
  Known &k = known[*number];
  std::optional<Pattern> pattern = usedPatternOf(k);
  k.isPlaced |= !pattern;
  k.position = uint32_t(met.size() - 1);
  afterMet = *number + 1;
  return {pattern, number};
}

std::optional<uint32_t> FrontLink::place(StringRef name) {
  std::optional<uint32_t> number = numberOf(name);
  return number ? std::optional(place(*number)) : std::nullopt;
}

uint32_t FrontLink::place(uint32_t number) {
  known[number].isPlaced = true;
  return known[number].order;
}

void FrontLink::keepPlace(StringRef name) {
  if (std::optional<uint32_t> number = numberOf(name))
    known[*number].keepsPlace = true;
}

void FrontLink::finish() {
  for (const Known &k : known)
    if (k.isPlaced && k.keepsPlace) {
      numKeptSections += k.contents.sections;
    } else if (k.isPlaced && k.region == Region::Front) {
      sums[static_cast<unsigned>(k.sectionClass)] += k.contents;
      contributors[k.object] += k.contents.sections;
    }

  states.assign(profile.entries.size(), EntryState::NotDefined);
  auto raise = [&](uint32_t entry, EntryState state) {
    states[entry] = std::max(states[entry], state);
  };
  for (auto [p, number] : zip_equal(startupSet.entryPlaces().movable, placeNumbers)) {
    const Known &k = known[number];
    raise(p.entry, !k.isPlaced                 ? EntryState::Unused
                   : k.keepsPlace              ? EntryState::Unmovable
                   : k.region == Region::Front ? EntryState::Placed
                                               : EntryState::LeftOut);
  }
  // Strings are not judged before the output shows them.
  for (auto [entry, state] : enumerate(states))
    if (startupSet.entryPlaces().isKept[entry] || profile.entries[entry].kind == EntryKind::String)
      raise(entry, EntryState::Unmovable);
}

void FrontLink::fold(StringRef name) {
  std::optional<uint32_t> number = numberOf(name);
  if (!number)
    return;
  Known &k = known[*number];
  if (!k.isPlaced || k.keepsPlace || k.region != Region::Front || !k.contents.sections)
    return;
  // Any of the sections that share the name may be the folded one.
  uint64_t all = k.contents.sections;
  Placed one{1, (k.contents.referred + all - 1) / all, k.contents.bytes / all};
  k.contents -= one;
  sums[static_cast<unsigned>(k.sectionClass)] -= one;
  if (!--contributors[k.object])
    contributors.erase(k.object);
}

MatchSummary FrontLink::matchSummary() const {
  MatchSummary result;
  for (auto [index, entry, state] : enumerate(profile.entries, states))
    switch (state) {
    case EntryState::NotDefined:
    case EntryState::Unused:
      if (entry.faded)
        ++result.faded;
      else
        result.missing.push_back(entry.name);
      break;
    case EntryState::Unmovable:
      ++(entry.kind == EntryKind::String ? result.strings : result.kept);
      break;
    case EntryState::LeftOut:
    case EntryState::Placed:
      ++result.found;
      result.ambiguous += foundNames().isAmbiguous(uint32_t(index));
    }
  return result;
}

void FrontLink::finishStrings() {
  if (!traits.mergesStrings)
    return;
  for (auto [entry, state] : zip_equal(profile.entries, states))
    if (entry.kind == EntryKind::String)
      switch (hotStrings().state(entry.name)) {
      case HotStrings::State::Absent:
        state = EntryState::NotDefined;
        break;
      case HotStrings::State::Elsewhere:
        state = EntryState::Unmovable;
        break;
      case HotStrings::State::Placed:
        state = EntryState::Placed;
        break;
      }
}

} // namespace frontload
