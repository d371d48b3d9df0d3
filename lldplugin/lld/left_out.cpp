// What a static ld.frontload leaves out of LLVM.
//
// lld registers all of LLVM's back ends, and LLVM's passes those of Polly. Functions of the same
// names that do nothing keep them out of the link, and a third of the bytes with them. Link-time
// optimization for such a processor then ends with LLVM's own error: no target is compatible with
// that triple. Objects that are no bitcode are linked for all of lld's processors.
#include "llvm/Plugins/PassPlugin.h"

extern "C" {
// FRONTLOAD_LEFT_OUT is LEFT_OUT(...) for each back end (CMakeLists.txt).
#define LEFT_OUT(name)                                                                             \
  void LLVMInitialize##name##TargetInfo() {}                                                       \
  void LLVMInitialize##name##Target() {}                                                           \
  void LLVMInitialize##name##TargetMC() {}                                                         \
  void LLVMInitialize##name##AsmPrinter() {}                                                       \
  void LLVMInitialize##name##AsmParser() {}
FRONTLOAD_LEFT_OUT
}

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "", [](llvm::PassBuilder &) {}};
}
