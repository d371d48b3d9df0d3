"""Where code goes that compilers took for unlikely: split-off parts, and cold functions."""

import pytest
from linking import Entry, Image, check_run, compile_text, front, link, write_profile

# gcc splits what leads to a call of a cold function off: work.cold, in .text.unlikely.work.
PROGRAM = """
__attribute__((noinline, cold)) int complain(int x) { __asm__ volatile("" ::: "memory"); return x; }
__attribute__((noinline)) int helper(int x) { __asm__ volatile("" ::: "memory"); return x + 1; }
__attribute__((noinline)) int work(int x) {
  if (x > 100) { x += complain(x); x *= 3; x += complain(x - 4); return x; }
  return x > 50 ? helper(x) : x * 5;
}
__attribute__((noinline)) int other(int x) { return x ^ 77; }
extern char etext;
__attribute__((used)) char *end(void) { return &etext; }
int main(int c, char **v) { return work(c) - 5; }
"""
PREFIXES = "-Wl,-z,keep-text-section-prefix"
# All kinds of code that lld tells apart, also those that are not cold.
KINDS = ["hot", "startup", "exit", "unknown", "split"]


@pytest.fixture
def program(tmp_path):
    return compile_text(tmp_path, "a.c", PROGRAM, "-O2")


def test_kinds_of_code_with_output_sections_of_their_own(tmp_path, program):
    """With -z keep-text-section-prefix, each kind has its section behind the front, not in it; and
    etext, which profilers ask for, is behind all functions of the program."""
    more = compile_text(tmp_path, "b.s", "".join(
        f'.section .text.{kind}.f,"ax",@progbits\nnop\n' for kind in KINDS))
    linked = front(tmp_path, program, more, PREFIXES, "-no-pie", entries=("main", "work"))
    check_run(linked.path)
    image = linked.image
    assert image.sections_of("main", "work") == {".text.front"}
    assert image.sections_of("work.cold", "complain") == {".text.unlikely"}
    order = [name for name in image.order if name.startswith(".text")]
    assert order[0] == ".text"
    assert set(order[1:]) == {f".text.{kind}" for kind in ("unlikely", *KINDS)}
    assert image.order.index(".text") > image.order.index(".data.front")
    assert all(image.is_ordered(name, "etext") for name in ("work.cold", "complain", "other"))


def test_a_cold_part_does_not_follow_the_front(tmp_path, program):
    """A callee does, which startup is likely to call next; a function's cold part keeps its place
    among what has nothing to do with startup."""
    image = front(tmp_path, program, entries=("main", "work")).image
    assert image.sections_of("helper", "complain", "work.cold") == {".text"}
    assert image.is_ordered("helper", "complain", "work.cold")


@pytest.mark.parametrize("flags", [[], [PREFIXES]])
@pytest.mark.parametrize("header", ["cold-parts unknown", "blocks:0123456789abcdef:work 1 0"])
def test_cold_parts_that_may_be_needed(tmp_path, program, header, flags):
    """Those of startup's functions follow the front like what these call: if the profile knows
    nothing of them, and if it knows blocks, of which they are what did not run."""
    profile = write_profile(tmp_path, "main", "work")
    profile.write_text(profile.read_text().replace("runs 1\n", f"runs 1\n{header}\n", 1))
    link(tmp_path / "out", program, *flags, profile=profile)
    image = Image(tmp_path / "out")
    assert image.sections_of("work.cold", "helper") == {".text"}
    assert image.is_ordered("work.cold", "other") and image.is_ordered("helper", "other")


@pytest.mark.parametrize("flags", [[], [PREFIXES]])
def test_a_cold_part_that_was_entered_is_in_the_front(tmp_path, program, flags):
    """Where the profile names it, it has its place in first-touch order."""
    part = Entry("function", "text", "work.cold", "a.c")
    image = front(tmp_path, program, *flags, entries=("main", "work", part)).image
    assert image.section_of("work.cold") == ".text.front"
    assert image.is_ordered("work", "work.cold")
