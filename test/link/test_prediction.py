"""frontload-predict knows a file with a front: how much of it is asked for when it starts."""

import json

import pytest
from linking import check_run, compile_text, link, write_profile
from places import BUILD

HOT = 40
BIG = "\n".join([*(f"""__attribute__((used)) void hot_{i}(void) {{ asm(".skip 50000, 0x90"); }}"""
                   for i in range(HOT)), "int main(void) { return 0; }", ""])


@pytest.fixture
def predict(tmp_path):
    """predict(program, *options): a start that touches nothing but what the kernel and the dynamic
    linker do."""

    def predict(program, *options) -> dict:
        trace = tmp_path / "trace"
        check_run(BUILD / "bin/frontload-trace", "-o", trace, "--", program)
        predicted = json.loads(check_run(BUILD / "bin/frontload-predict", "--json", *options,
                                         program, trace))
        trace.unlink()
        return predicted["predictions"][0]["devices"]["hdd"]

    return predict


@pytest.fixture
def read_bytes(predict):
    return lambda program, *options: predict(program, *options)["read_bytes"]


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


def test_nothing_is_read_before_the_front_is_asked_for(tmp_path, predict):
    """Where the program asks itself, what the loader reads before is in memory with the headers, as
    long as that is little; the kernel clears nothing."""
    big = compile_text(tmp_path, "big.c", BIG + "int data = 1, bss[9];\n", "-fPIE")
    # What is executed besides main() lies behind the front otherwise.
    started = "_start", "_init", "_fini", "frame_dummy", "main"
    profile = write_profile(tmp_path, *started, *(f"hot_{i}" for i in range(HOT)))
    asking = tmp_path / "asking"
    link(asking, big, "-pie", f"-Wl,-rpath,{BUILD}/lib", "-Wl,--front-prefetch", profile=profile)
    assert predict(asking)["major_faults"] == 0
    assert predict(asking, "--prefetch=front")["major_faults"] == 0
