// What a tool or a link option could trip over, in one program: code of the front and cold code that
// call each other, throw to each other and are pointed at by data. whole_table.c is its C half.
#include <cstdio>
#include <stdexcept>

extern "C" {
extern const char *const words[4];
extern int (*const steps[2])(int);
extern int *const counter_place;
}

struct Note {
  explicit Note(int n) : number(n) {}
  ~Note() { std::printf("~%d ", number); }
  int number;
};

extern "C" __attribute__((noinline)) int cold_2_leaf(int x) {
  if (x > 40)
    throw std::runtime_error(words[x & 3]);
  return x * 3;
}

extern "C" __attribute__((noinline)) int hot_3_leaf(int x) {
  if (x > 40)
    throw x;
  return x * 5;
}

extern "C" __attribute__((noinline)) int cold_1_catch(int x) {
  Note note(x);
  try {
    return hot_3_leaf(x) + 1;
  } catch (int i) {
    std::printf("cold caught %d\n", i);
    return 1;
  }
}

extern "C" __attribute__((noinline)) int hot_2_catch(int x) {
  Note note(x);
  try {
    return cold_2_leaf(x) + 1;
  } catch (const std::exception &e) {
    std::printf("hot caught %s\n", e.what());
    return 2;
  }
}

int main() {
  int sum = hot_2_catch(1) + hot_2_catch(42) + cold_1_catch(2) + cold_1_catch(43);
  for (int (*step)(int) : steps)
    sum += step(sum);
  ++*counter_place;
  std::printf("%d %d %s\n", sum, *counter_place, words[1]);
  return 0;
}
