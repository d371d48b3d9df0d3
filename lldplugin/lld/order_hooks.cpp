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

static SectionOrder withoutFront(SectionOrder order) {
  if (!frontLink)
    return order;
  if (std::optional<SectionOrder> rest = restOf(order, *frontLink))
    return *std::move(rest);
  warning("lld's own order of sections is left out, because it might change that of the front");
  return SectionOrder();
}

SectionOrder wrapCallGraphOrder(lld::elf::Ctx &ctx) {
  return withoutFront(realCallGraphOrder(ctx));
}

SectionOrder wrapBalancedPartitioning(lld::elf::Ctx &ctx, StringRef profile, bool ofCode,
                                      bool ofData, bool ofStartup, bool isVerbose) {
  return withoutFront(realBalancedPartitioning(ctx, profile, ofCode, ofData, ofStartup, isVerbose));
}

void frontload::installOrderHooks(const FrontLink &link) { frontLink = &link; }
