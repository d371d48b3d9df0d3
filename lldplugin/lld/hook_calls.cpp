//===- hook_calls.cpp - whether lld calls what a front relies on -----------===//

#include "lld/hook_calls.h"
#include "lld/Common/ErrorHandler.h"
#include "program/diagnostics.h"

using namespace llvm;

namespace frontload {

void HookCalls::endWithout(Hook hook) {
  static constexpr StringLiteral names[numHooks] = {"readFile",
                                                    "createObjFile",
                                                    "parseFiles",
                                                    "splitSections",
                                                    "LinkerScript::processSectionCommands",
                                                    "StringMatcher::match",
                                                    "getPriority",
                                                    "FileOutputBuffer::create",
                                                    "unlinkAsync"};
  error("this lld has not called " + names[static_cast<unsigned>(hook)] +
            ", on which the front relies",
        "link without --startup-profile; ld.frontload has to be built with an lld that "
        "docs/lld-hooks.md fits");
  lld::exitLld(exitVerdict);
}

} // namespace frontload
