// The map of a link, which tells what another lld has placed.
#include "other_lld/placed_sections.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef map) {
  static FrontLink link(StartupProfile(), "profile", LinkTraits());
  static const InputObject object = {MemoryBufferRef("", "seed.o"), "", false},
                           member = {MemoryBufferRef("", "b.o"), "lib.a", true};
  const KnownSection sections[] = {
      {".text.main", &object, "main", false},     {".text.main", &object, "", false},
      {".rodata.str1.1", &object, "", true},      {".text.two\n.lines", &object, "", false},
      {".text.helper", &member, "helper", false}, {".rodata.str1.1", &member, "", true}};
  placeByMap(link, sections, map);
  placeBySymbols(link, sections, map);
}
