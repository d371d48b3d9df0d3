// What several objects have alike, so that the linker keeps one of them.
#include <cstdio>
#include <string>
#include <typeinfo>

struct Shape {
  virtual ~Shape() {}
  virtual int area() const = 0;
  virtual const char *name() const { return "shape"; }
};
template <int N> struct Square : Shape {
  int area() const override { return N * N; }
  const char *name() const override { return "square"; }
};
struct Plate {
  virtual ~Plate() {}
  int thickness = 70;
};
struct Both : Square<2>, virtual Plate {
  int area() const override { return 7 + thickness; }
  const char *name() const override { return "both"; }
};
inline int calls = 0;
inline int &counted() {
  static int times = 100;
  return ++times;
}
template <class T> int sizes() {
  static const char *const texts[] = {"a text", "another text", typeid(T).name()};
  int sum = 0;
  for (const char *text : texts)
    sum += static_cast<int>(std::string(text).size());
  return sum + ++calls;
}
template <class T> inline const T limit = T(41);
Shape *make(int kind);
int used_by_part();
const void *of_part(int i);
