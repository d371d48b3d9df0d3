"""Programs split by their basic blocks do what they did."""

import os
import random

import pytest
from abilities import needs
from frontload.profile import resolver
from places import ALL
from split_program import SOURCE, functions

pytestmark = pytest.mark.usefixtures("tools")
SANITIZED = [pytest.param(f"-fsanitize={kind}", marks=needs("sanitizers"))
             for kind in ("address", "undefined")]


@pytest.mark.parametrize("flag", [*["-fPIE"] * (8 if ALL else 2), *SANITIZED])
def test_any_clusters_leave_the_program_as_it_is(build_app, startup_of, run, request, flag):
    """Half of the blocks, in any order, with a front of the functions and their tables."""
    plain = build_app("plain", flag)
    chance = random.Random(request.node.name)
    names = [name.encode() for name, address in functions(plain).items()
             if address and (name == "main" or name.startswith("_Z"))]
    chance.shuffle(names)
    startup = startup_of(plain, lambda blocks: blocks, *names)
    lines = ["v1"]
    for function in resolver.blocks(os.fspath(startup), [os.fspath(plain)]):
        others = [block.id for block in function.blocks if block.id and chance.random() < 0.5]
        chance.shuffle(others)
        lines += [f"f {function.symbol.decode()}", " ".join(map(str, ["c", 0, *others]))]
    assert "f _Z7numbersi.resume" in lines  # a coroutine
    split = build_app("split", flag, "-fbasic-block-sections=list=app.blocks", front=startup,
                      sources={"main.cpp": SOURCE, "app.blocks": "\n".join(lines) + "\n"})
    assert {"_Z5tablei.cold", "_Z7numbersi.resume.cold"} <= set(functions(split))
    for arguments in ([], ["more"]):
        assert run(split, *arguments).stdout == run(plain, *arguments).stdout
