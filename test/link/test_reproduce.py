"""--reproduce: what is in the tar links to the same bytes again, by ld.frontload alone."""

import json
import shutil

import pytest
from linking import check_run, compile_text, functions, ld, link, profile_text

PROGRAM = (functions("cold", "hot") + "int puts(const char *);\n"
           "int numbers[8], *pointers[] = {&numbers[1], &numbers[2]};\n"
           "int main(int argc, char **argv) { return puts(\"warm\") < 0 || !pointers[argc]; }\n")


def inputs(folder, *flags, compiler="gcc") -> tuple:
    """A program and its profile, which can all be removed at once; names have a space."""
    folder = folder / "in puts"
    folder.mkdir()
    profile = folder / "app.startup"
    profile.write_text(profile_text("hot", "main", ("string", "rodata", "warm"),
                                    ("section", "text", ".text.cold", "a.o")))
    return compile_text(folder, "a.c", PROGRAM, "-fPIC", *flags, compiler=compiler), profile


def unpack(tar):
    """What is in the tar, as its own folder."""
    check_run("tar", "-xf", tar, "-C", tar.parent)
    return tar.parent / tar.stem


def replay(folder):
    """Links again what is in repro.tar, and compares; returns the folder."""
    unpacked = unpack(folder / "repro.tar")
    assert "names found" in ld("@response.txt", cwd=unpacked).stderr
    assert (unpacked / "app").read_bytes() == (folder / "app").read_bytes()
    return unpacked


@pytest.mark.parametrize("flags", [
    ["-pie", "-Wl,--front-prefetch,--pack-dyn-relocs=relr"], ["-shared"],
    ["-no-pie", "-Wl,--front-align=16K"], ["-static", "-Wl,--front-prefetch"], ["-static-pie"],
    ["-pie", "-Wl,--gc-sections,--icf=all,-O2,--min-match=5,-znopack-relative-relocs"]],
    ids=" ".join)
def test_a_replay_is_the_same_link(tmp_path, flags):
    """The profile is in the tar, and our options are in its response file."""
    program, profile = inputs(tmp_path)
    link(tmp_path / "app", program, *flags, f"-Wl,--reproduce={tmp_path / 'repro.tar'}",
         profile=profile)
    shutil.rmtree(program.parent)
    replay(tmp_path)


def test_a_replay_with_link_time_optimization(tmp_path, monkeypatch):
    """The objects that it makes are placed again. The variable of lld does as the option does."""
    program, profile = inputs(tmp_path, "-flto", compiler="clang")
    profile.write_text(profile_text("main"))
    monkeypatch.setenv("LLD_REPRODUCE", str(tmp_path / "repro.tar"))
    link(tmp_path / "app", "-flto", program, profile=profile)
    monkeypatch.delenv("LLD_REPRODUCE")
    shutil.rmtree(program.parent)
    replay(tmp_path)


def test_the_other_options(tmp_path):
    """A folder of profiles becomes the profile that was found; a report goes where lld's files go,
    and the share of names that has to be found is the same."""
    program, profile = inputs(tmp_path)
    ld(program, "-o", tmp_path / "app", "-e", "main", "-shared", "--min-match", "12.5",
       f"--startup-profile-dir={profile.parent}", f"--front-report={tmp_path / 'a report'}",
       f"--reproduce={tmp_path / 'repro.tar'}")
    unpacked = replay(tmp_path)
    lines = (unpacked / "response.txt").read_text().splitlines()
    assert "--min-match=12.5" in lines and "--call-graph-profile-sort=none" not in lines
    first, second = (json.loads((folder / "a report").read_text())
                     for folder in (tmp_path, unpacked))
    assert {**first, "output": "", "profile": ""} == {**second, "output": "", "profile": ""}


def test_the_libc_of_the_replay_does_not_decide(tmp_path):
    """Whether relocations are packed is part of the link, whatever is installed there."""
    program, profile = inputs(tmp_path)
    libc = tmp_path / "libc.so.6"
    (tmp_path / "libc.so").write_text(f"GROUP ( {libc} )\n")
    stub = compile_text(tmp_path, "stub.c", "int puts(const char *s) { return 0; }", "-fPIC")

    def make_libc(versions: str) -> None:
        (tmp_path / "versions").write_text(versions)
        ld("-shared", "-soname", "libc.so.6", stub, "-o", libc, "--version-script",
           tmp_path / "versions")

    make_libc("GLIBC_2.2.5 { global: puts; };")
    ld(program, "-pie", "-e", "main", f"-L{tmp_path}", "-lc", "-o", tmp_path / "app",
       f"--startup-profile={profile}", "--min-match=0", f"--reproduce={tmp_path / 'repro.tar'}")
    make_libc("GLIBC_2.2.5 { global: puts; }; GLIBC_ABI_DT_RELR { };")
    replay(tmp_path)


def test_without_a_front_the_tar_is_llds(tmp_path):
    """Although there could have been a profile."""
    program, _ = inputs(tmp_path)
    ld(program, "-shared", "-o", tmp_path / "app", "--startup-profile-dir=/none",
       f"--reproduce={tmp_path / 'repro.tar'}")
    text = (unpack(tmp_path / "repro.tar") / "response.txt").read_text()
    assert text.startswith("--chroot .\n") and "startup-profile" not in text


def test_a_profile_that_is_no_file_is_refused(tmp_path):
    """The tar could not hold it, so the replay would miss it."""
    program, profile = inputs(tmp_path)
    said = ld(program, "-shared", "-o", tmp_path / "app", f"--reproduce={tmp_path / 'repro.tar'}",
              "--startup-profile=/dev/stdin", input=profile.read_text(), code=2).stderr
    assert ": --reproduce can only keep a profile that is a file\n" in said
    assert not (tmp_path / "repro.tar").exists() and not (tmp_path / "app").exists()
