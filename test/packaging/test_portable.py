"""Libraries for any Linux: they need no libc of one kind or age. That programs need no library is
tested in test/python/test_standalone.py. `anywhere`, which needs the network to fetch systems,
tries the packages there."""

import pytest
from abilities import needs
from compiled import compile_to
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from frontload.profile import trace
from places import BUILD
from trees import checked

# Functions of libc that a program with a recorder has: in glibc 2.17, and in musl. The others may
# be missing.
OF_LIBC = {"dl_iterate_phdr", "environ", "getauxval"}
OF_NEW_LIBC = {"_dl_find_object", "gnu_get_libc_version"}


def of_libc(path) -> tuple[set[str], set[str]]:
    """The names that a library expects from others: those that must be there, and those that may;
    and it must not ask for a library, or a version of a name."""
    with open(path, "rb") as stream:
        elf = ELFFile(stream)
        [dynamic] = (each for each in elf.iter_segments() if isinstance(each, DynamicSegment))
        assert not [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
        assert not [each for each in elf.iter_sections() if isinstance(each, GNUVerNeedSection)]
        symbols = [each for each in elf.get_section_by_name(".dynsym").iter_symbols()
                   if each.name and each["st_shndx"] == "SHN_UNDEF"]
    must = {each.name for each in symbols if each["st_info"]["bind"] == "STB_GLOBAL"}
    return must, {each.name for each in symbols} - must


@pytest.mark.parametrize(("library", "must", "may"), [
    ("libfrontload-prefetch.so.1", set(), set()),
    ("libfrontload-rt.so", OF_LIBC, OF_NEW_LIBC)])
def test_libraries_need_no_libc_of_one_kind_or_age(library, must, may):
    """They name only functions that each libc has."""
    found = of_libc(BUILD / "lib" / library)
    assert found[0] <= must and found[1] <= may


@needs("program:musl-gcc")
def test_the_recorder_records_programs_of_musl(tmp_path):
    """One library is for all libcs."""
    program = compile_to(
        tmp_path / "program", "musl-gcc", "-O1", "-finstrument-functions", "program.c",
        f"-L{BUILD}/lib", "-lfrontload-rt", f"-Wl,-rpath,{BUILD}/lib",
        sources={"program.c": "int main(void) { return 0; }"})
    checked(program, env={"FRONTLOAD_TRACE": str(tmp_path / "program.fltrace")})
    [event] = trace.read(tmp_path / "program.fltrace").kinds.tolist()
    assert event == trace.FUNCTION
