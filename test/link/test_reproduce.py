"""--reproduce: what is in the tar links to the same bytes again, by ld.frontload alone."""

import json
import shutil
import subprocess

import pytest
from linking import (
    LD_FRONTLOAD,
    LLVM,
    SECTION_FLAGS,
    check_run,
    compile_text,
    functions,
    ld,
    link,
    profile_text,
)

PROGRAM = (functions("cold", "hot") + "int puts(const char *);\n"
           "int numbers[8], *pointers[] = {&numbers[1], &numbers[2]};\n"
           "int main(int argc, char **argv) { return puts(\"warm\") < 0 || !pointers[argc]; }\n")


def inputs(folder, *flags) -> tuple:
    """A program and its profile, which can all be removed at once; names have a space."""
    folder = folder / "in puts"
    folder.mkdir()
    profile = folder / "my profile"
    profile.write_text(profile_text("hot", "main", ("string", "rodata", "warm"),
                                    ("section", "text", ".text.cold", "a.o")))
    return compile_text(folder, "a.c", PROGRAM, "-fPIC", *flags), profile


def unpack(tar, folder):
    """What is in the tar, as its own folder."""
    check_run("tar", "-xf", tar, "-C", folder)
    return folder / tar.stem


def replay(folder):
    """Links again in the folder of an unpacked tar."""
    return ld("@response.txt", cwd=folder)


@pytest.mark.parametrize("flags", [["-pie"], ["-no-pie"], ["-shared"], ["-static"],
                                   ["-static-pie"], ["-pie", "-Wl,--front-prefetch"],
                                   ["-static", "-Wl,--front-prefetch"],
                                   ["-pie", "-Wl,--gc-sections,--icf=all,-O2,--min-match=5"],
                                   ["-pie", "-Wl,--pack-dyn-relocs=relr"],
                                   ["-no-pie", "-Wl,--front-align=16K"],
                                   ["-pie", "-Wl,-znopack-relative-relocs"]], ids=" ".join)
def test_a_replay_is_the_same_link(tmp_path, flags):
    """The profile is in the tar, and our options are in its response file."""
    program, profile = inputs(tmp_path)
    (tmp_path / "out").mkdir()
    link(tmp_path / "out" / "app", program, *flags, f"-Wl,--reproduce={tmp_path / 'repro.tar'}",
         profile=profile)
    shutil.rmtree(program.parent)
    folder = unpack(tmp_path / "repro.tar", tmp_path)
    assert "names found" in replay(folder).stderr
    assert (folder / "app").read_bytes() == (tmp_path / "out" / "app").read_bytes()


def test_a_replay_with_link_time_optimization(tmp_path):
    """The objects that it makes are placed again."""
    folder = tmp_path / "bitcode"
    folder.mkdir()
    (folder / "a.c").write_text(PROGRAM)
    check_run(LLVM / "clang", "-O1", "-flto", *SECTION_FLAGS, "-c", folder / "a.c", "-o",
              folder / "a.o")
    profile = folder / "app.startup"
    profile.write_text(profile_text("main"))
    link(tmp_path / "app", "-flto", folder / "a.o", f"-Wl,--reproduce={tmp_path / 'repro.tar'}",
         profile=profile)
    shutil.rmtree(folder)
    folder = unpack(tmp_path / "repro.tar", tmp_path)
    replay(folder)
    assert (folder / "app").read_bytes() == (tmp_path / "app").read_bytes()


def test_the_variable_of_lld_does_the_same(tmp_path, monkeypatch):
    """For builds whose command lines are hard to reach."""
    program, profile = inputs(tmp_path)
    monkeypatch.setenv("LLD_REPRODUCE", str(tmp_path / "repro.tar"))
    link(tmp_path / "app", program, profile=profile)
    monkeypatch.delenv("LLD_REPRODUCE")
    folder = unpack(tmp_path / "repro.tar", tmp_path)
    replay(folder)
    assert (folder / "app").read_bytes() == (tmp_path / "app").read_bytes()


def test_the_other_options(tmp_path):
    """A folder of profiles becomes the profile that was found; a report goes where lld's files go,
    and the share of names that has to be found is the same."""
    program, profile = inputs(tmp_path)
    profile.rename(profile.parent / "app.startup")
    ld(program, "-o", tmp_path / "app", "-e", "main", "-shared", "--min-match", "12.5",
       f"--startup-profile-dir={profile.parent}", f"--front-report={tmp_path / 'a report'}",
       f"--reproduce={tmp_path / 'repro.tar'}")
    folder = unpack(tmp_path / "repro.tar", tmp_path)
    lines = (folder / "response.txt").read_text().splitlines()
    assert "--min-match=12.5" in lines and lines.count("--call-graph-profile-sort=none") == 0
    replay(folder)
    assert (folder / "app").read_bytes() == (tmp_path / "app").read_bytes()
    reports = [json.loads(path.read_text()) for path in (tmp_path / "a report",
                                                         folder / "a report")]
    for report in reports:
        for name in ("output", "profile"):
            report.pop(name, None)
    assert reports[0] == reports[1]


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
    folder = unpack(tmp_path / "repro.tar", tmp_path)
    replay(folder)
    assert (folder / "app").read_bytes() == (tmp_path / "app").read_bytes()


def test_without_a_front_the_tar_is_llds(tmp_path):
    """Whether or not there could have been a profile."""
    program, _ = inputs(tmp_path)
    texts = []
    for name, flags in (("plain", []), ("folder", [f"--startup-profile-dir={tmp_path / 'none'}"])):
        ld(program, "-shared", "-o", tmp_path / "app", *flags,
           f"--reproduce={tmp_path / name}.tar")
        texts.append((unpack(tmp_path / f"{name}.tar", tmp_path) / "response.txt").read_text())
    assert texts[0] == texts[1] and "startup-profile" not in texts[0]
    assert texts[0].startswith("--chroot .\n")


def test_a_profile_that_is_no_file_is_refused(tmp_path):
    """The tar could not hold it, so the replay would miss it."""
    program, profile = inputs(tmp_path)
    command = (f"{LD_FRONTLOAD} '{program}' -shared -o {tmp_path / 'app'} "
               f"--reproduce={tmp_path / 'repro.tar'} --startup-profile=<(cat '{profile}')")
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    first, second = result.stderr.splitlines()
    assert first.endswith(": --reproduce can only keep a profile that is a file")
    assert second == "ld.frontload: note: copy it to a file"
    assert not (tmp_path / "repro.tar").exists() and not (tmp_path / "app").exists()


def test_a_tar_that_cannot_be_made(tmp_path):
    """It is told once, by lld."""
    program, profile = inputs(tmp_path)
    result = ld(program, "-shared", "-o", tmp_path / "app", f"--startup-profile={profile}",
                f"--reproduce={tmp_path / 'none' / 'repro.tar'}", code=1)
    assert result.stderr.count("error: ") == 1 and "--reproduce: " in result.stderr
