// frontload-valgrind: records which code and data an unmodified program touches, in order of first
// touch, by running it in valgrind with a tool of ours (tool.c).
//
// This file holds the command line, and the checks before the program runs. Then valgrind replaces
// this process, with its signals, terminal and exit status.
#include "format/frontload_debug_file.h"
#include "format/frontload_role.h"
#include "recorder/command_line.h"
#include "recorder/diagnostics.h"
#include "recorder/program_file.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

const char frontload::toolName[] = "frontload-valgrind";

static constexpr char overview[] =
    "frontload-valgrind [options] -- COMMAND [ARGUMENT...]\n\n"
    "Runs a command in valgrind and records which 16-byte granules of its code it executes, and\n"
    "which of its data it reads or writes, in order of first touch. Each process gets a trace, "
    "and\n"
    "a new one at each exec. The trace of a forked child has all that it touches. A trace never\n"
    "replaces a file: if its name is taken, it gets .1, .2 and so on. The command runs some forty\n"
    "times slower, and goes on in valgrind when the recording has ended.\n\n"
    "A trace does not contain what the loader touches to relocate the program, or what only the\n"
    "kernel reads, such as the text of write(1, text, size). The exit status is that of the\n"
    "command.\n";
static cl::extrahelp moreHelp(R"(
examples:
  # record which bytes of its code and data a program touches
  frontload-valgrind --output=app.fltrace -- ./app --version
  # of a server, until it is ready
  frontload-valgrind --until=serve_requests -- ./server

exit status:
  2      the options are wrong
  125    frontload-valgrind failed
  126    the command cannot be executed
  127    the command was not found
  128+N  signal N ended the command

environment:
  FRONTLOAD_ROLE  the role of the command, and of what it starts, in the traces; --role sets it
  PATH            where valgrind is
)");

/// The folder with the tool, beside links to valgrind's own files.
static std::string toolFolder() {
  std::string self = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&toolFolder));
  SmallString<256> folder = sys::path::parent_path(sys::path::parent_path(self));
  sys::path::append(folder, "lib", "frontload", "valgrind");
  return folder.str().str();
}

/// Whether a command can be recorded at all; a script's interpreter is not checked. If the program
/// is stripped, and its debug file is found, `symbols` becomes BUILD-ID:PATH of that file.
static int checkProgram(const std::string &name, std::string &symbols) {
  auto found = sys::findProgramByName(name);
  SmallString<256> path;
  if (std::error_code code = found ? sys::fs::real_path(*found, path) : found.getError())
    return fail(createStringError(code, name + ": cannot be executed: " + code.message()),
                status_of_exec_error(code.value()), HOW_TO_EXECUTE);
  if (!sys::fs::can_execute(path))
    return fail(createStringError(name + ": cannot be executed: no permission, or no file"),
                EXIT_NOT_EXECUTABLE, HOW_TO_EXECUTE);
  if (hasOwnRights(path.c_str()))
    return fail(createStringError(path + ": cannot be recorded: it has rights of its own "
                                         "(set-user-id, set-group-id or capabilities)"),
                EXIT_NOT_EXECUTABLE,
                "record a copy without them, as the user that has these rights");
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBuffer().starts_with("#!"))
    return EXIT_SUCCESS; // valgrind reports an unreadable file
  auto identity = ProgramFile::read(**file);
  if (!identity)
    return fail(createStringError(path + ": cannot be recorded: " + toString(identity.takeError())),
                EXIT_NOT_EXECUTABLE);
  if (identity->isLoader())
    return fail(createStringError(path + ": cannot be recorded: a loader"), EXIT_NOT_EXECUTABLE,
                "run the program itself");
  if (auto elf = object::ELFFile<object::ELF64LE>::create((*file)->getBuffer())) {
    if (auto debug = findDebugFile(*elf, path))
      symbols = toHex(readDebugConnection(*elf).buildId, /*LowerCase=*/true) + ":" +
                debug->getBufferIdentifier().str();
  } else {
    consumeError(elf.takeError());
  }
  return EXIT_SUCCESS;
}

static int record(char **arguments, const OutputPattern &pattern, const std::string &role) {
  if (!sys::fs::exists(toolFolder()))
    return fail(createStringError(toolFolder() + ": not found: the tool has a package of its own"),
                EXIT_FAILED,
                "install the package frontload-valgrind, or unpack "
                "frontload-VERSION-valgrind-….tar.xz over this installation");
  auto valgrind = sys::findProgramByName("valgrind");
  if (!valgrind)
    return fail(createStringError("valgrind: not found"), EXIT_FAILED,
                "install it: apt-get install valgrind");
  std::string symbols;
  if (int status = checkProgram(arguments[0], symbols))
    return status;
  // A trace that passes the limit for file sizes must not end us, but be reported.
  auto original = std::signal(SIGXFSZ, SIG_IGN);
  Error problem = pattern.check(arguments[0]);
  std::signal(SIGXFSZ, original);
  if (problem)
    return fail(std::move(problem), EXIT_FAILED, howToWrite);
  std::vector<std::string> words = {
      *valgrind,
      "--command-line-only=yes", // not the user's options for other tools
      "--tool=frontload",
      "--quiet",
      "--vgdb=no",
      "--num-callers=1", // messages.c says why
      "--trace-children=yes",
      "--output=" + pattern.absolute(),
  };
  for (const std::string &name : moduleOption) {
    SmallString<256> path(name);
    if (path.str().contains('/')) // relative to this folder, not to the program's later one
      sys::fs::make_absolute(path);
    words.push_back(("--module=" + path).str());
  }
  if (!role.empty()) {
    setenv(FRONTLOAD_ROLE_VARIABLE, role.c_str(), 1);
    words.push_back("--role=" + role);
  }
  if (!untilOption.empty())
    words.push_back("--until=" + untilOption);
  if (!symbols.empty())
    words.push_back("--symbols=" + symbols);
  if (forOption.getNumOccurrences())
    words.push_back("--for-milliseconds=" + std::to_string(std::lround(forOption * 1000)));
  words.push_back("--");
  for (char **argument = arguments; *argument; ++argument)
    words.push_back(*argument);
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  setenv("VALGRIND_LIB", toolFolder().c_str(), 1);
  execv(valgrind->c_str(), pointers.data());
  return fail(systemError(*valgrind, "cannot be executed"));
}

int main(int argc, char **argv) {
  auto commandLine = parseCommandLine(argc, argv, overview);
  if (!commandLine)
    return EXIT_USAGE;
  return record(commandLine->command, commandLine->pattern, commandLine->role);
}
