// The exceptions, and the functions that throw them.
#include "shop.h"

static int thrown = 0;

NOINLINE static void note(int value) { thrown += value; }
#if VERSION == 2
NOINLINE static void check(const char *text) { thrown -= !text; } // one more of this name
#endif

Error::Error(const char *w) : what(w) {
#if VERSION == 2
  check(w);
#endif
  note(1);
}
Error::Error(const Error &other) : what(other.what) { note(2); }
Error::~Error() { note(-1); }
const char *Error::kind() const { return "error"; }

Shortage::Shortage(int m) : Error("shortage"), missing(m) { note(3); }
Shortage::~Shortage() { note(-3); }
const char *Shortage::kind() const { return "shortage"; }

void fail(const char *what) { throw Error(what); }
void failShort(int missing) { throw Shortage(missing); }
