"""cargo frontload hands on what cargo is told: a stand-in for cargo says how it was called."""

import json

import pytest
from places import PYTHON_OF_SCRIPTS

# It knows one package, and builds nothing.
CARGO = """\
#!{python}
import json, os, sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if arguments[0].startswith("+"):
    del arguments[0]
manifest = {folder!r} + "/Cargo.toml"
if arguments[0] == "locate-project":
    print(manifest)
elif arguments[0] == "metadata":
    print(json.dumps({{"target_directory": {folder!r} + "/target", "packages": [
        {{"name": "app", "manifest_path": manifest,
          "targets": [{{"name": "app", "kind": ["bin"]}}]}}]}}))
else:
    print(json.dumps({{"reason": "compiler-artifact", "fresh": True, "executable": manifest,
                      "target": {{"name": "app", "kind": ["bin"]}}}}))
"""


@pytest.fixture
def build(cli, tmp_path, monkeypatch):
    """build(*words): runs `cargo frontload WORDS`; how cargo was called, and what was said."""
    log = tmp_path / "log"
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "cargo").write_text(CARGO.format(python=PYTHON_OF_SCRIPTS, log=str(log),
                                               folder=str(tmp_path)))
    (folder / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CARGO", raising=False)

    def build(*words):
        log.write_text("")
        result = cli("cargo-frontload", *words)
        return [json.loads(line) for line in log.read_text().splitlines()], result.err

    return build


@pytest.mark.parametrize(("words", "handed"), [
    (["-vv"], ["--release", "--verbose", "--verbose"]), (["-j3"], ["--release", "--jobs=3"]),
    (["-F", "a,b"], ["--release", "--features=a,b"]),
    (["--locked", "-j", "2", "-q"], ["--release", "--jobs=2", "--locked", "--quiet"]),
    (["--profile", "dev"], ["--profile=dev"]),
])
def test_options_are_cargos(build, words, handed):
    calls, _ = build("build", *words)
    assert calls[-1][-len(handed) - 1:] == [*handed, "--"]
    assert ("--release" in calls[-1]) == ("--release" in handed)


def test_loudness_is_for_both(build):
    """-q hides what Frontload says as well; also where it stands before build, as with cargo."""
    assert "there is no startup profile" in build("build")[1]
    calls, said = build("-q", "build")
    assert said == "" and "--quiet" in calls[-1]
    calls, said = build("build", "-v")
    assert "frontload: run: " in said and "locate-project" in said and "--verbose" in calls[-1]


def test_a_toolchain_is_handed_to_cargo(build, monkeypatch):
    """+TOOLCHAIN goes to the cargo in PATH, which rustup's is, for every call."""
    monkeypatch.setenv("CARGO", "/nonexistent/cargo")
    for words in (["+nightly", "build"], ["build", "+nightly"]):
        calls, _ = build(*words)
        assert len(calls) == 3 and all(call[0] == "+nightly" for call in calls)
