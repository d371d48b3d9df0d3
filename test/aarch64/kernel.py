"""Builds a kernel with pages of 64 KiB, of the source that Debian packages: Debian 12 itself has no
such kernel."""

import subprocess
from collections.abc import Callable
from pathlib import Path

_PACKAGE = "linux-source-6.1"
_CONFIG = Path(__file__).with_name("kernel-64k.config")
_MAKE = ["make", "--silent", "ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]


def make(folder: Path, call: Callable[..., str]) -> Path:
    """The kernel's image, in a folder that keeps the source."""
    source = folder / "usr/src" / _PACKAGE
    image = source / "arch/arm64/boot/Image"
    folder.mkdir(exist_ok=True)
    if not source.exists():
        call("apt-get", "download", "--quiet", _PACKAGE, cwd=folder)
        (package,) = folder.glob(f"{_PACKAGE}_*.deb")
        call("dpkg-deb", "-x", package, folder)
        call("tar", "-xf", f"{source}.tar.xz", "-C", source.parent)
    if not image.exists() or image.stat().st_mtime < _CONFIG.stat().st_mtime:
        call(*_MAKE, f"KCONFIG_ALLCONFIG={_CONFIG}", "allnoconfig", cwd=source,
             stderr=subprocess.DEVNULL)
        call(*_MAKE, "-j2", "Image", cwd=source)
    return image
