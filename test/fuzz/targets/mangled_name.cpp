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
  std::string stable = stableName(parts.stem);
  // The shortest reference back of Rust, `B_`, stands for a number.
  must(isRustV0(name) ? stable.size() <= 11 * name.size() : stable.size() <= parts.stem.size());
  // What begins differently is not looked up, so the whole name tells where its stem changes.
  size_t beginning = stableBeginning(name);
  must(stable == parts.stem || StringRef(stable).starts_with(name.take_front(beginning)));
  must(stable == parts.stem || beginning != StringRef::npos);
}
