"""The pictures of a report: all are drawn, the same every time, whatever names are in them."""

from faults_writer import PAGE, FaultsWriter, plain_file
from frontload.report import model, pictures, recorded


def test_every_picture_is_drawn_in_every_form(tmp_path):
    """One of all files, two of each that is large enough, and the bars; names are text."""
    writer = FaultsWriter(
        plain_file("/app", 100 * PAGE, [(".text", 0, 40 * PAGE), (".rodata", 40 * PAGE, 60 * PAGE)],
                   flags="r-x", before="", after=""),
        plain_file("/lib/$other$.so", 30 * PAGE, before="", after=""),
        plain_file("/lib/tiny", PAGE, before="", after=""),
        command=("/app",), variant="\x1b[31m<b>&").phase("exec").major(2, 0).phase("main")
    for page in (60, 20, 80, 5):
        writer.major(0, page * PAGE, pages=8, access="x").fault(0, page * PAGE + 1)
    writer.major(1, 0, pages=3)
    start = model.build([recorded.parse(writer.to_bytes(), "start.json")])
    written = pictures.export(start, tmp_path / "once", themes=["light"])
    assert set(written) == {
        tmp_path / "once" / f"{name}.light.{format}" for format in ("png", "svg") for name in (
            "faults", "faults-program", "residency-program", "faults-_other_.so",
            "residency-_other_.so", "sections", "phases")}
    for path in written:
        content = path.read_bytes().rstrip()
        assert content.endswith(b"IEND\xaeB`\x82" if path.suffix == ".png" else b"</svg>")
        assert path.suffix == ".png" or (b"\x1b" not in content and b"<b>" not in content)
    for path in pictures.export(start, tmp_path / "again", themes=["light"]):
        assert path.read_bytes() == (tmp_path / "once" / path.name).read_bytes()
