#!/usr/bin/env python3
"""Runs tests on AArch64: in an emulated machine with Debian's kernel, where ptrace, fork and
signals are those of the kernel, not of an emulator.

    test/aarch64/run.py                          the scenarios, and the tests of tracer and runtime
    test/aarch64/run.py test/tracer -k signals   others, and of these those that pytest's -k chooses
    test/aarch64/run.py --pages-of-64k           with a kernel whose pages are larger, built first

It takes Debian's packages for arm64 from where apt takes those of this machine, cross-builds
Frontload with clang, puts both on a disk, and starts QEMU on it. Of Python's packages it takes the
versions that run this, so build/venv/bin/python calls it. All of it lies in build/aarch64, the
packages for the next time. `scripts/setup machine` installs what it needs; it has to be root, to
whom the files on the disk belong. An emulated machine is slow: what takes a minute here takes half
an hour there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from importlib.metadata import version
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from coldbench.measure import kernel_64k  # noqa: E402
from coldbench.measure.aarch64 import (  # noqa: E402
    LLVM,
    PACKAGES,
    call,
    cross_build,
    make_root,
)

_TESTS = ["test/scenarios", "test/tracer", "test/runtime"]
# What the machine starts with, and what the tests call.
_PACKAGES = f"""dash bash mount libc-bin linux-image-arm64
  grep sed findutils procps strace btrfs-progs python3 binutils musl-tools gdb libcap2-bin
  clang-{LLVM} lld-{LLVM} llvm-{LLVM} libclang-rt-{LLVM}-dev""".split()
_WHEELS = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux2014_aarch64")
_TARGETS = ("frontload-trace", "frontload-exec", "frontload-run", "frontload_rt_static",
            "frontload_rt_shared", "frontload_prefetch_static", "frontload_prefetch_shared",
            "frontload-valgrind", "frontload-arm64-linux")
_GIGABYTES = 6  # of the disk; what nobody writes takes no room
_MACHINE = ["-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "2048", "-nographic",
            "-nodefaults", "-serial", "stdio", "-no-reboot"]
# What a disk of this machine needs, and what is on it.
_DRIVERS = ("virtio_mmio", "virtio_blk", "ext4", "crc32c_generic")
_INIT = """#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
# A kernel that was built for this has no use for modules.
for module in /modules/*; do /bin/busybox insmod "$module" 2>/dev/null; done
/bin/busybox mount -t ext4 /dev/vda /disk &&
  exec /bin/busybox switch_root /disk /frontload/test/aarch64/init
/bin/busybox poweroff -f
"""


def make_python(folder: Path) -> Path:
    """What the command and the tests import: the versions that are here, as pip has them for that
    processor."""
    packages, made_of = folder / "python", folder / "python.txt"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = ["pytest", "pytest-timeout", "pytest-xdist", "hypothesis",
             *(each.partition(">=")[0] for each in project["dependencies"])]
    wanted = [f"{name}=={version(name)}" for name in names]
    if not made_of.exists() or made_of.read_text() != " ".join(wanted):
        made_of.unlink(missing_ok=True)
        shutil.rmtree(packages, ignore_errors=True)
        call(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--target", packages, "--only-binary=:all:",
             *(f"--platform={name}" for name in _WHEELS), *wanted)
        made_of.write_text(" ".join(wanted))
    return packages


def make_disk(root: Path, python: Path, build: Path, disk: Path, tests: list[str],
              only: str) -> None:
    """All that the machine needs, in one file system."""
    ours = root / "frontload"
    shutil.rmtree(ours, ignore_errors=True)
    for name in ("instrument", "scripts", "test"):
        shutil.copytree(ROOT / name, ours / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("bin", "lib"):
        shutil.copytree(build / name, ours / "build" / name, symlinks=True)
    shutil.copytree(python, ours / "python")
    (ours / "results").mkdir()
    (ours / "tests").write_text("".join(f"{test}\n" for test in tests))
    (ours / "only").write_text(only)
    for name in ("dev", "proc", "sys", "tmp", "root", "etc"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n"
                                     "nobody:x:65534:65534::/:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    disk.unlink(missing_ok=True)
    call("mke2fs", "-q", "-t", "ext4", "-d", root, disk, f"{_GIGABYTES}g",
         stderr=subprocess.STDOUT)


def make_initramfs(root: Path, folder: Path) -> Path:
    """The initial file system: what Debian's kernel, all of whose drivers are modules, needs before
    it can mount a disk."""
    base, archive = folder / "initial", folder / "initramfs"
    shutil.rmtree(base, ignore_errors=True)
    for name in ("bin", "dev", "disk", "modules"):
        (base / name).mkdir(parents=True)
    shutil.copy(root / "bin/busybox", base / "bin")
    (base / "init").write_text(_INIT)
    (base / "init").chmod(0o755)
    (kernel_version,) = os.listdir(root / "lib/modules")
    call("depmod", "-b", root, kernel_version)
    shown = "".join(call("modprobe", "-d", root, "-S", kernel_version, "--show-depends", name)
                    for name in _DRIVERS)
    modules = [line.split()[1] for line in shown.splitlines() if line.startswith("insmod ")]
    for number, module in enumerate(dict.fromkeys(modules)):
        shutil.copy(module, base / f"modules/{number:02}-{Path(module).name}")
    call("sh", "-c", 'cd "$1" && find . | cpio --create --format=newc --quiet >"$2"', "sh", base,
         archive)
    return archive


def start(root: Path, image: Path, folder: Path, disk: Path) -> None:
    """Runs the machine until it turns itself off."""
    command = ["qemu-system-aarch64", *_MACHINE, "-kernel", image, "-initrd",
               make_initramfs(root, folder),
               "-append", "console=ttyAMA0 quiet panic=-1",
               "-drive", f"file={disk},format=raw,if=none,id=disk,cache=unsafe",
               "-device", "virtio-blk-device,drive=disk"]
    subprocess.run(list(map(os.fspath, command)), stdin=subprocess.DEVNULL, check=True,
                   timeout=4 * 3600)


def report(disk: Path, results: Path) -> bool:
    """Says how many tests failed; whether none did."""
    shutil.rmtree(results, ignore_errors=True)
    call("debugfs", "-R", f"rdump /frontload/results {results.parent}", disk,
         stderr=subprocess.DEVNULL)
    cases = [case for file in sorted(results.glob("*.xml"))
             for case in xml.parse(file).iter("testcase")]
    if not cases:
        sys.exit("run.py: error: the tests left no results")
    failed = [case for case in cases if {part.tag for part in case} & {"failure", "error"}]
    print(f"{len(cases)} tests, of which {len(failed)} failed")
    return not failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "aarch64")
    parser.add_argument("--pages-of-64k", action="store_true")
    parser.add_argument("-k", default="", metavar="EXPRESSION", dest="only")
    parser.add_argument("tests", nargs="*", default=_TESTS, metavar="TEST")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    root = make_root(folder, [*_PACKAGES, *PACKAGES])
    build, disk = folder / "build", folder / "disk"
    cross_build(root, build, _TARGETS)
    make_disk(root, make_python(folder), build, disk, options.tests, options.only)
    if options.pages_of_64k:
        image = kernel_64k.make(folder / "kernel", call)
    else:
        (image,) = (root / "boot").glob("vmlinuz-*")
    begin = time.monotonic()
    start(root, image, folder, disk)
    print(f"{time.monotonic() - begin:.0f} seconds in the machine")
    return 0 if report(disk, folder / "results") else 1


if __name__ == "__main__":
    sys.exit(main())
