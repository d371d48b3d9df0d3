"""A machine of QEMU with one of Debian's kernels, which starts programs cold from its own disk.

Only the measured programs lie on that disk. All else that a start reads is in the initial file
system, thus in memory, so the major faults and the reads are those of the program alone. The disk
is made by the tools of its file system, without a mount here. Before each start, the program's
pages are dropped, and fincore verifies that none is left. The processor is emulated (TCG), because
a machine in a machine often has no KVM, or one without hardware (PVM), which steps through the
kernel so slowly that it does not unpack itself in 200 seconds. Counts do not need speed.
"""

import json
import lzma
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base import processes, tools
from frontload.base.errors import Failure
from frontload.base.processes import check_call
from frontload.elf import dependencies
from frontload.measure import seen
from frontload.measure.launcher import Launcher

from coldbench.measure import aarch64, kernel_64k

DISK, OUTPUT = Path("/disk"), Path("/output/output")
FILE_SYSTEMS = "ext4", "xfs", "btrfs", "f2fs", "erofs"
_DRIVERS = "virtio_pci", "virtio_mmio", "virtio_blk", "crc32c_generic", "crc32_generic"
_SECTOR = 512
_TRACES = 256 << 20  # the most bytes of a recording
_TIMEOUT = 1800  # seconds

_INIT = """#!/bin/busybox sh
echo # after what the firmware has written
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mount -t tmpfs none /output # which has anonymous files, unlike the initial file system
for module in /modules/*; do insmod "$module"; done
start() { # NAME READAHEAD FILE WORD...
  name=$1 ahead=$2 file=$3
  shift 3
  for device in /sys/class/bdi/*/read_ahead_kb; do echo "$ahead" >"$device"; done
  for round in $(seq RUNS); do
    dropped "$file" || drop_all "$file" || { echo "@ stayed $name: $(resident "$file")"; return; }
    rm -f /output/*
    read -r reads merged sectors rest </sys/block/$disk/stat
    frontload-exec --output=/exec -- "$@" >/out 2>&1 || { cat /out; echo "@ failed $name"; return; }
    # What a program asks for last, a process of its own does.
    while cat /proc/[0-9]*/comm 2>/dev/null | grep -q ^frontload; do sleep 0.1; done
    read -r reads2 merged sectors2 rest </sys/block/$disk/stat
    echo "@ start $name $ahead $((reads2 - reads)) $((sectors2 - sectors)) $(resident "$file")" \\
      "$(cat /exec)"
  done
}
changed() { # of a FILE, as a prefetch list has it
  # shellcheck disable=SC2046 # three words
  set -- $(stat -c "%Y %y" "$1")
  echo "$1.${3#*.}"
}
resident() { fincore -b -n -r -o RES "$1"; }
dropped() {
  /bin/dd if="$1" iflag=nocache count=0 2>/dev/null
  [ "$(resident "$1")" = 0 ]
}
drop_all() { # large folios may stay at first
  echo 1 >/proc/sys/vm/drop_caches
  dropped "$1"
}
device() { basename "$(dirname "$(grep -l "^$1" /sys/block/vd*/serial)")"; }
disk=$(device FILE_SYSTEM)
mount -t FILE_SYSTEM -o ro /dev/$disk /disk || echo "@ mount"
"""


@dataclass(frozen=True)
class Processor:
    """A kind of machine."""

    name: str  # in Debian
    emulator: tuple[str, ...]
    console: str
    disk: str  # QEMU's device
    # Where its programs and libraries are, as in a file system of its own; and Frontload's for it.
    root: Path = Path("/")
    build: Path | None = None

    def program(self, name: str) -> Path:
        """Where a program for it is here."""
        if self.build is None:
            return Path(shutil.which(name) or tools.tool(name))
        places = (folder / name for folder in (self.root / "bin", self.build / "bin"))
        return next(place for place in places if place.exists())

    @property
    def here(self) -> tuple[str, ...]:
        """The words before a program of it that is run on this machine."""
        return ("qemu-aarch64", "-L", str(self.root)) if self.build else ()

    def place(self, file: Path | str) -> Path:
        """Where a file is there."""
        path = Path(file)
        return Path("/") / path.relative_to(self.root) if path.is_relative_to(self.root) else path

    def needed(self, program: Path | str) -> Iterator[str]:
        """The libraries of a program, and its loader."""
        own = [str(folder) for folder in self.root.glob("usr/lib/*-linux-gnu")]
        yield from dependencies.needed(program, first=own if self.build else ())
        if loader := dependencies.interpreter(program):
            yield str(self.root / loader.lstrip("/"))


AMD64 = Processor("amd64", ("qemu-system-x86_64", "-cpu", "max"), "ttyS0", "virtio-blk-pci")


def arm64(folder: Path, packages: Sequence[str]) -> Processor:
    """The processor with Debian's packages and Frontload for it, made in `folder`."""
    root, build = aarch64.make_root(folder, [*aarch64.PACKAGES, *packages]), folder / "build"
    aarch64.cross_build(root, build, ("frontload-exec", "frontload-run",
                                      "frontload-valgrind", "frontload-arm64-linux",
                                      "frontload_prefetch_shared"))
    return Processor("arm64", ("qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on"),
                     "ttyAMA0", "virtio-blk-device", root, build)


@dataclass(frozen=True)
class Kernel:
    """One of Debian's kernels, and its modules below `root`."""

    version: str
    image: Path
    root: Path
    page_kib: int = 4

    def mountable(self, file_systems: Sequence[str]) -> list[str]:
        """Those that it has. F2fs has blocks of a page, and the tools make those of 4 KiB. The
        kernel that is built for this has only ext4."""
        return [name for name in file_systems
                if name == "ext4" or self.page_kib < (16 if name == "f2fs" else 64)]

    def modules(self, names: Sequence[str]) -> Iterator[Path]:
        """The modules of these names, each after those that it needs; none for what is built in."""
        for name in names:
            shown = processes.run(["modprobe", "-d", self.root, "-S", self.version,
                                   "--show-depends", name]).stdout
            yield from (Path(line.split()[1]) for line in shown.splitlines()
                        if line.startswith("insmod"))


def kernel(name: str, cache: Path, processor: Processor = AMD64) -> Kernel:
    """The kernel of a suite of Debian, which mmdebstrap fetches once: "sid", or "sid:16k" for the
    one with pages of 16 KiB. No suite has one with 64 KiB, so that is built of a suite's source."""
    suite, _, pages = name.partition(":")
    if pages == "64k":
        image = kernel_64k.make(cache / "64k", aarch64.call)
        source = image.parents[3]
        return Kernel((source / "include/config/kernel.release").read_text().strip(), image, source,
                      64)
    folder = cache / "-".join(filter(None, (suite, "" if processor == AMD64 else processor.name,
                                            pages)))
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        packed = part / "packed.tar"
        # Suites of a mirror that stands still are older than their lists of files allow.
        package = "-".join(filter(None, ("linux-image", processor.name, pages)))
        check_call(["mmdebstrap", "--quiet", "--variant=extract", f"--include={package}",
                    f"--architectures={processor.name}",
                    '--aptopt=Acquire::Check-Valid-Until "false"', suite, packed])
        check_call(["tar", "-x", "-f", packed, "-C", part, "--exclude=./usr/share"])
        packed.unlink()
        if not (part / "lib").exists():
            (part / "lib").symlink_to("usr/lib")
        part.rename(folder)
    modules = next((folder / "lib/modules").iterdir())
    if not (modules / "modules.dep").exists():
        check_call(["depmod", "-b", folder, modules.name])
    image = next(path for path in (*folder.glob("boot/vmlinu*"), modules / "vmlinuz")
                 if path.exists())
    return Kernel(modules.name, image, folder, int(pages.rstrip("k") or 4))


@dataclass(frozen=True)
class Started:
    """A program and how it is started: `words` have its place on the disk."""

    name: str
    binary: Path
    words: Sequence[str]
    here: Sequence[str]  # the same start on this machine

    @property
    def place(self) -> str:
        return str(DISK / self.binary.name)


def make_disk(file_system: str, contents: Path, image: Path) -> None:
    """An image of a file system with the files of a folder."""
    image.unlink(missing_ok=True)
    if file_system != "erofs":
        size = sum(file.stat().st_size for file in contents.iterdir())
        with open(image, "wb") as made:
            made.truncate(size + size // 8 + (512 << 20))
    if file_system == "erofs":
        check_call(["mkfs.erofs", "--quiet", image, contents])
    elif file_system == "ext4":
        # Blocks of 4 KiB, also on a small disk.
        check_call(["mkfs.ext4", "-q", "-b", "4096", "-m", "0", "-O", "^has_journal", "-d",
                    contents, image])
    elif file_system == "btrfs":
        check_call(["mkfs.btrfs", "-q", "--rootdir", contents, image])
    elif file_system == "xfs":
        files = "".join(f"{file.name} ---755 0 0 {file}\n" for file in contents.iterdir())
        prototype = image.with_suffix(".prototype")
        prototype.write_text(f"/\n0 0\nd--755 0 0\n{files}$\n")
        check_call(["mkfs.xfs", "-q", "-p", prototype, image])
    else:
        check_call(["mkfs.f2fs", "-q", image])
        check_call(["sload.f2fs", "-f", contents, image])


_PROGRAMS = "busybox", "dd", "fincore", "frontload-exec", "frontload-run"


def _needed(starts: Iterable[Started], programs: Iterable[Path],
            processor: Processor) -> Iterator[str]:
    """All other files that the starts and these programs read."""
    for program in [*(start.binary for start in starts), *programs]:
        yield from processor.needed(program)
    for start in starts:
        read = seen.opened(start.here, Launcher(end_with_us=True), only_read=True)
        yield from (file for file, is_mapped in read.items()
                    if not is_mapped and file != str(start.binary))


class Machine:
    """Machines with the same programs, for any kernel and file system, made in `folder`."""

    def __init__(self, folder: Path, starts: Sequence[Started], processor: Processor = AMD64):
        self._folder, self._starts, self._processor = folder, starts, processor
        self._contents = folder / "contents"
        shutil.rmtree(self._contents, ignore_errors=True)
        self._contents.mkdir(parents=True)
        for binary in {start.binary for start in starts}:
            (self._contents / binary.name).hardlink_to(binary)
        self._base = folder / "base"
        shutil.rmtree(self._base, ignore_errors=True)
        for name in ("bin", "dev", "disk", "modules", "output", "proc", "sys", "tmp"):
            (self._base / name).mkdir(parents=True)
        programs = [processor.program(name) for name in _PROGRAMS]
        for program in programs:
            shutil.copy(program, self._base / "bin")
        for word in {word for start in starts for word in start.here if os.path.isdir(word)}:
            for folder, _, _ in os.walk(word):  # a program may look whether they are there
                (self._base / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for file in dict.fromkeys(_needed(starts, programs, processor)):
            self._copy(file)

    def place(self, file: Path) -> Path:
        """Where a file of the machine, which is not on its disk, lies here."""
        return self._base / file.relative_to("/")

    def _copy(self, file: Path | str) -> None:
        to = self.place(self._processor.place(file))
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)

    def counts(self, kernel: Kernel, file_system: str, read_aheads: Sequence[int],
               runs: int, first: Sequence[str] = ()) -> list[dict]:
        """Cold starts of each program with each readahead, after the `first` commands:
        {"name", "read_ahead_kib", "requests", "device_bytes", "read_bytes", "major_faults", …}. The
        disk's requests and bytes are also those of the file system's own blocks; `read_bytes` are
        the program's pages.
        """
        commands = [shlex.join(["start", start.name, str(ahead), start.place, *start.words])
                    for ahead in read_aheads for start in self._starts]
        said = self._boot(kernel, file_system, runs, [*first, *commands])
        return list(parse(said, f"{kernel.version}, {file_system}"))

    def record(self, kernel: Kernel, traces: Path) -> None:
        """Records a start of the first program, with data, into a folder."""
        program = self._processor.program("frontload-valgrind")
        valgrind = self._processor.root / "usr/libexec/valgrind"
        for file in (program, *self._processor.needed(program), *valgrind.iterdir()):
            self._copy(file)
        # The command of this name is a script, which names a place for debug files.
        shutil.copy(self._processor.root / "usr/bin/valgrind.bin", self._base / "bin/valgrind")
        tools_of_valgrind = program.parents[1] / "lib/frontload"
        shutil.copytree(tools_of_valgrind, self._base / tools_of_valgrind.relative_to("/"),
                        symlinks=True, dirs_exist_ok=True)
        written = self._folder / "written"
        with open(written, "wb") as made:
            made.truncate(_TRACES)
        start = self._starts[0]
        record = shlex.join([str(program), "--output=/output/%p.fltrace", "--", *start.words])
        pack = "tar -c -f /dev/$(device written) *.fltrace"
        said = self._boot(kernel, "ext4", 1, [f"cd /output; {record} && {pack} || echo @ failed"],
                          written)
        if "@ failed" in said:
            raise Failure(f"{program.name}: failed on {kernel.version}", note=said[-2000:])
        shutil.rmtree(traces, ignore_errors=True)
        traces.mkdir()
        check_call(["tar", "-x", "-f", written, "-C", traces])
        written.unlink()

    def _boot(self, kernel: Kernel, file_system: str, runs: int, commands: Sequence[str],
              written: Path | None = None) -> str:
        """Runs commands in the machine, which has a second disk if they write. Returns what they
        wrote to its console."""
        disk = self._folder / file_system
        make_disk(file_system, self._contents, disk)
        (self._base / "init").write_text(
            _INIT.replace("FILE_SYSTEM", file_system).replace("RUNS", str(runs))
            + "\n".join([*commands, "poweroff -f", ""]))
        (self._base / "init").chmod(0o755)
        shutil.rmtree(self._base / "modules")
        (self._base / "modules").mkdir()
        modules = kernel.modules([*_DRIVERS, file_system])
        for number, module in enumerate(dict.fromkeys(modules)):
            to = self._base / f"modules/{number:02}-{module.name.split('.')[0]}.ko"
            read = lzma.decompress if module.suffix == ".xz" else bytes
            to.write_bytes(read(module.read_bytes()))
        initial = self._folder / "initial"
        check_call(["sh", "-c", 'cd "$1" && find . | cpio --create --format=newc --quiet >"$2"',
                    "sh", self._base, initial])
        command = [*self._processor.emulator, "-accel", "tcg", "-m", "3072", "-nographic", "-nic",
                   "none", "-no-reboot", "-kernel", kernel.image, "-initrd", initial, "-append",
                   f"console={self._processor.console} quiet panic=-1"]
        for file in filter(None, (disk, written)):
            command += ["-drive", f"file={file},format=raw,if=none,id={file.name},cache=unsafe",
                        "-device", f"{self._processor.disk},drive={file.name},serial={file.name}"]
        said = processes.run(command, timeout=_TIMEOUT).stdout
        disk.unlink()
        return said


def parse(said: str, where: str) -> Iterator[dict]:
    """The counts in what a machine wrote to its console."""
    count = 0
    for line in said.splitlines():
        words = line.strip().split(maxsplit=7)
        if words[:2] == ["@", "start"]:
            name, ahead, reads, sectors, resident, cost = words[2:]
            count += 1
            yield {"name": name, "read_ahead_kib": int(ahead), "requests": int(reads),
                   "read_bytes": int(resident), "device_bytes": int(sectors) * _SECTOR,
                   **json.loads(cost)}
        elif words[:1] == ["@"]:
            raise Failure(f"{where}: {line.strip()}", note=said[-2000:])
    if not count:
        raise Failure(f"{where}: the machine reported nothing", note=said[-2000:])
