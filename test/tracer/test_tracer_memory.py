"""How breakpoints get into a program's memory and out of it: by whatever way the kernel leaves, and
without a byte that is not the tracer's."""

import resource

import abilities
import pytest
from abilities import needs
from kernel_filter import EIO, PWRITE64, filter_system_calls
from traced import Binary, functions


@pytest.fixture
def brood(compile):
    """A program with thirty children that live at once, each of which enters functions."""
    return compile(r"""
        STEP(before) STEP(in_child)
        int main(void) {
          int all_are_there[2], status, good = 0;
          char byte;
          before();
          pipe(all_are_there);
          for (int i = 0; i < 30; ++i)
            if (fork() == 0) {
              close(all_are_there[1]);
              read(all_are_there[0], &byte, 1);
              in_child();
              return 0;
            }
          close(all_are_there[1]);
          while (wait(&status) > 0)
            good += status == 0;
          printf("%d\n", good);
          return 3;
        }""", "-O1", "-Wno-unused-result", name="brood")


def test_no_descriptor_left(brood, record):
    """Where there are more processes than descriptors, breakpoints are taken out all the same."""
    recording = record("--", brood,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)))
    assert (recording.status, recording.stdout) == (3, "30\n")
    (line,) = recording.stderr.splitlines()
    assert line.endswith("cannot create the trace: Too many open files")
    assert "before" in Binary(brood).named(recording.of(brood)[0].addresses())


@pytest.mark.parametrize("how", [[], ["--until=in_child"]])
def test_code_that_cannot_be_written_through_proc(how, brood, record):
    """A kernel with proc_mem.force_override=never refuses /proc/PID/mem where code is mapped
    read-only: then ptrace writes the breakpoints. (Here a filter refuses writes of one byte.)"""
    recording = record(*how, "--", brood, preexec_fn=lambda: filter_system_calls(
        PWRITE64, EIO, argument=2, value=1))
    assert (recording.status, recording.stdout, recording.stderr) == (3, "30\n", "")
    names = Binary(brood).named(recording.of(brood)[0].addresses())
    assert names[names.index("main"):][:2] == ["main", "before"]


def test_program_that_writes_its_code(compile, record):
    """A program writes data beside its functions while the breakpoints are taken out of them: no
    write of its own is undone. (What writes here shares the memory and is not traced, so that it
    is never stopped meanwhile.)"""
    program = compile(r"""
        __asm__(".text\n.balign 65536\ncode:\n""" + functions(10000, 16) + r""".balign 8\n"
                "counter: .quad 0\n.balign 65536\nend:\n.globl code,counter,end\n");
        extern char code[], end[];
        extern volatile long counter;
        static volatile int is_over = 1, has_begun;
        static char stack[65536];
        static int count(void *number) {
          do {
            __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST); /* past the store buffer */
            ++*(long *)number;
            has_begun = 1;
          } while (!is_over);
          return 0;
        }
        STEP(started)
        int main(void) {
          long number = 0;
          if (mprotect(code, end - code, PROT_READ | PROT_WRITE | PROT_EXEC)) return 9;
          /* Takes its breakpoint out, and that of what it calls: libgcc's atomic functions. */
          count(&number);
          is_over = has_begun = 0;
          pid_t other = clone(count, stack + sizeof stack,
                              CLONE_VM | CLONE_UNTRACED | SIGCHLD, &number);
          while (!has_begun) ;
          started();
          is_over = 1;
          waitpid(other, 0, 0);
          return number == counter ? 3 : 5;
        }""", "-O1", name="writer")
    for _ in range(5):  # the moment is short
        recording = record("--until=started", "--", program)
        assert (recording.status, recording.stderr) == (3, "")


@needs("memory-cgroup")
def test_small_cgroup(compile, record):
    """Where private pages do not fit into the control group, there are no breakpoints."""
    program = compile('__asm__(".text\\n' + functions(6000, 4096)
                      + '");\nint main(void) { return 3; }', name="large")
    with abilities.memory_cgroup(16 << 20) as folder:
        recording = record("--", "sh", "-c", f"echo $$ > {folder}/cgroup.procs; exec {program}")
    assert recording.status == 3
    assert f"note: {program}: not recorded: breakpoints make 24.6 MB of its code memory of its " \
           "own, and its control group has " in recording.stderr
    assert recording.stderr.endswith("MB left: raise the limit while you record\n")
