// What a link reads of its own output: the check of it, and how it would be laid out without a
// front. Another linker may have written it (--lld).
#include "plan/output_check.h"
#include "plan/plain_layout.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace frontload;
using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  HotStrings strings;
  strings.add("hello");
  OutputFacts facts;
  ExpectedPart part = {};
  facts.parts = part;
  if (auto front = checkOutput(bytes, facts, strings)) {
    if (front->bytes > size)
      abort();
  } else {
    consumeError(front.takeError());
  }
  if (auto contents = contentsOf(bytes); !contents)
    consumeError(contents.takeError());
  PlacedSection section = {{"x", 0, 1, ELF::SHT_PROGBITS, ELF::SHF_ALLOC, 16, 16},
                           ".rodata",
                           std::nullopt,
                           std::nullopt,
                           std::nullopt};
  auto plain = PlainLayout::of(bytes, section, {});
  if (!plain)
    consumeError(plain.takeError());
  else
    for (const FileSegment &segment : plain->segments())
      plain->addressOf(segment.address);
  return 0;
}
