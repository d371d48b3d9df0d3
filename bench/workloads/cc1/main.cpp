// clang's compiler proper (what `clang -cc1` runs) as a program of its own: a real program of 200
// MB to measure, linked from the static archives of the distribution without compiling LLVM.
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/FrontendTool/Utils.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"

// The archives expect Polly beside them. This empty plugin takes its place.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {}, nullptr};
}

int main(int argc, const char **argv) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();

  clang::DiagnosticOptions options;
  auto diagnostics = clang::CompilerInstance::createDiagnostics(
      *llvm::vfs::getRealFileSystem(), options,
      new clang::TextDiagnosticPrinter(llvm::errs(), options));
  clang::CompilerInstance compiler;
  llvm::ArrayRef<const char *> arguments(argv + 1, argv + argc);
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), arguments, *diagnostics,
                                                 argv[0]))
    return 1;
  compiler.createVirtualFileSystem();
  compiler.createDiagnostics();
  return clang::ExecuteCompilerInvocation(&compiler) ? 0 : 1;
}
