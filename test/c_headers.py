"""The headers that C programs of the recorders' tests begin with."""

HEADERS = "".join(f"#include <{name}.h>\n" for name in (
    "dlfcn", "errno", "fcntl", "link", "pthread", "sched", "signal", "spawn", "stddef", "stdint",
    "stdio", "stdlib", "string", "sys/mman", "sys/prctl", "sys/ptrace", "sys/resource",
    "sys/syscall", "sys/wait", "unistd"))
