"""Clean systems of Debian in which packages are built: folders that lie over each other.

The lowest layer is what mmdebstrap makes, with build-essential. Above it lies a layer for each
source package, with what its build needs and its source, and above that what one build writes. A
command has its own mounts, processes and (unless it fetches) network, so nothing of it is left.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from frontload import __version__
from frontload.base import processes
from frontload.base.files import read_text
from frontload.base.processes import check_call

SUITE = "bookworm"
USER = "setpriv --reuid=builder --regid=builder --init-groups"
_COMPILERS = re.compile(
    r"(x86_64-linux-gnu-)?(cc|c\+\+|gcc|g\+\+|gfortran|f77|f95|gdc|clang(\+\+)?)"
    r"(-\d+)?")
_NAMESPACES = "--mount", "--pid", "--fork", "--kill-child", "--propagation=private"
_ENTER = """
root=$1 below=$2 upper=$3 network=$4 script=$5
shift 5
mount -t overlay overlay -o "lowerdir=$below,upperdir=$upper/upper,workdir=$upper/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind --make-rslave /dev "$root/dev"
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --rbind "$1" "$root$2"
  shift 2
done
shift
if [ "$network" ]; then cp /etc/resolv.conf "$root/etc"; else busybox ifconfig lo up; fi
mkdir "$root/host"
cd "$root"
pivot_root . host
umount -l host
rmdir host
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \\
  DEBIAN_FRONTEND=noninteractive sh -euc "$script" sh "$@"
"""
_CHECKS = "apt-get -q update && apt-get -q -y --no-install-recommends install lintian devscripts"
_RECORDERS = """
apt-get -q update
apt-get -q -y --no-install-recommends install python3 python3-numpy python3-rich \\
  python3-scipy python3-pyelftools strace valgrind e2fsprogs
apt-get clean
"""
_FETCH = """
cd /etc/apt
sed -n 's/^deb \\(.* bookworm main\\)$/deb-src \\1/p' sources.list >sources.list.d/source.list
apt-get -q update
apt-get -q -y --no-install-recommends --arch-only build-dep "$1"
apt-get clean
mkdir /build
cd /build
apt-get -q source "$1"
chown -R builder: /build
rm -r /var/lib/apt/lists/* /var/cache/apt/*
"""


class CleanSystem:
    """The layers, in a folder, and commands in them."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._base = folder / "base"

    def run(self, layers: Sequence[Path], upper: Path, script: str, *words: str, log: Path,
            binds: Mapping[Path, str] | None = None, network: bool = False,
            timeout: float | None = None) -> int:
        """Runs a script as root in these layers, the highest first, and the base. What it writes
        is below `upper`. Returns its status."""
        for name in ("root", "upper", "work"):
            (upper / name).mkdir(parents=True, exist_ok=True)
        below = ":".join(f"{layer}/upper" for layer in layers)
        with open(log, "wb") as stream, processes.started(
                ["unshare", *_NAMESPACES, *([] if network else ["--net"]), "sh", "-euc", _ENTER,
                 "sh", upper / "root", f"{below}:{self._base}".lstrip(":"), upper,
                 "yes" if network else "", script,
                 *(str(word) for bind in (binds or {}).items() for word in bind), "--", *words],
                stdout=stream, stderr=subprocess.STDOUT) as process:
            return processes.wait(process, timeout)

    def make_base(self) -> None:
        if self._base.exists():
            return
        part = self._folder / "base.part"
        shutil.rmtree(part, ignore_errors=True)
        check_call(["mmdebstrap", "--quiet", "--variant=buildd", "--include=debhelper,fakeroot",
                    "--dpkgopt=force-unsafe-io",
                    '--customize-hook=chroot "$1" useradd --create-home builder',
                    '--customize-hook=echo 127.0.0.1 localhost >"$1/etc/hosts"', SUITE, part])
        part.rename(self._base)

    def checks(self, log: Path) -> Path:
        """The layer with lintian and hardening-check."""
        return self.layer("checks", _CHECKS, log=log, network=True)

    def recorders(self, log: Path) -> Path:
        """The layer with what `frontload auto` and `frontload measure` need."""
        return self.layer("recorders", _RECORDERS, log=log, network=True)

    def source(self, package: str, log: Path) -> Path:
        """The layer with a package's source, in /build, and with all that its build needs."""
        return self.layer(f"{package}/source", _FETCH, package, log=log, network=True)

    def make_launchers(self, folder: Path, source: Path, text: str) -> None:
        """Scripts with the names of the compilers of a system, and this text with these names."""
        for programs in (self._base / "usr/bin", source / "upper/usr/bin"):
            for program in programs.glob("*"):
                if _COMPILERS.fullmatch(program.name):
                    (folder / program.name).write_text(text.format(program.name))
                    (folder / program.name).chmod(0o755)

    def layer(self, name: str, script: str, *words: str, log: Path, below: Sequence[Path] = (),
              **options) -> Path:
        """What a script writes into these layers, if it succeeds; made once."""
        self.make_base()
        layer = self._folder / name
        if not layer.exists():
            part = layer.with_name(f"{layer.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            if self.run(below, part, script, *words, log=log, **options):
                raise processes.Failure(f"{name}: cannot be made", note=f"see {log}")
            self._let_stack(part / "upper")
            part.rename(layer)
        return layer

    def _let_stack(self, upper: Path) -> None:
        """Has new folders show what layers that are not below them have in the same folder."""
        for folder in filter(Path.is_dir, upper.rglob("*")):
            if not (self._base / folder.relative_to(upper)).is_dir():
                with suppress(OSError):  # most are not marked
                    os.removexattr(folder, "trusted.overlay.opaque", follow_symlinks=False)


def version_of(source: Path) -> str:
    """Of the package whose layer this is."""
    (description,) = (source / "upper/build").glob("*.dsc")
    return next(line.split()[1] for line in read_text(description).splitlines()
                if line.startswith("Version: "))


def packaged(packages: Path, folder: Path) -> Path:
    """The folder, with Frontload's programs as `scripts/package portable` packs them."""
    archives = [packages / f"frontload-{__version__}-{kind}linux-x86_64.tar.xz"
                for kind in ("", "valgrind-")]
    if not all(archive.exists() for archive in archives):
        raise processes.Failure(f"{packages}: has no packages of Frontload",
                                note="scripts/package portable makes them")
    note, made_of = folder / "made-of", f"{archives[0].stat().st_mtime_ns}"
    if not note.exists() or note.read_text() != made_of:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for archive in archives:
            check_call(["tar", "-x", "-f", archive, "-C", folder, "--strip-components=1"])
        note.write_text(made_of)
    return folder
