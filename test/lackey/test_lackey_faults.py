"""What cannot be recorded is refused with a remedy, and a strange log does no harm."""

import sys

import pytest
from recorded import Binary

# Maps the program as valgrind does, and writes what it is told to into the log: "@name" stands for
# the run-time address of a symbol, "&" for an end without a line's end.
FAKE = """#!{python}
import array, ctypes, fcntl, mmap, os, re, sys, termios, time
program = sys.argv[sys.argv.index("--") + 1]
file = open(program, "rb")
mapping = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE,
                    prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
base = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
(log,) = [a.partition("=")[2] for a in sys.argv if a.startswith("--log-file=")]
text = open(os.environ["LOG"], "rb").read()
text = re.sub(rb"@([0-9a-f]+)", lambda m: b"%08x" % (base + int(m[1], 16)), text)
with open(log.replace("%p", str(os.getpid())), "wb") as out:
    for _ in range(2):  # valgrind takes its time between the first words and the program
        os.write(out.fileno(), b"==7== Lackey, an example\\n==7== Parent PID: 6\\n")
        unread = array.array("i", [1])
        while unread[0]:
            time.sleep(0.001)
            fcntl.ioctl(out, termios.FIONREAD, unread)
    out.write(text)
os._exit(int(os.environ.get("STATUS", "0")))
"""


@pytest.fixture
def program(compile):
    return compile("__attribute__((aligned(16))) int my_data[16] = {1}, my_other[16] = {1};"
                   "int main(void) { return my_data[0] + my_other[0]; }", "-nostdlib",
                   "-pie", "-Wl,-e,main", "-Wl,--build-id", "-Wl,-z,noseparate-code")


@pytest.fixture
def replay(program, record, tmp_path):
    """replay(log): records the program with a valgrind that writes this log."""
    folder = tmp_path / "fake"
    folder.mkdir()
    (folder / "valgrind").write_text(FAKE.format(python=sys.executable))
    (folder / "valgrind").chmod(0o755)

    def replay(log, status=0):
        binary = Binary(program)
        for name in ("main", "my_data", "my_other"):
            log = log.replace(f"@{name}".encode(), b"@%x" % binary[name])
        (tmp_path / "log").write_bytes(log)
        return record("--", program, env={"PATH": f"{folder}:/bin", "LOG": str(tmp_path / "log"),
                                          "STATUS": str(status)})

    return replay


def test_replayed_log(replay, program):
    """The stand-in does what valgrind does, so that the tests below show what they say."""
    recording = replay(b"==7== Lackey\nI  @main,4\n L @my_data,4\nI  @main,4\n==7== \n")
    assert (recording.status, recording.stderr) == (0, "")
    assert Binary(program).touches(recording.trace) == ["main", "my_data+0"]


@pytest.mark.parametrize("line", [
    b"", b"I", b"I ", b"I  ", b" L", b" L ", b" L ,8", b" L @my_data", b" L @my_data,",
    b" L @my_data,0", b" L @my_data,9999", b" L @my_data,99999999999999999999", b" L @my_data,-1",
    b" L @my_data,x", b" L @my_data,8x", b" X @my_data,8", b"L  @my_data,8", b" L  @my_data,8",
    b" L 0000000000@my_data,8",
    b" L zz@my_data,8", b"\0\xff\n\0", b" L " + b"f" * 70000, b"x" * 300000,
    b"==7== " + b"\x1b[31m" * 100, b"SYSCALL[1,1](12) sys_brk ( 0x0 )"])
def test_malformed_lines(line, replay, program):
    """A line that is no access is passed over, whatever it is, and the next ones are read."""
    recording = replay(b"I  @main,4\n" + line + b"\n S @my_other,2\n")
    assert (recording.status, recording.stderr) == (0, "")
    assert Binary(program).touches(recording.trace) == ["main", "my_other+0"]


def test_addresses_at_the_edge(replay, program):
    """Accesses that reach over the end of a module or of all memory do no harm; code in no module
    touches for the program."""
    recording = replay(b"I  @main,4\n S ffffffffffffffff,4096\n S 0,1\nI  ffffffffffffffff,8\n"
                       b"I  0,1\n S @my_data,4096\nI  @main,1\n")
    assert (recording.status, recording.stderr) == (0, "")
    names = Binary(program).touches(recording.trace)
    assert {f"my_data+{offset}" for offset in range(0, 64, 16)} <= set(names)


def test_log_that_breaks_off(replay, program):
    """The beginning of a line at the end of the log is not a touch."""
    recording = replay(b"I  @main,4\n L @my_data,4")
    assert Binary(program).touches(recording.trace) == ["main"]


def test_valgrind_that_gives_up(replay):
    """If valgrind cannot run the program, what it says is said."""
    recording = replay(b"==7== Valgrind: debuginfo reader: Possibly corrupted debuginfo file.\n"
                       b"==7== Valgrind: I can't recover.  Giving up.  Sorry.\n", status=1)
    assert recording.status == 125
    assert "valgrind cannot run it" in recording.stderr
    assert "note: valgrind: Valgrind: debuginfo reader: Possibly" in recording.stderr
    assert recording.files == []


def test_valgrind_that_cannot_load_the_program(program, record, tmp_path):
    """If valgrind ends before it has opened its log, the recording ends as well."""
    (tmp_path / "valgrind").write_text("#!/bin/sh\necho too large >&2\nexit 1\n")
    (tmp_path / "valgrind").chmod(0o755)
    recording = record("--", program, env={"PATH": f"{tmp_path}:/bin"})
    assert recording.status == 125
    assert recording.stderr == ("too large\nfrontload-lackey: error: "
                                f"{program}: valgrind cannot run it\n")


def test_no_valgrind(program, record, tmp_path):
    """Without valgrind the program is not run, and the package is named."""
    recording = record("--", program, env={"PATH": str(tmp_path)})
    assert recording.status == 125
    assert recording.stderr == ("frontload-lackey: error: valgrind: not found\n"
                                "frontload-lackey: note: install it: apt-get install valgrind\n")


@pytest.mark.parametrize(("arguments", "status", "what"), [
    (["--"], 2, "no command was given"),
    (["stray", "--", "true"], 2, "'stray': is not an option"),
    (["--nonsense", "--", "true"], 2, "Unknown command line argument '--nonsense'"),
    (["-o", "x%q", "--", "true"], 2, "'%q' has no meaning"),
    (["-o", "none/x", "--", "true"], 125, "none: cannot write traces there"),
    (["--", "./none"], 127, "./none: cannot be executed"),
    (["--", "none-in-path"], 127, "none-in-path: cannot be executed"),
    (["--", "./file"], 126, "./file: cannot be executed"),
    (["--", "./script"], 126, "a script; give the program that it runs"),
    (["--", "./object32"], 126, "a 32-bit program"),
])
def test_refusals(arguments, status, what, lackey, run, tmp_path):
    """Wrong use, and programs that cannot be recorded, are refused before anything runs."""
    (tmp_path / "file").write_text("")
    (tmp_path / "script").write_text("#!/bin/sh\necho run\n")
    (tmp_path / "object32").write_bytes(b"\x7fELF\1\1\1" + bytes(100))
    for name in ("script", "object32"):
        (tmp_path / name).chmod(0o755)
    result = run(lackey, *arguments, code=status, cwd=tmp_path)
    assert result.stdout == "" and what in result.stderr
    assert result.stderr.startswith("frontload-lackey: error: ")
    if what.endswith(("cannot be executed", "cannot write traces there")):
        assert "\nfrontload-lackey: note: " in result.stderr


def test_settings_of_the_user(compile, record, tmp_path):
    """What the user has set for valgrind is for other tools."""
    recording = record("--", compile("int main(void) { return 0; }"),
                       env={"VALGRIND_OPTS": "--tool=none --nonsense"})
    assert (recording.status, recording.stderr) == (0, "")


def test_frontload_record_data(compile, frontload, tmp_path):
    """`frontload record --data` makes traces of which `frontload profile` makes a profile."""
    program = compile("int my_data[64] = {1}; int main(void) { return my_data[9] + 5; }")
    frontload("record", "--data", "-o", tmp_path / "traces", "--", program, code=5)
    frontload("profile", tmp_path / "traces", "-o", tmp_path / "profile")
    lines = (tmp_path / "profile").read_text()
    assert "main" in lines and "my_data" in lines
