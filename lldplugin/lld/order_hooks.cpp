//===- order_hooks.cpp - hooks in lld's own orders of sections -------------===//
//
// These hooks are not in lld_hooks.cpp, since they do not make a front: they keep it.
//
//===----------------------------------------------------------------------===//

#include "lld/order_hooks.h"
#include "lld/lld_symbols.h"
#include "program/diagnostics.h"

using namespace llvm;
using namespace frontload;

static const FrontLink *orderedLink;

static SectionOrder keepFront(SectionOrder order, bool ordersFront) {
  if (!orderedLink)
    return order;
  if (std::optional<SectionOrder> rest = restOf(order, *orderedLink, ordersFront))
    return *std::move(rest);
  warning("lld's own order of sections is left out, because it might change that of the front");
  return SectionOrder();
}

SectionOrder wrapCallGraphOrder(lld::elf::Ctx &ctx) {
  // A running program must not be slower than without a front. First-touch order slows it down
  // (docs/layout.md), though it saves 9 faults of CPython's 40 where no prefetch reads the front.
  return keepFront(realCallGraphOrder(ctx), /*ordersFront=*/true);
}

SectionOrder wrapBalancedPartitioning(lld::elf::Ctx &ctx, StringRef profile, bool ofCode,
                                      bool ofData, bool ofStartup, bool isVerbose) {
  return keepFront(realBalancedPartitioning(ctx, profile, ofCode, ofData, ofStartup, isVerbose),
                   /*ordersFront=*/false);
}

void frontload::installOrderHooks(const FrontLink &link) { orderedLink = &link; }
