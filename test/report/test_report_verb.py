"""frontload report: from recorded starts, or from programs that it starts, to the page."""

import json
import os
import shutil

import pytest
from frontload.device import cold_device


def recorded(name, program="/opt/app", faults=3):
    """A recorded start (frontload-faults/1) of a program that is not there."""
    rows = list(range(faults))
    return {
        "schema": "frontload-faults/1", "frontload": "0.1.0", "host": {"kernel": "Linux 6.18"},
        "command": [program, "--version"], "variant": name, "condition": "selectively cold",
        "recorder": {"tool": "perf 6.1", "events": [], "lost": 0}, "missing": [],
        "sample": {"wall_ns": 9_000_000, "max_rss_kib": 2000}, "until": None,
        "files": [{"path": program, "size": 40960, "build_id": None, "file_system": "ext4",
                   "read_ahead_kib": 128, "page_size": 4096,
                   "sections": [{"name": ".text", "offset": 4096, "size": 8192, "address": 4096}],
                   "segments": [], "before": "", "after": "0+4"}],
        "processes": [{"pid": 7, "parent": None, "command": "app", "start_ns": 0,
                       "end_ns": 9_000_000}],
        "phases": [{"process": 0, "name": "main", "start_ns": 0, "end_ns": 9_000_000}],
        "faults": {"time_ns": [1_000_000 * row for row in rows], "major": [1] * faults,
                   "file": [0] * faults, "offset": [4096 * row for row in rows],
                   "address": [4096 * row for row in rows], "code_file": [-1] * faults,
                   "code_offset": [-1] * faults, "process": [0] * faults, "thread": [7] * faults,
                   "kernel": [0] * faults, "access": "x" * faults},
        "fills": None, "requests": None}


@pytest.fixture
def starts(tmp_path):
    """Two files with recorded starts."""
    paths = []
    for name, faults in (("app", 3), ("app.front", 1)):
        paths.append(tmp_path / f"{name}.faults.json")
        paths[-1].write_text(json.dumps(recorded(name, f"/opt/{name}", faults)))
    return paths


def test_page_of_recorded_starts(frontload, starts, tmp_path):
    """The page has the starts in the order and by the names that were given."""
    page = tmp_path / "report.html"
    frontload("report", "-o", page, f"before={starts[0]}", f"after={starts[1]}",
              "--title", "What changed")
    text = page.read_text()
    assert "<title>What changed</title>" in text
    assert text.index("<b><bdi>after</bdi></b> starts selectively cold with 1 major fault") \
        < text.index("<b><bdi>before</bdi></b> needs 3 major faults")


def test_names_of_the_recordings(frontload, starts, tmp_path):
    """Without names the variants are called as they were recorded, also if a path has a =."""
    odd = starts[0].rename(tmp_path / "a=b.json")
    document = json.loads(frontload("report", "--json", "-", odd, starts[1]).stdout)
    assert document["schema"] == "frontload-report/1"
    assert [variant["name"] for variant in document["variants"]] == ["app", "app.front"]


def test_the_same_recordings_give_the_same_page(frontload, starts, tmp_path):
    """A page that would not change is left alone."""
    page = tmp_path / "report.html"
    frontload("report", "-o", page, *starts)
    before = os.stat(page)
    frontload("report", "-o", page, *starts)
    assert os.stat(page).st_ino == before.st_ino


def test_pictures(frontload, starts, tmp_path):
    """Each picture is exported as PNG and SVG."""
    frontload("report", "--export", tmp_path / "pictures", *starts)
    written = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert {"faults.light.png", "faults.dark.svg", "phases.light.svg"} <= written


def test_measurement_and_prediction(frontload, starts, tmp_path):
    """What frontload measure and frontload predict wrote is part of the page."""
    measured, predicted = tmp_path / "m.json", tmp_path / "p.json"
    measured.write_text(json.dumps({
        "schema": "frontload-measure/2", "comparisons": [], "costs": [], "results": [
            {"variant": "app", "condition": "cold", "label": "cold",
             "figures": {"wall_ns": {"mean": 5e6, "low": 4e6, "high": 6e6}}}]}))
    predicted.write_text(json.dumps({"schema": "frontload-predict/1", "predictions": [
        {"trace": "a.fltrace", "devices": {"hdd": {"seconds": 1.5, "requests": 9}}}]}))
    page = tmp_path / "report.html"
    frontload("report", "-o", page, "--measure", measured, "--prediction", f"app={predicted}",
              *starts)
    assert "5.00 ms (4.00 ms to 6.00 ms)" in page.read_text()
    assert "1.50 s" in page.read_text()
    result = frontload("report", "-o", page, "--prediction", f"other={predicted}", *starts, code=2)
    assert "there is no variant 'other'" in result.stderr


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (["{0}"], 2, "say what to write"),
    (["-o", "x.html", "--keep", "folder", "{0}"], 2, "are for starts that are recorded now"),
    (["-o", "x.html", "--device", "hdd", "{0}"], 2, "are for starts that are recorded now"),
    (["-o", "x.html", "{0}", "{0}"], 2, "two variants have the same name"),
    (["-o", "x.html", "missing.json"], 2, "missing.json: No such file"),
    (["-o", "x.html", "{bad}"], 65, "not a recorded start"),
    (["-o", "x.html", "{0}", "{bad}"], 65, "bad.json: not a recorded start"),
    (["-o", "x.html", "--measure", "{bad}", "{0}"], 65, "does not have the schema"),
    (["-o", "x.html", "--measure", "{text}", "{0}"], 65, "not JSON"),
    (["-o", "x.html", "--traces", "{empty}", "{0}"], 2, "has no traces"),
    (["-o", "x.html", "--variant", "a=/bin/true", "--", "/bin/true"], 2, "has no {}"),
    (["-o", "x.html", "--variant", "a=/nowhere", "--", "{}"], 2, "is not a program"),
])
def test_refusals(frontload, starts, tmp_path, arguments, code, message):
    """What cannot be reported is refused with a reason, and nothing is written."""
    (tmp_path / "bad.json").write_text("{}")
    (tmp_path / "text.json").write_text("no")
    (tmp_path / "empty").mkdir()
    values = {"{0}": starts[0], "{bad}": tmp_path / "bad.json", "{text}": tmp_path / "text.json",
              "{empty}": tmp_path / "empty"}
    result = frontload("report", *(values.get(each, each) for each in arguments), code=code,
                       cwd=tmp_path)
    assert message in result.stderr
    assert not (tmp_path / "x.html").exists()


@pytest.fixture
def programs(tmp_path, llvm, run):
    """A program, and one that touches less of itself."""
    made = []
    for name, touched in (("plain", 300_000), ("small", 10)):
        source = tmp_path / f"{name}.c"
        source.write_text("static const volatile int table[400000] = {1};\nint main(void) {\n"
                          f"  for (int i = 0; i < {touched}; i += 1024)\n"
                          "    if (table[i] > 1) return 1;\n  return 0;\n}\n")
        made.append(tmp_path / name)
        run(llvm / "clang", "-fuse-ld=lld", source, "-o", made[-1])
    return made


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_one_step(frontload, programs, tmp_path):
    """Programs are evicted, started and reported; what was recorded is kept, and makes the same
    page."""
    page, kept = tmp_path / "report.html", tmp_path / "kept"
    frontload("report", "-o", page, "--keep", kept, "--variant", f"before={programs[0]}",
              "--variant", f"a/b={programs[1]}", "--", "{}")
    assert sorted(path.name for path in kept.iterdir()) == ["a_b.faults.json", "before.faults.json"]
    again = tmp_path / "again.html"
    frontload("report", "-o", again, kept / "before.faults.json", kept / "a_b.faults.json")
    assert again.read_bytes() == page.read_bytes()
    document = json.loads(frontload("report", "--json", "-", kept / "before.faults.json").stdout)
    [variant] = document["variants"]
    program = next(file for file in variant["files"] if file["path"] == str(programs[0]))
    assert program["read_bytes"] > 1_000_000
    assert variant["summary"]["major_faults"] > 0 or variant["missing"]


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
@pytest.mark.skipif(cold_device.obstacle() is not None, reason="there can be no loop device here")
def test_one_step_on_a_device(frontload, programs, tmp_path):
    """With --device each start is on such a device, and the page says so."""
    data, page = tmp_path / "report.json", tmp_path / "report.html"
    frontload("report", "--json", data, "-o", page, "--device", "nfs", "--variant",
              f"a={programs[1]}", "--", "{}")
    [variant] = json.loads(data.read_text())["variants"]
    assert variant["device"].startswith("nfs: ") and "on a device of its own" in page.read_text()
    program = next(file for file in variant["files"] if file["path"] == str(programs[1]))
    assert program["read_bytes"] > 0


def test_without_perf_the_totals_are_reported(frontload, programs, tmp_path):
    """Where single faults cannot be recorded the kernel's totals remain, and a warning says why."""
    (tmp_path / "perf").write_text("#!/bin/sh\nexit 255\n")
    (tmp_path / "perf").chmod(0o755)
    result = frontload("report", "--json", tmp_path / "report.json", "--variant",
                       f"a={programs[1]}", "--", "{}",
                       env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert "a: not recorded: faults, fills, requests and phases: perf does not run" in result.stderr
    [variant] = json.loads((tmp_path / "report.json").read_text())["variants"]
    assert variant["summary"]["minor_faults"] > 20 and variant["events"]["kind"] == ""


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_a_start_that_fails(frontload, tmp_path):
    """A start that fails is not reported."""
    program = tmp_path / "fails"
    shutil.copy("/bin/false", program)
    result = frontload("report", "-o", tmp_path / "x.html", "--variant", f"a={program}", "--", "{}",
                       code=1)
    assert "exited with status 1" in result.stderr
    assert not (tmp_path / "x.html").exists()
