"""cargo-frontload: a crate without a change is recorded, and linked with a front."""

import os

import pytest
from abilities import needs
from compiled import kept
from places import BUILD, ROOT
from trees import checked, clean_environment, version

CRATE = ROOT / "packaging/cargo-frontload"


@pytest.fixture
def cargo(tmp_path):
    """cargo(*arguments): runs it on a small crate, with cargo-frontload and frontload in PATH."""
    def make(folder):
        checked("cargo", "install", "--offline", "--quiet", "--locked", "--path", CRATE, "--root",
                folder, "--target-dir", tmp_path / "built")

    bin_folder = kept(make, "cargo-frontload", CRATE) / "bin"
    app = tmp_path / "an app"
    (app / "src").mkdir(parents=True)
    (app / "Cargo.toml").write_text(
        '[package]\nname = "a-b"\nversion = "1.0.0"\nedition = "2021"\n')
    (app / "src/main.rs").write_text("""
#[inline(never)] fn early(n: usize) -> usize { n * 2 }
fn main() { println!("{}", early(std::env::args().count())); }
""")

    def cargo(*arguments: str) -> str:
        return checked("cargo", *arguments, cwd=app, env=clean_environment(
            PATH=f"{bin_folder}:{BUILD}/bin:{os.environ['PATH']}", CARGO_NET_OFFLINE="true"))

    cargo.app = app
    return cargo


@needs("rustc", "program:cargo", "ptrace")
def test_a_crate_is_recorded_and_linked_with_a_front(cargo):
    """Although cargo has built it before, and takes it for up to date."""
    program, profile = cargo.app / "target/release/a-b", cargo.app / "startup/a-b.startup"
    cargo("build", "--release")
    assert cargo("frontload", "record", "--release", "--", "x", "y") == "6\n"
    assert "early" in profile.read_text()
    cargo("frontload", "build", "--release")
    said = cargo("frontload", "check", str(program), "--profile", str(profile), "--require-front")
    assert "in the front: 100.00%" in said
    assert checked(program) == "2\n"


def test_the_crate_has_our_version():
    text = (CRATE / "Cargo.toml").read_text()
    assert f'version = "{version()}"' in text
    assert f'version = "{version()}"' in (CRATE / "Cargo.lock").read_text()
