"""What is recorded: every function once, in order of first touch, whatever built the program."""

import os

import pytest
from conftest import COVERAGE
from runtime_trace import build_id

CHAIN = """
KEPT void last(void) { __asm__ volatile(""); }
KEPT void first(void) { last(); __asm__ volatile(""); }
KEPT void never(void) { __asm__ volatile(""); }
int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 3; ++i)
    first(), last();
  if (argc > 5)
    never();
  return 0;
}
"""
BARE = "-finstrument-function-entry-bare"


@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler, instrument", [
    ("gcc", "-finstrument-functions"),
    ("clang", "-finstrument-functions"),
    ("clang", "-finstrument-functions-after-inlining"),
    ("clang", BARE),
    ("clang", COVERAGE)])
def test_each_function_once_in_order(cc, record, compiler, instrument, optimize):
    """gcc's and clang's hooks give the very start of each entered function once, in order."""
    program = cc(CHAIN, optimize, compiler=compiler, instrument=instrument)
    trace = record(program).only
    assert trace.names() == ["main", "first", "last"] and set(trace.offsets()) == {0}
    assert (trace.dropped, trace.done) == (0, False)


@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
@pytest.mark.parametrize("instrument", [
    "-finstrument-functions", "-finstrument-functions-after-inlining", BARE])
def test_two_hooks_in_each_function(covered, record, instrument, optimize):
    """With both -finstrument-functions and coverage, whichever of their hooks clang calls first,
    each function is there once."""
    trace = record(covered(CHAIN, optimize, instrument)).only
    assert trace.names() == ["main", "first", "last"] and set(trace.offsets()) == {0}


@pytest.mark.parametrize("instrument", [BARE, COVERAGE])
def test_without_unwind_tables(cc, record, instrument):
    """Where no table tells a function's start, also not its neighbour's, a hook that is not told
    either gives an address inside of it."""
    program = cc(CHAIN, "-fno-asynchronous-unwind-tables", compiler="clang", instrument=instrument)
    trace = record(program).only
    assert trace.names() == ["main", "first", "last"]
    assert all(offset > 0 for offset in trace.offsets())


@pytest.mark.parametrize("linking", [
    ["-pie", "-fPIE"], ["-no-pie"], ["-static"], ["-static-pie"],
    ["-pie", "-fPIE", "-Wl,-z,now", "-Wl,-z,pack-relative-relocs"]])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_way_of_linking(cc, record, compiler, linking):
    """Static or dynamic, position independent or not: addresses are those of the file's symbols,
    and the module carries the file's build-id and path."""
    linker = ["-fuse-ld=lld", "-Wl,--build-id"] if compiler == "clang" else []
    program = cc(CHAIN, *linking, *linker, compiler=compiler)
    trace = record(program).only
    assert trace.names() == ["main", "first", "last"] and set(trace.offsets()) == {0}
    (module,) = trace.modules.values()
    assert (module.path, module.build_id, module.main) == (program, build_id(program), True)
    assert len(module.build_id) >= 16


def test_shared_runtime(cc, record, library):
    """The shared library records as the archive does."""
    program = cc(CHAIN, runtime=[library, f"-Wl,-rpath,{library.parent}"])
    assert record(program).only.names() == ["main", "first", "last"]


def test_preloaded_runtime(cc, record, library):
    """A program linked without the runtime, so with libc's empty hooks, is recorded by preload."""
    program = cc(CHAIN, runtime=[])
    assert record(program).traces == {}
    trace = record(program, environment={"LD_PRELOAD": str(library)}).only
    assert trace.names() == ["main", "first", "last"]


def test_archive_before_the_objects(cc, record, archive):
    """The header's remedy for an archive that comes first on the command line works."""
    program = cc(CHAIN, runtime=["-Wl,-u,__cyg_profile_func_enter"])
    assert record(program).traces == {}  # nothing to pull it from
    early = [f"-L{archive.parent}", "-Wl,-u,__cyg_profile_func_enter", "-Wl,-Bstatic",
             "-lfrontload-rt", "-Wl,-Bdynamic"]
    source = program.with_suffix(".c").rename(program.parent / "late.c")
    program = cc('#include "late.c"\n', *early, "-I", source.parent, runtime=[], name="early")
    assert record(program).only.names() == ["main", "first", "last"]


def test_contexts(cc, record):
    """A program that switches between stacks of its own, small ones, in the middle of functions."""
    program = cc("""
        #include <ucontext.h>
        static ucontext_t back, contexts[3];
        static char stacks[3][16384];
        #define BODY(n) \\
          KEPT void inner##n(void) { swapcontext(&contexts[n], &back); } \\
          KEPT void last##n(void) {} \\
          KEPT void body##n(void) { inner##n(); last##n(); }
        BODY(0) BODY(1) BODY(2)
        int main(void) {
          void (*const bodies[])(void) = {body0, body1, body2};
          for (int n = 0; n < 3; ++n) {
            getcontext(&contexts[n]);
            contexts[n].uc_stack.ss_sp = stacks[n];
            contexts[n].uc_stack.ss_size = sizeof stacks[n];
            contexts[n].uc_link = &back;
            makecontext(&contexts[n], bodies[n], 0);
          }
          for (int round = 0; round < 2; ++round)
            for (int n = 0; n < 3; ++n)
              swapcontext(&back, &contexts[n]);
          return 0;
        }""")
    assert record(program).only.names() == [
        "main", "body0", "inner0", "body1", "inner1", "body2", "inner2", "last0", "last1", "last2"]


@pytest.mark.parametrize("linking", [["-pie", "-fPIE"], ["-static"]])
def test_own_malloc(cc, record, linking):
    """A program whose own malloc is recorded, which libc calls before main() and anywhere."""
    program = cc("""
        #include <stddef.h>
        #include <stdio.h>
        #include <string.h>
        static char arena[1 << 20] __attribute__((aligned(16)));
        static size_t used;
        void *malloc(size_t size) {
          void *memory = arena + used;
          used += (size + 15) / 16 * 16;
          return memory;
        }
        void free(void *memory) { (void)memory; }
        void *calloc(size_t count, size_t size) { return malloc(count * size); }
        void *realloc(void *memory, size_t size) {
          return memory ? memcpy(malloc(size), memory, size) : malloc(size);
        }
        int main(void) { printf("%zu\\n", used); return 0; }""", "-fno-builtin", *linking)
    names = record(program).only.names()
    assert {"main", "malloc"} <= set(names) and len(names) == len(set(names))


@pytest.mark.parametrize("compiler, flags", [
    ("gcc", ["-flto", "-O2", "-Wl,-u,__cyg_profile_func_enter"]),
    ("clang", ["-flto", "-O2", "-fuse-ld=lld"]),
    ("clang", ["-flto=thin", "-O2", "-fuse-ld=lld"])])
def test_link_time_optimization(cc, llvm, record, compiler, flags):
    """A program that is optimized as it is linked, with the runtime, which is not."""
    program = cc(CHAIN, *flags, *([f"-B{llvm}"] if compiler == "clang" else []), compiler=compiler)
    assert record(program).only.names() == ["main", "first", "last"]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_exceptions_pass_through(cc, record, compiler):
    """A throw through instrumented frames is caught, and destructors on its way are recorded."""
    program = cc("""
        struct Guard { KEPT ~Guard(); };
        Guard::~Guard() {}
        KEPT void thrower() { throw 42; }
        KEPT void middle() { Guard guard; thrower(); }
        KEPT void after() {}
        int main() {
          try { middle(); } catch (int value) { after(); return value; }
        }""", compiler=compiler)
    names = record(program, code=42).only.names()
    assert [n for n in names if n != "_ZN5GuardC2Ev"] == [
        "main", "_Z6middlev", "_Z7throwerv", "_ZN5GuardD2Ev", "_Z5afterv"]


@pytest.mark.parametrize("linking", [["-pie", "-fPIE"], ["-static"], ["-static-pie"]])
def test_before_and_after_main(cc, record, linking):
    """Preinit functions, constructors by priority, exit handlers and destructors are in the trace,
    or (preinit: libc may not be initialised) ignored."""
    program = cc("""
        #include <stdlib.h>
        KEPT void preinit(void) {}
        __attribute__((section(".preinit_array"), used)) void (*entry)(void) = preinit;
        __attribute__((constructor(200))) void second(void) {}
        __attribute__((constructor(101))) void first(void) {}
        __attribute__((destructor)) void destroyed(void) {}
        KEPT void at_exit(void) {}
        int main(void) { return atexit(at_exit); }""", *linking)
    names = [name for name in record(program).only.names() if name != "preinit"]
    assert names == ["first", "second", "main", "at_exit", "destroyed"]


@pytest.mark.parametrize("linking, recorded", [
    (["-pie", "-fPIE"], True), (["-no-pie"], True), (["-static"], False)])
def test_constructors_that_do_not_run(cc, record, linking, recorded):
    """A program with an entry point of its own that calls no constructors is recorded from its
    first touch on if it is dynamic. A static one, whose libc is never made ready, is left alone."""
    program = cc("""
        #include <unistd.h>
        KEPT void called(void) {}
        #ifdef __x86_64__
        __attribute__((force_align_arg_pointer))
        #endif
        void begin(void) {
          called();
          called();
          _exit(7);
        }
        int main(void) { return 1; }""", "-Wl,-e,begin", *linking)
    recording = record(program, code=7)
    assert recording.result.stderr == ""
    assert [trace.names() for trace in recording.traces.values()] == (
        [["begin", "called"]] if recorded else [])


@pytest.mark.parametrize("linking", [
    ["-pie", "-fPIE"], ["-no-pie"], ["-static"], ["-static-pie"], ["-pie", "-fPIE", "-Wl,-z,now"],
    ["-pie", "-fPIE", "-Wl,-z,pack-relative-relocs"]])
def test_ifunc_resolvers(cc, record, linking):
    """A resolver runs before relocation is over: recorded or ignored, and the program works."""
    program = cc("""
        KEPT int chosen(void) { return 6; }
        typedef int function(void);
        KEPT function *resolve(void) { return chosen; }
        int indirect(void) __attribute__((ifunc("resolve")));
        function *volatile pointer = indirect;
        int main(void) { return indirect() == 6 && pointer() == 6 ? 9 : 1; }""", *linking)
    names = record(program, code=9).only.names()
    assert [n for n in names if n != "resolve"] == ["main", "chosen"]


def test_ifunc_resolver_before_the_runtime_is_relocated(cc, plugin, record, library):
    """A preloaded runtime is relocated after the libraries, whose resolvers call it before that."""
    user = plugin("""
        KEPT static int chosen(void) { return 6; }
        KEPT static void *resolve(void) { return chosen; }
        int indirect(void) __attribute__((ifunc("resolve")));
        int (*volatile pointer)(void) = indirect;
        int call(void) { return pointer(); }
        """, "libuser.so", "-fno-plt")
    program = cc("int call(void); int main(void) { return call(); }", user,
                 f"-Wl,-rpath,{user.parent}", runtime=[])
    trace = record(program, code=6, environment={"LD_PRELOAD": str(library)}).only
    assert trace.names() == ["main", "call", "chosen"]


def test_code_in_no_module(cc, record):
    """An address in memory that no module owns (a JIT's), or in a module's data, is ignored."""
    program = cc("""
        #include <stdlib.h>
        void __cyg_profile_func_enter(void *, void *);
        static char data[100000] = {1};
        int main(void) {
          for (int i = 0; i < 100; ++i) {
            __cyg_profile_func_enter(malloc(16), 0);
            __cyg_profile_func_enter(data + 1000 * i, 0);
            __cyg_profile_func_enter((void *)(0x10L * i), 0);
            __cyg_profile_func_enter((void *)-1L, 0);
          }
          return 0;
        }""")
    assert record(program).only.names() == ["main"]


def test_wide_executable_range(cc, record):
    """Code spread over a gigabyte costs memory only where it is touched."""
    program = cc("""
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        __attribute__((section(".far_text"), noinline)) void far_away(void) {}
        int main(void) {
          far_away();
          char line[200], *kilobytes = line;
          for (FILE *f = fopen("/proc/self/status", "r"); fgets(line, sizeof line, f);)
            if (strncmp(line, "VmRSS:", 6) == 0)
              return atoi(kilobytes + 6) > 16384;
          return 2;
        }""", "-fno-pie", "-no-pie", "-mcmodel=large",
        "-Wl,--section-start=.far_text=0x40000000")
    assert record(program).only.names() == ["main", "far_away"]


def test_nothing_asked_for_nothing_done(cc, run, tmp_path, traces):
    """Without FRONTLOAD_TRACE, or with an empty one, no file is made and nothing is said."""
    program = cc(CHAIN)
    for variables in ({}, {"FRONTLOAD_TRACE": ""}):
        clean = {k: v for k, v in os.environ.items() if k != "FRONTLOAD_TRACE"}
        before = sorted(tmp_path.rglob("*"))
        result = run(program, env={**clean, **variables}, cwd=traces)
        assert (result.stdout, result.stderr) == ("", "")
        assert sorted(tmp_path.rglob("*")) == before


def test_startup_done_ends_recording(cc, record):
    """After frontload_startup_done() nothing more is recorded, in children neither, and the trace
    says that it was ended on purpose."""
    program = cc("""
        #include <frontload.h>
        #include <sys/wait.h>
        #include <unistd.h>
        KEPT void startup(void) {}
        KEPT void service(void) {}
        int main(void) {
          startup();
          frontload_startup_done();
          frontload_startup_done();
          if (fork() == 0) {
            service();
            _exit(0);
          }
          wait(0);
          service();
          return 0;
        }""")
    trace = record(program).only
    assert trace.names() == ["main", "startup"] and trace.done


@pytest.mark.parametrize("linked", [True, False])
def test_weak_startup_done(cc, record, archive, linked):
    """The idiom for programs that are not always linked with the runtime works both ways."""
    program = cc("""
        void frontload_startup_done(void) __attribute__((weak));
        KEPT void service(void) {}
        int main(void) {
          if (frontload_startup_done)
            frontload_startup_done();
          service();
          return 0;
        }""", runtime=[archive] if linked else [])
    recording = record(program)
    if linked:
        assert recording.only.names() == ["main"]
    else:
        assert recording.traces == {}
