"""With link-time optimization by clang: compiled in the link, with the counts and with a front."""

import pytest
from linking import Image
from shared_run import run_once


@pytest.mark.parametrize("lto", ["-flto=thin", "-flto"])
def test_a_front_of_what_the_link_compiles(tmp_path, lto):
    """Both profiles of one run serve a link that compiles; recorded once more, that program has all
    that its start enters in its front, cold parts included."""
    run = run_once(tmp_path, "clang", "late", "one", flags=(lto,))
    run.compile(*run.use_flags, lto)
    more = (lto, "-fsplit-machine-functions", "-O2")
    run.link_final("tool", run.startup, *more)
    again = run.record_final("tool", "one", "two", "three", "four")
    image = run.link_final("tool.again", again, *more)
    assert {image.section_of(name) for name in ("main", "make_table", "check", "check.cold")} == {
        ".text.front"}
    assert Image(tmp_path / "tool").section_of("check.cold") == ".text"
