// The view of an input object that planning needs.
//
// Planning a front asks few questions of an input object: which sections are there, in which
// section does a symbol lie, and what do a section's relocations refer to. This is a thin view over
// LLVM's ELFFile, for all four ELF kinds, that answers them without allocating. A malformed object
// is left to the linker, which reports it better.
#pragma once

#include "elf/elf_file.h"
#include "elf/implicit_addend.h"
#include "elf/section_class.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>
#include <type_traits>

namespace frontload {

template <class ELFT> class ElfObject {
public:
  using Shdr = typename ELFT::Shdr;
  using Sym = typename ELFT::Sym;

  /// Opens the object in `bytes`, or nothing if it is not a well-formed relocatable object, or, if
  /// `isLinked`, program or shared library.
  static std::optional<ElfObject> open(llvm::StringRef bytes, bool isLinked = false) {
    auto take = [](auto value, auto &to) {
      if (value)
        to = *value;
      return !llvm::errorToBool(value.takeError());
    };
    std::optional<llvm::object::ELFFile<ELFT>> file;
    llvm::ArrayRef<Shdr> sections;
    if (!take(llvm::object::ELFFile<ELFT>::create(bytes), file) ||
        (file->getHeader().e_type == llvm::ELF::ET_REL) == isLinked ||
        !take(file->sections(), sections))
      return std::nullopt;
    ElfObject object(*file, sections);
    object.isLinkedFile = isLinked;
    if (!take(file->getSectionStringTable(sections), object.sectionNames))
      return std::nullopt;
    // The symbol table is among the last sections, and an object has thousands of others.
    for (const Shdr &section : llvm::reverse(sections)) {
      if (section.sh_type == llvm::ELF::SHT_SYMTAB_SHNDX &&
          !take(file->getSHNDXTable(section, sections), object.shndx))
        return std::nullopt;
      if (section.sh_type != llvm::ELF::SHT_SYMTAB)
        continue;
      if (!take(file->symbols(&section), object.syms) ||
          !take(file->getStringTableForSymtab(section, sections), object.symbolNames))
        return std::nullopt;
      // Only the section that extends this table may remain, if there are many sections.
      if (!object.shndx.empty() || sections.size() < llvm::ELF::SHN_LORESERVE)
        break;
    }
    return object;
  }

  llvm::ArrayRef<Shdr> sections() const { return sectionTable; }
  llvm::ArrayRef<Sym> symbols() const { return syms; }

  /// The name of a section; empty where the offset is bad.
  llvm::StringRef name(const Shdr &section) const { return at(sectionNames, section.sh_name); }
  llvm::StringRef name(const Sym &symbol) const { return at(symbolNames, symbol.st_name); }
  /// The beginning of a name, without a search for its end: it may have more bytes.
  llvm::StringRef nameBegin(const Shdr &section) const {
    return sectionNames.substr(section.sh_name, 8);
  }
  llvm::StringRef nameBegin(const Sym &symbol) const {
    return symbolNames.substr(symbol.st_name, 8);
  }

  /// The index of the section that `symbol` is defined in, 0 if it is in none.
  uint32_t sectionOf(const Sym &symbol) const {
    uint32_t index = symbol.st_shndx;
    if (index == llvm::ELF::SHN_XINDEX) {
      size_t position = &symbol - syms.data();
      index = position < shndx.size() ? uint32_t(shndx[position]) : 0;
    } else if (index >= llvm::ELF::SHN_LORESERVE) {
      return 0;
    }
    return index < sectionTable.size() ? index : 0;
  }

  /// Says that a section is not to be moved: classify() then has no class for it.
  void keepPlace(uint32_t section) { kept.insert(section); }
  bool keepsPlace(uint32_t section) const { return kept.contains(section); }

  std::optional<SectionClass> classify(const Shdr &section) const {
    if (!kept.empty() && keepsPlace(uint32_t(&section - sectionTable.data())))
      return std::nullopt;
    return isLinkedFile ? classifyLinkedSection(section.sh_type, section.sh_flags)
                        : classifySection(name(section), section.sh_type, section.sh_flags);
  }

  static bool isRelocations(const Shdr &section) {
    return section.sh_type == llvm::ELF::SHT_RELA || section.sh_type == llvm::ELF::SHT_REL ||
           section.sh_type == llvm::ELF::SHT_CREL;
  }

  /// The tables of a section's relocations. Compilers write one. Tools that edit objects (objcopy,
  /// ld -r) may put several there, of several kinds, and anywhere in the object.
  using Tables = llvm::ArrayRef<const Shdr *>;

  /// Calls `visit(tables, rank)` for each section in `origins` that has relocations. `origins` is a
  /// list of pairs of a rank and a section index. Not for several threads at a time.
  template <class Visit>
  void forEachRelocationsOf(llvm::ArrayRef<std::pair<uint32_t, uint32_t>> origins,
                            Visit visit) const {
    if (hasUsualTables()) {
      for (auto [rank, section] : origins)
        if (size_t next = size_t(section) + 1;
            next < sectionTable.size() && isRelocations(sectionTable[next]))
          visit(Tables({&sectionTable[next]}), rank);
      return;
    }
    llvm::DenseMap<uint32_t, llvm::SmallVector<const Shdr *, 1>> tables;
    for (const Shdr &section : sectionTable)
      if (isRelocations(section) && section.sh_info < sectionTable.size())
        tables[section.sh_info].push_back(&section);
    for (auto [rank, section] : origins)
      if (auto it = tables.find(section); it != tables.end())
        visit(Tables(it->second), rank);
  }

  /// The contents of a section; empty if they lie outside of the file.
  llvm::StringRef contents(const Shdr &section) const {
    return llvm::toStringRef(orEmpty(file.getSectionContents(section)));
  }

  /// Calls `visit(signature, members)` for each COMDAT group, `members` being the indices of its
  /// sections: of the groups of one signature, a link keeps one.
  template <class Visit> void forEachGroup(Visit visit) const {
    for (const Shdr &section : sectionTable) {
      if (section.sh_type != llvm::ELF::SHT_GROUP || section.sh_info >= syms.size())
        continue;
      auto words = orEmpty(file.template getSectionContentsAsArray<typename ELFT::Word>(section));
      if (!words.empty() && (words.front() & llvm::ELF::GRP_COMDAT))
        visit(name(syms[section.sh_info]), words.drop_front());
    }
  }

  /// Whether the object lists the symbols whose addresses matter (.llvm_addrsig). A list that is
  /// not linked to the symbol table has passed through a tool that does not know it, and is void.
  bool listsSignificantSymbols() const {
    return llvm::any_of(sectionTable, [](const Shdr &section) {
      return section.sh_type == llvm::ELF::SHT_LLVM_ADDRSIG && section.sh_link;
    });
  }

  /// Calls `visit` with each relocation in `tables`, as LLVM's Rela, Rel or Crel.
  template <class Visit> void forEachRelocation(Tables tables, Visit visit) const {
    for (const Shdr *table : tables)
      if (table->sh_type == llvm::ELF::SHT_RELA)
        llvm::for_each(orEmpty(file.relas(*table)), visit);
      else if (table->sh_type == llvm::ELF::SHT_REL)
        llvm::for_each(orEmpty(file.rels(*table)), visit);
      else // LLVM's crels() allocates the number in a header, which may be wrong in a damaged file.
        llvm::consumeError(llvm::object::decodeCrel<ELFT::Is64Bits>(
            llvm::arrayRefFromStringRef(contents(*table)), [](uint64_t, bool) {},
            [&](typename ELFT::Crel relocation) { visit(relocation); }));
  }

  /// Calls `visit(index, addend)` for each symbol that the relocations in `tables` refer to, by its
  /// index.
  template <class Visit> void forEachTarget(Tables tables, Visit visit) const {
    bool isMips64EL = file.isMips64EL();
    for (const Shdr *table : tables) {
      llvm::StringRef relocated; // the section that contains implicit addends
      if (table->sh_type == llvm::ELF::SHT_REL && table->sh_info < sectionTable.size())
        relocated = contents(sectionTable[table->sh_info]);
      forEachRelocation(table, [&]<class Entry>(const Entry &entry) {
        uint32_t index = entry.getSymbol(isMips64EL);
        if (!index || index >= syms.size())
          return;
        if constexpr (std::is_same_v<Entry, typename ELFT::Rel>)
          visit(index, readImplicitAddend(file.getHeader().e_machine, entry.getType(isMips64EL),
                                          relocated.substr(entry.r_offset), ELFT::Endianness));
        else
          visit(index, int64_t(entry.r_addend));
      });
    }
  }

private:
  ElfObject(const llvm::object::ELFFile<ELFT> &f, llvm::ArrayRef<Shdr> s)
      : file(f), sectionTable(s) {}

  /// Whether each table is right behind its section, as compilers write them. Looked at once: a
  /// link asks for the relocations of large objects many times.
  bool hasUsualTables() const {
    if (!isUsual)
      isUsual = llvm::all_of(llvm::enumerate(sectionTable), [](const auto &each) {
        return !isRelocations(each.value()) || size_t(each.value().sh_info) + 1 == each.index();
      });
    return *isUsual;
  }

  static llvm::StringRef at(llvm::StringRef table, uint32_t offset) {
    // LLVM has checked that the table ends in a zero byte.
    return offset < table.size() ? llvm::StringRef(table.data() + offset) : llvm::StringRef();
  }

  llvm::object::ELFFile<ELFT> file;
  llvm::ArrayRef<Shdr> sectionTable;
  llvm::ArrayRef<Sym> syms;
  llvm::ArrayRef<typename ELFT::Word> shndx;
  llvm::StringRef sectionNames;
  llvm::StringRef symbolNames;
  bool isLinkedFile = false;
  mutable std::optional<bool> isUsual; ///< hasUsualTables()
  llvm::SmallDenseSet<uint32_t> kept;
};

/// Calls `f` with the object in `bytes`, of any kind, if ElfObject::open() accepts it. Returns
/// whether it does.
template <class F> bool withElfObject(llvm::StringRef bytes, bool isLinked, F f) {
  bool isOpen = false;
  withElfType(bytes, [&]<class ELFT>() {
    if (auto object = ElfObject<ELFT>::open(bytes, isLinked)) {
      isOpen = true;
      f(*object);
    }
  });
  return isOpen;
}

} // namespace frontload
