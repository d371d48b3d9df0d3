// A program or library as the recorders beside a program read it, and where the tracer would plant
// breakpoints in it.
#include "recorder/diagnostics.h"
#include "target.h"
#include "tracer/program.h"

using namespace frontload;
using namespace llvm;

const char frontload::toolName[] = "fuzz";

static void readInput(StringRef bytes) {
  MemoryBufferRef file(bytes, "input");
  auto program = Program::read(file, "main", /*wantsBlocks=*/true);
  if (!program)
    return consumeError(program.takeError());
  program->isNamed("libinput");
  program->loadBias(0x10000, 0x1000, 0x1000, [](uint64_t bias) { return bias == 0xf000; });
  for (uint32_t function = 0; function < program->functionCount(); ++function) {
    program->endsRecording(function);
    for (const Site &site : program->sitesOf(function))
      must(program->functionWithSiteAt(site.address) <= program->functionCount());
  }
  must(program->sites().size() <= bytes.size()); // each is in a byte of its own
}
