// A shop: a small program with what compilers name and place in many ways. Its version 2 renames,
// moves, adds and removes functions, and gives some other parameters, as releases do.
#pragma once
#include <cstdio>

#ifndef VERSION
#define VERSION 1
#endif
#define NOINLINE __attribute__((noinline))

class Error {
public:
  explicit Error(const char *what);
  Error(const Error &other);
  virtual ~Error();
  virtual const char *kind() const;
  const char *what;
};

class Shortage : public Error {
public:
  explicit Shortage(int missing);
  ~Shortage() override;
  const char *kind() const override;
  int missing;
};

[[noreturn]] NOINLINE void fail(const char *what);
[[noreturn]] NOINLINE void failShort(int missing);

struct Named {
  virtual ~Named() {}
  virtual const char *name() const = 0;
};
struct Priced {
  virtual ~Priced() {}
  virtual int price() const { return 0; }
  virtual int reduced() const { return price() / 2; }
};
// Of two bases with virtual functions: the second's are reached through thunks.
template <int Cost> struct Item : Named, Priced {
  const char *name() const override { return Cost % 2 ? "odd" : "even"; }
  int price() const override { return Cost; }
};

// Templates, whose code is in each object that uses them.
template <class T> class Stack {
public:
  NOINLINE void push(T value) {
    if (used == 16)
      fail("full");
    items[used++] = value;
  }
  NOINLINE T pop() {
    if (!used)
      failShort(1);
    return items[--used];
  }
  NOINLINE int size() const { return used; }
  template <class F> NOINLINE void each(F f) const {
    for (int i = 0; i < used; ++i)
      f(items[i]);
  }

private:
  T items[16];
  int used = 0;
};

template <class T, class Less> NOINLINE void sort(T *items, int count, Less less) {
  for (int i = 1; i < count; ++i)
    for (int k = i; k > 0 && less(items[k], items[k - 1]); --k) {
      T other = items[k];
      items[k] = items[k - 1];
      items[k - 1] = other;
    }
}

struct Counter {
  Counter();
  ~Counter();
  int sales;
};
extern thread_local Counter counter; // is constructed by who uses it first

NOINLINE int sell(const Priced &item, int count);
NOINLINE int take(int stock, int count);
NOINLINE int refund(int price);
int priceOf(int number);
int average(const int *prices, int count);
NOINLINE int countLetters(const char *text);
NOINLINE int countWords(const char *text);
NOINLINE void shout(const char *text);
NOINLINE unsigned checksum(const char *text);
NOINLINE unsigned checksumOfNumber(unsigned n);
