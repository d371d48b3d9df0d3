//===- packed_relocations.cpp - when relative relocations can be packed ----===//

#include "lld/packed_relocations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace frontload;

static std::string inSysroot(const LibrarySearch &search, StringRef path) {
  return search.sysroot + "/" + path.ltrim('/').str();
}

/// The first of these files in the folders of libraries, folder by folder; empty if there is none.
static std::string findFile(const LibrarySearch &search, ArrayRef<std::string> names) {
  for (StringRef folder : search.folders) {
    bool isInSysroot = folder.consume_front("=");
    for (const std::string &name : names)
      if (std::string path = (isInSysroot ? inSysroot(search, folder) : folder.str()) + "/" + name;
          sys::fs::exists(path))
        return path;
  }
  return "";
}

/// The file that lld takes for an -l: a shared library before an archive.
static std::string findLibrary(const LibrarySearch &search, const LibrarySearch::Input &input) {
  StringRef name = input.name;
  if (name.consume_front(":"))
    return findFile(search, name.str());
  std::string stem = "lib" + name.str();
  return input.isStatic ? findFile(search, stem + ".a")
                        : findFile(search, {stem + ".so", stem + ".a"});
}

static bool isLibcName(StringRef path) {
  StringRef name = sys::path::filename(path);
  return name == "libc.so" || name.starts_with("libc.so.");
}

/// The C library that the linker script libc.so names; empty if it names none.
static std::string namedByScript(const LibrarySearch &search, StringRef script, StringRef text) {
  SmallVector<StringRef, 0> tokens;
  SplitString(text, tokens, " \t\n\r(),\"");
  for (StringRef token : tokens) {
    if (!isLibcName(token))
      continue;
    if (token.consume_front("="))
      return inSysroot(search, token);
    if (sys::path::is_absolute(token)) {
      bool isInSysroot = !search.sysroot.empty() && script.starts_with(search.sysroot);
      return isInSysroot ? inSysroot(search, token) : token.str();
    }
    std::string sibling = (sys::path::parent_path(script) + "/" + token).str();
    return sys::fs::exists(sibling) ? sibling : findFile(search, token.str());
  }
  return "";
}

bool frontload::shouldPackRelativeRelocations(const LinkOptions &options) {
  if (options.decidesPacking || !options.kind.isRelocated())
    return false;
  for (const LibrarySearch::Input &input : options.libraries.inputs) {
    if (input.isLibrary ? input.name != "c" && !StringRef(input.name).starts_with(":libc.so")
                        : !isLibcName(input.name))
      continue;
    std::string path = input.isLibrary ? findLibrary(options.libraries, input) : input.name;
    auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (file && isLibcName(path) && !(*file)->getBuffer().starts_with(ELF::ElfMagic))
      file = MemoryBuffer::getFile(namedByScript(options.libraries, path, (*file)->getBuffer()),
                                   false, false);
    // Only a library that defines this version has its name.
    return file && (*file)->getBuffer().starts_with(ELF::ElfMagic) &&
           (*file)->getBuffer().contains("GLIBC_ABI_DT_RELR");
  }
  return false;
}
