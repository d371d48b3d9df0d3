"""Bad options, bad places for traces, and programs that cannot be recorded: a clear sentence, the
right status, and a program that runs as ever."""

import os
import platform
import resource
import shutil
import signal
import struct
import subprocess
from pathlib import Path

import pytest
from kernel_filter import EPERM, PTRACE, filter_system_calls
from trace_decoder import decode
from traced import Binary

NOBODY = 65534


@pytest.fixture
def program(compile):
    return compile("order.c")


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "no command was given"),
    (["--"], "no command was given"),
    (["true"], "'true': is not an option; the command follows --"),
    (["--unknown", "--", "true"], "Unknown command line argument '--unknown'"),
    (["-o", "%q", "--", "true"], "--output=%q: '%q' has no meaning; use %p (process id), %m "
                                 "(program name) or %%"),
    (["-o", "x%", "--", "true"], "--output=x%: '%' has no meaning"),
    (["-o", "folder/", "--", "true"], "--output=folder/: not a file name; write it as in "
                                      "folder/%m.%p.fltrace"),
    (["-o", "", "--", "true"], "--output=: not a file name; write it as in %m.%p.fltrace"),
])
def test_usage(arguments, said, tracer, run):
    """Wrong options are named on one line, with status 2 and nothing run."""
    result = run(tracer, *arguments, code=2)
    first, second = result.stderr.splitlines()
    assert first.startswith(f"frontload-trace: error: {said}")
    assert second == "frontload-trace: note: try: frontload-trace --help"


def test_a_mistyped_option_gets_the_nearest(tracer, run):
    """The note names the option that was meant, with its value."""
    result = run(tracer, "--untl=f", "--", "true", code=2)
    assert result.stderr.splitlines()[1] == ("frontload-trace: note: did you mean --until=f? "
                                             "try: frontload-trace --help")


def test_help_names_the_statuses(tracer, run):
    """--help and --version work, and --help explains the exit status."""
    assert "\n  127    the command was not found\n" in run(tracer, "--help").stdout
    assert run(tracer, "--version").stdout.startswith("frontload-trace ")


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
def test_command_that_cannot_run(command, status, reason, record):
    """127 if the command is not found, 126 if it cannot be executed, as env(1) has it."""
    recording = record("--", command)
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
def test_place_that_cannot_be(place, reason, compile, record, tmp_path):
    """Where no trace can be written, that is said before the program starts, with status 125."""
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    recording = record("-o", f"{tmp_path}/{place}", "--", "touch", tmp_path / "started")
    assert recording.status == 125
    line, note = recording.stderr.splitlines()
    assert line.startswith("frontload-trace: error: ") and line.endswith(reason)
    assert note == "frontload-trace: note: choose another place with --output"
    assert not (tmp_path / "started").exists()


def limit_file_size(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_no_room_at_all(record, tmp_path):
    """Where there is no room even for a header, the program is not started."""
    recording = record("--", "touch", tmp_path / "started", preexec_fn=limit_file_size(0))
    assert recording.status == 125
    assert "traces: cannot write traces there: File too large\n" in recording.stderr
    assert not (tmp_path / "started").exists()


def test_no_more_room(program, record):
    """When the room ends later, there is one warning, the program runs on unaffected, and the trace
    has the first touches and the number of those it misses."""
    whole = len(record("--", program).trace.events)
    recording = record("-o", program.parent / "traces/small", "--", program,
                       preexec_fn=limit_file_size(512))
    assert (recording.status, recording.stdout) == (3, "done\n")
    assert recording.stderr == (f"frontload-trace: warning: {program.parent}/traces/small: the "
                                "trace ends here: File too large\n")
    trace = decode(program.parent / "traces/small")
    assert trace.dropped > 0 and len(trace.events) + trace.dropped == whole


def mountable(run, mount: str) -> str:
    """The command, which mounts, if it does so in a namespace of its own."""
    tried = run("unshare", "-m", "sh", "-c", mount, code=None)
    if tried.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {tried.stderr.strip()}")
    return mount


def test_full_disk(compile, tracer, run, tmp_path):
    """The same on a file system that is really full, before and while the program runs."""
    program = compile("steps.c", "-static", "-pthread")
    (tmp_path / "disk").mkdir()
    mount = mountable(run, f"mount -t tmpfs -o size=4k none {tmp_path}/disk")
    traced = f"{tracer} -o {tmp_path}/disk/%p -- {program} < /dev/null"
    copied = f"cp {tmp_path}/disk/* {tmp_path}/late"
    result = run("unshare", "-m", "sh", "-c", f"{mount}; {traced}; {copied}")
    (line,) = result.stderr.splitlines()
    assert line.endswith("the trace ends here: No space left on device")
    assert result.stdout == "ready\ngone on\n"
    late = decode(tmp_path / "late")
    assert late.dropped > 0 and len(late.events) > 100
    full = f"head -c 20000 /dev/zero > {tmp_path}/disk/zeros 2>/dev/null; {traced}"
    result = run("unshare", "-m", "sh", "-c", f"{mount}; {full}", code=125)
    assert "cannot write traces there: No space left on device\n" in result.stderr
    assert result.stdout == ""


def test_full_disk_of_one_program(program, tracer, run, tmp_path):
    """Where only the name of a program leads to a full disk, that is one warning, the program runs,
    and no file is left."""
    disk = tmp_path / "disks/order"
    disk.mkdir(parents=True)
    mount = mountable(run, f"mount -t tmpfs -o size=4k none {disk}")
    full = f"head -c 20000 /dev/zero >{disk}/zeros 2>/dev/null"
    traced = f"{tracer} -o {tmp_path}/disks/%m/t -- {program}"
    result = run("unshare", "-m", "sh", "-c", f"{mount}; {full}; {traced}; ls {disk}")
    assert result.stdout == "done\nzeros\n"
    assert result.stderr == (f"frontload-trace: warning: {disk}/t: cannot write the trace: No "
                             "space left on device\n")


def test_quota(compile, record, quota):
    """The same where not the disk is full, but a quota is used up, at the start or later. (Such a
    file system has no room for the number of what was lost, either.)"""
    functions = range(3000)
    program = compile("".join(
        f'__attribute__((noinline)) static void f{n}(void) {{ __asm__ volatile(""); }}'
        for n in functions) + f"int main(void) {{ {''.join(f'f{n}();' for n in functions)} "
        "return 3; }", name="many")
    full = quota(64, full=True)
    recording = record("-o", full / "trace", "--", program)
    assert recording.status == 125
    assert f"{full}: cannot write traces there: Disk quota exceeded\n" in recording.stderr
    assert [file.name for file in full.iterdir()] == ["zeros"]
    small = quota(24)
    recording = record("-o", small / "trace", "--", program)
    assert recording.status == 3
    assert recording.stderr == (f"frontload-trace: warning: {small}/trace: the trace ends here: "
                                "Disk quota exceeded\n")
    trace = decode(small / "trace")
    names = Binary(program).named(trace.addresses())
    first = names.index("main") + 1
    assert first + 100 < len(names) < first + len(functions)
    assert names[first:] == [f"f{n}" for n in range(len(names) - first)]


@pytest.fixture
def read_only(run, tmp_path):
    """Runs a command where tmp_path/disk is a file system that nobody can write to. In it is a
    folder of the program's name."""

    def read_only(command, **options):
        disk = tmp_path / "disk"
        disk.mkdir()
        mount = mountable(run, f"mount -t tmpfs none {disk} && mkdir {disk}/order && "
                          f"mount -o remount,ro {disk}")
        return run("unshare", "-m", "sh", "-c", f"{mount}; {command}", **options)

    return read_only


def test_read_only_place(tracer, read_only, tmp_path):
    """On a file system that is read-only no trace can be written: the program does not start."""
    result = read_only(f"{tracer} -o {tmp_path}/disk/t -- touch {tmp_path}/started", code=125)
    assert result.stderr == (
        f"frontload-trace: error: {tmp_path}/disk: cannot write traces there: Read-only file "
        "system\nfrontload-trace: note: choose another place with --output\n")
    assert not (tmp_path / "started").exists()


def test_read_only_place_of_one_program(program, tracer, read_only, tmp_path):
    """Where only the name of a program leads there, that is one warning, and the program runs."""
    result = read_only(f"{tracer} -o {tmp_path}/disk/%m/t -- {program}", code=3)
    assert result.stdout == "done\n"
    assert result.stderr == (
        f"frontload-trace: warning: {tmp_path}/disk/order/t: cannot create the trace: Read-only "
        "file system\n")


@pytest.mark.parametrize("stderr", ["a pipe without a reader", "a full device"])
def test_broken_stderr(stderr, program, record, tmp_path):
    """A message that cannot be written changes nothing of the program, nor its status."""
    if stderr == "a full device":
        writing = os.open("/dev/full", os.O_WRONLY)
    else:
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
def test_stripped(exit_status, status, compile, record, run):
    """A program without symbols runs; a recording of nothing is a failure unless the program's own
    status is one already."""
    program = compile(f"int main(void) {{ return {exit_status}; }}", "-s", name="bare")
    recording = record("--", program)
    assert recording.status == status
    note, *error = recording.stderr.splitlines()
    assert note == f"frontload-trace: note: {program}: no symbol table, not recorded"
    assert bool(error) == (status == 125)
    if error:
        assert error[0] == f"frontload-trace: error: {program}: nothing was recorded"
    assert recording.files == []


def test_wrapper_without_symbols(program, record):
    """A wrapper without symbols is noted once; what it starts is recorded."""
    recording = record("--", "/bin/sh", "-c", f"/bin/sh -c {program}; exit 0")
    assert recording.status == 0
    assert recording.trace.main.path == str(program)
    assert len(recording.stderr.splitlines()) == len(set(recording.stderr.splitlines())) <= 1


def test_script(compile, record, tmp_path):
    """A script is recorded as what it is: a run of its interpreter."""
    interpreter = compile("int main(int n, char **argv) { return n; }", name="interpreter")
    script = tmp_path / "script"
    script.write_text(f"#!{interpreter}\n")
    script.chmod(0o755)
    recording = record("--", script, "argument")
    assert recording.status == 3
    assert recording.trace.main.path == str(interpreter)


def test_file_without_a_name(compile, record):
    """A program that is executed from memory is recorded like any other."""
    program = compile("order.c", "-static")
    launcher = compile("""
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <sys/mman.h>
        #include <sys/sendfile.h>
        #include <unistd.h>
        int main(int n, char **argv) {
          int from = open(argv[1], O_RDONLY), to = memfd_create("copy", 0);
          while (sendfile(to, from, 0, 1 << 20) > 0) ;
          return fexecve(to, argv + 1, environ);
        }""", "-s", name="launcher")
    recording = record("--", launcher, program)
    assert recording.trace.main.path == "/memfd:copy (deleted)"
    names = Binary(program).named(recording.trace.addresses())
    assert names.index("outer") < names.index("inner") < names.index("last")


def test_32_bit(compile, record, llvm):
    """A 32-bit program is left to run; what to do is said; its 64-bit children are recorded."""
    target, leave, ours = {
        "x86_64": ("i386", "mov $1, %eax\\nmov $7, %ebx\\nint $0x80", "x86-64"),
        "aarch64": ("armv7a", "mov r7, #1\\nmov r0, #7\\nsvc #0", "aarch64")}[platform.machine()]
    program = compile(f"""
        __asm__(".globl _start\\n_start: {leave}\\n");
        struct unused {{ int x; }};""", f"--target={target}-linux-gnu", "-nostdlib", "-static",
        f"--ld-path={llvm / 'ld.lld'}", cc=llvm / "clang", name="small")
    try:
        status = subprocess.run([program], check=False).returncode
    except OSError:
        status = None
    if status != 7:
        pytest.skip("this kernel does not run 32-bit programs")
    recording = record("--", program)
    assert recording.status == 7
    assert recording.stderr == (f"frontload-trace: note: {program}: not recorded: a 32-bit "
                                f"program; build it for {ours} to record it\n")


def test_another_machine(program, record, tmp_path):
    """A program for another machine is refused with what to do; no shell reads it as a script."""
    contents = bytearray(program.read_bytes())
    contents[18:20] = (22).to_bytes(2, "little")  # s390, which is of the other byte order
    other = tmp_path / "other"
    other.write_bytes(contents)
    other.chmod(0o755)
    recording = record("--", other)
    assert (recording.status, recording.stdout, recording.files) == (126, "", [])
    assert recording.stderr == (f"frontload-trace: error: {other}: cannot be recorded: a program "
                                "for another machine (s390); record it there\n")


@pytest.mark.parametrize("contents", [b"\177ELF", b"MZ\x90\0"], ids=["damaged", "another format"])
def test_what_no_kernel_knows(contents, record, tmp_path):
    """Something that is no program, nor text, is refused; no shell reads it as a script."""
    other = tmp_path / "other"
    other.write_bytes(contents + b"\necho the shell has read it\n")
    other.chmod(0o755)
    recording = record("--", other)
    assert (recording.status, recording.stdout, recording.files) == (126, "", [])
    assert recording.stderr.startswith(f"frontload-trace: error: {other}: cannot be recorded: ")


def test_script_without_an_interpreter(compile, record, tmp_path):
    """A script that names no interpreter is one of the shell, as ever."""
    program = compile("order.c")
    script = tmp_path / "script"
    script.write_text(f"{program}\nexit 6\n")
    script.chmod(0o755)
    recording = record("--", script)
    assert (recording.status, recording.stdout) == (6, "done\n")
    assert len(recording.of(program)) == 1


SYMBOL_TABLE, CODE = (2, 0), (1, 6)  # type and flags of a section


def damage(program, section, change):
    """Puts a copy in the program's place, with one field changed in the headers of such sections;
    the kernel and the loader do not look at them."""
    data = bytearray(program.read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    for at in range(headers, headers + 64 * count, 64):
        if struct.unpack_from("<IQ", data, at + 4) == section:
            offset, form, value = change
            struct.pack_into(form, data, at + offset, value)
    program.unlink()
    program.write_bytes(data)
    program.chmod(0o755)


@pytest.mark.parametrize("change", [(24, "<Q", 1 << 40), (24, "<Q", 1), (32, "<Q", 1 << 60),
                                    (32, "<Q", 7), (40, "<I", 9999), (40, "<I", 0), (56, "<Q", 0)],
                         ids=["offset-far", "offset-odd", "size-huge", "size-odd", "link-wrong",
                              "link-none", "entry-size"])
def test_damaged_symbol_table(change, program, record):
    """A program whose symbol table is nonsense is not recorded, and runs."""
    damage(program, SYMBOL_TABLE, change)
    recording = record("--", program)
    assert (recording.status, recording.stdout) == (3, "done\n")
    (line,) = recording.stderr.splitlines()
    assert line.startswith(f"frontload-trace: note: {program}: ") and "not recorded" in line
    assert recording.files == []


def test_section_headers_that_are_not_there(program, record):
    """A program does not need them to run: some tools leave them out, and say where they were."""
    data = bytearray(program.read_bytes())
    struct.pack_into("<Q", data, 40, 1 << 40)
    program.unlink()
    program.write_bytes(data)
    program.chmod(0o755)
    recording = record("--", program)
    assert (recording.status, recording.stdout) == (3, "done\n")
    (line,) = recording.stderr.splitlines()
    assert line.startswith(f"frontload-trace: note: {program}: ") and "not recorded" in line
    assert recording.files == []


def test_section_that_lies(program, record):
    """Code that is not where its section says is not planted."""
    damage(program, CODE, (24, "<Q", 0x1400))
    recording = record("--", program)
    assert (recording.status, recording.stdout, recording.files) == (3, "done\n", [])


def test_ptrace_not_permitted(program, tracer, tmp_path):
    """Where ptrace is refused, the sysctl and the container option are named; the command is not
    run."""
    result = subprocess.run([tracer, "-o", tmp_path / "t", "--", "touch", tmp_path / "started"],
                            preexec_fn=lambda: filter_system_calls(PTRACE, EPERM),
                            capture_output=True, text=True)
    assert result.returncode == 125
    error, note = result.stderr.splitlines()
    assert error == ("frontload-trace: error: ptrace: cannot trace the command: "
                     "Operation not permitted")
    assert "kernel.yama.ptrace_scope" in note and "SYS_PTRACE" in note
    assert not (tmp_path / "started").exists()


@pytest.fixture
def as_nobody(tracer, run):
    """as_nobody(program, mode, output="trace", capabilities=None, by=()): runs a copy of the
    program, which belongs to root and has this mode and these capabilities, traced by an ordinary
    user, by way of a command. Returns the result and the folder with copy and trace."""
    if os.geteuid():
        pytest.skip("making a program of another user needs root")
    folder = Path("/tmp") / f"frontload-test-{os.getpid()}"
    folder.mkdir()
    folder.chmod(0o777)
    shutil.copy(tracer, folder / "tracer")

    def as_nobody(program, mode, output="trace", capabilities=None, by=()):
        shutil.copy(program, folder / "program")
        (folder / "program").chmod(mode)
        if capabilities:
            if not shutil.which("setcap"):
                pytest.skip("needs setcap")
            if run("setcap", capabilities, folder / "program", code=None).returncode:
                pytest.skip("needs a file system that keeps capabilities")
        return subprocess.run([*by, folder / "tracer", "-o", folder / output, "--",
                               folder / "program"], user=NOBODY, group=NOBODY, extra_groups=[],
                              capture_output=True, text=True, timeout=30), folder

    yield as_nobody
    shutil.rmtree(folder)


@pytest.mark.parametrize(("mode", "capabilities", "said"), [
    (0o4755, None, "set-user-id or set-group-id program: it runs without these rights while it is "
                   "traced; record it as that user"),
    (0o2755, None, "set-user-id or set-group-id program: it runs without these rights while it is "
                   "traced; record it as that user"),
    (0o755, "cap_net_raw+ep", "program with capabilities: it runs without these rights while it is "
                              "traced; record it as root"),
], ids=["set-user-id", "set-group-id", "capabilities"])
def test_rights_of_its_own(mode, capabilities, said, as_nobody, program):
    """A program does not get the rights that its file has while it is traced: that is said."""
    result, folder = as_nobody(program, mode, capabilities=capabilities)
    assert (result.returncode, result.stdout) == (3, "done\n")
    assert result.stderr == f"frontload-trace: note: {folder}/program: {said}\n"
    assert decode(folder / "trace").events


@pytest.mark.parametrize(("mode", "capabilities"), [(0o6755, None), (0o755, "cap_net_raw+ep")],
                         ids=["ids", "capabilities"])
def test_rights_that_it_would_not_get(mode, capabilities, as_nobody, program):
    """Where no program is given more rights than its user's, nothing is lost, and nothing said."""
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv")
    result, _ = as_nobody(program, mode, capabilities=capabilities,
                          by=["setpriv", "--no-new-privs"])
    assert (result.returncode, result.stdout, result.stderr) == (3, "done\n", "")


def test_rights_that_it_has(program, record, run):
    """To a program that root records nothing is lost, and nothing is said."""
    if not shutil.which("setcap") or run("setcap", "cap_net_raw+ep", program, code=None).returncode:
        pytest.skip("needs root, setcap, and a file system that keeps capabilities")
    assert record("--", program).stderr == ""


def test_place_of_somebody_else(as_nobody, program):
    """A folder that the user may not write to is refused before the program starts."""
    own = Path("/tmp") / f"frontload-test-root-{os.getpid()}"
    own.mkdir(mode=0o755)
    try:
        result, _ = as_nobody(program, 0o755, output=own / "trace")
        assert not list(own.iterdir())
    finally:
        shutil.rmtree(own)
    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr == (
        f"frontload-trace: error: {own}: cannot write traces there: Permission denied\n"
        "frontload-trace: note: choose another place with --output\n")


def test_unreadable_program(as_nobody, program):
    """A program that may be executed but not read runs, and is not recorded."""
    result, _ = as_nobody(program, 0o711)
    assert (result.returncode, result.stdout) == (3, "done\n")
    assert "note: program: not recorded: Permission denied" in result.stderr


def test_program_that_closes_its_memory(as_nobody, compile):
    """A program that makes itself undumpable, as those that hold secrets do, is recorded on. A
    process that it forks then cannot be, and that is an error; it may still execute a program."""
    program = compile(r"""
        #include <sys/prctl.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void secret(void) { __asm__ volatile(""); }
        __attribute__((noinline)) void later(void) { __asm__ volatile(""); }
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


def test_program_inherits_what_it_would(compile, tracer, tmp_path):
    """Descriptors (also closed ones), limits, signal masks and dispositions are as without the
    tracer, whatever they are; and no message of the tracer gets into a file of the program."""
    program = compile(r"""
        #include <dirent.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/resource.h>
        int main(int n, char **argv) {
          FILE *out = fopen(argv[1], "w"), *status = fopen("/proc/self/status", "r");
          char line[200];
          struct rlimit limit;
          struct dirent *entry;
          while (fgets(line, sizeof line, status))
            if (!strncmp(line, "Sig", 3) && strncmp(line, "SigQ", 4)) fputs(line, out);
          getrlimit(RLIMIT_NOFILE, &limit);
          fprintf(out, "%lu\n", limit.rlim_cur);
          for (DIR *all = opendir("/proc/self/fd"); (entry = readdir(all));)
            fprintf(out, "%s ", entry->d_name);
          return fclose(out);
        }""", name="inherits")

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
            process = subprocess.Popen([*prefix, program, output], preexec_fn=how,
                                       restore_signals=False, stderr=subprocess.DEVNULL)
            assert process.wait(timeout=30) == 0
        assert outputs[0].read_text() == outputs[1].read_text()
    assert Binary(program).named(decode(tmp_path / "t.1").addresses())[-1] == "_fini"


def test_summary(program, record):
    """--summary says how much was planted and entered."""
    recording = record("--summary", "--", program)
    events, planted = len(recording.trace.events), len(Binary(program).names)
    assert f"1 trace(s), {planted} functions planted, {events} entered, " in recording.stderr
