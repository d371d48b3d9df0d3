"""frontload-predict knows a file with a front: how much of it is asked for when it starts."""

import json

import pytest
from conftest import BUILD
from linking import check_run, compile_text, link, write_profile

HOT = 40
BIG = "\n".join([*(f"""__attribute__((used)) void hot_{i}(void) {{ asm(".skip 50000, 0x90"); }}"""
                   for i in range(HOT)), "int main(void) { return 0; }", ""])


@pytest.fixture
def read_bytes(tmp_path):
    """read_bytes(program, *options): what a start reads that touches nothing but what the kernel
    and the dynamic linker do."""

    def read_bytes(program, *options) -> int:
        trace = tmp_path / "trace"
        check_run(BUILD / "bin/frontload-trace", "-o", trace, "--", program)
        predicted = json.loads(check_run(BUILD / "bin/frontload-predict", "--json", *options,
                                         program, trace))
        trace.unlink()
        return predicted["predictions"][0]["devices"]["hdd"]["read_bytes"]

    return read_bytes


@pytest.mark.parametrize("static", [False, True], ids=["dynamic", "static"])
def test_a_program_linked_to_prefetch_itself_is_predicted_so(tmp_path, read_bytes, static):
    """Its note says how much, and the library that it needs, or has inside, that it asks."""
    big = compile_text(tmp_path, "big.c", BIG, "-fPIE")
    profile = write_profile(tmp_path, *(f"hot_{i}" for i in range(HOT)))
    kind = ("-static",) if static else ("-pie", f"-Wl,-rpath,{BUILD}/lib")
    noted, asking = tmp_path / "noted", tmp_path / "asking"
    link(noted, big, *kind, profile=profile)
    link(asking, big, *kind, "-Wl,--front-prefetch", profile=profile)
    front = HOT * 50000
    assert read_bytes(asking) > front
    assert read_bytes(noted, "--prefetch=front") > front
    assert read_bytes(asking, "--prefetch=none") < front
    assert read_bytes(noted) < front
