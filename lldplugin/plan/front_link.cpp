// One link with a front.
#include "plan/front_link.h"
#include "profile/tiers.h"
#include "startup_set/front_worth.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/TimeProfiler.h"
#include <functional>
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

static bool isLarge(const OtherOutput &output) { return output.flags & ELF::SHF_X86_64_LARGE; }

/// Whether a linker script can have the name in quotes.
static bool isPlainName(StringRef name) {
  return llvm::all_of(name, [](char c) { return isPrint(c) && c != '"' && c != '\\'; });
}

static StartupProfile inPlannedOrder(StartupProfile profile) {
  sortByTier(profile);
  return profile;
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
  if (!traits.isRelocated)
    use(Pattern::Relro);
  uint64_t zeros = 0;
  for (const ProfileEntry &entry : profile.entries)
    if (entry.sectionClass == SectionClass::Bss)
      zeros += entry.bytes ? entry.bytes : minToOrder;
  if (zeros >= minToOrder)
    use(Pattern::Bss);
  return patterns;
}

FrontLink::FrontLink(StartupProfile p, std::string path, LinkTraits t)
    : profile(inPlannedOrder(std::move(p))), pathOfProfile(std::move(path)), traits(t),
      startupSet(profile, t.mergesStrings, t.folding,
                 t.isRelocated ? UnnamedRule::Relocated : UnnamedRule::Placed, t.isUntrained),
      planned(sizeOfFirstTier(profile), patternsOf(profile, t)),
      counted(profile, startupSet, planned) {}

std::optional<MemoryBufferRef> FrontLink::firstObject() const {
  auto found = llvm::find_if(objects, [](const InputObject &o) { return !o.isLazy && o.isElf(); });
  if (found == objects.end())
    found = llvm::find_if(objects, std::mem_fn(&InputObject::isElf));
  return found == objects.end() ? std::nullopt : std::optional(found->buffer);
}

void FrontLink::noteLinked(ArrayRef<const char *> names) {
  std::vector<StringRef> buffers;
  for (const InputObject &object : objects)
    buffers.push_back(object.buffer.getBuffer());
  for (auto [object, own] : zip_equal(objects, namesByObject(buffers, names)))
    object.isLazy &= own.empty();
}

/// How many threads the linker may have.
static unsigned numThreads() { return parallel::strategy.compute_thread_count(); }

void FrontLink::beginPlanning() {
  // Without training, it matters which objects lld takes: their constructors run.
  if (numThreads() > 1 && !traits.isUntrained)
    planner =
        std::thread([this, begun = std::exchange(objects, {})] { plan(begun, numThreads() - 1); });
}

void FrontLink::awaitPlanner() {
  if (planner.joinable())
    planner.join();
}

void FrontLink::beginTail(ArrayRef<const char *> linked) {
  tail = std::async(numThreads() > 1 ? std::launch::async : std::launch::deferred, [=, this] {
    return startupSet.findTails(linked.empty() ? NamesByObject()
                                               : namesByObject(inputBytes, linked));
  });
}

void FrontLink::placeTail() {
  if (tail.valid())
    planned.addTails(tail.get());
}

void FrontLink::finishPlanning() {
  TimeTraceScope scope("Finish planning the front");
  awaitPlanner();
  plan(std::exchange(objects, {}), numThreads());
}

void FrontLink::plan(ArrayRef<InputObject> begun, unsigned threads) {
  for (const InputObject &object : begun)
    inputBytes.push_back(object.buffer.getBuffer());
  std::vector<StartupSections> found = startupSet.find(begun, threads);
  planned.add(std::move(found), startupSet.hasIdleRelro());
}

std::string FrontLink::script() const {
  // Go's runtime looks for its constants before its variables only.
  const bool dataIsFirst = !startupSet.hasGo();
  return frontScript(planned.neededPatterns(), traits.frontAlign, traits.copiesConstants,
                     dataIsFirst, traits.prefetches) +
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

} // namespace frontload
