// What is read before a program's own code runs.
//
// Everything here is untrusted input. This finds tables as the dynamic linker does, by the program
// headers and the dynamic section, so it works for stripped files too. It goes by their addresses,
// because LLVM's dynamicEntries() trusts the header that it follows. A file that LLVM does not
// accept has no front.
#include "cold_start/program_loading.h"
#include "elf/elf_file.h"
#include "elf/elf_object.h"
#include "frontload_note.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <optional>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// As in instrument/prefetch.
static constexpr uint64_t maxFront = 256 << 20, minPage = 4096;

/// The offset in the file of a range's beginning, or of its end, which may be one past the last
/// byte of a segment; nothing if it is in no segment.
static std::optional<uint64_t> offsetOf(ArrayRef<FileSegment> segments, uint64_t address,
                                        bool isEnd) {
  for (const FileSegment &segment : segments)
    if (address >= segment.address && address - segment.address < segment.fileBytes + isEnd)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

/// Adds a range, or extends the last one if no page lies between. Returns whether it is valid.
static bool addRange(std::vector<FileRange> &ranges, uint64_t begin, uint64_t end,
                     ArrayRef<FileSegment> segments) {
  std::optional<uint64_t> from = offsetOf(segments, begin, false),
                          to = offsetOf(segments, end, true);
  if (!from || !to || *to <= *from || *to - *from != end - begin)
    return false;
  if (!ranges.empty() && *from >= ranges.back().end &&
      *from / minPage <= (ranges.back().end - 1) / minPage + 1)
    ranges.back().end = *to;
  else
    ranges.push_back({*from, *to});
  return true;
}

/// Leaves `bytes` of the ranges: whole ones as long as they fit, then whole pages.
static void cut(std::vector<FileRange> &ranges, uint64_t bytes) {
  for (auto range = ranges.begin(); range != ranges.end(); ++range) {
    if (range->size() <= bytes) {
      bytes -= range->size();
      continue;
    }
    range->end = alignDown(range->begin + bytes, minPage);
    ranges.erase(range->begin < range->end ? range + 1 : range, ranges.end());
    return;
  }
}

/// Finds the first note in a segment that is not blank, as find_ranges() of
/// instrument/prefetch/front.c does, and takes its ranges if they are valid. Returns whether there
/// is one.
template <class ELFT>
static bool takeNote(StringRef notes, ArrayRef<FileSegment> segments, AskedRanges &noted) {
  struct Range {
    typename ELFT::Xword begin, end;
  };
  struct Note { // frontload_note, in the byte order of the file
    typename ELFT::Word nameSize, descriptorSize, type;
    char name[sizeof frontload_note::name];
    typename ELFT::Word version, count;
  };
  const StringRef name(FRONTLOAD_NOTE_NAME "\0\0", sizeof frontload_note::name);
  for (; notes.size() >= sizeof(Note); notes = notes.drop_front(FRONTLOAD_NOTE_ALIGNMENT)) {
    const auto &note = *reinterpret_cast<const Note *>(notes.data());
    const bool isKnown = note.version == FRONTLOAD_NOTE_VERSION;
    if (note.nameSize != sizeof FRONTLOAD_NOTE_NAME || note.type != FRONTLOAD_NOTE_TYPE ||
        StringRef(note.name, name.size()) != name || (isKnown && note.count == 0))
      continue;
    const uint32_t count = FRONTLOAD_NOTE_RANGES(note.count);
    const uint32_t tail = FRONTLOAD_NOTE_TAIL(note.count);
    bool isValid = isKnown && count <= FRONTLOAD_NOTE_MAX_RANGES && tail < count &&
                   FRONTLOAD_NOTE_DESCRIPTOR_SIZE(count) <= note.descriptorSize &&
                   note.descriptorSize <= notes.size() - FRONTLOAD_NOTE_HEAD_SIZE;
    const auto *range = reinterpret_cast<const Range *>(&note + 1);
    for (uint32_t i = 0; i < count && isValid; ++i, ++range)
      isValid =
          addRange(i < count - tail ? noted.front : noted.tail, range->begin, range->end, segments);
    if (!isValid)
      noted = {};
    cut(noted.front, maxFront);
    cut(noted.tail, maxFront - totalSize(noted.front));
    return true;
  }
  return false;
}

AskedRanges frontRanges(const LinkedFile &file) {
  AskedRanges noted;
  consumeError(withElfFile(file.bytes, [&]<class ELFT>(const ELFFile<ELFT> &elf) -> Error {
    for (const auto &header : orEmpty(elf.program_headers()))
      if (header.p_type == ELF::PT_NOTE &&
          takeNote<ELFT>(file.bytes.substr(header.p_offset, header.p_filesz), file.segments, noted))
        break;
    return Error::success();
  }));
  return noted;
}

uint64_t interpreterOffset(StringRef bytes) {
  uint64_t offset = 0;
  consumeError(withElfFile(bytes, [&]<class ELFT>(const ELFFile<ELFT> &elf) -> Error {
    for (const auto &header : orEmpty(elf.program_headers()))
      if (header.p_type == ELF::PT_INTERP)
        offset = header.p_offset;
    return Error::success();
  }));
  return offset;
}

static bool isPrefetchLibrary(const LinkedFile &file, uint64_t name) {
  return file.at(name).starts_with("libfrontload-prefetch.so");
}

/// Libraries that compilers put behind all others. They seldom refer to what a program defines.
static bool isOfTheCompiler(StringRef library) {
  constexpr StringLiteral names[] = {"libstdc++.so", "libc++.so",  "libc++abi.so", "libunwind.so",
                                     "libm.so",      "libmvec.so", "libgcc_s.so",  "libpthread.so",
                                     "libc.so",      "ld-linux",   "ld-musl"};
  return any_of(names, [&](StringRef name) { return library.starts_with(name); });
}

bool prefetchesItself(const LinkedFile &file) {
  bool does = false;
  consumeError(withElfFile(file.bytes, [&]<class ELFT>(const ELFFile<ELFT> &elf) -> Error {
    for (const auto &header : orEmpty(elf.program_headers())) {
      if (header.p_type != ELF::PT_DYNAMIC)
        continue;
      auto entries = orEmpty(file.table<typename ELFT::Dyn>(header.p_vaddr, header.p_filesz));
      uint64_t strings = 0;
      for (const auto &entry : entries)
        if (entry.getTag() == ELF::DT_STRTAB)
          strings = entry.getVal();
      does |= any_of(entries, [&](const auto &entry) {
        return entry.getTag() == ELF::DT_NEEDED &&
               isPrefetchLibrary(file, strings + entry.getVal());
      });
    }
    return Error::success();
  }));
  if (!does)
    withElfObject(file.bytes, /*isLinked=*/true, [&](const auto &object) {
      does = any_of(object.symbols(), [&](const auto &symbol) {
        return object.name(symbol) == "frontload_prefetch_own_front";
      });
    });
  return does;
}

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
    bool needsPrefetch = false, isOneBehindPrefetch = false;
    for (const auto &entry : used)
      if (entry.getTag() == ELF::DT_NEEDED) {
        uint64_t name = tag(ELF::DT_STRTAB) + entry.getVal();
        events.read(name);
        isOneBehindPrefetch |= needsPrefetch && !isOfTheCompiler(file.at(name));
        needsPrefetch |= isPrefetchLibrary(file, name);
      }
    if (tags.count(ELF::DT_VERNEED))
      events.read(tag(ELF::DT_VERNEED));
    return isOneBehindPrefetch ? lookUpExported() : Error::success();
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
    if (Error e = tag(ELF::DT_PLTREL) == ELF::DT_RELA ? table<typename ELFT::Rela>(address, size)
                                                      : table<typename ELFT::Rel>(address, size))
      return e;
    for (int64_t functions : {ELF::DT_PREINIT_ARRAY, ELF::DT_INIT_ARRAY, ELF::DT_FINI_ARRAY})
      if (tags.count(functions))
        events.read(tag(functions));
    return Error::success();
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

  /// Libraries behind the prefetch library are relocated before it
  /// (instrument/prefetch/resolver.c). Linkers export what libraries refer to, so these find a
  /// symbol of the program. We take the first one that has a place in the hash table.
  Error lookUpExported() {
    using Header = typename ELFT::GnuHash;
    if (!tags.count(ELF::DT_GNU_HASH))
      return Error::success();
    uint64_t address = tag(ELF::DT_GNU_HASH);
    auto header = file.template table<Header>(address, sizeof(Header));
    if (!header)
      return header.takeError();
    const Header &hash = header->front();
    auto buckets = file.template table<typename ELFT::Word>(
        address + sizeof(Header) + uint64_t(hash.maskwords) * sizeof(Word),
        uint64_t(hash.nbuckets) * sizeof(typename ELFT::Word));
    if (!buckets)
      return buckets.takeError();
    auto used = find_if(*buckets, [](uint32_t symbol) { return symbol != 0; });
    if (used != buckets->end())
      lookUp(*used);
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
