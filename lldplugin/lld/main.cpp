//===- main.cpp - ld.frontload, an lld that lays out a front ---------------===//
//
// Accepts every argument of ld.lld, and a few more. Without these its output is ld.lld's, to the
// byte. With a profile, it refuses a few options that decide the layout themselves.
//
//===----------------------------------------------------------------------===//

#include "lld/Common/ErrorHandler.h"
#include "lld/linking.h"
#include "lld/own_help.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;
using namespace frontload;

const StringLiteral frontload::programName = "ld.frontload";

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  // A compiler driver may pass everything in a response file, also our options.
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *, 0> expanded(argv, argv + argc);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, expanded);
  LinkOptions options;
  std::vector<const char *> others = parseLinkOptions(expanded, options);

  if (options.isHelp)
    outs() << ownHelp;
  ArrayRef<const char *> args(const_cast<const char **>(argv), argc);
  // Like lld, exits without freeing memory: the system frees it faster.
  lld::exitLld(linkByOptions(args, others, options));
}
