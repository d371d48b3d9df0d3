//===- section_renamer.cpp - marks startup sections in mapped objects ------===//

#include "section_renamer.h"
#include "elf_object.h"
#include "front_script.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Process.h"
#include <sys/mman.h>

using namespace llvm;

namespace frontload {

Error makeWritable(ArrayRef<MemoryBufferRef> buffers, function_ref<bool(size_t)> isNeeded) {
  uintptr_t pageSize = sys::Process::getPageSizeEstimate();
  struct Range {
    uintptr_t begin, end; ///< whole pages
    bool isNeeded;
  };
  std::vector<Range> ranges;
  ranges.reserve(buffers.size());
  for (auto [i, buffer] : enumerate(buffers))
    ranges.push_back({alignDown(reinterpret_cast<uintptr_t>(buffer.getBufferStart()), pageSize),
                      alignTo(reinterpret_cast<uintptr_t>(buffer.getBufferEnd()), pageSize),
                      isNeeded(i)});
  llvm::sort(ranges, [](const Range &a, const Range &b) { return a.begin < b.begin; });

  for (size_t i = 0; i < ranges.size();) {
    Range whole = ranges[i++];
    // All of these pages hold objects, so nothing but input files is made writable.
    for (; i < ranges.size() && ranges[i].begin <= whole.end; ++i) {
      whole.end = std::max(whole.end, ranges[i].end);
      whole.isNeeded |= ranges[i].isNeeded;
    }
    if (whole.isNeeded && mprotect(reinterpret_cast<void *>(whole.begin), whole.end - whole.begin,
                                   PROT_READ | PROT_WRITE))
      return createStringError(
          errnoAsErrorCode(), Twine("cannot make mapped input files writable: ") + strerror(errno));
  }
  return Error::success();
}

void renameStartupSections(MemoryBufferRef buffer, const StartupSections &sections,
                           function_ref<void(const StartupSection &, const char *)> visit) {
  withElfType(buffer.getBuffer(), [&]<class ELFT>() {
    auto object = ElfObject<ELFT>::open(buffer.getBuffer());
    for (const StartupSection &section : sections) {
      const auto &header = object->sections()[section.index];
      // A file that the command line names twice may be mapped once.
      if (!object->classify(header))
        continue;
      StringRef name = object->name(header);
      unsigned shift = startupNameShift(name);
      auto &writable = const_cast<typename ELFT::Shdr &>(header);
      writable.sh_name = writable.sh_name + shift;
      visit(section, name.data() + shift);
    }
  });
}

} // namespace frontload
