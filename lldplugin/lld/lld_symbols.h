// The functions of lld that ld.frontload wraps.
//
// Everything that depends on lld's internals, and so on its version, is here and in what
// lld_hooks.cpp and held_output.cpp do in these functions. CMake reads the version and the mangled
// names from this file. A name that an lld lacks is undefined in the link of ld.frontload (a
// changed signature changes the mangled name; but that does not contain the type that a function
// returns), and hook_calls.h ends a link whose lld does not call these functions.
// docs/internals/lld-hooks.md says why each is needed. For another lld, see whether test/link
// passes, and then change the version.
#pragma once

#include "lld/rest_order.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileOutputBuffer.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#define FRONTLOAD_LLD_VERSION 22

/// Declares a function of lld as real##name, and the one that lld calls in its place as wrap##name.
#define FRONTLOAD_HOOK(name, mangled, result, ...)                                                 \
  result real##name(__VA_ARGS__) asm("__real_" mangled);                                           \
  result wrap##name(__VA_ARGS__) asm("__wrap_" mangled)

namespace lld {
class StringMatcher;
namespace elf {
class InputSection;
struct Ctx;
} // namespace elf
} // namespace lld

/// Stands for std::unique_ptr<ELFFileBase>, whose pointee's type is lld's secret. It only has to be
/// returned in the same way, which by the C++ ABI is decided by the destructor.
struct OwnedFile {
  void *file;
  OwnedFile(OwnedFile &&other) : file(std::exchange(other.file, nullptr)) {}
  ~OwnedFile() {} // lld keeps its files to the end
};
using OutputBuffer = std::unique_ptr<llvm::FileOutputBuffer>;

// clang-format off: each mangled name in the line of its function

// Called once for each file of the command line that is not a linker script's: with the path, which
// becomes the identifier of the buffer.
FRONTLOAD_HOOK(ReadFile, "_ZN3lld3elf8readFileERNS0_3CtxEN4llvm9StringRefE",
  std::optional<llvm::MemoryBufferRef>, lld::elf::Ctx &ctx, llvm::StringRef path);

// Called once for each object: files, members of archives (extracted or not) and the output of LTO.
FRONTLOAD_HOOK(CreateObjFile, "_ZN3lld3elf13createObjFileERNS0_3CtxEN4llvm15MemoryBufferRefENS3_9StringRefEb",
  OwnedFile, lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb, llvm::StringRef archive, bool lazy);

// The constructor, for each input that link-time optimization may make an object of. Until
// optimization is over, the contents of the link are not known.
FRONTLOAD_HOOK(BitcodeFile, "_ZN3lld3elf11BitcodeFileC1ERNS0_3CtxEN4llvm15MemoryBufferRefENS4_9StringRefEmb",
  void, void *file, lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb, llvm::StringRef archive, uint64_t offset, bool lazy);

// Called for each linker script, by option or among the inputs, and by us for ours.
FRONTLOAD_HOOK(ReadLinkerScript, "_ZN3lld3elf16readLinkerScriptERNS0_3CtxEN4llvm15MemoryBufferRefE",
  void, lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb);

// Called once, after the objects of the command line are created and before lld looks at their
// sections: the front is planned here. `files` is a SmallVector<std::unique_ptr<InputFile>, 0>.
FRONTLOAD_HOOK(ParseFiles, "_ZN3lld3elf10parseFilesERNS0_3CtxERKN4llvm11SmallVectorISt10unique_ptrINS0_9InputFileESt14default_deleteIS6_EELj0EEE",
  void, lld::elf::Ctx &ctx, const void *files);

// Cuts merged sections into strings, after link-time optimization and before anything has a place.
// In it, xxh3_64bits gives each string the hash that decides its order.
FRONTLOAD_HOOK(SplitSections32LE, "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE1ELb0EEEEEvRNS0_3CtxE", void, lld::elf::Ctx &ctx);
FRONTLOAD_HOOK(SplitSections64LE, "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE1ELb1EEEEEvRNS0_3CtxE", void, lld::elf::Ctx &ctx);
FRONTLOAD_HOOK(SplitSections32BE, "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE0ELb0EEEEEvRNS0_3CtxE", void, lld::elf::Ctx &ctx);
FRONTLOAD_HOOK(SplitSections64BE, "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE0ELb1EEEEEvRNS0_3CtxE", void, lld::elf::Ctx &ctx);
FRONTLOAD_HOOK(Xxh3, "_ZN4llvm11xxh3_64bitsENS_8ArrayRefIhEE",
  uint64_t, llvm::ArrayRef<uint8_t> data);

// Assigns sections to the output sections of linker scripts. By then everything that can be in the
// link is, and nothing is written: the last moment to refuse it.
FRONTLOAD_HOOK(ProcessSectionCommands, "_ZN3lld3elf12LinkerScript22processSectionCommandsEv",
  void, void *script);

// Called in it for each section and each pattern. Our patterns are answered by the address of the
// section's name (see FrontLink), others by lld.
FRONTLOAD_HOOK(Match, "_ZNK3lld13StringMatcher5matchEN4llvm9StringRefE",
  bool, const lld::StringMatcher *matcher, llvm::StringRef name);

// What SORT_BY_INIT_PRIORITY in a linker script sorts by: the number at the end of a section's name.
// The sections of a front have their place in first-touch order instead.
FRONTLOAD_HOOK(GetPriority, "_ZN3lld3elf11getPriorityEN4llvm9StringRefE",
  int, llvm::StringRef name);

// InputSection::replace is called after that, in one thread, for each section that --icf folds.
FRONTLOAD_HOOK(Replace, "_ZN3lld3elf12InputSection7replaceEPS1_",
  void, lld::elf::InputSection *kept, lld::elf::InputSection *folded);

// lld's own orders: called after processSectionCommands, at most one of them and once. lld sorts
// each list of input sections of its script by the numbers that they return; sections without a
// number stay in their order. No mangled name checks the type that they return (see rest_order.h).
FRONTLOAD_HOOK(CallGraphOrder, "_ZN3lld3elf28computeCallGraphProfileOrderERNS0_3CtxE",
  frontload::SectionOrder, lld::elf::Ctx &ctx);
FRONTLOAD_HOOK(BalancedPartitioning, "_ZN3lld3elf23runBalancedPartitioningERNS0_3CtxEN4llvm9StringRefEbbbb",
  frontload::SectionOrder, lld::elf::Ctx &ctx, llvm::StringRef profile, bool ofCode, bool ofData, bool ofStartup, bool isVerbose);

// LLVM's SmallVectorBase::grow_pod is called for each vector that needs more room. Between parseFiles
// and splitSections lld gathers all sections in a vector of the Ctx, and asks for their names in its
// order later. Only the time of the link depends on that (section_list.h).
FRONTLOAD_HOOK(Grow, "_ZN4llvm15SmallVectorBaseIjE8grow_podEPvmm",
  void, llvm::SmallVectorBase<uint32_t> *vector, void *first, size_t minSize, size_t elementSize);

// LLVM's FileOutputBuffer::create makes the output. It is also called before parseFiles, to see
// whether that is possible. The file has its place at commit().
FRONTLOAD_HOOK(CreateOutput, "_ZN4llvm16FileOutputBuffer6createENS_9StringRefEmj",
  llvm::Expected<OutputBuffer>, llvm::StringRef path, size_t size, unsigned flags);

// Removes the previous output just before the output is made.
FRONTLOAD_HOOK(UnlinkAsync, "_ZN3lld11unlinkAsyncEN4llvm9StringRefE",
  void, llvm::StringRef path);
// clang-format on
