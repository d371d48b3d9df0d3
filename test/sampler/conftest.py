"""Compiles programs of a page for each function, and samples them."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled import compile_to
from frontload.profile import sample

# Each function of a program begins a page, and has it to itself.
PRELUDE = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define OWN_PAGE __attribute__((noinline, noclone, aligned(4096)))
#define A(name) OWN_PAGE void name(void) { __asm__ volatile(".skip 4096 - 64, 0x90"); }
void frontload_ready(void) __attribute__((weak));
"""
# Runs a command for which a system call fails: by its number, or an ioctl by its request.
DENYING = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
  (void)count;
  unsigned call = atoi(words[1]), request = strtoul(words[2], 0, 0);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request ? ~request : 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  if (!request)
    filter[3] = filter[4] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 77;
  execv(words[3], words + 3);
  return 127;
}
"""


@pytest.fixture(scope="session")
def library(build) -> Path:
    return build / "lib" / "libfrontload-sample.so"


@pytest.fixture(scope="session")
def archive(build) -> Path:
    return build / "lib" / "libfrontload-sample.a"


@pytest.fixture
def cc(tmp_path):
    """cc(text, *flags): a program of which each function has pages of its own."""

    def cc(text, *flags, name="program", compiler="gcc"):
        return compile_to(tmp_path / name, compiler, "-O1", "-falign-functions=4096", "-pthread",
                          "-Wl,--build-id", "main.c", *flags,
                          sources={"main.c": PRELUDE + text})

    return cc


@dataclass
class Taken:
    """What one sampled run left behind."""

    folder: Path
    result: subprocess.CompletedProcess

    @property
    def samples(self) -> list[sample.PageSample]:
        return [sample.read(path) for path in sample.find(self.folder)]

    @property
    def only(self) -> sample.PageSample:
        (found,) = self.samples
        return found


@pytest.fixture
def sampled(run, library, tmp_path):
    """sampled(command...): runs it with the library preloaded, and a folder for samples."""

    def sampled(*command, code=0, preload=True, pattern="%m.%p.flsample", folder=None, **options):
        folder = folder or tmp_path / "samples"
        folder.mkdir(exist_ok=True)
        variables = {"FRONTLOAD_SAMPLE": f"{folder}/{pattern}"}
        if preload:
            variables["LD_PRELOAD"] = str(library)
        environment = {**os.environ, **variables, **options.pop("variables", {})}
        return Taken(folder, run(*command, code=code, env=environment, **options))

    return sampled


@pytest.fixture
def injecting(strace, library, tmp_path):
    """injecting(fault): what goes before a command that is sampled with preload=False, so that
    system calls fail by strace's --inject, which writes them to the file `calls`."""

    def injecting(fault):
        return [strace, "-o", tmp_path / "calls", "-e", f"trace={fault.partition(':')[0]}",
                "-E", f"LD_PRELOAD={library}", "-e", f"inject={fault}"]

    return injecting


@pytest.fixture
def everybodys():
    """A folder that everybody may write to, which those of the tests are not in."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


@pytest.fixture
def denying(tmp_path, run):
    """denying(call, request=0): what goes before a command for which this call fails."""
    program = compile_to(tmp_path / "denying", "gcc", "-O1", "d.c", sources={"d.c": DENYING})

    def denying(call, request=0):
        before = [program, str(call), str(request)]
        if run(*before, "/bin/true", code=None).returncode:
            pytest.skip("no filters of system calls here")
        return before

    return denying
