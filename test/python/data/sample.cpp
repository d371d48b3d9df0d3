// The program of the samples in this folder: members, a static function, data, and work that takes
// long enough to be sampled.
#include <cstdio>
#include <cstdlib>

struct Shape {
  virtual ~Shape() = default;
  virtual long area() const = 0;
};
template <class T> struct Box : Shape {
  T side;
  explicit Box(T s) : side(s) {}
  long area() const override;
};
template <class T> __attribute__((noinline)) long Box<T>::area() const { return side * side; }

const char table[64] = "a read-only table";
int counter = 1;
static __attribute__((noinline)) long spin(long n) {
  volatile long sum = 0;
  for (long i = 0; i < n; ++i)
    sum = sum + i;
  return sum;
}
__attribute__((noinline)) long leaf(long n) { return spin(n) + table[n & 63]; }
__attribute__((noinline)) long early(long n) { return leaf(n) + ++counter; }
__attribute__((noinline)) long late(long n) {
  Box<int> whole(2);
  Box<double> half(0.5);
  Shape *shapes[] = {&whole, &half};
  return leaf(n) + shapes[n & 1]->area() + shapes[~n & 1]->area();
}
__attribute__((noinline)) long unused(long n) { return n * 3; }
int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1000;
  std::printf("%ld\n", early(n) + late(n));
  return 0;
}
