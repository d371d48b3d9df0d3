// What a link reads of its own output: the check of it, and how it would be laid out without a
// front. Another linker may have written it (--lld).
#include "plan/output_check.h"
#include "plan/plain_layout.h"
#include "target.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef bytes) {
  HotStrings strings;
  strings.add("hello");
  OutputFacts facts;
  ExpectedPart part = {};
  facts.parts = part;
  if (auto front = checkOutput(bytes, facts, strings))
    must(front->bytes <= bytes.size());
  else
    consumeError(front.takeError());
  if (auto contents = contentsOf(bytes); !contents)
    consumeError(contents.takeError());
  PlacedSection section = {
      {"x", 0, 1, ELF::SHT_PROGBITS, ELF::SHF_ALLOC, 16, 16}, ".rodata", {}, {}, {}};
  auto plain = PlainLayout::of(bytes, section, {});
  if (!plain)
    return consumeError(plain.takeError());
  for (const FileSegment &segment : plain->segments())
    plain->addressOf(segment.address);
}
