"""examples/cargo, and a crate that was not written for us: pulldown-cmark, from Debian's package of
its source."""

import re
import shutil
from pathlib import Path

import abilities
import pytest
from abilities import needs
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


def _train(project: Project, *arguments: str, name: str = "morse", **options) -> None:
    """As its README says."""
    project.environment["FRONTLOAD"] = "record"
    project.run("cargo", "build", "--release")
    del project.environment["FRONTLOAD"]
    project.run("frontload", "record", "-o", "traces", "--", f"target/release/{name}", *arguments,
                **options)
    project.run("frontload", "profile", "traces", "-o", f"startup/{name}.startup")


@pytest.fixture
def morse(project, tmp_path):
    return _offline(project("cargo"), tmp_path)


def _block(page: str, language: str) -> str:
    """What a page of the documentation says in that language."""
    text = (ROOT / "docs/how-to" / page).read_text()
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]


def test_a_recorded_program_is_built_with_a_front(morse):
    """And built again when its profile has changed, but not if nothing has."""
    _train(morse, "sos")
    morse.run("cargo", "build", "--release")
    morse.has_front("target/release/morse", _PROFILE)
    assert morse.run("target/release/morse", "sos").stdout == "... --- ...\n"
    assert "Compiling" not in morse.run("cargo", "build", "--release").stderr
    morse.change(_PROFILE)
    assert "Compiling morse" in morse.run("cargo", "build", "--release").stderr
    morse.has_front("target/release/morse", _PROFILE)
    morse.environment["FRONTLOAD"] = "off"
    morse.run("cargo", "build", "--release")
    morse.has_front("target/release/morse", _PROFILE, code=1)


@pytest.mark.parametrize("linker", ["bfd", "mold"])
def test_another_linker(morse, linker):
    abilities.need(f"program:{'ld.bfd' if linker == 'bfd' else linker}")
    _train(morse, "sos")
    morse.environment.update(FRONTLOAD_PREFETCH="1",
                             CARGO_BUILD_RUSTFLAGS=f"-Clink-arg=-fuse-ld={linker}",
                             CARGO_PROFILE_RELEASE_STRIP="none")
    morse.run("cargo", "build", "--release")
    morse.asks_for_its_start("target/release/morse", "sos")


def test_the_page_has_the_files_of_the_example():
    for name, language in (("build.rs", "rust"), (".cargo/config.toml", "toml")):
        text = (ROOT / "examples/cargo" / name).read_text()
        assert _block("cargo.md", language) in text


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
        _block("cargo.md", "toml") + '[source.crates-io]\nreplace-with = "debian"\n'
        f'[source.debian]\ndirectory = "{_CRATES}"\n')
    text = "# Some *text*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

    _train(crate, "--enable-tables", name="pulldown-cmark", input=text)
    (crate.folder / "src/main.rs").touch()  # its build.rs does not say that a link reads a profile
    crate.run("cargo", "build", "--release")
    program = "target/release/pulldown-cmark"
    crate.has_front(program, "startup/pulldown-cmark.startup")
    made = crate.run(program, "--enable-tables", input=text).stdout
    assert made.startswith("<h1>Some <em>text</em></h1>\n<table>")
