"""What the runtime's tests compile, and how it is instrumented."""

from pathlib import Path

from c_headers import FILTER_OPEN, HEADERS
from places import ROOT

INSTRUMENT = "-finstrument-functions"
COVERAGE = "-fsanitize-coverage=func,trace-pc,trace-loads,trace-stores"
INCLUDE = ROOT / "instrument/runtime/include"
PROGRAMS = Path(__file__).parent / "programs"
TRACER = Path(__file__).parent.parent / "tracer"
# What programs begin with. NOT_RECORDED marks what a test does unseen.
PRELUDE = "#include <frontload.h>\n" + HEADERS + """
#ifdef __clang__
#define KEPT __attribute__((noinline))
#define NOT_RECORDED __attribute__((no_instrument_function, no_sanitize("coverage")))
#else
#define KEPT __attribute__((noinline, noclone))
#define NOT_RECORDED __attribute__((no_instrument_function))
#endif
/* Code of so many bytes, each of which enter() enters as if it were a function. */
#define BIG(size)                                                                            \\
  __asm__(".globl big; .type big, %function; big: .skip " #size "; .size big, . - big");     \\
  extern char big[];                                                                         \\
  void __cyg_profile_func_enter(void *, void *);                                             \\
  NOT_RECORDED static void enter(long number) { __cyg_profile_func_enter(big + number, 0); }
"""
MANY = PRELUDE + FILTER_OPEN + (PROGRAMS / "many.c").read_text()
SMALL = """
KEPT void touched(void) {}
int main(void) {
  touched();
  puts("unaffected");
  return 7;
}
"""
