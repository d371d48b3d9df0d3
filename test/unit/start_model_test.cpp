// The model of a cold start follows the kernel's rules, each shown on a file of a few windows.
#include "cold_start/start_model.h"
#include <gtest/gtest.h>

using namespace frontload;

namespace {

constexpr uint64_t page = 4096;

constexpr DeviceProfile deviceThatReads(uint64_t pages) {
  return {"test", 0, 1, "", 1, 0, pages * page, 16 * page, page};
}
constexpr DeviceProfile smallDevice = deviceThatReads(32);

/// A file that is one segment, mapped at address 0.
class OneSegment : public StartModel {
public:
  explicit OneSegment(uint64_t pages, bool isExecutable = false,
                      const DeviceProfile &profile = smallDevice)
      : StartModel(profile, pages * page,
                   FileSegment{0, 0, pages * page, pages * page, isExecutable}) {}

  void readPage(uint64_t number) { read(number * page); }
  void readPages(uint64_t first, uint64_t end, uint64_t step = 1) {
    for (uint64_t i = first; i < end; i += step)
      readPage(i);
  }
  void writePage(uint64_t number) { write(number * page); }
  void writePages(uint64_t first, uint64_t end, uint64_t step = 1) {
    for (uint64_t i = first; i < end; i += step)
      writePage(i);
  }
};

/// The pages in memory, as "first-last" of each run.
std::string cached(const StartModel &model, uint64_t pages) {
  std::string text;
  for (uint64_t i = 0; i < pages; ++i) {
    if (!model.isCached(i))
      continue;
    uint64_t first = i;
    while (i + 1 < pages && model.isCached(i + 1))
      ++i;
    text += (text.empty() ? "" : " ") + std::to_string(first) + "-" + std::to_string(i);
  }
  return text;
}

// A touch reads the window that has its page in the middle, in one request.
TEST(StartModel, ReadsAroundATouch) {
  OneSegment model(100);
  model.readPage(50);
  EXPECT_EQ(cached(model, 100), "34-65");
  StartCounts counts = model.counts();
  EXPECT_EQ(counts.majorFaults, 1u);
  EXPECT_EQ(counts.minorFaults, 0u);
  EXPECT_EQ(counts.requests, 1u);
  EXPECT_EQ(counts.bytesRead, 32 * page);
  EXPECT_EQ(counts.runs, 1u);
}

TEST(StartModel, CutsTheWindowAtTheEdgesOfTheFile) {
  OneSegment model(100);
  model.readPage(3);
  model.readPage(98);
  EXPECT_EQ(cached(model, 100), "0-31 82-99");
}

// Code is read from the page on, and no further than it is mapped.
TEST(StartModel, ReadsCodeForward) {
  OneSegment whole(100, /*isExecutable=*/true);
  whole.readPage(50);
  EXPECT_EQ(cached(whole, 100), "50-81");
  StartModel part(
      smallDevice, 100 * page,
      {{0, 0, 60 * page, 60 * page, true}, {60 * page, 60 * page, 40 * page, 40 * page, false}});
  part.read(50 * page);
  EXPECT_EQ(cached(part, 100), "50-59");
}

// Who reads on meets a marked page in time, and waits once; touches far apart have a window each.
TEST(StartModel, ReadsAheadOfASequentialReader) {
  OneSegment model(256), apart(640);
  model.readPages(0, 256);
  EXPECT_EQ(model.counts().majorFaults, 1u);
  EXPECT_EQ(model.counts().bytesRead, 256 * page);
  EXPECT_EQ(model.counts().requests, 256u / 32);
  apart.readPages(32, 640, 64);
  EXPECT_EQ(apart.counts().majorFaults, 10u);
  EXPECT_EQ(apart.counts().bytesRead, 10 * 32 * page);
  EXPECT_EQ(apart.counts().runs, 10u);
}

// What is in memory of the aligned 16 pages is mapped by the same fault.
TEST(StartModel, MapsAroundAFault) {
  OneSegment model(100);
  model.readPages(48, 56);
  EXPECT_EQ(model.counts().minorFaults, 0u);
  model.readPage(47);
  EXPECT_EQ(model.counts().minorFaults, 1u);
}

// A copy is made of each page, so each costs a fault, also if it was read first; but what is
// written can then be read.
TEST(StartModel, FaultsForEachWrittenPage) {
  OneSegment model(100), readFirst(100);
  model.writePages(48, 52);
  EXPECT_EQ(model.counts().majorFaults, 1u);
  EXPECT_EQ(model.counts().minorFaults, 3u);
  model.readPage(48);
  EXPECT_EQ(model.counts().minorFaults, 3u);
  readFirst.readPage(50);
  readFirst.writePages(50, 51);
  readFirst.writePages(50, 51);
  EXPECT_EQ(readFirst.counts().minorFaults, 1u);
}

// A trace does not tell reads from writes.
TEST(StartModel, TakesATouchOfWhatMayBeWrittenForAWrite) {
  StartModel model(smallDevice, 100 * page,
                   FileSegment{0, 0, 100 * page, 100 * page, false, 50 * page});
  for (uint64_t i = 48; i < 52; ++i)
    model.use(i * page);
  EXPECT_EQ(model.counts().minorFaults, 2u);
}

// Each page from the start of a range to its end is there, and no more than there is.
TEST(StartModel, FindsPrefetchedPagesInMemory) {
  OneSegment model(100), small(10);
  model.prefetch(FileRange{0, 40 * page - 1});
  model.readPages(0, 40);
  EXPECT_EQ(model.counts().majorFaults, 0u);
  EXPECT_EQ(cached(model, 100), "0-39");
  small.prefetch(FileRange{0, UINT64_MAX});
  EXPECT_EQ(small.counts().bytesRead, 10 * page);
}

// A list's pieces of 1 MiB are a request each where pages lie side by side in memory, two
// elsewhere.
TEST(StartModel, FindsWhatAListAskedForInMemory) {
  for (uint64_t sideBySide : {1, 2}) {
    OneSegment model(1000);
    model.askFor({{8 * page, 520 * page}, {700 * page, 701 * page}}, sideBySide);
    EXPECT_EQ(cached(model, 1000), "8-519 700-700");
    EXPECT_EQ(model.counts().requests, 4 / sideBySide + 1);
    EXPECT_EQ(model.counts().queuedRequests, 4 / sideBySide);
    model.readPage(9);
    EXPECT_EQ(model.counts().majorFaults, 0u);
  }
}

// A small file is read by one request; what is read in pieces is read ahead, but not in the middle
// of a file; a large read has as much at once as a request may have.
TEST(StartModel, ReadsFilesAhead) {
  OneSegment whole(20), pieces(256), middle(256), large(256);
  whole.readFile(0, 20);
  EXPECT_EQ(whole.counts().requests, 1u);
  EXPECT_EQ(whole.counts().majorFaults, 0u);
  for (uint64_t i = 0; i < 100; ++i)
    pieces.readFile(i, 1);
  EXPECT_LE(pieces.counts().requests, 12u);
  EXPECT_EQ(cached(pieces, 256).substr(0, 2), "0-");
  middle.readFile(100, 3);
  middle.readFile(200, 1);
  EXPECT_EQ(cached(middle, 256), "100-102 200-200");
  large.readFile(0, 256);
  EXPECT_EQ(large.counts().bytesRead, 256 * page);
  EXPECT_EQ(large.counts().requests, 2u);
}

// A single page is a request, even if it goes on where the last one ended; and the device is told
// 128 places in memory at most.
TEST(StartModel, DividesWindowsIntoRequests) {
  constexpr DeviceProfile singles = deviceThatReads(0), windows = deviceThatReads(300);
  OneSegment single(100, false, singles), eager(1000, false, windows);
  single.readPages(50, 60);
  EXPECT_EQ(single.counts().requests, 10u);
  eager.readPage(500);
  EXPECT_EQ(eager.counts().bytesRead, 300 * page);
  EXPECT_EQ(eager.counts().requests, 3u);
}

// It is looked first whether its last page is there; then all is asked for at once, in requests of
// 128 pages.
TEST(StartModel, PrefetchesInLargeRequests) {
  OneSegment model(1000);
  model.prefetch(FileRange{0, 300 * page});
  EXPECT_EQ(model.counts().requests, 1u + 3u);
  EXPECT_EQ(model.counts().queuedRequests, 2u);
  EXPECT_EQ(cached(model, 1000), "0-299");
}

// Ranges are asked for one after the other, each from the start of its page.
TEST(StartModel, PrefetchesRanges) {
  OneSegment model(1000);
  model.prefetch({{500 * page + 100, 600 * page + 1}, {10 * page, 20 * page}});
  EXPECT_EQ(cached(model, 1000), "10-19 500-600");
  EXPECT_EQ(model.counts().requests, 2u);
  EXPECT_EQ(model.counts().bytesRead, 111 * page);
}

// A start that never leaves the front reads no tail. One that does waits for no page of it that it
// does not touch, but if it touches one, for those before.
TEST(StartModel, AwaitsTheTailUpToItsLastTouch) {
  OneSegment model(1000);
  model.prefetch(FileRange{0, 10 * page}, FileRange{500 * page, 600 * page});
  model.readPage(5);
  EXPECT_EQ(cached(model, 1000), "0-9");
  model.readPage(816); // reads 800-831
  EXPECT_EQ(cached(model, 1000), "0-9 500-599 800-831");
  EXPECT_EQ(model.counts().bytesRead, 142 * page);
  EXPECT_EQ(model.counts().unawaitedBytes, 100 * page);
  EXPECT_EQ(model.counts().requests - model.counts().queuedRequests, 2u);
  model.readPage(539);
  EXPECT_EQ(model.counts().majorFaults, 1u);
  EXPECT_EQ(model.counts().unawaitedBytes, 60 * page);
}

// To ask costs less than to look if there is 1 MiB to ask for.
TEST(StartModel, DoesNotLookAtASmallFront) {
  OneSegment small(1000), large(1000);
  small.prefetch(FileRange{0, 256 * page});
  EXPECT_EQ(small.counts().requests, 2u);
  large.prefetch(FileRange{0, 256 * page + 1});
  EXPECT_EQ(large.counts().requests, 1u + 2u); // page 256 is looked at
}

// All ranges are looked at, not just the last one.
TEST(StartModel, LooksAtEachRange) {
  OneSegment model(1000);
  model.readPage(110); // reads 94-125
  model.prefetch({{500 * page, 800 * page}, {94 * page, 126 * page}});
  EXPECT_EQ(cached(model, 1000), "94-125 500-799");
}

// One page is read for being looked at: the last sixteenth's, if the very last one is there. A
// front of which nothing is missing there is not asked for.
TEST(StartModel, LooksWhetherAFrontIsThereBeforeItPrefetches) {
  OneSegment model(320);
  model.readPage(316); // reads 300-319
  model.prefetch(FileRange{0, 310 * page});
  EXPECT_EQ(model.counts().requests, 1u + 1u + 4u); // page 290; 0-127, 128-255, 256-289, 291-299
  model.prefetch(FileRange{0, 320 * page});
  EXPECT_EQ(model.counts().requests, 6u);
}

// The kernel reads the file's first page, and zeros what follows initialized data in its page.
TEST(StartModel, ExecutesByItselfTheHeaderAndTheTailOfData) {
  StartModel model(smallDevice, 200 * page,
                   {{0, 0, 100 * page, 100 * page, false},
                    {100 * page, 100 * page, 50 * page + 100, 80 * page, false}});
  model.execute();
  EXPECT_EQ(cached(model, 200), "0-3 134-165");
  EXPECT_EQ(model.counts().majorFaults, 1u);
}

// The kernel has marked the second page, and reads on if the name of the dynamic linker is there.
TEST(StartModel, ReadsOnForTheNameOfTheDynamicLinker) {
  OneSegment early(100), late(100), marked(100);
  early.execute(page - 1);
  EXPECT_EQ(cached(early, 100), "0-3");
  marked.execute(page);
  EXPECT_EQ(cached(marked, 100), "0-11");
  marked.readPage(5);
  EXPECT_EQ(marked.counts().majorFaults, 0u);
  late.execute(2 * page);
  EXPECT_EQ(cached(late, 100), "0-3");
}

// With two pages of readahead, as 128 KiB are with pages of 64 KiB, both are read with the header.
TEST(StartModel, ReadsSmallWindowsWhole) {
  constexpr DeviceProfile pair = deviceThatReads(2);
  OneSegment model(100, false, pair);
  model.execute();
  EXPECT_EQ(cached(model, 100), "0-1");
}

// AArch64 reads code from the beginning of 64 KiB on.
TEST(StartModel, ReadsCodeInFolios) {
  DeviceProfile device = smallDevice;
  device.kernel.codeFolioBytes = aarch64CodeFolioBytes;
  OneSegment model(100, /*isExecutable=*/true, device);
  model.readPage(50);
  EXPECT_EQ(cached(model, 100), "48-79");
  model.readPage(99);
  EXPECT_EQ(cached(model, 100), "48-79 96-99");
}

// After 100 misses without a hit, the kernel reads single pages.
TEST(StartModel, GivesUpReadingAroundWhereItDoesNotHelp) {
  OneSegment model(64 * 200);
  model.writePages(0, 64 * 200, 64);
  EXPECT_EQ(model.counts().majorFaults, 200u);
  EXPECT_EQ(model.counts().requests, 200u);
  // The first window is cut at the beginning of the file.
  EXPECT_EQ(model.counts().bytesRead, (100 * 32 + 100) * page);
}

// Pages that fault-around maps are hits. Pages of 64 KiB are mapped one by one, and a fault that is
// tried again after its read is no hit.
TEST(StartModel, FindsNoHitsAroundLargePages) {
  DeviceProfile large = smallDevice;
  large.faultAroundBytes = page;
  OneSegment around(64 * 200), alone(64 * 200, false, large);
  for (OneSegment *model : {&around, &alone}) {
    model->readPages(32, 64 * 200, 64);
    EXPECT_EQ(model->counts().majorFaults, 200u);
  }
  EXPECT_EQ(around.counts().bytesRead, 200 * 32 * page);
  EXPECT_EQ(alone.counts().bytesRead, (100 * 32 + 100) * page);
}

// Folios of a reader that reads on grow to a window's size, and the window ends where one does.
TEST(StartModel, EndsAWindowWhereAFolioDoes) {
  OneSegment model(400);
  model.writePage(300); // reads 284-315, marks 308
  model.writePage(61);  // reads 45-76, marks 69
  model.writePage(69);
  EXPECT_EQ(cached(model, 400), "45-107 284-315"); // folios of 4
  model.writePage(77);
  EXPECT_EQ(cached(model, 400), "45-127 284-315"); // of 16
  model.writePage(108);
  EXPECT_EQ(cached(model, 400), "45-159 284-315"); // of 32, and no more
  model.writePage(308);
  EXPECT_EQ(cached(model, 400), "45-159 284-319");
}

// The folio that would cover a page which is there is left to page_cache_ra_unbounded(), and what
// that reads is a request of its own, even if it goes on where the last folio ended.
TEST(StartModel, ReadsPageByPageInARequestOfItsOwn) {
  OneSegment model(400);
  model.writePage(60);  // reads 44-75, marks 68
  model.writePage(131); // reads 115-146
  model.writePage(68);  // reads 76-107, marks 76
  EXPECT_EQ(model.counts().requests, 3u);
  model.writePage(76); // 108-111 are a folio, and 112-127 cannot be one
  EXPECT_EQ(cached(model, 400), "44-146");
  EXPECT_EQ(model.counts().requests, 5u);
}

// Linux 6.18 looks for the next gap from within a folio, and steps over a page.
TEST(StartModel, StepsOverThePageBehindAFolio) {
  OneSegment model(400);
  model.writePage(60); // reads 44-75, marks 68
  model.writePage(68); // reads 76-107 in folios of four, marks 76
  model.writePage(300);
  model.writePage(80); // no mark
  model.writePage(76); // the gap is found at 109: too far
  EXPECT_EQ(cached(model, 400), "44-107 284-315");
}

/// The small device with another kernel.
DeviceProfile withKernel(const char *version, const char *fileSystem) {
  DeviceProfile profile = smallDevice;
  profile.kernel = *kernelRules(version, fileSystem);
  return profile;
}
const DeviceProfile ext4On61 = withKernel("6.1", "ext4"), ext4On612 = withKernel("6.12", "ext4"),
                    xfsOn61 = withKernel("6.1", "xfs"), xfsOn612 = withKernel("6.12", "xfs"),
                    ext4On72 = withKernel("7.2", "ext4");

TEST(KernelRules, AreThoseOfAVersionAndAFileSystem) {
  EXPECT_EQ(kernelRules("6.12.118+deb13", "xfs")->version, 612u);
  EXPECT_TRUE(kernelRules("6.12", "xfs")->hasLargeFolios);
  EXPECT_FALSE(kernelRules("6.12", "ext4")->hasLargeFolios);
  EXPECT_FALSE(kernelRules("7.2", "f2fs")->hasLargeFolios);
  for (const char *version : {"", "6", "6.", "six", "6.100", "100.1", "-6.1"})
    EXPECT_FALSE(kernelRules(version, "ext4")) << version;
  EXPECT_FALSE(kernelRules("6.12", "zfs"));
}

// Until Linux 6.16, code is read around a fault as data is.
TEST(KernelRules, OnceReadAroundCode) {
  OneSegment model(100, /*isExecutable=*/true, ext4On612);
  model.readPage(50);
  EXPECT_EQ(cached(model, 100), "34-65");
}

// Until Linux 6.6, a fault that begins to read ahead counts as a major one.
TEST(KernelRules, OnceCountedEveryWait) {
  OneSegment before(200, false, ext4On61), after(200, false, ext4On612);
  for (OneSegment *model : {&before, &after}) {
    model->writePage(50); // reads 34-65, marks 58
    model->writePage(58);
    EXPECT_EQ(cached(*model, 200), "34-97");
  }
  EXPECT_EQ(before.counts().majorFaults, 2u);
  EXPECT_EQ(after.counts().majorFaults, 1u);
}

// Until Linux 6.16, a window does not end where a folio does, and its folios have four pages or
// more.
TEST(KernelRules, OnceDidNotCutWindows) {
  OneSegment model(200, false, xfsOn612);
  model.writePage(61); // reads 45-76, the mark at 69 is on 68-71
  model.writePage(68);
  EXPECT_EQ(cached(model, 200), "45-108");
}

// There, the kernel's read of the header finds its mark on the first folio, and reads on, but since
// Linux 6.11 only.
TEST(KernelRules, OnceReadAheadOfTheHeader) {
  OneSegment again(100, false, xfsOn61), folios(100, false, xfsOn612), pages(100, false, ext4On612);
  again.execute();
  EXPECT_EQ(cached(again, 100), "0-3");
  folios.execute();
  EXPECT_EQ(cached(folios, 100), "0-11");
  pages.execute();
  EXPECT_EQ(cached(pages, 100), "0-3");
}

// Until Linux 6.10, a window that meets a page in memory begins again there. So does its mark.
TEST(KernelRules, OnceExtendedAWindowThatMetAPage) {
  OneSegment before(200, false, xfsOn61), after(200, false, xfsOn612);
  for (OneSegment *model : {&before, &after}) {
    model->prefetch(FileRange{100 * page, 104 * page});
    model->writePage(96); // reads 80-111, the mark at 104
  }
  EXPECT_EQ(cached(before, 200), "80-131");
  EXPECT_EQ(cached(after, 200), "80-111");
  before.writePage(104);
  EXPECT_EQ(cached(before, 200), "80-131");
  before.writePage(124);
  EXPECT_EQ(cached(before, 200), "80-163");
}

// Until Linux 6.8, no folio has two pages. A mark is on all pages of a folio.
TEST(KernelRules, OnceHadNoFoliosOfTwoPages) {
  OneSegment before(200, false, xfsOn61), after(200, false, xfsOn612);
  for (OneSegment *model : {&before, &after}) {
    model->writePage(50); // reads 34-65, marks 56-59
    model->writePage(56); // reads 66-97, marks 66
    model->writePage(67);
  }
  EXPECT_EQ(cached(before, 200), "34-97");
  EXPECT_EQ(cached(after, 200), "34-129");
}

// Since Linux 7.2, pages around a fault are no hits, and code may miss as often as it does.
TEST(KernelRules, CountMissesOfDataAlone) {
  OneSegment before(64 * 200), data(64 * 200, false, ext4On72), code(64 * 200, true, ext4On72);
  for (OneSegment *model : {&before, &data, &code}) {
    model->readPages(32, 64 * 200, 64);
    EXPECT_EQ(model->counts().majorFaults, 200u);
  }
  EXPECT_EQ(before.counts().bytesRead, 200 * 32 * page);
  EXPECT_EQ(data.counts().bytesRead, (100 * 32 + 100) * page);
  EXPECT_EQ(code.counts().bytesRead, 200 * 32 * page);
}

TEST(StartModel, IgnoresWhatIsNotInTheFile) {
  StartModel model(smallDevice, 10 * page, {{page, page, page, 5 * page, false}});
  model.read(0);
  model.read(3 * page);
  model.write(UINT64_MAX);
  EXPECT_EQ(model.counts().bytesRead, 0u);
  StartModel empty(smallDevice, 0, {});
  empty.execute();
  empty.prefetch(FileRange{0, page});
  empty.read(0);
  EXPECT_EQ(empty.counts().bytesRead, 0u);
}

} // namespace
