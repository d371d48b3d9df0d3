// Where the basic blocks of a program begin, by the map that clang -fbasic-block-address-map
// writes.
//
// Nothing needs the map at run time. A tool that moves code may leave the map as it was, and a
// breakpoint in the midst of an instruction gives a wrong result that nothing reports. So the
// blocks of a function count only if together they have the size of its symbol, and each begins
// where an instruction does.
#ifndef FRONTLOAD_TRACER_BLOCK_STARTS_H
#define FRONTLOAD_TRACER_BLOCK_STARTS_H

#include "known_code.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <vector>

namespace frontload {

/// The addresses, ascending, of the blocks of functions. `sizeAt` gives the size of the symbol of a
/// function, or of a part of one, at an address; nothing if there is none. `code` is sorted. The
/// file is untrusted: none of its bytes is decoded twice.
std::vector<uint64_t> blockStarts(llvm::MemoryBufferRef file, llvm::ArrayRef<CodeSection> code,
                                  llvm::function_ref<std::optional<uint64_t>(uint64_t)> sizeAt);

} // namespace frontload

#endif
