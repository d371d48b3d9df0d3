"""frontload-predict knows a file with a front: how much of it is asked for when it starts."""

import json

import pytest
from abilities import needs
from linking import check_run, compile_text, front
from places import BUILD

HOT = 40
BIG = "".join(f'__attribute__((used)) void hot_{i}(void) {{ asm(".skip 50000, 0x90"); }}\n'
              for i in range(HOT)) + "int main(void) { return 0; }\n"


def predict(program, *options) -> dict:
    """A start that touches nothing but what the kernel and the dynamic linker do."""
    trace = program.with_suffix(".trace")
    check_run(BUILD / "bin/frontload-trace", "-o", trace, "--", program)
    predicted = json.loads(check_run(BUILD / "bin/frontload-predict", *options,
                                     program, trace))
    trace.unlink()
    return predicted["predictions"][0]["devices"]["hdd"]


@needs("ptrace")
@pytest.mark.parametrize("kind", [("-pie", f"-Wl,-rpath,{BUILD}/lib"), ("-static",)],
                         ids=["dynamic", "static"])
def test_a_program_linked_to_prefetch_itself_is_predicted_so(tmp_path, kind):
    """Its note says how much, and the library that it needs, or has inside, that it asks."""
    big = compile_text(tmp_path, "big.c", BIG, "-fPIE")
    noted, asking = (front(tmp_path, big, *kind, *flags, output=name,
                           entries=[f"hot_{i}" for i in range(HOT)]).path
                     for name, flags in (("noted", []), ("asking", ["-Wl,--front-prefetch"])))
    size = HOT * 50000
    assert predict(asking)["read_bytes"] > size
    assert predict(noted, "--prefetched=front")["read_bytes"] > size
    assert predict(asking, "--prefetched=none")["read_bytes"] < size
    assert predict(noted)["read_bytes"] < size
