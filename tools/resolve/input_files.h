//===- input_files.h - the objects of some files ---------------------------===//
//
// A linker hands its objects over one by one. Outside a link they come as files: objects, archives,
// thin archives, or one linked file.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_RESOLVE_INPUT_FILES_H
#define FRONTLOAD_TOOLS_RESOLVE_INPUT_FILES_H

#include "startup_set/input_object.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <deque>
#include <memory>
#include <vector>

namespace frontload {

/// A file that cannot be opened; other errors are about the contents of a file.
class CannotOpen : public llvm::ErrorInfo<CannotOpen> {
public:
  static char ID;
  CannotOpen(const llvm::Twine &path, std::error_code e)
      : message((path + ": " + e.message()).str()) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string message;
};

class InputFiles {
public:
  /// Adds the objects of a file. Members of archives that are no ELF objects (bitcode, say) are
  /// only counted.
  llvm::Error add(const std::string &path);

  llvm::ArrayRef<InputObject> objects() const { return all; }
  unsigned numOthers() const { return others; }

private:
  llvm::Error addArchive(const std::string &path, llvm::MemoryBufferRef buffer);

  std::deque<std::unique_ptr<llvm::MemoryBuffer>> buffers;
  std::deque<std::unique_ptr<llvm::object::Archive>> archives; // own the members of thin archives
  std::deque<std::string> paths;
  std::vector<InputObject> all;
  unsigned others = 0;
};

} // namespace frontload

#endif
