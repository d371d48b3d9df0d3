// Goes through the sections that are symbol tables.
#include "symbols.h"

using namespace llvm;
using namespace llvm::object;

using Elf = ELF64LE;

Error frontload::visitSymbols(const ELFFile<Elf> &elf, unsigned tableType,
                              function_ref<Error(const Elf::Sym &, StringRef)> visit) {
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  for (const Elf::Shdr &section : *sections) {
    if (section.sh_type != tableType)
      continue;
    auto symbols = elf.symbols(&section);
    if (!symbols)
      return symbols.takeError();
    auto names = elf.getStringTableForSymtab(section, *sections);
    if (!names)
      return names.takeError();
    for (const Elf::Sym &symbol : *symbols)
      if (Error error = visit(symbol, *names))
        return error;
  }
  return Error::success();
}
