// Names of symbols, taken apart: suffixes, hashes, variants of constructors.
#include "names/mangled_names.h"
#include "names/name_parts.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef name) {
  NameParts parts = takeApart(name);
  must(headOf(name) == headOf(parts.stem)); // names are looked up by it
  compare(parts, parts);
  otherVariants(name);
  // The shortest reference back, `B_`, stands for a number.
  must(!isRustV0(name) || withoutCrateHashes(name).size() <= 11 * name.size());
}
