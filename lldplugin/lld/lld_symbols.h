//===- lld_symbols.h - the functions of lld that ld.frontload wraps --------===//
//
// Everything that depends on lld's internals, and so on its version, is here and in what
// lld_hooks.cpp and written_files.cpp do in these functions. CMake reads the version and the
// mangled names from this file. A name that an lld lacks is undefined in the link of ld.frontload
// (a changed signature changes the mangled name; but that does not contain the type that a function
// returns), and hook_calls.h ends a link whose lld does not call these functions. docs/lld-hooks.md
// says why each is needed. For another lld, see whether test/link passes, and then change the
// version.
//
// * readFile is called once for each file of the command line that is not a linker script's: with
//   the path, which becomes the identifier of the buffer.
// * createObjFile is called once for each object: files, members of archives (extracted or not) and
//   the output of LTO.
// * BitcodeFile's constructor is called for each input that link-time optimization may make an
//   object of. Until optimization is over, the contents of the link are not known.
// * readLinkerScript is called for each linker script, by option or among the inputs, and by us for
//   ours.
// * parseFiles is called once, after the objects of the command line are created and before lld
//   looks at their sections. This is where the front is planned, with all objects in view.
// * splitSections cuts merged sections into strings, after link-time optimization and before
//   anything has a place. In it, xxh3_64bits gives each string the hash that decides its order.
// * processSectionCommands assigns sections to the output sections of linker scripts. By then
//   everything that can be in the link is, and nothing is written: the last moment to refuse it.
// * StringMatcher::match is called in it for each section and each pattern. Our patterns are
//   answered by the address of the section's name (see FrontLink), others by lld.
// * getPriority is what SORT_BY_INIT_PRIORITY in a linker script sorts by: the number at the end of
//   a section's name. The sections of a front have their place in first-touch order instead.
// * InputSection::replace is called after processSectionCommands, in one thread, for each section
//   that --icf folds: on the one that stays, with the one that goes.
// * computeCallGraphProfileOrder and runBalancedPartitioning are lld's own orders: called after
//   processSectionCommands, at most one of them and once. lld sorts each list of input sections of
//   its script by the numbers that they return; sections without a number stay in their order. No
//   mangled name checks the type that they return (see rest_order.h).
// * SmallVectorBase::grow_pod, of LLVM, is called for each vector that needs more room. Between
//   parseFiles and splitSections lld gathers all sections in a vector of the Ctx, and asks for
//   their names in its order later. Only the time of the link depends on that (section_list.h).
// * TarWriter::append, of LLVM, is called for each file of the tar that --reproduce makes, first of
//   all for response.txt: the options, a line each, in their order. The files are readFile's.
//
// Functions that write lld's files (written_files.h):
// * FileOutputBuffer::create makes the output. It is also called before parseFiles, to see whether
//   that is possible. The file has its place at commit().
// * unlinkAsync removes the previous output just before the output is made.
// * The constructor of raw_fd_ostream opens maps, lists of dependencies and the like.
// * timeTraceProfilerWrite writes what --time-trace asks for.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_LLD_SYMBOLS_H
#define FRONTLOAD_LLDPLUGIN_LLD_LLD_SYMBOLS_H

#include "lld/rest_order.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileOutputBuffer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

// clang-format off: CMake reads one name per line
#define FRONTLOAD_LLD_VERSION 22
#define READ_FILE "_ZN3lld3elf8readFileERNS0_3CtxEN4llvm9StringRefE"
#define CREATE_OBJ_FILE "_ZN3lld3elf13createObjFileERNS0_3CtxEN4llvm15MemoryBufferRefENS3_9StringRefEb"
#define BITCODE_FILE "_ZN3lld3elf11BitcodeFileC1ERNS0_3CtxEN4llvm15MemoryBufferRefENS4_9StringRefEmb"
#define READ_LINKER_SCRIPT "_ZN3lld3elf16readLinkerScriptERNS0_3CtxEN4llvm15MemoryBufferRefE"
#define PARSE_FILES "_ZN3lld3elf10parseFilesERNS0_3CtxERKN4llvm11SmallVectorISt10unique_ptrINS0_9InputFileESt14default_deleteIS6_EELj0EEE"
#define SPLIT_SECTIONS_32LE "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE1ELb0EEEEEvRNS0_3CtxE"
#define SPLIT_SECTIONS_64LE "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE1ELb1EEEEEvRNS0_3CtxE"
#define SPLIT_SECTIONS_32BE "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE0ELb0EEEEEvRNS0_3CtxE"
#define SPLIT_SECTIONS_64BE "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE0ELb1EEEEEvRNS0_3CtxE"
#define XXH3_64BITS "_ZN4llvm11xxh3_64bitsENS_8ArrayRefIhEE"
#define PROCESS_SECTION_COMMANDS "_ZN3lld3elf12LinkerScript22processSectionCommandsEv"
#define MATCH "_ZNK3lld13StringMatcher5matchEN4llvm9StringRefE"
#define GET_PRIORITY "_ZN3lld3elf11getPriorityEN4llvm9StringRefE"
#define REPLACE "_ZN3lld3elf12InputSection7replaceEPS1_"
#define CALL_GRAPH_ORDER "_ZN3lld3elf28computeCallGraphProfileOrderERNS0_3CtxE"
#define BALANCED_PARTITIONING "_ZN3lld3elf23runBalancedPartitioningERNS0_3CtxEN4llvm9StringRefEbbbb"
#define GROW "_ZN4llvm15SmallVectorBaseIjE8grow_podEPvmm"
#define TAR_APPEND "_ZN4llvm9TarWriter6appendENS_9StringRefES1_"
#define CREATE_OUTPUT "_ZN4llvm16FileOutputBuffer6createENS_9StringRefEmj"
#define UNLINK_ASYNC "_ZN3lld11unlinkAsyncEN4llvm9StringRefE"
#define OPEN_STREAM "_ZN4llvm14raw_fd_ostreamC1ENS_9StringRefERSt10error_codeNS_3sys2fs9OpenFlagsE"
#define WRITE_TIME_TRACE "_ZN4llvm22timeTraceProfilerWriteENS_9StringRefES0_"
// clang-format on

#define REAL(symbol) asm("__real_" symbol)
#define WRAP(symbol) asm("__wrap_" symbol)

namespace llvm {
class TarWriter;
} // namespace llvm
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

std::optional<llvm::MemoryBufferRef> realReadFile(lld::elf::Ctx &ctx, llvm::StringRef path)
    REAL(READ_FILE);
std::optional<llvm::MemoryBufferRef> wrapReadFile(lld::elf::Ctx &ctx, llvm::StringRef path)
    WRAP(READ_FILE);
OwnedFile realCreateObjFile(lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb, llvm::StringRef archive,
                            bool lazy) REAL(CREATE_OBJ_FILE);
OwnedFile wrapCreateObjFile(lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb, llvm::StringRef archive,
                            bool lazy) WRAP(CREATE_OBJ_FILE);
void realBitcodeFile(void *file, lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb,
                     llvm::StringRef archive, uint64_t offset, bool lazy) REAL(BITCODE_FILE);
void wrapBitcodeFile(void *file, lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb,
                     llvm::StringRef archive, uint64_t offset, bool lazy) WRAP(BITCODE_FILE);
void realReadLinkerScript(lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb) REAL(READ_LINKER_SCRIPT);
void wrapReadLinkerScript(lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb) WRAP(READ_LINKER_SCRIPT);
/// `files` is a SmallVector<std::unique_ptr<InputFile>, 0>.
void realParseFiles(lld::elf::Ctx &ctx, const void *files) REAL(PARSE_FILES);
void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) WRAP(PARSE_FILES);
void realSplitSections32LE(lld::elf::Ctx &ctx) REAL(SPLIT_SECTIONS_32LE);
void wrapSplitSections32LE(lld::elf::Ctx &ctx) WRAP(SPLIT_SECTIONS_32LE);
void realSplitSections64LE(lld::elf::Ctx &ctx) REAL(SPLIT_SECTIONS_64LE);
void wrapSplitSections64LE(lld::elf::Ctx &ctx) WRAP(SPLIT_SECTIONS_64LE);
void realSplitSections32BE(lld::elf::Ctx &ctx) REAL(SPLIT_SECTIONS_32BE);
void wrapSplitSections32BE(lld::elf::Ctx &ctx) WRAP(SPLIT_SECTIONS_32BE);
void realSplitSections64BE(lld::elf::Ctx &ctx) REAL(SPLIT_SECTIONS_64BE);
void wrapSplitSections64BE(lld::elf::Ctx &ctx) WRAP(SPLIT_SECTIONS_64BE);
uint64_t realXxh3(llvm::ArrayRef<uint8_t> data) REAL(XXH3_64BITS);
uint64_t wrapXxh3(llvm::ArrayRef<uint8_t> data) WRAP(XXH3_64BITS);
void realProcessSectionCommands(void *script) REAL(PROCESS_SECTION_COMMANDS);
void wrapProcessSectionCommands(void *script) WRAP(PROCESS_SECTION_COMMANDS);
bool realMatch(const lld::StringMatcher *matcher, llvm::StringRef name) REAL(MATCH);
bool wrapMatch(const lld::StringMatcher *matcher, llvm::StringRef name) WRAP(MATCH);
int realGetPriority(llvm::StringRef name) REAL(GET_PRIORITY);
int wrapGetPriority(llvm::StringRef name) WRAP(GET_PRIORITY);
void realReplace(lld::elf::InputSection *kept, lld::elf::InputSection *folded) REAL(REPLACE);
void wrapReplace(lld::elf::InputSection *kept, lld::elf::InputSection *folded) WRAP(REPLACE);
frontload::SectionOrder realCallGraphOrder(lld::elf::Ctx &ctx) REAL(CALL_GRAPH_ORDER);
frontload::SectionOrder wrapCallGraphOrder(lld::elf::Ctx &ctx) WRAP(CALL_GRAPH_ORDER);
frontload::SectionOrder realBalancedPartitioning(lld::elf::Ctx &ctx, llvm::StringRef profile,
                                                 bool ofCode, bool ofData, bool ofStartup,
                                                 bool isVerbose) REAL(BALANCED_PARTITIONING);
frontload::SectionOrder wrapBalancedPartitioning(lld::elf::Ctx &ctx, llvm::StringRef profile,
                                                 bool ofCode, bool ofData, bool ofStartup,
                                                 bool isVerbose) WRAP(BALANCED_PARTITIONING);
void realGrow(llvm::SmallVectorBase<uint32_t> *vector, void *first, size_t minSize,
              size_t elementSize) REAL(GROW);
void wrapGrow(llvm::SmallVectorBase<uint32_t> *vector, void *first, size_t minSize,
              size_t elementSize) WRAP(GROW);
void realTarAppend(llvm::TarWriter *tar, llvm::StringRef path, llvm::StringRef data)
    REAL(TAR_APPEND);
void wrapTarAppend(llvm::TarWriter *tar, llvm::StringRef path, llvm::StringRef data)
    WRAP(TAR_APPEND);

using OutputBuffer = std::unique_ptr<llvm::FileOutputBuffer>;
llvm::Expected<OutputBuffer> realCreateOutput(llvm::StringRef path, size_t size, unsigned flags)
    REAL(CREATE_OUTPUT);
llvm::Expected<OutputBuffer> wrapCreateOutput(llvm::StringRef path, size_t size, unsigned flags)
    WRAP(CREATE_OUTPUT);
void realUnlinkAsync(llvm::StringRef path) REAL(UNLINK_ASYNC);
void wrapUnlinkAsync(llvm::StringRef path) WRAP(UNLINK_ASYNC);
void realOpenStream(llvm::raw_fd_ostream *stream, llvm::StringRef path, std::error_code &error,
                    llvm::sys::fs::OpenFlags flags) REAL(OPEN_STREAM);
void wrapOpenStream(llvm::raw_fd_ostream *stream, llvm::StringRef path, std::error_code &error,
                    llvm::sys::fs::OpenFlags flags) WRAP(OPEN_STREAM);
llvm::Error realWriteTimeTrace(llvm::StringRef path, llvm::StringRef output) REAL(WRITE_TIME_TRACE);
llvm::Error wrapWriteTimeTrace(llvm::StringRef path, llvm::StringRef output) WRAP(WRITE_TIME_TRACE);

#endif
