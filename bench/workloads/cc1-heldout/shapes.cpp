// C++ without a standard library: classes, templates, virtual functions, exceptions, lambdas.
extern "C" int printf(const char *, ...);

namespace shapes {

struct Error {
  const char *what;
};

template <class T> struct Point {
  T x, y;
  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  bool operator==(const Point &) const = default;
};

class Shape {
public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual const char *name() const { return "shape"; }
};

class Circle : public Shape {
public:
  explicit Circle(double r) : radius(r) {
    if (r < 0)
      throw Error{"negative radius"};
  }
  double area() const override { return 3.14159 * radius * radius; }
  const char *name() const override { return "circle"; }

private:
  double radius;
};

template <class T, int N> class Rectangle : public Shape {
public:
  Rectangle(Point<T> a, Point<T> b) : corner{a, b} {}
  double area() const override {
    auto size = [this](auto member) { return corner[1].*member - corner[0].*member; };
    return double(size(&Point<T>::x) * size(&Point<T>::y)) / N;
  }

private:
  Point<T> corner[2];
};

template <class T> class Owner {
public:
  explicit Owner(T *p) : pointer(p) {}
  Owner(Owner &&other) noexcept : pointer(other.pointer) { other.pointer = nullptr; }
  Owner(const Owner &) = delete;
  ~Owner() { delete pointer; }
  T *operator->() const { return pointer; }

private:
  T *pointer;
};

template <class... Shapes> double total(const Shapes &...shapes) {
  return (0.0 + ... + shapes->area());
}

} // namespace shapes

int main(int argc, char **) {
  using namespace shapes;
  try {
    Owner<Shape> circle(new Circle(argc - 2));
    Owner<Shape> rectangle(new Rectangle<int, 2>({0, 0}, Point<int>{argc, 3} + Point<int>{1, 1}));
    for (const char *c = circle->name(); *c; ++c)
      if (*c == 'x')
        throw *c;
    printf("%s %g\n", rectangle->name(), total(circle, rectangle));
  } catch (const Error &error) {
    printf("%s\n", error.what);
    return 1;
  } catch (...) {
    return 2;
  }
  return 0;
}
