//===- found_names.cpp - which finds of a name are meant -------------------===//

#include "names/found_names.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace frontload {

static constexpr size_t maxInexact = 128;

bool FoundNames::accept(uint32_t entry, FindRank rank, const Definition &definition) {
  auto &[best, definitions] = entries[entry];
  if (rank != best)
    return false;
  bool isKnown = llvm::any_of(definitions, [&](const Definition &other) {
    return other.isLocal == definition.isLocal && other.symbol == definition.symbol &&
           (!other.isLocal || other.object == definition.object);
  });
  if (isKnown)
    return true;
  // All exact definitions count, and only whether there are several matters.
  size_t most = rank.isExact() ? 2 : maxInexact;
  if (definitions.size() == most)
    return rank.isExact();
  definitions.push_back(definition);
  return true;
}

} // namespace frontload
