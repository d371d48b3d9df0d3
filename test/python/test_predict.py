"""frontload-predict: what it prints, what it refuses, and that the kernel does what it says."""

import json
import os
import sys

import pytest
from abilities import needs
from bench_room import BENCH
from frontload.elf import file as elf
from trace_writer import DATA, FUNCTION, TraceWriter

# Functions and constants far apart, in an order of their own, and relocated pointers.
PLACES = 24
FAR_APART = "\n".join(
    ['#include <stdio.h>', 'static char touched;',
     'const char constants[24 * 400000] = "read here and there";',
     'char *pointers[30000] = {[0 ... 29999] = &touched};']
    + [f'asm(".section .text.far{i},\\"ax\\"; .globl far{i}; .type far{i}, @function; far{i}: ret;'
       f' .skip 300000; .size far{i}, .-far{i}"); void far{i}(void);' for i in range(PLACES)]
    + ['int main(void) { volatile const char *c = constants; int sum = pointers[9] == 0;']
    + [f'far{i * 7 % PLACES}(); sum += c[{i * 5 % PLACES * 400000 + 7}];' for i in range(PLACES)]
    + ['return sum == 1; }'])

# What cold starts of the programs in argv[1:] do on a device with the readahead that the model has.
ON_A_DEVICE = """
import json, sys
from pathlib import Path
from coldbench.measure.requests import CountingLauncher
from frontload.device.cold_device import ColdDevice
from frontload.pagecache import cache as pagecache
programs = list(map(Path, sys.argv[1:]))
with ColdDevice(programs[0].parent, programs) as device:
    launcher = CountingLauncher(device.number)
    for program in programs:
        copy = device.place(program)
        pagecache.make_cold(copy)
        sample = launcher.run([str(copy)])
        pagecache.settle(copy)
        read = pagecache.residency(copy)
        print(json.dumps({"major_faults": sample.major_faults, "read_bytes": read.resident_bytes,
                          "read_runs": len(read.runs()), "requests": launcher.of(sample).reads}))
"""


@pytest.fixture
def predict(run, build):
    """predict(program, *arguments): the figures of the first trace on the first device."""

    def predict(*arguments) -> dict:
        result = run(build / "bin/frontload-predict", *arguments)
        return json.loads(result.stdout)["predictions"][0]

    return predict


@pytest.fixture
def listed(run, build):
    """listed(program, trace, *options): what --list-touches tells of a trace."""

    def listed(program, trace, *options) -> dict:
        said = run(build / "bin/frontload-predict", "--list-touches", *options, program.path, trace)
        document = json.loads(said.stdout)
        assert document["schema"] == "frontload-touches/1"
        return document["traces"][0]

    return listed


def test_touches_are_found_in_another_build(tmp_path, link, listed, predict):
    """Each that is found, and where: the prediction is that of the other build's own trace."""
    old, new = link(name="old"), link("-Wl,--image-base=0x600000", "-no-pie", name="new")
    trace = old.trace(tmp_path / "trace", "main", "f1", old.addresses["f2"] + 1, 0x7fffffff)
    touched, found = ([each.addresses["main"], each.addresses["f1"], each.addresses["f2"] + 1]
                      for each in (old, new))
    same = listed(old, trace)
    assert same["recorded"] == same["binary"] == [*touched, 0x7fffffff] and same["missing"] == 0
    other = listed(new, trace, f"--recorded={old.path}")
    assert (other["recorded"], other["missing"], other["binary"]) == (touched, 1, found)
    mapped = predict("--recorded", old.path, new.path, trace)
    assert (mapped["touches"], mapped["missing"]) == (4, 1)
    itself = predict(new.path, new.trace(tmp_path / "own", "main", "f1", "f2"))
    assert mapped["devices"] == itself["devices"]


SPLIT = """
volatile int zero;
const char *volatile said;
__attribute__((noinline)) void reports(void) {
  if (zero) { said = "nobody asks for this"; asm volatile(".skip 400, 0x90"); }
  said = "what each start says, and at some length";
}
#ifdef MORE
const char *more(void) { return MORE; }
#endif
int main(void) { reports(); return 0; }
"""


def test_literals_of_split_functions_are_found(tmp_path, link, listed):
    """By the same instruction of the same block, wherever the block is."""
    blocks = tmp_path / "blocks"
    blocks.write_text("v1\nf reports\nc 0\n")
    whole = link(source=SPLIT, flags=["-fbasic-block-address-map"], name="whole")
    more = "what moves all other literals away" * 20
    split = link(source=SPLIT, flags=["-fbasic-block-address-map", f'-DMORE="{more}"',
                                      f"-fbasic-block-sections=list={blocks}"], name="split")

    def place(program) -> int:
        data = program.path.read_bytes()
        (text,) = [each for each in elf.read(program.path).segments if each.offset
                   <= data.index(b"what each start") < each.offset + each.file_bytes]
        return data.index(b"what each start") - text.offset + text.address

    assert "reports.cold" in split.addresses and place(split) != place(whole)
    trace = TraceWriter().module(1, str(whole.path), whole.build_id).event(
        whole.addresses["reports"]).event(place(whole) + 20, kind=DATA).write(tmp_path / "trace")
    found = listed(split, trace, f"--recorded={whole.path}")
    assert found["binary"] == [split.addresses["reports"], place(split) + 20]


@needs("loop-devices", "quiet-page-cache", "kernel>=6.17")
def test_the_kernel_reads_what_was_predicted(tmp_path, link, predict, tools, run):
    """A cold start's figures are within 5% of those predicted, also of another layout."""
    order = tmp_path / "order"
    order.write_text("".join(f"far{i}\n" for i in range(1, PLACES, 2)))
    program = link(source=FAR_APART, flags=("-fPIE",))
    ordered = link(f"-Wl,--symbol-ordering-file={order}", name="ordered", source=FAR_APART,
                   flags=("-fPIE",))
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    for name in ("_start", "_init", "frame_dummy", "main"):
        writer.event(program.addresses[name])
    for i in range(PLACES):
        writer.event(program.addresses[f"far{i * 7 % PLACES}"])
        writer.event(program.addresses["constants"] + i * 5 % PLACES * 400000 + 7, kind=DATA)
    trace = writer.write(tmp_path / "trace")
    lines = run(sys.executable, "-c", ON_A_DEVICE, program.path, ordered.path, env=os.environ | {
        "PYTHONPATH": os.pathsep.join([*sys.path, str(BENCH)])}).stdout.splitlines()
    for variant, line in zip((program, ordered), lines, strict=True):
        predicted = predict("--recorded", program.path, variant.path, trace)["devices"]["hdd"]
        assert predicted["major_faults"] > 2 * PLACES
        for figure, measured in json.loads(line).items():
            assert predicted[figure] == pytest.approx(measured, rel=0.05), (variant.path, figure)


def test_prefetching_leaves_few_faults(tmp_path, link, predict):
    """Who reads all of a file before leaves none."""
    program = link(source=FAR_APART)
    trace = program.trace(tmp_path / "trace", *[f"far{i}" for i in range(PLACES)])
    size = program.path.stat().st_size

    def figures(*options) -> dict:
        return predict(*options, program.path, trace)["devices"]["hdd"]

    assert figures()["major_faults"] > PLACES
    assert figures(f"--prefetched={size}")["major_faults"] < 5
    whole = figures("--prefetched=all")
    assert (whole["major_faults"], whole["read_runs"]) == (0, 1)
    assert whole["read_bytes"] >= size > whole["read_bytes"] - 4096


@pytest.mark.parametrize("contents, said", [
    (b"\x89FLT\r\n\x1a\n", "truncated inside its header"),
    (TraceWriter().module(1, "/no/such/program").to_bytes(), "none of its modules is the program"),
    (TraceWriter().event(2**55, kind=FUNCTION).to_bytes(next_slot=2**63), "truncated: it has 1 of"),
])
def test_bad_traces_are_refused(tmp_path, link, run, build, contents, said):
    trace = tmp_path / "trace"
    trace.write_bytes(contents)
    result = run(build / "bin/frontload-predict", link().path, trace, code=65)
    assert f"frontload-predict: error: {trace}: " in result.stderr
    assert said in result.stderr
    assert "frontload-predict: note: " in result.stderr


def test_forked_children_are_part_of_their_run(tmp_path, link, run, build):
    """One prediction for both, as for one trace of all that they touch."""
    program = link()
    child = program.trace(tmp_path / "1", "f3", "main", minor=2, run=7, pid=9, forked=1)
    parent = program.trace(tmp_path / "2", "main", minor=2, run=7, pid=10)
    whole = program.trace(tmp_path / "3", "main", "f3", "main", minor=2, run=8)
    together, alone = json.loads(run(build / "bin/frontload-predict", program.path,
                                     child, parent, whole).stdout)["predictions"]
    assert together["trace"] == str(parent) and together["touches"] == 3
    assert together["devices"] == alone["devices"]


def test_touches_outside_of_the_program_cost_nothing(tmp_path, link, run, build):
    program = link()

    def cost(*touched) -> dict:
        trace = program.trace(tmp_path / "trace", *touched)
        said = json.loads(run(build / "bin/frontload-predict", program.path, trace).stdout)
        prediction = said["predictions"][0]
        assert prediction["touches"] == len(touched)
        return prediction["devices"]

    assert cost() == cost(2**56 - 1, 2**40, 2**32)
    assert list(cost()) == ["hdd", "emmc", "ssd", "nfs"]


@pytest.mark.parametrize("arguments, code, said", [
    ([], 2, "try: frontload-predict --help"),
    (["/no/such/program", "trace"], 2, "/no/such/program: No such file or directory"),
    ([__file__, "trace"], 65, "give a program or a shared library"),
    (["/bin/true", "/no/such/trace"], 2, "/no/such/trace: No such file or directory"),
    (["/bin/true"], 2, "no TRACE was given"),
    (["--prefetched=much", "/bin/true", "trace"], 2, "--prefetched=much: is not a size"),
    (["--device=drum", "--list-devices"], 2, "--device=drum: is not hdd, emmc, ssd, nfs or custom"),
    (["--device=ssd,ssd", "--list-devices"], 2, "--device=ssd: is given twice"),
    (["--device=custom", "--list-devices"], 2, "needs --device-iops"),
    (["--device=custom", "--device-iops=9", "--list-devices"], 2, "needs --device-bandwidth"),
    (["--device=custom", "--device-iops=0", "--device-bandwidth=1", "--list-devices"], 2, "number"),
    (["--device-iops=9", "--list-devices"], 2, "need --device=custom"),
    (["--read-ahead=1048577", "--list-devices"], 2, "--read-ahead: is more than 1048576 KiB"),
    (["--page-size=8", "--list-devices"], 2, "--page-size=8: is not 4, 16 or 64"),
    (["--page-size=16", "--whole-start=lists"], 2, "--page-size: is not for --whole-start"),
    (["--kernel=six", "--list-devices"], 2, "--kernel=six: is not a version like 6.12"),
    (["--file-system=zfs", "--list-devices"], 2, "zfs: is not ext4, xfs, btrfs, f2fs or erofs"),
])
def test_what_cannot_be_used_is_said(run, build, arguments, code, said):
    result = run(build / "bin/frontload-predict", *arguments, code=code)
    assert result.stderr.startswith("frontload-predict: error: ")
    assert said in result.stderr
