//===- namesakes.cpp - how many sections have one name ---------------------===//

#include "resolve/namesakes.h"
#include "elf/elf_object.h"

using namespace llvm;

namespace frontload {

StringMap<Namesakes> countNamesakes(ArrayRef<InputObject> objects) {
  StringMap<Namesakes> counts;
  for (const InputObject &input : objects)
    withElfType(input.buffer.getBuffer(), [&]<class ELFT>() {
      auto object = ElfObject<ELFT>::open(input.buffer.getBuffer());
      if (!object)
        return;
      for (const auto &section : object->sections()) {
        if ((section.sh_flags & (ELF::SHF_ALLOC | ELF::SHF_GROUP)) != ELF::SHF_ALLOC)
          continue;
        Namesakes &namesakes = counts[object->name(section)];
        ++namesakes.count;
        namesakes.size += section.sh_size;
      }
    });
  return counts;
}

} // namespace frontload
