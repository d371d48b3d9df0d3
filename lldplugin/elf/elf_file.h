// LLVM's view of an ELF file of any kind.
//
// All code reads ELF through LLVM's ELFFile, which checks each table, or through two classes built
// on it: ElfObject for the many queries of planning, and LinkedFile for lookups by address. No
// other code follows an offset in a file, except tools/cc/gcc_lto.cpp, which says why.
#pragma once

#include "frontload_or_empty.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// Calls `f` with LLVM's type for the kind of ELF file in `bytes`; does nothing for other files.
template <class F> void withElfType(llvm::StringRef bytes, F f) {
  using namespace llvm::object;
  if (!bytes.starts_with(llvm::ELF::ElfMagic))
    return;
  auto [elfClass, elfData] = getElfArchType(bytes);
  bool little = elfData == llvm::ELF::ELFDATA2LSB;
  if (elfClass == llvm::ELF::ELFCLASS64)
    little ? f.template operator()<ELF64LE>() : f.template operator()<ELF64BE>();
  else if (elfClass == llvm::ELF::ELFCLASS32)
    little ? f.template operator()<ELF32LE>() : f.template operator()<ELF32BE>();
}

/// Writes `X(ELFT)` for each kind: the instances of a template that is defined in one file.
#define FRONTLOAD_FOR_EACH_ELF_TYPE(X)                                                             \
  X(llvm::object::ELF32LE)                                                                         \
  X(llvm::object::ELF32BE) X(llvm::object::ELF64LE) X(llvm::object::ELF64BE)

/// Calls `f` with LLVM's view of the ELF file in `bytes`, an ELFFile of one of the four kinds.
/// Fails as `f` does, or if there is no such view.
template <class F> llvm::Error withElfFile(llvm::StringRef bytes, F f) {
  llvm::Error result = llvm::createStringError("not an ELF file");
  withElfType(bytes, [&]<class ELFT>() {
    llvm::consumeError(std::move(result));
    auto file = llvm::object::ELFFile<ELFT>::create(bytes);
    result = file ? f(*file) : file.takeError();
  });
  return result;
}

/// The same for a function that returns an Expected<T>.
template <class T, class F> llvm::Expected<T> fromElfFile(llvm::StringRef bytes, F f) {
  T result = {};
  llvm::Error problem = withElfFile(bytes, [&](const auto &file) {
    llvm::Expected<T> found = f(file);
    if (found)
      result = std::move(*found);
    return found.takeError();
  });
  if (problem)
    return problem;
  return result;
}

/// The contents of the section with this name, within the bounds of the file; empty if there is
/// none, or if the section has no bytes in the file.
template <class ELFT>
llvm::Expected<llvm::ArrayRef<uint8_t>> contentsOfSection(const llvm::object::ELFFile<ELFT> &file,
                                                          llvm::StringRef wanted) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (*name == wanted && section.sh_type != llvm::ELF::SHT_NOBITS)
      return file.getSectionContents(section);
  }
  return llvm::ArrayRef<uint8_t>();
}

} // namespace frontload
