// Whether lld calls what a front relies on.
//
// A hook is a function that lld is made to call in place of one of its own. If lld is built in
// another way (link-time optimization, several sources as one), that call may be gone, and nothing
// else would notice: the link would end without a front. So each hook notes that it was called, and
// a link that lacks a call ends before anything has taken its place.
#pragma once

#include <atomic>

namespace frontload {

/// The calls of a function of lld by this process, which makes one link with a front.
class HookCalls {
public:
  explicit constexpr HookCalls(const char *name) : function(name) {}

  /// Notes a call, which may be one of very many.
  void note() {
    if (!any())
      isCalled.store(true, std::memory_order_relaxed);
  }
  bool any() const { return isCalled.load(std::memory_order_relaxed); }

  /// Ends the link if lld has not called the function.
  void require() const {
    if (!any())
      endLink();
  }
  [[noreturn]] void endLink() const;

private:
  const char *function;
  std::atomic<bool> isCalled = false;
};

namespace calls {
inline HookCalls readFile("readFile");
inline HookCalls createObjFile("createObjFile");
inline HookCalls parseFiles("parseFiles");
inline HookCalls splitSections("splitSections");
inline HookCalls processSectionCommands("LinkerScript::processSectionCommands");
inline HookCalls match("StringMatcher::match");
inline HookCalls getPriority("getPriority");
inline HookCalls createOutput("FileOutputBuffer::create");
inline HookCalls unlinkAsync("unlinkAsync");
} // namespace calls

} // namespace frontload
