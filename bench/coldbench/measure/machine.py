"""A machine of QEMU with one of Debian's kernels, which starts programs cold from its own disk.

Only the measured programs lie on that disk. All else that a start reads is in the initial file
system, thus in memory, so the major faults and the reads are those of the program alone. The disk
is made by the tools of its file system, without a mount here. Before each start, the program's
pages are dropped, and fincore verifies that none is left. The processor is emulated (TCG), because
a machine in a machine often has no KVM, and counts do not need its speed.
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

DISK, OUTPUT = Path("/disk"), Path("/output/output")
FILE_SYSTEMS = "ext4", "xfs", "btrfs", "f2fs", "erofs"
_DRIVERS = "virtio_pci", "virtio_blk", "crc32c_generic", "crc32_generic"
_SECTOR = 512
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
    read -r reads merged sectors rest </sys/block/vda/stat
    frontload-exec --output=/exec -- "$@" >/out 2>&1 || { cat /out; echo "@ failed $name"; return; }
    # What a program asks for last, a process of its own does.
    while cat /proc/[0-9]*/comm 2>/dev/null | grep -q ^frontload; do sleep 0.1; done
    read -r reads2 merged sectors2 rest </sys/block/vda/stat
    echo "@ start $name $ahead $((reads2 - reads)) $((sectors2 - sectors)) $(resident "$file")" \\
      "$(cat /exec)"
  done
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
mount -t FILE_SYSTEM -o ro /dev/vda /disk || echo "@ mount"
"""


@dataclass(frozen=True)
class Kernel:
    """One of Debian's kernels, and its modules below `root`."""

    version: str
    image: Path
    root: Path

    def modules(self, names: Sequence[str]) -> Iterator[Path]:
        """The modules of these names, each after those that it needs; none for what is built in."""
        for name in names:
            shown = processes.run(["modprobe", "-d", self.root, "-S", self.version,
                                   "--show-depends", name]).stdout
            yield from (Path(line.split()[1]) for line in shown.splitlines()
                        if line.startswith("insmod"))


def kernel(suite: str, cache: Path) -> Kernel:
    """The kernel of a suite of Debian, which mmdebstrap fetches once."""
    folder = cache / suite
    if not folder.exists():
        part = cache / f"{suite}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        packed = part / "packed.tar"
        # Suites of a mirror that stands still are older than their lists of files allow.
        check_call(["mmdebstrap", "--quiet", "--variant=extract", "--include=linux-image-amd64",
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
    return Kernel(modules.name, image, folder)


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
        # Blocks of a page, also on a small disk.
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


_PROGRAMS = "busybox", "dd", "fincore", "frontload-exec"


def _needed(starts: Iterable[Started], programs: Iterable[str]) -> Iterator[str]:
    """All other files that the starts and these programs read."""
    for program in [*(str(start.binary) for start in starts), *programs]:
        yield from dependencies.needed(program)
        if loader := dependencies.interpreter(program):
            yield loader
    for start in starts:
        read = seen.opened(start.here, Launcher(end_with_us=True), only_read=True)
        yield from (file for file, is_mapped in read.items()
                    if not is_mapped and file != str(start.binary))


class Machine:
    """Machines with the same programs, for any kernel and file system, made in `folder`."""

    def __init__(self, folder: Path, starts: Sequence[Started]):
        self._folder, self._starts = folder, starts
        self._contents = folder / "contents"
        shutil.rmtree(self._contents, ignore_errors=True)
        self._contents.mkdir(parents=True)
        for start in starts:
            (self._contents / start.binary.name).hardlink_to(start.binary)
        self._base = folder / "base"
        shutil.rmtree(self._base, ignore_errors=True)
        for name in ("bin", "dev", "disk", "modules", "output", "proc", "sys"):
            (self._base / name).mkdir(parents=True)
        programs = [str(shutil.which(name) or tools.tool(name)) for name in _PROGRAMS]
        for program in programs:
            shutil.copy(program, self._base / "bin")
        for word in {word for start in starts for word in start.here if os.path.isdir(word)}:
            for folder, _, _ in os.walk(word):  # a program may look whether they are there
                (self._base / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for file in dict.fromkeys(_needed(starts, programs)):
            to = self._base / file.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)

    def counts(self, kernel: Kernel, file_system: str, read_aheads: Sequence[int],
               runs: int) -> list[dict]:
        """Cold starts of each program with each readahead:
        {"name", "read_ahead_kib", "requests", "device_bytes", "read_bytes", "major_faults", …}. The
        disk's requests and bytes are also those of the file system's own blocks; `read_bytes` are
        the program's pages.
        """
        disk = self._folder / file_system
        make_disk(file_system, self._contents, disk)
        commands = [shlex.join(["start", start.name, str(ahead), start.place, *start.words])
                    for ahead in read_aheads for start in self._starts]
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
        said = self._boot(kernel, disk)
        disk.unlink()
        return list(parse(said, f"{kernel.version}, {file_system}"))

    def _boot(self, kernel: Kernel, disk: Path) -> str:
        initial = self._folder / "initial"
        check_call(["sh", "-c", 'cd "$1" && find . | cpio --create --format=newc --quiet >"$2"',
                    "sh", self._base, initial])
        command = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m",
                   "3072", "-nographic", "-nic", "none", "-no-reboot", "-kernel", kernel.image,
                   "-initrd", initial, "-append", "console=ttyS0 quiet panic=-1", "-drive",
                   f"file={disk},format=raw,if=virtio,cache=unsafe"]
        return processes.run(command, timeout=_TIMEOUT).stdout


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
