// ELF files for tests, from yaml2obj's descriptions.
#ifndef FRONTLOAD_TEST_UNIT_YAML_OBJECT_H
#define FRONTLOAD_TEST_UNIT_YAML_OBJECT_H

#include "llvm/Object/ELFObjectFile.h"
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

/// A file of this type (`ET_REL`) for x86-64, with the rest of its description.
inline std::string x86File(llvm::StringRef type, const llvm::Twine &rest) {
  return toObject(("--- !ELF\nFileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: " + type +
                   ", Machine: EM_X86_64}\n" + rest)
                      .str());
}

/// LLVM's view of a file, which must outlive it.
inline std::unique_ptr<llvm::object::ELFObjectFileBase> viewOf(llvm::StringRef bytes) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "file"));
  if (file)
    return llvm::cast<llvm::object::ELFObjectFileBase>(std::move(*file));
  ADD_FAILURE() << llvm::toString(file.takeError());
  return nullptr;
}

/// Calls `read` with many damaged copies of `good`: bytes changed (in `places`, each a start and a
/// length, if there are some), cut short.
inline void forDamaged(llvm::StringRef good, llvm::function_ref<void(llvm::StringRef)> read,
                       llvm::ArrayRef<std::pair<size_t, size_t>> places = {}, int times = 2000) {
  const std::pair<size_t, size_t> everywhere = {0, good.size()};
  if (places.empty())
    places = everywhere;
  std::mt19937 random(1);
  for (int i = 0; i < times; ++i) {
    // Its own allocation, so that a sanitizer sees the first byte that is read outside.
    std::vector<char> bytes(good.begin(), good.end());
    for (unsigned n = random() % 6; n > 0; --n) {
      auto [start, length] = places[random() % places.size()];
      bytes[start + random() % length] = static_cast<char>(random() % 4 ? random() % 16 : random());
    }
    bytes.resize(random() % 3 ? bytes.size() : random() % bytes.size());
    read(llvm::StringRef(bytes.data(), bytes.size()));
  }
}

#endif
