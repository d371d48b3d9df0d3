// Linker scripts among the inputs of a link: whether one decides the layout, or assigns a symbol.
#include "plan/other_script.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef script) {
  decidesLayout(script);
  assigns(script, "_end");
}
