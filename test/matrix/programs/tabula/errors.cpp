// The exceptions, and the functions that throw them.
#include "errors.h"
#include "text.h"

namespace tabula {

static std::string describe(std::string_view a, std::string_view b) {
  std::string result(a);
  if (!b.empty()) {
    result += ": ";
    result += b;
  }
  return result;
}

Error::Error(std::string_view what) : text(what) {}
Error::Error(const Error &other) : std::exception(other), text(other.text) {}
Error::~Error() = default;
const char *Error::what() const noexcept { return text.c_str(); }
const char *Error::kind() const { return "error"; }

SyntaxError::SyntaxError(std::string_view what, unsigned p)
    : Error(describe(what, "at " + number(p))), position(p) {}
SyntaxError::~SyntaxError() { position = 0; }
const char *SyntaxError::kind() const { return "syntax error"; }

NameError::NameError(std::string_view name) : Error(describe("unknown name", name)) {}
NameError::~NameError() { text.clear(); }
const char *NameError::kind() const { return "name error"; }

TypeError::TypeError(std::string_view wanted, std::string_view found)
    : Error(describe(describe("wanted", wanted), found)) {}
TypeError::~TypeError() { text.clear(); }
const char *TypeError::kind() const { return "type error"; }

void failSyntax(std::string_view what, unsigned position) { throw SyntaxError(what, position); }
void failName(std::string_view name) { throw NameError(name); }
void failType(std::string_view wanted, std::string_view found) { throw TypeError(wanted, found); }

} // namespace tabula
