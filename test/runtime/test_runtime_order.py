"""What is recorded: every function once, in order of first touch, whatever built the program."""

import pytest
from instrumented import COVERAGE, INSTRUMENT
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
AFTER_INLINING = "-finstrument-functions-after-inlining"
LINKING = [["-pie", "-fPIE"], ["-no-pie"], ["-static"], ["-static-pie"],
           ["-pie", "-fPIE", "-Wl,-z,now", "-Wl,-z,pack-relative-relocs"]]


@pytest.mark.parametrize("compiler, instrument, flags", [
    *(("gcc", INSTRUMENT, flags) for flags in (["-O0"], ["-O2"], *LINKING)),
    ("gcc", INSTRUMENT, ["-flto", "-O2", "-Wl,-u,__cyg_profile_func_enter"]),
    *(("clang", INSTRUMENT, ["-fuse-ld=lld", *flags])
      for flags in (["-O0"], ["-flto", "-O2"], ["-flto=thin", "-O2"], *LINKING)),
    *(("clang", instrument, [optimize]) for instrument in (AFTER_INLINING, BARE, COVERAGE)
      for optimize in ("-O0", "-O2"))])
def test_each_function_once_in_order(cc, llvm, record, compiler, instrument, flags):
    """Each entered function is there once, in order, by its start or an address inside of it; and
    the file's build-id and path."""
    if compiler == "clang":
        flags = [f"-B{llvm}", "-Wl,--build-id", "-fno-sanitize-link-runtime", *flags]
    program = cc(CHAIN, *flags, compiler=compiler, instrument=instrument)
    trace = record(program).only
    assert trace.names() == ["main", "first", "last"]
    if "-flto" not in " ".join(flags):
        assert {offset > 0 for offset in trace.offsets()} == {instrument in (BARE, COVERAGE)}
    assert (trace.dropped, trace.startup_done) == (0, False)
    (module,) = trace.modules.values()
    assert module == (str(program), build_id(program), True) and len(module.build_id) >= 16


@pytest.mark.parametrize("instrument", [BARE, INSTRUMENT])
def test_two_hooks_in_each_function(cc, record, instrument):
    """Where a function has two hooks, it is there once for each, in order of first touch."""
    program = cc(CHAIN, "-O1", COVERAGE, "-fno-sanitize-link-runtime", compiler="clang",
                 instrument=instrument)
    names = record(program).only.names()
    assert list(dict.fromkeys(names)) == ["main", "first", "last"] and len(names) == 6


def test_shared_runtime(cc, record, library):
    """The shared library records as the archive does, linked with or preloaded."""
    program = cc(CHAIN, runtime=[library, f"-Wl,-rpath,{library.parent}"])
    assert record(program).only.names() == ["main", "first", "last"]
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


@pytest.mark.parametrize("linking", [["-pie", "-fPIE"], ["-static"], ["-static-pie"]])
def test_before_and_after_main(cc, record, linking):
    """Constructors, exit handlers and destructors are recorded, preinit functions may be."""
    program = cc("""
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
    """Without constructors, a dynamic program is recorded; a static one is left alone."""
    program = cc("""
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


@pytest.mark.parametrize("linking", LINKING)
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


def test_wide_executable_range(cc, record):
    """Code spread over a gigabyte costs memory only where it is touched."""
    program = cc("""
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


def test_nothing_asked_for_nothing_done(cc, run_with, tmp_path, traces):
    """Without FRONTLOAD_TRACE, or with an empty one, no file is made and nothing is said."""
    program = cc(CHAIN)
    before = sorted(tmp_path.rglob("*"))
    for trace in (None, ""):
        result = run_with(trace, program, cwd=traces)
        assert (result.stdout, result.stderr) == ("", "")
        assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("linked", [True, False])
def test_startup_done_ends_recording(cc, record, archive, linked):
    """After it nothing is recorded, in children neither; it may be weak, for other builds."""
    program = cc("""
        void frontload_startup_done(void) __attribute__((weak));
        KEPT void startup(void) {}
        KEPT void service(void) {}
        int main(void) {
          startup();
          for (int i = 0; frontload_startup_done && i < 2; ++i)
            frontload_startup_done();
          if (fork() == 0) {
            service();
            _exit(0);
          }
          wait(0);
          service();
          return 0;
        }""", runtime=[archive] if linked else [])
    found = [(trace.names(), trace.startup_done) for trace in record(program).traces.values()]
    assert found == ([(["main", "startup"], True)] if linked else [])
