"""BLOCKS: what a start does not run of its functions is behind the front."""

import pytest
from abilities import needs
from projects import functions, has_front, is_ordered

CMAKE = """
add_library(greeting STATIC greet.c)
add_executable(app main.c)
target_link_libraries(app PRIVATE greeting)
set_target_properties(app greeting PROPERTIES INTERPROCEDURAL_OPTIMIZATION "${LTO}")
frontload_target(app BLOCKS TRAIN COMMAND app)
"""
GREET_C = """
#include <stdio.h>
#include <stdlib.h>
int greet(int x) {
  if (x > 5) { printf("%d is much\\n", x); puts("too much"); exit(x); }
  return x + 41;
}
"""


@needs("valgrind")
@pytest.mark.parametrize("generator, lto", [("Ninja Multi-Config", "OFF"), ("Ninja", "ON")])
def test_from_nothing_to_a_split_program(project, run, generator, lto):
    """`use` compiles by the blocks of the training, with ThinLTO too, and again if they change."""
    p = project(compiler="clang", generator=generator).write(CMAKE, greet_c=GREET_C)
    assert "there are no basic blocks yet" in p.configure("-DFRONTLOAD=use", f"-DLTO={lto}")
    p.train()
    blocks = p.path("app.blocks")
    assert blocks.read_text().startswith("v1\nf ")
    p.use()
    app = p.built()
    assert has_front(app)
    # ThinLTO puts greet into main.
    split = "main.cold" if lto == "ON" else "greet.cold"
    assert is_ordered(app, "main", split)
    assert run(app).stdout == "world 42\n"
    assert run(app, *"abcdef", code=7).stdout == "7 is much\ntoo much\n"
    # The same blocks compile nothing, others what is made of them.
    assert p.rebuilt_by() == set()
    blocks.write_text("v1\n")
    assert "app" in p.rebuilt_by()
    assert split not in functions(app)
    # The program that is used can be recorded, too.
    p.train()
    assert blocks.read_text() != "v1\n"


def test_only_clang_has_blocks(project):
    p = project(compiler="gcc").write(CMAKE)
    assert "BLOCKS does not work with the compilers" in p.configure(code=1)
