// A C++ program as people write them: templates, lambdas, virtual functions, small functions that a
// release build inlines, and, with C++20, a coroutine.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <coroutine>
struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() {
      return Numbers(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  explicit Numbers(std::coroutine_handle<promise_type> h) : handle(h) {}
  ~Numbers() { handle.destroy(); }
  bool next() {
    handle.resume();
    return !handle.done();
  }
  std::coroutine_handle<promise_type> handle;
};
Numbers up_to(int end) {
  for (int i = 0; i < end; ++i)
    co_yield i;
}
#endif

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  double side;
};

int count_words(const std::vector<std::string> &words) {
  std::map<std::string, int> counts;
  for (const std::string &word : words)
    ++counts[word];
  int most = 0;
  for (auto &[word, count] : counts)
    most = std::max(most, count);
  return most;
}
double total_area(const std::vector<std::unique_ptr<Shape>> &shapes) {
  double sum = 0;
  for (auto &shape : shapes)
    sum += shape->area();
  return sum;
}
int sorted_middle(std::vector<int> v, const std::function<bool(int, int)> &less) {
  std::sort(v.begin(), v.end(), less);
  return v[v.size() / 2];
}
int unused(int n) { return n * 3; }

int main(int argc, char **argv) {
  std::vector<std::string> words(argv, argv + argc);
  words.insert(words.end(), {"one", "two", "two"});
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < 3; ++i)
    shapes.push_back(std::make_unique<Square>(i));
  int sum = 0;
#if __cplusplus >= 202002L
  Numbers numbers = up_to(4);
  while (numbers.next())
    sum += numbers.handle.promise().value;
#endif
  std::printf("%d %g %d %d\n", count_words(words), total_area(shapes),
              sorted_middle({3, 1, 2}, [](int a, int b) { return a < b; }), sum);
  return argc > 99 ? unused(argc) : 0;
}
