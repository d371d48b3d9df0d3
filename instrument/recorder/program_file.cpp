// Reads an ELF file's headers, with LLVM's checked accessors: the file is untrusted.
#include "program_file.h"

#include "base/machine.h"
#include "format/frontload_or_empty.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sys/stat.h>
#include <sys/xattr.h>

using namespace llvm;
using namespace llvm::object;
using namespace frontload;

using Elf = ELF64LE;

ArrayRef<Elf::Dyn> frontload::dynamicEntries(const ELFFile<Elf> &elf) {
  for (const Elf::Phdr &segment : orEmpty(elf.program_headers()))
    if (segment.p_type == ELF::PT_DYNAMIC && segment.p_offset <= elf.getBufSize() &&
        segment.p_filesz <= elf.getBufSize() - segment.p_offset)
      return ArrayRef(reinterpret_cast<const Elf::Dyn *>(elf.base() + segment.p_offset),
                      static_cast<size_t>(segment.p_filesz / sizeof(Elf::Dyn)))
          .take_while([](const Elf::Dyn &entry) { return entry.getTag() != ELF::DT_NULL; });
  return {};
}

/// The file's DT_SONAME.
static std::string sonameIn(const ELFFile<Elf> &elf, ArrayRef<Elf::Dyn> entries) {
  uint64_t table = 0, tableSize = 0, offset = UINT64_MAX;
  for (const Elf::Dyn &entry : entries) {
    if (entry.getTag() == ELF::DT_STRTAB)
      table = entry.getPtr();
    else if (entry.getTag() == ELF::DT_STRSZ)
      tableSize = entry.getVal();
    else if (entry.getTag() == ELF::DT_SONAME)
      offset = entry.getVal();
  }
  const uint8_t *start = orEmpty(elf.toMappedAddr(table));
  if (!start)
    return "";
  uint64_t room = elf.base() + elf.getBufSize() - start;
  StringRef strings(reinterpret_cast<const char *>(start), std::min(room, tableSize));
  return strings.substr(std::min<uint64_t>(offset, strings.size())).split('\0').first.str();
}

/// Reads the build-id by the program headers. LLVM's own function also goes through the section
/// headers, and takes for granted that these are in the file.
static ArrayRef<uint8_t> buildIdOf(const ELFFile<Elf> &elf, Elf::PhdrRange segments) {
  BytesLeft left(elf.getBufSize());
  for (const Elf::Phdr &segment : segments) {
    if (segment.p_type != ELF::PT_NOTE || !left.take(segment.p_filesz))
      continue;
    ArrayRef<uint8_t> found;
    Error error = Error::success();
    for (const Elf::Note &note : elf.notes(segment, error))
      if (found.empty() && note.getType() == ELF::NT_GNU_BUILD_ID &&
          note.getName() == ELF::ELF_NOTE_GNU)
        found = note.getDesc(segment.p_align == 8 ? 8 : 4);
    consumeError(std::move(error));
    if (!found.empty())
      return found;
  }
  return {};
}

/// Fails, with the reason, for a file that is no program of this machine.
static Error checkMachine(StringRef bytes) {
  if (!bytes.starts_with("\177ELF") || bytes.size() < sizeof(Elf::Ehdr))
    return createStringError("not an ELF file");
  if (bytes[ELF::EI_CLASS] == ELF::ELFCLASS32)
    return createStringError("a 32-bit program; build it for " FRONTLOAD_MACHINE_NAME
                             " to record it");
  auto &header = *reinterpret_cast<const Elf::Ehdr *>(bytes.data());
  if (bytes[ELF::EI_DATA] != ELF::ELFDATA2LSB || header.e_machine != FRONTLOAD_MACHINE)
    return createStringError("a program for another machine (" +
                             ELF::convertEMachineToArchName(header.e_machine) +
                             "); record it there");
  return Error::success();
}

/// A position-independent program is of the same type as a library; linkers mark it.
static bool isLinkedAsProgram(ArrayRef<Elf::Dyn> entries) {
  return entries.empty() || llvm::any_of(entries, [](const Elf::Dyn &entry) {
           return entry.getTag() == ELF::DT_FLAGS_1 && (entry.getVal() & ELF::DF_1_PIE);
         });
}

Expected<ProgramFile> ProgramFile::read(MemoryBufferRef file) {
  if (Error error = checkMachine(file.getBuffer()))
    return error;
  auto object = ELFObjectFile<Elf>::create(file, /*InitContent=*/false);
  if (!object)
    return object.takeError();
  const ELFFile<Elf> &elf = object->getELFFile();
  auto segments = elf.program_headers();
  if (!segments)
    return segments.takeError();

  ProgramFile result;
  result.path = file.getBufferIdentifier().str();
  result.entry = elf.getHeader().e_entry;
  result.buildId.assign(buildIdOf(elf, *segments));
  result.buildId.truncate(std::min<size_t>(result.buildId.size(), UINT8_MAX));
  ArrayRef<Elf::Dyn> entries = dynamicEntries(elf);
  result.soname = sonameIn(elf, entries);
  result.isLibrary = elf.getHeader().e_type == ELF::ET_DYN && !isLinkedAsProgram(entries);
  result.memoryBegin = UINT64_MAX;
  for (const Elf::Phdr &segment : *segments) {
    if (segment.p_type == ELF::PT_LOAD) {
      result.memoryBegin = std::min<uint64_t>(result.memoryBegin, segment.p_vaddr);
      result.memoryEnd = std::max<uint64_t>(result.memoryEnd, segment.p_vaddr + segment.p_memsz);
    }
    if (segment.p_type == ELF::PT_LOAD && (segment.p_flags & ELF::PF_X))
      result.codeSegments.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
    if (segment.p_type == ELF::PT_INTERP)
      result.interpreter =
          file.getBuffer().substr(segment.p_offset, segment.p_filesz).split('\0').first.str();
  }
  result.memoryBegin = std::min(result.memoryBegin, result.memoryEnd);
  return result;
}

bool ProgramFile::isNamed(StringRef name) const {
  if (name.contains('/'))
    return sys::fs::equivalent(name, path);
  auto begins = [&](StringRef file) {
    return file.consume_front(name) && (file.empty() || file.starts_with("."));
  };
  return begins(sys::path::filename(path)) || begins(soname);
}

std::optional<uint64_t> ProgramFile::loadBias(uint64_t address, uint64_t size, uint64_t offset,
                                              function_ref<bool(uint64_t)> isMapped) const {
  // The offset does not tell apart segments that share a page of the file. Loaders map them in
  // order: this is the first one, or the next one of a file that is mapped already.
  std::optional<uint64_t> first;
  for (const CodeSegment &segment : codeSegments) {
    if (segment.offset >= offset + size || offset >= segment.offset + segment.fileSize)
      continue;
    uint64_t bias = address - offset - (segment.address - segment.offset);
    if (isMapped(bias))
      return bias;
    if (!first)
      first = bias;
  }
  return first;
}

bool frontload::hasOwnRights(const char *path) {
  struct stat status;
  return (stat(path, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID))) ||
         getxattr(path, "security.capability", nullptr, 0) >= 0;
}
