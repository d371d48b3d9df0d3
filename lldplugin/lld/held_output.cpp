// The output is held back until it is good.
#include "lld/held_output.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/hook_calls.h"
#include "lld/lld_symbols.h"
#include "llvm/Support/ManagedStatic.h"

using namespace llvm;
using namespace frontload;

static std::string outputPath;
static FinishBytes finishBytes; // null: nothing is held back
static bool isFinished;

// lld exits by _exit(), after it has destroyed the objects that LLVM manages.
static ManagedStatic<StagedFiles> staged;
StagedFiles &frontload::stagedFiles() { return *staged; }

void frontload::holdOutput(std::string output, FinishBytes finish) {
  outputPath = std::move(output);
  finishBytes = std::move(finish);
}

bool frontload::hasFinishedOutput() { return isFinished; }

namespace {
/// An output that is finished before it is written: to the file `temporary` or, if that is empty,
/// in place.
class HeldOutput final : public FileOutputBuffer {
public:
  HeldOutput(StringRef path, std::string t, OutputBuffer b)
      : FileOutputBuffer(path), temporary(std::move(t)), buffer(std::move(b)) {}

  uint8_t *getBufferStart() const override { return buffer->getBufferStart(); }
  uint8_t *getBufferEnd() const override { return buffer->getBufferEnd(); }
  size_t getBufferSize() const override { return buffer->getBufferSize(); }
  void discard() override { buffer->discard(); }
  Error commit() override {
    if (FinalPath == outputPath)
      finish();
    if (!temporary.empty())
      staged->addOutput(FinalPath, temporary);
    return buffer->commit();
  }

private:
  void finish() {
    calls::unlinkAsync.require();
    auto *bytes = reinterpret_cast<char *>(buffer->getBufferStart());
    if (int code = finishBytes({bytes, buffer->getBufferSize()}, !temporary.empty()))
      lld::exitLld(code);
    isFinished = true;
  }

  std::string temporary;
  OutputBuffer buffer;
};
} // namespace

Expected<OutputBuffer> wrapCreateOutput(StringRef path, size_t size, unsigned flags) {
  calls::createOutput.note();
  if (!finishBytes)
    return realCreateOutput(path, size, flags);
  std::string temporary = makesFile(path) ? nameForStaged(path) : "";
  Expected<OutputBuffer> buffer =
      realCreateOutput(temporary.empty() ? path : StringRef(temporary), size, flags);
  if (!buffer)
    return buffer;
  return std::make_unique<HeldOutput>(path, std::move(temporary), std::move(*buffer));
}

void wrapUnlinkAsync(StringRef path) {
  calls::unlinkAsync.note();
  // The held output replaces the previous file when it is good.
  if (!finishBytes)
    realUnlinkAsync(path);
}
