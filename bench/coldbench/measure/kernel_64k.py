"""Builds a kernel for AArch64 with pages of 64 KiB, of the source that Debian packages: no suite of
Debian has such a kernel."""

import subprocess
from collections.abc import Callable
from pathlib import Path

_PACKAGE = "linux-source-6.1"
_MAKE = ["make", "--silent", "ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]
# What the tests use, with all drivers built in, on top of allnoconfig.
_OPTIONS = """
  ARM64_64K_PAGES ARM64_VA_BITS_48 SMP PRINTK BINFMT_ELF BINFMT_SCRIPT BLK_DEV_INITRD MULTIUSER
  POSIX_TIMERS FUTEX EPOLL SIGNALFD TIMERFD EVENTFD AIO ADVISE_SYSCALLS MEMBARRIER RSEQ SYSVIPC
  FHANDLE FILE_LOCKING INOTIFY_USER MEMFD_CREATE CROSS_MEMORY_ATTACH CGROUPS MEMCG NAMESPACES
  USER_NS PID_NS SECCOMP SECCOMP_FILTER PSI PROC_FS PROC_SYSCTL PROC_PAGE_MONITOR PROC_CHILDREN
  SYSFS TMPFS DEVTMPFS TTY UNIX98_PTYS SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE BLOCK BLK_DEV
  BLK_DEV_LOOP VIRTIO_MENU VIRTIO_MMIO VIRTIO_BLK EXT4_FS NET UNIX INET SHMEM ELF_CORE COREDUMP
  HIGH_RES_TIMERS ARM64_PTR_AUTH ARM64_BTI ARM64_TAGGED_ADDR_ABI SECURITY SECURITY_YAMA
  ARM_PSCI_FW BPF_SYSCALL
"""


def make(folder: Path, call: Callable[..., str]) -> Path:
    """The kernel's image, in a folder that keeps the source."""
    source, config = folder / "usr/src" / _PACKAGE, folder / "config"
    image = source / "arch/arm64/boot/Image"
    options = ["NR_CPUS=4", *(f"{option}=y" for option in _OPTIONS.split())]
    wanted = "".join(f"CONFIG_{option}\n" for option in options)
    folder.mkdir(exist_ok=True)
    if not source.exists():
        call("apt-get", "download", "--quiet", _PACKAGE, cwd=folder)
        (package,) = folder.glob(f"{_PACKAGE}_*.deb")
        call("dpkg-deb", "-x", package, folder)
        call("tar", "-xf", f"{source}.tar.xz", "-C", source.parent)
    if not image.exists() or config.read_text() != wanted:
        config.write_text(wanted)
        call(*_MAKE, f"KCONFIG_ALLCONFIG={config}", "allnoconfig", cwd=source,
             stderr=subprocess.DEVNULL)
        call(*_MAKE, "-j2", "Image", cwd=source)
    return image
