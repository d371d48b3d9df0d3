// Threads that cross between the front and the rest, with exceptions in each.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

std::atomic<int> total;

__attribute__((noinline)) void cold_odd(int i) {
  if (i % 2)
    throw i;
}

__attribute__((noinline)) void hot_1_thread(int n) {
  for (int i = 0; i < n; ++i) {
    try {
      cold_odd(i);
      total += 1;
    } catch (int caught) {
      total += 1000;
    }
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(hot_1_thread, 50);
  for (std::thread &thread : threads)
    thread.join();
  std::printf("%d\n", total.load());
  return 0;
}
