"""frontload order --linker clang: clang splits functions by the file, as they were recorded."""

from collections import Counter

import pytest
from abilities import needs
from frontload.profile import format as profile
from frontload.profile.block_counts import BlockCounts
from linking import Image
from split_program import SOURCE, clusters, functions

pytestmark = pytest.mark.usefixtures("tools")


@needs("valgrind")
def test_only_what_ran_is_in_the_front(build_app, run, cli, tmp_path, llvm):
    """The whole way: compile with maps, record, order, compile by the order, link with a front."""
    plain = build_app("plain")
    cli("record", "--data", "-o", tmp_path / "traces", "--", plain)
    cli("profile", tmp_path / "traces", "-o", tmp_path / "app.startup")
    cli("order", tmp_path / "app.startup", "--linker", "clang", "--binary", plain,
        "-o", tmp_path / "app.blocks")
    ordered = clusters(tmp_path / "app.blocks")
    assert "_Z5tablei" in ordered
    assert all(blocks[0] == 0 for blocks in ordered.values())
    front = build_app("front", f"-fbasic-block-sections=list={tmp_path / 'app.blocks'}",
                      front=tmp_path / "app.startup")
    at = functions(front)
    end = Image(front).code_end
    assert at["_Z5tablei"] < end <= at["_Z5tablei.cold"]
    # Landing pads, of which some ran, are with the rest of what ran.
    assert not any(name.endswith(".eh") for name in at)
    for arguments in ([], ["more"]):
        assert run(front, *arguments).stdout == run(plain, *arguments).stdout
    # Recorded again, the split program has the same blocks in the same shapes.
    cli("record", "--data", "-o", tmp_path / "again", "--", front)
    cli("profile", tmp_path / "again", "-o", tmp_path / "again.startup")
    once, again = (profile.read(tmp_path / f"{name}.startup").blocks for name in ("app", "again"))
    assert set(once) == set(again)
    for shape in once:
        assert set(again[shape].blocks) <= set(once[shape].blocks)


def test_what_is_missing_is_said(link, startup, cli):
    for given, said in (((), "only what is linked can tell"),
                        (("--binary", link().path), "has no basic blocks")):
        assert said in cli("order", startup("main"), "--linker", "clang", *given, code=2).err


def test_a_function_that_has_changed_is_left_whole(link, build_app, startup_of, cli, tmp_path):
    """Its blocks have other numbers now, which clang would take for what they were."""
    plain = build_app("plain")
    startup = startup_of(plain, lambda blocks: blocks[:2], b"_Z5tablei", b"_Z7catcheri")
    changed = build_app("changed", sources={"main.cpp": SOURCE.replace(
        "case 1: return 7;", "case 1: return catcher(x * 2) + catcher(x * 3);")})
    result = cli("order", startup, "--linker", "clang", "--binary", changed,
                 "-o", tmp_path / "app.blocks", "--min-match", "0")
    assert set(clusters(tmp_path / "app.blocks")) == {"_Z7catcheri"}
    assert "1 function left whole, whose blocks are not those that were recorded" in result.err
    for program, number in ((changed, 1), (plain, 2)):
        checked = cli("check", program, "--profile", startup, code=None).out
        assert f"recorded: {number} of 2 functions" in checked
    said = cli("order", startup, "--linker", "clang", "--binary", link().path, code=2).err
    assert "has no map of its basic blocks" in said
    # As with other orders, too little of a profile is an error, and nothing is written.
    (tmp_path / "app.blocks").unlink()
    cli("order", startup, "--linker", "clang", "--binary", changed, "--min-match", "90",
        "-o", tmp_path / "app.blocks", code=1)
    assert not (tmp_path / "app.blocks").exists()


@pytest.mark.parametrize("rare, goes_along", [(3, False), (2, True)])
def test_where_runs_differ_more_goes_along(build_app, startup_of, cli, tmp_path, rare,
                                           goes_along):
    """What lies between the ends of a function, if few runs reached the last block that any did."""
    plain = build_app("plain", sources={"main.cpp": """
        extern "C" int puts(const char *); volatile int sink;
        extern "C" int work(int x) {
          if (x > 3) { SLOW }
          if (x > 9) return puts("end");
          return x;
        }
        int main(int c, char **v) { return work(c) - 1; }
    """.replace("SLOW", "sink = sink * x ^ 12345; " * 12)})
    startup = startup_of(plain, lambda blocks: [blocks[0], blocks[-1]], b"work")
    trained = profile.read(startup)
    ((shape, counts),) = trained.blocks.items()
    assert len(counts.blocks) == 2
    trained.blocks[shape] = BlockCounts(20, Counter({0: 20, max(counts.blocks): rare}))
    startup.write_bytes(profile.to_bytes(trained))
    cli("order", startup, "--linker", "clang", "--binary", plain, "-o", tmp_path / "blocks")
    assert ("work" not in clusters(tmp_path / "blocks")) == goes_along  # whole, nothing to say


def test_namesakes_are_left_out(build_app, startup_of, cli, tmp_path):
    part = ("extern volatile int sink; static __attribute__((noinline)) void same(int x) "
            "{ if (x > %d) sink = x; } void user%d(int x) { same(x); if (x > 5) sink = 3; }\n")
    program = build_app("two", sources={
        "one.cpp": part % (1, 1), "other.cpp": "volatile int sink;\n" + part % (2, 2),
        "main.cpp": "void user1(int); void user2(int);\n"
                    "int main(int c, char **) { user1(c); user2(c); return c > 9 ? 3 : 0; }\n"})
    startup = startup_of(program, lambda blocks: blocks[:1], b"_ZL4samei", b"main", b"_Z5user1i")
    result = cli("order", startup, "--linker", "clang", "--binary", program,
                 "-o", tmp_path / "app.blocks", "--min-match", "0")
    assert "1 name left out, which several functions have" in result.err
    assert "_ZL4samei" not in clusters(tmp_path / "app.blocks")
