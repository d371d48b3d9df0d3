// Looks the names of a link up in a profile.
#include "names/name_table.h"
#include "names/mangled_names.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

/// At most this many entries of a name or stem are kept, and as many for each file. Local variables
/// of many functions share a stem (`count.0`, `count.1`), functions of many files a name, and
/// Rust's instances of a function all but a hash: matching all of them with all of the link's would
/// take too long.
static constexpr size_t maxOfForm = 128;

void NameTable::addTo(uint32_t &first, uint32_t entry, Likeness least) {
  size_t numEntries = 0;
  uint32_t *end = &first;
  for (; *end != none; end = &all[*end].next)
    ++numEntries;
  if (numEntries >= maxOfForm)
    return;
  *end = uint32_t(all.size());
  all.push_back({entry, none, least});
}

void NameTable::add(Index &index, uint32_t Form::*list, CachedHashStringRef text, uint32_t entry,
                    Likeness least) {
  addTo(index.forms[text].*list, entry, least);
  StringRef file = profile.entries[entry].file;
  if (file.empty())
    return;
  uint32_t number =
      fileNumbers.try_emplace(CachedHashStringRef(file), fileNumbers.size()).first->second;
  addTo(index.ofFile[{text, number}].*list, entry, least);
}

/// Bits of the filters for each entry: hardly any name passes by chance.
static constexpr size_t bitsOfEntry = 16;

NameTable::NameTable(const StartupProfile &p)
    : profile(p), heads(filterBits(p.entries.size(), bitsOfEntry, 1 << 19)),
      otherStems(filterBits(p.entries.size(), bitsOfEntry, 1 << 16)), stableHeads(1 << 16) {
  names.forms.reserve(p.entries.size());
  all.reserve(2 * p.entries.size());
  for (auto [i, entry] : enumerate(p.entries)) {
    if (entry.kind != EntryKind::Function && entry.kind != EntryKind::Data)
      continue;
    NameParts parts = takeApart(entry.name);
    HashedName stem(parts.stem);
    auto number = uint32_t(i);
    bool isStem = parts.stem == entry.name;
    add(names, &Form::byName, isStem ? stem.whole() : hashName(entry.name), number,
        Likeness::Exact);
    add(names, &Form::byStem, stem.whole(), number, Likeness::Suffix);
    heads.add(stem.hashOfHead());
    if (!isStem)
      otherStems.add(stem.whole().hash());
    for (const std::string &variant : otherVariants(parts.stem)) {
      HashedName other(saver.save(StringRef(variant)));
      add(names, &Form::byStem, other.whole(), number, Likeness::Variant);
      heads.add(other.hashOfHead());
      otherStems.add(other.whole().hash());
    }
  }
}

bool NameTable::prepareStable(function_ref<bool(uint32_t)> isSettled) {
  stable = Index();
  stableNames.clear();
  for (auto [i, entry] : enumerate(profile.entries)) {
    auto number = uint32_t(i);
    bool isSymbol = entry.kind == EntryKind::Function || entry.kind == EntryKind::Data;
    if (!isSymbol || isSettled(number))
      continue;
    StringRef stem = takeApart(entry.name).stem;
    addStable(stem, number);
    for (const std::string &variant : otherVariants(stem))
      addStable(variant, number);
  }
  llvm::sort(stableNames);
  return !stableNames.empty();
}

void NameTable::addStable(StringRef stem, uint32_t entry) {
  HashedName name(saver.save(StringRef(stableName(stem))));
  add(stable, &Form::byStem, name.whole(), entry, isRustV0(stem) ? Likeness::Hash : Likeness::Tag);
  stableNames.push_back(name.text());
  if (name.text() == stem)
    return;
  stableHeads.add(name.hashOfHead());
  hasChanging = true;
}

bool NameTable::mayBeStable(StringRef name) const {
  size_t size = stableBeginning(name);
  if (size == StringRef::npos)
    return hasChanging && stableHeads.mayContain(HashedName(name).hashOfHead());
  auto found = llvm::lower_bound(stableNames, name.take_front(size));
  return found != stableNames.end() && found->starts_with(name.take_front(size));
}

void NameTable::findStable(StringRef name, ArrayRef<CachedHashStringRef> files, Visit visit) const {
  if (!mayBeStable(name))
    return;
  NameParts parts = takeApart(name);
  forEach(stable, &Form::byStem, hashName(stableName(parts.stem)), files,
          [&](const Wanted &wanted, bool isOfFile) {
            if (takeApart(profile.entries[wanted.entry].name).stem != parts.stem)
              visitAlike(wanted, isOfFile, name, parts, visit);
          });
}

template <class F>
void NameTable::forEach(const Index &index, uint32_t Form::*list, CachedHashStringRef text,
                        ArrayRef<CachedHashStringRef> files, F f) const {
  auto form = index.forms.find(text);
  if (form == index.forms.end())
    return;
  auto visitAll = [&](const Form &of, auto visit) {
    for (uint32_t i = of.*list; i != none; i = all[i].next)
      visit(all[i]);
  };
  if (!index.ofFile.empty())
    for (CachedHashStringRef file : files)
      if (auto number = fileNumbers.find(file); number != fileNumbers.end())
        visitAll(index.ofFile.lookup({text, number->second}),
                 [&](const Wanted &each) { f(each, /*isOfFile=*/true); });
  visitAll(form->second, [&](const Wanted &each) {
    StringRef file = profile.entries[each.entry].file;
    if (file.empty() || llvm::none_of(files, [&](auto other) { return other.val() == file; }))
      f(each, /*isOfFile=*/false);
  });
}

void NameTable::visitAlike(const Wanted &wanted, bool isOfFile, StringRef name,
                           const NameParts &parts, Visit visit) const {
  StringRef other = profile.entries[wanted.entry].name;
  // clang -fsanitize=cfi: `f` is an entry of a jump table, and what was `f` is called `f.cfi`.
  if (name.starts_with(other) && name.drop_front(other.size()) == ".cfi")
    return visit({wanted.entry, Likeness::Exact, isOfFile});
  if (other != name)
    if (std::optional<Likeness> likeness = compare(takeApart(other), parts))
      visit({wanted.entry, std::max(*likeness, wanted.least), isOfFile});
}

void NameTable::findThorough(const HashedName &hashed, ArrayRef<CachedHashStringRef> files,
                             Visit visit) const {
  StringRef name = hashed.text();
  NameParts parts = takeApart(name);
  CachedHashStringRef whole = hashed.whole();
  CachedHashStringRef stem = hashed.isPlain() ? whole : hashName(parts.stem);
  forEach(names, &Form::byName, whole, files, [&](const Wanted &wanted, bool isOfFile) {
    visit({wanted.entry, Likeness::Exact, isOfFile});
  });
  // Most names that are found at all are found exactly.
  if (!hashed.isPlain() || otherStems.mayContain(stem.hash()))
    forEach(names, &Form::byStem, stem, files, [&](const Wanted &wanted, bool isOfFile) {
      visitAlike(wanted, isOfFile, name, parts, visit);
    });
}

} // namespace frontload
