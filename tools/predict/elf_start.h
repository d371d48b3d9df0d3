//===- elf_start.h - how a linked file starts, as far as the file tells ----===//
//
// Before a program's own code runs, the dynamic linker reads its tables and writes to every
// relocated page. No trace of the program shows that, but the file does.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_ELF_START_H
#define FRONTLOAD_TOOLS_PREDICT_ELF_START_H

#include "predict/start_model.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// Touches what the dynamic linker touches in the ELF file in `bytes` with these segments, in the
/// order of glibc's: first what it reads to know the file, then, after `beforeRelocation`, the
/// relocations.
llvm::Error loadProgram(llvm::StringRef bytes, llvm::ArrayRef<FileSegment> segments,
                        StartModel &model, llvm::function_ref<void()> beforeRelocation);

} // namespace frontload

#endif
