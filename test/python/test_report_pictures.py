"""The pictures of a report: all are drawn, the same every time, whatever names are in them."""

import struct
import zlib

import numpy as np
from faults_writer import PAGE, FaultsWriter, plain_file
from frontload.report import model, picture_bars, picture_residency, pictures, recorded
from frontload.report import theme as themes

SECTIONS = [(".text", 0, 40 * PAGE), (".rodata", 40 * PAGE, 60 * PAGE)]


def document(*names: str) -> dict:
    """Starts of variants with these names."""
    starts = []
    for number, name in enumerate(names):
        writer = FaultsWriter(
            plain_file(f"/{name}", 100 * PAGE, SECTIONS, flags="r-x", before="", after=""),
            plain_file("/lib/$other$.so", 30 * PAGE, before="", after=""),
            plain_file("/lib/tiny", PAGE, before="", after=""),
            command=(f"/{name}",), variant=name).phase("exec").major(2, 0).phase("main")
        for page in (60, 20, 80, 5)[number:]:
            writer.major(0, page * PAGE, pages=8, access="x").fault(0, page * PAGE + 1)
        starts.append(recorded.parse(writer.major(1, 0, pages=3).to_bytes(), "start.json"))
    return model.build(starts)


def pixels(png: bytes) -> tuple[int, int, bytes]:
    """Width, height and the unpacked rows; checks what makes it a picture."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and png.endswith(b"IEND\xaeB`\x82")
    place, data, size = 8, b"", (0, 0)
    while place < len(png):
        length, kind = struct.unpack_from(">I4s", png, place)
        if kind == b"IHDR":
            size = struct.unpack_from(">II", png, place + 8)
        if kind == b"IDAT":
            data += png[place + 8:place + 8 + length]
        place += 12 + length
    return *size, zlib.decompress(data)


def test_every_picture_is_drawn_in_every_form(tmp_path):
    """One of all files, two of each that is large enough, and the bars; nothing else is left
    behind. The same document gives the same bytes, whatever theme was drawn before."""
    start = document("before")
    written = pictures.export(start, tmp_path / "new" / "folder")
    names = {"faults", "faults-program", "residency-program", "faults-_other_.so",
             "residency-_other_.so", "sections", "phases"}
    assert {path.name for path in written} == {
        f"{name}.{theme}.{format}" for name in names for theme in ("light", "dark")
        for format in ("png", "svg")}
    assert set(written) == set((tmp_path / "new" / "folder").iterdir())
    for path in written:
        if path.suffix == ".png":
            width, height, rows = pixels(path.read_bytes())
            assert width > 500 and height > 150 and len(set(rows)) > 20
        else:
            assert path.read_bytes().rstrip().endswith(b"</svg>")
    for path in pictures.export(start, tmp_path / "again", themes=["light"]):
        assert path.read_bytes() == (tmp_path / "new" / "folder" / path.name).read_bytes()


def test_names_may_hold_anything(tmp_path):
    """They are text, not formulas nor markup, and no commands for a terminal."""
    names = ["$x^$", "\x1b[31m<b>&", "日本語\n" * 30 + "\udcff"]
    for path in pictures.export(document(*names), tmp_path, formats=["svg"], themes=["light"]):
        text = path.read_bytes()
        assert b"\x1b" not in text and b"<b>" not in text and b"\\x1b[31m&lt;b&gt;&amp;" in text


def test_small_sections_go_together():
    """The largest by themselves, and one bar for what all others have."""
    sums = [{"a": (9, 1, 0), "b": (5, 0, 5), "c": (2, 1, 1)}, {"c": (1, 0, 0)}]
    assert picture_bars._gathered(["a", "b", "c"], sums, 2) == ["a", "all others"]
    assert [found["all others"] for found in sums] == [(7, 1, 6), (1, 0, 0)]
    assert picture_bars._gathered(["a", "b", "c"], sums, 3) == ["a", "b", "c"]


def test_a_start_of_which_little_is_known_is_drawn_too(tmp_path):
    """No events, no phases, no residency: pictures with what there is."""
    writer = FaultsWriter(plain_file("/app"))
    start = recorded.parse(writer.to_bytes(faults=None, fills=None), "start.json")
    assert pictures.export(model.build([start]), tmp_path, formats=["svg"], themes=["dark"])


def test_other_processes_have_phases_too():
    """The first process is the bar of its variant; of the others there are those that took
    longest."""
    writer = FaultsWriter(plain_file("/app"), processes=[
        {"pid": 7 + number, "parent": 0 if number else None, "command": f"part{number}",
         "start_ns": number, "end_ns": 100 * number + 50} for number in range(12)])
    writer.phase("exec")
    for number in range(1, 12):
        writer.phases.append({"process": number, "name": "loader", "start_ns": number,
                              "end_ns": number + 40})
    built = model.build([recorded.parse(writer.to_bytes(), "start.json")])
    bars = picture_bars._processes(built["variants"][0])
    assert [bar.name for bar in bars] == ["app", *(f"part{number}" for number in range(4, 12))]
    assert (bars[1].start, bars[1].end) == (4, 450) and not bars[1].is_first
    figure = picture_bars.phases(built, themes.LIGHT)
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert shown == [bar.name for bar in bars]


def test_the_map_has_a_share_of_each_dot():
    """Of a page that is read in part, the part; the last page may be shorter."""
    start = np.array([0, PAGE])
    assert picture_residency._share("0+1", PAGE, PAGE + 10, start, PAGE).tolist() == [1, 0]
    assert picture_residency._share("1+1", PAGE, PAGE + 10, start, PAGE).tolist() == [0, 1]
    assert picture_residency._share("0+64", 16, PAGE + 10, start, PAGE).tolist() == [0.25, 0]


def test_causes_have_colours_of_their_own():
    """In both themes, and none is that of what goes backwards."""
    for theme in themes.THEMES.values():
        colours = [*theme.causes.values(), theme.backward]
        assert len(set(colours)) == len(colours) == 9
