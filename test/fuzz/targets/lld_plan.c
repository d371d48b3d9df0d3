// The plan that the library preloaded into another lld reads. What it stands in front of has other
// names here: the program that it is in is the fuzzer.
#define mmap interposed_mmap
#define mmap64 interposed_mmap64
#define read interposed_read
#define pread interposed_pread
#define pread64 interposed_pread64
#include "other_lld/interposer/interposer.c"
#undef mmap
#undef mmap64
#undef read
#undef pread
#undef pread64

#include "input_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setenv(FRONTLOAD_PLAN_VARIABLE, inputPath(data, size), 1);
  plan = NULL;
  open_plan();
  if (!plan)
    return 0;
  /* As if each file of the plan were read, with what its patches expect. */
  unsigned char contents[256];
  for (uint64_t i = 0; i < plan->num_files; ++i)
    for (uint64_t begin = 0; begin < 1024; begin += sizeof contents) {
      for (size_t at = 0; at < sizeof contents; ++at)
        contents[at] = (unsigned char)('a' + at % 4);
      patch(&files[i], contents, begin, begin + sizeof contents);
    }
  find_file(inputFile(data, size));
  for (uint64_t hash = 0; hash < 64; ++hash)
    ordered(hash * 0x9e3779b97f4a7c15u);
  for (uint64_t i = 0; i < plan->num_slots; ++i)
    ordered(slots[i]);
  munmap(plan, size);
  return 0;
}
