"""bench/gains: continuing, rows without a front, and the page."""

import json
from pathlib import Path

import pytest
from bench_room import read_json
from coldbench import gains
from coldbench.__main__ import main as bench
from frontload.base.errors import EXIT_OK

LIST = """
[app]
program = "src/app"
start = "{} -c 'echo hello'"
other = "env X=1 {} --fast"
train = "make check"
libraries = "lib/*/.libs"
note = "Its suite is small."
[bare]
program = "bare"
start = "{} 1"
other = "{} 2"
train = "true"
[serve]
program = "serve"
start = "{} 1"
other = "{} 2"
ready = "--until-listening=1"
options = "nolto"
build = "make serve"
train = "make check"
[idle]
program = "idle"
start = "{} 1"
other = "{} 2"
train = "make unit-tests"
[huge]
left_out = "8 MB. Hours."
"""


def _figures(faults: int, megabytes: float) -> dict:
    return {"major_faults": {"median": faults}, "read_bytes": {"median": megabytes * 1e6},
            "max_rss_bytes": {"median": 3e6}}


def _tried(program: str, verdict: str, libraries: list[dict], runs: int = 1234) -> str:
    return json.dumps({
        "predicted": {name: {"hdd": {"seconds": seconds}, "ssd": {"seconds": 1}}
                      for name, seconds in (("before", 0.2), ("after", 0.05))},
        "verdict": verdict, "trained_runs": runs, "program": f"/b/src/{program}",
        "output": f"/b/src/{program}.front", "libraries": libraries})


TRIED = {
    "app": _tried("app", "worth it: much", [
        {"name": "libapp.so", "path": "/b/lib/libapp.so",
         "output": "/b/src/app.front.lib/libapp.so"}]),
    "idle": _tried("idle", "worth it: much", [], runs=0),
    "serve": _tried("serve", "not worth it: 4 requests", [])}


@pytest.fixture
def done(tmp_path, monkeypatch):
    """What the clean systems had to do: app gets a front, bare none, and serve a bad one."""
    commands = []

    class System:
        def __init__(self, folder):
            self.folder = folder

        def source(self, package, log):
            layer = tmp_path / package
            layer.joinpath("upper/build").mkdir(parents=True, exist_ok=True)
            layer.joinpath("upper/build/a.dsc").write_text("Version: 1-1\n")
            return layer

        def recorders(self, log):
            return tmp_path

        def make_launchers(self, folder, source, text):
            assert "--link-log" in text

        def layer(self, name, script, *words, log, binds, **more):
            made = self.folder / name
            if made.exists():
                return made
            made.mkdir(parents=True)
            commands.append((name, words))
            if name == "bare/gains/tried":
                log.write_text("frontload: error: bare: is linked by magic\n")
            elif name.endswith("/tried"):
                (out,) = (path for path, place in binds.items() if place == "/out")
                (out / "auto.json").write_text(TRIED[name.partition("/")[0]])
            return made

        def run(self, layers, upper, script, *words, log, binds, **more):
            upper.mkdir()
            commands.append((upper.name, words))
            (out,) = (path for path, place in binds.items() if place == "/out")
            if "losetup" in script:
                (out / words[0]).write_text("before 30\nafter 3\n")
                return 0
            name = next(word.rpartition("/")[2] for word in words if word.startswith("--json="))
            hdd = "--device=hdd" in words
            most = 2.5 if any(word.endswith("/serve") for word in words) else 1.5
            (out / name).write_text(json.dumps({
                "comparisons": [{"estimate": 0.5 if hdd else 0.9, "low": 0.4, "high": 0.95}],
                "results": [{"variant": "before", "figures": _figures(20, most)},
                            {"variant": "after", "figures": _figures(5, 0.5)}]}))
            return 0

    monkeypatch.setattr(gains, "CleanSystem", System)
    monkeypatch.setattr(gains, "packaged", lambda packages, folder: folder)
    (tmp_path / "gains.toml").write_text(LIST)
    monkeypatch.setattr(gains, "_LIST", tmp_path / "gains.toml")
    return commands


def _run(tmp_path: Path, *options: str) -> str:
    result = tmp_path / "result.json"
    assert bench(["gains", *options, f"--work-dir={tmp_path / 'work'}", f"--json={result}"]) == (
        EXIT_OK)
    return result.with_suffix(".md").read_text()


def test_a_program_without_a_front_counts(tmp_path, done):
    page = _run(tmp_path, "app", "bare")
    rows = read_json(tmp_path / "result.json", "frontload-gains/1")["rows"]
    assert [row["package"] for row in rows] == ["app", "bare"]
    assert "| trained: median | 0.62 | 0.55 | 0.67 | 1.00 | 0.75 | 0.95 | 0.56 |" in page
    assert "| other: worst | 1.00 (bare) | 1.00 (bare) | 1.00 (bare) | 1.00 (bare) |" in page
    assert "| trained, worth it: worst | 0.25 (app) | 0.10 (app) |" in page
    assert "auto found 1 of the fronts *worth it*." in page
    assert "* **bare**: auto: bare: is linked by magic." in page
    assert "* **huge**: 8 MB. Hours." in page
    assert ("| app 1-1 | 1,234 | trained: `app -c 'echo hello'` | 20 → 5 | 30 → 3 | 1.5 → 0.50 "
            "| 3.0 → 3.0 | 0.50 (0.40 to 0.95) | 0.90 (0.40 to 0.95) | 219 → 26 |\n"
            "|  |  | other: `env X=1 app --fast` |") in page


def test_the_libraries_of_the_build_are_cold_and_have_their_fronts(tmp_path, done):
    _run(tmp_path, "app")
    words, *_, last = [words for name, words in done if words[0].startswith("--json")]
    assert "--ignore-failure" not in words  # a start that fails is not the one that is meant
    assert {"--evict={}", "--evict=/b/lib/libapp.so", "--evict=/b/src/app.front.lib/libapp.so",
            "--variant=after=/b/src/app.front"} < set(words)
    assert words[-5:] == ("env", "LD_LIBRARY_PATH={}.lib:/b/lib", "{}", "-c", "echo hello")
    counted = next(words for _, words in done if words[0] == "other-counted")
    assert "cp /b/src/app.front.lib/libapp.so $device/after/lib/libapp.so" in counted[1]
    assert counted[2] == ("env X=1 env LD_LIBRARY_PATH=$device/$variant/lib "
                          "$device/$variant/app --fast")
    assert last[-6:] == ("env", "X=1", "env", "LD_LIBRARY_PATH={}.lib:/b/lib", "{}", "--fast")


def test_a_run_is_continued(tmp_path, done):
    """What is built is not built again, and the rows of other programs stay."""
    _run(tmp_path, "app", "--only-build")
    assert read_json(tmp_path / "result.json", "frontload-gains/1")["rows"] == []
    built = list(done)
    assert [name for name, _ in built] == ["app/gains/built", "app/gains/tried"]
    assert built[0][1] == ("2", "", "dpkg-buildpackage -T clean,build-arch")
    assert built[1][1] == ("make check", "lib/*/.libs", "", "./src/app", "-c", "echo hello")
    _run(tmp_path, "app")
    measured = list(done)
    assert [name for name, _ in measured[len(built):]] == ["measured"] * 6
    _run(tmp_path, "app")
    assert done == measured
    assert "| app 1-1 |" in _run(tmp_path, "bare")


def test_a_server_does_not_end_and_a_bad_front_is_explained(tmp_path, done):
    page = _run(tmp_path, "serve")
    assert "## Explained\n\n* **serve**: auto: not worth it: 4 requests.\n" in page
    assert done[0] == ("serve/gains/built", ("2", "nolto", "make serve"))
    assert {"--until-listening=1", "--ignore-failure"} < set(done[2][1])


def test_a_suite_that_does_not_start_the_program_gives_no_row(tmp_path, done, capsys):
    page = _run(tmp_path, "idle", "app")
    assert "idle: its test suite did not start idle" in capsys.readouterr().err
    assert "| app 1-1 |" in page and "| idle 1-1 |" not in page


def test_a_kept_row_names_its_machine(tmp_path, done):
    _run(tmp_path, "serve")
    result = tmp_path / "result.json"
    result.write_text(result.read_text().replace('"processors": ', '"processors": 9'))
    page = _run(tmp_path, "app")
    assert page.index("| serve 1-1 |") < page.index("| app 1-1 |")  # whose start reads less
    assert "**serve**: auto: not worth it: 4 requests. Measured before, on " in page
    assert page.count("Measured before") == 1 and "app**: Measured" not in page
