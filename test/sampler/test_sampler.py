"""What a sampled program writes, and that it goes on as if it did not, whatever fails."""

import ctypes
import os
import re
import shutil
import stat
from pathlib import Path

import pytest
from frontload.profile import sample
from places import ROOT
from sampled_pages import main_is_exact, touched, touched_of

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
USERFAULTFD = {"x86_64": 323}.get(os.uname().machine, 282)
IOCTL = {"x86_64": 16}.get(os.uname().machine, 29)
PRCTL = {"x86_64": 157}.get(os.uname().machine, 167)
GETRANDOM = {"x86_64": 318}.get(os.uname().machine, 278)
PAGEMAP_SCAN, PROCMAP_QUERY = 0xc0606610, 0xc0686611
NOBODY = 65534
# confine(call): from then on the kernel ends the process, or the thread's, for this call.
CONFINE = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
static void confine(int call) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(77);
}
"""


def is_exact_here() -> bool:
    """Whether this kernel turns fault-around off for us (Linux 6.7)."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(USERFAULTFD, 1)
    if fd < 0:
        return False
    question = (ctypes.c_uint64 * 3)(0xaa, 1 << 15, 0)  # UFFD_API, WP_ASYNC
    try:
        return libc.ioctl(fd, ctypes.c_ulong(0xc018aa3f), question) == 0
    finally:
        os.close(fd)


exactly = pytest.mark.skipif(not is_exact_here(), reason="needs userfaultfd of Linux 6.7")


@exactly
def test_the_touched_pages_and_no_others(cc, sampled):
    """The pages between those that are touched are not in the sample."""
    program = cc(TWO_OF_FOUR)
    found = sampled(program, code=7).only
    assert touched(found, program) == {"main", "two", "four"}
    assert main_is_exact(found) and not found.forked


@exactly
def test_slices(cc, sampled, tmp_path):
    """Each tells of its own pages alone, and all together of what a whole sample does."""
    program = cc("".join(f"A(f{i}) " for i in range(900)) + "OWN_PAGE int main(void) {"
                 + "".join(f"f{i}();" for i in range(0, 900, 2)) + "return 7; }")
    whole = touched_of(sampled(program, code=7).only, program)
    told = set()
    for number in range(10):
        found = touched_of(sampled(program, code=7, folder=tmp_path / str(number), variables={
            "FRONTLOAD_SAMPLE_SLICES": f"{number}/10"}).only, program)
        assert found.exact and (found.part.count, found.part.number) == (10, number)
        assert found.part.has(found.pages).all() and told.isdisjoint(found.pages.tolist())
        assert found.part.stripe == 64
        assert len(found.pages) < len(whole.pages) / 3
        told.update(found.pages.tolist())
    # Of the others, the kernel maps some around what was touched before the sampler began.
    functions = set(whole.pages[whole.pages > 8].tolist())
    assert whole.part is None and {page for page in told if page > 8} == functions


@exactly
def test_a_slice_by_chance(cc, sampled):
    """Another start tells of another slice."""
    program = cc(TWO_OF_FOUR)
    for _ in range(3):
        taken = sampled(program, code=7, variables={"FRONTLOAD_SAMPLE_SLICES": "1000"})
    assert len({touched_of(each, program).part.number for each in taken.samples}) > 1


def test_a_slice_without_userfaultfd(cc, sampled, denying):
    """Windows cost nothing: all of them are told."""
    found = sampled(*denying(USERFAULTFD), cc(TWO_OF_FOUR), code=7, variables={
        "FRONTLOAD_SAMPLE_SLICES": "0/10"}).only
    assert touched(found, Path(found.main.path)) >= {"main", "two", "four"}
    assert not any(each.part or each.exact for each in found.touched)


def test_without_userfaultfd(cc, sampled, denying):
    """Where it is refused, what is touched is there, among neighbours, and the sample says so."""
    program = cc(TWO_OF_FOUR)
    found = sampled(*denying(USERFAULTFD), program, code=7).only
    assert touched(found, program) >= {"main", "two", "four"}
    assert not main_is_exact(found)


@exactly
def test_without_scan(cc, sampled, denying):
    """A kernel that cannot scan tells page by page, and not whether nothing else is among them."""
    program = cc(TWO_OF_FOUR)
    found = sampled(*denying(IOCTL, PAGEMAP_SCAN), program, code=7).only
    assert touched(found, program) == {"main", "two", "four"}
    assert not main_is_exact(found)


@exactly
@pytest.mark.parametrize("call", [(IOCTL, PROCMAP_QUERY), (PRCTL,)], ids=["mappings", "auxv"])
def test_what_older_kernels_do_not_answer(cc, sampled, denying, call):
    """They have it in files."""
    program = cc(TWO_OF_FOUR)
    found = sampled(*denying(*call), program, code=7).only
    assert touched(found, program) == {"main", "two", "four"} and main_is_exact(found)
    assert {module.name for module in found.modules} > {program.name, "libc.so.6"}


@exactly
def test_a_mapping_that_is_not_registered(cc, sampled, injecting, tmp_path):
    """Where the kernel refuses one, that of the program, this is not called exact."""
    program = cc(TWO_OF_FOUR)

    def calls():
        return (tmp_path / "calls").read_text()

    sampled(*injecting("ioctl:delay_exit=1:when=1"), program, code=7, preload=False)
    first = calls().partition(", UFFDIO_REGISTER,")[0].count("ioctl(")
    found = sampled(*injecting(f"ioctl:error=EINVAL:when={first}"), program, code=7, preload=False)
    assert re.search(r", UFFDIO_REGISTER,[^\n]*INJECTED", calls())
    _, found = sorted(found.samples, key=main_is_exact, reverse=True)
    assert touched(found, program) >= {"main", "two", "four"} and not main_is_exact(found)


@exactly
def test_many_libraries(cc, sampled, library):
    """All are exact, however many there are."""
    program = cc(TWO_OF_FOUR)
    one = cc("int x = 1;", "-shared", "-fPIC", name="library.so")
    copies = [one.with_name(f"copy{number}.so") for number in range(40)]
    for copy in copies:
        shutil.copy(one, copy)
    found = sampled(program, code=7, variables={
        "LD_PRELOAD": ":".join(map(str, [library, *copies]))}).only
    assert all(touched_of(found, copy).exact for copy in copies)


@pytest.mark.parametrize("to_execute", [False, True])
def test_a_library_that_is_mapped_whole(cc, sampled, to_execute):
    """As a profiler does with what it looks for names in: that tells nothing. If it can be
    executed, all pages are there, whichever mapping they were touched in, and they are not called
    exact, which the second mapping is not."""
    own = cc("A(one) A(two) A(three) A(four)", "-shared", "-fPIC", name="libown.so")
    program = cc("""
        #include <fcntl.h>
        #include <sys/mman.h>
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
    assert is_there == to_execute
    assert touched_of(found, own).exact == (is_exact_here() and not to_execute)


def test_libraries_in_subvolumes(cc, sampled, quota, run, tmp_path):
    """On btrfs the mappings have another device than the files, and files of two subvolumes the
    same number: each is found, with its own pages."""
    folder, libraries = quota(10000), []
    for name in "ab":
        run("btrfs", "subvolume", "create", folder / name)
        built = cc(f"A({name}_one) A({name}_two)", "-shared", "-fPIC", name=f"lib{name}.so")
        libraries.append(Path(shutil.copy(built, folder / name)))
    assert len({path.stat().st_ino for path in libraries}) == 1
    program = cc("""
        void a_one(void);
        void b_two(void);
        int main(void) { a_one(); b_two(); return 7; }""", *libraries)
    found = sampled(program, code=7).only
    for library, name in zip(libraries, ("a_one", "b_two"), strict=True):
        assert name in touched(found, library)


def test_a_file_that_does_not_fit(cc, sampled, run, tmp_path):
    """It alone is left out, and what comes behind it is not."""
    folder = tmp_path
    while len(str(folder)) < 3700:
        folder /= "x" * 200
    folder.mkdir(parents=True)
    own = cc("A(one)", "-shared", "-fPIC", name="libown.so")
    program = cc("""
        #include <fcntl.h>
        #include <sys/mman.h>
        int main(int count, char **words) {
          char path[4096];
          (void)count;
          for (int number = 0; number < 300; ++number) {
            snprintf(path, sizeof path, "%s/%d", words[1], number);
            int to = open(path, O_RDWR | O_CREAT, 0700), from = open(words[2], O_RDONLY);
            char all[1 << 16];
            if (write(to, all, read(from, all, sizeof all)) < 0) return 1;
            /* The dynamic linker, which is higher, comes behind them. */
            if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, 0) == MAP_FAILED) return 2;
            close(from);
            close(to);
          }
          return 7;
        }""")
    found = sampled(program, folder, own, code=7).only
    names = [module.name for module in found.modules]
    assert 100 < sum(name.isdigit() for name in names) < 300
    assert any(name.startswith("ld-") for name in names)


@exactly
def test_ready_ends_the_sample(cc, sampled):
    """What comes after the first frontload_ready() counts no more."""
    program = cc(UNTIL_READY)
    found = sampled(program, code=7).only
    assert touched(found, program) == {"main", "before"}


def test_without_the_library(cc, run):
    """A program that declares frontload_ready() weak runs without the library."""
    run(cc(UNTIL_READY), code=8)


@exactly
def test_static_program(cc, sampled, archive):
    """The archive samples a static program. What lies around its start was mapped before."""
    far = '__asm__(".text; .skip 4096 * 64, 0x90");'
    text = far + UNTIL_READY.replace("A(after)", far + "A(after)") + far
    program = cc(text, "-static", "-O0",
                 "-fno-toplevel-reorder", "-Wl,-u,frontload_ready", archive)
    found = sampled(program, code=7, preload=False).only
    assert touched(found, program) >= {"main", "before"}
    assert "after" not in touched(found, program)


@exactly
@pytest.mark.skipif(shutil.which("musl-gcc") is None, reason="needs musl-gcc")
@pytest.mark.parametrize("flags", [["-static"], [], None], ids=["static", "archive", "preloaded"])
def test_musl(cc, sampled, archive, flags):
    """musl hands constructors nothing, in a program that is linked with the archive or has the
    library preloaded, both of which were compiled for glibc."""
    is_linked = flags is not None
    program = cc(TWO_OF_FOUR, *(["-Wl,-u,frontload_ready", archive, *flags] if is_linked else []),
                 compiler="musl-gcc")
    found = sampled(program, code=7, preload=not is_linked).only
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


def test_forked_processes(cc, sampled):
    """A child has a sample of its own, of the same run; of both only what they did themselves."""
    program = cc("""
        #include <sys/wait.h>
        A(in_parent) A(gap1) A(in_child)
        OWN_PAGE int main(void) {
          in_parent();
          if (fork() == 0) { in_child(); exit(0); }
          wait(0);
          return 0;
        }""")
    parent, child = sorted(sampled(program).samples, key=lambda each: each.forked)
    assert (parent.forked, child.forked) == (False, True) and parent.run == child.run
    assert "in_child" in touched(child, program)
    if is_exact_here():
        assert "in_child" not in touched(parent, program) and not main_is_exact(child)


def test_forked_processes_with_one_name(cc, sampled):
    """Each has a sample, whole, under a number behind the name."""
    taken = sampled(cc("""
        #include <sys/wait.h>
        int main(void) {
          for (int i = 0; i < 4; ++i)
            if (fork() == 0) return 0;
          while (wait(0) > 0) {}
          return 7;
        }"""), code=7, pattern="x.flsample")
    assert taken.result.stderr == "" and len({found.pid for found in taken.samples}) == 5
    assert sorted(path.name for path in taken.folder.iterdir()) == \
        ["x.flsample", *(f"x.flsample.{number}" for number in range(1, 5))]


def test_executed_program(cc, sampled):
    """A program that is executed has its own sample, under another run."""
    program = cc("""
        #include <sys/wait.h>
        OWN_PAGE int main(int count, char **words) {
          if (count > 1) return 0;
          if (fork() == 0) { execl(words[0], words[0], "again", (char *)0); _exit(1); }
          wait(0);
          return 0;
        }""")
    first, second = sampled(program).samples
    assert not first.forked and not second.forked and first.run != second.run


READY_TOGETHER = """
#include <pthread.h>
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
}
"""


def test_threads(cc, sampled):
    """Many threads that are ready at once write one sample."""
    assert sampled(cc(READY_TOGETHER)).only.main.name == "program"


@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_sanitized(cc, sampled, run, llvm, tmp_path, sanitizers):
    """The sampler itself, compiled with sanitizers, does nothing that they find: neither while many
    threads are ready at once, nor while it takes the sample."""
    flags = [f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", "-g"]
    run(llvm / "clang", *flags, "-x", "c", "-o", tmp_path / "empty", "-", input="int main(){}")
    if run(tmp_path / "empty", code=None).returncode:
        pytest.skip(f"-fsanitize={sanitizers} does not work on this machine")
    instrument = ROOT / "instrument"
    objects = []
    for file in [*sorted(instrument.glob("sampler/*.c")), instrument / "base/elf_start.c"]:
        objects.append(tmp_path / f"{file.name}.o")
        run(llvm / "clang", *flags, "-O1", "-D_GNU_SOURCE", "-I", instrument,
            "-I", instrument / "sampler/include", "-c", file, "-o", objects[-1])
    program = cc(READY_TOGETHER, *flags, *objects, compiler=llvm / "clang")
    taken = sampled(program, preload=False)
    assert taken.result.stderr == ""
    assert taken.only.main.name == "program"


def test_own_descriptors(cc, sampled):
    """A program that closes everything, standard output included, and opens its own, finds nothing
    of ours in that, and has all its numbers."""
    program = cc("""
        #include <fcntl.h>
        int main(int count, char **words) {
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


def test_lowest_descriptor_is_the_programs(cc, sampled):
    """Until it is ready, the program's first file has the number that it would have had."""
    program = cc("""
        #include <fcntl.h>
        int main(void) { return open("/dev/null", 0) * 10 + open("/dev/null", 0); }""")
    sampled(program, code=34)


@pytest.mark.parametrize("variables, said", [
    ({"FRONTLOAD_SAMPLE": "samples/x"}, "FRONTLOAD_SAMPLE is no absolute path"),
    ({"FRONTLOAD_SAMPLE": "/tmp/%x"},
     "FRONTLOAD_SAMPLE has a % that means nothing (%p, %m and %% do)"),
    ({"FRONTLOAD_SAMPLE": "/" + "x" * 5000}, "FRONTLOAD_SAMPLE is too long"),
    ({"FRONTLOAD_SAMPLE_EVERY": "0"}, "FRONTLOAD_SAMPLE_EVERY is no number from 1 up"),
    ({"FRONTLOAD_SAMPLE_EVERY": "some"}, "FRONTLOAD_SAMPLE_EVERY is no number from 1 up"),
    ({"FRONTLOAD_SAMPLE_EVERY": "18446744073709551617"},
     "FRONTLOAD_SAMPLE_EVERY is no number from 1 up"),
    *(({"FRONTLOAD_SAMPLE_SLICES": bad}, "FRONTLOAD_SAMPLE_SLICES is neither a number from "
       "1 to 1000 nor a slice, such as 3/10")
      for bad in ("", "0", "1001", "ten", "10/10", "/10", "3/", "3/x", "0/0", "1/4294967297")),
    ({"FRONTLOAD_ROLE": "two words"}, "FRONTLOAD_ROLE is not a role, which is 1 to 31 printable "
                                      "ASCII characters without spaces")])
def test_bad_environment(cc, sampled, variables, said):
    """A bad value is named, and the program goes on without a sample."""
    taken = sampled(cc(TWO_OF_FOUR), code=7, variables=variables)
    assert taken.result.stderr == f"frontload-sample: warning: {said} (no sample)\n"
    assert not taken.samples


def test_one_start_of_many(cc, sampled):
    """FRONTLOAD_SAMPLE_EVERY leaves the choice to chance."""
    program = cc(TWO_OF_FOUR)
    taken = sampled(program, code=7, variables={"FRONTLOAD_SAMPLE_EVERY": "4000000000"})
    assert not taken.samples and taken.result.stderr == ""
    assert sampled(program, code=7, variables={"FRONTLOAD_SAMPLE_EVERY": "1"}).only


@pytest.mark.parametrize("pattern, said", [
    ("no-such-folder/x", "No such file or directory"), ("x" * 300, "File name too long")])
def test_no_place_for_it(cc, sampled, pattern, said):
    """One line says why there is no sample."""
    taken = sampled(cc(TWO_OF_FOUR), code=7, pattern=pattern)
    assert taken.result.stderr == \
        f"frontload-sample: warning: {taken.folder}/{pattern}: {said} (no sample)\n"
    assert not list(taken.folder.iterdir())


@pytest.mark.parametrize("stderr", ["a pipe without a reader", "a full device"])
def test_broken_stderr(cc, sampled, stderr):
    """Where nobody can be told that there is no sample, the program goes on all the same."""
    if stderr == "a full device":
        writing = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, writing = os.pipe()
        os.close(reading)
    taken = sampled(cc(TWO_OF_FOUR), code=7, pattern="no-such-folder/x", capture_output=False,
                    stderr=writing)
    os.close(writing)
    assert not list(taken.folder.iterdir())


def test_limit_on_file_sizes(cc, sampled):
    """Neither the signal of the limit nor half a sample comes of a file that may not grow."""
    program = cc("""
        #include <sys/resource.h>
        int main(void) {
          struct rlimit limit = {0, 0};
          setrlimit(RLIMIT_FSIZE, &limit);
          frontload_ready();
          return 7;
        }""")
    taken = sampled(program, code=7)
    assert "(no sample)" in taken.result.stderr and not list(taken.folder.iterdir())


def test_full_disk(cc, sampled, library, tmp_path):
    """On a full disk there is no sample, and no file that looks like one."""
    if os.geteuid():
        pytest.skip("mounting needs root")
    program, folder = cc(TWO_OF_FOUR), tmp_path / "samples"
    script = (f"mount -t tmpfs -o size=4k,nr_inodes=10 none {folder} || exit 77; "
              f"head -c 4096 /dev/zero > {folder}/full; LD_PRELOAD={library} {program}; "
              f"status=$?; ls {folder}; exit $status")
    taken = sampled("unshare", "--mount", "sh", "-c", script, code=None, preload=False)
    if taken.result.returncode == 77:
        pytest.skip("no mounts here")
    assert (taken.result.returncode, taken.result.stdout) == (7, "full\n")
    assert "No space left on device (no sample)" in taken.result.stderr


def test_read_only(cc, sampled, library, tmp_path):
    """On a file system that nobody can write to there is no sample."""
    if os.geteuid():
        pytest.skip("mounting needs root")
    program, folder = cc(TWO_OF_FOUR), tmp_path / "samples"
    script = (f"mount -t tmpfs -o ro none {folder} || exit 77; LD_PRELOAD={library} {program}; "
              f"status=$?; ls {folder}; exit $status")
    taken = sampled("unshare", "--mount", "sh", "-c", script, code=None, preload=False)
    if taken.result.returncode == 77:
        pytest.skip("no mounts here")
    assert (taken.result.returncode, taken.result.stdout) == (7, "")
    assert "Read-only file system (no sample)" in taken.result.stderr


def test_quota(cc, sampled, quota):
    """Where a quota is used up, there is no sample, and no file that looks like one."""
    folder = quota(64, full=True)
    taken = sampled(cc(TWO_OF_FOUR), code=7, folder=folder)
    assert [file.name for file in folder.iterdir()] == ["zeros"]
    assert "Disk quota exceeded (no sample)" in taken.result.stderr


def test_files_of_others_are_left_alone(cc, sampled, tmp_path):
    """Neither a file nor what a link leads to is written to: the sample gets another name. Nobody
    else may read it."""
    program, folder = cc(TWO_OF_FOUR), tmp_path / "samples"
    folder.mkdir()
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (folder / "x.flsample").symlink_to(mine)
    (folder / "y.flsample").write_text("theirs")
    sampled(program, code=7, pattern="x.flsample")
    sampled(program, code=7, pattern="y.flsample")
    assert mine.read_text() == "mine" and (folder / "y.flsample").read_text() == "theirs"
    others = [path for path in sample.find(folder) if path.suffix != ".flsample"]
    assert len(others) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in others} == {0o600}
    assert [sample.read(path).main.name for path in others] == ["program"] * 2


@pytest.mark.parametrize("call", ["openat", "prctl", "munmap", "close", "lseek", "getpid", "gettid",
                                  "pread64", "readlinkat", "fcntl"])
def test_program_that_confines_itself(cc, sampled, call):
    """A filter that the program gives itself, which kills for what it does not need, does not come
    to kill it at its end."""
    assert not sampled(cc(CONFINE + f"int main(void) {{ confine(SYS_{call}); return 7; }}"),
                       code=7).samples


def test_program_that_confines_itself_further(cc, sampled, denying):
    """Nor does it where another filter was there from the start."""
    if "Seccomp_filters" not in Path("/proc/self/status").read_text():
        pytest.skip("needs Linux 5.9")
    program = cc(CONFINE + "int main(void) { confine(SYS_openat); return 7; }")
    assert not sampled(*denying(USERFAULTFD), program, code=7).samples


def test_child_of_a_confined_program(cc, sampled):
    """A child sees the filter that its parent had already."""
    taken = sampled(cc(CONFINE + """
        int main(void) {
          int status;
          confine(SYS_prctl);
          if (fork() == 0) return 5;
          wait(&status);
          return status >> 8;
        }"""), code=5)
    assert not taken.samples


def test_parent_of_a_process_that_has_ended(cc, sampled):
    """The parent sees its own filter after a child has looked for one."""
    (found,) = sampled(cc(CONFINE + """
        int main(void) {
          if (fork() == 0) return 0;
          wait(0);
          confine(SYS_prctl);
          return 7;
        }"""), code=7).samples
    assert found.forked


def test_child_that_confines_itself(cc, sampled):
    """A filter of a child alone is seen as well."""
    (found,) = sampled(cc(CONFINE + """
        int main(void) {
          int status;
          if (fork() == 0) {
            confine(SYS_openat);
            return 7;
          }
          wait(&status);
          return status >> 8;
        }"""), code=7).samples
    assert not found.forked


def test_thread_that_confines_itself(cc, sampled):
    """A filter of the thread alone that ends the program is seen as well."""
    program = cc(CONFINE + """
        #include <pthread.h>
        static void *run(void *none) {
          (void)none;
          confine(SYS_openat);
          exit(7);
        }
        int main(void) {
          pthread_t thread;
          pthread_create(&thread, 0, run, 0);
          pthread_join(thread, 0);
        }""")
    assert not sampled(program, code=7).samples


def test_program_that_gives_up_root(cc, sampled, everybodys):
    """A service that changes its user has a sample. Its forked child, which may not look at its
    page table, says so."""
    if os.geteuid():
        pytest.skip("needs root")
    program = cc(f"""
        #include <sys/wait.h>
        int main(int count, char **words) {{
          if (setgid({NOBODY}) || setuid({NOBODY})) return 1;
          if (count > 1 && fork() == 0) return 0;
          wait(0);
          return 7;
        }}""")
    assert sampled(program, code=7, folder=everybodys).only.main
    taken = sampled(program, "fork", code=7, folder=everybodys)
    assert taken.result.stderr == \
        "frontload-sample: warning: /proc/self/pagemap: Permission denied (no sample)\n"


def test_no_random_numbers(cc, sampled, denying):
    """Without them there is no sample, and a line."""
    taken = sampled(*denying(GETRANDOM), cc(TWO_OF_FOUR), code=7)
    assert not taken.samples and taken.result.stderr == \
        "frontload-sample: warning: the kernel gives no random numbers (no sample)\n"


def test_privileged_program(cc, sampled, archive, everybodys):
    """A program of root that anybody may start takes nothing from its environment."""
    if os.geteuid():
        pytest.skip("needs root")
    program = shutil.copy(cc(TWO_OF_FOUR, "-static", "-Wl,-u,frontload_ready", archive), everybodys)
    for mode, count in ((0o755, 1), (0o6755, 0)):
        os.chmod(program, mode)
        folder = everybodys / f"samples{count}"
        folder.mkdir()
        os.chmod(folder, 0o777)
        taken = sampled(program, code=7, preload=False, folder=folder, user=NOBODY, group=NOBODY,
                        extra_groups=[])
        assert len(taken.samples) == count and taken.result.stderr == ""


def test_nothing_but_pages(cc, sampled):
    """A sample has no argument and nothing of the environment but the role."""
    program = cc(TWO_OF_FOUR)
    taken = sampled(program, "an-argument", code=7,
                    variables={"SECRET": "a-secret", "FRONTLOAD_ROLE": "tester"})
    (path,) = sample.find(taken.folder)
    content = path.read_bytes()
    assert b"an-argument" not in content and b"a-secret" not in content
    assert taken.only.role == "tester" and len(content) < 4096


def test_killed_program(cc, sampled):
    """A program that is killed before it is ready leaves nothing."""
    assert not sampled(cc("int main(void) { abort(); }"), code=-6).samples


def test_killed_while_it_writes(cc, sampled, injecting):
    """What is not whole does not have the name of a sample."""
    taken = sampled(*injecting("write:retval=0:signal=KILL"), cc(TWO_OF_FOUR), code=-9,
                    preload=False)
    assert len(list(taken.folder.iterdir())) == 1 and not sample.find(taken.folder)


def test_file_system_that_cannot_rename_so(cc, sampled, injecting):
    """The sample is linked to its name then, and replaces nothing, either."""
    for _ in range(2):
        taken = sampled(*injecting("renameat2:error=EINVAL"), cc(TWO_OF_FOUR), code=7,
                        preload=False, pattern="x.flsample")
    assert [path.name for path in sorted(taken.folder.iterdir())] == \
        ["x.flsample", "x.flsample.1"]
    assert len(taken.samples) == 2


def test_program_that_is_replaced(cc, sampled):
    """It keeps its name where its file has another, or none, by the time that it is ready."""
    program = cc("int main(int count, char **words) { return unlink(words[count - 1]) + 7; }")
    found = sampled(program, code=7).only
    assert found.main.path == str(program)
