//===- name_table.cpp - looks the names of a link up in a profile ----------===//

#include "names/name_table.h"
#include "names/constructors.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

/// How many entries of a name or stem are kept, and as many of each file. Local variables of many
/// functions share a stem (`count.0`, `count.1`), and all of them with all of the link's would be
/// too many.
static constexpr size_t mostOfForm = 128;

void NameTable::Index::add(CachedHashStringRef form, const Wanted &wanted, StringRef file) {
  auto addTo = [&](Forms &forms) {
    if (forms.size() < mostOfForm)
      forms.push_back(wanted);
  };
  addTo(all[form]);
  if (!file.empty())
    addTo(ofFile[{form, CachedHashStringRef(file)}]);
}

NameTable::NameTable(const StartupProfile &p) : profile(p) {
  for (auto [i, entry] : enumerate(p.entries)) {
    if (entry.kind != EntryKind::Function && entry.kind != EntryKind::Data)
      continue;
    NameParts parts = takeApart(entry.name);
    HashedName stem(parts.stem);
    auto number = uint32_t(i);
    byName.add(hashName(entry.name), {number, parts, Likeness::Exact}, entry.file);
    byStem.add(stem.whole(), {number, parts, Likeness::Suffix}, entry.file);
    heads.add(stem.hashOfHead());
    if (parts.stem != entry.name)
      otherStems.add(stem.whole().hash());
    for (const std::string &variant : otherVariants(parts.stem)) {
      HashedName other(saver.save(StringRef(variant)));
      byStem.add(other.whole(), {number, parts, Likeness::Variant}, entry.file);
      heads.add(other.hashOfHead());
      otherStems.add(other.whole().hash());
    }
    if (isRustV0(parts.stem)) {
      StringRef path = saver.save(StringRef(withoutCrateHashes(parts.stem)));
      byRustPath.add(hashName(path), {number, parts, Likeness::Hash}, entry.file);
    }
  }
}

template <class F>
void NameTable::forEach(const Index &index, CachedHashStringRef form,
                        ArrayRef<CachedHashStringRef> files, F f) const {
  auto isOfThese = [&](const Wanted &wanted) {
    return llvm::any_of(files, [&](CachedHashStringRef file) {
      return file.val() == profile.entries[wanted.entry].file;
    });
  };
  auto all = index.all.find(form);
  if (all == index.all.end())
    return;
  for (CachedHashStringRef file : files)
    if (auto it = index.ofFile.find({form, file}); it != index.ofFile.end())
      llvm::for_each(it->second, f);
  for (const Wanted &wanted : all->second)
    if (profile.entries[wanted.entry].file.empty() || !isOfThese(wanted))
      f(wanted);
}

void NameTable::findThorough(const HashedName &hashed, ArrayRef<CachedHashStringRef> files,
                             Visit visit) const {
  StringRef name = hashed.text();
  NameParts parts = takeApart(name);
  auto visitOther = [&](const Wanted &wanted) {
    if (profile.entries[wanted.entry].name != name)
      if (std::optional<Likeness> likeness = compare(wanted.parts, parts))
        visit(wanted.entry, std::max(*likeness, wanted.least));
  };
  if (heads.mayContain(hashed.hashOfHead())) {
    CachedHashStringRef whole = hashed.whole();
    CachedHashStringRef stem = hashed.isPlain() ? whole : hashName(parts.stem);
    forEach(byName, whole, files,
            [&](const Wanted &wanted) { visit(wanted.entry, Likeness::Exact); });
    // Most that are found at all are found exactly.
    if (!hashed.isPlain() || otherStems.mayContain(stem.hash()))
      forEach(byStem, stem, files, visitOther);
  }
  if (!byRustPath.all.empty() && isRustV0(name))
    forEach(byRustPath, hashName(withoutCrateHashes(parts.stem)), files, [&](const Wanted &wanted) {
      if (wanted.parts.stem != parts.stem)
        visitOther(wanted);
    });
}

} // namespace frontload
