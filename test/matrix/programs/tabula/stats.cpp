// What each thread did: data of threads, one of them with a constructor.
#include "stats.h"
#include "text.h"
#include <thread>

namespace tabula {

static thread_local long counts[numCounters];

namespace {
struct Mark {
  Mark() : serial(++made) {}
  ~Mark() { --made; }
  int serial;
  static int made;
};
int Mark::made = 0;
} // namespace

static thread_local Mark mark;

static const char *const table[numCounters] = {"inserts", "lookups", "rows", "calls"};

void count(Counter c) { ++counts[static_cast<int>(c)]; }
long counted(Counter c) { return counts[static_cast<int>(c)]; }

void inThread(void (*work)(Output &), Output &out) {
  std::thread worker([work, &out] {
    out << "thread " << mark.serial << ": ";
    work(out);
  });
  worker.join();
}

void showCounts(Output &out) {
  for (int i = 0; i < numCounters; ++i)
    out << table[i] << "=" << counts[i] << (i + 1 == numCounters ? "\n" : " ");
}

} // namespace tabula
