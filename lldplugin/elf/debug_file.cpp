// The symbols of a stripped program.
#include "elf/debug_file.h"
#include "elf/elf_file.h"
#include "elf/elf_object.h"
#include "frontload_debug_file.h"

using namespace llvm;

namespace frontload {

std::unique_ptr<MemoryBuffer> findDebugFile(MemoryBufferRef program) {
  std::unique_ptr<MemoryBuffer> found;
  consumeError(withElfFile(program.getBuffer(), [&](const auto &file) {
    if (file.getHeader().e_type != ELF::ET_REL)
      found = findDebugFile(file, program.getBufferIdentifier());
    return Error::success();
  }));
  return found;
}

bool isDebugFile(StringRef bytes) {
  bool hasConstants = false, hasCode = false, isEmpty = true, isCodeEmpty = true;
  withElfObject(bytes, /*isLinked=*/true, [&](const auto &object) {
    for (const auto &section : object.sections()) {
      if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_type == ELF::SHT_NOTE)
        continue;
      bool isNothing = section.sh_type == ELF::SHT_NOBITS;
      if (section.sh_flags & ELF::SHF_EXECINSTR)
        hasCode = true, isCodeEmpty &= isNothing;
      else if (!(section.sh_flags & ELF::SHF_WRITE))
        hasConstants = true, isEmpty &= isNothing;
    }
  });
  return hasConstants ? isEmpty : hasCode && isCodeEmpty;
}

} // namespace frontload
