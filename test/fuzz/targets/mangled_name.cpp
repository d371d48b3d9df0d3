// Names of symbols, taken apart: suffixes, hashes, variants of constructors.
#include "names/constructors.h"
#include "names/name_parts.h"
#include "names/rust_paths.h"

using namespace frontload;
using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef name(reinterpret_cast<const char *>(data), size);
  NameParts parts = takeApart(name);
  if (headOf(name) != headOf(parts.stem))
    abort(); // names are looked up by it
  compare(parts, parts);
  otherVariants(name);
  if (isRustV0(name) && withoutCrateHashes(name).size() > 11 * size)
    abort(); // the shortest reference back, `B_`, stands for a number
  return 0;
}
