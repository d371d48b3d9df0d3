// Finds touches of a trace in another build.
#include "predict/symbol_map.h"
#include "elf/elf_object.h"
#include "frontload_trace.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

Expected<std::vector<SymbolMap::Symbol>> SymbolMap::read(const ELFObjectFileBase &file) {
  std::vector<Symbol> symbols;
  DenseMap<std::pair<StringRef, StringRef>, unsigned> counts;
  // LLVM's own iterator does not end in a table whose size is damaged.
  withElfObject(file.getData(), /*isLinked=*/true, [&](const auto &object) {
    StringRef source;
    for (const auto &symbol : object.symbols()) {
      StringRef name = object.name(symbol);
      if (symbol.getType() == ELF::STT_FILE)
        source = name;
      bool isCode = symbol.getType() == ELF::STT_FUNC;
      bool isPlace = isCode || symbol.getType() == ELF::STT_OBJECT;
      if (!isPlace || symbol.st_shndx == ELF::SHN_UNDEF || !symbol.st_size)
        continue;
      StringRef of = symbol.getBinding() == ELF::STB_LOCAL ? source : StringRef();
      symbols.push_back(
          {symbol.st_value, symbol.st_size, isCode, {of, name, counts[{of, name}]++}});
    }
  });
  if (symbols.empty())
    return createStringError(file.getFileName() +
                             ": has no symbols by which to find what was touched");
  return symbols;
}

/// The sections that a linker has made, or whose order it has to keep, so that an offset in them
/// means the same in both builds.
MapVector<StringRef, SymbolMap::Section> SymbolMap::orderedSections(const ELFObjectFileBase &file) {
  MapVector<StringRef, Section> sections;
  for (ELFSectionRef section : file.sections()) {
    StringRef name = orEmpty(section.getName());
    bool isMoved = any_of(
        ArrayRef<StringRef>{".text", ".rodata", ".data", ".bss", ".tdata", ".tbss", ".eh_frame"},
        [&](StringRef moved) { return name.starts_with(moved); });
    if ((section.getFlags() & ELF::SHF_ALLOC) && !isMoved)
      sections.try_emplace(name, Section{section.getAddress(), section.getSize()});
  }
  return sections;
}

/// A file by its addresses; without segments if they cannot be read, so that nothing is found in
/// it.
static LinkedFile linkedFile(const ELFObjectFileBase &file) {
  return {file.getData(), orEmpty(readSegments(file.getData()))};
}

Expected<SymbolMap> SymbolMap::create(const Build &recordedBuild, const Build &targetBuild) {
  const ELFObjectFileBase &recordedFile = recordedBuild.file, &targetFile = targetBuild.file;
  SymbolMap map(linkedFile(recordedFile), linkedFile(targetFile));
  auto symbols = read(recordedBuild.symbols);
  if (!symbols)
    return symbols.takeError();
  map.recorded = std::move(*symbols);
  stable_sort(map.recorded, [](const Symbol &a, const Symbol &b) { return a.address < b.address; });
  symbols = read(targetBuild.symbols);
  if (!symbols)
    return symbols.takeError();
  for (const Symbol &symbol : *symbols)
    map.target.try_emplace(symbol.name, symbol);
  MapVector<StringRef, Section> inTarget = orderedSections(targetFile);
  for (const auto &[name, section] : orderedSections(recordedFile))
    if (auto found = inTarget.find(name); found != inTarget.end())
      map.sections.push_back({section, found->second});
  auto blocksOf = [](const Build &build) {
    return orEmpty(readBlockMap(build.symbols.getMemoryBufferRef()));
  };
  if (std::vector<FunctionBlocks> inBoth = blocksOf(recordedBuild); !inBoth.empty())
    map.blocks = BlockPairs(inBoth, blocksOf(targetBuild), [&](uint64_t address) {
      auto symbol = map.symbolAt(address);
      const Symbol *other = symbol != map.recorded.end() && symbol->address == address
                                ? map.inTarget(*symbol)
                                : nullptr;
      return other ? std::optional(other->address) : std::nullopt;
    });
  map.isX86 = recordedFile.getEMachine() == ELF::EM_X86_64;
  map.pairPointers();
  return map;
}

/// Pointers at the same offset of the same datum refer to the same thing.
void SymbolMap::pairPointers() {
  DenseMap<uint64_t, uint64_t> inTarget = pointersIn(targetImage);
  for (auto [place, address] : pointersIn(recordedImage)) {
    std::optional<uint64_t> other = findByName(place);
    if (!other || findByName(address))
      continue;
    if (auto found = inTarget.find(*other); found != inTarget.end())
      fromPointers.push_back({address, found->second});
  }
  sortAndVote(fromPointers);
  references = fromPointers;
}

void SymbolMap::learn(ArrayRef<uint64_t> touched) {
  references = fromPointers;
  if (!isX86)
    return;
  std::vector<const Symbol *> functions;
  for (uint64_t address : touched)
    if (auto symbol = symbolAt(address); symbol != recorded.end() && symbol->isCode)
      functions.push_back(&*symbol);
  llvm::sort(functions);
  functions.erase(llvm::unique(functions), functions.end());
  std::vector<AddressPair> found;
  uint64_t end = 0;
  for (const Symbol *symbol : functions) {
    const Symbol *other = inTarget(*symbol);
    // Each byte of code once, whatever a hostile file says where functions end.
    if (!other || symbol->address < end)
      continue;
    end = symbol->address +
          std::min<uint64_t>(symbol->size, recordedImage.at(symbol->address).size());
    if (other->size == symbol->size) {
      pairReferences(recordedImage, targetImage, {symbol->address, other->address}, symbol->size,
                     found);
      continue;
    }
    // A function that was split has another size, and its blocks lie in different places.
    uint64_t done = symbol->address;
    blocks.forEachIn(symbol->address, end, [&](uint64_t one, uint64_t another, uint64_t size) {
      if (one >= done)
        pairReferences(recordedImage, targetImage, {one, another}, size, found);
      done = std::max(done, one + size);
    });
    end = std::max(end, done);
  }
  for (const AddressPair &pair : found)
    if (!findByName(pair.recorded))
      references.push_back(pair);
  sortAndVote(references);
}

std::vector<SymbolMap::Symbol>::const_iterator SymbolMap::symbolAt(uint64_t address) const {
  auto next = partition_point(recorded, [&](const Symbol &s) { return s.address <= address; });
  return next == recorded.begin() ? recorded.end() : std::prev(next);
}

const SymbolMap::Symbol *SymbolMap::inTarget(const Symbol &symbol) const {
  auto found = target.find(symbol.name);
  return found == target.end() ? nullptr : &found->second;
}

std::optional<uint64_t> SymbolMap::find(uint64_t address) const {
  for (auto by : {&SymbolMap::findByBlock, &SymbolMap::findByName, &SymbolMap::findByReference,
                  &SymbolMap::findBySection})
    if (std::optional<uint64_t> place = (this->*by)(address))
      return place;
  return std::nullopt;
}

std::optional<uint64_t> SymbolMap::findByName(uint64_t address) const {
  auto symbol = symbolAt(address);
  if (symbol == recorded.end())
    return std::nullopt;
  const Symbol *other = inTarget(*symbol);
  uint64_t offset = address - symbol->address;
  if (!other || offset >= symbol->size || offset >= other->size)
    return std::nullopt;
  return other->address + offset;
}

/// A literal is found by the reference to its beginning, if it reaches to `address`. If it does
/// not, the next literal was touched: a trace records granules, which may have several strings.
std::optional<uint64_t> SymbolMap::findByReference(uint64_t address) const {
  auto symbol = symbolAt(address);
  uint64_t named = symbol == recorded.end() ? 0 : symbol->address + symbol->size;
  if (named > address)
    return std::nullopt;
  auto next = partition_point(references,
                              [&](const AddressPair &pair) { return pair.recorded <= address; });
  bool isNextTouched = next != references.end() && next->recorded - address < FRONTLOAD_GRANULE;
  if (next != references.begin() && std::prev(next)->recorded >= named) {
    auto [one, other] = *std::prev(next);
    uint64_t offset = address - one;
    StringRef bytes = recordedImage.at(one), others = targetImage.at(other);
    bool reaches = bytes.size() > offset && others.size() > offset;
    bool isSame = reaches && bytes.take_front(offset + 1) == others.take_front(offset + 1);
    bool isSameString = isSame && !bytes.take_front(offset).contains('\0');
    if (isSameString || (!isNextTouched && isSame))
      return other + offset;
  }
  return isNextTouched ? std::optional(next->target) : std::nullopt;
}

std::optional<uint64_t> SymbolMap::findBySection(uint64_t address) const {
  for (const auto &[one, other] : sections)
    if (address - one.address < one.size && address - one.address < other.size)
      return other.address + (address - one.address);
  return std::nullopt;
}

} // namespace frontload
