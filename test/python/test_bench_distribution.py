"""bench/distribution: links, counting tests, continuing, judging, and the page."""

import json
import re
import subprocess
from random import Random

import pytest
from bench_room import read_json
from coldbench import distribution
from coldbench.__main__ import main as bench
from coldbench.judge import distribution as judge
from coldbench.measure import built, test_counts
from coldbench.show import distribution_page
from frontload.base.errors import EXIT_OK
from linking import check_run
from places import ROOT


@pytest.mark.parametrize("runner, log, passed, failed, skipped, failures", [
    ("automake", "PASS: a\nFAIL: b.sh\n# TOTAL: 5\n# PASS:  2\n# SKIP:  1\n# XFAIL: 1\n# FAIL:  1\n"
     "# XPASS: 0\n# ERROR: 0\n", 3, 1, 1, ["b.sh"]),
    ("autotest", "  1: first                ok\n  2: second one   FAILED (a.at:7)\n"
     "  3: third   skipped (a.at:9)\n 4: fourth   ok    (1m 2.3s)\n", 2, 1, 1, ["second one"]),
    ("meson", " 3/4 unit / io     FAIL            0.05s   exit status 1\nOk:                 2   \n"
     "Expected Fail:      1   \nFail:               1   \nSkipped:            0   \n",
     3, 1, 0, ["unit / io"]),
    ("ctest", "90% tests passed, 1 tests failed out of 10\n\t  7 - io (Failed)\n", 9, 1, 0, ["io"]),
    ("pytest", "FAILED t.py::b - assert\n== 1 failed, 5 passed, 2 skipped in 0.1s ==\n", 5, 1, 2,
     ["t.py::b"]),
    ("unittest", "Ran 9 tests in 0.1s\n\nFAILED (failures=1)\nFAIL: test_b (m.T)\n", 8, 1, 0,
     ["test_b (m.T)"]),
    ("cargo", "test a ... ok\ntest b::c ... FAILED\n"
     "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
     1, 1, 0, ["b::c"]),
    ("tcltest", "==== io-1.2 reads FAILED\nall.tcl:\tTotal\t9\tPassed\t7\tSkipped\t1\tFailed\t1\n",
     7, 1, 1, ["io-1.2"]),
    ("TAP", "ok 1 - a\nnot ok 2 - b\nok 3 # SKIP no\nnot ok 4 # TODO later\n", 1, 1, 1, ["b"]),
    ("dejagnu", "FAIL: x\n# of expected passes\t\t12\n# of unexpected failures\t1\n", 12, 1, 0, []),
    ("check", "98%: Checks: 50, Failed: 1\n", 49, 1, 0, []),
    ("prove", "ok 1 - a\nFiles=2, Tests=7,  1 wallclock secs\n", 7, 0, 0, []),
    ("go", "ok  \tpkg/a\t0.1s\nFAIL\tpkg/b\t0.1s\n", 1, 1, 0, ["pkg/b"]),
    ("make", "features/a ........ ok     (4 passed)\n4 Tests in 1 Categories Complete ... No "
     "Failures :-)\nfeatures/b ........ FAILED (6/7 passed)\n\n1 Test in 1 Category Failed (See "
     ".diff* files in work dir for details) :-(\n", 4, 1, 0, ["features/b"]),
    ("bash", "run-a\nrun-b\nwarning: some of these\n3,4d3\n< y\nrun-c-d\nwarning: no\n", 2, 1, 0,
     ["b"]),
    ("lines", "checking for x... ok\nmake -j1 test\nfirst: ok\nsecond: failed\n[ok]: third\n",
     2, 1, 0, ["second:"]),
    ("lines", "gcc: ok\n   debian/rules override_dh_auto_test\nall completed successfully.\n",
     1, 0, 0, [])])
def test_what_a_log_counts(runner, log, passed, failed, skipped, failures):
    """Colors and other lines make no difference."""
    counted = test_counts.count(f"gcc -c a.c\n\x1b[32m{log}\x1b[0mdh_strip -a\n")
    assert list(counted["runners"]) == [runner]
    outcomes = counted["runners"][runner]
    assert [outcomes.get(name, 0) for name in ("passed", "failed", "skipped")] == [
        passed, failed, skipped]
    assert counted["failures"] == failures


@pytest.mark.parametrize("log", [
    "dh_auto_build\ncheck: ok\n", "make install will double-check the files\nfound: ok\n"])
def test_a_log_without_tests(log):
    assert test_counts.count(log) == {"runners": {}, "failures": []}


def _build(**more) -> dict:
    """The facts of a build of one program."""
    return {"inputs": {"version": "1-1", "seed": 44}, "status": 0, "seconds": 1, "notes": [],
            "tests": {"runners": {"automake": {"passed": 3}}, "failures": []}, "dwz": [],
            "links": {"linkers": {"front": 2}, "fronts": {"links": 1, "bytes": 9}, "refused": [],
                      "costs": {"/build/a/app": [100, 10], "/build/a/lib": [200, 30]}},
            "packages": {"app": {"depends": ["libc6 (>= 2.34)"], "symbols": [],
                                 "files": {"usr/bin/app": "12"}}},
            "programs": {"app/usr/bin/app": {"size": 1000, "build_id": "ab", "hardening":
                                             "Immediate binding: yes"}},
            "debug": ["ab"], "lintian": []} | more


def test_only_what_a_front_changes_is_a_difference():
    """What lld does alike is none, nor what GNU ld's build has as well."""
    plain = _build()
    lld = _build(lintian=["W: app: of-lld"], dwz=[])
    front = _build(
        lintian=["W: app: of-lld", "W: app: of-front"], debug=[],
        packages={"app": {"depends": ["libc6 (>= 2.36)", "libfrontload-prefetch1 (>= 0.1.0)"],
                          "symbols": [], "files": {"usr/bin/app": "34"}}})
    assert judge.differences({"gnu": plain, "lld": lld, "frontload": front}) == [
        "+ app/usr/bin/app: no debug file", "+ app: depends: libc6 (>= 2.36)",
        "+ lintian: W: app: of-front", "- app: depends: libc6 (>= 2.34)"]
    assert judge.differences({"gnu": plain, "lld": lld}, "lld") == ["+ lintian: W: app: of-lld"]
    assert judge.differences({"gnu": front, "lld": plain, "frontload": front}) == []
    assert judge.unlike(plain, front) == ["app/usr/bin/app"]


def test_tests_that_newly_fail():
    failing = {name: _build(tests={"runners": {}, "failures": failures}) for name, failures in (
        ("gnu", ["a"]), ("lld", ["b"]), ("frontload", ["a", "b", "c"]))}
    assert judge.newly_failed(failing) == ["c"]


def test_a_build_that_stops_with_lld_too_is_not_right():
    """Its code is compiled with frontload-cc's flags, which are ours as well."""
    whole, stopped = _build(), _build(status=2)
    for gnu, right in ((whole, False), (stopped, True)):
        row = judge.row("app", "1-1", {"gnu": gnu, "lld": stopped, "frontload": stopped})
        assert distribution_page.is_right(row) == right


def test_links_and_their_refusals(tmp_path):
    for name, linker, status in (("a", "front", 0), ("b", "front", 1), ("c", "lld", 1)):
        (tmp_path / name).write_text(f"{linker}\n/build/{name}\n{status}\n")
        (tmp_path / f"{name}.cost").write_text(
            json.dumps({"user_us": 5, "system_us": 2, "max_rss_kib": 9}))
    (tmp_path / "a.report").write_text(json.dumps({"front": {"bytes": 70}}))
    (tmp_path / "b.said").write_text("note: x\nld.frontload: error: no room\n")
    assert built.links(tmp_path) == {
        "linkers": {"front": 2, "lld": 1}, "fronts": {"links": 1, "bytes": 70},
        "refused": [["/build/b", "ld.frontload: error: no room"]], "costs": {"/build/a": [7, 9]}}


def test_hardening():
    assert built.hardening("unpacked/a/usr/bin/b:\n Stack protected: no, not found!\n"
                           " Immediate binding: yes\n") == {
        "a/usr/bin/b": "Stack protected: no; Immediate binding: yes"}


def test_a_run_is_continued_and_has_its_page(tmp_path, monkeypatch):
    """Builds with facts are not done again; a package that is left out is named."""
    entries = tmp_path / "list.toml"
    entries.write_text('app = { why = "C", note = "One test fails." }\n'
                       'huge = { why = "C++", left_out = "It takes hours." }\n'
                       'later = { why = "Ada" }\n')
    done = []

    class System:
        def __init__(self, folder):
            pass

        def source(self, package, log):
            layer = tmp_path / "work" / package / "source"
            layer.joinpath("upper/build").mkdir(parents=True, exist_ok=True)
            layer.joinpath("upper/build/app.dsc").write_text("Format: 3\nVersion: 1-1\n")
            return layer

        def checks(self, log):
            return tmp_path

        def make_launchers(self, folder, source, text):
            assert "frontload-cc" in text

        def run(self, layers, upper, script, *words, log, **more):
            if log.suffix == ".log" and words:
                done.append(log.stem)
                assert more["binds"]
            return 0

    monkeypatch.setattr(distribution, "CleanSystem", System)
    monkeypatch.setattr(distribution.Distribution, "_tools", lambda self: tmp_path)
    monkeypatch.setattr(built, "facts", lambda status, seconds, log, out: _build() if log.stem
                        != "frontload" else _build(tests={"runners": {"lines": {
                            "passed": 2, "failed": 1}}, "failures": ["io"]}))
    result = tmp_path / "result.json"
    for builds, expected in (("gnu", ["gnu"]), ("gnu,lld,frontload,again",
                                                ["gnu", "lld", "frontload", "again"])):
        assert bench(["distribution", "app", f"--list={entries}", f"--work-dir={tmp_path / 'work'}",
                      f"--json={result}", f"--builds={builds}"]) == EXIT_OK
        assert done == expected
    (row,) = read_json(result, "frontload-distribution/1")["rows"]
    assert row["newly_failed"] == ["io"] and row["unlike"] == []
    page = (tmp_path / "result.md").read_text()
    assert "* Not app." in page
    assert ("| app | 1-1 | C | 3 / 3 / 2, 1 failed lines | 1 | 1 | 1.000, 1.000 | "
            "1.00 (1.00 to 1.00) | 1.00 | 0 (0) | 0 |") in page
    assert "* **app**: One test fails." in page and "* **huge**: It takes hours." in page
    assert "## Not built yet\n\nlater\n" in page


def test_the_linker_of_a_build(tmp_path, build):
    """It notes each link, and half of the symbols become the front that frontload-cc wants."""
    script = re.sub(r"(?<!\w)/(frontload|launchers|records)\b", rf"{tmp_path}/\1",
                    (ROOT / "bench/packages/link").read_text())
    tools, launchers, records = (tmp_path / name for name in ("frontload", "launchers", "records"))
    for folder in (tools, launchers, records):
        folder.mkdir()
    (tools / "bin").symlink_to(build / "bin")
    (tools / "seed").write_bytes(Random(44).randbytes(1 << 16))
    linker = tools / "ld.lld"
    linker.write_text(script)
    names = ("_start", *(f"part{number}" for number in range(9)))
    (tmp_path / "a.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names))
    check_run("cc", "-c", "-ffunction-sections", "a.c", cwd=tmp_path)
    (tmp_path / "words").write_text("'-o' \"app\"\na.o -s --startup-profile=x --min-match=0\n")
    for name, words in (("lld", "@words"), ("frontload", "@words"), ("frontload", "-r a.o -o b.o"),
                        ("frontload", "-o no c.o")):
        (launchers / "build").write_text(f"{name}\n")
        wrong = "c.o" in words
        said = subprocess.run(["sh", linker, *words.split()], cwd=tmp_path, check=not wrong,
                              stderr=subprocess.PIPE, text=True).stderr
        assert ("c.o" in said) == bool(said) == wrong
    found = built.links(records)
    assert found.pop("costs").keys() == {f"{tmp_path}/app"} and found.pop("fronts")["links"] == 1
    assert found == {"linkers": {"lld": 2, "front": 1}, "refused": []}
    (report,) = records.glob("*.report")
    assert json.loads(report.read_text())["names"]["placed"] == 5
