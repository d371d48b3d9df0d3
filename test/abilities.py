"""What tests need of the machine, and whether it is there: the only place that knows.

    @needs("mounts", "program:musl-gcc")     a test, or a module's pytestmark
    abilities.need("ptrace")                 in a fixture, or where only one case needs the ability

Each ability is tried for real, once in each process: users, capabilities, containers and kernel
settings interact in ways that no setting shows. What the product needs too is tried by the
product's own probes, those of `frontload info`. A test without its ability is skipped, with the
reason. FRONTLOAD_REQUIRE=mounts,perf,... (or `all`) makes that a failure: so that a machine that
has an ability cannot lose it, and its tests, in silence.

Some abilities exclude each other's tests: a processor has four hardware breakpoints, and a machine
few loop devices. A test holds the lock of such an ability until it is over.
"""

import ctypes
import errno
import fcntl
import functools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest
from frontload.device import cold_device, lazy
from frontload.device.covering import mounts_obstacle
from frontload.machine import probes
from frontload.pagecache import mounts
from frontload.tracing import perf
from places import BUILD, LLVM

NOBODY = 65534
_AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
# Only one test of a machine at a time uses each of these.
EXCLUSIVE = {"loop-devices", "throttle", "hardware-breakpoints", "browser", "quiet-page-cache"}
# Makes an image of one file, and reads it.
_MOUNT = """
import sys, tempfile
from pathlib import Path
from frontload.device.cold_device import ColdDevice
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "file").write_bytes(bytes(range(256)) * 4096)
    with ColdDevice(Path(folder), [Path(folder) / "file"], file_system=sys.argv[1]) as device:
        assert device.place(Path(folder) / "file").read_bytes()[256:512] == bytes(range(256))
"""
_LOCKS = Path(tempfile.gettempdir()) / f"frontload-test-locks.{os.getuid()}"


def needs(*names: str) -> pytest.MarkDecorator:
    """A mark: the test is skipped where one of these abilities is lacking."""
    return pytest.mark.needs(*names)


def need(*names: str) -> None:
    """Skips the running test where one of these abilities is lacking."""
    for name in names:
        if reason := lacking(name):
            required = os.environ.get("FRONTLOAD_REQUIRE", "").split(",")
            fail_or_skip = pytest.fail if {name, "all"} & set(required) else pytest.skip
            fail_or_skip(f"needs {name}: {reason}")


@functools.cache
def lacking(name: str) -> str | None:
    """Why there is no such ability here; None if there is."""
    kind, _, what = name.partition(":")
    if kind == "program":
        return None if shutil.which(what) else f"{what} is not installed"
    if kind == "built":
        return None if (BUILD / what).exists() else f"{what} was not built"
    if kind.startswith("kernel>="):
        wanted, here = kind.removeprefix("kernel>="), platform.release()
        return None if _version(here) >= _version(wanted) else f"this is Linux {here}"
    if kind == "image":
        return cold_device.obstacle(what) or _run(sys.executable, "-c", _MOUNT, what, env={
            **os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FRONTLOAD_BINDIR", str(BUILD / "bin"))
        return _PROBES[name]()


def _version(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)[:2]]


@contextmanager
def held(names) -> Iterator[None]:
    """Within `with`, no other test of this machine uses the exclusive ones among these abilities. A
    process that holds the lock of an ability may ask for it again."""
    with ExitStack() as stack:
        for name in sorted(EXCLUSIVE & set(names) - _held):
            _LOCKS.mkdir(exist_ok=True)
            file = stack.enter_context((_LOCKS / name).open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)
            _held.add(name)
            stack.callback(_held.discard, name)
        yield


_held: set[str] = set()


def _of_product(probe: Callable[[], probes.Ability]) -> Callable[[], str | None]:
    def lacks() -> str | None:
        ability = probe()
        return None if ability.works else f"{ability.detail} ({ability.remedy})"

    return lacks


@functools.cache
def perf_recorder() -> perf.Recorder:
    with held(["hardware-breakpoints"]):  # or those of another test would be missed here
        return perf.find()


def _of_perf(has: Callable[[perf.Recorder], object]) -> Callable[[], str | None]:
    def lacks() -> str | None:
        missing = "; ".join(f"{each.what}: {each.why}" for each in perf_recorder().missing)
        return None if has(perf_recorder()) else missing or "perf cannot record it here"

    return lacks


def _run(*command, code: int = 0, **options) -> str | None:
    """Why a command does not end with this exit code; None if it does."""
    try:
        ran = subprocess.run([os.fspath(word) for word in command], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, **options)
    except OSError as problem:
        return f"{command[0]}: {problem.strerror}"
    said = ran.stderr.strip().splitlines()
    if ran.returncode == code:
        return None
    return said[-1] if said else f"{command[0]}: exit status {ran.returncode}"


def _tmpfs() -> str | None:
    """A file system that can be mounted, where nobody else sees it."""
    return mounts_obstacle() or _run("unshare", "--mount", "--propagation=private", "mount", "-t",
                                     "tmpfs", "tmpfs", "/mnt")


def _pid_namespace() -> str | None:
    return _run("unshare", "--mount", "--pid", "--fork", "--mount-proc", "true")


def _chroot() -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(["true"], preexec_fn=lambda: os.chroot(folder), check=False)
        except (OSError, subprocess.SubprocessError) as problem:
            # In an empty folder the program cannot be there, once its root was changed.
            if getattr(problem, "errno", None) != errno.ENOENT:
                return f"the root folder cannot be changed: {problem}"
    return None


def _another_user() -> str | None:
    """Another user, who may run what was built, in a folder for temporary files."""
    if os.geteuid():
        return "only root can become another user"
    if not shutil.which("setpriv"):
        return "setpriv is not installed"
    return _run(*_AS_NOBODY, BUILD / "bin/frontload-exec", f"--output={os.devnull}", "--", "true")


def _tracing_another_user() -> str | None:
    """A tracer may read the memory of a process of another user."""
    if problem := _another_user():
        return problem
    with subprocess.Popen([*_AS_NOBODY, "cat"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as other:
        other.stdin.write(b"\n")
        other.stdin.flush()
        other.stdout.readline()  # it is another user's by now
        try:
            open(f"/proc/{other.pid}/mem", "rb").close()
        except OSError as problem:
            return f"memory of another user's process: {problem.strerror}"
    return None


def _capabilities() -> str | None:
    """A file that gives its program a capability, and a kernel that heeds it."""
    if not shutil.which("setcap"):
        return "setcap is not installed"
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.copy(shutil.which("true"), folder)
        if problem := _run("setcap", "cap_net_raw+ep", program):
            return problem
        flags = os.statvfs(folder).f_flag
        return f"{folder} is mounted nosuid" if flags & os.ST_NOSUID else None


def _tmp_on_disk() -> str | None:
    """Temporary files that can be cold."""
    folder = tempfile.gettempdir()
    if (kind := mounts.file_system(folder)) in mounts.IN_MEMORY:
        return f"{folder} is on {kind}, from which nothing can be evicted (set TMPDIR)"
    return None


def _program_of_32_bits() -> str | None:
    """The kernel runs a program of 32 bits, which leaves with 7."""
    text = {"x86_64": ("i386", "mov $1, %eax\\nmov $7, %ebx\\nint $0x80"),
            "aarch64": ("armv7a", "mov r7, #1\\nmov r0, #7\\nsvc #0")}.get(platform.machine())
    if text is None:
        return f"not known how, on {platform.machine()}"
    target, leave = text
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.c").write_text(f'__asm__(".globl _start\\n_start: {leave}\\n");')
        return (_run(LLVM / "clang", f"--target={target}-linux-gnu", "-nostdlib", "-static",
                     f"--ld-path={LLVM / 'ld.lld'}", "a.c", cwd=folder)
                or _run("./a.out", code=7, cwd=folder))


@contextmanager
def memory_cgroup(limit: int) -> Iterator[Path]:
    """A control group whose processes may have `limit` bytes of memory, below the group of this
    process, in either version of control groups. Raises OSError where none can be made."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        folder = Path(f"/sys/fs/cgroup/{controllers}{path}/frontload-test.{os.getpid()}")
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        if controllers in ("", "memory") and (folder.parent / name).exists():
            folder.mkdir()
            try:
                (folder / name).write_text(str(limit))
                yield folder
            finally:
                folder.rmdir()
            return
    raise OSError(errno.ENOENT, "there is no control group for memory")


@contextmanager
def btrfs(folder: Path) -> Iterator[None]:
    """Within `with`, this new folder is a file system of its own, of a kind that has quotas in most
    kernels. Raises OSError where that cannot be."""
    folder.mkdir()
    image = folder.with_suffix(".img")
    with open(image, "wb") as file:
        file.truncate(128 << 20)
    if problem := (_run("mkfs.btrfs", "-q", "-n", "4096", image)
                   or _run("mount", "-o", "loop", image, folder)):
        raise OSError(problem)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        image.unlink()


def _made(make: Callable[[Path], AbstractContextManager]) -> Callable[[], str | None]:
    """A probe that makes something, and removes it again."""
    def lacks() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                with make(Path(folder)):
                    return None
            except OSError as problem:
                return str(problem)

    return lacks


def _btrfs() -> str | None:
    with held(["loop-devices"]):
        return cold_device.obstacle() or _made(lambda folder: btrfs(folder / "mounted"))()


def _sanitizers() -> str | None:
    """gcc's thread and address sanitizers work (some kernels' random addresses break them)."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.c").write_text("int main(void) { return 0; }\n")
        for kind in ("thread", "address"):
            if problem := (_run("gcc", f"-fsanitize={kind}", "a.c", cwd=folder)
                           or _run("./a.out", cwd=folder)):
                return f"-fsanitize={kind}: {problem}"
    return None


def _exact_pages() -> str | None:
    """userfaultfd(2) has the kernel map pages one by one, from Linux 6.7 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall({"x86_64": 323}.get(platform.machine(), 282), 1)
    if file < 0:
        return f"userfaultfd: {os.strerror(ctypes.get_errno())}"
    question = (ctypes.c_uint64 * 3)(0xaa, 1 << 15, 0)  # UFFD_API, WP_ASYNC
    try:
        has_it = libc.ioctl(file, ctypes.c_ulong(0xc018aa3f), question) == 0
        return None if has_it else "this kernel's userfaultfd does not protect asynchronously"
    finally:
        os.close(file)


def _unfiltered() -> str | None:
    filtered = "Seccomp:\t0" not in Path("/proc/self/status").read_text()
    return "a filter of system calls is there from the start" if filtered else None


_PROBES: dict[str, Callable[[], str | None]] = {
    "mounts": _tmpfs,
    "pid-namespace": _pid_namespace,
    "chroot": _chroot,
    "root": lambda: "this is an ordinary user" if os.geteuid() else None,
    "another-user": _another_user,
    "tracing-another-user": _tracing_another_user,
    "capabilities": _capabilities,
    "ptrace": _of_product(probes.ptrace),
    "strace": _of_product(probes.strace),
    # valgrind preloads what lies beside our tool, and LD_PRELOAD cannot name a path with a space.
    "valgrind": lambda: lacking("path-without-space") or _of_product(probes.valgrind)(),
    "eviction": _of_product(probes.eviction),
    "drop-caches": _of_product(probes.drop_caches),
    "quiet-page-cache": lambda: None,
    "tmp-on-disk": _tmp_on_disk,
    "perf": _of_perf(lambda recorder: recorder.events),
    "perf-requests": _of_perf(lambda recorder: recorder.requests),
    "hardware-breakpoints": _of_perf(lambda recorder: recorder.breakpoints),
    "loop-devices": cold_device.obstacle,
    "btrfs": _btrfs,
    "memory-cgroup": _made(lambda folder: memory_cgroup(16 << 20)),
    "lazy-files": lazy.obstacle,
    "throttle": _of_product(probes.slow_device),
    "programs-of-32-bits": _program_of_32_bits,
    "sanitizers": _sanitizers,
    "llvm-gold": lambda: None if (LLVM.parent / "lib/LLVMgold.so").exists()
    else "LLVM's plugin for gold is not installed",
    "packed-relocations": lambda: _run("sh", "-c", "grep -q GLIBC_ABI_DT_RELR "
                                       "$(gcc -print-file-name=libc.so.6) || "
                                       "{ echo glibc is older than 2.36 >&2; exit 1; }"),
    "rustc": lambda: _run("rustc", "--version"),
    "exact-pages": _exact_pages,
    "unfiltered": _unfiltered,
    "path-without-space": lambda: f"{BUILD} has a space" if " " in str(BUILD) else None,
    "x86-64": lambda: None if platform.machine() == "x86_64" else f"this is {platform.machine()}",
    "browser": lambda: None if shutil.which("chromium") and shutil.which("chromedriver")
    else "chromium and chromedriver are not installed",
}
