"""Shared libraries: loaded at start, opened, closed, and opened again elsewhere."""

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


def test_headers_far_from_the_start(cc, plugin, record, tmp_path):
    """A library whose program headers are not in its first page (patchelf moves them) is found by
    iterating; its headers' place is not trusted."""
    plugin("void a(void) {}", "lib.so")
    program = cc(OPENER + """
        #include <stdint.h>
        int main(void) {
          library = dlopen("./lib.so", RTLD_NOW);
          ElfW(Ehdr) *header = (ElfW(Ehdr) *)library->l_addr;
          mprotect(header, 4096, PROT_READ | PROT_WRITE);
          header->e_phoff = UINT64_MAX - 100;
          call("./lib.so", "a");
          return 0;
        }""")
    assert record(program, cwd=tmp_path).only.names() == ["main", "a"]


def test_modules_that_share_cache_entries(cc, plugin, record):
    """A library with more pages of code than the cache has entries, so that some of them are the
    program's entries too: nothing is lost or doubled."""
    library = plugin("""
        __asm__(".globl big; .type big, @function; big: .skip 5 << 20; .size big, . - big");
        """, "libbig.so")
    program = cc("""
        void __cyg_profile_func_enter(void *, void *);
        void big(void);
        KEPT void between(void) {}
        KEPT void last(void) {}
        int main(void) {
          for (int round = 0; round < 2; ++round)
            for (int page = 0; page < 1280; ++page) {
              __cyg_profile_func_enter((char *)big + page * 4096, 0);
              between();
            }
          last();
          return 0;
        }""", library, f"-Wl,-rpath,{library.parent}")
    trace = record(program).only
    assert trace.names() == ["main", "big", "between"] + 1279 * ["big"] + ["last"]
