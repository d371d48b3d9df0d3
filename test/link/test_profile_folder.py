"""--startup-profile-dir: flags that can stand in every link of a build."""

import os
import subprocess

import pytest
from linking import (
    ALWAYS,
    LD_FRONTLOAD,
    LD_LLD,
    Image,
    check_run,
    ld,
    link,
    profile_text,
    write_profile,
)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "startup files"
    path.mkdir()
    return path


@pytest.fixture
def profiles(folder):
    """A folder with profiles of a program `app` and a library `libfoo.so`."""
    for name in ("app", "libfoo.so"):
        (folder / f"{name}.startup").write_text(profile_text("main", "helper"))
    return folder


def has_front(path) -> bool:
    return Image(path).section_of("main") == ".text.front"


@pytest.mark.parametrize("output", [["-o", "app"], ["-oapp"], ["--output=app"],
                                    ["--output", "app"], ["-o", "other", "-o", "sub/app"]])
@pytest.mark.parametrize("separate", [False, True])
def test_the_output_s_name_is_the_profile_s(tmp_path, program, profiles, output, separate):
    """However the two are given."""
    (tmp_path / "sub").mkdir()
    option = "--startup-profile-dir"
    ld(program, "-e", "main", *output, *([option, profiles] if separate else
                                         [f"{option}={profiles}"]), cwd=tmp_path)
    assert has_front(tmp_path / output[-1].removeprefix("-o").removeprefix("--output="))


def test_options_in_a_response_file(tmp_path, program, profiles):
    """Compiler drivers pass long command lines in a file."""
    response = tmp_path / "args"
    response.write_text(f"'{program}' -e main -o '{tmp_path / 'app'}'\n"
                        f"--startup-profile-dir='{profiles}' {ALWAYS}\n")
    ld(f"@{response}")
    assert has_front(tmp_path / "app")


def test_the_default_output_has_a_name(tmp_path, program, folder):
    """It is a.out."""
    (folder / "a.out.startup").write_text(profile_text("main"))
    ld(program, "-e", "main", f"--startup-profile-dir={folder}", cwd=tmp_path)
    assert has_front(tmp_path / "a.out")


def test_a_library_s_version_is_no_part_of_its_name(tmp_path, program, profiles):
    library = tmp_path / "libfoo.so.1.2"
    ld("-shared", program, "-o", library, f"--startup-profile-dir={profiles}")
    assert has_front(library)


@pytest.mark.parametrize("missing", ["profile", "folder", "folder of the folder"])
def test_without_a_profile_the_link_is_lld_s(tmp_path, program, profiles, missing):
    """To the byte and without a word, also with options that a plain link has no use for."""
    folder = {"profile": profiles, "folder": tmp_path / "none",
              "folder of the folder": tmp_path / "none" / "none"}[missing]
    options = [f"--startup-profile-dir={folder}", "--front-prefetch", "--min-match=90",
               f"--front-report={tmp_path / 'report'}"]
    result = ld(program, "-e", "main", "-o", tmp_path / "conftest", *options)
    assert result.stdout + result.stderr == "" and not (tmp_path / "report").exists()
    check_run(LD_LLD, program, "-e", "main", "-o", tmp_path / "plain")
    assert (tmp_path / "conftest").read_bytes() == (tmp_path / "plain").read_bytes()


def test_links_without_a_profile_may_order_themselves(tmp_path, program, profiles):
    """What a front cannot be had with is an error only where there is one to lay out."""
    order = tmp_path / "order"
    order.write_text("main\n")
    arguments = [program, "-e", "main", f"--symbol-ordering-file={order}",
                 f"--startup-profile-dir={profiles}"]
    ld(*arguments, "-o", tmp_path / "other")
    assert "--symbol-ordering-file" in ld(*arguments, "-o", tmp_path / "app", code=2).stderr


def test_what_configure_scripts_link(tmp_path, profiles):
    """A compiler driver links sources to names of their own, or to nothing that stays."""
    conftest = tmp_path / "conftest.c"
    conftest.write_text("int main(void) { return 0; }\n")
    for output in (tmp_path / "conftest", "/dev/null"):
        result = link(output, conftest, f"-Wl,--startup-profile-dir={profiles}")
        assert result.stderr == ""


def test_relocatable_links_are_left_alone(tmp_path, program, profiles):
    """-r has no layout, even if there is a profile of its name."""
    ld("-r", program, "-o", tmp_path / "app", f"--startup-profile-dir={profiles}")
    ld("-r", program, "-o", tmp_path / "plain.o")
    assert (tmp_path / "app").read_bytes() == (tmp_path / "plain.o").read_bytes()


def test_a_profile_that_is_named_wins(tmp_path, program, profiles):
    """Even if it is not there, which is an error."""
    (profiles / "app.startup").write_text("not read")
    named = write_profile(tmp_path, "main")
    options = [program, "-e", "main", "-o", tmp_path / "app", f"--startup-profile-dir={profiles}"]
    ld(*options, f"--startup-profile={named}")
    assert has_front(tmp_path / "app")
    result = ld(*options, f"--startup-profile={tmp_path / 'none'}", code=2)
    assert f"{tmp_path / 'none'}: No such file" in result.stderr


def refused(tmp_path, program, folder) -> str:
    """Links an `app` that must be refused, and stays as it was; returns the error."""
    output = tmp_path / "app"
    output.write_text("precious")
    lines = ld(program, "-e", "main", "-o", output, f"--startup-profile-dir={folder}",
               code=2).stderr.splitlines()
    assert output.read_text() == "precious"
    assert lines[0].startswith("ld.frontload: error: ")
    assert lines[1].startswith("ld.frontload: note: ")
    return lines[0]


@pytest.mark.parametrize("kind", ["folder", "lost link", "loop"])
def test_a_profile_that_cannot_be_read_is_an_error(tmp_path, program, folder, kind):
    """It is there, so somebody wanted it."""
    profile = folder / "app.startup"
    if kind == "folder":
        profile.mkdir()
    else:
        profile.symlink_to("nowhere" if kind == "lost link" else "app.startup")
    assert str(profile) in refused(tmp_path, program, folder)


def test_a_profile_that_must_not_be_read_is_an_error(tmp_path, program, profiles):
    (profiles / "app.startup").chmod(0)
    # Root may read everything as long as it has these.
    drop = ["capsh", "--drop=cap_dac_override,cap_dac_read_search", "--", "-c", '"$0" "$@"']
    command = [LD_FRONTLOAD, program, "-e", "main", "-o", tmp_path / "app",
               f"--startup-profile-dir={profiles}"]
    result = subprocess.run([*(drop if os.geteuid() == 0 else []), *command],
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 2 and "app.startup: Permission denied" in result.stderr
    assert not (tmp_path / "app").exists()


def test_a_folder_that_is_none_is_an_error(tmp_path, program):
    """A file in its place, or a variable that is empty."""
    assert "Not a directory" in refused(tmp_path, program, program)
    assert "''" in refused(tmp_path, program, "")


def test_another_lld_is_given_the_same(tmp_path, program, profiles):
    """--lld links with the front of the profile, or plainly."""
    for name, front in (("app", ".text.front"), ("other", ".text")):
        ld(program, "-e", "main", "-o", tmp_path / name, f"--lld={LD_LLD}",
           f"--startup-profile-dir={profiles}")
        assert Image(tmp_path / name).section_of("main") == front
