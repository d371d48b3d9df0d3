//===- memory_file.cpp - a file in memory that other processes can open ----===//

#include "other_lld/memory_file.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace frontload {

MemoryFile::~MemoryFile() {
  if (file >= 0)
    close(file);
}

Expected<MemoryFile> MemoryFile::make(StringRef contents) {
  MemoryFile result;
  result.file = memfd_create("frontload", MFD_CLOEXEC);
  if (result.file < 0)
    return createStringError(errnoAsErrorCode(),
                             "cannot make a file in memory: " + errnoAsErrorCode().message());
  raw_fd_ostream os(result.file, /*shouldClose=*/false);
  os << contents;
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (error)
    return createStringError(error, "cannot write a file in memory: " + error.message());
  return result;
}

std::string MemoryFile::path() const {
  return ("/proc/" + Twine(sys::Process::getProcessId()) + "/fd/" + Twine(file)).str();
}

Expected<std::string> MemoryFile::contents() const {
  auto buffer = MemoryBuffer::getFile(path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return errorCodeToError(buffer.getError());
  return (*buffer)->getBuffer().str();
}

} // namespace frontload
