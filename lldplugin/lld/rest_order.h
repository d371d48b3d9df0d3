//===- rest_order.h - lld's own orders, for what is outside of the front ---===//
//
// lld can order sections by itself: those that call each other most often lie together (the call
// graph of PGO builds), or those that the same starts use, or that compress well (balanced
// partitioning). That is for the steady state, so it goes on for all that is not in the front. The
// front has the order of first touch, but the code that every run enters may have that of calls:
// all of it is read by each start.
//
// An order is a map of lld's sections, whose type is lld's secret. The front is known by the
// addresses of names (FrontLink), and a section has its name among its first words.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_REST_ORDER_H
#define FRONTLOAD_LLDPLUGIN_LLD_REST_ORDER_H

#include "plan/front_link.h"
#include "llvm/ADT/DenseMap.h"
#include <cstring>

namespace lld::elf {
class InputSectionBase;
} // namespace lld::elf

namespace frontload {

/// Sections with lower numbers come first, in their part of an output section. lld leaves sections
/// that it does not hold in the order that they have.
using SectionOrder = llvm::DenseMap<const lld::elf::InputSectionBase *, int>;

/// How a section of lld begins. The real one is larger.
struct SectionHead {
  const void *file;
  llvm::StringRef name;
};

/// The name of one of lld's sections. It is no address of a name where lld's sections do not begin
/// as we believe, so look up where it lies before you read it.
inline llvm::StringRef nameOf(const void *section) {
  SectionHead head;
  std::memcpy(static_cast<void *>(&head), section, sizeof(head));
  return head.name;
}

/// `order` without the sections that `link` has placed; with `ordersFront`, it keeps the code that
/// every run enters, which is then first among the code of the front: what compilers call hot, what
/// they do not judge, and what they call unlikely, each in the order that it had. None if it cannot
/// be told which these are: no name in `order` lies in an input object, so sections do not begin as
/// we believe.
std::optional<SectionOrder> restOf(const SectionOrder &order, const FrontLink &link,
                                   bool ordersFront = false);

} // namespace frontload

#endif
