"""Compiles programs of a page for each function, and samples them."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled import compile_to
from frontload.recording import sample

# Each function of a program begins a page, and has it to itself.
PRELUDE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN_PAGE __attribute__((noinline, noclone, aligned(4096)))
#define A(name) OWN_PAGE void name(void) { __asm__ volatile(".skip 4096 - 64, 0x90"); }
void frontload_ready(void) __attribute__((weak));
"""
# confine(call, request, action): what becomes from then on of whoever makes this call; of an ioctl
# with this request, unless that is 0.
CONFINE = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
static void confine(unsigned call, unsigned request, unsigned action) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | (request ? BPF_JEQ : BPF_JGE) | BPF_K, request, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(77);
}
"""
# Runs a command for which a system call fails.
DENYING = CONFINE + """
int main(int count, char **words) {
  confine(atoi(words[1]), strtoul(words[2], 0, 0), SECCOMP_RET_ERRNO | EPERM);
  return execv(words[3], words + 3) - count;
}
"""


@pytest.fixture(scope="session")
def library(build, preloadable) -> Path:
    return preloadable(build / "lib" / "libfrontload-sample.so")


@pytest.fixture(scope="session")
def archive(build) -> Path:
    return build / "lib" / "libfrontload-sample.a"


@pytest.fixture
def cc(tmp_path):
    """cc(text, *flags): a program of which each function has pages of its own."""

    def cc(text, *flags, name="program", compiler="gcc", sources=None):
        return compile_to(tmp_path / name, compiler, "-O1", "-falign-functions=4096", "-pthread",
                          "-Wl,--build-id", "main.c", *flags,
                          sources={"main.c": PRELUDE + text, **(sources or {})})

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
def denying(cc):
    """denying(call, request=0): what goes before a command for which this call fails."""
    program = cc(DENYING, name="denying")
    return lambda call, request=0: [program, str(call), str(request)]


@pytest.fixture
def confining(cc):
    """confining(body): a program that may confine() itself."""
    return lambda body: cc(CONFINE + body)
