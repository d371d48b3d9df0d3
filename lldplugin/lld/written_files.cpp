//===- written_files.cpp - what lld writes is held back until all is good --===//

#include "lld/written_files.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/hook_calls.h"
#include "lld/lld_symbols.h"
#include "program/output_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/TimeProfiler.h"
#include <vector>

using namespace llvm;
using namespace frontload;

static bool isHolding;
static std::vector<StringRef> arguments;
static std::string outputPath;
static FinishBytes finishBytes;
static bool isFinished;
static bool hasShown; // text that has gone to where it cannot be taken back

// lld exits by _exit(), after it has destroyed the objects that LLVM manages.
static ManagedStatic<StagedFiles> staged;
StagedFiles &frontload::stagedFiles() { return *staged; }

void frontload::holdWrittenFiles(ArrayRef<const char *> args, std::string output,
                                 FinishBytes finish) {
  isHolding = true;
  arguments.assign(args.begin(), args.end());
  outputPath = std::move(output);
  finishBytes = std::move(finish);
}

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
    hookCalls.require(Hook::UnlinkAsync);
    auto *bytes = reinterpret_cast<char *>(buffer->getBufferStart());
    auto discardAll = [&] {
      discard();
      staged->discard();
    };
    if (int code = finishBytes({bytes, buffer->getBufferSize()}, !temporary.empty(), discardAll))
      lld::exitLld(code);
    isFinished = true;
  }

  std::string temporary;
  OutputBuffer buffer;
};
} // namespace

/// Whether a link makes a regular file at `path`, instead of writing to a device or the like.
static bool makesFile(StringRef path) {
  sys::fs::file_status status;
  return sys::fs::status(path, status) || status.type() == sys::fs::file_type::regular_file;
}

Expected<OutputBuffer> wrapCreateOutput(StringRef path, size_t size, unsigned flags) {
  hookCalls.count(Hook::CreateOutput);
  if (!isHolding)
    return realCreateOutput(path, size, flags);
  std::string temporary = makesFile(path) ? nameForStaged(path) : "";
  Expected<OutputBuffer> buffer =
      realCreateOutput(temporary.empty() ? path : StringRef(temporary), size, flags);
  if (!buffer)
    return buffer;
  return std::make_unique<HeldOutput>(path, std::move(temporary), std::move(*buffer));
}

void wrapUnlinkAsync(StringRef path) {
  hookCalls.count(Hook::UnlinkAsync);
  // The held output replaces the previous file when it is good.
  if (!isHolding)
    realUnlinkAsync(path);
}

bool frontload::hasFinishedOutput() { return isFinished; }
bool frontload::hasShownText() { return hasShown; }

/// Whether the command line has this path. Other files are for lld's own use.
static bool isNamed(StringRef path) {
  return any_of(arguments, [&](StringRef argument) { return argument.ends_with(path); });
}

void wrapOpenStream(raw_fd_ostream *stream, StringRef path, std::error_code &error,
                    sys::fs::OpenFlags flags) {
  std::optional<std::string> place;
  if (isHolding && (path == "-" || isNamed(path))) {
    place = path == "-" ? std::nullopt : replaceableFile(path);
    hasShown |= !place;
  }
  // lld reports a file that it may not write.
  if (!place || (sys::fs::exists(*place) && !sys::fs::can_write(*place)))
    return realOpenStream(stream, path, error, flags);
  std::string temporary = staged->stage(*place);
  realOpenStream(stream, temporary, error, flags);
  if (auto previous = sys::fs::getPermissions(*place); previous && !error)
    sys::fs::setPermissions(temporary, *previous);
}

Error wrapWriteTimeTrace(StringRef path, StringRef output) {
  if (!isHolding || path == "-")
    return realWriteTimeTrace(path, output);
  // The name that LLVM would choose.
  std::string named = path.str();
  if (path.empty())
    named = (output == "-" ? "out" : output.str()) + ".time-trace";
  SmallString<0> text;
  raw_svector_ostream os(text);
  timeTraceProfilerWrite(os);
  Error e = writeOutputFile(staged->stage(named), [&](raw_ostream &file) { file << text; });
  if (e)
    return createStringError("Could not open " + named + ": " + toString(std::move(e)));
  return Error::success();
}
