"""Names that hardly any compiler writes (odd_names.py): from the recording to the check of the
linked program each is found, or said to be missing as what it is."""

import json
import subprocess

import abilities
import pytest
from linking import BUILD, Image, check_run, compile_text, link, write_profile
from odd_names import NAMES, addresses, program_with

FRONTLOAD = BUILD / "bin" / "frontload"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The object of a program that has all these names, and the profile that was recorded of it."""
    abilities.need("ptrace")
    folder = tmp_path_factory.mktemp("recorded")
    program = program_with(folder, NAMES)
    link(folder / "app", program)
    check_run(FRONTLOAD, "record", "-o", folder / "traces", "--", folder / "app")
    check_run(FRONTLOAD, "profile", folder / "traces", "-o", folder / "app.startup")
    return program, folder / "app.startup"


def test_recorded(recorded):
    """The profile has all of them, in the order of first touch, each in its line."""
    lines = [line.split("\t") for line in recorded[1].read_text().split("\n")]
    names = [fields[5] for fields in lines if len(fields) >= 6]
    assert names[names.index("main") + 1:][:len(NAMES)] == list(NAMES.values())


def test_found(recorded, tmp_path):
    """A front has them all, in order, and the check says so."""
    program, profile = recorded
    out, report = tmp_path / "app", tmp_path / "report.json"
    link(out, program, f"-Wl,--front-report={report}", profile=profile)
    assert json.loads(report.read_text())["names"]["missing"] == []
    assert sorted(NAMES, key=addresses(out).get) == list(NAMES)
    checked = json.loads(check_run(FRONTLOAD, "check", out, "--profile", profile, "--json", "-",
                                   "--require-front"))
    assert checked["missing"] == []


TAGGED = """
namespace lib { inline namespace v1 {
#define HIDE __attribute__((TAG noinline))
template <class T> struct box {
  T value;
  HIDE box(T v) : value(v) {}
  HIDE box operator+(const box &other) const { return box(value + other.value); }
  template <class U> HIDE U as(const box<U> &other) const { return U(value) + other.value; }
  HIDE static box make(T v) {
    auto add = [v](const box &b) HIDE { return b + box(v); };
    return add(v);
  }
};
}}
int main(int n, char **) {
  auto a = lib::box<long>::make(n);
  return lib::box<char>::make(n).as(a) - a.as(a);
}
"""


@pytest.mark.parametrize("tags", ['abi_tag("ne220106"),', 'abi_tag("nn23", "b"),', ""])
def test_tags_of_another_release(tmp_path, tags):
    """libc++ puts its version and mode into an ABI tag of each function: releases differ."""
    old, new = (compile_text(tmp_path, f"{name}.cpp", f"#define TAG {given}\n" + TAGGED,
                             compiler="clang")
                for name, given in (("old", 'abi_tag("ne21"),'), ("new", tags)))
    link(tmp_path / "old", old)
    names = Image(tmp_path / "old").matching("ne21")
    assert len(names) > 9
    report = tmp_path / "report"
    link(tmp_path / "new", new, f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, "main", *names))
    found = json.loads(report.read_text())["names"]
    assert found["placed"] == len(names) + 1
    assert [(each["how"], each["ambiguous"]) for each in found["inexact"]] == [
        ("tag", False)] * len(names)


def test_missing(recorded, tmp_path):
    """In a program that has some of them the others are missing, as what they are: none is taken
    for another, and no message has what would steer a terminal."""
    def is_printable(text: str) -> bool:
        return text.replace("\n", "").isprintable()

    _, profile = recorded
    there = [name for name in NAMES if name in (b"new\\nline", b"tab", b"#include", b"<b>&\"'")]
    gone = [NAMES[name] for name in NAMES if name not in there]
    program, out, report = program_with(tmp_path, there), tmp_path / "app", tmp_path / "report"
    said = link(out, program, profile=profile, code=1).stderr
    assert is_printable(said)
    shown = [line.removeprefix("  ") for line in said.splitlines() if line.startswith("  ")]
    assert shown == [f"{'L' * 200}...", *gone[1:-1], r"grüß\xe2\x80\xae"]

    link(out, program, f"-Wl,--front-report={report},--min-match=0", profile=profile)
    missing = json.loads(report.read_text())["names"]["missing"]
    assert [entry["name"] for entry in missing] == gone

    told, found = (subprocess.run([FRONTLOAD, "check", out, "--profile", profile, *options],
                                  capture_output=True, text=True)
                   for options in ([], ["--json", "-"]))
    assert told.returncode == found.returncode == 1
    assert is_printable(told.stdout + told.stderr)
    assert [entry["name"] for entry in json.loads(found.stdout)["missing"]] == gone
