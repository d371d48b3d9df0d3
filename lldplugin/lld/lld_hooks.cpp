// Adds the plugin interface that lld lacks.
//
// lld is linked into ld.frontload as a library. Some of its functions are wrapped with the linker
// option --wrap; lld_symbols.h describes them. The hooks count their calls (hook_calls.h), and
// hand them on to the link that runs (link_run.h).
#include "lld/Common/ErrorHandler.h"
#include "lld/hook_calls.h"
#include "lld/link_run.h"
#include "lld/lld_symbols.h"
#include "lld/rest_order.h"
#include "program/diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"

using namespace llvm;
using namespace frontload;

void HookCalls::endLink() const {
  error(Twine("this lld has not called ") + function + ", on which the front relies",
        "link without --startup-profile; ld.frontload has to be built with an lld that "
        "docs/internals/lld-hooks.md fits");
  lld::exitLld(exitVerdict);
}

static LinkRun *run; // null: the hooks do nothing

void frontload::installHooks(LinkRun &link) { run = &link; }

std::optional<MemoryBufferRef> wrapReadFile(lld::elf::Ctx &ctx, StringRef path) {
  calls::readFile.note();
  return run ? run->readFile(ctx, path) : realReadFile(ctx, path);
}

OwnedFile wrapCreateObjFile(lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive, bool lazy) {
  calls::createObjFile.note();
  OwnedFile created = realCreateObjFile(ctx, mb, archive, lazy);
  if (run)
    run->addObject(ctx, {mb, archive, lazy});
  return created;
}

void wrapBitcodeFile(void *file, lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive,
                     uint64_t offset, bool lazy) {
  if (run)
    run->noteBitcode();
  realBitcodeFile(file, ctx, mb, archive, offset, lazy);
}

void wrapReadLinkerScript(lld::elf::Ctx &ctx, MemoryBufferRef mb) {
  run ? run->readScript(ctx, mb) : realReadLinkerScript(ctx, mb);
}

void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) {
  calls::parseFiles.note();
  run ? run->parseFiles(ctx, files) : realParseFiles(ctx, files);
}

void wrapGrow(SmallVectorBase<uint32_t> *vector, void *first, size_t minSize, size_t elementSize) {
  if (run)
    run->placing.sections.meet(vector, minSize, elementSize);
  realGrow(vector, first, minSize, elementSize);
}

static void splitSections(lld::elf::Ctx &ctx, void (*real)(lld::elf::Ctx &)) {
  calls::splitSections.note();
  run ? run->splitSections(ctx, real) : real(ctx);
}

void wrapSplitSections32LE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections32LE); }
void wrapSplitSections64LE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections64LE); }
void wrapSplitSections32BE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections32BE); }
void wrapSplitSections64BE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections64BE); }

uint64_t wrapXxh3(ArrayRef<uint8_t> data) {
  uint64_t hash = realXxh3(data);
  return run ? run->hash(hash) : hash;
}

void wrapProcessSectionCommands(void *linkerScript) {
  calls::processSectionCommands.note();
  run ? run->placeSections(linkerScript) : realProcessSectionCommands(linkerScript);
}

bool wrapMatch(const lld::StringMatcher *matcher, StringRef name) {
  if (run && run->placing.isOn())
    if (std::optional<bool> result = run->placing.matches(matcher, name))
      return *result;
  return realMatch(matcher, name);
}

int wrapGetPriority(StringRef name) {
  if (run && run->placing.isOn())
    if (std::optional<int> order = run->placing.order(name))
      return *order;
  return realGetPriority(name);
}

void wrapReplace(lld::elf::InputSection *kept, lld::elf::InputSection *folded) {
  realReplace(kept, folded);
  if (FrontLink *link = run ? run->link() : nullptr)
    link->account().fold(nameOf(folded).data());
}

/// lld's own order of sections, without those of the front.
static SectionOrder keepFront(SectionOrder order, bool ordersFront) {
  const FrontLink *link = run ? run->link() : nullptr;
  return link ? restOf(order, *link, ordersFront) : order;
}

SectionOrder wrapCallGraphOrder(lld::elf::Ctx &ctx) {
  // A running program must not be slower than without a front. First-touch order slows it down
  // (docs/layout.md), though it saves 9 faults of CPython's 40 where no prefetch reads the front.
  return keepFront(realCallGraphOrder(ctx), /*ordersFront=*/true);
}

SectionOrder wrapBalancedPartitioning(lld::elf::Ctx &ctx, StringRef profile, bool ofCode,
                                      bool ofData, bool ofStartup, bool isVerbose) {
  return keepFront(realBalancedPartitioning(ctx, profile, ofCode, ofData, ofStartup, isVerbose),
                   /*ordersFront=*/false);
}

using Comparison = int (*)(const void *, const void *);
extern "C" {
void realSort(void *first, size_t count, size_t size, Comparison compare) asm("__real_qsort");
void wrapSort(void *first, size_t count, size_t size, Comparison compare) asm("__wrap_qsort");
}

void wrapSort(void *first, size_t count, size_t size, Comparison compare) {
  // Only the time of a link depends on this. A front makes lld pack relocations: each time it has
  // given sections their addresses, it sorts hundreds of thousands of offsets. LLVM does that by
  // the C library's qsort(), which calls a function for each comparison.
  if (compare != array_pod_sort_comparator<uint64_t>)
    return realSort(first, count, size, compare);
  auto *numbers = static_cast<uint64_t *>(first);
  parallelSort(numbers, numbers + count);
}
