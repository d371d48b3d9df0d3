//===- other_lld.cpp - a link by an lld that knows nothing of fronts -------===//

#include "other_lld/other_lld.h"
#include "other_lld/child_process.h"
#include "other_lld/interposer/plan_format.h"
#include "other_lld/linker_texts.h"
#include "other_lld/placed_sections.h"
#include "plan/front_note.h"
#include "program/diagnostics.h"
#include "program/own_files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace frontload {

namespace {
/// One run of the linker.
class Run {
public:
  Run(const OtherLink &o, const LinkInputs &i, FrontLink &l, StagedFiles &f)
      : other(o), inputs(i), link(l), files(f), texts(o) {}

  Error prepare();
  int run();
  /// Where the output is; empty if it is no file.
  const std::string &output() const { return linked; }

private:
  Error findLibrary();
  void nameOutput();
  std::vector<std::string> arguments() const;
  std::string preloaded() const;
  Error tellPlaced(const Finished &finished);

  const OtherLink &other;
  const LinkInputs &inputs;
  FrontLink &link;
  StagedFiles &files;
  LinkerTexts texts;
  std::optional<LinkPlan> plan;
  MemoryFile script, note;
  std::string library;
  MemoryFile libraryCopy;
  std::string linked; ///< where the output is written
  StandIns standIns;
};
} // namespace

/// The first of `buffer` and its members that is bitcode; empty if none is.
static std::string findBitcode(MemoryBufferRef buffer) {
  auto isBitcode = [](MemoryBufferRef file) {
    return identify_magic(file.getBuffer()) == file_magic::bitcode;
  };
  if (isBitcode(buffer))
    return buffer.getBufferIdentifier().str();
  std::string result;
  Error error = Error::success();
  object::Archive archive(buffer, error); // an error if it is no archive
  if (!error)
    for (const object::Archive::Child &child : archive.children(error)) {
      std::optional<MemoryBufferRef> member = expectedToOptional(child.getMemoryBufferRef());
      if (member && isBitcode(*member) && result.empty())
        result = (buffer.getBufferIdentifier() + "(" + member->getBufferIdentifier() + ")").str();
    }
  consumeError(std::move(error));
  return result;
}

/// Whether the built-in lld and another one can both read all inputs; reports why not.
static bool areReadableTwice(const LinkInputs &inputs) {
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

/// Names the output beside the previous one, which stays until the new one is good.
void Run::nameOutput() {
  sys::fs::file_status status;
  if (!sys::fs::status(other.output, status) && status.type() != sys::fs::file_type::regular_file)
    return; // /dev/null
  linked = nameForStaged(other.output);
  files.addOutput(other.output, linked);
  standIns.suffix = linked.substr(other.output.size());
}

/// Finds the library to preload.
Error Run::findLibrary() {
  Expected<std::string> found = findOwnLibrary("libfrontload-lld.so");
  if (!found)
    return found.takeError();
  library = std::move(*found);
  if (StringRef(library).find_first_of(" :") == StringRef::npos)
    return Error::success();
  // Spaces and colons separate the names in LD_PRELOAD.
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
  std::string text = link.script() + link.laterScript(); // settles which patterns are used
  Expected<LinkPlan> made =
      LinkPlan::make(inputs, link, link.gathersStrings() ? other.program.hash : nullptr);
  if (!made)
    return made.takeError();
  plan = std::move(*made);
  for (auto [file, contents] :
       {std::pair(&script, text),
        {&note, inputs.like ? makeNoteObject(inputs.like->getBuffer(), link.copiesConstants())
                            : std::string()}}) {
    Expected<MemoryFile> written = MemoryFile::make(contents);
    if (!written)
      return written.takeError();
    *file = std::move(*written);
  }
  if (Error e = findLibrary())
    return e;
  nameOutput();
  standIns.script = script.path();
  standIns.note = note.path();
  standIns.profile = link.profilePath();
  return texts.makeFiles();
}

std::vector<std::string> Run::arguments() const {
  std::vector<std::string> result;
  // The linker's messages go to a file first, so it would leave out colors.
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
  llvm::append_range(result, texts.options());
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

/// Tells `link` which planned sections are in the output.
Error Run::tellPlaced(const Finished &finished) {
  if (other.needsMap) {
    Expected<std::string> text =
        other.printsMap ? standIns.restored(finished.output) : texts.map(standIns);
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
  // For the linker alone: this process starts no other program.
  setenv("LD_PRELOAD", preloaded().c_str(), /*overwrite=*/true);
  setenv(FRONTLOAD_PLAN_VARIABLE, plan->path().c_str(), /*overwrite=*/true);
  Expected<Finished> finished = runProgram({other.program.path, other.program.flavor, arguments()});
  if (!finished)
    return fail(finished.takeError(), "link without --lld");
  outs() << standIns.restored(finished->output);
  outs().flush();
  errs() << standIns.restored(finished->errors);
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
    error(other.program.path + ": it wrote no output, and does not say why",
          "give --lld the path of an ld.lld, or leave it out");
    return exitUsage;
  }
  if (Error e = texts.restore(standIns, files))
    return fail(std::move(e), "write it to another place");
  if (Error e = tellPlaced(*finished))
    return fail(std::move(e), "link without --front-report");
  plan->tellStrings(link);
  link.account().finish();
  return EXIT_SUCCESS;
}

int linkByOther(const OtherLink &other, const LinkInputs &inputs, FrontLink &link,
                StagedFiles &files, std::string &linked) {
  if (!areReadableTwice(inputs))
    return exitUsage;
  Run run(other, inputs, link, files);
  if (Error e = run.prepare()) {
    error(toString(std::move(e)), "link without --lld");
    return exitUsage;
  }
  int code = run.run();
  if (code == EXIT_SUCCESS)
    linked = run.output();
  return code;
}

} // namespace frontload
