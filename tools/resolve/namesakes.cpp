//===- namesakes.cpp - how many sections have one name ---------------------===//

#include "resolve/namesakes.h"
#include "elf/elf_object.h"

using namespace llvm;

namespace frontload {

StringMap<Namesakes> countNamesakes(ArrayRef<InputObject> objects) {
  StringMap<Namesakes> counts;
  for (const InputObject &input : objects)
    withElfObject(input.buffer.getBuffer(), /*isLinked=*/false, [&](const auto &object) {
      for (const auto &section : object.sections()) {
        if ((section.sh_flags & (ELF::SHF_ALLOC | ELF::SHF_GROUP)) != ELF::SHF_ALLOC)
          continue;
        Namesakes &namesakes = counts[object.name(section)];
        ++namesakes.count;
        namesakes.size += section.sh_size;
      }
    });
  return counts;
}

} // namespace frontload
