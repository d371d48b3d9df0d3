"""The program behaves as without the recorder: streams, status, child processes, executed files,
threads. Each process has a trace of its own."""

from itertools import groupby

import pytest
from abilities import needs
from recorded import Binary
from traced import PROGRAMS

PROGRAM = r"""
    DATA my_common[4], my_parent[4], my_child[4], my_grandchild[4], my_early[4];
    int main(int argc, char **argv) {
      my_early[0] = 1;
      const char *what = argc > 1 ? argv[1] : "";
      if (!strcmp(what, "cat")) {
        char line[100];
        while (fgets(line, sizeof line, stdin))
          fputs(line, stdout);
        fputs("problem\n", stderr);
        return atoi(argv[2]);
      }
      if (!strcmp(what, "fork")) {
        if (fork() == 0) {
          if (fork() == 0) {
            my_grandchild[0] = my_common[0];
            _exit(0);
          }
          my_child[0] = my_common[0];
          wait(NULL);
          _exit(0);
        }
        my_parent[0] = my_common[0];
        wait(NULL);
      }
      return 0;
    }"""


@pytest.fixture
def program(compile):
    return compile(PROGRAM)


def data_of_processes(program, recording):
    """What each process of a program has touched, whatever their numbers. One that executes another
    program has a trace of each."""
    binary = Binary(program)
    found = []
    for pid, traces in groupby(recording.of(program), key=lambda trace: trace.pid):
        found.append([touch for trace in traces for touch in binary.data(trace)])
        assert any(f".{pid}.fltrace" in file.name for file in recording.files)
    return sorted(found)


@pytest.mark.parametrize("status", [0, 125])
def test_streams_and_status(status, program, record, tmp_path):
    """They are the program's, and nothing else is written."""
    (tmp_path / "input").write_text("a\nb\n")
    with open(tmp_path / "input") as stdin:
        recording = record("--", program, "cat", str(status), stdin=stdin)
    assert (recording.status, recording.stdout) == (status, "a\nb\n")
    assert recording.stderr == "problem\n"
    assert Binary(program).data(recording.trace) == ["my_early+0"]


def test_fork(program, record):
    """Each process that is forked has its own trace, with what it touches from there on."""
    recording = record("--", program, "fork")
    assert (recording.status, recording.stderr) == (0, "")
    assert data_of_processes(program, recording) == [
        ["my_common+0", "my_child+0"], ["my_common+0", "my_grandchild+0"],
        ["my_early+0", "my_common+0", "my_parent+0"]]


def test_a_program_that_executes_itself(compile, record):
    """/proc/self/exe is the program, not Valgrind, twice in a row."""
    program = compile("""
        int main(int argc, char **argv) {
          return argc > 2 ? 5 : execl("/proc/self/exe", "again", "x", argv[1], (char *)0);
        }""")
    recording = record("--", program)
    assert recording.status == 5 and len(recording.of(program)) == 3


def test_exec_by_a_thread(compile, record):
    """What was touched before an exec is recorded, and what the new program touches, too; also when
    not the first thread executes it, which then has the process id."""
    program = compile((PROGRAMS / "processes.c").read_text(), "-pthread", name="processes")
    recording = record("--", program, "thread-exec")
    assert (recording.status, recording.stderr) == (0, "")
    assert len(recording.files) == 2 and len({trace.pid for trace in recording.traces}) == 1
    addresses = {address: name for name, (address, *_) in Binary(program).symbols.items()
                 if name in ("main", "in_child", "leaf")}
    assert sorted([addresses[a] for a in trace.addresses() if a in addresses]
                  for trace in recording.traces) == [["main", "in_child"], ["main", "leaf"]]


def test_children(compile, record):
    """Children that are forked among threads, by vfork() or by posix_spawn() have traces of their
    own, and the program goes on when they have ended."""
    program = compile(r"""
        DATA my_before[4], my_forked[4], my_vforked[4], my_spawned[4], my_after[4];
        static volatile int stop;
        static void *turn(void *unused) {
          while (!stop)
            ;
          return unused;
        }
        static int reaped(void) {
          int status;
          return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 5;
        }
        int main(int argc, char **argv) {
          char *none[] = {NULL}, *spawned[] = {argv[0], "spawned", NULL};
          if (argc > 1) {
            my_spawned[0] = 1;
            return 5;
          }
          my_before[0] = 1;
          pthread_t threads[3];
          for (int i = 0; i < 3; ++i)
            pthread_create(&threads[i], NULL, turn, NULL);
          if (fork() == 0) {
            my_forked[0] = 1;
            _exit(5);
          }
          if (!reaped())
            return 1;
          stop = 1;
          for (int i = 0; i < 3; ++i)
            pthread_join(threads[i], NULL);
          if (vfork() == 0) {
            execv("/no/such/program", none);
            my_vforked[0] = 1;
            _exit(5);
          }
          pid_t child;
          if (!reaped() || posix_spawn(&child, argv[0], NULL, NULL, spawned, none) || !reaped())
            return 2;
          my_after[0] = 1;
          return 0;
        }""", "-pthread")
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (0, "")
    assert data_of_processes(program, recording) == [
        ["my_before+0", "my_after+0"], ["my_forked+0"], ["my_spawned+0"], ["my_vforked+0"]]


def test_many_processes_of_one_name(compile, start, finish, tmp_path):
    """Processes that run at the same time, and whose traces have one name, never share a file: each
    has the whole trace of one process."""
    commands, children = 6, 20
    program = compile(f"""
        enum {{ CHILDREN = {children} }};
        DATA my_data[{commands} * CHILDREN * 4], my_parent[4];
        int main(int argc, char **argv) {{
          int first = atoi(argv[argc - 1]) * CHILDREN, status, failed = 0;
          for (int i = 0; i < CHILDREN; ++i)
            if (fork() == 0) {{
              my_data[(first + i) * 4] = 1;
              _exit(0);
            }}
          while (wait(&status) > 0)
            failed += status != 0;
          my_parent[0] = 1;
          return failed;
        }}""")
    running = [start("-o", tmp_path / "traces/one.fltrace", "--", program, str(number))
               for number in range(commands)]
    for process in running:
        process.wait()
    for recording in map(finish, running):
        assert (recording.status, recording.stdout, recording.stderr) == (0, "", "")
    assert len(recording.files) == commands * (children + 1)
    assert len({trace.pid for trace in recording.traces}) == len(recording.files)
    binary = Binary(program)
    assert sorted(binary.data(trace) for trace in recording.traces) == sorted([
        *([f"my_data+{16 * number}"] for number in range(commands * children)),
        *[["my_parent+0"]] * commands])


THIRTY_TWO = ".globl _start\n_start: mov $1, %eax\nmov $5, %ebx\nint $0x80\n"


@pytest.mark.parametrize("kind", ["set-user-id", pytest.param("32 bits", marks=needs(
    "x86-64", "programs-of-32-bits"))])
def test_what_valgrind_cannot_run(kind, compile, record, run, tmp_path):
    """It is executed as ever; only its start is not recorded."""
    other = tmp_path / "other"
    if kind == "32 bits":
        run("as", "--32", "-o", tmp_path / "other.o", input=THIRTY_TWO)
        run("ld", "-m", "elf_i386", "-o", other, tmp_path / "other.o")
    else:
        compile("int main(void) { return 5; }", name="other")
        other.chmod(0o4755)
    program = compile("""
        int main(int c, char **v) { (void)c; execl(v[1], v[1], (char *)0); return 1; }""")
    recording = record("--", program, other)
    assert (recording.status, recording.stderr) == (5, "")
    assert [trace.main.path for trace in recording.traces] == [str(program)]


def test_threads(compile, record):
    """Each touch once, with the thread that did it."""
    program = compile("""
        DATA my_data[5 * 4], my_common[4];
        static void *my_thread(void *number) {
          my_data[(size_t)number * 4] = 1;
          for (int i = 0; i < 10000; ++i)
            my_common[0] += 1;
          return NULL;
        }
        int main(void) {
          pthread_t threads[4];
          for (size_t i = 0; i < 4; ++i)
            pthread_create(&threads[i], NULL, my_thread, (void *)(i + 1));
          for (size_t i = 0; i < 4; ++i)
            pthread_join(threads[i], NULL);
          return 0;
        }""", "-pthread")
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (0, "")
    trace, binary = recording.trace, Binary(program)
    assert sorted(binary.data(trace)) == ["my_common+0",
                                          *(f"my_data+{16 * i}" for i in range(1, 5))]
    thread_of = {address: thread for _, address, thread in trace.events}
    threads = {thread_of[binary["my_data"] + 16 * i] for i in range(1, 5)}
    assert len(threads) == 4 and trace.pid not in threads


ENDING = """
    DATA my_early[4], my_late[4];
    __attribute__((noinline)) void my_ready(void) { __asm__ volatile("" : : : "memory"); }
    int main(int argc, char **argv) {
      (void)argv;
      my_early[0] = 1;
      if (argc > 1)
        usleep(400000);
      else
        my_ready();
      my_late[0] = 1;
      puts("goes on");
      return 0;
    }"""


@pytest.mark.parametrize("option", ["--until=my_ready", "--for=0.3"])
def test_the_end_of_startup(option, compile, record):
    """The recording ends there, and says so; the program goes on. (Where a machine takes longer
    than --for says to begin, there is no trace.)"""
    program = compile(ENDING)
    recording = record(option, "--", program, *["slowly"] * ("for" in option))
    assert (recording.status, recording.stdout, recording.stderr) == (0, "goes on\n", "")
    assert "for" in option or Binary(program).data(recording.trace) == ["my_early+0"]
    for trace in recording.traces:
        assert trace.startup_done and "my_late+0" not in Binary(program).data(trace)


@pytest.mark.parametrize(("symbol", "said"), [
    ("my_late_function", "no recorded module has a function of this name"),
    ("my_ready", "the program ended before it was called")])
def test_an_end_that_does_not_come(symbol, said, compile, record):
    """It is said; what was recorded stays."""
    program = compile(ENDING)
    recording = record(f"--until={symbol}", "--", program, "slowly")
    assert recording.stderr == f"frontload-valgrind: warning: --until={symbol}: {said}\n"
    assert not recording.trace.startup_done
    assert Binary(program).data(recording.trace) == ["my_early+0", "my_late+0"]


def test_roles(compile, record):
    """A forked child has the role of its parent, an executed one what its environment says, and
    where that says nothing, the role of the command, which --role or its environment says."""
    program = compile((PROGRAMS / "roles.c").read_text(), name="roles")
    touches, environment = Binary(program).touches, {"FRONTLOAD_ROLE": "shell"}
    own = record("--", program, "leaf", env=environment).trace
    assert (own.role, touches(own)) == ("shell", ["main", "my_leaf"])
    recording = record("--role=browser", "--", program, env=environment)
    assert (recording.status, recording.stderr) == (0, "")
    assert {(trace.role, *touches(trace)[-1:]) for trace in recording.of(program)
            if trace.pid != own.pid} == {
        ("browser",), ("browser", "main"), ("browser", "my_worker"), ("browser", "my_leaf"),
        ("renderer", "my_leaf")}


def test_bad_role(compile, record):
    """What cannot be a role is refused on the command line; in the environment of a child it is
    told, and the child has the role of the command."""
    program = compile((PROGRAMS / "roles.c").read_text(), name="roles")
    refused = record("--role=two words", "--", program)
    assert (refused.status, refused.files) == (2, [])
    recording = record("--role=browser", "--", program, "two words")
    assert {trace.role for trace in recording.of(program)} == {"browser"}
    assert recording.stderr.count("warning: FRONTLOAD_ROLE: not a role") == 1
