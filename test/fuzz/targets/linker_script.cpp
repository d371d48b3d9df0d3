// Linker scripts among the inputs of a link: whether one decides the layout.
#include "plan/other_script.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef script) { decidesLayout(script); }
