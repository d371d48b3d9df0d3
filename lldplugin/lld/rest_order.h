// lld's own orders, for what is outside of the front.
//
// lld can order sections by itself: those that call each other most often lie together (the call
// graph of PGO builds), or those that the same starts use, or that compress well (balanced
// partitioning). These orders are for the steady state, so sections outside of the front keep them.
// The front has the order of first touch, but its code that every run enters may have lld's order:
// each start reads all of that code.
//
// An order is a map of lld's sections, whose type is lld's secret. The front is known by the
// addresses of names (FrontLink).
#pragma once

#include "plan/front_link.h"
#include "llvm/ADT/DenseMap.h"

namespace lld::elf {
class InputSectionBase;
} // namespace lld::elf

namespace frontload {

/// Sections with lower numbers come first, in their part of an output section. lld does not reorder
/// sections that are not in the map.
using SectionOrder = llvm::DenseMap<const lld::elf::InputSectionBase *, int>;

/// `order` without the sections that `link` has placed. With `ordersFront` it keeps the code that
/// every run enters, which then leads the code of the front: first code that compilers call hot,
/// then unjudged code, then unlikely code, each in the order of before.
SectionOrder restOf(const SectionOrder &order, const FrontLink &link, bool ordersFront = false);

} // namespace frontload
