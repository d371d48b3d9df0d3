"""frontload predict: variants side by side, of traces wherever they lie."""

import json

import pytest
from frontload.base import console
from frontload.measure import prediction
from trace_writer import CODE, DATA, TraceWriter

pytestmark = pytest.mark.usefixtures("tools")
ORDER = "last\nf5\nf3\nf1\n"


@pytest.fixture
def program(link):
    return link(name="first")


@pytest.fixture
def other(link, tmp_path):
    (tmp_path / "order").write_text(ORDER)
    return link(f"-Wl,--symbol-ordering-file={tmp_path / 'order'}", name="second")


@pytest.fixture
def traces(program, tmp_path):
    """A folder with a trace of functions, and one with data, which touches more."""
    folder = tmp_path / "traces"
    folder.mkdir()
    program.trace(folder / "a.fltrace", "f1", "last")
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    for name in ("f1", "f2", "last"):
        writer.event(program.addresses[name], kind=CODE)
    writer.event(program.addresses["counter"], kind=DATA)
    writer.write(folder / "b.fltrace")
    return folder


def test_variants_are_compared_with_the_first(cli, program, other, traces):
    """Every variant has its figures on every device, and its gain over the first."""
    result = cli("predict", "--variant", f"a={program.path}", "--variant", f"b={other.path}",
                 "--json=-", traces)
    document = json.loads(result.out)
    assert document["schema"] == "frontload-predict/1"
    assert document["recorded"] == str(program.path)
    assert [device["name"] for device in document["devices"]] == ["hdd", "emmc", "ssd", "nfs"]
    assert [variant["name"] for variant in document["variants"]] == ["a", "b"]
    first, second = (variant["devices"]["hdd"] for variant in document["variants"])
    assert first["gain"]["major_faults"] == 0
    assert first["gain"]["times"] == 1
    assert second["gain"]["read_bytes"] == first["read_bytes"] - second["read_bytes"]
    assert [each["variant"] for each in document["predictions"]] == ["a", "b"]
    nothing = dict.fromkeys((*prediction.COUNTS, "seconds"), 0)
    assert prediction.gain(nothing, nothing)["times"] is None


def test_traces_with_data_are_taken_for_all_of_a_start(cli, program, traces):
    """Functions alone are left out beside them, and make a start look shorter without them."""
    result = cli("predict", "--json=-", "--recorded", program.path, traces)
    assert [each["touches"] for each in json.loads(result.out)["predictions"]] == [4]
    assert "1 trace of functions alone is left out" in cli("predict", traces).err
    result = cli("predict", traces / "a.fltrace")
    assert "traces of functions alone make starts look shorter than they are" in result.err


@pytest.mark.parametrize(("narrow", "faults"), [(False, 2), (True, 1)])
def test_a_table_has_a_line_for_each_variant_and_device(cli, program, other, traces, monkeypatch,
                                                        narrow, faults):
    """A narrow terminal has no room for minor faults."""
    monkeypatch.setattr(console, "is_narrow", lambda: narrow)
    lines = cli("predict", "--variant", f"[red]={program.path}", "--variant", f"b={other.path}",
                "--device", "ssd", "--device", "hdd", traces).out.splitlines()
    assert [line.split()[:2] for line in lines[2:6]] == [
        ["[red]", "ssd"], ["b", "ssd"], ["[red]", "hdd"], ["b", "hdd"]]
    assert lines[1].split().count("faults") == faults


def test_a_device_can_be_described_and_a_warm_start_added(cli, program, traces):
    """The time of the processor counts, too. The trace says which program it is of."""
    document = json.loads(cli(
        "predict", "--device", "custom", "--device-iops", "4", "--device-bandwidth", "2M",
        "--read-ahead", "16", "--warm-seconds", "3", "--json=-", traces).out)
    (device,) = document["devices"]
    assert (device["iops"], device["bytes_per_second"], device["read_ahead_kib"]) == (4, 2e6, 16)
    (variant,) = document["variants"]
    assert variant["binary"] == str(program.path) and list(variant["devices"]) == ["custom"]
    figures = variant["devices"]["custom"]
    assert figures["total_seconds"] == figures["seconds"] + 3
    assert figures["seconds"] == pytest.approx(figures["requests"] / 4
                                               + figures["read_bytes"] / 2e6)


def test_another_kernel_and_file_system_are_handed_on(cli, traces):
    assert cli("predict", "--kernel=6.1", "--file-system=xfs", "--page-size=16", traces).out
    assert "--kernel=six: is not" in cli("predict", "--kernel=six", traces, code=2).err
    assert "--file-system=zfs: is" in cli("predict", "--file-system=zfs", traces, code=2).err


@pytest.mark.parametrize("how", ["--recorded", "--variant", "in its place"])
def test_traces_of_another_build_are_an_error(cli, program, other, traces, how):
    """Addresses mean nothing in a build that was not recorded, not even under its name."""
    options = {"--recorded": [f"--recorded={other.path}"],
               "--variant": [f"--variant=b={other.path}"], "in its place": []}[how]
    was = program.build_id.hex()
    if not options:
        other.path.rename(program.path)
    result = cli("predict", *options, "--json", "-", traces, code=65)
    note = "give traces of BINARY, or name the recorded build with --recorded" if options else (
        f"it recorded {program.path} when its build-id was {was}, and that of {program.path} is "
        f"{program.build_id.hex()}: record again, or name the recorded build with --recorded")
    assert result.err == (f"frontload: error: {traces}/b.fltrace: none of its modules is the "
                          f"program\nfrontload: note: {note}\n")
    assert result.out == ""


@pytest.mark.parametrize("arguments, code, said", [
    (["empty"], 2, "has no traces"),
    (["missing"], 2, "missing: No such file or directory"),
    (["bad"], 65, "not a trace: wrong magic"),
    (["--device", "drum", "traces"], 2, "'drum' is not one of hdd"),
    (["--variant", "a", "traces"], 2, "'a' is not NAME=BINARY"),
    (["--variant", "a=x", "--variant", "a=y", "traces"], 2, "two variants have the same name"),
    (["--warm-seconds", "nan", "traces"], 2, "'nan' is not a number above 0"),
    (["--device-bandwidth", "2T", "traces"], 2, "'2T' is not a number of bytes above 0"),
])
def test_what_cannot_be_predicted_is_said(cli, tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "traces").mkdir()
    TraceWriter().module(1, "/bin/true", b"").write(tmp_path / "traces/a.fltrace")
    (tmp_path / "bad").write_text("no trace, and no program")
    result = cli("predict", *arguments, code=code)
    assert said in result.err
    assert "frontload-predict" not in result.err
