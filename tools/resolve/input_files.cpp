//===- input_files.cpp - the objects of some files -------------------------===//

#include "resolve/input_files.h"
#include "elf/elf_object.h"
#include "llvm/BinaryFormat/Magic.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

char CannotOpen::ID;

static Error bad(const Twine &path, const Twine &what) {
  return createStringError(path + ": " + what);
}

/// Fails if an ELF file is damaged or stripped.
static Error checkElf(const Twine &path, StringRef bytes, bool isLinked) {
  bool hasSymbols = false;
  bool isOpen = withElfObject(bytes, isLinked,
                              [&](const auto &object) { hasSymbols = !object.symbols().empty(); });
  if (!isOpen)
    return bad(path, "a damaged ELF file");
  // An object may have no symbols; a linked file without symbols was stripped.
  return hasSymbols || !isLinked ? Error::success()
                                 : bad(path, "is stripped: it has no symbol table");
}

Error InputFiles::addArchive(const std::string &path, MemoryBufferRef buffer) {
  auto archive = Archive::create(buffer);
  if (!archive)
    return bad(path, toString(archive.takeError()));
  archives.push_back(std::move(*archive));
  Error error = Error::success();
  for (const Archive::Child &child : archives.back()->children(error)) {
    auto member = child.getMemoryBufferRef();
    if (!member) {
      consumeError(std::move(error));
      return bad(path, toString(member.takeError()));
    }
    if (member->getBuffer().starts_with(ELF::ElfMagic))
      all.push_back({*member, paths.back(), /*isLazy=*/true});
    else
      ++others;
  }
  return error ? bad(path, toString(std::move(error))) : Error::success();
}

Error InputFiles::add(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return make_error<CannotOpen>(path, buffer.getError());
  buffers.push_back(std::move(*buffer));
  paths.push_back(path);
  MemoryBufferRef contents(buffers.back()->getBuffer(), paths.back());
  switch (identify_magic(contents.getBuffer())) {
  case file_magic::archive:
    return addArchive(path, contents);
  case file_magic::elf_relocatable:
    all.push_back({contents, "", false, /*isLinked=*/false,
                   buffers.back()->getBufferKind() == MemoryBuffer::MemoryBuffer_MMap});
    return checkElf(path, contents.getBuffer(), false);
  case file_magic::elf_executable:
  case file_magic::elf_shared_object:
    all.push_back({contents, "", false, /*isLinked=*/true,
                   buffers.back()->getBufferKind() == MemoryBuffer::MemoryBuffer_MMap});
    return checkElf(path, contents.getBuffer(), true);
  case file_magic::bitcode:
    return bad(path, "bitcode has no sections yet: give the linked program");
  default:
    return bad(path, "neither an ELF file nor an archive");
  }
}

} // namespace frontload
