"""The pictures of the bench: of bench/run, of bench/start and of bench/readahead."""

import json
import signal

from bench_room import BENCH  # noqa: F401 (where coldbench is)
from coldbench import picture, start_picture
from coldbench.show import readahead_picture
from frontload.pagecache.kernel import PAGE_SIZE as PAGE

RUN = {"schema": "frontload-bench/2", "workloads": [{"name": "small", "variants": [
    {"name": "<default>", "size": 100_000, "page_size": PAGE, "read_pages": "0+3 10+2",
     "cold": {"major_faults": {"median": 7}, "read_bytes": {"median": 20_480}}}]}]}
# The first way reads of two files; the second has one of them elsewhere.
START = {"schema": "frontload-start/1", "read": {"hdd": {
    "as it is": {"/lib/libfoo.so": {"size": 100 * PAGE, "pages": "0+10 50+2"},
                 "/etc/foo": {"size": 5, "pages": "0+1"}},
    "fronts": {"/front/libfoo.so": {"size": 90 * PAGE, "pages": "0+4"}}}}}
READ_AHEAD = {"workload": "small", "variants": ["plain", "front"], "rows": [
    {"read_ahead_kib": kib, "variant": name, "major_faults": faults, "read_bytes": faults * 1e5}
    for name, factor in (("plain", 700), ("front", 50))
    for kib, faults in ((0, 9 * factor), (128, factor), (1024, 0))]}


def test_pictures(tmp_path, capsys):
    """Of a run: each variant with its figures. Of a start: variants of a file, which have the same
    name, are one row, and the file from which most was read is first. The same result gives the
    same bytes. Something else is refused, and nothing is written. Who calls bench/picture keeps his
    signals, as these tests do, which could not be interrupted otherwise."""
    output, before = tmp_path / "x.svg", signal.getsignal(signal.SIGINT)

    def draw(result, *arguments, code=0) -> str:
        output.unlink(missing_ok=True)
        text = result if isinstance(result, str) else json.dumps(result)
        (tmp_path / "result.json").write_text(text)
        assert picture.main([f"{tmp_path}/result.json", "-o", str(output), *arguments]) == code
        assert signal.getsignal(signal.SIGINT) is before
        return output.read_text() if output.exists() else ""

    drawn = draw(RUN)
    assert drawn == draw(RUN)
    assert "&lt;default&gt;" in drawn and "7 faults, 0.0 MB" in drawn
    (strip,) = picture.strips(RUN["workloads"][0])
    assert strip["read"] == [(0, 3 * PAGE), (10 * PAGE, 2 * PAGE)]

    found = start_picture.rows(START["read"]["hdd"], ["as it is", "fronts"])
    assert [name for name, _ in found] == ["libfoo.so", "foo"]
    assert [strip and strip.resident_pages for strip in found[0][1]] == [12, 4]
    assert found[1][1][1] is None
    assert "fronts" in draw(START) and "fronts" not in draw(START, "--ways", "as it is")
    assert draw(START, "--ways", "none", code=2) == draw(START, "--device", "lazy", code=2) == ""
    assert "there are: hdd" in capsys.readouterr().err

    for text in ("{}", "no JSON", '{"schema": "frontload-measure/2"}', "[]"):
        assert draw(text, code=65) == ""
        assert f"frontload: error: {tmp_path}/result.json: " in capsys.readouterr().err


def test_the_picture_of_readahead():
    """It has a line for each variant, whose name it gives."""
    drawn = readahead_picture.draw(READ_AHEAD)
    for text in (b"plain", b"front", b"major faults", b"MB read"):
        assert drawn.count(b">" + text + b"<") == 1
