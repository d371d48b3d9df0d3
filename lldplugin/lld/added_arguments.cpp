// What a front adds to lld's command line.
#include "lld/added_arguments.h"
#include "program/library_search.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

/// lld's default base of programs that are not relocated is a multiple of the first number on all
/// machines, and the second number on the most usual ones.
static constexpr uint64_t commonBaseAlign = 64 << 10, usualBase = 2 << 20;

/// A program that asks for its own front contains instrument/prefetch, or needs it as a library and
/// does not start without it. Code inside the program runs later: by then the dynamic linker has
/// applied the relative relocations, and has read all pages that they change. None of a shared
/// library's code runs before it is relocated, so the program that opens it has to ask
/// (frontload_prefetch.h).
static Expected<std::vector<std::string>> prefetchArguments(const LinkOptions &options) {
  const OutputKind &output = options.kind;
  if (!options.traits.prefetches || output.isShared)
    return std::vector<std::string>();
  bool isMusl = StringRef(output.dynamicLinker).contains("/ld-musl");
  bool isInside = options.prefetchesInside || output.dynamicLinker.empty() || isMusl;
  Expected<std::string> library =
      findOwnLibrary(isInside ? StringRef(prefetchArchive) : "libfrontload-prefetch.so");
  if (!library)
    return library.takeError();
  if (isInside) {
    std::vector<std::string> inside = {*library};
    for (const std::string &symbol : prefetchSymbols(isMusl))
      inside.insert(inside.end(), {"-u", symbol});
    return inside;
  }
  // Behind all other libraries, to be relocated first (instrument/prefetch/resolver.c).
  return std::vector<std::string>{"--push-state", "--no-as-needed", *library, "--pop-state"};
}

bool isForOtherMachine(const LinkOptions &options) {
  auto read = [](const std::string &path) {
    return MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  };
  Expected<std::string> library = findOwnLibrary("libfrontload-prefetch.so");
  if (!library) {
    consumeError(library.takeError());
    return false;
  }
  auto ours = read(*library);
  if (!ours)
    return false;
  // The first object decides: gcc's plugin, which lld ignores, is a file for this machine.
  constexpr size_t type = 16;
  for (const LibrarySearch::Input &input : options.libraries.inputs)
    if (auto file = read(options.libraries.fileOf(input));
        file && (*file)->getBuffer().starts_with(ELF::ElfMagic) &&
        (*file)->getBuffer().substr(type, 2).contains(char(ELF::ET_REL)))
      return !isSameMachine((*ours)->getBuffer(), (*file)->getBuffer());
  return false;
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

bool shouldPackRelativeRelocations(const LinkOptions &options) {
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

Expected<std::vector<std::string>> addedArguments(const LinkOptions &options) {
  std::vector<std::string> added;
  if (options.traits.packsRelocations)
    added = {"-z", "pack-relative-relocs"};
  Expected<std::vector<std::string>> prefetch = prefetchArguments(options);
  if (!prefetch)
    return prefetch.takeError();
  append_range(added, *prefetch);
  // Together with this option, the front's script makes a linear file.
  added.insert(added.end(), {"-z", "separate-loadable-segments"});
  // The front's script aligns what --front-align asks for to multiples of the base.
  uint64_t align = options.traits.frontAlign;
  if (align > commonBaseAlign && !options.traits.isRelocated && options.imageBase.empty())
    added.push_back("--image-base=0x" + utohexstr(std::max(align, usualBase)));
  return added;
}

} // namespace frontload
