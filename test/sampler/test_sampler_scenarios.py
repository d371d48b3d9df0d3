"""The programs of test/scenarios, sampled: each ends as it does under the recorders, writes nothing
but its own to stderr, and a sample that it leaves has all pages that it entered a function in. Only
where there is no /proc any more, a line says that there is no sample."""

import os
import re
from pathlib import Path

import pytest
from compiled import compile_to
from elftools.elf.elffile import ELFFile

SCENARIOS = Path(__file__).parents[1] / "scenarios" / "programs"
SAID = {"15-other-root": "frontload-sample: warning: /proc/self/maps: cannot be read, or has too "
                         "many mappings (no sample)\n"}


def expected(source: Path) -> tuple[int, list[set[str]]]:
    """The exit status, and the functions of each process that was not forked."""
    own = source.with_suffix(".trace.expected")
    text = (own if own.exists() else source.with_suffix(".expected")).read_text()
    processes = re.findall(r"^process\n((?:  .*\n)*)", text, re.MULTILINE)
    return int(text.split()[1]), [set(re.findall(r"^  (\S+)", each, re.MULTILINE))
                                  for each in processes]


def pages_of(program: Path, names: set[str], page_size: int) -> dict[str, int]:
    with program.open("rb") as stream:
        elf = ELFFile(stream)
        loads = list(elf.iter_segments("PT_LOAD"))
        return {symbol.name: (symbol["st_value"] - load["p_vaddr"] + load["p_offset"]) // page_size
                for symbol in elf.get_section_by_name(".symtab").iter_symbols()
                for load in loads if symbol.name in names and 0 <=
                symbol["st_value"] - load["p_vaddr"] < load["p_filesz"]}


@pytest.mark.parametrize("source", sorted(SCENARIOS.glob("*.c")), ids=lambda path: path.stem)
def test_sampled_scenario(source, sampled, tmp_path):
    text = source.read_text()
    remark = text[3:].partition(".")[0].partition(" */")[0]
    if remark == "needs root" and os.geteuid():
        pytest.skip("needs root")
    flags = re.fullmatch(r"flags: (.*)", remark)
    program = compile_to(tmp_path / "program", "gcc", "-O0", "-falign-functions=16", "-pthread",
                         *(flags[1].split() if flags else ()), source.name,
                         sources={source.name: text})
    status, processes = expected(source)
    taken = sampled(program, code=None, cwd=tmp_path)
    code = taken.result.returncode
    assert (128 - code if code < 0 else code,
            taken.result.stderr) == (status, SAID.get(source.stem, ""))
    for found in taken.samples:
        if found.forked or found.main.path != str(program):
            continue
        touched = set(found.touched[found.modules.index(found.main)].pages.tolist())
        lacking = [{name for name, page in pages_of(program, names, found.page_size).items()
                    if page not in touched} for names in processes]
        assert set() in lacking or not lacking
