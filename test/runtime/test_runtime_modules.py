"""Shared libraries: loaded at start, opened, closed, and opened again elsewhere."""

import shutil

import pytest
from runtime_trace import build_id

OPENER = """
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static struct link_map *library;
/* Opens a library and calls functions of it: the letters of `calls`. */
NOT_RECORDED static void call(const char *path, const char *calls) {
  library = dlopen(path, RTLD_NOW);
  if (!library) {
    puts(dlerror());
    exit(99);
  }
  for (; *calls; ++calls)
    ((void (*)(void))dlsym(library, (char[]){*calls, 0}))();
}
/* Closes it and occupies its place. */
NOT_RECORDED static void close_and_occupy(void) {
  void *place = (void *)library->l_addr;
  dlclose(library);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  if (mmap(place, 4096, PROT_NONE, flags, -1, 0) != place)
    exit(98);
}
"""


@pytest.mark.parametrize("id_flag", ["-Wl,--build-id", "-Wl,--build-id=none"])
def test_reload_elsewhere_is_one_module(cc, plugin, record, runtime, tmp_path, id_flag):
    """A library that is closed and opened at another address is the same module, by its build-id
    or, without one, by its name; what was touched before is not recorded again."""
    library = plugin("void a(void) {} void b(void) {}", "lib.so", id_flag)
    program = cc(OPENER + """
        int main(void) {
          call("./lib.so", "a");
          char *before = (char *)library->l_addr;
          close_and_occupy();
          call("./lib.so", "ab");
          return (char *)library->l_addr == before;
        }""", runtime=runtime)
    trace = record(program, cwd=tmp_path).only
    assert trace.names() == ["main", "a", "b"]
    main, module = trace.modules.values()
    assert (main.main, main.path) == (True, program)
    assert (module.main, module.path, module.build_id) == (False, library, build_id(library))
    assert bool(module.build_id) == (id_flag == "-Wl,--build-id")


def test_another_module_in_the_same_place(cc, plugin, record, runtime, tmp_path):
    """A library opened where another one was is noticed at a function whose place the other one had
    not touched, and so is the first one when it comes back."""
    one = plugin("void a(void) {} void b(void) {}", "one.so")
    two = plugin("void x(void) {} void y(void) {} void z(void) {}", "two.so")
    program = cc(OPENER + """
        int main(void) {
          call("./one.so", "a");
          char *place = (char *)library->l_addr;
          dlclose(library);
          call("./two.so", "zx");
          if ((char *)library->l_addr != place)
            return 77;
          dlclose(library);
          call("./one.so", "ba");
          return (char *)library->l_addr != place ? 77 : 0;
        }""", runtime=runtime)
    recording = record(program, cwd=tmp_path, code=None)
    if recording.result.returncode == 77:
        pytest.skip("the dynamic linker chose another place")
    trace = recording.only
    assert recording.result.returncode == 0
    assert trace.names(one) == ["a", "b"] and trace.names(two) == ["z", "x"]
    assert len(trace.modules) == 3


def test_libraries_loaded_at_start(cc, plugin, record, runtime):
    """Libraries linked to the program are modules of their own, with absolute paths."""
    one = plugin("void in_one(void) {}", "libone.so")
    two = plugin("void in_two(void) {}", "libtwo.so")
    program = cc("""
        void in_one(void);
        void in_two(void);
        int main(void) {
          in_one();
          in_two();
          in_one();
          return 0;
        }""", one, two, f"-Wl,-rpath,{one.parent}", runtime=runtime)
    trace = record(program).only
    assert trace.names() == ["main", "in_one", "in_two"]
    assert [m.path for m in trace.modules.values()] == [program, one, two]


def test_instrumented_library_in_a_plain_program(cc, plugin, record, archive, library):
    """Where only a library is instrumented, the preloaded runtime records it, also after it was
    closed and opened again, and so does a private copy of the archive in it."""
    plugin("void a(void) {} void b(void) {}", "lib.so")
    program = cc(OPENER + """
        int main(void) {
          call("./lib.so", "a");
          close_and_occupy();
          call("./lib.so", "ab");
          return 0;
        }""", runtime=[], instrument=None)
    recording = record(program, cwd=program.parent, environment={"LD_PRELOAD": str(library)})
    assert recording.only.names() == ["a", "b"]

    for path in recording.traces:
        path.unlink()
    plugin("void a(void) {} void b(void) {}", "own.so", archive,
           "-Wl,--exclude-libs,libfrontload-rt.a")
    program = cc(OPENER + 'int main(void) { call("./own.so", "aba"); }', runtime=[],
                 instrument=None)
    assert record(program, cwd=program.parent).only.names() == ["a", "b"]


OWN_COPY = "-Wl,--exclude-libs,libfrontload-rt.a"
RELOADER = OPENER + """
#include <sys/wait.h>
#include <unistd.h>
NOT_RECORDED static int count_mappings(void) {
  int count = 0;
  char line[500];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    ++count;
  fclose(maps);
  return count;
}
"""


@pytest.fixture
def own(plugin, archive):
    """own(source, name): a library with a copy of the runtime of its own."""

    def own(source, name):
        return plugin(source, name, archive, OWN_COPY)

    return own


def test_own_copy_is_opened_again_and_again(cc, own, record, tmp_path):
    """A library with a copy of the runtime of its own that is closed and opened again goes on in
    the same trace, and leaves no memory behind; so in a forked child."""
    own("void a(void) {} void b(void) {} void c(void) {}", "own.so")
    program = cc(RELOADER + """
        NOT_RECORDED static int grown_by(int rounds) {
          int before = count_mappings();
          for (int i = 0; i < rounds; ++i) {
            call("./own.so", "a");
            dlclose(library);
          }
          return count_mappings() - before;
        }
        int main(void) {
          grown_by(2);
          int grown = grown_by(200);
          call("./own.so", "b");
          if (fork() == 0) {
            dlclose(library);
            call("./own.so", "c");
            _exit(0);
          }
          wait(0);
          return grown;
        }""", runtime=[], instrument=None)
    recording = record(program, cwd=tmp_path)
    assert sorted(trace.names() for trace in recording.traces.values()) == [["a", "b"], ["c"]]


def test_own_copies_share_a_recorder(cc, own, record, tmp_path):
    """Two libraries with copies of their own write one trace, and what ends recording for one of
    them does for the other."""
    own("void a(void) {} void b(void) {}", "one.so")
    own("""
        #include <frontload.h>
        void c(void) {}
        void d(void) { frontload_startup_done(); }
        void e(void) {}""", "two.so")
    program = cc(RELOADER + """
        int main(void) {
          call("./one.so", "a");
          struct link_map *one = library;
          call("./two.so", "cde");
          library = one;
          call("./one.so", "b");
          return 0;
        }""", runtime=[], instrument=None)
    trace = record(program, cwd=tmp_path).only
    assert trace.names() == ["a", "c", "d"] and trace.done


def test_own_copies_where_the_place_is_taken(cc, own, record, tmp_path):
    """Where the program has mapped something else at the place by which copies find each other,
    readable or not, it is left alone, and they have recorders of their own."""
    own("void a(void) {}", "own.so")
    program = cc(RELOADER + """
        int main(int argc, char **argv) {
          char *place = (char *)0x464c54520000;
          (void)argv;
          int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
          if (mmap(place, 65536, argc > 1 ? PROT_NONE : PROT_READ, flags, -1, 0) != place)
            return 1;
          for (int i = 0; i < 2; ++i) {
            call("./own.so", "a");
            dlclose(library);
          }
          return 0;
        }""", runtime=[], instrument=None)
    for arguments in [], ["unreadable"]:
        recording = record(program, *arguments, cwd=tmp_path)
        assert [trace.names() for trace in recording.traces.values()] == [["a"], ["a"]]
        for path in recording.traces:
            path.unlink()


def test_headers_far_from_the_start(cc, plugin, record, tmp_path):
    """A library whose program headers are not in its first page (patchelf moves them) is found by
    iterating; its headers' place is not trusted."""
    plugin("void a(void) {}", "lib.so")
    program = cc(OPENER + """
        #include <stdint.h>
        int main(void) {
          library = dlopen("./lib.so", RTLD_NOW);
          ElfW(Ehdr) *header = (ElfW(Ehdr) *)library->l_addr;
          mprotect(header, 4096, PROT_READ | PROT_WRITE | PROT_EXEC); /* it may have code */
          header->e_phoff = UINT64_MAX - 100;
          call("./lib.so", "a");
          return 0;
        }""")
    assert record(program, cwd=tmp_path).only.names() == ["main", "a"]


def test_modules_that_share_cache_entries(cc, plugin, record):
    """A library with more pages of code than the cache has entries, so that some of them are the
    program's entries too: nothing is lost or doubled."""
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


# The end of a main(): calls each of the functions a thousand times, and counts the system calls.
CALL_OFTEN = """
  write(-1, "often", 5);
  for (int i = 0; i < 1000; ++i)
    CALLS;
  write(-1, "often", 5);
  return 0;
}
"""


@pytest.fixture
def calls_while(record, tmp_path):
    """calls_while(program, **options): runs a program that ends with CALL_OFTEN; returns how many
    system calls it made there, and what was recorded."""
    if not shutil.which("strace"):
        pytest.skip("needs strace")

    def calls_while(*command, **options):
        log = tmp_path / "calls"
        recording = record("strace", "-f", "-o", log, *command, **options)
        _, between, _ = log.read_text().split('write(-1, "often", 5)')
        return len(between.splitlines()) - 2, recording

    return calls_while


def test_more_modules_than_there_is_room_for(cc, plugin, calls_while, tmp_path):
    """The 1,025th module and those after it are not recorded, which is said once, and their calls
    make no system call each; in those before it goes on."""
    library = plugin("void a(void) {} void b(void) {}", "lib.so", "-Wl,--build-id=none")
    for n in range(1030):
        shutil.copy(library, tmp_path / f"lib{n}.so")
    program = cc(OPENER + """
        #include <unistd.h>
        int main(void) {
          struct link_map *first = 0;
          for (int i = 0; i < 1030; ++i) {
            char name[20];
            sprintf(name, "./lib%d.so", i);
            call(name, "a");
            if (i == 0)
              first = library;
          }
          ((void (*)(void))dlsym(first, "b"))();
          void (*a)(void) = (void (*)(void))dlsym(library, "a");
        """ + CALL_OFTEN.replace("CALLS", "a()"))
    calls, recording = calls_while(program, cwd=tmp_path)
    trace = recording.only
    assert calls == 0 and trace.names() == ["main"] + 1023 * ["a"] + ["b"]
    assert trace.dropped == 7 and len(trace.modules) == 1024
    assert recording.result.stderr == (
        "frontload-rt: warning: ./lib1023.so: this module is not recorded, there were 1024 before "
        "it (its first touches are only counted)\n")


def test_no_memory_for_a_module(cc, plugin, calls_while, tmp_path):
    """A module that there is no memory for is not recorded, which is said once, and its calls make
    no system call each."""
    plugin("void a(void) {}", "lib.so")
    program = cc(OPENER + """
        #include <sys/resource.h>
        #include <unistd.h>
        int main(void) {
          call("./lib.so", "");
          void (*a)(void) = (void (*)(void))dlsym(library, "a");
          struct rlimit limit = {4096, 4096};
          if (setrlimit(RLIMIT_AS, &limit))
            return 1;
          a();
        """ + CALL_OFTEN.replace("CALLS", "a()"))
    calls, recording = calls_while(program, cwd=tmp_path)
    assert calls == 0 and recording.only.names() == ["main"] and recording.only.dropped == 1
    assert recording.result.stderr == (
        "frontload-rt: warning: ./lib.so: this module is not recorded: Cannot allocate memory (its "
        "first touches are only counted)\n")


def test_calls_of_code_in_no_module(cc, calls_while):
    """Code that somebody wrote into memory of his own, or of a module's data, costs no system call
    for each call."""
    program = cc("""
        #include <stdlib.h>
        #include <unistd.h>
        void __cyg_profile_func_enter(void *, void *);
        static char data[1 << 20] = {1};
        int main(void) {
          void *other = malloc(16);
          __cyg_profile_func_enter(data + (1 << 19), 0);
        """ + CALL_OFTEN.replace(
            "CALLS", "__cyg_profile_func_enter(i % 2 ? other : data + (1 << 19), 0)"))
    calls, recording = calls_while(program)
    assert calls == 0 and recording.only.names() == ["main"]
