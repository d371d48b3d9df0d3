// What is said of it.
#include "shop.h"

static unsigned noted = 0;

NOINLINE static void note(unsigned value) { noted ^= value; }

NOINLINE static void check(const char *text) {
  if (!text)
    fail("no text");
}

namespace {
class Letters {
public:
  NOINLINE Letters(const char *t) : text(t) {}
  NOINLINE bool next() { return *text && *text++ != '.'; }
#if VERSION == 1
  NOINLINE bool isSpace() const { return *text == ' '; }
#else
  NOINLINE bool isBlank() const { return *text == ' '; }
#endif

private:
  const char *text;
};
} // namespace

NOINLINE static void put(char c, int times) {
  for (int i = 0; i < times; ++i)
    std::putchar(c);
}

int countLetters(const char *text) {
  check(text);
  int count = 0;
  for (Letters letters(text); letters.next();)
    ++count;
  note(static_cast<unsigned>(count));
  return count;
}

void shout(const char *text) {
  for (; *text; ++text)
    put(*text == 'a' ? 'A' : *text, 1);
  put('!', 3);
  put('\n', 1);
}

int countWords(const char *text) {
  int count = 1;
  for (Letters letters(text); letters.next();)
#if VERSION == 1
    count += letters.isSpace();
#else
    count += letters.isBlank();
#endif
  return count;
}

#if VERSION == 1
unsigned checksum(const char *text) {
  unsigned sum = 1;
  for (; *text; ++text)
    sum = sum * 31 + static_cast<unsigned>(*text);
  return sum;
}

#endif
unsigned checksumOfNumber(unsigned n) {
  char digits[] = {static_cast<char>('0' + n % 10), 0};
  return n < 10 ? checksum(digits) : checksum(digits) * 7 + checksumOfNumber(n / 10);
}
