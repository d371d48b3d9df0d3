// What a link reads of its own output, to check it.
#include "plan/output_check.h"
#include "target.h"

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
}
