//===- linker_texts.cpp - what another lld writes besides its output -------===//

#include "other_lld/linker_texts.h"
#include "plan/section_marks.h"
#include "program/staged_files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"

using namespace llvm;

namespace frontload {

/// The name of our inputs in messages and maps, as for the embedded lld.
static constexpr StringLiteral ourName = "<frontload>";

/// The first lld whose --time-trace takes a name; it was --time-trace-file before.
static constexpr unsigned firstLldThatNamesTraces = 15;

static void replaceAll(std::string &text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string StandIns::restored(std::string text) const {
  text = withoutMarks(std::move(text));
  if (!suffix.empty())
    replaceAll(text, suffix, "");
  replaceAll(text, script, ourName);
  replaceAll(text, note, ourName);
  return text;
}

LinkerTexts::LinkerTexts(const OtherLink &o) : other(o) {
  bool namesTrace = other.program.version >= firstLldThatNamesTraces;
  mapFile = {"-Map=", other.printsMap ? "" : other.map, ""};
  dependencies = {"--dependency-file=", other.dependencyFile, ""};
  removed = {"--print-gc-sections=", other.removedFile, ""};
  trace = {namesTrace ? "--time-trace=" : "--time-trace-file=", other.timeTrace.value_or(""), ""};
  if (other.timeTrace && trace.path.empty())
    trace.path = other.output + ".time-trace";
}

LinkerTexts::~LinkerTexts() {
  for (const TextFile *file : all())
    if (!file->temporary.empty()) {
      sys::fs::remove(file->temporary);
      sys::DontRemoveFileOnSignal(file->temporary);
    }
}

Error LinkerTexts::makeFiles() {
  for (TextFile *file : {&mapFile, &dependencies, &removed, &trace}) {
    bool isOurs = file == &mapFile && other.needsMap && !other.printsMap;
    if (file->path.empty() && !isOurs)
      continue;
    SmallString<128> path;
    if (std::error_code e = sys::fs::createTemporaryFile("frontload", "txt", path))
      return createStringError(e, "cannot make a temporary file: " + e.message());
    file->temporary = path.str().str();
    sys::RemoveFileOnSignal(file->temporary);
  }
  return Error::success();
}

std::vector<std::string> LinkerTexts::options() const {
  std::vector<std::string> result;
  for (const TextFile *file : all())
    if (!file->temporary.empty())
      result.push_back(file->option + file->temporary);
  return result;
}

/// `path` as lld writes it into a dependency file.
static std::string escapedForMake(StringRef path) {
  std::string result;
  for (char c : path) {
    if (c == '$')
      result += '$';
    if (c == '#' || c == ' ')
      result += '\\';
    result += c;
  }
  return result;
}

Expected<std::string> LinkerTexts::read(const TextFile &file, const StandIns &standIns) const {
  auto text = MemoryBuffer::getFile(file.temporary, false, false);
  if (!text)
    return createStringError(text.getError(), file.temporary + ": " + text.getError().message());
  std::string written = (*text)->getBuffer().str();
  // The script stands for the profile, which the linker does not know.
  if (&file == &dependencies && sys::fs::is_regular_file(standIns.profile))
    replaceAll(written, standIns.script, escapedForMake(standIns.profile));
  return standIns.restored(std::move(written));
}

Error LinkerTexts::restore(const StandIns &standIns, StagedFiles &files) const {
  for (const TextFile *file : all()) {
    if (file->temporary.empty() || (file->path.empty() && !other.printsReferences))
      continue;
    Expected<std::string> text = read(*file, standIns);
    if (!text)
      return text.takeError();
    if (file->path.empty()) {
      // Without our map this would have been printed.
      outs() << StringRef(*text).substr(StringRef(*text).find("\nCross Reference Table\n"));
      outs().flush();
      continue;
    }
    if (file == &dependencies) {
      // Our other inputs are no files, so nothing can depend on them.
      replaceAll(*text, " \\\n " + ourName.str(), "");
      replaceAll(*text, "\n" + ourName.str() + ":\n", "");
    }
    if (Error e = writeOutputFile(files.stage(file->path), [&](raw_ostream &os) { os << *text; }))
      return createStringError(file->path + ": " + toString(std::move(e)));
  }
  return Error::success();
}

} // namespace frontload
