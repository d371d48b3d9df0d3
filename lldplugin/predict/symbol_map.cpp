//===- symbol_map.cpp - finds what a trace touched in another build --------===//

#include "symbol_map.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

Expected<std::vector<SymbolMap::Symbol>> SymbolMap::read(const ELFObjectFileBase &file) {
  std::vector<Symbol> symbols;
  StringRef source;
  for (const ELFSymbolRef &symbol : file.symbols()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    auto flags = symbol.getFlags();
    if (!name || !address || !flags)
      return joinErrors(joinErrors(name.takeError(), address.takeError()), flags.takeError());
    if (symbol.getELFType() == ELF::STT_FILE)
      source = *name;
    bool isPlace = symbol.getELFType() == ELF::STT_FUNC || symbol.getELFType() == ELF::STT_OBJECT;
    if (isPlace && !(*flags & SymbolRef::SF_Undefined) && symbol.getSize())
      symbols.push_back({*address,
                         symbol.getSize(),
                         {symbol.getBinding() == ELF::STB_LOCAL ? source : StringRef(), *name}});
  }
  if (symbols.empty())
    return createStringError(file.getFileName() + ": has no symbols to find the touched ones by");
  return symbols;
}

Expected<SymbolMap> SymbolMap::create(const ELFObjectFileBase &recordedFile,
                                      const ELFObjectFileBase &targetFile) {
  SymbolMap map;
  auto symbols = read(recordedFile);
  if (!symbols)
    return symbols.takeError();
  map.recorded = std::move(*symbols);
  stable_sort(map.recorded, [](const Symbol &a, const Symbol &b) { return a.address < b.address; });
  symbols = read(targetFile);
  if (!symbols)
    return symbols.takeError();
  for (const Symbol &symbol : *symbols)
    map.target.try_emplace(symbol.name, symbol);
  return map;
}

std::optional<uint64_t> SymbolMap::find(uint64_t address) const {
  auto next = partition_point(recorded, [&](const Symbol &s) { return s.address <= address; });
  if (next == recorded.begin())
    return std::nullopt;
  const Symbol &symbol = *std::prev(next);
  auto found = target.find(symbol.name);
  if (found == target.end())
    return std::nullopt;
  uint64_t offset = address - symbol.address, place = found->second.address;
  if (offset < symbol.size)
    return offset < found->second.size ? std::optional(place + offset) : std::nullopt;
  // What no symbol names is between the same two symbols as far apart, or was moved away.
  if (next == recorded.end())
    return std::nullopt;
  auto after = target.find(next->name);
  if (after == target.end() || after->second.address - place != next->address - symbol.address)
    return std::nullopt;
  return place + offset;
}

} // namespace frontload
