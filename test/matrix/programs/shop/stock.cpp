// What is bought and sold. `check` and `note` are also functions of other files.
#include "shop.h"

static int prices[] = {30, 10, 20};
static int lowest = [] {
  sort(prices, 3, [](int a, int b) { return a < b; });
  return prices[0];
}();
static long noted = 0;
thread_local Counter counter;

Counter::Counter() : sales(100) {}
Counter::~Counter() { noted += sales; }

NOINLINE static void note(int value) { noted += value; }

NOINLINE static void check(int count) {
  if (__builtin_expect(count < 0, 0)) {
    std::printf("%d pieces?\n", count);
    fail("count");
  }
}

// Version 2 gives it one factor only, so that gcc makes a copy for that, of another name.
NOINLINE static int scaled(int value, int factor) {
  for (int i = 0; i < value % 4; ++i)
    noted += factor;
  return value * factor;
}

// Is small enough for other files to take it along: with ThinLTO, all of them know lookUp then.
NOINLINE static int lookUp(int number) { return number < 3 ? prices[number] : lowest; }
int priceOf(int number) { return lookUp(number) + 1; }

#if VERSION == 1
NOINLINE static int total(int price, int count) {
#else
NOINLINE static int total(int price, int count, int reduction) {
  price -= reduction;
#endif
  int sum = 0;
  for (int i = 0; i < count; ++i)
    sum += price + prices[i % 3] % lowest;
  return sum;
}

int take(int stock, int count) {
  check(count);
  if (count > stock)
    failShort(count - stock);
  return stock - count;
}

int refund(int price) {
  note(-price);
  return price - lowest;
}

int sell(const Priced &item, int count) {
  check(count);
  note(count);
  ++counter.sales;
#if VERSION == 1
  return scaled(total(item.price(), count), count);
#else
  return scaled(total(item.price(), count, 0), 2) / 2 * count;
#endif
}

int average(const int *values, int count) {
  Stack<double> stack;
  for (int i = 0; i < count; ++i)
    stack.push(values[i]);
  double sum = 0;
  stack.each([&sum](double value) { sum += value; });
  return static_cast<int>(sum / stack.size());
}
#if VERSION == 2

// Was in text.cpp.
unsigned checksum(const char *text) {
  unsigned sum = 1;
  for (; *text; ++text)
    sum = sum * 31 + static_cast<unsigned>(*text);
  return sum;
}

int added(int x);
int added(int x) { return x ? prices[x % 3] : lowest; }
#endif
