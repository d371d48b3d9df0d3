"""Shared libraries named by --module: linked, opened, closed and opened again."""

import os
import platform
import shutil

import pytest
from elftools.elf.elffile import ELFFile
from trace_decoder import decode
from traced import Binary

EARLY = ["part_indirect", "part_constructor", "chosen"]


LIBRARY = ["-shared", "-fPIC", "-Wl,-soname,libpart.so.1,-z,now"]


@pytest.fixture
def library(compile):
    """A file whose name is not its soname."""
    return compile("part.c", *LIBRARY, "-Wl,--build-id", name="libpart-1.0.so")


@pytest.fixture
def loader(compile):
    return compile("loader.c")


@pytest.fixture
def linked(compile, library, tmp_path):
    """A program that needs the library."""
    (tmp_path / "libpart.so.1").symlink_to(library)
    return compile("""
        void part_one(void), part_two(void);
        int main(void) { part_two(); part_one(); return 0; }""",
                   library, f"-Wl,-rpath,{tmp_path}", name="linked")


def entered(trace, library):
    names = Binary(library).named(trace.addresses(library))
    return [name for name in names if "part" in name or name == "chosen"]


def test_linked_library(linked, library, record):
    """A library that the program needs is recorded from its first code on: the resolver that runs
    while it is relocated, its constructor, its functions in order, its destructor."""
    trace = record("--module=libpart.so.1", "--", linked).trace
    assert entered(trace, library) == [*EARLY, "part_two", "part_one", "part_destructor"]
    (module,) = [m for m in trace.modules.values() if not m.is_main]
    assert (module.path, module.build_id) == (str(library), Binary(library).build_id)
    assert "main" in Binary(linked).named(trace.addresses())


def test_only_named_libraries(linked, library, record):
    """Without --module only the program itself is recorded."""
    assert [m.path for m in record("--", linked).trace.modules.values()] == [str(linked)]


@pytest.mark.parametrize("name", ["libpart-1.0.so", "libpart.so", "{folder}/libpart.so.1"])
def test_names(name, linked, library, record, tmp_path):
    """A library is named by its file name, by its soname without the version, or by a path."""
    trace = record(f"--module={name.format(folder=tmp_path)}", "--", linked).trace
    assert "part_one" in entered(trace, library)


def test_name_that_is_only_a_beginning(linked, library, record):
    """libpar does not name libpart.so; that nothing of this name was loaded is said."""
    recording = record("--module=libpar", "--", linked)
    assert entered(recording.trace, library) == []
    assert recording.stderr == (
        "frontload-trace: warning: --module=libpar: no recorded program loaded it\n")


def test_opened_library(loader, library, record):
    """A library that is opened while the program runs."""
    trace = record("--module=libpart.so", "--", loader, library, "open").trace
    assert entered(trace, library) == [*EARLY, "part_one", "part_destructor"]


@pytest.mark.parametrize(("id_flag", "copied"), [("--build-id", False), ("--build-id", True),
                                                 ("--build-id=none", False)])
def test_reloaded_library(id_flag, copied, compile, loader, record, tmp_path):
    """A library that is closed and opened again elsewhere, or a copy of it, is one module, by its
    build-id or, without one, by its file: what was touched is not touched again, what was not is
    recorded. Data that lies where it was before stays as it is, also when the recording ends."""
    library = compile("part.c", *LIBRARY, f"-Wl,{id_flag}", name="libpart-1.0.so")
    again = tmp_path / "libpart.so"
    if copied:
        shutil.copy(library, again)
    recording = record("--module=libpart.so", "--until=part_two", "--", loader, library, "reload",
                       again if copied else library)
    assert recording.status == 0
    trace = recording.trace
    assert [m.build_id for m in trace.modules.values() if not m.is_main] == [
        Binary(library).build_id]
    assert bool(Binary(library).build_id) == (id_flag == "--build-id")
    assert entered(trace, library) == [*EARLY, "part_one", "part_destructor", "part_two"]


def test_another_library_in_its_place(compile, record, tmp_path):
    """A library that is opened where another one was has a module of its own, and what is entered
    is recorded of the one that is there; so when the first one comes back."""
    functions = "".join(f'void part_{name}(void) {{ __asm__ volatile(""); }}'
                        for name in ("one", "two", "three"))
    one, two = (compile(functions, "-shared", "-fPIC", name=name)
                for name in ("libone.so", "libtwo.so"))
    program = compile("""
        #include <dlfcn.h>
        #include <link.h>
        static struct link_map *library;
        static void call(const char *path, const char *first, const char *second) {
          library = dlopen(path, RTLD_NOW);
          ((void (*)(void))dlsym(library, first))();
          ((void (*)(void))dlsym(library, second))();
        }
        int main(int n, char **argv) {
          call(argv[1], "part_one", "part_one");
          unsigned long place = library->l_addr;
          dlclose(library);
          call(argv[2], "part_three", "part_one");
          if (library->l_addr != place)
            return 77;
          dlclose(library);
          call(argv[1], "part_two", "part_one");
          return library->l_addr != place ? 77 : 0;
        }""", name="opens")
    recording = record("--module=libone.so", "--module=libtwo.so", "--", program, one, two)
    if recording.status == 77:
        pytest.skip("the dynamic linker chose another place")
    assert (recording.status, recording.stderr) == (0, "")
    trace = recording.trace
    assert entered(trace, one) == ["part_one", "part_two"]
    assert entered(trace, two) == ["part_three", "part_one"]
    assert len(trace.modules) == 3


def test_library_in_another_root(compile, library, record, tmp_path):
    """A program that has made another folder its root opens a library there, by a path that leads
    to nothing outside."""
    if os.geteuid():
        pytest.skip("needs root, to change it")
    program = compile("""
        #include <dlfcn.h>
        #include <unistd.h>
        int main(int n, char **argv) {
          if (chroot(argv[1]) || chdir("/")) return 8;
          void *library = dlopen("/libpart.so", RTLD_NOW);
          if (!library) return 9;
          ((void (*)(void))dlsym(library, "part_two"))();
          return 0;
        }""", name="enters")
    (tmp_path / "root").mkdir()
    inside = tmp_path / "root/libpart.so"
    shutil.copy(library, inside)
    recording = record("--module=libpart.so", "--", program, inside.parent)
    assert (recording.status, recording.stderr) == (0, "")
    assert entered(recording.trace, inside) == [*EARLY, "part_two", "part_destructor"]


def test_library_that_is_loaded_twice(loader, library, record):
    """Two instances of a library at the same time are one module; each function counts once."""
    recording = record("--module=libpart.so", "--", loader, library, "twice")
    assert recording.status == 0
    assert entered(recording.trace, library) == [*EARLY, "part_one", "part_two", "part_destructor"]


def test_two_segments_of_code(compile, loader, record, llvm, tmp_path):
    """A library whose code is in two segments, far from each other, is recorded in both."""
    script = tmp_path / "far.ld"
    script.write_text("SECTIONS { .text.far : { *(.text.far) } } INSERT AFTER .bss;")
    library = compile("part.c", "-shared", "-fPIC", f"-Wl,-T,{script}",
                      f"--ld-path={llvm / 'ld.lld'}", cc=llvm / "clang", name="libpart.so")
    program = compile("""
        #include <dlfcn.h>
        int main(int n, char **argv) {
          void *library = dlopen(argv[1], RTLD_NOW);
          ((void (*)(void))dlsym(library, "part_far"))();
          ((void (*)(void))dlsym(library, "part_two"))();
          return 0;
        }""", name="far")
    trace = record("--module=libpart.so", "--", program, library).trace
    assert entered(trace, library) == [*EARLY, "part_far", "part_two", "part_destructor"]


def test_fork_after_loading(compile, library, record, tmp_path):
    """A forked child's trace names the library too."""
    program = compile("""
        #include <sys/wait.h>
        #include <unistd.h>
        void part_one(void), part_two(void);
        int main(void) {
          part_one();
          if (fork() == 0) { part_one(); part_two(); _exit(0); }
          return wait(0) < 0;
        }""", library, f"-Wl,-rpath,{tmp_path}", name="forks")
    (tmp_path / "libpart.so.1").symlink_to(library)
    parent, child = record("--module=libpart.so", "--", program).of(program)
    assert entered(parent, library) == [*EARLY, "part_one", "part_destructor"]
    assert entered(child, library) == ["part_two"]


def test_library_of_a_stripped_program(linked, library, record, run):
    """The program need not have symbols for its library to be recorded."""
    run("strip", linked)
    recording = record("--module=libpart.so", "--", linked)
    assert recording.stderr == f"frontload-trace: note: {linked}: no symbol table, not recorded\n"
    assert recording.trace.addresses() == []
    assert "part_one" in entered(recording.trace, library)


def test_loader_is_a_library(linked, record, run):
    """The dynamic loader, which the kernel maps, can be named too."""
    name = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
    trace = record(f"--module={name[platform.machine()]}", "--", linked).trace
    (module,) = [m for m in trace.modules.values() if not m.is_main]
    assert trace.addresses(module.path)


def interpreter_of(program):
    with open(program, "rb") as stream:
        return next(segment.get_interp_name() for segment in ELFFile(stream).iter_segments()
                    if segment["p_type"] == "PT_INTERP")


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
@pytest.mark.parametrize("options", [[], ["--library-path", "/lib"]])
def test_loader_that_is_executed(kind, options, compile, record):
    """ld.so ./program is a recording of the program: the same trace, by the program's name."""
    program = compile("order.c", "-O1", kind)
    alone = record("--", program).trace
    recording = record("-o", program.parent / "%m.trace", "--", interpreter_of(program), *options,
                       program)
    assert (recording.status, recording.stdout, recording.stderr) == (3, "done\n", "")
    trace = decode(program.parent / "order.trace")
    assert trace.main.path == str(program)
    assert trace.main.build_id == Binary(program).build_id
    assert trace.addresses() == alone.addresses()


def test_loader_of_musl(compile, record):
    """musl's loader is its libc."""
    if not shutil.which("musl-gcc"):
        pytest.skip("there is no musl-gcc")
    program = compile("int called(void) { return 3; }\nint main(void) { return called(); }",
                      cc="musl-gcc")
    recording = record("--", interpreter_of(program), program)
    assert (recording.status, recording.stderr) == (3, "")
    assert recording.trace.main.path == str(program)
    names = Binary(program).named(recording.trace.addresses())
    assert names.index("main") + 1 == names.index("called")


def test_library_of_a_loader_that_is_executed(linked, library, record):
    """--module names libraries as ever."""
    trace = record("--module=libpart.so.1", "--", interpreter_of(linked), linked).trace
    assert trace.main.path == str(linked)
    assert entered(trace, library) == [*EARLY, "part_two", "part_one", "part_destructor"]
