//===- folding_hook.cpp - tells which sections lld folds -------------------===//
//
// With --icf all that is identical goes to the front, and lld then keeps one of each. It does so
// after everything has its place, so what was counted by then is too much.
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
  // The front is known by the addresses of names; if this is none, it is not among them.
  foldedLink->fold(nameOf(folded));
}

void frontload::installFoldingHook(FrontLink &link) { foldedLink = &link; }
