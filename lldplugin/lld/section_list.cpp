// lld's list of all sections.
#include "lld/section_list.h"
#include <malloc.h>
#include <utility>

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

void SectionList::replace(Sections sections) {
  whole = std::exchange(*found, std::move(sections));
  numReplaced = found->size();
}

void SectionList::restore() {
  if (!numReplaced)
    return;
  whole.append(found->begin() + numReplaced, found->end());
  *found = std::move(whole);
  found = nullptr;
  numReplaced = 0;
}

} // namespace frontload
