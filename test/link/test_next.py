"""What follows the front: functions that startup calls, though no recorded run did."""

import pytest
from linking import COMPILERS, Image, compile_text, link, write_profile

FIRST = """
int callee_b(int), direct(int);
int unrelated_a(int x) { return x; }
int hot(int x) { return x > 100 ? callee_b(x) : direct(x); }
int direct(int x) { return x + 3; }
int main(int c, char **v) { return hot(c) - 4; }
"""
OTHER = """
int unrelated_b(int x) { return x * 7; }
int deep(int x) { return x + 9; }
int callee_b(int x) { return deep(x) + 1; }
"""


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", [[], ["-fPIC"]], ids=["", "PIC"])
def test_callees_come_first_behind_the_front(tmp_path, compiler, flags):
    """Also those in other objects; what nothing of startup calls comes after them."""
    objects = [compile_text(tmp_path, f"{n}.c", text, "-fno-inline", *flags, compiler=compiler)
               for n, text in (("a", FIRST), ("b", OTHER))]
    link(tmp_path / "out", *objects, "-pie" if flags else "-no-pie",
         profile=write_profile(tmp_path, "main", "hot"))
    image = Image(tmp_path / "out")
    assert {image.section_of(n) for n in ("main", "hot")} == {".text.front"}
    addresses = {n: image.symbols[n].address for n in image.symbols}
    assert {image.section_of(n) for n in ("callee_b", "direct")} == {".text"}
    called = max(addresses[n] for n in ("callee_b", "direct"))
    for name in ("unrelated_a", "unrelated_b", "deep", "_start"):
        assert called < addresses[name], name
