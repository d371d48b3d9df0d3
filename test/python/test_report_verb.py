"""frontload report: from recorded starts, or from programs that it starts, to the page."""

import json
import os
import shutil

import pytest
from abilities import needs
from compiled import compile_to
from faults_writer import FaultsWriter, plain_file

pytestmark = pytest.mark.usefixtures("tools")


@pytest.fixture
def starts(tmp_path):
    """Two files with recorded starts of programs that are not there."""
    paths = []
    for name, faults in (("app", 3), ("app.front", 1)):
        file = plain_file(f"/opt/{name}", sections=[(".text", 4096, 8192)], before="", after="0+4")
        writer = FaultsWriter(file, command=(file["path"],), variant=name,
                              condition="selectively cold").phase("main")
        for page in range(faults):
            writer.major(0, 4096 * page)
        paths.append(tmp_path / f"{name}.faults.json")
        paths[-1].write_bytes(writer.to_bytes())
    return paths


def test_page_of_recorded_starts(cli, starts, tmp_path):
    """The page has them in the order and by the names that were given, or were recorded."""
    page = tmp_path / "report.html"
    arguments = ("report", "-o", page, f"before={starts[0]}", f"after={starts[1]}", "--title",
                 "What changed")
    cli(*arguments)
    status = os.stat(page)
    cli(*arguments)
    assert os.stat(page).st_ino == status.st_ino
    text = page.read_text()
    assert "<title>What changed</title>" in text
    assert text.index("<b><bdi>after</bdi></b> starts selectively cold with 1 major fault") \
        < text.index("<b><bdi>before</bdi></b> needs 3 major faults")
    odd = starts[0].rename(tmp_path / "a=b.json")  # is a path, and no name
    document = json.loads(cli("report", "--json", "-", odd, starts[1]).out)
    assert document["schema"] == "frontload-report/1"
    assert [variant["name"] for variant in document["variants"]] == ["app", "app.front"]


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (["{0}"], 2, "say what to write"),
    (["-o", "x.html", "--keep", "folder", "{0}"], 2, "are for starts that are recorded now"),
    (["-o", "x.html", "--device", "hdd", "{0}"], 2, "are for starts that are recorded now"),
    (["-o", "x.html", "{0}", "{0}"], 2, "two variants have the same name"),
    (["-o", "x.html", "missing.json"], 2, "missing.json: No such file"),
    (["-o", "x.html", "{0}", "{bad}"], 65, "bad.json: not a recorded start"),
    (["-o", "x.html", "{0}", "{text}"], 65, "not JSON"),
    (["-o", "x.html", "--traces", "{empty}", "{0}"], 2, "has no traces"),
    (["-o", "x.html", "--variant", "a=/bin/true", "--", "/bin/true"], 2, "has no {}"),
    (["-o", "x.html", "--variant", "a=/nowhere", "--", "{}"], 2, "is not a program"),
])
def test_refusals(cli, starts, tmp_path, monkeypatch, arguments, code, message):
    """What cannot be reported is refused with a reason, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text("{}")
    (tmp_path / "text.json").write_text("no")
    (tmp_path / "empty").mkdir()
    values = {"{0}": starts[0], "{bad}": tmp_path / "bad.json", "{text}": tmp_path / "text.json",
              "{empty}": tmp_path / "empty"}
    result = cli("report", *(values.get(each, each) for each in arguments), code=code)
    assert message in result.err
    assert not (tmp_path / "x.html").exists()


@pytest.fixture(scope="module")
def programs(tmp_path_factory, llvm):
    """A program, and one that touches less of itself."""
    folder, made = tmp_path_factory.mktemp("programs"), []
    for name, touched in (("plain", 300_000), ("small", 10)):
        text = ("static const volatile int table[400000] = {1};\nint main(void) {\n"
                f"  for (int i = 0; i < {touched}; i += 1024)\n"
                "    if (table[i] > 1) return 1;\n  return 0;\n}\n")
        made.append(compile_to(folder / name, llvm / "clang", "-fuse-ld=lld", "a.c",
                               sources={"a.c": text}))
    return made


@needs("perf", "eviction", "tmp-on-disk")
def test_one_step(cli, programs, tmp_path):
    page, kept = tmp_path / "report.html", tmp_path / "kept"
    cli("report", "-o", page, "--keep", kept, "--variant", f"before={programs[0]}", "--variant",
        f"a/b={programs[1]}", "--", "{}")
    assert sorted(path.name for path in kept.iterdir()) == ["a_b.faults.json", "before.faults.json"]
    again = tmp_path / "again.html"
    cli("report", "-o", again, kept / "before.faults.json", kept / "a_b.faults.json")
    assert again.read_bytes() == page.read_bytes()
    document = json.loads(cli("report", "--json", "-", kept / "before.faults.json").out)
    [variant] = document["variants"]
    program = next(file for file in variant["files"] if file["path"] == str(programs[0]))
    assert program["read_bytes"] > 1_000_000
    assert variant["summary"]["major_faults"] > 0 or variant["missing"]
    false = shutil.copy("/bin/false", tmp_path)
    failed = cli("report", "-o", tmp_path / "x.html", "--variant", f"a={false}", "--", "{}",
                 code=1)
    assert "exited with status 1" in failed.err and not (tmp_path / "x.html").exists()


@needs("perf", "loop-devices")
def test_one_step_on_a_device(cli, programs, tmp_path):
    """With --device each start is on such a device, and the page says so."""
    data, page = tmp_path / "report.json", tmp_path / "report.html"
    cli("report", "--json", data, "-o", page, "--device", "nfs", "--variant", f"a={programs[1]}",
        "--", "{}")
    [variant] = json.loads(data.read_text())["variants"]
    assert variant["device"].startswith("nfs: ") and "on a device of its own" in page.read_text()
    program = next(file for file in variant["files"] if file["path"] == str(programs[1]))
    assert program["read_bytes"] > 0


@needs("eviction", "tmp-on-disk")
def test_without_perf_the_totals_are_reported(cli, programs, tmp_path, monkeypatch):
    """Where single faults cannot be recorded the kernel's totals remain, and a warning says why."""
    (tmp_path / "perf").write_text("#!/bin/sh\nexit 255\n")
    (tmp_path / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = cli("report", "--json", tmp_path / "report.json", "--variant", f"a={programs[1]}", "--",
               "{}").err
    assert "a: not recorded: faults, fills, requests and phases: perf does not run" in said
    [variant] = json.loads((tmp_path / "report.json").read_text())["variants"]
    assert variant["summary"]["minor_faults"] > 20 and variant["events"]["kind"] == ""
