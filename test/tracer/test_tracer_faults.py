"""Bad options, bad places for traces, and programs that cannot be recorded: a clear sentence, the
right status, and a program that runs as ever."""

import os
import platform
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
from pathlib import Path

import abilities
import pytest
from abilities import NOBODY, needs
from elftools.elf.elffile import ELFFile
from kernel_filter import EPERM, PTRACE, filter_system_calls, limit_file_size
from trace_decoder import decode
from traced import Binary, calls_all

AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


@pytest.fixture
def program(compile):
    return compile("order.c")


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "no command was given"),
    (["true"], "'true': is not an option; the command follows --"),
    (["--unknown", "--", "true"], "Unknown command line argument '--unknown'"),
    (["--untl=f", "--", "true"], "did you mean --until=f? try: frontload-trace --help"),
    (["-o", "%q", "--", "true"], "--output=%q: '%q' has no meaning; use %p (process id), %m "
                                 "(program name) or %%"),
    (["-o", "folder/", "--", "true"], "--output=folder/: not a file name; write it as in "
                                      "folder/%m.%p.fltrace"),
    (["-o", "", "--", "true"], "--output=: not a file name; write it as in %m.%p.fltrace"),
    (["--for=0", "--", "true"], "--for"),
    (["--for=nan", "--", "true"], "--for"),
    (["--role=", "--", "true"], "--role: not a role, which is 1 to 31"),
])
def test_usage(arguments, said, tracer, run):
    """Wrong options are named, with what to try, with status 2 and nothing run."""
    result = run(tracer, *arguments, code=2)
    error, note = result.stderr.splitlines()
    assert error.startswith("frontload-trace: error: ") and said in result.stderr
    assert note.startswith("frontload-trace: note: ")
    assert note.endswith("try: frontload-trace --help")


def test_pattern(program, record, tmp_path):
    """%m is the program's name, %p its pid, %% a percent sign."""
    trace = record("-o", tmp_path / "traces/%%.%m-%p", "--", program).trace
    assert [p.name for p in (tmp_path / "traces").iterdir()] == [f"%.order-{trace.pid}"]


@pytest.mark.parametrize(("command", "status", "reason"), [
    ("/nonexistent/program", 127, "No such file or directory"),
    ("frontload-no-such-command", 127, "No such file or directory"),
    ("/etc/passwd", 126, "Permission denied"),
    ("/", 126, "Permission denied"),
])
def test_command_that_cannot_run(command, status, reason, record, tmp_path):
    """127 if it is not found (in any folder that may be searched), 126 if it cannot be executed."""
    (tmp_path / "closed").mkdir(mode=0)
    recording = record("--", command, env={"PATH": f"{tmp_path}/closed:/usr/bin:/bin"})
    assert recording.status == status
    error, note = recording.stderr.splitlines()
    assert error == f"frontload-trace: error: {command}: cannot be executed: {reason}"
    assert note.startswith("frontload-trace: note: give its path")


@pytest.mark.parametrize(("place", "reason"), [
    ("missing/t", "cannot write traces there: No such file or directory"),
    ("file/t", "cannot write traces there: Not a directory"),
    ("folder", "cannot be the trace: Is a directory"),
    ("." + "/." * 2100 + "/t", "cannot write traces there: File name too long"),
], ids=["missing", "file", "folder", "path-too-long"])
def test_place_that_cannot_be(place, reason, record, tmp_path):
    """Where no trace can be written, that is said before the program starts, with status 125."""
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    recording = record("-o", f"{tmp_path}/{place}", "--", "touch", tmp_path / "started")
    assert recording.status == 125
    line, note = recording.stderr.splitlines()
    assert line.startswith("frontload-trace: error: ") and line.endswith(reason)
    assert note == "frontload-trace: note: choose another place with --output"
    assert not (tmp_path / "started").exists()


def test_no_more_room(program, record, tmp_path):
    """Without room at first nothing is started; later there is a warning, and a count of losses."""
    recording = record("--", "touch", tmp_path / "started", preexec_fn=limit_file_size(0))
    assert recording.status == 125 and not (tmp_path / "started").exists()
    assert "traces: cannot write traces there: File too large\n" in recording.stderr

    whole = len(record("--", program).trace.events)
    small = tmp_path / "traces/small"
    recording = record("-o", small, "--", program, preexec_fn=limit_file_size(512))
    assert (recording.status, recording.stdout) == (3, "done\n")
    assert recording.stderr == (
        f"frontload-trace: warning: {small}: the trace ends here: File too large\n")
    trace = decode(small)
    assert trace.dropped > 0 and len(trace.events) + trace.dropped == whole


@needs("mounts")
@pytest.mark.parametrize(("state", "said"), [
    ("head -c 20000 /dev/zero >order/zeros 2>/dev/null",
     "cannot write the trace: No space left on device"),
    ("mount -o remount,ro .", "cannot create the trace: Read-only file system")])
def test_full_disk_of_one_program(state, said, program, tracer, run, tmp_path):
    """Without a trace nothing is started; where only one program has none, it runs all the same."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f"""
        mount -t tmpfs -o size=4k none {disk} && cd {disk} && mkdir order && {{ {state} || :; }}
        "$1" -o {disk}/t -- touch {tmp_path}/started
        echo $?
        "$1" -o {disk}/%m/t -- {program}
        echo $?
        find {disk} -name t"""
    result = run("unshare", "--mount", "--propagation=private", "sh", "-c", script, "sh",
                 tracer)
    assert result.stdout == "125\ndone\n3\n" and not (tmp_path / "started").exists()
    error, note, warning = result.stderr.splitlines()
    assert error == (f"frontload-trace: error: {disk}: cannot write traces there: "
                     + said.split(": ")[1])
    assert note == "frontload-trace: note: choose another place with --output"
    assert warning == f"frontload-trace: warning: {disk}/order/t: {said}"


def test_quota(compile, record, quota):
    """The same where a quota is used up (which leaves no room for a count, either)."""
    program = compile(calls_all(3000), name="many")
    small = quota(24)
    recording = record("-o", small / "trace", "--", program)
    assert recording.status == 3
    assert recording.stderr == (f"frontload-trace: warning: {small}/trace: the trace ends here: "
                                "Disk quota exceeded\n")
    names = Binary(program).named(decode(small / "trace").addresses())
    called = names[names.index("f0"):]
    assert 100 < len(called) < 3000 and called == [f"f{n}" for n in range(len(called))]


def test_broken_stderr(program, record, tmp_path):
    """A message that nobody reads changes nothing of the program, nor its status."""
    reading, writing = os.pipe()
    os.close(reading)
    # The program itself is in the place of the folder, of which there is something to say.
    recording = record("-o", tmp_path / "%m/trace", "--", program, stderr=writing)
    assert (recording.status, recording.stdout) == (3, "done\n")
    assert record("--", "/nonexistent/program", stderr=writing).status == 127
    os.close(writing)


@pytest.mark.parametrize("name", ["x" * 300, "%m/trace", "of-%m" + "/." * 2100 + "/trace"],
                         ids=["name-too-long", "no-folder", "path-too-long"])
def test_trace_that_cannot_be_made_later(name, program, record, tmp_path):
    """What only shows when the trace is made is one warning; the status is the program's."""
    (tmp_path / "of-order").mkdir()
    recording = record("-o", f"{tmp_path}/{name}", "--", "sh", "-c", f"{program}; {program}")
    assert (recording.status, recording.stdout) == (3, "done\ndone\n")
    warnings = [line for line in recording.stderr.splitlines() if "warning" in line]
    assert len(warnings) == 1 and "cannot create the trace: " in warnings[0]
    assert not list((tmp_path / "of-order").iterdir())


@pytest.mark.parametrize(("exit_status", "status"), [(0, 125), (3, 3)])
def test_stripped(exit_status, status, compile, record):
    """A recording of nothing is a failure, unless the program's own status is one already."""
    program = compile(f"int main(void) {{ return {exit_status}; }}", "-s", name="bare")
    recording = record("--", program)
    assert (recording.status, recording.files) == (status, [])
    assert recording.stderr.splitlines()[:2] == [
        f"frontload-trace: note: {program}: no symbol table, not recorded",
        *([f"frontload-trace: error: {program}: nothing was recorded"] if status == 125 else [])]


def test_wrapper_without_symbols(program, record):
    """A wrapper without symbols is noted once; what it starts is recorded."""
    recording = record("--", "/bin/sh", "-c", f"/bin/sh -c {program}; exit 0")
    assert (recording.status, recording.trace.main.path) == (0, str(program))
    assert len(recording.stderr.splitlines()) <= 1


@pytest.mark.parametrize("text", ["#!{}\n", "{} argument\nexit 2\n"],
                         ids=["of its interpreter", "of the shell"])
def test_script(text, compile, record, tmp_path):
    """A script is recorded as a run of its interpreter; one that names none is the shell's."""
    program = compile("int main(int n, char **argv) { return n; }", name="interpreter")
    script = tmp_path / "script"
    script.write_text(text.format(program))
    script.chmod(0o755)
    recording = record("--", script)
    assert recording.status == 2
    assert len(recording.of(program)) == 1


def test_file_without_a_name(compile, record):
    """A program that is executed from memory is recorded like any other."""
    program = compile("order.c", "-static")
    launcher = compile("""
        #include <sys/sendfile.h>
        int main(int n, char **argv) {
          int from = open(argv[1], O_RDONLY), to = memfd_create("copy", 0);
          while (sendfile(to, from, 0, 1 << 20) > 0) ;
          return fexecve(to, argv + 1, environ);
        }""", "-s", name="launcher")
    recording = record("--", launcher, program)
    assert recording.trace.main.path == "/memfd:copy (deleted)"
    names = Binary(program).named(recording.trace.addresses())
    assert names.index("outer") < names.index("inner") < names.index("last")


@needs("programs-of-32-bits")
def test_32_bit(compile, record, llvm):
    """A 32-bit program is left to run, and what to do is said."""
    target, leave, ours = {
        "x86_64": ("i386", "mov $1, %eax\\nmov $7, %ebx\\nint $0x80", "x86-64"),
        "aarch64": ("armv7a", "mov r7, #1\\nmov r0, #7\\nsvc #0", "aarch64")}[platform.machine()]
    program = compile(f"""
        __asm__(".globl _start\\n_start: {leave}\\n");
        struct unused {{ int x; }};""", f"--target={target}-linux-gnu", "-nostdlib", "-static",
        f"--ld-path={llvm / 'ld.lld'}", cc=llvm / "clang", name="small",
        prelude="")
    recording = record("--", program)
    assert recording.status == 7
    assert recording.stderr == (f"frontload-trace: note: {program}: not recorded: a 32-bit "
                                f"program; build it for {ours} to record it\n")


@pytest.mark.parametrize("begin", [None, b"\177ELF", b"MZ\x90\0"],
                         ids=["s390", "damaged", "another format"])
def test_another_machine(begin, program, record, tmp_path):
    """What is no text and no program for this machine is refused; no shell reads it as a script."""
    other = tmp_path / "other"
    contents = bytearray(program.read_bytes())
    contents[18:20] = (22).to_bytes(2, "little")  # s390, which is of the other byte order
    other.write_bytes(begin + b"\necho the shell has read it\n" if begin else contents)
    other.chmod(0o755)
    recording = record("--", other)
    assert (recording.status, recording.stdout, recording.files) == (126, "", [])
    assert recording.stderr == (
        f"frontload-trace: error: {other}: cannot be executed: Exec format error\n"
        "frontload-trace: note: it is neither a script nor a program for this machine, or is "
        "damaged\n")


ALL_CODE = ".init .plt .plt.got .plt.sec .text .fini"


@pytest.mark.parametrize(("sections", "offset", "form", "value"), [
    *((".symtab", *field) for field in (
        (24, "<Q", 1 << 40), (24, "<Q", 1),  # offset
        (32, "<Q", 1 << 60), (32, "<Q", 7),  # size
        (40, "<I", 9999), (40, "<I", 0),  # the section with the names
        (56, "<Q", 0))),  # size of an entry
    ("", 40, "<Q", 1 << 40),  # where the headers are
    (ALL_CODE, 24, "<Q", 0x1400)])
def test_damaged_headers(sections, offset, form, value, program, record):
    """A program whose section headers are nonsense is not recorded, and runs."""
    data = bytearray(program.read_bytes())
    with open(program, "rb") as stream:
        elf = ELFFile(stream)
        numbers = [elf.get_section_index(name) for name in sections.split()]
    for place in [elf["e_shoff"] + 64 * number for number in numbers if number] or [0]:
        struct.pack_into(form, data, place + offset, value)
    program.write_bytes(data)
    recording = record("--", program)
    assert (recording.status, recording.stdout, recording.files) == (3, "done\n", [])
    if sections != ALL_CODE:
        (line,) = recording.stderr.splitlines()
        assert line.startswith(f"frontload-trace: note: {program}: ") and "not recorded" in line


def test_ptrace_not_permitted(tracer, run, tmp_path):
    """Where ptrace is refused, what would permit it is named; the command is not run."""
    result = run(tracer, "-o", tmp_path / "t", "--", "touch", tmp_path / "started", code=125,
                 preexec_fn=lambda: filter_system_calls(PTRACE, EPERM))
    error, note = result.stderr.splitlines()
    assert error == ("frontload-trace: error: ptrace: cannot trace the command: "
                     "Operation not permitted")
    assert "kernel.yama.ptrace_scope" in note and "SYS_PTRACE" in note
    assert not (tmp_path / "started").exists()


@pytest.fixture
def as_nobody(tracer, run):
    """as_nobody(program, mode, capabilities=None, by=()): runs a copy of the
    program, which belongs to root and has this mode and these capabilities, traced by an ordinary
    user, by way of a command. Returns the result and the folder with copy and trace."""
    abilities.need("another-user")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)

        def as_nobody(program, mode, capabilities=None, by=()):
            copy = shutil.copy(program, folder / "program")
            copy.chmod(mode)
            if capabilities or mode & 0o6000:
                abilities.need("capabilities")  # on a file system that heeds these
            if capabilities:
                run("setcap", capabilities, copy)
            return run(*by, tracer, "-o", folder / "trace", "--", copy, code=None,
                       **AS_NOBODY), folder

        yield as_nobody


@pytest.mark.parametrize(("mode", "capabilities"), [
    (0o4755, None), (0o2755, None), (0o755, "cap_net_raw+ep"),
], ids=["set-user-id", "set-group-id", "capabilities"])
def test_rights_of_its_own(mode, capabilities, as_nobody, program):
    """A program lacks the rights that its file has while it is traced, which is said."""
    result, folder = as_nobody(program, mode, capabilities=capabilities)
    assert (result.returncode, result.stdout) == (3, "done\n")
    assert result.stderr == (
        f"frontload-trace: note: {folder}/program: set-user-id, set-group-id or with capabilities: "
        "it runs without these rights while it is traced; record it as root\n")
    assert decode(folder / "trace").events
    result, _ = as_nobody(program, mode, capabilities=capabilities,
                          by=["setpriv", "--no-new-privs"])
    assert (result.returncode, result.stdout, result.stderr) == (3, "done\n", "")


@needs("capabilities")
def test_rights_that_it_has(program, record, run):
    """To a program that root records nothing is lost, and nothing is said."""
    run("setcap", "cap_net_raw+ep", program)
    assert record("--", program).stderr == ""


def test_unreadable_program(as_nobody, program):
    """A program that may be executed but not read runs, and is not recorded."""
    result, _ = as_nobody(program, 0o711)
    assert (result.returncode, result.stdout) == (3, "done\n")
    assert "note: program: not recorded: Permission denied" in result.stderr


def test_program_that_closes_its_memory(as_nobody, compile):
    """An undumpable program is recorded on; that what it forks cannot be is an error."""
    program = compile(r"""
        STEP(secret) STEP(later)
        int main(void) {
          int executed = 1, touched = 0;
          prctl(PR_SET_DUMPABLE, 0);
          secret();
          if (fork() == 0) { execl("/bin/true", "true", (char *)0); _exit(1); }
          wait(&executed);
          if (fork() == 0) { later(); _exit(0); }
          wait(&touched);
          later();
          return executed == 0 && WIFSIGNALED(touched) ? 3 : 1;
        }""", "-O1", name="closed")
    result, folder = as_nobody(program, 0o755)
    assert result.returncode == 3
    names = Binary(program).named(decode(folder / "trace").addresses())
    assert names[names.index("main"):][:3] == ["main", "secret", "later"]
    errors = [line for line in result.stderr.splitlines() if "error" in line]
    assert len(errors) == 2 and all("closed its memory before it forked" in e for e in errors)


def test_program_inherits_what_it_would(program, tracer, tmp_path):
    """Descriptors, limits and signals are as without the tracer, and its messages in no file."""
    def strange():
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 4096))
        signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGINT, signal.SIGUSR2])
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTSTP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    def ordinary():
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
            signal.signal(number, signal.SIG_DFL)

    for how in (ordinary, strange):
        outputs = tmp_path / "plain", tmp_path / "traced"
        for output, prefix in zip(outputs, ([], [tracer, "-o", tmp_path / "t", "--until=nothing",
                                                 "--"]), strict=True):
            script = f"""exec 3>{output}
                         grep '^Sig[^Q]' /proc/self/status >&3
                         ls /proc/self/fd >&3
                         ulimit -n >&3
                         exec {program}"""
            process = subprocess.Popen([*prefix, "sh", "-c", script], preexec_fn=how,
                                       restore_signals=False, stderr=subprocess.DEVNULL)
            assert process.wait() == 3
        assert outputs[0].read_text() == outputs[1].read_text()
    assert Binary(program).named(decode(tmp_path / "t.1").addresses())[-1] == "_fini"
