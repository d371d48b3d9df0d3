// Finds the file that has the symbols of a stripped program: its debug file, which objcopy
// --only-keep-debug, eu-strip -f and llvm-objcopy write.
//
// scripts/frontload/elf/debug_file.py says where debug files are, in which order they are tried,
// and what makes one the right one; this is the same in C++, for programs that are linked with
// LLVM. No loaded section of a debug file has contents, but its symbols, addresses and maps of
// basic blocks are those of the program.
#pragma once

#include "frontload_or_empty.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace frontload {

/// What connects a program and its debug file.
struct DebugConnection {
  bool hasSymbols = false;
  llvm::StringRef buildId;
  llvm::StringRef link; ///< the contents of .gnu_debuglink: a name, zero bytes, and a checksum
};

/// `elf` is untrusted. Debug files have notes where their section headers say, and not their
/// program headers.
template <class ELFT> DebugConnection readDebugConnection(const llvm::object::ELFFile<ELFT> &elf) {
  DebugConnection found;
  auto sections = orEmpty(elf.sections());
  llvm::StringRef names = orEmpty(elf.getSectionStringTable(sections));
  const llvm::StringRef linkName(".gnu_debuglink", sizeof ".gnu_debuglink");
  unsigned notesLeft = 1000; // honest files have some dozens
  for (const auto &section : sections) {
    found.hasSymbols |= section.sh_type == llvm::ELF::SHT_SYMTAB && section.sh_size;
    if (names.substr(section.sh_name).starts_with(linkName))
      found.link = llvm::toStringRef(orEmpty(elf.getSectionContents(section)));
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : elf.notes(section, error)) {
      if (!notesLeft || !found.buildId.empty())
        break;
      --notesLeft;
      if (note.getType() == llvm::ELF::NT_GNU_BUILD_ID && note.getName() == llvm::ELF::ELF_NOTE_GNU)
        found.buildId = llvm::toStringRef(note.getDesc(4));
    }
    llvm::consumeError(std::move(error));
  }
  return found;
}

/// The paths at which the debug file of the program at `path` may be.
inline std::vector<std::string> debugFilePaths(llvm::StringRef path,
                                               const DebugConnection &program) {
  const std::string root = "/usr/lib/debug";
  std::vector<std::string> paths;
  std::string id = llvm::toHex(program.buildId, /*LowerCase=*/true);
  if (program.buildId.size() > 1)
    paths.push_back(root + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  llvm::StringRef name = program.link.split('\0').first;
  llvm::SmallString<256> real;
  if (!name.empty() && !name.contains('/') && !llvm::sys::fs::real_path(path, real)) {
    std::string folder = llvm::sys::path::parent_path(real).str();
    for (const std::string &inside : {folder + "/", folder + "/.debug/", root + folder + "/"})
      paths.push_back(inside + name.str());
  }
  if (id.empty())
    return paths;
  auto variable = [](const char *variableName) -> llvm::StringRef {
    const char *value = std::getenv(variableName);
    return value ? value : "";
  };
  std::string home = variable("HOME").str(), caches = variable("XDG_CACHE_HOME").str();
  if (llvm::StringRef given = variable("DEBUGINFOD_CACHE_PATH"); !given.empty()) {
    paths.push_back(given.str() + "/" + id + "/debuginfo");
  } else {
    paths.push_back(home + "/.debuginfod_client_cache/" + id + "/debuginfo");
    paths.push_back((caches.empty() ? home + "/.cache" : caches) + "/debuginfod_client/" + id +
                    "/debuginfo");
  }
  return paths;
}

/// The debug file of the program `elf` at `path`; null if there is none, or the program has symbols
/// itself.
template <class ELFT>
std::unique_ptr<llvm::MemoryBuffer> findDebugFile(const llvm::object::ELFFile<ELFT> &elf,
                                                  llvm::StringRef path) {
  DebugConnection program = readDebugConnection(elf);
  if (program.hasSymbols)
    return nullptr;
  for (const std::string &each : debugFilePaths(path, program)) {
    if (!llvm::sys::fs::is_regular_file(each))
      continue;
    auto file = llvm::MemoryBuffer::getFile(each, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file || !(*file)->getBuffer().starts_with(
                     llvm::toStringRef(llvm::ArrayRef(elf.base(), llvm::ELF::EI_VERSION))))
      continue;
    auto debug = llvm::object::ELFFile<ELFT>::create((*file)->getBuffer());
    if (!debug) {
      llvm::consumeError(debug.takeError());
      continue;
    }
    DebugConnection found = readDebugConnection(*debug);
    if (!found.hasSymbols || found.buildId != program.buildId)
      continue;
    auto hasChecksum = [&] {
      const uint8_t *checksum = program.link.bytes_end() - sizeof(uint32_t);
      return program.link.size() > sizeof(uint32_t) &&
             llvm::crc32(llvm::arrayRefFromStringRef((*file)->getBuffer())) ==
                 llvm::support::endian::read32(checksum, ELFT::Endianness);
    };
    if (!program.buildId.empty() || hasChecksum())
      return std::move(*file);
  }
  return nullptr;
}

} // namespace frontload
