// The pages of a file that a start touches.
#include "predict/startup_pages.h"
#include "cold_start/program_loading.h"
#include "elf/elf_object.h"
#include "frontload_trace.h"
#include "predict/code_walk.h"
#include "startup_set/startup_set.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

static constexpr uint64_t listedPage = 4096;
static constexpr size_t maxString = 4096;
/// The walk goes through at most this many times the file's size of code: symbols of a damaged file
/// may overlap.
static constexpr uint64_t mostCode = 4;
/// Where less than one byte in this number is touched, most pages of a datum are not.
static constexpr uint64_t mostSparse = 16;
/// What may be touched is listed if a fault less costs less than this to read, if no more than
/// these data share the name, and if there is at most one such page for this number of others.
static constexpr uint64_t mostForFault = 256 << 10, mostNamesakes = 2, mostGuessed = 12;
/// Only these functions read the tables for unwinding. In a file without them, a touched `.cold`
/// part of a function with handlers is a sign that a startup unwinds.
static constexpr StringLiteral unwinders[] = {"_Unwind_RaiseException", "_Unwind_Backtrace",
                                              "_Unwind_ForcedUnwind", "_Unwind_Resume"};

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
      ++touchedPages;
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

  uint64_t count() const { return touchedPages; }

  std::vector<PageRange> ranges;

private:
  const LinkedFile &file;
  BitVector isTouched;
  uint64_t touchedPages = 0;
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
        // mold keeps the assembler's own labels, of strings and other constants.
        if (object.sectionOf(symbol) && !object.nameBegin(symbol).starts_with(".L") &&
            (isCode || symbol.getType() == ELF::STT_OBJECT))
          sorted.push_back(byRow.back());
      }
    });
    llvm::stable_sort(sorted,
                      [](const Symbol &a, const Symbol &b) { return a.address < b.address; });
  }
  /// The symbol that has an address; null if none does.
  const Symbol *at(uint64_t address) const {
    auto next = behind(address);
    for (unsigned tries = 0; next != sorted.begin() && tries < 8; ++tries) {
      --next;
      if (address - next->address < std::max<uint64_t>(next->size, 1))
        return &*next;
    }
    return nullptr;
  }
  /// From an address to the next symbol, at most a page: the size of a function that has none.
  uint64_t distanceToNext(uint64_t address) const {
    auto next = behind(address);
    return next == sorted.end() ? 1 : std::min(next->address - address, listedPage);
  }
  bool isInCode(uint64_t address) const {
    return any_of(code,
                  [&](FileRange each) { return address >= each.begin && address < each.end; });
  }
  std::vector<Symbol> byRow, sorted;

private:
  std::vector<Symbol>::const_iterator behind(uint64_t address) const {
    return partition_point(sorted, [&](const Symbol &s) { return s.address <= address; });
  }

  std::vector<FileRange> code; // addresses of sections with code
};

/// A function of the start.
struct Function {
  uint64_t address;
  /// What its code touches, in order: code, or an address in an operand, of size 0.
  std::vector<std::pair<uint64_t, uint64_t>> touches;
  /// The functions of the start that it calls, also where nothing after the call ran.
  DenseSet<uint64_t> calls;
};

class Touches {
public:
  Touches(LinkedFile linked, MemoryBufferRef withSymbols, const StartupProfile &p)
      : named(withSymbols), profile(p), file(std::move(linked)), symbols(named.getBuffer()),
        pages(file) {}

  Expected<StartupPages> find() {
    if (symbols.sorted.empty())
      return createStringError("is stripped: it has no symbol table");
    resolve();
    if (Error problem = load())
      return problem;
    std::vector<Function> functions;
    for (auto [number, entry] : enumerate(profile.entries))
      for (const Symbol &symbol : placesOf[number])
        if (entry.kind == EntryKind::Function)
          functions.push_back(enter(symbol));
    DenseMap<StringRef, uint64_t> addresses;
    auto next = functions.begin();
    for (auto [number, entry] : enumerate(profile.entries)) {
      if (entry.kind != EntryKind::Function) {
        use(entry, placesOf[number]);
        continue;
      }
      for (size_t place = 0; place < placesOf[number].size(); ++place)
        for (auto [address, size] : (next++)->touches)
          size ? pages.add(address, size) : refer(entry, address);
      if (placesOf[number].empty())
        continue;
      if (is_contained(unwinders, entry.name))
        unwind(ArrayRef(functions).take_front(size_t(next - functions.begin())));
      StringRef whole = entry.name;
      if (whole.consume_back(".cold") && addresses.contains(whole))
        describe(addresses[whole], /*ifHandles=*/true);
      addresses[entry.name] = placesOf[number].front().address;
    }
    addGuesses();
    result.ranges = std::move(pages.ranges);
    return std::move(result);
  }

private:
  void resolve();
  Error load();
  Function enter(const Symbol &symbol);
  void use(const ProfileEntry &entry, ArrayRef<Symbol> places);
  void addGuesses();
  void refer(const ProfileEntry &entry, uint64_t address);
  void unwind(ArrayRef<Function> before);
  void describe(uint64_t function, bool ifHandles);

  MemoryBufferRef named; // the file with the symbols
  const StartupProfile &profile;
  LinkedFile file;
  Symbols symbols;
  PagesInOrder pages;
  std::optional<CodeWalk> walk;
  std::vector<SmallVector<Symbol, 1>> placesOf; // by entry
  DenseSet<uint64_t> entered;                   // functions
  DenseSet<uint64_t> used, referred;            // data of the profile; data that code refers to
  DenseSet<StringRef> strings;
  uint64_t frameTable = 0;                             // the address of .eh_frame_hdr
  std::vector<std::pair<uint64_t, FileRange>> guesses; // bytes for each window, and addresses
  uint64_t codeLeft = mostCode * file.bytes.size();    // to walk through
  StartupPages result;
};
} // namespace

void Touches::resolve() {
  InputObject object = {named, "", /*isLazy=*/false, /*isLinked=*/true};
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
Error Touches::load() {
  pages.addOffsets(0, 1);
  for (const FileSegment &segment : file.segments)
    if (segment.memoryBytes > segment.fileBytes && segment.fileBytes &&
        (segment.address + segment.fileBytes) % listedPage)
      pages.add(segment.address + segment.fileBytes - 1);
  // The kernel reads the name of the dynamic linker, which copies the image of thread data.
  auto readHeaders = [&](const auto &elf) -> Error {
    const auto &header = elf.getHeader();
    walk.emplace(file, header.e_machine, header.e_type == ELF::ET_EXEC);
    auto segments = elf.program_headers();
    if (!segments)
      return segments.takeError();
    for (const auto &segment : *segments)
      if (segment.p_type == ELF::PT_GNU_EH_FRAME)
        frameTable = segment.p_vaddr;
      else if (segment.p_type == ELF::PT_INTERP || segment.p_type == ELF::PT_TLS)
        pages.add(segment.p_vaddr, segment.p_filesz);
    return Error::success();
  };
  if (Error problem = withElfFile(file.bytes, readHeaders))
    return problem;
  auto touch = [&](uint64_t address) { pages.add(address); };
  return loadProgram(file.bytes, file.segments, {touch, touch, [] {}});
}

Function Touches::enter(const Symbol &symbol) {
  Function found = {symbol.address, {{symbol.address, 1}}, {}};
  uint64_t size = symbol.size ? symbol.size : symbols.distanceToNext(symbol.address);
  if (size > codeLeft)
    return found;
  codeLeft -= size;
  if (!walk->knowsMachine()) {
    found.touches.push_back({symbol.address, size});
    return found;
  }
  auto run = [&](uint64_t address, uint64_t bytes) {
    if (auto &[begin, before] = found.touches.back(); before && begin + before == address)
      before += bytes;
    else
      found.touches.push_back({address, bytes});
  };
  auto referTo = [&](uint64_t address) {
    if (!file.segmentAt(address) || symbols.isInCode(address))
      return;
    found.touches.push_back({address, 0});
    if (const Symbol *datum = symbols.at(address))
      referred.insert(datum->address);
  };
  auto mayEnter = [&](uint64_t address) {
    if (entered.contains(address)) {
      found.calls.insert(address);
      return true;
    }
    const Symbol *callee = symbols.at(address);
    return !callee || !callee->isCode || !callee->size; // a stub of mold's has a name
  };
  walk->walk(symbol.address, size, {run, referTo, mayEnter});
  return found;
}

/// The string at the beginning of `bytes`; empty if unprintable characters show another constant.
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
    if (!strings.empty() && !text.empty() && !strings.contains(text))
      return;
  }
  pages.add(address);
}

/// Touched bytes of a datum that are far from each other are where code refers to, or in all of it
/// if they are many.
void Touches::use(const ProfileEntry &entry, ArrayRef<Symbol> places) {
  // Several data of files that the profile does not tell apart may have the name.
  SmallVector<Symbol, 1> fitting, known;
  copy_if(places, std::back_inserter(fitting), [&](const Symbol &symbol) {
    return entry.bytes <= alignTo(symbol.size, FRONTLOAD_GRANULE);
  });
  copy_if(fitting, std::back_inserter(known), [&](const Symbol &symbol) {
    // All of it was touched, but for what aligns it: the size tells it from others.
    bool isWhole = entry.bytes * 16 >= symbol.size * 15;
    return fitting.size() == 1 || isWhole || referred.contains(symbol.address);
  });
  ArrayRef<Symbol> meant = known.empty() ? fitting : known;
  for (const Symbol &symbol : meant) {
    FileRange touched = {symbol.address, symbol.address + std::max<uint64_t>(symbol.size, 1)};
    if (entry.stretch)
      touched = {symbol.address + entry.stretch->begin, symbol.address + entry.stretch->end};
    bool isDense = touched.size() <= 2 * listedPage || entry.bytes * mostSparse >= touched.size();
    if (!known.empty() && (entry.stretch || isDense))
      pages.add(touched.begin, touched.size());
    else if (meant.size() <= mostNamesakes)
      guesses.push_back(
          {touched.size() * meant.size() / std::max<uint64_t>(entry.windows, 1), touched});
  }
}

/// Describes the frames that may be on the stack: the unwinder's, then that of the function that
/// was entered last of those that call the unwinder, then that of this function's last caller, and
/// so on.
void Touches::unwind(ArrayRef<Function> before) {
  uint64_t address = before.back().address;
  describe(address, /*ifHandles=*/false);
  for (const Function &function : reverse(before.drop_back()))
    if (function.calls.contains(address))
      describe(address = function.address, /*ifHandles=*/false);
}

/// Adds what unwinding through a function reads; with `ifHandles`, only if the function has
/// handlers. Find_FDE of libgcc's unwind-dw2-fde-dip.c is a binary search in the table of
/// .eh_frame_hdr, as linkers write it (offsets of four bytes from the header). The search leads to
/// the description of the frame (FDE), which refers to a shared description (CIE) and to the
/// function's handlers (LSDA).
void Touches::describe(uint64_t function, bool ifHandles) {
  using support::endian::read32le;
  constexpr uint32_t usual = 0x3b031b01; // the version, and the encodings of its numbers
  constexpr uint64_t head = 12, row = 8, description = 24, handlers = 17, encoding = 23, most = 64;
  SmallVector<std::pair<uint64_t, uint64_t>, 32> read;
  auto number = [&](uint64_t address) -> uint64_t {
    read.push_back({address, 4});
    StringRef bytes = file.at(address);
    return bytes.size() < 4 ? 0 : uint64_t(int64_t(int32_t(read32le(bytes.data()))));
  };
  if (!frameTable || uint32_t(number(frameTable)) != usual)
    return;
  auto rowAt = [&](uint64_t index) { return frameTable + head + index * row; };
  uint64_t low = 0, high = uint32_t(number(frameTable + 8));
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (frameTable + number(rowAt(middle)) <= function ? low : high) = middle;
  }
  const uint64_t frame = frameTable + number(rowAt(low) + 4);
  const uint64_t shared = frame + 4 - number(frame + 4);
  read.append({{frame, description}, {shared, description}});
  const StringRef bytes = file.at(shared).take_front(encoding + 1);
  const uint64_t place = bytes.substr(9).starts_with("zPLR") ? number(frame + handlers) : 0;
  if (place && bytes.size() > encoding)
    read.push_back(
        {place + (bytes[encoding] & dwarf::DW_EH_PE_pcrel ? frame + handlers : 0), most});
  else if (ifHandles)
    return;
  for (auto [address, size] : read)
    pages.add(address, size);
}

/// Adds pages that may not be touched last, those that cost least for a fault first, within a
/// limit.
void Touches::addGuesses() {
  llvm::stable_sort(guesses, llvm::less_first());
  const uint64_t most = pages.count() + pages.count() / mostGuessed;
  for (const auto &[cost, touched] : guesses)
    if (cost <= mostForFault && pages.count() + touched.size() / listedPage < most)
      pages.add(touched.begin, touched.size());
}

Expected<StartupPages> startupPages(StringRef program, MemoryBufferRef symbols,
                                    const StartupProfile &profile) {
  auto segments = readSegments(program);
  if (!segments)
    return segments.takeError();
  return Touches({program, std::move(*segments)}, symbols, profile).find();
}

void printStartupPages(StringRef path, const StartupPages &pages) {
  json::OStream out(outs());
  out.object([&] {
    out.attribute("schema", "frontload-pages/1");
    out.attribute("binary", json::fixUTF8(path));
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
