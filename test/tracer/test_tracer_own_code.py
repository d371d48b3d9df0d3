"""Programs that read their own code, where breakpoints are: they run copies of it, or compare it
with their file."""

import platform

import pytest
from abilities import needs
from traced import Binary

COPIES = """
    #define COPIED(name, result) __attribute__((noinline, section("blob"), aligned(64))) \\
      int name(int x) { return result; }
    /* A copy of all from the beginning would be taken for a check. */
    __asm__(".section blob,\\"ax\\"\\n.skip 64\\n.text\\n");
    COPIED(first, x * 3 + 1) COPIED(second, x * x - 5) COPIED(third, x / 3 - 7)
    typedef int function(int);
    extern char __start_blob[], __stop_blob[];
    #define BEGIN (__start_blob + 64)
    STEP(copied) STEP(all)
    static char *copy;
    static function *copy_of(function *original) {
      return (function *)(copy + ((char *)original - BEGIN));
    }
    static void copy_code(int flags) {
      size_t size = __stop_blob - BEGIN;
      copy = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags | MAP_ANONYMOUS, -1, 0);
      memcpy(copy, BEGIN, size);
      __builtin___clear_cache(copy, copy + size);
    }
    static void trapped(int signal) { (void)signal; _exit(4); }
    static void *run(void *code) { return (void *)(long)((function *)code)(7); }
"""
# What a program does with copies, and what of that is touched; each ends with 3.
USES = {
    "runs": ("copy_code(MAP_PRIVATE); copied();"
             "return copy_of(first)(4) + copy_of(second)(4) + copy_of(first)(4) == 37 ? 3 : 5;"),
    "protects": ("copy_code(MAP_PRIVATE); mprotect(copy, 4096, PROT_READ | PROT_EXEC);"
                 "return copy_of(third)(30) == 3 ? 3 : 5;"),
    "shares": "copy_code(MAP_SHARED); return copy_of(third)(30) == 3 ? 3 : 5;",
    "handles SIGTRAP": ("signal(SIGTRAP, trapped); copy_code(MAP_PRIVATE);"
                        "return copy_of(first)(4) == 13 ? 3 : 5;"),
    "forks": ("int status; copy_code(MAP_PRIVATE); if (fork() == 0) _exit(copy_of(first)(4));"
              "wait(&status);"
              "return WEXITSTATUS(status) == 13 && copy_of(first)(4) == 13 ? 3 : 5;"),
    "has threads": ("pthread_t threads[8]; void *result; int good = 0; copy_code(MAP_PRIVATE);"
                    "for (int i = 0; i < 8; ++i)"
                    "  pthread_create(&threads[i], 0, run, (void *)copy_of(second));"
                    "for (int i = 0; i < 8; ++i)"
                    "  pthread_join(threads[i], &result), good += (long)result == 44;"
                    "return good == 8 ? 3 : 5;"),
    "is in a sandbox": ("copy_code(MAP_PRIVATE); prctl(PR_SET_DUMPABLE, 0);"
                        "prctl(PR_SET_SECCOMP, 1 /* strict */);"
                        "syscall(SYS_exit, copy_of(first)(4) == 13 ? 3 : 5); return 6;"),
    "runs the copied functions, too": ("copy_code(MAP_PRIVATE); copied();"
                                       "return first(1) + copy_of(first)(1) == 8 ? 3 : 5;"),
}


@pytest.mark.parametrize(("use", "options"), [
    *((use, []) for use in USES), ("runs", ["--until=copied"])])
def test_copies_of_code(use, options, compile, record):
    """A breakpoint that is copied is taken out where it is hit, and at the end of the recording.
    The function is not touched by that."""
    program = compile(COPIES + f"int main(void) {{ {USES[use]} }}", "-O1", "-pthread",
                      "-Wno-unused-function", "-Wno-unused-result", "-fno-toplevel-reorder",
                      name="copies")
    recording = record(*options, "--", program)
    assert (recording.status, recording.stderr) == (3, "")
    names = Binary(program).named(recording.of(program)[0].addresses())
    assert ("first" in names) == ("too" in use)


@pytest.mark.parametrize("signal", ["", "signal(SIGTRAP, trapped);"])
def test_a_breakpoint_of_its_own(signal, compile, record):
    """What is no copy is the program's business, also in code that it has made."""
    program = compile(COPIES + f"""
        int main(void) {{
          {signal}
          copy_code(MAP_PRIVATE);
          memset(copy, 0, 4096);
          memcpy(copy, (char[]){{BREAKPOINT}}, sizeof (char[]){{BREAKPOINT}});
          return run(copy) != 0;
        }}""", "-DBREAKPOINT=" + {"x86_64": "0xcc,0x31,0xc0,0xc3",
                                  "aarch64": "0,0,0x20,0xd4"}[platform.machine()],
                      "-O1", "-fno-toplevel-reorder", "-Wno-unused-function", name="own")
    assert record("--", program).status == (4 if signal else 128 + 5)


CHECKS = """
    STEP(before) STEP(after)
    int main(void) {
      before();
      char line[4096], path[4096];
      unsigned long begin, end, offset, at = (unsigned long)before;
      FILE *maps = fopen("/proc/self/maps", "r");
      while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx r-xp %lx %*s %*s %s", &begin, &end, &offset, path) == 4 &&
            begin <= at && at < end) {
          char *code = malloc(end - begin);
          int file = open(path, O_RDONLY);
          ssize_t size = pread(file, code, end - begin, offset);
          int is_same = !memcmp(code, (void *)begin, size);
          after();
          return is_same ? 3 : 5;
        }
      return 6;
    }"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86's watchpoints are used")
@needs("hardware-breakpoints")
@pytest.mark.parametrize("kind", [["-pie"], ["-no-pie"], ["-static"], ["-fuse-ld=lld-22"]])
def test_a_program_that_checks_its_code(kind, compile, record):
    """The program finds the bytes of its file. Touches before the check are recorded, and a note
    names the remedy for the rest."""
    cc = "clang-22" if "lld" in kind[0] else "gcc"
    program = compile(CHECKS, "-O1", *kind, cc=cc, name="checks")
    recording = record("--", program)
    assert recording.status == 3
    assert recording.stderr == (
        f"frontload-trace: note: {program}: reads its own code, where breakpoints were: its "
        "recording ends here; record it with --data, or --with runtime\n")
    names = Binary(program).named(recording.trace.addresses())
    assert "before" in names and "after" not in names


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the key is for bytes")
def test_code_that_the_program_deciphers(compile, record, run):
    """What is writable from the start is left alone, and named."""
    program = compile("""
        extern char begin[], end[];
        __asm__(".section packed,\\"awx\\"\\n.globl begin,end\\n"
                ".type begin,@function\\nbegin: .cfi_startproc"
                "\\n.byte 0xb8 ^ 1, 3 ^ 1, 1, 1, 1, 0xc3 ^ 1\\n.cfi_endproc\\nend:\\n.text\\n");
        int main(void) {
          for (char *at = begin; at < end; ++at) *at ^= 1;
          return ((int (*)(void))begin)();
        }""", name="packed")
    recording = record("--", program)
    assert recording.status == 3
    assert recording.stderr == (
        f"frontload-trace: note: {program}: its writable code is not recorded, since it may "
        "change: record it with --data, or --with runtime\n")
    assert "main" in Binary(program).named(recording.trace.addresses())
