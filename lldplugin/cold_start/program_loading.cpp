//===- program_loading.cpp - the dynamic linker's work at a file's start --===//
//
// Everything here is untrusted input. This finds tables as the dynamic linker does, by the program
// headers and the dynamic section, so it works for stripped files too. It goes by their addresses,
// because LLVM's dynamicEntries() trusts the header that it follows.
//
//===----------------------------------------------------------------------===//

#include "cold_start/program_loading.h"
#include "elf/elf_file.h"
#include "elf/relr_table.h"
#include <map>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

namespace {
/// Walks through one file's tables.
template <class ELFT> class Loader {
  using Word = typename ELFT::uint;

public:
  Loader(const LinkedFile &linked, const LoadEvents &loadEvents, bool isMips64)
      : file(linked), events(loadEvents), isMips64EL(isMips64) {}

  /// _dl_relocate_object() up to the relocations: the headers, the dynamic section, the names of
  /// needed libraries, versions; and the buckets that the libraries' symbols are looked up in.
  Error readTables(uint64_t address, uint64_t size) {
    auto entries = file.template table<typename ELFT::Dyn>(address, size);
    if (!entries)
      return entries.takeError();
    auto isEnd = [](const typename ELFT::Dyn &entry) { return entry.getTag() == ELF::DT_NULL; };
    auto used = entries->take_until(isEnd);
    // glibc's elf_get_dynamic_info() too takes the last entry of a tag.
    for (const auto &entry : used)
      tags[entry.getTag()] = entry.getVal();
    // dl_main() of glibc's elf/rtld.c: rtld_setup_main_map() reads the hash table's header,
    // _dl_init_paths() the search paths, then comes the debugger's word; _dl_map_object_deps()
    // reads the needed libraries, _dl_check_map_versions() their versions.
    events.read(address);
    for (int64_t table : {ELF::DT_GNU_HASH, ELF::DT_HASH})
      if (tags.count(table)) {
        events.read(tag(table));
        break;
      }
    for (int64_t path : {ELF::DT_RUNPATH, ELF::DT_RPATH})
      if (tags.count(path))
        events.read(tag(ELF::DT_STRTAB) + tag(path));
    events.write(address); // DT_DEBUG
    for (const auto &entry : used)
      if (entry.getTag() == ELF::DT_NEEDED)
        events.read(tag(ELF::DT_STRTAB) + entry.getVal());
    if (tags.count(ELF::DT_VERNEED))
      events.read(tag(ELF::DT_VERNEED));
    return Error::success();
  }

  /// elf_dynamic_do_Rela() and its kind, in the order of ELF_DYNAMIC_RELOCATE of glibc's
  /// elf/dynamic-link.h.
  Error relocate() {
    bool isLazy = !tags.count(ELF::DT_BIND_NOW) && !(tag(ELF::DT_FLAGS) & ELF::DF_BIND_NOW) &&
                  !(tag(ELF::DT_FLAGS_1) & ELF::DF_1_NOW);
    if (isLazy && tags.count(ELF::DT_JMPREL)) // elf_machine_runtime_setup()
      events.write(tag(ELF::DT_PLTGOT) + sizeof(Word));
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

  template <class R> Error table(uint64_t address, uint64_t size) {
    auto relocations = file.template table<R>(address, size);
    if (!relocations)
      return relocations.takeError();
    for (const R &relocation : *relocations) {
      events.read(address);
      address += sizeof(R);
      if (uint32_t symbol = relocation.getSymbol(isMips64EL))
        lookUp(symbol);
      events.write(relocation.r_offset);
    }
    return Error::success();
  }

  Error packed(uint64_t address, uint64_t size) {
    auto words = file.template table<typename ELFT::Relr>(address, size);
    if (!words)
      return words.takeError();
    auto readWord = [&] {
      events.read(address);
      address += sizeof(Word);
    };
    forEachPackedRelocation<ELFT>(*words, readWord, [&](uint64_t place) { events.write(place); });
    return Error::success();
  }

  void lookUp(uint32_t index) {
    uint64_t address = tag(ELF::DT_SYMTAB) + uint64_t(index) * sizeof(typename ELFT::Sym);
    events.read(address);
    if (tags.count(ELF::DT_VERSYM))
      events.read(tag(ELF::DT_VERSYM) + 2 * uint64_t(index));
    auto symbol = file.template table<typename ELFT::Sym>(address, sizeof(typename ELFT::Sym));
    if (!symbol)
      return consumeError(symbol.takeError());
    events.read(tag(ELF::DT_STRTAB) + symbol->front().st_name);
  }

  const LinkedFile &file;
  const LoadEvents &events;
  bool isMips64EL;
  std::map<int64_t, uint64_t> tags;
};
} // namespace

template <class ELFT>
static Error load(const ELFFile<ELFT> &elf, const LinkedFile &file, const LoadEvents &events) {
  auto headers = elf.program_headers();
  if (!headers)
    return headers.takeError();
  Loader<ELFT> loader(file, events, elf.isMips64EL());
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_PHDR)
      events.read(header.p_vaddr);
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_DYNAMIC)
      if (Error e = loader.readTables(header.p_vaddr, header.p_filesz))
        return e;
  events.beforeRelocation();
  return loader.relocate(); // nothing in a static program
}

Error loadProgram(StringRef bytes, ArrayRef<FileSegment> segments, const LoadEvents &events) {
  LinkedFile file = {bytes, segments};
  return withElfFile(bytes, [&](const auto &elf) { return load(elf, file, events); });
}

} // namespace frontload
