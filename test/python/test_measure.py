"""frontload measure, from the command line, with small real programs."""

import json
import os
import select
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from abilities import need, needs
from frontload.measure.launcher import Launcher
from frontload.pagecache import cache as pagecache
from measuring import line_of

pytestmark = pytest.mark.usefixtures("tools")

# Touches one page in eight of 4 MB of constants, so that there is something to read.
SOURCE = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((section(".big"))) const char big[4 << 20] = {1};
int main(int argc, char **argv) {
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof big; i += 8 * 4096) sum += ((const volatile char *)big)[i];
  if (argc > 1 && !strcmp(argv[1], "fail")) { fprintf(stderr, "no luck\n"); return 3; }
  if (argc > 1 && !strcmp(argv[1], "name")) puts(argv[0]);
  if (argc > 1 && !strcmp(argv[1], "hang")) { puts("ready"); fflush(stdout); pause(); }
  return sum != 1;
}
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory) -> Path:
    """A program of 4 MB on a file system from which it can be evicted."""
    need("eviction", "tmp-on-disk")
    folder = tmp_path_factory.mktemp("program")
    (folder / "app.c").write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-o", folder / "app", folder / "app.c"], check=True)
    return folder / "app"


@pytest.fixture
def measure(cli):
    """measure(*arguments, code=0): what frontload measure says."""
    return lambda *arguments, code=0: cli("measure", *arguments, code=code)


@pytest.fixture
def measured(measure):
    """measured(*arguments): the JSON of a measurement that went well, alone on stdout."""
    return lambda *arguments: json.loads(measure("--runs=2", "--json=-", *arguments).out)


def test_cold_runs_read_and_warm_runs_do_not(measured, program):
    """From cold the program's pages are read, each time; from warm none are, and none fault."""
    cold, warm = measured("--", program)["results"]
    for run in cold["runs"]:
        file = run["files"][str(program)]
        assert (run["label"], file["resident_pages_before"]) == ("selectively cold", 0)
        assert file["read_bytes"] > 100_000 and file["read_runs"] >= 1
    for run in warm["runs"]:
        assert run["files"][str(program)]["read_bytes"] == run["major_faults"] == 0


@needs("drop-caches", "quiet-page-cache", "strace")
def test_everything_is_dropped(measured, program):
    """From cold also what nobody named is gone, and what others hold is told: their C library."""
    other = shutil.copy(shutil.which("cat"), program.parent / "other")
    (result,) = measured("--cold", "--warmup=0", "--", program)["results"]
    assert pagecache.residency(other).resident_pages == 0
    assert [run["files"][str(program)]["resident_pages_before"] for run in result["runs"]] == [0, 0]
    assert any("libc" in os.path.basename(file["path"]) for file in result["stayed"])


def test_variants_are_compared(measured, program, monkeypatch):
    """Each variant's own binary, a file and not PATH's, is run; the first one is the base."""
    monkeypatch.chdir(program.parent)
    monkeypatch.setenv("PATH", f"{program.parent}/bin{os.pathsep}{os.environ['PATH']}")
    (program.parent / "bin").mkdir()
    (program.parent / "bin/app").symlink_to("/bin/false")
    shutil.copy(program, "copy")
    document = measured("--selectively-cold", "--compare-output=-", "--variant=one=app",
                        f"--variant=two={program.parent}/copy", "--", "{}")
    assert [list(result["runs"][0]["files"]) for result in document["results"]] == [
        ["./app"], [f"{program.parent}/copy"]]
    (comparison,) = document["comparisons"]
    assert (comparison["base"], comparison["variant"]) == ("one", "two")
    assert comparison["low"] <= comparison["estimate"] <= comparison["high"]


def test_outputs_that_differ_fail_the_verdict(measure, program, tmp_path):
    """--compare-output: exit 1, after all was measured; the table alone is on stdout."""
    shutil.copy(program, tmp_path / "copy")
    result = measure("--runs=1", "--compare-output=-", f"--variant=one={program}",
                     f"--variant=two={tmp_path}/copy", "--", "{}", "name", code=1)
    assert "warning: stdout: is not the same in all runs" in result.err
    assert all(line.startswith("frontload: ") for line in result.err.splitlines())
    assert "warm, 1 run of each:" in result.out


def test_a_failing_program_is_an_error(measure, program):
    """Exit 1 with what the program said, and with --ignore-failure a warning."""
    result = measure("--", program, "fail", code=1)
    assert "error: " in result.err and "exited with status 3: no luck" in result.err
    result = measure("--runs=2", "--ignore-failure", "--", program, "fail")
    assert "2 of 2 runs failed" in result.err


def test_what_cannot_be_evicted_is_refused(measure, measured, program, spawn):
    """A running program's pages stay: exit 2 and no figures, or a label with --allow-warm."""
    assert spawn(program, "hang").stdout.readline() == "ready\n"
    result = measure("--", program, code=2)
    assert "pages stayed in the page cache: mapped by app " in result.err
    assert "frontload: note: --allow-warm" in result.err
    assert result.out == ""
    cold, warm = measured("--allow-warm", "--", program)["results"]
    assert {cold["label"], *(run["label"] for run in cold["runs"])} == {"not cold"}
    assert warm["label"] == "warm"


@needs("eviction", "tmp-on-disk")
def test_other_files_can_be_evicted_instead(measured, tmp_path):
    """--evict names the files, for programs whose bulk is in a library or in data."""
    data = tmp_path / "data"
    data.write_bytes(os.urandom(1 << 20))
    cat = shutil.copy(shutil.which("cat"), tmp_path)  # what is root's, others cannot observe
    document = measured("--selectively-cold", "--evict", data, "--evict", "{}", "--", cat, data)
    files = document["results"][0]["runs"][0]["files"]
    assert set(files) == {str(data), str(cat)}
    assert files[str(data)]["read_bytes"] == 1 << 20


def test_a_script_is_told_to_be_one(measure, tmp_path):
    """Evicting a script leaves its interpreter warm, which a user may not expect."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    result = measure("--runs=1", "--allow-warm", "--", script)
    assert f"warning: {script}: is a script" in result.err


@pytest.mark.parametrize("arguments, message", [
    (["--runs=0", "--", "true"], "not a number from 1 up"),
    (["--variant=x", "--", "{}"], "is not NAME=BINARY"),
    (["--variant=x=/bin/sh", "--", "sh"], "the command has no {}"),
    (["--variant=x=/bin/sh", "--variant=x=/bin/ls", "--", "{}"], "same name"),
    (["--device=floppy", "--", "true"], "'floppy' is not one of hdd, emmc, ssd, nfs, lazy, custom"),
    (["--device=hdd", "--device-iops=100", "--", "true"], "are for --device custom"),
    (["--device=custom", "--device-iops=9", "--", "true"], "not a number from 10 up"),
    (["--device=custom", "--device-bandwidth=80MG", "--", "true"], "bytes from 10M up"),
    (["--read-ahead=16", "--", "true"], "are for --device"),
    (["--beside=/bin/sh", "--", "true"], "are for --device"),
    (["--", "./no-such-program"], "./no-such-program: is not a program"),
    (["--evict=/no/such/file", "--", "true"], "/no/such/file: No such file"),
    (["--evict=/tmp", "--", "true"], "/tmp: is not a regular file"),
    ([], "COMMAND"),
])
def test_wrong_arguments(measure, arguments, message):
    """Exit 2 and a sentence, before anything is run."""
    assert message in measure(*arguments, code=2).err


def test_an_interrupt_while_the_command_starts(monkeypatch):
    """A signal that arrives before the new process has a name in here still ends that process."""
    started = []

    class Interrupted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        Launcher().run(["sleep", "600"])
    assert started[0].returncode is not None


@pytest.fixture
def hanging(build, program, tmp_path, spawn):
    """A measurement whose command has begun, and will not end; and the command's process id."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "tmp").mkdir()
    shell = shutil.copy(shutil.which("sh"), tmp_path)  # what is root's, others cannot observe
    process = spawn(build / "bin/frontload", "measure", "--", shell, "-c",
                    f"echo $$ >'{tmp_path}/fifo'; exec '{program}' hang",
                    env={**os.environ, "TMPDIR": f"{tmp_path}/tmp"})
    return process, int(line_of(tmp_path / "fifo", process))


@needs("program:setpriv")
def test_a_killed_measurement_ends_the_command(hanging):
    """Nobody can handle SIGKILL, and the measured program is gone all the same."""
    process, pid = hanging
    end = os.pidfd_open(pid)
    try:
        process.kill()
        assert select.select([end], [], [])[0] == [end]
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(end, signal.SIGKILL)
        os.close(end)


def test_an_interrupt_ends_the_command(hanging, tmp_path):
    """Ctrl-C: exit 130, and the measured program is gone, with the scratch folder."""
    process, pid = hanging
    process.send_signal(signal.SIGINT)
    assert process.communicate() and process.returncode == 130
    assert not Path("/proc", str(pid)).exists()
    assert list((tmp_path / "tmp").iterdir()) == []
