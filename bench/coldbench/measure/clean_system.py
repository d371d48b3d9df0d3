"""Clean systems of Debian in which packages are built: folders that lie over each other.

The lowest layer is what mmdebstrap makes, with build-essential. Above it lies a layer for each
source package, with what its build needs and its source, and above that what one build writes. A
command has its own mounts, processes and (unless it fetches) network, so nothing of it is left.
"""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from frontload.base import processes
from frontload.base.processes import check_call

SUITE = "bookworm"
USER = "setpriv --reuid=builder --regid=builder --init-groups"
_NAMESPACES = "--mount", "--pid", "--fork", "--kill-child", "--propagation=private"
_ENTER = """
root=$1 below=$2 upper=$3 network=$4 script=$5
shift 5
mount -t overlay overlay -o "lowerdir=$below,upperdir=$upper/upper,workdir=$upper/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind --make-rslave /dev "$root/dev"
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  shift 2
done
shift
if [ "$network" ]; then cp /etc/resolv.conf "$root/etc"; else busybox ifconfig lo up; fi
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \\
  DEBIAN_FRONTEND=noninteractive sh -euc "$script" sh "$@"
"""
_CHECKS = "apt-get -q update && apt-get -q -y --no-install-recommends install lintian devscripts"
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
        return self._layer("checks", _CHECKS, log=log)

    def source(self, package: str, log: Path) -> Path:
        """The layer with a package's source, in /build, and with all that its build needs."""
        return self._layer(f"{package}/source", _FETCH, package, log=log)

    def _layer(self, name: str, script: str, *words: str, log: Path) -> Path:
        self.make_base()
        layer = self._folder / name
        if not layer.exists():
            part = layer.with_name(f"{layer.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            if self.run([], part, script, *words, log=log, network=True):
                raise processes.Failure(f"{name}: cannot be made", note=f"see {log}")
            part.rename(layer)
        return layer
