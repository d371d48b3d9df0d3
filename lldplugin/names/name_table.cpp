//===- name_table.cpp - looks the names of a link up in a profile ----------===//

#include "name_table.h"
#include <utility>

using namespace llvm;

namespace frontload {

static constexpr uint32_t none = ~0u;

/// How many entries of a stem are looked at for names that are none of theirs exactly. Local
/// variables of many functions share a stem (`count.0`, `count.1`), and all of them with all of the
/// link's would be too many.
static constexpr size_t mostOfStem = 32;

NameTable::NameTable(const StartupProfile &p) : profile(p), sameName(p.entries.size(), none) {
  lastEntry.reserve(p.entries.size());
  byStem.reserve(p.entries.size());
  for (uint32_t i = 0; i < p.entries.size(); ++i) {
    const ProfileEntry &entry = p.entries[i];
    if (entry.kind != EntryKind::Function && entry.kind != EntryKind::Data)
      continue;
    auto [it, isNew] = lastEntry.try_emplace(CachedHashStringRef(entry.name), i);
    if (!isNew)
      sameName[i] = std::exchange(it->second, i);
    NameParts parts = takeApart(entry.name);
    want(parts.stem, {i, parts, false});
    if (parts.stem != entry.name)
      otherStems.add(CachedHashStringRef(parts.stem));
    for (const std::string &other : otherVariants(parts.stem)) {
      want(saver.save(StringRef(other)), {i, parts, true});
      otherStems.add(CachedHashStringRef(other));
    }
    if (isRustV0(parts.stem))
      if (std::string path = withoutCrateHashes(parts.stem); !path.empty())
        if (auto &all = byPath[CachedHashStringRef(saver.save(StringRef(path)))];
            all.size() < mostOfStem)
          all.push_back({i, parts, false});
  }
}

void NameTable::want(StringRef stem, const Wanted &wanted) {
  CachedHashStringRef key(stem);
  stems.add(key);
  if (auto &all = byStem[key]; all.size() < mostOfStem)
    all.push_back(wanted);
}

void NameTable::find(StringRef name, function_ref<void(uint32_t, Likeness)> visit) const {
  NameParts parts = takeApart(name);
  CachedHashStringRef stem(parts.stem);
  if (stems.mayContain(stem)) {
    if (auto it = lastEntry.find(CachedHashStringRef(name)); it != lastEntry.end())
      for (uint32_t entry = it->second; entry != none; entry = sameName[entry])
        visit(entry, Likeness::Exact);
    // Nearly all names are found exactly or not at all.
    bool mayBeOther = parts.stem.size() != name.size() || otherStems.mayContain(stem);
    if (auto it = mayBeOther ? byStem.find(stem) : byStem.end(); it != byStem.end())
      for (const Wanted &wanted : it->second)
        if (profile.entries[wanted.entry].name != name)
          if (std::optional<Likeness> likeness = compare(wanted.parts, parts))
            visit(wanted.entry,
                  wanted.isVariant ? std::max(*likeness, Likeness::Variant) : *likeness);
  }
  if (!byPath.empty() && isRustV0(parts.stem))
    if (auto it = byPath.find(CachedHashStringRef(withoutCrateHashes(parts.stem)));
        it != byPath.end())
      for (const Wanted &wanted : it->second)
        if (wanted.parts.stem != parts.stem)
          if (std::optional<Likeness> likeness = compare(wanted.parts, parts))
            visit(wanted.entry, std::max(*likeness, Likeness::Hash));
}

} // namespace frontload
