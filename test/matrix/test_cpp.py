"""The matrix of C++: compilers, optimisations and linkers, and two versions of a program, as far as
pairs.py chooses."""

import re
from typing import NamedTuple

import pytest
from abilities import needs
from cells import problems, recorded
from consumers import BFD, GOLD, LD_FRONTLOAD, LLD, ld_frontload, lld
from pairs import chosen
from programs import LTO, O0, O2, PGO, THIN, Mode, call, shop

pytestmark = needs("ptrace")


class Row(NamedTuple):
    """A way to compile and link."""

    name: str
    mode: Mode
    flags: tuple[str, ...] = ()  # of the link with a profile only: so its names are of one without


ROWS = (Row("O0", O0), Row("O2", O2), Row("O2 ICF", O2, ("-Wl,--icf=all",)), Row("LTO", LTO),
        Row("ThinLTO", THIN), Row("PGO", PGO))
LINKERS = (LLD, LD_FRONTLOAD, GOLD, BFD)

# What there cannot be, and why; it is tried, and refused.
IMPOSSIBLE = {
    **{("gcc", "ThinLTO", linker): "gcc has no ThinLTO" for linker in LINKERS},
    **{("gcc", "LTO", linker): "gcc's LTO needs gcc's plugin in the linker, and lld takes none"
       for linker in (LLD, LD_FRONTLOAD)},
    **{(compiler, "O2 ICF", BFD): "GNU ld folds no identical code"
       for compiler in ("gcc", "clang")},
}
CELLS = [(compiler, row, linker, version) for compiler in ("gcc", "clang") for row in ROWS
         for linker in LINKERS if (compiler, row.name, linker) not in IMPOSSIBLE
         for version in (2, 1)]  # of equals the next version: it can lose more


def _name(value) -> str:
    return str(value) if isinstance(value, str | int) else value.name.replace(" ", "-")


def _recorded(compiler: str, mode: Mode):
    """A map of lld names objects; what is not optimised is told apart by its source files."""
    return recorded(shop(compiler, mode, 1), has_map=mode is not O0 and not mode.is_lto)


@pytest.mark.parametrize(("compiler", "row", "linker", "version"), chosen(CELLS), ids=_name)
def test_a_profile_serves_the_build_it_was_recorded_from_and_the_next(tmp_path, compiler, row,
                                                                      linker, version):
    program = shop(compiler, row.mode, version)
    out_of_order = {O0: 2, THIN: 1}.get(row.mode, 0)
    assert not problems(_recorded(compiler, row.mode), program, linker, tmp_path, row.flags,
                        out_of_order)


def test_gcc_refuses_thin_lto():
    refused = call("g++", "-flto=thin", "-c", "-x", "c++", "/dev/null", "-o", "/dev/null", code=1)
    assert re.search("unrecognized argument to .-flto=. option: .thin", refused.stderr)


@pytest.mark.parametrize("linker", [LLD, LD_FRONTLOAD], ids=_name)
def test_lld_refuses_the_lto_of_gcc(tmp_path, linker):
    program = shop("gcc", LTO, 1)
    flags = lld(program)
    if linker is LD_FRONTLOAD:
        profile = _recorded("gcc", LTO) / "app.startup"
        flags = [*ld_frontload(program), f"-Wl,--startup-profile={profile}",
                 "-Wl,--min-match=0,--front-always"]
    output = tmp_path / "program"
    assert "undefined symbol: main" in program.link(output, *flags, code=1).stderr
    assert not output.exists()


def test_gnu_ld_refuses_to_fold_identical_code(tmp_path):
    refused = shop("gcc", O2, 1).link(tmp_path / "program", "-fuse-ld=bfd", "-Wl,--icf=all", code=1)
    assert "unrecognized option '--icf=all'" in refused.stderr
