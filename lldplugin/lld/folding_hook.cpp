//===- folding_hook.cpp - tells which sections lld folds -------------------===//
//
// With --icf all copies of an identical section go to the front. lld folds them only after they
// have been placed and counted, so the folded ones are subtracted here.
//
//===----------------------------------------------------------------------===//

#include "lld/folding_hook.h"
#include "lld/lld_symbols.h"
#include "lld/rest_order.h"

using namespace llvm;
using namespace frontload;

static FrontLink *foldedLink;

void wrapReplace(lld::elf::InputSection *kept, lld::elf::InputSection *folded) {
  realReplace(kept, folded);
  if (!foldedLink)
    return;
  // If lld's sections begin in another way, this is no name of the front, and fold() ignores it.
  foldedLink->fold(nameOf(folded));
}

void frontload::installFoldingHook(FrontLink &link) { foldedLink = &link; }
