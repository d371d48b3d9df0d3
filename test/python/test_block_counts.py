"""The blocks in a startup profile: what is written is read, merging adds, bad lines are said."""

import pytest
from frontload.base.errors import BadData
from frontload.profile import format as profile
from frontload.profile import generations
from frontload.profile.block_counts import BlockCounts, Blocks, Shape
from frontload.profile.startup_profile import Name, Profile, from_run
from hypothesis import given
from hypothesis import strategies as st

names = st.binary(min_size=1, max_size=12)
shapes = st.builds(Shape, names, st.one_of(st.just(b""), names),
                   st.integers(0, 2**64 - 1).map(lambda number: b"%016x" % number))


@st.composite
def counts(draw):
    runs = draw(st.integers(1, 1000))
    ids = draw(st.lists(st.integers(0, 500), min_size=1, max_size=8, unique=True))
    return BlockCounts(runs, [(each, draw(st.integers(1, runs))) for each in ids],
                       draw(st.sampled_from([b"", b"2.9", b"2.10", b"2026-11-24"])))


def profile_of(blocks) -> Profile:
    made = from_run(b"app", [Name("function", "text", b"main")])
    made.blocks = Blocks(blocks)
    return made


@given(st.dictionaries(shapes, counts(), max_size=6))
def test_what_is_written_is_read(blocks):
    data = profile.to_bytes(profile_of(blocks))
    assert profile.parse(data, "app.startup").blocks == blocks
    assert profile.to_bytes(profile.parse(data, "app.startup")) == data


@given(*[st.dictionaries(shapes, counts(), max_size=4)] * 3, st.integers(1, 5))
def test_merging_is_a_sum(a, b, c, weight):
    def merged(*parts):
        whole = Profile(b"app", 0)
        for part in parts:
            whole.add(part, weight)
        return whole

    def fresh(blocks):
        return profile.parse(profile.to_bytes(profile_of(blocks)), "part")

    one_way = merged(fresh(a), fresh(b), fresh(c))
    assert one_way.blocks == merged(fresh(c), fresh(a), fresh(b)).blocks
    for shape, each in one_way.blocks.items():
        parts = [part[shape] for part in (a, b, c) if shape in part]
        assert each.runs == weight * sum(part.runs for part in parts)
        for block, runs in each.blocks.items():
            assert runs == weight * sum(part.blocks[block] for part in parts)
        assert each.newest == max((part.newest for part in parts), key=generations.age)


@pytest.mark.parametrize("line", [
    "blocks:123:main 1 0", "blocks:0123456789abcdef: 1 0", "blocks:0123456789abcdef:main 1",
    "blocks:0123456789abcdef:main 1 0,0", "blocks:0123456789abcdef:main 1 2,1",
    "blocks:0123456789abcdef:main 1 0=2", "blocks:0123456789abcdef:main 2 0=2",
    "blocks:0123456789abcdef:main x 0", "blocks:0123456789abcdef:main 2 0=0",
    "blocks:0123456789abcdef:a:b:c 1 0", "blocks:0123456789ABCDEF:main 1 0",
    "blocks:0123456789abcdef:main 1 99999999999999999999", "blocks:0123456789abcdef:main 1 0 -",
    "blocks:0123456789abcdef:main 1 0 2.9 2.10"])
def test_bad_lines_are_said(line):
    text = (f"frontload-startup-profile 2\nprogram app\nruns 2\n{line}\n"
            "function\ttext\t1\t+1\t-\tmain\n").encode()
    with pytest.raises(BadData, match=":4: "):
        profile.parse(text, "app.startup")


def test_show_counts_them(cli, tmp_path):
    made = profile_of({Shape(b"main", b"", each * 16): BlockCounts(2, [(0, 2), (7, 1)])
                       for each in (b"0", b"1")})
    (tmp_path / "app.startup").write_bytes(profile.to_bytes(made))
    assert "basic blocks: 4 touched, of 1 function\n" in cli("show", tmp_path / "app.startup").out


def test_a_shape_goes_with_the_generation_that_had_it_last():
    def of(label, *hashes):
        made = profile_of({Shape(b"main", b"", each * 16): BlockCounts(1, [(0, 1)])
                           for each in hashes})
        made.label(label)
        return made

    whole = of(b"1", b"1", b"a")
    whole.add(of(b"2", b"2", b"a"))
    whole.add(of(b"3", b"3"))
    assert {shape.hash[:1] for shape in whole.blocks} == set(map(bytes, zip(b"123a")))
    whole.keep_generations(2)
    assert {shape.hash[:1]: counts.runs for shape, counts in whole.blocks.items()} == {
        b"2": 1, b"a": 2, b"3": 1}


def test_blocks_go_with_their_function():
    made = profile_of({Shape(b"main", b"", b"0" * 16): BlockCounts(1, [(0, 1)]),
                       Shape(b"gone", b"", b"0" * 16): BlockCounts(1, [(0, 1)])})
    made.leave_out_rare(0.5)
    assert [shape.name for shape in made.blocks] == [b"main"]
