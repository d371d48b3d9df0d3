//===- child_process.cpp - runs another program ----------------------------===//

#include "other_lld/child_process.h"
#include "other_lld/memory_file.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace frontload {

static Error failure(const Twine &what) {
  std::error_code error = errnoAsErrorCode();
  return createStringError(error, what + ": " + error.message());
}

/// Moves the arguments to `response` if they are too many for the system.
static Error shorten(Command &command, MemoryFile &response) {
  std::vector<StringRef> all(command.args.begin(), command.args.end());
  if (sys::commandLineFitsWithinSystemLimits(command.program, all))
    return Error::success();
  std::string text;
  raw_string_ostream os(text);
  for (StringRef arg : all) {
    sys::printArg(os, arg, /*Quote=*/true);
    os << '\n';
  }
  Expected<MemoryFile> file = MemoryFile::make(text);
  if (!file)
    return file.takeError();
  response = std::move(*file);
  command.args = {"@" + response.path()};
  return Error::success();
}

/// The program's name, the arguments and a null pointer, as execve() takes them.
static std::vector<char *> vectorOf(Command &command) {
  std::vector<char *> result = {command.program.data()};
  for (auto *args : {&command.leading, &command.args})
    for (std::string &arg : *args)
      result.push_back(arg.data());
  result.push_back(nullptr);
  return result;
}

/// In the child: only what is allowed between fork and exec.
[[noreturn]] static void exec(char *const *args, int output, int errors, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
    execv(args[0], args);
  if (const char *reason = strerrordesc_np(errno))
    (void)!write(errors, reason, strlen(reason));
  _exit(127);
}

Expected<Finished> runProgram(Command command) {
  MemoryFile response;
  if (Error e = shorten(command, response))
    return e;
  std::vector<char *> args = vectorOf(command);
  Expected<MemoryFile> output = MemoryFile::make("");
  if (!output)
    return output.takeError();
  Expected<MemoryFile> errors = MemoryFile::make("");
  if (!errors)
    return errors.takeError();

  pid_t parent = getpid(), child = fork();
  if (child == 0)
    exec(args.data(), output->descriptor(), errors->descriptor(), parent);
  int status;
  if (child < 0 || sys::RetryAfterSignal(-1, waitpid, child, &status, 0) < 0)
    return failure(command.program);
  Finished result;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exitCode = result.signal ? 128 + result.signal : WEXITSTATUS(status);
  for (auto [text, file] : {std::pair(&result.output, &*output), {&result.errors, &*errors}}) {
    Expected<std::string> contents = file->contents();
    if (!contents)
      return contents.takeError();
    *text = std::move(*contents);
  }
  return result;
}

Error becomeProgram(Command command) {
  MemoryFile response;
  if (Error e = shorten(command, response))
    return e;
  if (int file = response.descriptor(); file >= 0 && fcntl(file, F_SETFD, 0) != 0)
    return failure("cannot keep a response file");
  execv(command.program.c_str(), vectorOf(command).data());
  return failure(command.program);
}

} // namespace frontload
