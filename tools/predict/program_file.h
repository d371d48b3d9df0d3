//===- program_file.h - the program of a prediction ------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_PROGRAM_FILE_H
#define FRONTLOAD_TOOLS_PREDICT_PROGRAM_FILE_H

#include "program/diagnostics.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace frontload {

/// The bytes of a file; ends the program if it cannot be read.
std::unique_ptr<llvm::MemoryBuffer> readFile(const llvm::Twine &path);

/// A linked file: its bytes, and LLVM's view of it. A file of another kind ends the program.
struct ProgramFile {
  explicit ProgramFile(const std::string &path);

  llvm::StringRef bytes() const { return buffer->getBuffer(); }
  /// Whether a trace's module is this file. Without build-ids, the base name decides.
  bool isModule(llvm::StringRef modulePath, llvm::StringRef id) const;
  bool isSameBuild(const ProgramFile &other) const;

  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::unique_ptr<llvm::object::ELFObjectFileBase> elf;
  std::string name, buildId;
};

/// The value of `expected`. An error ends the program, as bad contents of `thing`.
template <class T>
T orExit(llvm::Expected<T> expected, const llvm::Twine &thing, const llvm::Twine &note) {
  if (!expected)
    fail(exitData, thing + toString(expected.takeError()), note);
  return std::move(*expected);
}

/// What to do about a file that is not linked.
inline constexpr char linkedFileNote[] = "give a program or a shared library that was linked";

} // namespace frontload

#endif
