//===- hook_calls.h - whether lld calls what a front relies on -------------===//
//
// A hook is a function that lld is made to call in place of one of its own. If lld is built in
// another way (link-time optimization, several sources as one) or has changed, that call may be
// gone, and nothing else would notice: the link would end without a front. So each hook notes its
// calls, and a link that lacks a call ends before anything has taken its place.
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
  /// The same for a hook that all threads call very often: only its first call matters.
  void note(Hook hook) {
    if (!has(hook))
      at(hook).store(1, std::memory_order_relaxed);
  }
  uint32_t number(Hook hook) const {
    return calls[static_cast<unsigned>(hook)].load(std::memory_order_relaxed);
  }
  bool has(Hook hook) const { return number(hook) != 0; }

  /// Ends the link because lld has not called the hook.
  [[noreturn]] static void endWithout(Hook hook);
  /// Ends the link if the hook was not called, or, for requireOnce(), more than once.
  void require(Hook hook) const;
  void requireOnce(Hook hook) const;
  /// Ends the link if a hook is missing that `link`, whose linked file is `bytes`, relies on.
  void requireForOutput(FrontLink &link, llvm::StringRef bytes) const;

private:
  std::atomic<uint32_t> &at(Hook hook) { return calls[static_cast<unsigned>(hook)]; }

  std::array<std::atomic<uint32_t>, numHooks> calls = {};
};

/// The calls of this process, which makes one link.
extern HookCalls hookCalls;

} // namespace frontload

#endif
