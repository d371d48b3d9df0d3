"""bench/kernels: a result in pieces, its page, and what counts as predicted."""

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench_room import read_json
from coldbench import kernels
from coldbench.__main__ import main as bench
from coldbench.measure import machine
from coldbench.show import kernels_page
from coldbench.variants import workload
from coldbench.variants.work_folder import Cross, WorkFolder
from compiled import compile_to
from frontload.base.errors import EXIT_OK, Failure

LINE = '@ start front 128 7 80 40960 {"major_faults": 5, "exit_status": 0}'
ROW = {"workload": "cc1", "processor": "amd64", "kernel": "6.12", "release": "6.12.1-amd64",
       "page_kib": 4, "file_system": "xfs", "read_ahead_kib": 128, "variant": "default",
       "major_faults": 100, "read_bytes": 10 ** 7, "requests": 100}


def test_a_result_grows_and_has_its_page(tmp_path, build, monkeypatch):
    """A machine of a second kernel adds its rows, and one of the same kernel replaces them."""
    faults = {}

    def counts(kernel, file_system, read_aheads, runs, first):
        return [{"name": name, "read_ahead_kib": ahead, "requests": 9, "read_bytes": 4096,
                 "major_faults": faults["now"]}
                for name in kernels.VARIANTS for ahead in read_aheads]

    monkeypatch.setattr(kernels, "work_folder", lambda described, *more: SimpleNamespace(
        workload=described, build=lambda targets: None, targets=lambda names: [],
        binary=lambda name: Path(name), environment=nullcontext))
    monkeypatch.setattr(kernels, "started", lambda work, processor: [])
    monkeypatch.setattr(kernels, "make_list", lambda work, there: None)
    monkeypatch.setattr(kernels, "predicted", lambda *place: {
        name: {"major_faults": 8, "requests": 9, "read_bytes": 4096} for name in kernels.VARIANTS})
    monkeypatch.setattr(machine, "Machine", lambda *made: SimpleNamespace(
        counts=counts, place=lambda file: file))
    monkeypatch.setattr(machine, "kernel", lambda suite, cache, processor: machine.Kernel(
        {"bookworm": "6.1.0-9-amd64", "sid": "7.2.13+deb14-amd64"}[suite], Path(), Path()))
    result = tmp_path / "kernels.json"
    for suite, faults["now"] in (("sid", 7), ("bookworm", 7), ("sid", 3)):
        assert bench(["kernels", f"--kernels={suite}", "--file-systems=xfs", f"--json={result}",
                      f"--build-dir={build}", f"--work-dir={tmp_path}", "--runs=1"]) == EXIT_OK
    rows = read_json(result, "frontload-kernels/1")["rows"]
    assert [(row["kernel"], row["read_ahead_kib"], row["major_faults"]) for row in rows] == [
        (kernel, ahead, count) for kernel, count in (("6.1", 7), ("7.2", 3))
        for ahead in (128, 8192) for _ in kernels.VARIANTS]
    page = (tmp_path / "kernels.md").read_text()
    assert f"| 6.1 | 4 | xfs | 8192 |{' 7 (8) |' * 6} 7 |" in page  # a list is not judged
    assert "Not clang, 207 MB, on 7.2, 4 KiB a page, xfs, 128 KiB, default: major_faults." in page


def test_starts_by_frontload_run(tmp_path, build):
    """They start another variant's file; the list has this file as the machine has it."""
    described, source = workload.load("cc1")
    work = WorkFolder(described, source, tmp_path / "work", build / "bin", Path("/usr/lib/llvm-22"))
    front, listed = kernels.started(work, machine.AMD64, ["front+run", "default+list"])
    assert front.words[:3] == ["frontload-run", "--", "/disk/cc1.front"]
    assert listed.words[:4] == ["frontload-run", "--files=/list", "--", "/disk/cc1.default"]
    assert front.here[0] == str(work.binary("front"))
    compiled = compile_to(work.binary("default"), "gcc", "main.c",
                          sources={"main.c": "int main(void) { return 0; }"})
    (work.folder / "cc1.startup").write_text(
        "frontload-startup-profile 2\nprogram cc1\nruns 1\nfunction\ttext\t1\t+1\t-\tmain\n")
    there = tmp_path / "there"
    kernels.make_list(work, there)
    assert f"\nfile\t/disk/cc1.default\t{compiled.stat().st_size}\tCHANGED\t" in there.read_text()


def test_a_page_shows_what_is_not_counted_yet():
    row = ROW | {"predicted": {"major_faults": 101, "read_bytes": 10 ** 7, "requests": 100}}
    page = kernels_page.render({"runs": 1, "rows": [row]})
    assert f"| 6.12 | 4 | xfs | 128 | 100 (101) |{' — |' * 6}" in page


@pytest.mark.parametrize("figure, predicted, agrees", [
    ("major_faults", 110, True), ("major_faults", 111, False), ("major_faults", 89, False),
    ("read_bytes", 11 * 10 ** 6, True), ("read_bytes", 11 * 10 ** 6 + 1, False)])
def test_a_prediction_agrees_within_a_tenth(figure, predicted, agrees):
    row = ROW | {"predicted": {figure: predicted}}
    assert kernels_page.agrees(row, figure) is agrees


def test_of_few_faults_two_more_agree():
    row = ROW | {"major_faults": 1, "predicted": {"major_faults": 3}}
    assert kernels_page.agrees(row, "major_faults")


def test_what_a_machine_reports():
    (found,) = machine.parse(f"boot\n{LINE}\n", "here")
    assert found == {"name": "front", "read_ahead_kib": 128, "requests": 7, "device_bytes": 40960,
                     "read_bytes": 40960, **json.loads(LINE[LINE.index("{"):])}
    with pytest.raises(Failure, match="here: @ stayed front: 4096"):
        list(machine.parse(f"{LINE}\n@ stayed front: 4096\n", "here"))
    with pytest.raises(Failure, match="here: the machine reported nothing"):
        list(machine.parse("Kernel panic\n", "here"))


@pytest.fixture
def arm64(tmp_path):
    return replace(machine.AMD64, name="arm64", root=tmp_path / "root", build=tmp_path / "build")


def test_kernels_differ_in_their_pages(tmp_path, arm64):
    """Each has a folder, whose modules say its version."""
    for name in "sid", "sid-arm64", "sid-arm64-16k":
        modules = tmp_path / name / "lib/modules" / name
        modules.mkdir(parents=True)
        for file in "modules.dep", "vmlinuz":
            (modules / file).touch()
    found = [machine.kernel("sid", tmp_path), *(machine.kernel(name, tmp_path, arm64)
                                                for name in ("sid", "sid:16k"))]
    assert [(kernel.version, kernel.page_kib) for kernel in found] == [
        ("sid", 4), ("sid-arm64", 4), ("sid-arm64-16k", 16)]
    names = "ext4", "xfs", "f2fs"
    assert [replace(found[0], page_kib=pages).mountable(names) for pages in (4, 16, 64)] == [
        [*names], ["ext4", "xfs"], ["ext4"]]


def test_files_of_another_processor_have_places_there(tmp_path, arm64):
    (tmp_path / "root/bin").mkdir(parents=True)
    (tmp_path / "root/bin/dd").touch()
    assert arm64.program("dd") == tmp_path / "root/bin/dd"
    assert arm64.place(tmp_path / "root/bin/dd") == Path("/bin/dd")
    assert arm64.place("/src/hello.c") == Path("/src/hello.c")


def test_variants_for_another_processor(tmp_path):
    """They are linked with its archives, and with its library for the prefetch as the last one."""
    archive = tmp_path / "root/usr/lib/llvm-22/lib/libLLVMCore.a"
    archive.parent.mkdir(parents=True)
    archive.touch()
    described, source = workload.load("cc1")
    cross = Cross("--target=aarch64-linux-gnu", tmp_path / "root", tmp_path / "lib")
    work = WorkFolder(described, source, tmp_path / "work", tmp_path / "bin",
                      Path("/usr/lib/llvm-22"), cross)
    command = work.build_command("cc1.front+prefetch")
    assert "--target=aarch64-linux-gnu -pie" in command and str(archive) in command
    assert f"-lz3 -Wl,--no-as-needed,{tmp_path}/lib/libfrontload-prefetch.so -o" in command
