"""What a link weighs a front by: the starts that it foretells are those that there would be."""

import json
import subprocess
from dataclasses import replace

import pytest
from built import LD_FRONTLOAD, Bench, run, train
from frontload.profile import format as profile
from generated import TASTES, make
from places import ALL
from reading import predicted

pytestmark = pytest.mark.spread
PROGRAMS = 12 if ALL else 4  # of each taste
# The plan knows how much of a part is touched, but seldom where: a window more or less, or a third.
_WINDOW, _SHARE = 128 << 10, 0.33


@pytest.mark.parametrize("taste", ["functions", "tables", "blobs", "sections", "flags"])
def test_the_file_without_a_front_is_foretold(tmp_path, taste):
    """Of programs with one run, which is all known: what it reads of the file that lld writes."""
    told = []
    for seed in range(60_000, 60_000 + PROGRAMS):
        program = make(seed, TASTES[taste])
        program = replace(program, runs=program.runs[:1])
        folder = tmp_path / str(seed)
        folder.mkdir()
        bench, link_map = Bench(folder, program), folder / "map"
        plain = bench.plain(f"-Map={link_map}")
        startup, report = folder / "app.startup", folder / "report"
        startup.write_bytes(profile.to_bytes(train(plain, link_map, folder)))
        bench.front(startup, "--front-always", f"--front-report={report}")
        starts = json.loads(report.read_text())["starts"]
        if not starts:
            continue  # it is read at once
        found, = predicted(plain.path, [plain.trace(folder / "trace", 0)])
        told.append((starts[0]["plain"]["bytes"], found.bytes, seed))
        assert starts[0]["plain"]["bytes"] == pytest.approx(
            found.bytes, rel=_SHARE, abs=_WINDOW), (seed, program.describe())
    assert len(told) >= PROGRAMS / 2
    off = [abs(plan - real) / real for plan, real, _ in told]
    assert sorted(off)[len(off) // 2] < 0.1, told


@pytest.mark.parametrize("kept", [True, False], ids=["kept runs", "counts alone"])
def test_a_run_without_data_used_some(tmp_path, kept):
    """Of two runs one recorded data: one in five pages of constants. That the other recorded none
    does not say that it used none, and reads a front that is prefetched for nothing."""
    pages, hot = 1000, range(0, 1000, 5)
    constants = "".join(f'.section .rodata.c{i},"a"\n.globl c{i}\n.type c{i}, @object\n'
                        f".size c{i}, 4096\nc{i}: .fill 4096, 1, {i % 255 + 1}\n"
                        for i in range(pages))
    source = tmp_path / "app.s"
    source.write_text(f".globl _start\n.type _start, @function\n_start: ret\n.size _start, 1\n"
                      f"{constants}")
    run("as", "-o", "app.o", "app.s", folder=tmp_path)
    header = "kept-runs 000000000001:1:data 000000000002:1\n" if kept else ""
    lines = "".join(f"data\trodata\t1\t+1\t4096\tc{page}\n" for page in hot)
    startup = tmp_path / "app.startup"
    startup.write_text(f"frontload-startup-profile {5 if kept else 2}\nprogram app\nruns 2\n"
                       f"data-runs 1\n{header}function\ttext\t2\t+1\t-\t_start\n{lines}")
    done = subprocess.run([LD_FRONTLOAD, "-o", tmp_path / "app", tmp_path / "app.o", "-pie",
                           "--dynamic-linker=/lib64/ld-linux-x86-64.so.2", "--front-prefetch",
                           f"--startup-profile={startup}"], capture_output=True, text=True,
                          check=True)
    assert "without a front" not in done.stderr
