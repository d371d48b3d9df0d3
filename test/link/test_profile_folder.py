"""--startup-profile-dir: flags that can stand in every link of a build."""

import pytest
from linking import LD_FRONTLOAD, LD_LLD, Image, check_run, ld, link, profile_text, write_profile


@pytest.fixture
def profiles(tmp_path):
    """A folder with profiles of the programs `app`, `out` and a.out and a library `libfoo.so`."""
    folder = tmp_path / "startup files"
    folder.mkdir()
    for name in ("app", "out", "a.out", "libfoo.so"):
        (folder / f"{name}.startup").write_text(profile_text("main", "helper"))
    return folder


def has_front(path) -> bool:
    return Image(path).section_of("main") == ".text.front"


@pytest.mark.parametrize(("options", "output"), [
    (["-oapp"], "app"), (["--output=app"], "app"), (["--output", "app"], "app"),
    (["-o", "other", "-o", "sub/app"], "sub/app"), ([], "a.out"),
    # A library's version is no part of its name.
    (["-shared", "-o", "libfoo.so.1.2"], "libfoo.so.1.2")])
def test_the_output_s_name_is_the_profile_s(tmp_path, program, profiles, options, output):
    """However the two are given."""
    (tmp_path / "sub").mkdir()
    ld(program, "-e", "main", *options, "--startup-profile-dir", profiles, cwd=tmp_path)
    assert has_front(tmp_path / output)


@pytest.mark.parametrize("folder", ["startup files", "none", "none/none"])
def test_without_a_profile_the_link_is_lld_s(tmp_path, program, profiles, folder):
    """To the byte and without a word, also with options that a plain link has no use for."""
    options = [f"--startup-profile-dir={tmp_path / folder}", "--front-prefetch", "--min-match=90",
               "--front-always", f"--front-report={tmp_path / 'report'}"]
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
        assert link(output, conftest, f"-Wl,--startup-profile-dir={profiles}").stderr == ""


def test_a_profile_that_is_named_wins(tmp_path, program, profiles):
    """Even if it is not there, which is an error."""
    (profiles / "app.startup").write_text("not read")
    named = write_profile(tmp_path, "main")
    options = [program, "-e", "main", "-o", tmp_path / "app", f"--startup-profile-dir={profiles}"]
    ld(*options, f"--startup-profile={named}")
    assert has_front(tmp_path / "app")
    result = ld(*options, f"--startup-profile={tmp_path / 'none'}", code=2)
    assert f"{tmp_path / 'none'}: No such file" in result.stderr


@pytest.mark.parametrize("target", [".", "nowhere", "out.startup"])
def test_a_profile_that_cannot_be_read_is_an_error(refused, profiles, target):
    """It is there, so somebody wanted it: a link to a folder, to nothing, or to itself."""
    profile = profiles / "out.startup"
    profile.unlink()
    profile.symlink_to(target)
    assert str(profile) in refused(f"--startup-profile-dir={profiles}")


def test_a_profile_that_must_not_be_read_is_an_error(tmp_path, run, ordinary, program, profiles):
    (profiles / "app.startup").chmod(0)
    result = run(*ordinary, LD_FRONTLOAD, program, "-e", "main", "-o",
                 tmp_path / "app", f"--startup-profile-dir={profiles}", code=2)
    assert "app.startup: Permission denied" in result.stderr
    assert not (tmp_path / "app").exists()


def test_a_folder_that_is_none_is_an_error(refused, program):
    """A file in its place, or a variable that is empty."""
    assert "Not a directory" in refused(f"--startup-profile-dir={program}")
    assert "''" in refused("--startup-profile-dir=")
