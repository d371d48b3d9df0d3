//===- child_process.cpp - runs another program ----------------------------===//

#include "other_lld/child_process.h"
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

Expected<Arguments> Arguments::make(Command command) {
  Arguments result;
  std::vector<StringRef> all(command.args.begin(), command.args.end());
  if (!sys::commandLineFitsWithinSystemLimits(command.program, all)) {
    std::string text;
    raw_string_ostream os(text);
    for (StringRef arg : all) {
      sys::printArg(os, arg, /*Quote=*/true);
      os << '\n';
    }
    Expected<MemoryFile> file = MemoryFile::make(text);
    if (!file)
      return file.takeError();
    result.responseFile = std::move(*file);
    command.args = {"@" + result.responseFile.path()};
  }
  result.command = std::move(command);
  return result;
}

std::vector<const char *> Arguments::vector() const {
  std::vector<const char *> result = {command.program.c_str()};
  for (const auto *args : {&command.leading, &command.args})
    for (const std::string &arg : *args)
      result.push_back(arg.c_str());
  result.push_back(nullptr);
  return result;
}

Error Arguments::keepForSuccessor() {
  if (int file = responseFile.descriptor(); file >= 0 && fcntl(file, F_SETFD, 0) != 0)
    return failure("cannot keep a response file");
  return Error::success();
}

/// In the child: only what is allowed between fork and exec.
[[noreturn]] static void exec(const char *program, const char *const *args,
                              const char *const *environment, int output, int errors,
                              pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
    execve(program, const_cast<char *const *>(args), const_cast<char *const *>(environment));
  if (const char *reason = strerrordesc_np(errno))
    (void)!write(errors, reason, strlen(reason));
  _exit(127);
}

Expected<Finished> runProgram(Command command, ArrayRef<std::string> environment) {
  const std::string program = command.program;
  Expected<Arguments> arguments = Arguments::make(std::move(command));
  if (!arguments)
    return arguments.takeError();
  std::vector<const char *> argv = arguments->vector(), env;
  // The first variable of a name counts.
  for (const std::string &variable : environment)
    env.push_back(variable.c_str());
  for (char **variable = environ; *variable; ++variable)
    if (none_of(environment, [&](StringRef ours) {
          return StringRef(*variable).starts_with(
              ours.take_until([](char c) { return c == '='; }).str() + "=");
        }))
      env.push_back(*variable);
  env.push_back(nullptr);
  Expected<MemoryFile> output = MemoryFile::make("");
  if (!output)
    return output.takeError();
  Expected<MemoryFile> errors = MemoryFile::make("");
  if (!errors)
    return errors.takeError();

  pid_t parent = getpid(), child = fork();
  if (child < 0)
    return failure(program);
  if (child == 0)
    exec(program.c_str(), argv.data(), env.data(), output->descriptor(), errors->descriptor(),
         parent);
  int status;
  if (sys::RetryAfterSignal(-1, waitpid, child, &status, 0) < 0)
    return failure(program);
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
  const std::string program = command.program;
  Expected<Arguments> arguments = Arguments::make(std::move(command));
  if (!arguments)
    return arguments.takeError();
  if (Error e = arguments->keepForSuccessor())
    return e;
  execv(program.c_str(), const_cast<char *const *>(arguments->vector().data()));
  return failure(program);
}

} // namespace frontload
