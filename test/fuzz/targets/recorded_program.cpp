// A program or library as the recorders beside a program read it, and where the tracer would plant
// breakpoints in it.
#include "recorder/diagnostics.h"
#include "tracer/program.h"

using namespace frontload;
using namespace llvm;

const char frontload::toolName[] = "fuzz";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryBufferRef file(StringRef(reinterpret_cast<const char *>(data), size), "input");
  auto program = Program::read(file, "main", /*wantsBlocks=*/true);
  if (!program) {
    consumeError(program.takeError());
    return 0;
  }
  program->isNamed("libinput");
  program->loadBias(0x10000, 0x1000, 0x1000, [](uint64_t bias) { return bias == 0xf000; });
  for (uint32_t function = 0; function < program->functionCount(); ++function) {
    program->endsRecording(function);
    for (const Site &site : program->sitesOf(function))
      if (program->functionWithSiteAt(site.address) > program->functionCount())
        abort();
  }
  if (program->sites().size() > size)
    abort(); // each is in a byte of its own
  return 0;
}
