//===- hook_calls.h - whether lld calls what a front relies on -------------===//
//
// A hook is a function that lld is made to call in place of one of its own. If lld is built in
// another way (link-time optimization, several sources as one), that call may be gone, and nothing
// else would notice: the link would end without a front. So each hook notes that it was called, and
// a link that lacks a call ends before anything has taken its place.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_HOOK_CALLS_H
#define FRONTLOAD_LLDPLUGIN_LLD_HOOK_CALLS_H

#include <array>
#include <atomic>
#include <cstdint>

namespace frontload {

enum class Hook : uint8_t {
  ReadFile,
  CreateObjFile,
  ParseFiles,
  SplitSections,
  ProcessSectionCommands,
  Match,
  GetPriority,
  CreateOutput,
  UnlinkAsync,
};
constexpr unsigned numHooks = 9;

class HookCalls {
public:
  /// Notes a call, which may be one of very many.
  void note(Hook hook) {
    if (!has(hook))
      calls[static_cast<unsigned>(hook)].store(true, std::memory_order_relaxed);
  }
  bool has(Hook hook) const {
    return calls[static_cast<unsigned>(hook)].load(std::memory_order_relaxed);
  }

  /// Ends the link if lld has not called the hook.
  void require(Hook hook) const {
    if (!has(hook))
      endWithout(hook);
  }
  [[noreturn]] static void endWithout(Hook hook);

private:
  std::array<std::atomic<bool>, numHooks> calls = {};
};

/// The calls of this process, which makes one link with a front.
inline HookCalls hookCalls;

} // namespace frontload

#endif
