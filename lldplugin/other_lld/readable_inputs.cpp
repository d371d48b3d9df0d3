//===- readable_inputs.cpp - inputs that two linkers can read --------------===//

#include "other_lld/readable_inputs.h"
#include "program/diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace frontload {

/// The first of `buffer` and its members that is bitcode; empty if none is.
static std::string findBitcode(MemoryBufferRef buffer) {
  file_magic magic = identify_magic(buffer.getBuffer());
  if (magic == file_magic::bitcode)
    return buffer.getBufferIdentifier().str();
  if (magic != file_magic::archive)
    return "";
  Expected<std::unique_ptr<object::Archive>> archive = object::Archive::create(buffer);
  if (!archive)
    return consumeError(archive.takeError()), "";
  std::string result;
  Error error = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    Expected<MemoryBufferRef> member = child.getMemoryBufferRef();
    if (!member) {
      consumeError(member.takeError());
      continue;
    }
    if (identify_magic(member->getBuffer()) == file_magic::bitcode) {
      result = (buffer.getBufferIdentifier() + "(" + member->getBufferIdentifier() + ")").str();
      break;
    }
  }
  consumeError(std::move(error));
  return result;
}

bool areAllThere(const LinkInputs &inputs) {
  for (const LinkInputs::File &file : inputs.files) {
    StringRef path = file.buffer.getBufferIdentifier();
    sys::fs::file_status status;
    if (!sys::fs::status(path, status) &&
        is_contained({sys::fs::file_type::fifo_file, sys::fs::file_type::socket_file},
                     status.type())) {
      error(path + ": it can be read only once, and --lld has two linkers read it",
            "write it to a file, or leave out --lld");
      return false;
    }
    if (std::string bitcode = findBitcode(file.buffer); !bitcode.empty()) {
      error(bitcode + ": objects that are made during the link (LTO) are only known to the "
                      "built-in lld",
            "leave out --lld, or compile without -flto");
      return false;
    }
  }
  return true;
}

} // namespace frontload
