// ELF files for tests, from yaml2obj's descriptions.
#ifndef FRONTLOAD_TEST_UNIT_YAML_OBJECT_H
#define FRONTLOAD_TEST_UNIT_YAML_OBJECT_H

#include "llvm/ObjectYAML/yaml2obj.h"
#include "llvm/Support/YAMLTraits.h"
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

inline std::string toObject(llvm::StringRef yaml) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  llvm::yaml::Input input(yaml);
  EXPECT_TRUE(llvm::yaml::convertYAML(
      input, os, [](const llvm::Twine &m) { ADD_FAILURE() << m.str() << '\n'; }));
  return bytes;
}

/// Calls `read` with many damaged copies of `good`: bytes changed, cut short.
inline void forDamaged(llvm::StringRef good, llvm::function_ref<void(llvm::StringRef)> read) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    // Its own allocation, so that a sanitizer sees the first byte that is read outside.
    std::vector<char> bytes(good.begin(), good.end());
    for (unsigned n = random() % 6; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 ? random() % 16 : random());
    bytes.resize(random() % 3 ? bytes.size() : random() % bytes.size());
    read(llvm::StringRef(bytes.data(), bytes.size()));
  }
}

#endif
