// A loop in several threads.
//
// LLVM's parallelFor uses all threads that the linker may have. If the linker itself works in one
// of them, it sometimes loses its core, and the link waits for it.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace frontload {

/// Calls `f` with each number below `count`, in `numThreads` threads, including this one.
inline void shareWork(unsigned numThreads, size_t count, llvm::function_ref<void(size_t)> f) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      f(i);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < numThreads && i < count; ++i)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
}

} // namespace frontload
