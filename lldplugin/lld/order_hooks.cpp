//===- order_hooks.cpp - hooks in lld's own orders of sections -------------===//
//
// Apart from lld_hooks.cpp, since these do not take part in making a front: they keep it.
//
//===----------------------------------------------------------------------===//

#include "lld/order_hooks.h"
#include "lld/lld_symbols.h"
#include "program/diagnostics.h"

using namespace llvm;
using namespace frontload;

static const FrontLink *frontLink;

static SectionOrder withoutFront(SectionOrder order, bool ordersFront = false) {
  if (!frontLink)
    return order;
  if (std::optional<SectionOrder> rest = restOf(order, *frontLink, ordersFront))
    return *std::move(rest);
  warning("lld's own order of sections is left out, because it might change that of the front");
  return SectionOrder();
}

SectionOrder wrapCallGraphOrder(lld::elf::Ctx &ctx) {
  // A front that is asked for in one burst is there in any order. Where faults read it, first-touch
  // order has the kernel read ahead of them: 29 faults of CPython instead of 42.
  bool ordersFront = frontLink && frontLink->linkTraits().prefetches;
  return withoutFront(realCallGraphOrder(ctx), ordersFront);
}

SectionOrder wrapBalancedPartitioning(lld::elf::Ctx &ctx, StringRef profile, bool ofCode,
                                      bool ofData, bool ofStartup, bool isVerbose) {
  return withoutFront(realBalancedPartitioning(ctx, profile, ofCode, ofData, ofStartup, isVerbose));
}

void frontload::installOrderHooks(const FrontLink &link) { frontLink = &link; }
