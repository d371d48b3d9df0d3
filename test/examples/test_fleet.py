"""examples/fleet: the recipes for many machines give the bytes that `frontload profile` gives."""

import random
import re
import shutil

import pytest
from frontload.profile import format as profile
from in_process import frontload
from trace_writer import CODE, DATA, TraceWriter, build_id

SOURCE = """
const char table[200000] = "a table of which starts touch one place, or several";
const char near[200000] = "a table of which starts touch one place";
int zeros[64];
#define N __attribute__((noinline))
#define F(name, next) N int name(int x) { return next(x + table[x]) + near[x]; }
static N int f0(int x) { return x * zeros[x & 63]; }
F(f1, f0) F(f2, f1) F(f3, f2) F(f4, f3) F(f5, f4) F(f6, f5) F(f7, f6) F(f8, f7) F(f9, f8)
int main(int argc, char **argv) { return f9(argc); }
"""


@pytest.fixture
def fleet(project, llvm):
    """The example, with traces of five machines."""
    fleet = project("fleet")
    folder = fleet.folder
    (folder / "app.c").write_text(SOURCE)
    fleet.run(llvm / "clang", "-O1", f"--ld-path={llvm / 'ld.lld'}", "-Wl,--build-id=sha1", "app.c",
              "-o", "app")
    symbols = {fields[-1]: int(fields[0], 16) for line in
               fleet.run(llvm / "llvm-nm", "app").stdout.splitlines()
               if len(fields := line.split()) == 3}
    chance = random.Random(1)
    names = [name for name in symbols if name[0] == "f" and name[1:].isdigit()]
    for machine in range(5):
        (folder / "traces" / f"machine{machine}").mkdir(parents=True)
        for number in range(30):
            writer = TraceWriter().module(1, str(folder / "app"), build_id(folder / "app"))
            writer.event(symbols["main"], kind=CODE)
            for name in chance.sample(names, chance.randint(1, len(names))):
                writer.event(symbols[name])
            if machine % 2:
                for table, reach in (("table", 10_000), ("near", 1000)):
                    at = (symbols[table] + 15 & ~15) + 16 * chance.randrange(reach)
                    writer.event(at, kind=DATA).event(at + 16 * chance.randrange(3), kind=DATA)
            writer.write(folder / "traces" / f"machine{machine}" / f"app.{number}.fltrace")
    return fleet


@pytest.fixture
def expected(fleet):
    """What one `frontload profile` makes of all traces."""
    frontload("profile", *fleet.folder.glob("traces/*/*.fltrace"), "-o", fleet.folder / "expected")
    return (fleet.folder / "expected").read_bytes()


def test_make_gives_the_same_bytes_and_merges_what_is_new(fleet, expected):
    """A second make does nothing; a new trace makes its part and the whole again; one
    that cannot be read is left out and told."""
    fleet.make("-j4")
    assert (fleet.folder / "app.startup").read_bytes() == expected
    assert b"\tf0\tapp.c\n" in expected and b"@1:" in expected
    assert re.search(rb"\t[0-9]+@[0-9]+-[0-9]+\tnear\n", expected)
    parts = sorted((fleet.folder / "parts").iterdir())
    assert len(parts) == 5
    assert "is up to date" in fleet.make()
    before = [fleet.identity(part) for part in parts]
    folder = fleet.folder / "traces" / "machine2"
    shutil.copy(folder / "app.7.fltrace", folder / "app.30.fltrace")
    (folder / "app.31.fltrace").write_bytes(b"rubbish")
    said = fleet.make()
    assert "app.31.fltrace: not a trace" in said and "1 of 32 inputs left out" in said
    changed = [now != then for now, then in zip(map(fleet.identity, parts), before, strict=True)]
    assert changed == [False, False, True, False, False]
    assert profile.read(fleet.folder / "app.startup").runs == 151
