//===- elf_start.cpp - how a linked file starts, as far as the file tells --===//
//
// Everything here is untrusted input. Tables are found as the dynamic linker finds them, by the
// program headers and the dynamic section, so that stripped files do as well; and by our own
// look-ups, since LLVM's dynamicEntries() trusts the header that it follows.
//
//===----------------------------------------------------------------------===//

#include "predict/elf_start.h"
#include "elf/elf_object.h"
#include "predict/packed_relocations.h"
#include "llvm/Support/Endian.h"
#include <map>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

template <class ELFT>
static Expected<std::vector<FileSegment>> segmentsOf(StringRef bytes, const ELFFile<ELFT> &file) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  std::vector<FileSegment> segments;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_LOAD)
      continue;
    FileSegment segment = {header.p_vaddr, header.p_offset, header.p_filesz, header.p_memsz,
                           (header.p_flags & ELF::PF_X) != 0};
    if (header.p_flags & ELF::PF_W)
      segment.written = segment.address;
    uint64_t end = segments.empty() ? 0 : segments.back().address + segments.back().memoryBytes;
    if (segment.offset > bytes.size() || segment.fileBytes > bytes.size() - segment.offset)
      return createStringError("a segment lies outside the file");
    if (segment.fileBytes > segment.memoryBytes || segment.address < end ||
        segment.address + segment.memoryBytes < segment.address)
      return createStringError("its segments overlap, or do not ascend");
    if (segment.fileBytes && (segment.address - segment.offset) % 4096)
      return createStringError("a segment's address does not fit its place in the file");
    segments.push_back(segment);
  }
  // What is read-only after relocation is at the beginning of a segment, or all of it.
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_GNU_RELRO)
      for (FileSegment &segment : segments)
        if (header.p_vaddr >= segment.address &&
            header.p_vaddr - segment.address < segment.memoryBytes)
          segment.written = header.p_vaddr + header.p_memsz;
  if (segments.empty())
    return createStringError("has no loadable segments: it is not a linked file");
  return segments;
}

Expected<std::vector<FileSegment>> readSegments(StringRef bytes) {
  Expected<std::vector<FileSegment>> result = createStringError("not an ELF file");
  withElfType(bytes, [&]<class ELFT>() {
    consumeError(result.takeError());
    auto file = ELFFile<ELFT>::create(bytes);
    if (file)
      result = segmentsOf<ELFT>(bytes, *file);
    else
      result = file.takeError();
  });
  return result;
}

namespace {
/// One file's walk through its own tables.
template <class ELFT> class Loader {
  using Word = typename ELFT::uint;

public:
  Loader(StringRef fileBytes, ArrayRef<FileSegment> fileSegments, StartModel &startModel,
         bool isMips64)
      : bytes(fileBytes), segments(fileSegments), model(startModel), isMips64EL(isMips64) {}

  /// _dl_relocate_object() up to the relocations: the headers, the dynamic section, the names of
  /// needed libraries, versions; and the buckets that the libraries' symbols are looked up in.
  Error readTables(uint64_t address, uint64_t size) {
    auto entries = at<typename ELFT::Dyn>(address, size);
    if (!entries)
      return entries.takeError();
    auto isEnd = [](const typename ELFT::Dyn &entry) { return entry.getTag() == ELF::DT_NULL; };
    auto used = entries->take_until(isEnd);
    // glibc's elf_get_dynamic_info() too takes the last entry of a tag.
    for (const auto &entry : used)
      tags[entry.getTag()] = entry.getVal();
    // dl_main() of glibc's elf/rtld.c: rtld_setup_main_map() reads the hash table's header,
    // _dl_init_paths() where to search, then comes the debugger's word; _dl_map_object_deps() reads
    // what is needed, _dl_check_map_versions() in which version.
    model.read(address);
    for (int64_t table : {ELF::DT_GNU_HASH, ELF::DT_HASH})
      if (tags.count(table)) {
        model.read(tag(table));
        break;
      }
    for (int64_t path : {ELF::DT_RUNPATH, ELF::DT_RPATH})
      if (tags.count(path))
        model.read(tag(ELF::DT_STRTAB) + tag(path));
    model.write(address); // DT_DEBUG
    for (const auto &entry : used)
      if (entry.getTag() == ELF::DT_NEEDED)
        model.read(tag(ELF::DT_STRTAB) + entry.getVal());
    if (tags.count(ELF::DT_VERNEED))
      model.read(tag(ELF::DT_VERNEED));
    return Error::success();
  }

  /// elf_dynamic_do_Rela() and its kind, in the order of ELF_DYNAMIC_RELOCATE of glibc's
  /// elf/dynamic-link.h.
  Error relocate() {
    bool isLazy = !tags.count(ELF::DT_BIND_NOW) && !(tag(ELF::DT_FLAGS) & ELF::DF_BIND_NOW) &&
                  !(tag(ELF::DT_FLAGS_1) & ELF::DF_1_NOW);
    if (isLazy && tags.count(ELF::DT_JMPREL)) // elf_machine_runtime_setup()
      model.write(tag(ELF::DT_PLTGOT) + sizeof(Word));
    if (Error e = packed(tag(ELF::DT_RELR), tag(ELF::DT_RELRSZ)))
      return e;
    if (Error e = table<typename ELFT::Rel>(tag(ELF::DT_REL), tag(ELF::DT_RELSZ)))
      return e;
    if (Error e = table<typename ELFT::Rela>(tag(ELF::DT_RELA), tag(ELF::DT_RELASZ)))
      return e;
    uint64_t address = tag(ELF::DT_JMPREL), size = tag(ELF::DT_PLTRELSZ);
    return tag(ELF::DT_PLTREL) == ELF::DT_RELA ? table<typename ELFT::Rela>(address, size)
                                               : table<typename ELFT::Rel>(address, size);
  }

private:
  uint64_t tag(int64_t name) const {
    auto found = tags.find(name);
    return found == tags.end() ? 0 : found->second;
  }

  /// The table of `T` at an address, if it is in the file.
  template <class T> Expected<ArrayRef<T>> at(uint64_t address, uint64_t size) {
    if (!size)
      return ArrayRef<T>();
    for (const FileSegment &segment : segments) {
      uint64_t start = address - segment.address;
      if (address >= segment.address && start < segment.fileBytes &&
          size <= segment.fileBytes - start)
        return ArrayRef<T>(reinterpret_cast<const T *>(bytes.data() + segment.offset + start),
                           size / sizeof(T));
    }
    return createStringError("a table of the dynamic section is not in the file");
  }

  template <class R> Error table(uint64_t address, uint64_t size) {
    auto relocations = at<R>(address, size);
    if (!relocations)
      return relocations.takeError();
    for (const R &relocation : *relocations) {
      model.read(address);
      address += sizeof(R);
      if (uint32_t symbol = relocation.getSymbol(isMips64EL))
        lookUp(symbol);
      model.write(relocation.r_offset);
    }
    return Error::success();
  }

  Error packed(uint64_t address, uint64_t size) {
    auto words = at<typename ELFT::Relr>(address, size);
    if (!words)
      return words.takeError();
    auto readWord = [&] {
      model.read(address);
      address += sizeof(Word);
    };
    forEachPackedRelocation<ELFT>(*words, readWord, [&](uint64_t place) { model.write(place); });
    return Error::success();
  }

  void lookUp(uint32_t index) {
    uint64_t address = tag(ELF::DT_SYMTAB) + uint64_t(index) * sizeof(typename ELFT::Sym);
    model.read(address);
    if (tags.count(ELF::DT_VERSYM))
      model.read(tag(ELF::DT_VERSYM) + 2 * uint64_t(index));
    auto symbol = at<typename ELFT::Sym>(address, sizeof(typename ELFT::Sym));
    if (!symbol)
      return consumeError(symbol.takeError());
    model.read(tag(ELF::DT_STRTAB) + symbol->front().st_name);
  }

  StringRef bytes;
  ArrayRef<FileSegment> segments;
  StartModel &model;
  bool isMips64EL;
  std::map<int64_t, uint64_t> tags;
};
} // namespace

template <class ELFT>
static Error load(StringRef bytes, ArrayRef<FileSegment> segments, StartModel &model,
                  function_ref<void()> beforeRelocation) {
  auto file = ELFFile<ELFT>::create(bytes);
  if (!file)
    return file.takeError();
  auto headers = file->program_headers();
  if (!headers)
    return headers.takeError();
  Loader<ELFT> loader(bytes, segments, model, file->isMips64EL());
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_PHDR)
      model.read(header.p_vaddr);
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_DYNAMIC)
      if (Error e = loader.readTables(header.p_vaddr, header.p_filesz))
        return e;
  beforeRelocation();
  return loader.relocate(); // nothing in a static program
}

Error loadProgram(StringRef bytes, ArrayRef<FileSegment> segments, StartModel &model,
                  function_ref<void()> beforeRelocation) {
  Error result = createStringError("not an ELF file");
  withElfType(bytes, [&]<class ELFT>() {
    consumeError(std::move(result));
    result = load<ELFT>(bytes, segments, model, beforeRelocation);
  });
  return result;
}

} // namespace frontload
