//===- hook_calls.h - whether lld calls what a front relies on -------------===//
//
// A hook is a function of lld that another one of lld's is made to call instead. If lld is built in
// another way (link-time optimization, several sources as one) or has changed, that call may be
// gone, and nothing else would say so: the link would go on, and end without a front. So each hook
// notes its calls, and a link that lacks one ends before anything has taken its place.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_HOOK_CALLS_H
#define FRONTLOAD_LLDPLUGIN_LLD_HOOK_CALLS_H

#include "plan/front_link.h"
#include <array>
#include <atomic>

namespace frontload {

enum class Hook : uint8_t {
  ReadFile,
  CreateObjFile,
  ParseFiles,
  SplitSections,
  Hash,
  ProcessSectionCommands,
  Match,
  GetPriority,
  CreateOutput,
  UnlinkAsync,
};
constexpr unsigned numHooks = 10;

class HookCalls {
public:
  /// Counts a call.
  void count(Hook hook) { at(hook).fetch_add(1, std::memory_order_relaxed); }
  /// The same for one that is called so often, by all threads, that only its first call matters.
  void note(Hook hook) {
    if (!has(hook))
      at(hook).store(1, std::memory_order_relaxed);
  }
  uint32_t number(Hook hook) const {
    return calls[static_cast<unsigned>(hook)].load(std::memory_order_relaxed);
  }
  bool has(Hook hook) const { return number(hook) != 0; }

  /// Ends the link because what that hook does was done without it.
  [[noreturn]] static void endWithout(Hook hook);
  /// Ends the link if that hook was not called, or was more than once.
  void require(Hook hook) const;
  void requireOnce(Hook hook) const;
  /// Ends the link if a hook is missing that `link`, whose linked file is `bytes`, relies on.
  void requireForOutput(FrontLink &link, llvm::StringRef bytes) const;

private:
  std::atomic<uint32_t> &at(Hook hook) { return calls[static_cast<unsigned>(hook)]; }

  std::array<std::atomic<uint32_t>, numHooks> calls = {};
};

/// Those of this process: it makes one link.
extern HookCalls hookCalls;

} // namespace frontload

#endif
