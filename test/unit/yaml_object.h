// ELF files for tests, from yaml2obj's descriptions.
#ifndef FRONTLOAD_TEST_UNIT_YAML_OBJECT_H
#define FRONTLOAD_TEST_UNIT_YAML_OBJECT_H

#include "llvm/ObjectYAML/yaml2obj.h"
#include "llvm/Support/YAMLTraits.h"
#include <gtest/gtest.h>
#include <string>

inline std::string toObject(llvm::StringRef yaml) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  llvm::yaml::Input input(yaml);
  EXPECT_TRUE(llvm::yaml::convertYAML(
      input, os, [](const llvm::Twine &m) { ADD_FAILURE() << m.str() << '\n'; }));
  return bytes;
}

#endif
