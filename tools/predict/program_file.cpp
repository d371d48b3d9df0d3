//===- program_file.cpp - the program of a prediction ----------------------===//

#include "predict/program_file.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

std::unique_ptr<MemoryBuffer> readFile(const Twine &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    fail(exitUsage, path + ": " + buffer.getError().message(),
         "give the path of a file that can be read");
  return std::move(*buffer);
}

ProgramFile::ProgramFile(const std::string &p) : path(p), buffer(readFile(p)) {
  auto object = orExit(ObjectFile::createELFObjectFile(*buffer), path + ": ", linkedFileNote);
  elf.reset(cast<ELFObjectFileBase>(object.release()));
  name = sys::path::filename(path).str();
  buildId = toStringRef(getBuildID(elf.get())).str();
}

bool ProgramFile::isModule(StringRef modulePath, StringRef id) const {
  return id.empty() || buildId.empty() ? sys::path::filename(modulePath) == name : id == buildId;
}

bool ProgramFile::isSameBuild(const ProgramFile &other) const {
  // Comparing the bytes of a large file reads all of it.
  return sys::fs::equivalent(path, other.path) || bytes() == other.bytes();
}

} // namespace frontload
