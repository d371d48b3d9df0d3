//===- other_lld.cpp - a link by an lld that knows nothing of fronts -------===//

#include "other_lld/other_lld.h"
#include "other_lld/child_process.h"
#include "other_lld/interposer/plan_format.h"
#include "plan/front_note.h"
#include "plan/section_marks.h"
#include "program/diagnostics.h"
#include "program/output_file.h"
#include "program/own_files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

using namespace llvm;

namespace frontload {

/// What stands for our inputs in messages and maps, as it does for those of the embedded lld.
static constexpr StringLiteral ourName = "<frontload>";

static void replaceAll(std::string &text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

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

/// Whether all inputs are there before the link and in it; says why not.
static bool areAllThere(const LinkInputs &inputs) {
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

/// The first lld whose --time-trace takes a name; it was --time-trace-file before.
static constexpr unsigned firstLldThatNamesTraces = 15;

namespace {
/// A text that the linker writes. It goes through our hands, by a temporary file.
struct TextFile {
  std::string option;    ///< that has the name, up to that
  std::string path;      ///< where it is wanted; empty if only we want it
  std::string temporary; ///< where the linker writes it; empty if it writes none
};

/// One run of the linker.
class Run {
public:
  Run(const OtherLink &o, const LinkInputs &i, FrontLink &l) : other(o), inputs(i), link(l) {}
  ~Run() {
    removeFile(linked);
    for (const TextFile *file : texts())
      removeFile(file->temporary);
  }

  Error prepare();
  int run();
  /// Leaves the output to the caller. Under this name it is still removed by a signal.
  std::string takeOutput() { return std::exchange(linked, ""); }

private:
  Error findLibrary();
  Error nameOutput();
  Error nameTexts();
  std::vector<std::string> arguments();
  std::string preloaded() const;
  std::string restored(std::string text) const;
  Expected<std::string> read(const TextFile &file) const;
  Error restoreTexts();
  Error tellPlaced(const Finished &finished);
  static void removeFile(const std::string &path) {
    if (path.empty())
      return;
    sys::fs::remove(path);
    sys::DontRemoveFileOnSignal(path);
  }

  const OtherLink &other;
  const LinkInputs &inputs;
  FrontLink &link;
  std::optional<LinkPlan> plan;
  MemoryFile script, note;
  std::string library;
  MemoryFile libraryCopy;
  std::string linked; ///< where the output is written
  std::string suffix; ///< what that has behind the name of the output
  TextFile map, dependencies, removed, trace;
  std::array<TextFile *, 4> texts() { return {&map, &dependencies, &removed, &trace}; }
};
} // namespace

/// A name for the output beside the one that is there, which stays until the new one is good.
Error Run::nameOutput() {
  sys::fs::file_status status;
  if (!sys::fs::status(other.output, status) && status.type() != sys::fs::file_type::regular_file)
    return Error::success(); // /dev/null
  linked = nameBeside(other.output, "-frontload-");
  suffix = linked.substr(other.output.size());
  sys::RemoveFileOnSignal(linked);
  return Error::success();
}

/// Temporary files for what the linker writes.
Error Run::nameTexts() {
  bool namesTrace = other.program.version >= firstLldThatNamesTraces;
  map = {"-Map=", other.map, ""};
  dependencies = {"--dependency-file=", other.dependencyFile, ""};
  removed = {"--print-gc-sections=", other.removedFile, ""};
  trace = {namesTrace ? "--time-trace=" : "--time-trace-file=", other.timeTrace.value_or(""), ""};
  if (other.timeTrace && trace.path.empty())
    trace.path = other.output + ".time-trace";
  if (other.printsMap)
    map.path = "";
  for (TextFile *file : texts()) {
    bool isOurs = file == &map && other.needsMap && !other.printsMap;
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

/// What is to be preloaded.
Error Run::findLibrary() {
  Expected<std::string> found = findOwnLibrary("libfrontload-lld.so");
  if (!found)
    return found.takeError();
  library = std::move(*found);
  if (StringRef(library).find_first_of(" :") == StringRef::npos)
    return Error::success();
  // These separate the names in LD_PRELOAD.
  auto contents = MemoryBuffer::getFile(library, false, false);
  if (!contents)
    return createStringError(contents.getError(), library + ": " + contents.getError().message());
  Expected<MemoryFile> copy = MemoryFile::make((*contents)->getBuffer());
  if (!copy)
    return copy.takeError();
  libraryCopy = std::move(*copy);
  library = libraryCopy.path();
  return Error::success();
}

Error Run::prepare() {
  std::string text = link.script(); // decides what of the plan is of use
  Expected<LinkPlan> made =
      LinkPlan::make(inputs, link, link.gathersStrings() ? other.program.hash : nullptr);
  if (!made)
    return made.takeError();
  plan = std::move(*made);
  for (auto [file, contents] :
       {std::pair(&script, text),
        {&note, inputs.like ? makeNoteObject(inputs.like->getBuffer()) : std::string()}}) {
    Expected<MemoryFile> written = MemoryFile::make(contents);
    if (!written)
      return written.takeError();
    *file = std::move(*written);
  }
  if (Error e = findLibrary())
    return e;
  if (Error e = nameOutput())
    return e;
  return nameTexts();
}

std::vector<std::string> Run::arguments() {
  std::vector<std::string> result;
  // What it says goes through our hands first.
  if (sys::Process::StandardErrHasColors())
    result.push_back("--color-diagnostics");
  llvm::append_range(result, other.args);
  if (other.opensLib)
    result.push_back("--end-lib");
  if (inputs.like)
    llvm::append_range(result, std::vector<std::string>{"--format=default", note.path()});
  llvm::append_range(result, std::vector<std::string>{"-T", script.path()});
  if (!linked.empty())
    llvm::append_range(result, std::vector<std::string>{"-o", linked});
  for (const TextFile *file : texts())
    if (!file->temporary.empty())
      result.push_back(file->option + file->temporary);
  return result;
}

/// The value for LD_PRELOAD.
std::string Run::preloaded() const {
  std::string result = library;
  if (std::optional<std::string> others = sys::Process::GetEnv("LD_PRELOAD");
      others && !others->empty())
    result += ":" + *others;
  return result;
}

/// Text of the linker as if it had linked the files as they are.
std::string Run::restored(std::string text) const {
  text = withoutMarks(std::move(text));
  if (!suffix.empty())
    replaceAll(text, suffix, "");
  replaceAll(text, script.path(), ourName);
  replaceAll(text, note.path(), ourName);
  return text;
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

/// What the linker has written.
Expected<std::string> Run::read(const TextFile &file) const {
  auto text = MemoryBuffer::getFile(file.temporary, false, false);
  if (!text)
    return createStringError(text.getError(), file.temporary + ": " + text.getError().message());
  std::string written = (*text)->getBuffer().str();
  // The script is made of the profile, of which the linker knows nothing.
  if (&file == &dependencies && sys::fs::is_regular_file(link.profilePath()))
    replaceAll(written, script.path(), escapedForMake(link.profilePath()));
  return restored(std::move(written));
}

/// Puts what the linker has written where it is wanted.
Error Run::restoreTexts() {
  for (const TextFile *file : texts()) {
    if (file->temporary.empty() || (file->path.empty() && !other.printsReferences))
      continue;
    Expected<std::string> text = read(*file);
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
    if (Error e = writeOutputFile(file->path, [&](raw_ostream &os) { os << *text; }))
      return createStringError(file->path + ": " + toString(std::move(e)));
  }
  return Error::success();
}

/// Tells the plan what is in the output.
Error Run::tellPlaced(const Finished &finished) {
  if (other.needsMap) {
    Expected<std::string> text = other.printsMap ? restored(finished.output) : read(map);
    if (!text)
      return text.takeError();
    placeByMap(link, plan->sections(), *text);
    return Error::success();
  }
  auto output = MemoryBuffer::getFile(linked, false, false);
  placeBySymbols(link, plan->sections(), output ? (*output)->getBuffer() : StringRef());
  return Error::success();
}

int Run::run() {
  auto fail = [](Error e, const Twine &remedy) {
    error(toString(std::move(e)), remedy);
    return exitUsage;
  };
  Expected<Finished> finished =
      runProgram({other.program.path, other.program.flavor, arguments()},
                 {"LD_PRELOAD=" + preloaded(), FRONTLOAD_PLAN_VARIABLE "=" + plan->path()});
  if (!finished)
    return fail(finished.takeError(), "link without --lld");
  outs() << restored(finished->output);
  outs().flush();
  errs() << restored(finished->errors);
  if (finished->signal)
    error(other.program.path + ": killed by signal " + Twine(finished->signal) + " (" +
              strsignal(finished->signal) + ")",
          "link without --startup-profile to see whether it can link this");
  if (finished->exitCode != 0)
    return finished->exitCode;
  if (std::string unserved = plan->unserved(); !unserved.empty()) {
    error(unserved, "link again; if that does not help, " + other.program.path +
                        " does not load libraries by LD_PRELOAD: leave out --lld");
    return exitUsage;
  }
  if (!linked.empty() && !sys::fs::exists(linked)) {
    error(other.program.path + ": it has written no output, and does not say why",
          "give --lld the path of an ld.lld, or leave it out");
    return exitUsage;
  }
  if (Error e = restoreTexts())
    return fail(std::move(e), "have it written to another place");
  if (Error e = tellPlaced(*finished))
    return fail(std::move(e), "link without --front-report");
  plan->tellStrings(link);
  link.finish();
  return EXIT_SUCCESS;
}

int linkByOther(const OtherLink &other, const LinkInputs &inputs, FrontLink &link,
                std::string &linked) {
  if (!areAllThere(inputs))
    return exitUsage;
  Run run(other, inputs, link);
  if (Error e = run.prepare()) {
    error(toString(std::move(e)), "link without --lld");
    return exitUsage;
  }
  int code = run.run();
  if (code == EXIT_SUCCESS)
    linked = run.takeOutput();
  return code;
}

} // namespace frontload
