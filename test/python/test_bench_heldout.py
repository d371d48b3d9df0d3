"""bench/heldout: scenarios are recorded, some of them trained, and the others predicted."""

import json
import sys
from pathlib import Path

import pytest
from frontload.base.errors import Failure
from places import BUILD, LLVM

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench import heldout

SCENARIOS = 4
WORKLOAD = f"""
from coldbench.variants.workload import Workload
WORKLOAD = Workload(name="tiny", variants=("default", "front", "front+blocks"), arguments=(),
                    scenarios={{f"scenario {{n}}": (str(n),) for n in range({SCENARIOS})}})
"""
NINJA = """
include $workloads/rules.ninja
rule link
  command = $llvm/bin/clang -O1 -ffunction-sections $mapped --ld-path=$ld -Wl,--build-id $flags $
      $in -o $out
build tiny.default | tiny.default.map: link $source/tiny.c
  ld = $llvm/bin/ld.lld
  flags = -Wl,-Map=tiny.default.map
program = ./tiny.default
arguments = 0
build traces: record tiny.default
  how = --data
build tiny.startup: profile | traces
  traces = $$(ls traces/*)
build blocks.clusters: order tiny.startup | tiny.default
  binary = tiny.default
  linker = clang
rule tree
  command = mkdir -p $out && $llvm/bin/clang -O1 -ffunction-sections $mapped $
      -fbasic-block-sections=list=blocks.clusters -c $in -o $out/tiny.o
build tree.blocks: tree $source/tiny.c | blocks.clusters
rule link-tree
  command = $llvm/bin/clang --ld-path=$bin/ld.frontload $
      -Wl,--build-id,--startup-profile=tiny.startup,--front-always tree.blocks/tiny.o -o $out
build tiny.front+blocks: link-tree | tree.blocks tiny.startup
build tiny.front: link $source/tiny.c | tiny.startup
  ld = $bin/ld.frontload
  flags = -Wl,--startup-profile=tiny.startup,--front-always
"""
# Far apart, so that each function costs a read of its own without a front.
SOURCE = "#include <stdlib.h>\n" + "".join(
    f'__attribute__((noinline)) int of_{n}(int x) {{\n'
    f'  if (x > 9) __asm__ volatile(".fill 100, 1, 0x90");\n'
    f'  return x * {n + 2};\n}}\n'
    f'__attribute__((used)) void between_{n}(void) {{ __asm__(".fill 300000, 1, 0x90"); }}\n'
    for n in range(SCENARIOS)) + f"""
int (*const all[])(int) = {{{', '.join(f'of_{n}' for n in range(SCENARIOS))}}};
int main(int argc, char **argv) {{ return all[atoi(argv[1])](argc) == 0; }}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tiny").mkdir()
    for name, text in (("workload.py", WORKLOAD), ("variants.ninja", NINJA), ("tiny.c", SOURCE)):
        (tmp_path / "tiny" / name).write_text(text)
    (tmp_path / "bin").symlink_to(BUILD / "bin")
    (tmp_path / "lib").symlink_to(BUILD / "lib")
    return tmp_path


def measure(folder: Path, workload: Path) -> int:
    return heldout.run(heldout.parse([str(workload), f"--build-dir={folder}",
                                      f"--llvm={LLVM.parent}", f"--json={folder / 'result'}"]))


def test_each_order_is_predicted_for_starts_that_were_held_out(folder):
    """With the front asked for, or not; what was held out is not in the profile."""
    assert measure(folder, folder / "tiny") == 0
    workload, = json.loads((folder / "result").read_text())["workloads"]
    rows = {(row["order"], row["prefetch"]): row for row in workload["rows"]}
    assert set(rows) == {(heldout.NO_FRONT, "none"), *(
        (order, prefetch)
        for order in (heldout.FIRST_TOUCH, heldout.KEPT_RUNS, heldout.BLOCKS)
        for prefetch in heldout.PREFETCHES)}
    assert all(row["starts"] == SCENARIOS and row["read_bytes"] > 0 for row in rows.values())
    made = folder / "bench" / "tiny" / "heldout" / "default"
    for fold in range(SCENARIOS):
        trained = (made / f"{fold}.startup").read_text()
        assert {n for n in range(SCENARIOS) if f"\tof_{n}\n" in trained} == \
            set(range(SCENARIOS)) - {fold}
        split = (made / f"{fold}.tiny.front+blocks").read_bytes()
        assert {n for n in range(SCENARIOS) if b"of_%d.cold\0" % n in split} == \
            set(range(SCENARIOS)) - {fold}
        assert "kept-runs" in trained
        assert "kept-runs" not in (made / f"{fold}.plain.startup").read_text()


def test_a_workload_without_scenarios_is_refused(folder):
    with pytest.raises(Failure, match="git: has no scenarios"):
        measure(folder, Path("git"))
