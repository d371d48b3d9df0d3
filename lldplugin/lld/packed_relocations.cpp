//===- packed_relocations.cpp - when relative relocations can be packed ----===//

#include "lld/packed_relocations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace frontload;

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
      return search.inSysroot(token);
    if (sys::path::is_absolute(token)) {
      bool isInSysroot = !search.sysroot.empty() && script.starts_with(search.sysroot);
      return isInSysroot ? search.inSysroot(token) : token.str();
    }
    std::string sibling = (sys::path::parent_path(script) + "/" + token).str();
    return sys::fs::exists(sibling) ? sibling : search.findFile(token.str());
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
    std::string path = options.libraries.fileOf(input);
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
