"""Shared libraries: loaded at start, opened, closed, and opened again elsewhere."""

import mmap
import shutil

import pytest
from runtime_trace import build_id

PLAIN = {"runtime": [], "instrument": None}  # the program has no runtime


@pytest.mark.parametrize("id_flag", ["-Wl,--build-id", "-Wl,--build-id=none"])
def test_reload_elsewhere_is_one_module(opener, plugin, record, runtime, tmp_path, id_flag):
    """A library opened again elsewhere is the same module, by build-id or by name."""
    library = plugin("void a(void) {} void b(void) {}", "lib.so", id_flag)
    program = opener(runtime=runtime)
    trace = record(program, "open=./lib.so", "call=a", "occupy", "open=./lib.so", "elsewhere",
                   "call=a", "call=b", cwd=tmp_path).only
    assert trace.names() == ["main", "a", "b"]
    main, module = trace.modules.values()
    assert main == (str(program), build_id(program), True)
    assert module == (str(library), build_id(library), False)
    assert bool(module.build_id) == (id_flag == "-Wl,--build-id")


def test_another_module_in_the_same_place(opener, plugin, record, runtime, tmp_path):
    """A library where another one was is noticed, and so is the first when it comes back."""
    one = plugin("void a(void) {} void b(void) {}", "one.so")
    two = plugin("void x(void) {} void y(void) {} void z(void) {}", "two.so")
    recording = record(opener(runtime=runtime), "open=./one.so", "call=a", "close", "open=./two.so",
                       "here", "call=z", "call=x", "close", "open=./one.so", "here", "call=b",
                       "call=a", cwd=tmp_path, code=None)
    if recording.result.returncode == 77:
        pytest.skip("the dynamic linker chose another place")
    trace = recording.only
    assert recording.result.returncode == 0
    assert trace.names(one) == ["a", "b"] and trace.names(two) == ["z", "x"]
    assert len(trace.modules) == 3


@pytest.fixture
def own(plugin, archive):
    """own(source, name): a library with a copy of the runtime of its own."""
    return lambda source, name: plugin(source, name, archive,
                                       "-Wl,--exclude-libs,libfrontload-rt.a")


def test_instrumented_library_in_a_plain_program(opener, plugin, own, record, library, tmp_path):
    """Of a plain program, libraries are recorded by preload or by an archive of their own."""
    plugin("void a(void) {} void b(void) {}", "lib.so")
    program = opener(**PLAIN)
    recording = record(program, "open=./lib.so", "call=a", "occupy", "open=./lib.so", "call=a",
                       "call=b", cwd=tmp_path, environment={"LD_PRELOAD": str(library)})
    assert recording.only.names() == ["a", "b"]

    own("void a(void) {} void b(void) {}", "own.so")
    recording = record(program, "open=./own.so", "call=a", "call=b", "call=a", cwd=tmp_path)
    assert recording.only.names() == ["a", "b"]


def test_own_copy_is_opened_again_and_again(opener, own, record, tmp_path):
    """A library with its own runtime goes on in its trace, and leaves no memory behind."""
    own("void a(void) {} void b(void) {} void c(void) {}", "own.so")
    again = ["open=./own.so", "call=a", "close"]
    recording = record(opener(**PLAIN), "count", *again, *again, "count", *again * 200, "count",
                       "open=./own.so", "call=b", "fork", "close", "open=./own.so", "call=c",
                       cwd=tmp_path)
    _, before, after = recording.result.stdout.split()[:3]
    assert before == after
    assert sorted(trace.names() for trace in recording.traces.values()) == [["a", "b"], ["c"]]


def test_own_copies_share_a_recorder(opener, own, record, tmp_path):
    """Two libraries with runtimes of their own write one trace, and end it together."""
    own("void a(void) {} void b(void) {}", "one.so")
    own("void c(void) {} void d(void) { frontload_startup_done(); } void e(void) {}", "two.so")
    trace = record(opener(**PLAIN), "open=./one.so", "call=a", "open=./two.so", "call=c", "call=d",
                   "call=e", "open=./one.so", "call=b", cwd=tmp_path).only
    assert trace.names() == ["a", "c", "d"] and trace.startup_done


@pytest.mark.parametrize("protection", [mmap.PROT_READ, 0])
def test_own_copies_where_the_place_is_taken(opener, own, record, tmp_path, protection):
    """Where the place by which runtimes meet is taken, they have recorders of their own."""
    own("void a(void) {}", "own.so")
    again = ["open=./own.so", "call=a", "close"]
    recording = record(opener(**PLAIN), f"taken={protection}", *again, *again, cwd=tmp_path)
    assert [trace.names() for trace in recording.traces.values()] == [["a"], ["a"]]


def test_headers_far_from_the_start(opener, plugin, record, tmp_path):
    """A library whose program headers are not in its first page is recorded."""
    plugin("void a(void) {}", "lib.so")
    trace = record(opener(), "open=./lib.so", "spoil", "call=a", cwd=tmp_path).only
    assert trace.names() == ["main", "a"]


def test_modules_that_share_cache_entries(cc, plugin, record):
    """Modules that share cache entries, as large ones do, lose and double nothing."""
    library = plugin("""
        __asm__(".section .wide, \\"ax\\", @nobits; .globl big; .type big, @function;"
                "big: .skip 65 << 20; .size big, . - big");
        """, "libbig.so")
    program = cc("""
        void __cyg_profile_func_enter(void *, void *);
        void big(void);
        KEPT void between(void) {}
        KEPT void last(void) {}
        int main(void) {
          for (int round = 0; round < 2; ++round)
            for (int page = 0; page < 65 << 8; ++page) {
              __cyg_profile_func_enter((char *)big + page * 4096, 0);
              between();
            }
          last();
          return 0;
        }""", library, f"-Wl,-rpath,{library.parent}")
    trace = record(program).only
    assert trace.names() == ["main", "big", "between"] + ((65 << 8) - 1) * ["big"] + ["last"]


def test_more_modules_than_there_is_room_for(opener, plugin, calls_while, tmp_path):
    """The 1,025th module and those after it are only counted, at no system call a call."""
    library = plugin("void a(void) {} void b(void) {}", "lib.so", "-Wl,--build-id=none")
    for n in range(1030):
        shutil.copy(library, tmp_path / f"lib{n}.so")
    calls, recording = calls_while(
        opener(), *(word for n in range(1030) for word in (f"open=./lib{n}.so", "call=a")),
        "open=./lib0.so", "call=b", "open=./lib1029.so", "often=a")
    trace = recording.only
    assert calls == 0 and trace.names() == ["main"] + 1023 * ["a"] + ["b"]
    assert trace.dropped == 7 and len(trace.modules) == 1024
    assert recording.result.stderr == (
        "frontload-rt: warning: ./lib1023.so: this module is not recorded, there were 1024 before "
        "it (its first touches are only counted)\n")


def test_no_memory_for_a_module(opener, plugin, calls_while):
    """A module that there is no memory for is only counted, at no system call a call."""
    plugin("void a(void) {}", "lib.so")
    calls, recording = calls_while(opener(), "open=./lib.so", "limit", "call=a", "often=a")
    assert calls == 0 and recording.only.names() == ["main"] and recording.only.dropped == 1
    assert recording.result.stderr == (
        "frontload-rt: warning: ./lib.so: this module is not recorded: Cannot allocate memory (its "
        "first touches are only counted)\n")


def test_code_in_no_module(cc, calls_while):
    """An address in no module's code is ignored, and costs no system call a call."""
    program = cc("""
        void __cyg_profile_func_enter(void *, void *);
        static char data[1 << 20] = {1};
        int main(void) {
          void *other = malloc(16);
          for (int i = 0; i < 100; ++i) {
            __cyg_profile_func_enter(data + 1000 * i, 0);
            __cyg_profile_func_enter((void *)(0x10L * i), 0);
            __cyg_profile_func_enter((void *)-1L, 0);
          }
          write(-1, "often", 5);
          for (int i = 0; i < 1000; ++i)
            __cyg_profile_func_enter(i % 2 ? other : data + 1000, 0);
          write(-1, "often", 5);
          return 0;
        }""")
    calls, recording = calls_while(program)
    assert calls == 0 and recording.only.names() == ["main"]
