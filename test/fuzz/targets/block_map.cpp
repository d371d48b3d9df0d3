// What is read of basic blocks: of a linked file, or of each section of an object.
#include "resolve/touched_blocks.h"
#include "target.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace frontload;
using namespace llvm;

static void check(Expected<std::vector<FunctionBlocks>> functions) {
  if (!functions)
    return consumeError(functions.takeError());
  const uint64_t addresses[] = {0, 0x10, 0x1000, 0x1018, UINT64_MAX};
  uint64_t last = 0;
  for (const FunctionBlocks &function : *functions) {
    must(function.address >= last);
    last = function.address;
    must(blockStates(function, addresses).size() == function.blocks.size());
  }
}

static void readInput(StringRef bytes) {
  MemoryBufferRef file(bytes, "input");
  check(readBlockMap(file));
  for (uint32_t section = 0; section < 4; ++section)
    check(readBlockMap(file, section));
}
