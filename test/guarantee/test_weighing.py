"""What a link weighs a front by: the starts that it foretells are those that there would be."""

import json
from dataclasses import replace

import pytest
from built import Bench, train
from frontload.profile import format as profile
from generated import TASTES, make
from reading import predicted

PROGRAMS = 12  # of each taste
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
