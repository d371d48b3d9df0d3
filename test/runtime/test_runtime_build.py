"""The built libraries: what they need, and what a call costs in instructions."""

import re
import subprocess

import pytest

HOOKS = {"__cyg_profile_func_enter", "__cyg_profile_func_exit", "__cyg_profile_func_enter_bare",
         "__sanitizer_cov_trace_pc",
         *(f"__sanitizer_cov_load{size}" for size in (1, 2, 4, 8, 16)),
         *(f"__sanitizer_cov_store{size}" for size in (1, 2, 4, 8, 16))}
ALLOWED = {"environ", "getauxval", "dl_iterate_phdr", "_dl_find_object", "_GLOBAL_OFFSET_TABLE_"}


def test_needs_nothing(archive):
    """The archive needs four symbols of libc: no malloc, no memcpy, no errno, no hook."""
    lines = subprocess.run(["nm", "-g", archive], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines if re.match(r"[0-9a-f ]{16} [A-Za-z] ", line)]
    defined = {name for kind, name in symbols if kind not in "Uw"}
    assert {name for kind, name in symbols if kind in "Uw"} - defined <= ALLOWED
    assert {name for name in defined if not name.startswith("frontload_")} == HOOKS


def test_exports(library, llvm):
    """The shared library exports the hooks and frontload_startup_done, has no thread-local storage,
    and is never unloaded."""
    names = subprocess.run(["nm", "-D", "--defined-only", "--format=just-symbols", library],
                           check=True, capture_output=True, text=True).stdout.split()
    assert sorted(names) == sorted(HOOKS | {"frontload_startup_done"})
    headers = subprocess.run([llvm / "llvm-readelf", "-ldW", library], check=True,
                             capture_output=True, text=True).stdout
    assert "NODELETE" in headers and "TLS" not in headers


@pytest.mark.parametrize("hook, limit", [
    ("__cyg_profile_func_enter", 32), ("__sanitizer_cov_load1", 40),
    ("__sanitizer_cov_store8", 45)])
def test_fast_path_is_short(archive, llvm, hook, limit):
    """A call for what was touched before runs through few instructions and calls nothing."""
    text = subprocess.run([llvm / "llvm-objdump", f"--disassemble-symbols={hook}",
                           "--no-show-raw-insn", archive], check=True, capture_output=True,
                          text=True).stdout
    body = text.split(">:\n")[1].split("\n\n")[0]
    instructions = [line.split("\t", 1)[1] for line in body.splitlines() if "\t" in line]
    instructions = instructions[:instructions.index("retq") + 1 if "retq" in instructions else None]
    assert len(instructions) < limit and not any("call" in i for i in instructions)
