"""examples/cargo, and a crate that was not written for us: pulldown-cmark, from Debian's package of
its source."""

import re
import shutil
from pathlib import Path

import pytest
from abilities import need, needs
from example import Project
from places import ROOT

pytestmark = needs("ptrace", "rustc", "program:cargo")
_PROFILE = "startup/morse.startup"
_CRATES = Path("/usr/share/cargo/registry")


def _offline(project: Project, home: Path) -> Project:
    """The project, with cargo's settings and downloads (none) in a folder of its own."""
    # What is optimized less is compiled sooner.
    project.environment.update(CARGO_HOME=str(home), CARGO_NET_OFFLINE="true",
                               CARGO_PROFILE_RELEASE_OPT_LEVEL="0")
    return project


@pytest.fixture(scope="module")
def trained(project, tmp_path_factory):
    """The example with its profile written."""
    need("valgrind")
    morse = _offline(project("cargo"), tmp_path_factory.mktemp("cargo-home"))
    morse.run("cargo", "frontload", "record", "--", "sos")
    morse.run("cargo", "frontload", "record", "--data", "--", "mayday")
    morse.run("cargo", "frontload", "profile")
    return morse


@pytest.fixture
def untrained(project, tmp_path):
    return _offline(project("cargo"), tmp_path)


def test_a_recorded_program_is_built_with_a_front(trained):
    """And built again when its profile has changed, but not if nothing has."""
    said = trained.run("cargo", "frontload", "build").stderr
    assert re.search(r"(\d+) of \1 names of morse.startup are in its front", said)
    trained.has_front("target/release/morse", _PROFILE)
    assert trained.run("target/release/morse", "sos").stdout == "... --- ...\n"
    before = trained.identity("target/release/morse")
    assert "Compiling" not in trained.run("cargo", "frontload", "build").stderr
    assert trained.identity("target/release/morse") == before
    trained.change(_PROFILE)
    assert "Compiling morse" in trained.run("cargo", "frontload", "build").stderr
    trained.has_front("target/release/morse", _PROFILE)


def test_a_program_that_has_changed_is_recorded_anew(trained):
    traces = trained.folder / "target/frontload/release/morse/traces"
    trained.run("cargo", "frontload", "record", "--", "sos")
    before = len(list(traces.iterdir()))
    trained.run("cargo", "frontload", "record", "--", "sos")
    assert len(list(traces.iterdir())) == before + 1
    main = trained.folder / "src/main.rs"
    main.write_text(main.read_text().replace("morse: error:", "morse: mistake:"))
    trained.run("cargo", "frontload", "record", "--", "sos")
    assert len(list(traces.iterdir())) == 1


def test_nothing_recorded_makes_no_profile(untrained):
    """Without one, build warns and links plainly."""
    said = untrained.run("cargo", "frontload", "profile", code=2).stderr
    assert "nothing is recorded yet" in said and not (untrained.folder / _PROFILE).exists()
    said = untrained.run("cargo", "frontload", "build").stderr
    assert "frontload: warning: " in said and "there is no startup profile" in said
    assert untrained.run("target/release/morse", "sos").stdout == "... --- ...\n"


def test_a_release_that_is_stripped_is_recorded_too(untrained):
    manifest = untrained.folder / "Cargo.toml"
    manifest.write_text(manifest.read_text() + "\n[profile.release]\nstrip = true\n")
    untrained.run("cargo", "frontload", "record", "--", "sos")
    untrained.run("cargo", "frontload", "profile")
    said = untrained.run("cargo", "frontload", "build").stderr
    assert re.search(r"(\d+) of \1 names of morse.startup are in its front", said)
    assert ".symtab" not in untrained.run("readelf", "-SW", "target/release/morse").stdout


def test_what_is_wrong_is_told_in_a_sentence(untrained):
    """Which program is meant; and what does not compile, by cargo alone."""
    (untrained.folder / "src/bin").mkdir()
    (untrained.folder / "src/bin/other.rs").write_text("fn main() {}\n")
    said = untrained.run("cargo", "frontload", "profile", code=2).stderr
    assert "has several programs: morse, other" in said
    said = untrained.run("cargo", "frontload", "profile", "--bin", "third", code=2).stderr
    assert "has no program third" in said
    (untrained.folder / "src/bin/other.rs").unlink()
    (untrained.folder / "src/main.rs").write_text("fn main() { wrong }\n")
    said = untrained.run("cargo", "frontload", "record", code=101).stderr
    assert "cannot find value `wrong`" in said and "Traceback" not in said


def test_a_program_of_a_workspace_is_found_from_its_top(untrained):
    top = untrained.folder
    for member in ("one", "two"):
        (top / member / "src").mkdir(parents=True)
        (top / member / "src/main.rs").write_text(f'fn main() {{ println!("{member}"); }}\n')
        (top / member / "Cargo.toml").write_text(
            f'[package]\nname = "{member}"\nversion = "1.0.0"\nedition = "2018"\n')
    (top / "Cargo.toml").write_text('[workspace]\nmembers = ["one", "two"]\n')
    (top / "Cargo.lock").unlink()
    said = untrained.run("cargo", "frontload", "build", code=2).stderr
    assert "has several programs: one, two" in said
    untrained.run("cargo", "frontload", "record", "-p", "two")
    untrained.run("cargo", "frontload", "profile", "--bin", "two")
    untrained.run("cargo", "frontload", "build", "-p", "two")
    untrained.has_front("target/release/two", "two/startup/two.startup")


def _block(page: str, language: str) -> str:
    """What a page of the documentation says in that language."""
    text = (ROOT / "docs/how-to" / page).read_text()
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]


def test_cargo_build_alone_makes_a_front_as_the_page_says(trained, untrained):
    (untrained.folder / ".cargo").mkdir()
    (untrained.folder / ".cargo/config.toml").write_text(_block("cargo.md", "toml"))
    (untrained.folder / "build.rs").write_text(_block("cargo.md", "rust"))
    (untrained.folder / "startup").mkdir()
    shutil.copy(trained.folder / _PROFILE, untrained.folder / _PROFILE)
    untrained.run("cargo", "build", "--release")
    untrained.has_front("target/release/morse", _PROFILE)
    assert "Compiling" not in untrained.run("cargo", "build", "--release").stderr
    untrained.change(_PROFILE)
    assert "Compiling morse" in untrained.run("cargo", "build", "--release").stderr
    untrained.has_front("target/release/morse", _PROFILE)
    untrained.environment["FRONTLOAD"] = "off"
    untrained.run("cargo", "build", "--release")
    untrained.has_front("target/release/morse", _PROFILE, code=1)


@pytest.mark.slow
def test_a_foreign_crate_gets_a_front(tmp_path):
    crates = sorted(_CRATES.glob("pulldown-cmark-0*"))
    if not crates:
        pytest.skip(f"there is no pulldown-cmark in {_CRATES} (Debian's package "
                    "librust-pulldown-cmark-dev has it)")
    shutil.copytree(crates[-1], tmp_path / "crate")
    crate = _offline(Project(tmp_path / "crate"), tmp_path / "home")
    # What its own tests need is not packaged.
    manifest = crate.folder / "Cargo.toml"
    manifest.write_text(re.sub(r"\[dev-dependencies[^\[]*", "", manifest.read_text()))
    (crate.folder / ".cargo").mkdir()
    (crate.folder / ".cargo/config.toml").write_text(
        '[source.crates-io]\nreplace-with = "debian"\n'
        f'[source.debian]\ndirectory = "{_CRATES}"\n')
    text = "# Some *text*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

    crate.run("cargo", "frontload", "record", "--", "--enable-tables", input=text)
    crate.run("cargo", "frontload", "profile")
    said = crate.run("cargo", "frontload", "build").stderr
    # Only the last crate again; what it depends on, and its build script, stays.
    assert re.findall("Compiling (.*?) ", said) == ["pulldown-cmark"]
    program = "target/release/pulldown-cmark"
    crate.has_front(program, "startup/pulldown-cmark.startup")
    made = crate.run(program, "--enable-tables", input=text).stdout
    assert made.startswith("<h1>Some <em>text</em></h1>\n<table>")
