"""Which pages the library sees a program touch, what it writes of that, and that the program goes
on as if it did not, whatever fails."""

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

import abilities
import pytest
from abilities import needs
from compiled import compile_to
from elftools.elf.elffile import ELFFile
from frontload.recording import sample
from places import ROOT

TWO_OF_FOUR = """
A(one) A(two) A(three) A(four)
OWN_PAGE int main(void) { two(); four(); return 7; }
"""
UNTIL_READY = """
A(before) A(after)
OWN_PAGE int main(void) {
  before();
  if (frontload_ready)
    frontload_ready();
  after();
  if (frontload_ready)
    frontload_ready();
  return frontload_ready ? 7 : 8;
}
"""
IS_X86 = os.uname().machine == "x86_64"
USERFAULTFD, IOCTL, PRCTL = (323, 16, 157) if IS_X86 else (282, 29, 167)
PAGEMAP_SCAN, PROCMAP_QUERY = 0xc0606610, 0xc0686611
NOBODY = 65534
exactly = needs("exact-pages")


def touched_of(found: sample.PageSample, file: Path) -> sample.TouchedPages:
    """Of a file by its name: a program may have another path where it was sampled."""
    (touched,) = (touched for module, touched in zip(found.modules, found.touched, strict=True)
                  if module.name == file.name)
    return touched


def touched(found: sample.PageSample, program: Path) -> set[str]:
    """The functions of a program, or of a library of it, whose first page is in a sample."""
    pages = set(touched_of(found, program).pages.tolist())
    with program.open("rb") as stream:
        elf = ELFFile(stream)
        loads = list(elf.iter_segments("PT_LOAD"))
        return {symbol.name for symbol in elf.get_section_by_name(".symtab").iter_symbols()
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]
                and not symbol.name.startswith("_")
                for load in loads
                if load["p_vaddr"] <= symbol["st_value"] < load["p_vaddr"] + load["p_filesz"]
                and (symbol["st_value"] - load["p_vaddr"] + load["p_offset"]) // found.page_size
                in pages and symbol["st_value"] % found.page_size == 0}


def main_is_exact(found: sample.PageSample) -> bool:
    return found.touched[found.modules.index(found.main)].exact


@exactly
def test_the_touched_pages_and_no_others(cc, sampled):
    """The pages between those that are touched are not in the sample."""
    program = cc(TWO_OF_FOUR)
    found = sampled(program, code=7).only
    assert touched(found, program) == {"main", "two", "four"}
    assert main_is_exact(found) and not found.forked


@pytest.mark.parametrize(("call", "is_exact"), [
    ((USERFAULTFD,), False), pytest.param((IOCTL, PAGEMAP_SCAN), False, marks=exactly),
    pytest.param((IOCTL, PROCMAP_QUERY), True, marks=exactly),
    pytest.param((PRCTL,), True, marks=exactly)],
    ids=["userfaultfd", "scans", "mappings", "auxv"])
def test_what_kernels_do_not_answer(cc, sampled, denying, call, is_exact):
    """What is touched is there. Where userfaultfd is refused, it is among neighbours; older kernels
    have the rest in files, but for whether nothing else is there. The sample says so."""
    program = cc(TWO_OF_FOUR)
    found = sampled(*denying(*call), program, code=7).only
    assert touched(found, program) >= {"main", "two", "four"}
    assert call == (USERFAULTFD,) or touched(found, program) == {"main", "two", "four"}
    assert main_is_exact(found) == is_exact
    assert {module.name for module in found.modules} > {program.name, "libc.so.6"}


@exactly
@pytest.mark.parametrize("to_execute", [False, True])
def test_a_library_that_is_mapped_whole(cc, sampled, to_execute):
    """As a profiler does with what it looks for names in: that tells nothing. If it can be
    executed, all pages are there, whichever mapping they were touched in, and they are not called
    exact, which the second mapping is not."""
    own = cc("A(one) A(two) A(three) A(four)", "-shared", "-fPIC", name="libown.so")
    program = cc("""
        void two(void);
        void four(void);
        int main(int count, char **words) {
          int fd = open(words[count - 1], O_RDONLY), size = lseek(fd, 0, SEEK_END);
          volatile char *all = mmap(0, size, PROT, MAP_PRIVATE, fd, 0);
          two();
          four();
          return all[size - 1] * 0;
        }""", own, f"-DPROT=PROT_READ{'|PROT_EXEC' * to_execute}")
    found = sampled(program, own).only
    is_there = (own.stat().st_size - 1) // found.page_size in touched_of(found, own).pages
    assert touched(found, own) >= {"two", "four"}
    assert (is_there, touched_of(found, own).exact) == (to_execute, not to_execute)


@exactly
def test_ready_ends_the_sample(cc, sampled, run):
    """What comes after the first frontload_ready() counts no more. A program that declares it weak
    runs without the library, too."""
    program = cc(UNTIL_READY)
    assert touched(sampled(program, code=7).only, program) == {"main", "before"}
    run(program, code=8)


@exactly
def test_static_program(cc, sampled, archive):
    """The archive samples a static program. What lies around its start was mapped before."""
    far = '__asm__(".text; .skip 4096 * 64, 0x90");'
    text = far + UNTIL_READY.replace("A(after)", far + "A(after)") + far
    program = cc(text, "-static", "-O0", "-fno-toplevel-reorder", "-Wl,-u,frontload_ready", archive)
    found = sampled(program, code=7, preload=False).only
    assert touched(found, program) >= {"main", "before"}
    assert "after" not in touched(found, program)


@exactly
@needs("program:musl-gcc")
@pytest.mark.parametrize("is_static", [True, False])
def test_musl(cc, sampled, archive, is_static):
    """musl hands constructors nothing, in a static program that is linked with the archive, nor in
    one that has the library preloaded, both of which were compiled for glibc."""
    flags = ["-Wl,-u,frontload_ready", archive, "-static"] if is_static else []
    program = cc(TWO_OF_FOUR, *flags, compiler="musl-gcc")
    found = sampled(program, code=7, preload=not is_static).only
    assert touched(found, program) >= {"main", "two", "four"}


def test_nobody_asks(cc, run, strace, library, tmp_path):
    """Without FRONTLOAD_SAMPLE the program opens the library, and nothing else that it would
    not."""
    program, calls = cc(UNTIL_READY), tmp_path / "calls"

    def opened(code, *options):
        run(strace, "-o", calls, "-e", "trace=/open|creat|userfaultfd", *options, program,
            code=code)
        return re.findall(r"^\w+\(.*?\)", calls.read_text(), re.MULTILINE)

    of_library = opened(7, "-E", f"LD_PRELOAD={library}")
    assert str(library) in of_library[0] and of_library[1:] == opened(8)


@exactly
def test_forked_processes(cc, sampled):
    """A child has a sample of its own, of the same run; of both only what they did themselves. One
    that executes another program begins another run. All have one name, with numbers behind it."""
    program = cc("""
        A(in_parent) A(gap1) A(in_child)
        OWN_PAGE int main(int count, char **words) {
          if (count > 1) return 0;
          in_parent();
          if (fork() == 0) { in_child(); exit(0); }
          wait(0);
          if (fork() == 0) { execl(words[0], words[0], "again", (char *)0); _exit(1); }
          wait(0);
          return 0;
        }""")
    taken = sampled(program, pattern="x.flsample")
    parent, other, child = sorted(taken.samples, key=lambda each: (
        each.forked, not touched(each, program) & {"in_parent"}))
    assert (parent.forked, other.forked, child.forked) == (False, False, True)
    assert parent.run == child.run != other.run
    assert "in_child" in touched(child, program) - touched(parent, program)
    assert not main_is_exact(child)
    assert {path.name for path in taken.folder.iterdir()} == {
        "x.flsample", "x.flsample.1", "x.flsample.2"}


@needs("sanitizers")
@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_sanitized(cc, sampled, sanitizers):
    """Many threads that are ready at once write one sample. The sampler itself, compiled with
    sanitizers, does nothing that they find."""
    instrument = ROOT / "instrument"
    sources = {str(path.relative_to(instrument)): path for room in ("base", "format", "sampler")
               for path in (instrument / room).rglob("*.[ch]")}
    files = [name for name in sorted(sources) if name.startswith("sampler/") and name[-1] == "c"]
    program = cc("""
        static pthread_barrier_t all;
        static void *run(void *none) {
          pthread_barrier_wait(&all);
          frontload_ready();
          return none;
        }
        int main(void) {
          pthread_t thread[16];
          pthread_barrier_init(&all, 0, 16);
          for (int i = 0; i < 16; ++i) pthread_create(&thread[i], 0, run, 0);
          for (int i = 0; i < 16; ++i) pthread_join(thread[i], 0);
          return 0;
        }""", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", "-D_GNU_SOURCE", "-I.",
        "-Isampler", "-Isampler/include", *files, "base/elf_start.c", sources=sources)
    taken = sampled(program, preload=False)
    assert taken.result.stderr == "" and taken.only.main.name == "program"


def test_own_descriptors(cc, sampled):
    """A program that closes everything, standard output included, and opens its own, finds nothing
    of ours in that, and has all its numbers."""
    program = cc("""
        int main(int count, char **words) {
          if (open("/dev/null", 0) != 3) return 3;
          for (int fd = 0; fd < 1024; ++fd) close(fd);
          int first = open(words[count - 1], O_RDWR | O_CREAT, 0600);
          for (int fd = 200; fd < 210; ++fd) dup2(first, fd);
          frontload_ready();
          for (int fd = 200; fd < 210; ++fd)
            if (fcntl(fd, F_GETFD) < 0) return 2;
          return first == 0 && lseek(first, 0, SEEK_END) == 0 && dup(0) == 1 ? 0 : 1;
        }""")
    taken = sampled(program, program.parent / "mine")
    assert taken.only.main and not main_is_exact(taken.only)


@pytest.mark.parametrize("variable, value, said", [
    ("FRONTLOAD_SAMPLE", "samples/x", "FRONTLOAD_SAMPLE is no absolute path"),
    ("FRONTLOAD_SAMPLE", "/tmp/%x",
     "FRONTLOAD_SAMPLE has a % that means nothing (%p, %m and %% do)"),
    ("FRONTLOAD_SAMPLE", "/" + "x" * 5000, "FRONTLOAD_SAMPLE is too long"),
    ("FRONTLOAD_SAMPLE", "/no-such-folder/x", "/no-such-folder/x: No such file or directory"),
    ("FRONTLOAD_SAMPLE", "/" + "x" * 300, f"/{'x' * 300}: File name too long"),
    ("FRONTLOAD_ROLE", "two words", "FRONTLOAD_ROLE is not a role, which is 1 to 31 printable "
                                    "ASCII characters without spaces")])
def test_bad_environment(cc, sampled, variable, value, said):
    """A bad value or place is named, and the program goes on without a sample."""
    taken = sampled(cc(TWO_OF_FOUR), code=7, variables={variable: value})
    assert taken.result.stderr == f"frontload-sample: warning: {said} (no sample)\n"
    assert not list(taken.folder.iterdir())


@pytest.mark.parametrize("is_pipe", [False, True], ids=["full", "a pipe without a reader"])
def test_broken_stderr(cc, sampled, is_pipe):
    """Where nobody can be told that there is no sample, the program goes on all the same."""
    reading, writing = os.pipe() if is_pipe else (os.open("/dev/null", 0),
                                                  os.open("/dev/full", os.O_WRONLY))
    os.close(reading)
    sampled(cc(TWO_OF_FOUR), code=7, pattern="none/x", capture_output=False, stderr=writing)
    os.close(writing)


def test_limit_on_file_sizes(cc, sampled):
    """Neither the signal of the limit nor half a sample comes of a file that may not grow."""
    program = cc("""
        int main(void) {
          struct rlimit limit = {0, 0};
          setrlimit(RLIMIT_FSIZE, &limit);
          frontload_ready();
          return 7;
        }""")
    taken = sampled(program, code=7)
    assert "(no sample)" in taken.result.stderr and not list(taken.folder.iterdir())


@needs("root", "mounts")
@pytest.mark.parametrize(("options", "said"), [
    ("size=4k,nr_inodes=10", "No space left on device"), ("ro", "Read-only file system")])
def test_bad_disk(cc, sampled, library, tmp_path, options, said):
    """On a disk that is full or read-only there is no sample, and no file that looks like one."""
    program, folder = cc(TWO_OF_FOUR), tmp_path / "samples"
    script = (f"mount -t tmpfs -o {options} none {folder} || exit 1; "
              f"head -c 4096 /dev/zero 2>/dev/null >{folder}/full; LD_PRELOAD={library} {program}; "
              f"status=$?; ls {folder}; exit $status")
    taken = sampled("unshare", "--mount", "sh", "-c", script, code=7, preload=False)
    assert taken.result.stdout == ("" if options == "ro" else "full\n")
    assert f"{said} (no sample)" in taken.result.stderr


def test_files_of_others_are_left_alone(cc, sampled, tmp_path):
    """Neither a file nor what a link leads to is written to: the sample gets another name. Nobody
    else may read it."""
    program, folder = cc(TWO_OF_FOUR), tmp_path / "samples"
    folder.mkdir()
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (folder / "x.flsample").symlink_to(mine)
    (folder / "y.flsample").write_text("theirs")
    for name in "xy":
        sampled(program, code=7, pattern=f"{name}.flsample")
    assert mine.read_text() == "mine" and (folder / "y.flsample").read_text() == "theirs"
    others = [path for path in sample.find(folder) if path.suffix != ".flsample"]
    assert len(others) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in others} == {0o600}
    assert [sample.read(path).main.name for path in others] == ["program"] * 2


CALLS = ("openat", "prctl", "munmap", "close", "lseek", "getpid", "gettid", "pread64", "readlinkat",
         "fcntl")


@pytest.mark.parametrize(("body", "count"), [
    *((f"confine(SYS_{call}); return 7;", 0) for call in CALLS),
    ("confine(SYS_prctl); if (fork() == 0) return 7; wait(&status); return status >> 8;", 0),
    ("if (fork() == 0) return 0; wait(&status); confine(SYS_prctl); return 7;", 1),
    pytest.param("if (fork() == 0) { confine(SYS_openat); return 7; } wait(&status); "
                 "return status >> 8;", 1, marks=needs("unfiltered")),
    pytest.param("pthread_t thread; pthread_create(&thread, 0, confined, 0); "
                 "pthread_join(thread, 0);", 0, marks=needs("unfiltered"))],
    ids=[*CALLS, "child of a confined one", "parent of another", "child", "thread"])
def test_program_that_confines_itself(confining, sampled, body, count):
    """A filter that the program gives itself, which kills for what it does not need, does not come
    to kill it at its end, whichever of its processes and threads has it."""
    program = confining(f"""
        #define confine(call) confine(call, 0, SECCOMP_RET_KILL_PROCESS)
        static void *confined(void *none) {{ confine(SYS_openat); exit(none ? 1 : 7); }}
        int main(int count, char **words) {{
          int status = count;
          if (count > 1) confined(words);
          {body}
        }}""")
    assert len(sampled(program, code=7).samples) == count


@needs("kernel>=5.9")
def test_program_that_confines_itself_further(confining, sampled, denying):
    """Nor does it where another filter was there from the start."""
    program = confining(
        "int main(void) { confine(SYS_openat, 0, SECCOMP_RET_KILL_PROCESS); return 7; }")
    assert not sampled(*denying(USERFAULTFD), program, code=7).samples


@needs("another-user")
def test_privileged_program(cc, sampled, archive):
    """A program of root that anybody may start takes nothing from its environment."""
    program = cc(TWO_OF_FOUR, "-static", "-Wl,-u,frontload_ready", archive)
    for mode, count in ((0o755, 1), (0o6755, 0)):
        with tempfile.TemporaryDirectory() as folder:  # which all may enter, as those of tests not
            os.chmod(folder, 0o777)
            copy = shutil.copy(program, folder)
            os.chmod(copy, mode)
            taken = sampled(copy, code=7, preload=False, folder=Path(folder), user=NOBODY,
                            group=NOBODY, extra_groups=[])
            assert len(taken.samples) == count and taken.result.stderr == ""


def test_nothing_but_pages(cc, sampled):
    """A sample has no argument and nothing of the environment but the role. The program keeps its
    name where its file has none by the time that it is ready."""
    program = cc("int main(int count, char **words) { return unlink(words[count - 2]) + 7; }")
    taken = sampled(program, program, "an-argument", code=7,
                    variables={"SECRET": "a-secret", "FRONTLOAD_ROLE": "tester"})
    (path,) = sample.find(taken.folder)
    content = path.read_bytes()
    assert b"an-argument" not in content and b"a-secret" not in content and len(content) < 4096
    assert (taken.only.role, taken.only.main.path) == ("tester", str(program))


def test_killed_while_it_writes(cc, sampled, strace, library):
    """What is not whole does not have the name of a sample. A program that is killed before it is
    ready leaves nothing."""
    taken = sampled(strace, "-o", os.devnull, "-E", f"LD_PRELOAD={library}", "-e", "trace=write",
                    "-e", "inject=write:signal=KILL", cc(TWO_OF_FOUR), code=-9, preload=False)
    assert len(list(taken.folder.iterdir())) == 1 and not sample.find(taken.folder)
    assert not sampled(cc("int main(void) { abort(); }"), code=-6).samples


SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios" / "programs").glob("*.c"))
SAID = {"15-other-root": "frontload-sample: warning: /proc/self/maps: cannot be read, or has too "
                         "many mappings (no sample)\n"}


@pytest.mark.parametrize("source", SCENARIOS, ids=lambda path: path.stem)
def test_sampled_scenario(source, sampled, run, tmp_path):
    """The odd programs of test/scenarios end as they do alone, and write only their own."""
    text = source.read_text()
    if source.stem in SAID:
        abilities.need("another-user", "chroot")
    flags = re.match(r"/\* flags: (.*?)\.", text)
    program = compile_to(tmp_path / "program", "gcc", "-O0", "-pthread",
                         *(flags[1].split() if flags else ()), source.name,
                         sources={source.name: text})
    alone = run(program, code=None, cwd=tmp_path)
    result = sampled(program, code=alone.returncode, cwd=tmp_path).result
    assert result.stdout == alone.stdout
    assert result.stderr == alone.stderr + SAID.get(source.stem, "")
