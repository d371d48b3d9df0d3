// Messages, each one line and one write.
#include "diagnostics.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static void say(StringRef kind, const Twine &message) {
  std::string line;
  raw_string_ostream os(line);
  os << frontload::toolName << ": " << kind << ": ";
  // Paths come from elsewhere and must not be able to steer a terminal.
  for (unsigned char c : message.str()) {
    if (c < 0x20 || c == 0x7f)
      os << format("\\x%02x", c);
    else
      os << c;
  }
  os << '\n';
  errs() << line;
  // Without a reader or without room, LLVM would end us with a status of its own.
  errs().clear_error();
}

void frontload::error(const Twine &message) { say("error", message); }
void frontload::warning(const Twine &message) { say("warning", message); }
void frontload::note(const Twine &message) { say("note", message); }

void frontload::noteOnce(const Twine &message) {
  static StringSet<> said;
  if (said.insert(message.str()).second)
    note(message);
}

int frontload::fail(Error problem, int status, const char *remedy) {
  error(toString(std::move(problem)));
  if (remedy)
    note(remedy);
  return status;
}

Error frontload::systemError(const Twine &thing, const Twine &what) {
  int code = errno;
  return createStringError(std::error_code(code, std::generic_category()),
                           thing + ": " + what + ": " + sys::StrError(code));
}
