// Objects come in any order, from any thread, and are taken out in that of the command line.
#include "lld/gathered_objects.h"
#include "gtest/gtest.h"
#include <thread>

using namespace frontload;
using namespace llvm;

namespace {
/// What the linker makes of an object; only its address matters.
struct LinkerFile {};

class Gathering : public testing::Test {
protected:
  static constexpr size_t numFiles = 1000;

  static std::string nameOf(size_t i) { return "object " + std::to_string(i); }
  /// Adds object number `i`.
  void add(size_t i) { gathered.add(&files[i], {{"", names[i]}, "", false}); }
  std::vector<std::string> take(ArrayRef<const void *> order = {}) {
    std::vector<std::string> result;
    for (const InputObject &object : gathered.take(order))
      result.push_back(object.buffer.getBufferIdentifier().str());
    return result;
  }
  void SetUp() override {
    for (size_t i = 0; i < numFiles; ++i)
      names.push_back(nameOf(i)), commandLine.push_back(&files[i]);
  }

  LinkerFile files[numFiles];
  std::vector<std::string> names;
  std::vector<const void *> commandLine;
  GatheredObjects gathered;
};
// Each of four threads adds a part of them, from the last to the first.
TEST_F(Gathering, ThreadsDoNotDecideTheOrder) {
  constexpr size_t numThreads = 4;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = numFiles; i-- > 0;)
        if (i % numThreads == t)
          add(i);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(take(commandLine), names);
  EXPECT_FALSE(gathered.hasFoundNone());
}

// What link-time optimization makes, or a library that an object asks for, is on no command line.
TEST_F(Gathering, OthersFollowAsTheyCome) {
  for (size_t i : {7, 2, 5, 1})
    add(i);
  EXPECT_EQ(take({commandLine[1], commandLine[2]}),
            (std::vector{nameOf(1), nameOf(2), nameOf(7), nameOf(5)}));
}

// If none of them is among the files, the linker's files are not what they are taken for.
TEST_F(Gathering, EachIsTakenOnce) {
  add(0);
  take({commandLine[1]});
  EXPECT_TRUE(gathered.hasFoundNone());
  EXPECT_TRUE(take(commandLine).empty());
  add(1);
  EXPECT_EQ(take(), std::vector{nameOf(1)});
}
} // namespace
