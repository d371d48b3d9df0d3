"""What a call of the runtime's hook costs."""

import os
import subprocess

from abilities import needs

# Calls the hook for as many functions.
SOURCE = """
#include <stdlib.h>
#define NOT_RECORDED __attribute__((no_instrument_function))
__asm__(".globl functions; .type functions, @function;"
        "functions: .skip 1000000; .size functions, . - functions");
extern char functions[];
void __cyg_profile_func_enter(void *function, void *call_site);
NOT_RECORDED int main(int argc, char **argv) {
  for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; --i)
    __cyg_profile_func_enter(functions + i - 1, 0);
}
"""


@needs("strace")
def test_a_first_touch_makes_one_system_call(build, tmp_path):
    """The runtime's hook asks for the thread's id; chunks of the trace add few calls."""
    program = tmp_path / "many"
    subprocess.run(["cc", "-O2", "-finstrument-functions", "-x", "c", "-", "-x", "none",
                    build / "lib/libfrontload-rt.a", "-o", program], input=SOURCE, text=True,
                   check=True)

    def calls(functions: int) -> int:
        subprocess.run(["strace", "-f", "-o", tmp_path / "calls", program, str(functions)],
                       env=os.environ | {"FRONTLOAD_TRACE": str(tmp_path / f"{functions}")},
                       check=True)
        return len((tmp_path / "calls").read_text().splitlines())

    assert 1 <= (calls(20_000) - calls(10_000)) / 10_000 < 1.01
