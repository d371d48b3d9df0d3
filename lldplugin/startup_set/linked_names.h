// Which sections of its inputs a linker has taken.
//
// A linker drops copies of inline functions, and takes few of the members of an archive. It tells
// of its sections only by their names, whose addresses say which object has them.
#pragma once

#include "elf/elf_object.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <utility>
#include <vector>

namespace frontload {

/// The name of a section, in its object, and its number among the names of a link.
using NumberedName = std::pair<const char *, uint32_t>;
/// The names of each object.
using NamesByObject = std::vector<std::vector<NumberedName>>;

/// The names that lie in each of the objects. Names that lie in none of them are left out.
NamesByObject namesByObject(llvm::ArrayRef<llvm::StringRef> objects,
                            llvm::ArrayRef<const char *> names);

/// Calls `visit` with the index of each section that has one of the names, and with the number of
/// the name, in the order of the section table.
template <class ELFT>
void forEachNamed(const ElfObject<ELFT> &object, llvm::ArrayRef<NumberedName> names,
                  llvm::function_ref<void(uint32_t, uint32_t)> visit);

} // namespace frontload
