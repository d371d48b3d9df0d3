// The functions that queries can call.
#pragma once
#include "hash_map.h"
#include "value.h"

namespace tabula {

struct Function {
  const char *name = nullptr;
  unsigned arguments = 0;
  Value (*call)(const Row &) = nullptr;
};

HashMap<std::string, Function> &functions();

/// Makes a function known before main.
struct Registration {
  Registration(const char *name, unsigned arguments, Value (*call)(const Row &));
};

Value callFunction(std::string_view name, const Row &arguments);

} // namespace tabula
