// Reads an ELF file's functions, with LLVM's checked accessors: the file is untrusted.
#include "program.h"

#include "format/frontload_block_map.h"
#include "format/frontload_debug_file.h"
#include "format/frontload_or_empty.h"
#include "instructions.h"
#include "known_code.h"

#include "llvm/ADT/STLExtras.h"

#include <unistd.h>

using namespace llvm;
using namespace llvm::object;
using namespace frontload;

using Elf = ELF64LE;

namespace {
/// A function symbol, before aliases are united.
struct Entry {
  uint64_t address;
  uint64_t size = 0;
  bool isSplitPart = false;
  bool isUntil = false;
  bool isMain = false;      // which only libc calls, by its address
  bool isLeakCheck = false; // of LeakSanitizer, if it is linked into the file
  bool isBlock = false;
  uint64_t unwindEnd = 0; // of the unwind information that begins here, or 0
};

/// The names of a symbol table. In an honest file a name may be the end of another one, but all of
/// them together are little longer than the file; each of a damaged one may be as long as the file.
class SymbolNames {
public:
  explicit SymbolNames(uint64_t fileSize) : left(16 * fileSize) {}
  /// The name of a symbol of the current table.
  Expected<StringRef> of(const Elf::Sym &symbol) {
    if (symbol.st_name >= table.size())
      return createStringError("a symbol's name is outside of its string table");
    StringRef name = table.substr(symbol.st_name, left.count()).split('\0').first;
    if (!left.take(name.size() + 1))
      return createStringError("its symbols' names are in the same place");
    return name;
  }

  StringRef table;

private:
  BytesLeft left;
};
} // namespace

/// Calls `visit` for each symbol of the tables of one type (SHT_SYMTAB or SHT_DYNSYM), with the
/// names of its table. Ends at the first error; tables that overlap are an error.
static Error visitSymbols(const ELFFile<Elf> &elf, unsigned tableType,
                          function_ref<Error(const Elf::Sym &, SymbolNames &)> visit) {
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  BytesLeft left(elf.getBufSize());
  SymbolNames names(elf.getBufSize());
  for (const Elf::Shdr &section : *sections) {
    if (section.sh_type != tableType)
      continue;
    auto symbols = elf.symbols(&section);
    if (!symbols)
      return symbols.takeError();
    if (!left.take(section.sh_size))
      return createStringError("its symbol tables are in the same place");
    auto table = elf.getStringTableForSymtab(section, *sections);
    if (!table)
      return table.takeError();
    names.table = *table;
    for (const Elf::Sym &symbol : *symbols)
      if (Error error = visit(symbol, names))
        return error;
  }
  return Error::success();
}

/// Whether a name is that of a part that the compiler split off and jumps into: `.cold` of gcc and
/// clang, `.eh` (landing pads) and `.__part.N` of clang -fbasic-block-sections.
static bool isSplitPartName(StringRef name) {
  StringRef suffixes = name.drop_until([](char c) { return c == '.'; });
  while (suffixes.consume_front(".")) {
    StringRef word = suffixes.take_until([](char c) { return c == '.'; });
    if (word == "cold" || word == "eh" || word == "__part")
      return true;
    suffixes = suffixes.drop_front(word.size());
  }
  return false;
}

/// Whether the program may write a section without asking the kernel first.
static bool isWritable(Elf::PhdrRange segments, const Elf::Shdr &section) {
  return llvm::any_of(segments, [&](const Elf::Phdr &segment) {
    return segment.p_type == ELF::PT_LOAD && (segment.p_flags & ELF::PF_W) &&
           section.sh_addr - segment.p_vaddr < segment.p_memsz;
  });
}

/// The sections of code in order of address; of overlapping ones, the first. Code that is writable
/// is left out, and `hasWritable` set: packed programs have such code, and decipher it.
static std::vector<CodeSection> codeSections(const ELFFile<Elf> &elf, Elf::ShdrRange sections,
                                             bool &hasWritable) {
  constexpr size_t maxSegments = 64; // honest files have few
  auto segments = orEmpty(elf.program_headers()).take_front(maxSegments);
  std::vector<CodeSection> found;
  BytesLeft left(elf.getBufSize());
  for (const Elf::Shdr &section : sections) {
    constexpr uint64_t wanted = ELF::SHF_ALLOC | ELF::SHF_EXECINSTR;
    if ((section.sh_flags & wanted) != wanted || section.sh_type == ELF::SHT_NOBITS)
      continue;
    if (isWritable(segments, section)) {
      hasWritable = true;
      continue;
    }
    // A hole in a damaged file: its functions cannot be planted, the others can.
    ArrayRef<uint8_t> bytes = orEmpty(elf.getSectionContents(section));
    if (section.sh_addr + bytes.size() > section.sh_addr && left.take(bytes.size()))
      found.push_back({section.sh_addr, section.sh_addr + bytes.size(), bytes});
  }
  llvm::sort(found, [](auto &a, auto &b) { return a.begin < b.begin; });
  uint64_t end = 0;
  llvm::erase_if(found, [&](const CodeSection &section) {
    bool isBehind = section.begin >= end;
    end = isBehind ? section.end : end;
    return !isBehind;
  });
  return found;
}

static Expected<std::vector<Entry>> functionSymbols(const ELFFile<Elf> &elf,
                                                    ArrayRef<CodeSection> code, unsigned tableType,
                                                    StringRef until) {
  std::vector<Entry> entries;
  auto visit = [&](const Elf::Sym &symbol, SymbolNames &names) -> Error {
    unsigned type = symbol.getType();
    bool isFunction = type == ELF::STT_FUNC || type == ELF::STT_GNU_IFUNC;
    // clang gives the parts that it splits off a size, but no type.
    bool mayBePart = isFunction || (type == ELF::STT_NOTYPE && symbol.st_size);
    if (!mayBePart || symbol.st_shndx == ELF::SHN_UNDEF || symbol.st_shndx == ELF::SHN_ABS ||
        !sectionAt(code, symbol.st_value))
      return Error::success();
    auto name = names.of(symbol);
    if (!name)
      return name.takeError();
    bool isPart = isSplitPartName(*name);
    if (isFunction || isPart)
      entries.push_back({symbol.st_value, symbol.st_size, isPart, !until.empty() && *name == until,
                         *name == "main", *name == "__lsan_do_leak_check"});
    return Error::success();
  };
  if (Error error = visitSymbols(elf, tableType, visit))
    return error;
  return entries;
}

/// Whether a dynamic symbol has one of these names. A damaged table has none.
static bool hasDynamicSymbol(const ELFFile<Elf> &elf, ArrayRef<StringRef> wanted) {
  bool isFound = false;
  consumeError(
      visitSymbols(elf, ELF::SHT_DYNSYM, [&](const Elf::Sym &symbol, SymbolNames &names) -> Error {
        isFound |= llvm::is_contained(wanted, orEmpty(names.of(symbol)));
        return Error::success();
      }));
  return isFound;
}

/// Sorts by address and makes one entry of all that share an address.
static void uniteAliases(std::vector<Entry> &entries) {
  llvm::sort(entries, [](auto &a, auto &b) { return a.address < b.address; });
  size_t last = 0;
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].address != entries[last].address) {
      entries[++last] = entries[i];
      continue;
    }
    entries[last].size = std::max(entries[last].size, entries[i].size);
    entries[last].isSplitPart |= entries[i].isSplitPart;
    entries[last].isUntil |= entries[i].isUntil;
    entries[last].isMain |= entries[i].isMain;
  }
  if (!entries.empty())
    entries.resize(last + 1);
}

/// Leaves out symbols that are functions by their type only.
static void dropDoubtful(const ELFFile<Elf> &elf, ArrayRef<CodeSection> code,
                         std::vector<Entry> &entries) {
  std::vector<CodeRange> claims;
  for (const auto &[index, entry] : enumerate(entries)) {
    uint64_t size = entry.isSplitPart ? std::max<uint64_t>(entry.size, 1) : 1;
    if (index + 1 < entries.size())
      size = std::min(size, entries[index + 1].address - entry.address);
    claims.push_back({entry.address, size});
  }
  KnownCode known = knownCode(elf, code, claims);
  for (const auto &[index, entry] : enumerate(entries))
    entry.unwindEnd = known.unwindEnds[index];
  size_t index = 0;
  llvm::erase_if(entries,
                 [&](const Entry &entry) { return !known.claims.test(index++) && !entry.isMain; });
}

/// Whether no instruction can run on from `before` into an entry: decoding all code would take
/// seconds. Where unwind information begins, or padding ends, only what is unlike the end of a
/// function makes a doubt.
static bool isSeparate(const Entry &entry, ArrayRef<uint8_t> before) {
  constexpr uint64_t usualAlignment = 16;
  if (before.empty())
    return true;
  if (entry.unwindEnd)
    return arch::mayEndFunction(before);
  return entry.address % usualAlignment == 0 && before.back() == arch::breakpoint.back();
}

/// Leaves out entries that may be inside of an instruction, as those behind a prefix are.
static void dropInside(ArrayRef<CodeSection> code, std::vector<Entry> &entries) {
  if (!arch::hasOddPlaces)
    return;
  const CodeSection *section = nullptr;
  InstructionStreams streams({});
  llvm::erase_if(entries, [&](const Entry &entry) {
    if (!section || entry.address >= section->end) {
      section = sectionAt(code, entry.address);
      streams = InstructionStreams(section->bytes);
    }
    uint64_t offset = entry.address - section->begin;
    if (isSeparate(entry, section->bytes.take_front(offset)))
      streams.restart(offset);
    bool isBoundary = streams.reach(offset);
    if (entry.unwindEnd || !streams.isInside(offset))
      streams.endAt((entry.unwindEnd ? entry.unwindEnd : section->end) - section->begin);
    return !isBoundary;
  });
}

/// Adds the blocks of a part of a function; returns whether they fit its symbol and its code.
static bool takeBlocks(const BBAddrMap::BBRangeEntry &range, std::optional<uint64_t> symbolSize,
                       ArrayRef<CodeSection> code, BytesLeft &left, std::vector<uint64_t> &starts) {
  const CodeSection *section = sectionAt(code, range.BaseAddress);
  auto bytes =
      section ? section->bytes.drop_front(range.BaseAddress - section->begin) : ArrayRef<uint8_t>();
  uint64_t size = 0;
  for (const BBAddrMap::BBEntry &block : range.BBEntries)
    size = std::max(size, uint64_t(block.Offset) + block.Size);
  if (!size)
    return true;
  if (symbolSize != size || size > bytes.size() || !left.take(size))
    return false;
  std::vector<uint64_t> offsets = instructionOffsets(bytes.take_front(size));
  for (const BBAddrMap::BBEntry &block : range.BBEntries) {
    if (!block.Size)
      continue;
    if (!llvm::binary_search(offsets, uint64_t(block.Offset)))
      return false;
    starts.push_back(range.BaseAddress + block.Offset);
  }
  return true;
}

/// The addresses, ascending, of the blocks of functions, by the map that clang
/// -fbasic-block-address-map writes. `sizeAt` gives the size of the symbol of a function, or of a
/// part of one, at an address; nothing if there is none. None of the file's bytes is decoded twice.
///
/// Nothing needs the map at run time. A tool that moves code may leave the map as it was, and a
/// breakpoint in the midst of an instruction gives a wrong result that nothing reports. So the
/// blocks of a function count only if together they have the size of its symbol, and each begins
/// where an instruction does.
static std::vector<uint64_t> blockStarts(MemoryBufferRef file, ArrayRef<CodeSection> code,
                                         function_ref<std::optional<uint64_t>(uint64_t)> sizeAt) {
  auto object = ELFObjectFile<ELF64LE>::create(file);
  if (!object) {
    consumeError(object.takeError());
    return {};
  }
  std::vector<uint64_t> all;
  BytesLeft left(file.getBufferSize());
  for (const BBAddrMap &map : orEmpty(readBlockMaps(*object))) {
    std::vector<uint64_t> starts;
    bool isRight = llvm::all_of(map.BBRanges, [&](const BBAddrMap::BBRangeEntry &range) {
      return takeBlocks(range, sizeAt(range.BaseAddress), code, left, starts);
    });
    if (isRight)
      llvm::append_range(all, starts);
  }
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  return all;
}

/// Adds the basic blocks of functions that have a map of them. A part that was split off is entered
/// where its blocks are.
static void addBlocks(MemoryBufferRef file, ArrayRef<CodeSection> code,
                      std::vector<Entry> &entries) {
  auto entryAt = [&](uint64_t address) -> Entry * {
    auto found = llvm::lower_bound(
        entries, address, [](const Entry &entry, uint64_t value) { return entry.address < value; });
    return found != entries.end() && found->address == address ? &*found : nullptr;
  };
  std::vector<Entry> blocks;
  auto sizeAt = [&](uint64_t begin) {
    const Entry *entry = entryAt(begin);
    return entry ? std::optional(entry->size) : std::nullopt;
  };
  for (uint64_t address : blockStarts(file, code, sizeAt)) {
    if (Entry *entry = entryAt(address))
      entry->isSplitPart = false;
    else
      blocks.push_back({.address = address, .isBlock = true});
  }
  llvm::append_range(entries, blocks);
  llvm::sort(entries, [](auto &a, auto &b) { return a.address < b.address; });
}

Expected<Program> Program::read(MemoryBufferRef file, StringRef until, bool wantsBlocks) {
  auto identity = ProgramFile::read(file);
  if (!identity)
    return identity.takeError();
  auto elf = ELFFile<Elf>::create(file.getBuffer());
  if (!elf)
    return elf.takeError();
  auto sections = elf->sections();
  if (!sections)
    return sections.takeError();

  Program program(std::move(*identity));
  std::vector<CodeSection> code = codeSections(*elf, *sections, program.writableCode);
  std::unique_ptr<MemoryBuffer> debug = findDebugFile(*elf, file.getBufferIdentifier());
  MemoryBufferRef symbolFile = debug ? debug->getMemBufferRef() : file;
  auto symbols = ELFFile<Elf>::create(symbolFile.getBuffer());
  if (!symbols)
    return symbols.takeError();
  auto entries = functionSymbols(*symbols, code, ELF::SHT_SYMTAB, until);
  bool isStripped = entries && entries->empty(); // only the loader's symbols are left
  if (isStripped)
    entries = functionSymbols(*elf, code, ELF::SHT_DYNSYM, until);
  if (!entries)
    return entries.takeError();
  program.ptraceImport = hasDynamicSymbol(*elf, {"ptrace"});
  program.tracer = hasDynamicSymbol(*elf, {"__asan_init", "__lsan_init"}) ||
                   llvm::any_of(*entries, [](auto &entry) { return entry.isLeakCheck; }) ||
                   (program.ptraceImport && isStripped);
  uniteAliases(*entries);
  size_t all = entries->size();
  dropDoubtful(*elf, code, *entries);
  program.doubtfulCount = all - entries->size();
  all = entries->size();
  dropInside(code, *entries);
  program.insideCount = all - entries->size();
  if (wantsBlocks)
    addBlocks(symbolFile, code, *entries);

  auto addSite = [&](const CodeSection &section, uint64_t address, uint32_t function) {
    ArrayRef<uint8_t> bytes = section.bytes.drop_front(address - section.begin);
    Site site = {address, function, {}};
    if (bytes.size() < site.original.size())
      return false;
    llvm::copy(bytes.take_front(site.original.size()), site.original.begin());
    // A breakpoint of the program's own is left alone.
    if (site.original == arch::breakpoint || address % site.original.size() != 0)
      return false;
    program.siteList.push_back(site);
    return true;
  };
  program.siteList.reserve(entries->size());
  for (const auto &[index, entry] : enumerate(*entries)) {
    const CodeSection &section = *sectionAt(code, entry.address);
    uint32_t function = program.firstSites.size();
    size_t firstSite = program.siteList.size();
    if (!addSite(section, entry.address, function))
      continue;
    program.firstSites.push_back(firstSite);
    program.blockFunctions.push_back(entry.isBlock);
    if (entry.isUntil)
      program.untilFunctions.insert(function);
    if (!entry.isSplitPart)
      continue;
    // A wrong size must neither reach into the next function nor cost more than the section.
    uint64_t room = section.end - entry.address;
    if (index + 1 < entries->size())
      room = std::min(room, (*entries)[index + 1].address - entry.address);
    uint64_t offset = entry.address - section.begin;
    auto part = section.bytes.slice(offset, std::min(room, entry.size));
    std::vector<uint64_t> starts = instructionOffsets(part);
    for (uint64_t start : drop_begin(starts))
      addSite(section, entry.address + start, function);
  }
  llvm::stable_sort(code, [](auto &a, auto &b) { return a.bytes.size() > b.bytes.size(); });
  for (const CodeSection &section : ArrayRef(code).take_front(arch::watchLimit))
    program.largestSections.push_back(section.begin);
  return program;
}

uint64_t Program::plantedBytes() const {
  static const uint64_t pageSize = sysconf(_SC_PAGESIZE);
  uint64_t pages = 0, last = UINT64_MAX;
  for (const Site &site : siteList) {
    pages += site.address / pageSize != last;
    last = site.address / pageSize;
  }
  return pages * pageSize;
}

ArrayRef<Site> Program::sitesOf(uint32_t function) const {
  size_t begin = firstSites[function];
  size_t end = function + 1 < firstSites.size() ? firstSites[function + 1] : siteList.size();
  return sites().slice(begin, end - begin);
}

ArrayRef<Site> Program::sitesNear(uint64_t address) const {
  constexpr uint64_t distance = 256;
  uint64_t begin = address - std::min(address, distance);
  return sites()
      .drop_while([&](const Site &site) { return site.address < begin; })
      .take_while([&](const Site &site) { return site.address - begin < 2 * distance; });
}

std::optional<uint32_t> Program::functionWithSiteAt(uint64_t address) const {
  auto site = llvm::lower_bound(siteList, address,
                                [](const Site &s, uint64_t value) { return s.address < value; });
  if (site == siteList.end() || site->address != address)
    return std::nullopt;
  return site->function;
}
