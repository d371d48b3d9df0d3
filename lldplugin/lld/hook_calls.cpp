//===- hook_calls.cpp - whether lld calls what a front relies on -----------===//

#include "lld/hook_calls.h"
#include "lld/Common/ErrorHandler.h"
#include "program/diagnostics.h"

namespace frontload {

void HookCalls::endLink() const {
  error(llvm::Twine("this lld has not called ") + function + ", on which the front relies",
        "link without --startup-profile; ld.frontload has to be built with an lld that "
        "docs/internals/lld-hooks.md fits");
  lld::exitLld(exitVerdict);
}

} // namespace frontload
