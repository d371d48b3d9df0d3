//===- section_list.cpp - lld's list of all sections, made short -----------===//

#include "lld/section_list.h"
#include "lld/rest_order.h"
#include "names/name_hashes.h"
#include "llvm/Support/TimeProfiler.h"
#include <malloc.h>

using namespace llvm;

namespace frontload {

void SectionList::beginSearch(lld::elf::Ctx &ctx, size_t minSections) {
  thread = std::this_thread::get_id();
  begin = reinterpret_cast<uintptr_t>(&ctx);
  end = begin + malloc_usable_size(&ctx); // lld keeps it on the heap
  largest = minSections;
  isSearching.store(true, std::memory_order_relaxed);
}

void SectionList::meet(AnyVector *vector, size_t minSize, size_t elementSize) {
  if (!isSearching.load(std::memory_order_relaxed) || std::this_thread::get_id() != thread)
    return;
  auto address = reinterpret_cast<uintptr_t>(vector);
  if (elementSize != sizeof(void *) || address < begin || address >= end || minSize < largest)
    return;
  largest = minSize;
  found = static_cast<Sections *>(vector);
}

bool SectionList::shorten(ArrayRef<const char *> names, StringRef other) {
  if (!found || shortSize || names.empty())
    return false;
  // One in sixty other sections is kept too, which is less work than to tell them apart.
  NameFilter keptNames(filterBits(names.size(), 64, /*least=*/64));
  for (const char *name : names)
    keptNames.add(hashOfAddress(name));
  Sections kept;
  size_t numAsked = 0;
  for (const void *section : *found) {
    StringRef name = nameOf(section);
    if (!keptNames.mayContain(hashOfAddress(name.data()))) {
      // Of an unknown kind of section even the size of the name may be anything.
      if (name.size() == other.size() && name == other)
        kept.push_back(section);
      continue;
    }
    kept.push_back(section);
    // Several sections may share a name. lld has not asked for those that are not linked.
    if (numAsked < names.size() && names[numAsked] == name.data())
      ++numAsked;
  }
  if (numAsked != names.size()) {
    found = nullptr;
    return false;
  }
  TimeTraceScope scope("Shorten the list of sections");
  whole = std::move(*found); // keeps the buffer, which lld may be going through
  *found = std::move(kept);
  shortSize = found->size();
  return true;
}

void SectionList::restore() {
  if (!shortSize)
    return;
  whole.append(found->begin() + shortSize, found->end());
  *found = std::move(whole);
  found = nullptr;
  shortSize = 0;
}

} // namespace frontload
