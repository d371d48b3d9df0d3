// What the targets in C++ share: each gives `readInput`.
#ifndef FRONTLOAD_TEST_FUZZ_TARGET_H
#define FRONTLOAD_TEST_FUZZ_TARGET_H

#include "llvm/Support/Error.h"
#include <cstdlib>

/// Reads an input, and ends the program if what must hold of it does not.
static void readInput(llvm::StringRef bytes);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  readInput(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}

inline void must(bool holds) {
  if (!holds)
    abort();
}

#endif
