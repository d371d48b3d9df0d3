//===- startup_pages.cpp - the pages of a file that a start touches --------===//

#include "predict/startup_pages.h"
#include "cold_start/program_loading.h"
#include "elf/elf_object.h"
#include "frontload_trace.h"
#include "predict/code_walk.h"
#include "program/tool.h"
#include "startup_set/startup_set.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

static constexpr uint64_t listedPage = 4096;
static constexpr size_t maxString = 4096, shortestText = 4;
/// If fewer bytes than one in this number are touched, most pages of a datum are not.
static constexpr uint64_t mostSparse = 16, mostCode = 4;

namespace {
/// Pages in the order in which they are added, each once.
class PagesInOrder {
public:
  explicit PagesInOrder(const LinkedFile &linked)
      : file(linked), isTouched(unsigned(divideCeil(linked.bytes.size(), listedPage))) {}

  void addOffsets(uint64_t begin, uint64_t end) {
    for (uint64_t page = begin / listedPage; page * listedPage < end && page < isTouched.size();
         ++page) {
      if (isTouched[unsigned(page)])
        continue;
      isTouched.set(unsigned(page));
      if (!ranges.empty() && ranges.back().first + ranges.back().count == page)
        ++ranges.back().count;
      else
        ranges.push_back({page, 1});
    }
  }
  void add(uint64_t address, uint64_t size = 1) {
    if (const FileSegment *segment = file.segmentAt(address)) {
      uint64_t offset = segment->offset + (address - segment->address);
      size = std::min(size, segment->offset + segment->fileBytes - offset);
      addOffsets(offset, offset + size);
    }
  }

  std::vector<PageRange> ranges;

private:
  const LinkedFile &file;
  BitVector isTouched;
};

struct Symbol {
  uint64_t address, size;
  bool isCode;
};

/// The symbols of a file by address, and their rows in its table.
struct Symbols {
  explicit Symbols(StringRef bytes) {
    withElfObject(bytes, /*isLinked=*/true, [&](const auto &object) {
      for (const auto &section : object.sections())
        if (section.sh_flags & ELF::SHF_EXECINSTR)
          code.push_back({section.sh_addr, section.sh_addr + section.sh_size});
      for (const auto &symbol : object.symbols()) {
        bool isCode = symbol.getType() == ELF::STT_FUNC || symbol.getType() == ELF::STT_GNU_IFUNC;
        byRow.push_back({symbol.st_value, symbol.st_size, isCode});
        if (symbol.st_shndx != ELF::SHN_UNDEF && symbol.st_shndx < ELF::SHN_LORESERVE &&
            (isCode || symbol.getType() == ELF::STT_OBJECT))
          sorted.push_back(byRow.back());
      }
    });
    llvm::stable_sort(sorted,
                      [](const Symbol &a, const Symbol &b) { return a.address < b.address; });
  }
  /// The symbol that has an address; null if none does.
  const Symbol *at(uint64_t address) const {
    auto next = partition_point(sorted, [&](const Symbol &s) { return s.address <= address; });
    for (unsigned tries = 0; next != sorted.begin() && tries < 8; ++tries) {
      --next;
      if (address - next->address < std::max<uint64_t>(next->size, 1))
        return &*next;
    }
    return nullptr;
  }
  /// From an address to the next symbol, at most a page: the size of a function that has none.
  uint64_t distanceToNext(uint64_t address) const {
    auto next = partition_point(sorted, [&](const Symbol &s) { return s.address <= address; });
    return next == sorted.end() ? 1 : std::min(next->address - address, listedPage);
  }
  bool isInCode(uint64_t address) const {
    return any_of(code,
                  [&](FileRange each) { return address >= each.begin && address < each.end; });
  }
  std::vector<Symbol> byRow, sorted;
  std::vector<FileRange> code; // addresses of sections with code
};

/// What the code of a function touches, in order: code, or an address in an operand, of size 0.
using CodeTouches = std::vector<std::pair<uint64_t, uint64_t>>;

class Touches {
public:
  Touches(const ProgramFile &p, const StartupProfile &s)
      : program(p), profile(s),
        file{p.bytes(), orExit(readSegments(p.bytes()), p.path + ": ", linkedFileNote)},
        symbols((p.debugBuffer ? *p.debugBuffer : *p.buffer).getBuffer()), pages(file),
        walk(file, p.elf->getEMachine(), p.elf->getEType() == ELF::ET_EXEC) {}

  StartupPages find() {
    resolve();
    load();
    std::vector<CodeTouches> ofCode;
    for (auto [number, entry] : enumerate(profile.entries))
      for (const Symbol &symbol : placesOf[number])
        if (entry.kind == EntryKind::Function)
          ofCode.push_back(enter(symbol));
    auto next = ofCode.begin();
    for (auto [number, entry] : enumerate(profile.entries))
      for (const Symbol &symbol : placesOf[number])
        if (entry.kind != EntryKind::Function)
          use(entry, symbol, placesOf[number].size() > 1);
        else
          for (auto [address, size] : *next++)
            size ? pages.add(address, size) : refer(entry, address);
    result.ranges = std::move(pages.ranges);
    return std::move(result);
  }

private:
  void resolve();
  void load();
  CodeTouches enter(const Symbol &symbol);
  void use(const ProfileEntry &entry, const Symbol &symbol, bool isAmbiguous);
  void refer(const ProfileEntry &entry, uint64_t address);

  const ProgramFile &program;
  const StartupProfile &profile;
  LinkedFile file;
  Symbols symbols;
  PagesInOrder pages;
  CodeWalk walk;
  std::vector<SmallVector<Symbol, 1>> placesOf; // by entry
  DenseSet<uint64_t> entered;                   // functions
  DenseSet<uint64_t> used, referred;            // data of the profile; data that code refers to
  DenseSet<StringRef> strings;
  uint64_t codeLeft = mostCode * file.bytes.size(); // to walk through: symbols may overlap
  StartupPages result;
};
} // namespace

void Touches::resolve() {
  const MemoryBuffer &named = program.debugBuffer ? *program.debugBuffer : *program.buffer;
  if (symbols.sorted.empty())
    fail(exitData, program.path + ": is stripped: it has no symbol table",
         "install its debug information, or give the program before strip");
  InputObject object = {MemoryBufferRef(named.getBuffer(), program.path), "", /*isLazy=*/false,
                        /*isLinked=*/true};
  StartupSet set(profile, /*gathersStrings=*/false);
  set.find(object, parallel::strategy.compute_thread_count());
  placesOf.resize(profile.entries.size());
  for (const auto *places : {&set.entryPlaces().movable, &set.entryPlaces().kept})
    for (const EntryPlace &place : *places) {
      if (place.symbolIndex >= symbols.byRow.size())
        continue;
      placesOf[place.entry].push_back(symbols.byRow[place.symbolIndex]);
      (profile.entries[place.entry].kind == EntryKind::Function ? entered : used)
          .insert(place.value);
    }
  for (auto [number, entry] : enumerate(profile.entries)) {
    if (entry.kind == EntryKind::String)
      strings.insert(entry.name);
    if (entry.kind != EntryKind::Function && entry.kind != EntryKind::Data)
      continue;
    if (!placesOf[number].empty() || set.entryPlaces().isKept[number])
      ++result.found;
    else if (!entry.faded && !entry.inlinable)
      result.missing.push_back(entry.name);
  }
}

/// What the kernel and the dynamic linker touch.
void Touches::load() {
  pages.addOffsets(0, 1);
  for (const FileSegment &segment : file.segments)
    if (segment.memoryBytes > segment.fileBytes && segment.fileBytes &&
        (segment.address + segment.fileBytes) % listedPage)
      pages.add(segment.address + segment.fileBytes - 1);
  // The kernel reads the name of the dynamic linker, which copies the image of thread data.
  auto addWhole = [&](const auto &elf) -> Error {
    auto headers = elf.program_headers();
    if (!headers)
      return headers.takeError();
    for (const auto &header : *headers)
      if (header.p_type == ELF::PT_INTERP || header.p_type == ELF::PT_TLS)
        pages.add(header.p_vaddr, header.p_filesz);
    return Error::success();
  };
  auto touch = [&](uint64_t address) { pages.add(address); };
  if (Error problem = joinErrors(withElfFile(file.bytes, addWhole),
                                 loadProgram(file.bytes, file.segments, {touch, touch, [] {}})))
    fail(exitData, program.path + ": " + toString(std::move(problem)), linkedFileNote);
}

CodeTouches Touches::enter(const Symbol &symbol) {
  CodeTouches found = {{symbol.address, 1}};
  uint64_t size = symbol.size ? symbol.size : symbols.distanceToNext(symbol.address);
  if (size > codeLeft)
    return found;
  codeLeft -= size;
  if (!walk.knowsMachine()) {
    found.push_back({symbol.address, size});
    return found;
  }
  auto run = [&](uint64_t address, uint64_t bytes) {
    if (auto &[begin, before] = found.back(); before && begin + before == address)
      before += bytes;
    else
      found.push_back({address, bytes});
  };
  auto referTo = [&](uint64_t address) {
    if (!file.segmentAt(address) || symbols.isInCode(address))
      return;
    found.push_back({address, 0});
    if (const Symbol *datum = symbols.at(address))
      referred.insert(datum->address);
  };
  auto mayEnter = [&](uint64_t address) {
    if (entered.contains(address))
      return true;
    const Symbol *callee = symbols.at(address);
    return !callee || !callee->isCode;
  };
  walk.walk(symbol.address, size, {run, referTo, mayEnter});
  return found;
}

/// Whether a string of text is at the beginning of `bytes`: nothing else tells a string from other
/// constants.
static StringRef stringAt(StringRef bytes) {
  size_t end = bytes.take_front(maxString).find('\0');
  StringRef text = end == StringRef::npos ? StringRef() : bytes.take_front(end);
  return all_of(text, [](char c) { return isPrint(c) || isSpace(c); }) ? text : StringRef();
}

/// Where the profile has data, it has all data with names, and all strings, that the function read.
void Touches::refer(const ProfileEntry &entry, uint64_t address) {
  if (profile.dataRuns && entry.measured) {
    const Symbol *datum = symbols.at(address);
    if (datum && datum->size && !used.contains(datum->address))
      return;
    StringRef text = datum ? StringRef() : stringAt(file.at(address));
    if (!strings.empty() && text.size() >= shortestText && !strings.contains(text))
      return;
  }
  pages.add(address);
}

/// The profile does not tell where in a datum the touched bytes are, if they are far from each
/// other. Then they are where code refers to, or in all of it if they are many.
void Touches::use(const ProfileEntry &entry, const Symbol &symbol, bool isAmbiguous) {
  if (entry.bytes > alignTo(symbol.size, FRONTLOAD_GRANULE) ||
      (isAmbiguous && !referred.contains(symbol.address)))
    return; // another datum of this name
  if (entry.stretch)
    pages.add(symbol.address + entry.stretch->begin, entry.stretch->end - entry.stretch->begin);
  else if (symbol.size <= 2 * listedPage || entry.bytes * mostSparse >= symbol.size)
    pages.add(symbol.address, std::max<uint64_t>(symbol.size, 1));
}

StartupPages startupPages(const ProgramFile &program, const StartupProfile &profile) {
  return Touches(program, profile).find();
}

void printStartupPages(const ProgramFile &program, const StartupPages &pages) {
  json::OStream out(outs());
  out.object([&] {
    out.attribute("schema", "frontload-pages/1");
    out.attribute("binary", json::fixUTF8(program.path));
    out.attribute("found", pages.found);
    out.attributeArray("missing", [&] {
      for (StringRef name : pages.missing)
        out.value(json::fixUTF8(escapeName(name)));
    });
    out.attributeArray("pages", [&] {
      for (PageRange range : pages.ranges)
        out.array([&] {
          out.value(range.first);
          out.value(range.count);
        });
    });
  });
  outs() << '\n';
}

} // namespace frontload
