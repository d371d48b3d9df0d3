// What few starts run: hundreds of functions, which a linker puts wherever it likes.
namespace {
template <int N> [[gnu::noinline]] int step(int count) {
  volatile int total = count;
  for (int i = 0; i < N % 7 + 2; ++i)
    total = total * 31 + N;
  return step<N - 1>(total);
}
template <> int step<0>(int count) { return count; }
} // namespace

int doRest(int count) { return step<200>(count); }
