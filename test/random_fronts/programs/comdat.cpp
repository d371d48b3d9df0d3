// Templates, inline functions and data, virtual tables, types: in two objects each.
#include "comdat.h"

static const void *of_main(int i) {
  return i == 0 ? static_cast<const void *>(&calls) : i == 1 ? static_cast<const void *>(&limit<int>)
         : reinterpret_cast<const void *>(&sizes<int>);
}

int main() {
  for (int kind = 0; kind < 3; ++kind) {
    Shape *shape = make(kind);
    std::printf("%s %d %d %d\n", shape->name(), shape->area(),
                dynamic_cast<Square<2> *>(shape) != nullptr, typeid(*shape) == typeid(Square<3>));
    delete shape;
  }
  std::printf("%d %d %d\n", sizes<int>(), used_by_part(), counted());
  std::printf("%d%d%d %d\n", of_main(0) == of_part(0), of_main(1) == of_part(1),
              of_main(2) == of_part(2), limit<int> + limit<char>);
}
