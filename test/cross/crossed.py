"""Programs of other processors: what they are compiled with, and what runs them here.

QEMU's user mode runs one program and hands its system calls on to this machine's kernel. So what it
shows is code, relocation and which calls are made. Of madvise(2) it drops most, and ptrace(2) it
lacks: test/aarch64 has a kernel for these.
"""

import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from compiled import compiled, kept
from linking import check_run
from places import ALL, LLVM, ROOT

LINKING = {"pie": ("-fPIE", "-pie"), "no-pie": ("-fno-pie", "-no-pie"),
           "static": ("-fno-pie", "-static"), "static-pie": ("-fPIE", "-static-pie")}
_PACKAGES = Path("/var/lib/dpkg/status")
# What decides how Frontload is built without LLVM.
_SOURCES = ("CMakeLists.txt", "cmake/Standalone.cmake", "cmake/install", "instrument",
            "scripts/frontload/__init__.py", "test/cross/toolchain.cmake")


@dataclass(frozen=True)
class Cross:
    """A processor, and a compiler for it."""

    processor: str
    is_clang: bool = False

    def __str__(self) -> str:
        return f"{self.processor} {'clang' if self.is_clang else 'gcc'}"

    @property
    def target(self) -> str:
        return f"--target={self.processor}-linux-gnu"

    def linking(self, way: str) -> tuple[str, str]:
        """The flags for a compiler; a test is skipped where this libc has no such programs."""
        start = Path(f"/usr/{self.processor}-linux-gnu/lib/rcrt1.o")
        if way == "static-pie" and not start.exists():
            pytest.skip("this libc has no static-pie")
        return LINKING[way]

    @property
    def emulator(self) -> list[str]:
        return [f"qemu-{self.processor}", "-L", f"/usr/{self.processor}-linux-gnu",
                *(["-cpu", "max"] if self.processor == "aarch64" else [])]

    @property
    def compiler(self) -> list[str]:
        if self.is_clang:
            return [str(LLVM / "clang"), self.target, f"--ld-path={LLVM / 'ld.lld'}"]
        return [f"{self.processor}-linux-gnu-gcc"]

    @cached_property
    def build(self) -> Path:
        """What lives in a program or starts it, built by CMake: lib, bin, and what CMake said."""
        clang = [f"-DFRONTLOAD_CROSS_CLANG={LLVM}"] if self.is_clang else []
        options = [*clang, f"-DFRONTLOAD_CROSS_PROCESSOR={self.processor}",
                   "-DFRONTLOAD_WITHOUT_LLVM=ON", "-DFRONTLOAD_BUILD_TESTS=OFF",
                   "-DFRONTLOAD_WERROR=ON"]

        def make(folder: Path) -> None:
            toolchain = ROOT / "test/cross/toolchain.cmake"
            (folder / "said").write_text(check_run(
                "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"--toolchain={toolchain}",
                *options))
            check_run("cmake", "--build", folder)

        return kept(make, "without LLVM", *options, *(ROOT / name for name in _SOURCES), _PACKAGES)

    @property
    def library_path(self) -> dict[str, str]:
        """The environment in which a program finds our libraries."""
        return {"QEMU_SET_ENV": f"LD_LIBRARY_PATH={self.build / 'lib'}"}

    def compile(self, source: str, *flags, name: str = "program.c") -> Path:
        """A program, or what the flags ask for; nobody may change it."""
        return compiled(*self.compiler, "-O1", "-Wall", name, *flags, output="program",
                        sources={name: source})

    def run(self, program: Path, *arguments, qemu=(), code: int = 0,
            environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        result = subprocess.run(
            [*self.emulator, *qemu, *map(os.fspath, (program, *arguments))], text=True,
            env={**os.environ, **(environment or {})}, capture_output=True)
        assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
        return result


AARCH64, RISCV = Cross("aarch64", is_clang=True), Cross("riscv64")
CHOSEN = [AARCH64, RISCV, *([Cross("aarch64"), Cross("riscv64", is_clang=True)] if ALL else [])]


def only(*crosses: Cross) -> pytest.MarkDecorator:
    """A mark: the fixture `cross` is only these."""
    return pytest.mark.parametrize("cross", crosses, ids=str, indirect=True)
