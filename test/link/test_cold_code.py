"""Where code goes that compilers took for unlikely: split-off parts, and cold functions."""

import pytest
from linking import Entry, Image, check_run, compile_text, link, write_profile
from other_lld import VERSIONS, other_lld

# gcc splits what leads to a call of a cold function off: work.cold, in .text.unlikely.work.
PROGRAM = """
__attribute__((noinline, cold)) int complain(int x) { __asm__ volatile("" ::: "memory"); return x; }
__attribute__((noinline)) int helper(int x) { __asm__ volatile("" ::: "memory"); return x + 1; }
__attribute__((noinline)) int work(int x) {
  if (x > 100) { x += complain(x); x *= 3; x += complain(x - 4); return x; }
  return x > 50 ? helper(x) : x * 5;
}
__attribute__((noinline)) int other(int x) { return x ^ 77; }
int main(int c, char **v) { return work(c) - 5; }
"""
PREFIXES = "-Wl,-z,keep-text-section-prefix"


@pytest.fixture
def program(tmp_path):
    return compile_text(tmp_path, "a.c", PROGRAM, "-O2")


def test_kinds_of_code_with_output_sections_of_their_own(tmp_path, program):
    """With -z keep-text-section-prefix, cold code has its section behind the front, not in it."""
    link(tmp_path / "out", program, PREFIXES, profile=write_profile(tmp_path, "main", "work"))
    check_run(tmp_path / "out")
    image = Image(tmp_path / "out")
    assert {image.section_of(n) for n in ("main", "work")} == {".text.front"}
    assert {image.section_of(n) for n in ("work.cold", "complain")} == {".text.unlikely"}
    order = [name for name in image.order if name.startswith(".text")]
    assert order == [".text.front", ".text", ".text.unlikely"]
    assert image.order.index(".text") > image.order.index(".data.front")


@pytest.mark.parametrize("kind", ["hot", "startup", "exit", "unknown", "split"])
def test_each_kind_of_code_is_behind_the_front(tmp_path, program, kind):
    """All kinds that lld tells apart, also those that are not cold."""
    more = compile_text(tmp_path, "b.s", f'.section .text.{kind}.f,"ax",@progbits\nf: nop\n')
    link(tmp_path / "out", program, more, PREFIXES, profile=write_profile(tmp_path, "main"))
    check_run(tmp_path / "out")
    order = Image(tmp_path / "out").order
    assert order.index(f".text.{kind}") > order.index(".text") > order.index(".data.front")


def test_the_end_of_the_code_is_behind_cold_code(tmp_path):
    """etext, which profilers ask for: no function of the program lies behind it."""
    program = compile_text(tmp_path, "a.c", PROGRAM + "extern char etext;\n"
                           "__attribute__((used)) char *end(void) { return &etext; }\n", "-O2")
    link(tmp_path / "out", program, PREFIXES, "-no-pie",
         profile=write_profile(tmp_path, "main", "work"))
    image = Image(tmp_path / "out")
    for name in ("work.cold", "complain", "other"):
        assert image.symbols[name].address < image.symbols["etext"].address


@pytest.mark.parametrize("version", VERSIONS)
def test_another_lld_keeps_cold_code_out_of_the_front(tmp_path, program, version):
    """Any lld has these sections, and gets the same script."""
    link(tmp_path / "out", program, PREFIXES, f"-Wl,--lld={other_lld(version)}",
         profile=write_profile(tmp_path, "main", "work"))
    check_run(tmp_path / "out")
    image = Image(tmp_path / "out")
    assert {image.section_of(n) for n in ("work.cold", "complain")} == {".text.unlikely"}
    order = [name for name in image.order if name.startswith(".text")]
    assert order == [".text.front", ".text", ".text.unlikely"]


def test_a_cold_part_does_not_follow_the_front(tmp_path, program):
    """A callee does, which startup is likely to call next; a function's cold part keeps its place
    among what has nothing to do with startup."""
    link(tmp_path / "out", program, profile=write_profile(tmp_path, "main", "work"))
    image = Image(tmp_path / "out")
    address = {name: image.symbols[name].address for name in ("helper", "complain", "work.cold")}
    assert {image.section_of(name) for name in address} == {".text"}
    assert address["helper"] < address["complain"] < address["work.cold"]


@pytest.mark.parametrize("header", ["cold-parts unknown", "blocks:0123456789abcdef:work 1 0"])
def test_cold_parts_that_may_be_needed(tmp_path, program, header):
    """Those of startup's functions come first behind the front, before what these call: if the
    profile knows nothing of them, and if it knows blocks, of which they are what did not run."""
    profile = write_profile(tmp_path, "main", "work")
    profile.write_text(profile.read_text().replace("runs 1\n", f"runs 1\n{header}\n", 1))
    for flags in ([], [PREFIXES]):
        link(tmp_path / "out", program, *flags, profile=profile)
        image = Image(tmp_path / "out")
        assert {image.section_of(name) for name in ("work.cold", "helper")} == {".text"}
        assert image.symbols["work.cold"].address < image.symbols["helper"].address
        assert image.symbols["work.cold"].address == image.sections[".text"]["sh_addr"]


def test_a_cold_part_that_was_entered_is_in_the_front(tmp_path, program):
    """Where the profile names it, it has its place in first-touch order."""
    for flags in ([], [PREFIXES]):
        link(tmp_path / "out", program, *flags, profile=write_profile(
            tmp_path, "main", "work", Entry("function", "text", "work.cold", "a.c")))
        image = Image(tmp_path / "out")
        assert image.section_of("work.cold") == ".text.front"
        assert image.symbols["work.cold"].address > image.symbols["work"].address
