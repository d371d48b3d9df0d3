// Goes through the sections that are symbol tables, in a time that the size of the file bounds.
#include "symbols.h"

using namespace llvm;
using namespace llvm::object;
using namespace frontload;

using Elf = ELF64LE;

Expected<StringRef> SymbolNames::of(const Elf::Sym &symbol) {
  if (symbol.st_name >= table.size())
    return createStringError("a symbol's name is outside of its string table");
  StringRef name = table.substr(symbol.st_name, left.count()).split('\0').first;
  if (!left.take(name.size() + 1))
    return createStringError("its symbols' names are in the same place");
  return name;
}

Error frontload::visitSymbols(const ELFFile<Elf> &elf, unsigned tableType,
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
