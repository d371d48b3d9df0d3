// How a program says what is wrong.
#include "program/diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace frontload {

static void say(StringRef kind, const Twine &message) {
  errs() << programName << ": " << kind << ": " << message << '\n';
}

void error(const Twine &message, const Twine &note) {
  say("error", message);
  say("note", note);
}

void warning(const Twine &message) { say("warning", message); }

void note(const Twine &message) { say("note", message); }

int refuse(const Refusal &refusal) {
  error(refusal.message, refusal.note);
  return refusal.exitCode;
}

void fail(int exitCode, const Twine &message, const Twine &note) {
  error(message, note);
  std::exit(exitCode);
}

} // namespace frontload
