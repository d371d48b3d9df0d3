// Sells some things; with `--all` it goes on to what a start does not need.
#include "shop.h"
#include <cstring>

NOINLINE static int attempt(int stock, int count) {
  try {
    return take(stock, count);
  } catch (const Shortage &shortage) {
    std::printf("%s of %d\n", shortage.kind(), shortage.missing);
  } catch (const Error &error) {
    std::printf("%s: %s\n", error.kind(), error.what);
  }
  return -1;
}

NOINLINE static int closeShop(Stack<int> &sold) {
  int sum = 0;
  while (sold.size())
    sum += refund(sold.pop());
  return sum;
}

#if VERSION == 1
NOINLINE static int open(Stack<int> &sold) {
#else
NOINLINE static int openShop(Stack<int> &sold) {
#endif
  const Item<4> even;
  const Item<7> odd;
  sold.push(sell(even, 3));
  sold.push(sell(odd, 2));
  std::printf("%s %s %d\n", static_cast<const Named &>(even).name(), odd.name(), counter.sales);
  int sum = 0;
  sold.each([&sum](int price) { sum += price; });
  return sum;
}

NOINLINE static void rest(Stack<int> &sold) {
  const char *words[] = {"pear", "apple", "quince"};
  sort(words, 3, [](const char *a, const char *b) { return std::strcmp(a, b) < 0; });
  Stack<const char *> texts;
  for (const char *word : words)
    texts.push(word);
  texts.each(shout);
  Item<12> item;
  const int values[] = {3, 4, item.reduced()};
  std::printf("%d %d %d\n", average(values, 3), countWords("two words"), texts.size());
  std::printf("%u %d\n", checksumOfNumber(1984), attempt(3, -1));
  std::printf("%s %d\n", texts.pop(), closeShop(sold));
}

int main(int argc, char **argv) {
  Stack<int> sold;
#if VERSION == 1
  int sum = open(sold);
#else
  int sum = openShop(sold);
#endif
  std::printf("%d %d %d\n", sum, attempt(5, 2), attempt(5, 9));
  std::printf("%d %u\n", countLetters("a text. And more"), checksum("text") + priceOf(sum));
  if (argc > 1 && !std::strcmp(argv[1], "--all"))
    rest(sold);
}
