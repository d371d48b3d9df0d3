"""Shared libraries named by --module: linked, opened, closed and opened again."""

import shutil
from pathlib import Path

import pytest
from abilities import needs
from elftools.elf.elffile import ELFFile
from traced import Binary

EARLY = ["part_indirect", "part_constructor", "chosen"]
LIBRARY = ["-shared", "-fPIC", "-Wl,-soname,libpart.so.1,-z,now"]


@pytest.fixture
def library(compile):
    """A file whose name is not its soname."""
    return compile("part.c", *LIBRARY, "-Wl,--build-id", name="libpart-1.0.so")


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


def interpreter_of(program):
    with open(program, "rb") as stream:
        return next(segment.get_interp_name() for segment in ELFFile(stream).iter_segments()
                    if segment["p_type"] == "PT_INTERP")


@pytest.mark.parametrize("name", ["libpart.so.1", "libpart-1.0.so", "libpart.so",
                                  "{folder}/libpart.so.1"])
def test_linked_library(name, linked, library, record, tmp_path):
    """A library is recorded from its first code on, by whichever of its names."""
    trace = record(f"--module={name.format(folder=tmp_path)}", "--", linked).trace
    assert entered(trace, library) == [*EARLY, "part_two", "part_one", "part_destructor"]
    (module,) = [m for m in trace.modules.values() if not m.is_main]
    assert (module.path, module.build_id) == (str(library), Binary(library).build_id)
    assert trace.main.path == str(linked)
    assert "main" in Binary(linked).named(trace.addresses())


def test_only_named_libraries(linked, record):
    """Only named libraries are recorded, not all whose names begin so; none is said."""
    recording = record("--module=libpar", "--", linked)
    assert [m.path for m in recording.trace.modules.values()] == [str(linked)]
    assert recording.stderr == (
        "frontload-trace: warning: --module=libpar: no recorded program loaded it\n")


@pytest.mark.parametrize(("id_flag", "copied"), [("--build-id", False), ("--build-id", True),
                                                 ("--build-id=none", False)])
def test_reloaded_library(id_flag, copied, compile, opener, record, tmp_path):
    """A library that is opened again elsewhere, or a copy of it, is one module."""
    library = compile("part.c", *LIBRARY, f"-Wl,{id_flag}", name="libpart-1.0.so")
    again = shutil.copy(library, tmp_path / "libpart.so") if copied else library
    recording = record("--module=libpart.so", "--until=part_two", "--", opener, f"open={library}",
                       "call=part_one", "occupy", f"open={again}", "elsewhere", "call=part_one",
                       "call=part_two", "kept")
    assert recording.status == 0
    trace = recording.trace
    assert [m.build_id for m in trace.modules.values() if not m.is_main] == [
        Binary(library).build_id]
    assert bool(Binary(library).build_id) == (id_flag == "--build-id")
    assert entered(trace, library) == [*EARLY, "part_one", "part_destructor", "part_two"]


def test_another_library_in_its_place(compile, opener, record):
    """A library where another one was has a module of its own; so has the first again."""
    one, two = (compile("STEP(part_one) STEP(part_two) STEP(part_three) struct {int x;};",
                        "-shared", "-fPIC", name=name) for name in ("libone.so", "libtwo.so"))
    recording = record(
        "--module=libone.so", "--module=libtwo.so", "--", opener,
        f"open={one}", "call=part_one", "call=part_one", "close",
        f"open={two}", "here", "call=part_three", "call=part_one", "close",
        f"open={one}", "here", "call=part_two", "call=part_one")
    if recording.status == 77:
        pytest.skip("the dynamic linker chose another place")
    assert (recording.status, recording.stderr) == (0, "")
    trace = recording.trace
    assert entered(trace, one) == ["part_one", "part_two"]
    assert entered(trace, two) == ["part_three", "part_one"]
    assert len(trace.modules) == 3


@needs("chroot")
def test_library_in_another_root(opener, library, record, tmp_path):
    """After chroot, a library is found by a path that leads to nothing outside."""
    (tmp_path / "root").mkdir()
    inside = shutil.copy(library, tmp_path / "root/libpart.so")
    recording = record("--module=libpart.so", "--", opener, f"chroot={inside.parent}",
                       "open=/libpart.so", "call=part_two")
    assert (recording.status, recording.stderr) == (0, "")
    assert entered(recording.trace, inside) == [*EARLY, "part_two", "part_destructor"]


def test_library_that_is_loaded_twice(opener, library, record):
    """Two instances of a library at the same time are one module; each function counts once."""
    recording = record("--module=libpart.so", "--", opener, f"open={library}", "call=part_one",
                       f"instance={library}", "call=part_two", "call=part_one", f"open={library}",
                       "call=part_two")
    assert recording.status == 0
    assert entered(recording.trace, library) == [*EARLY, "part_one", "part_two", "part_destructor"]


def test_two_segments_of_code(compile, opener, record, llvm, tmp_path):
    """A library whose code is in two segments, far from each other, is recorded in both."""
    script = tmp_path / "far.ld"
    script.write_text("SECTIONS { .text.far : { *(.text.far) } } INSERT AFTER .bss;")
    library = compile("part.c", "-shared", "-fPIC", f"-Wl,-T,{script}",
                      f"--ld-path={llvm / 'ld.lld'}", cc=llvm / "clang", name="libpart.so")
    trace = record("--module=libpart.so", "--", opener, f"open={library}", "call=part_far",
                   "call=part_two").trace
    assert entered(trace, library) == [*EARLY, "part_far", "part_two", "part_destructor"]


def test_fork_after_loading(opener, library, record):
    """A forked child's trace names the library too."""
    parent, child = record("--module=libpart.so", "--", opener, f"open={library}", "call=part_one",
                           "fork", "call=part_one", "call=part_two").of(opener)
    assert entered(parent, library) == [*EARLY, "part_one", "part_destructor"]
    assert entered(child, library) == ["part_two", "part_destructor"]


def test_library_of_a_stripped_program(linked, library, record, run):
    """The program need not have symbols for its library to be recorded."""
    run("strip", linked)
    recording = record("--module=libpart.so", "--", linked)
    assert recording.stderr == f"frontload-trace: note: {linked}: no symbol table, not recorded\n"
    assert recording.trace.addresses() == []
    assert "part_one" in entered(recording.trace, library)


def test_loader_is_a_library(linked, record, run):
    """The dynamic loader, which the kernel maps, can be named too."""
    trace = record(f"--module={Path(interpreter_of(linked)).name}", "--", linked).trace
    (module,) = [m for m in trace.modules.values() if not m.is_main]
    assert trace.addresses(module.path)


def test_loader_that_is_executed(compile, record):
    """ld.so ./program runs the program and records nothing, which is said."""
    program = compile("order.c", "-O1")
    recording = record("--", interpreter_of(program), program)
    assert (recording.status, recording.stdout, recording.files) == (3, "done\n", [])
    assert recording.stderr.endswith(": a loader, not recorded: run the program itself\n")
