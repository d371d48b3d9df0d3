"""Compressed images: the kernel reads of them what was predicted, in every format that it has."""

import json
import os
import random
import sys

import pytest
from abilities import needs
from bench_room import BENCH
from frontload.device import image, kinds
from trace_writer import DATA, TraceWriter

PLACES = 24
NOISE = 6_000_000
# Functions far apart, and data of a file that is linked in, which is written here and there.
SOURCE = "\n".join(
    ["extern volatile char _binary_noise_start[];"]
    + [f'asm(".section .text.far{i},\\"ax\\"; .globl far{i}; .type far{i}, @function; far{i}: ret;'
       f' .skip 300000, 0x90; .size far{i}, .-far{i}"); void far{i}(void);' for i in range(PLACES)]
    + ["int main(void) {"]
    + [f"far{i * 7 % PLACES}(); ++_binary_noise_start[{i * 5 % PLACES * 240000 + 7}];"
       for i in range(PLACES)] + ["return 0; }"])

# argv: the program, the image.
ON_A_DEVICE = """
import json, sys
from pathlib import Path
from coldbench.measure.requests import CountingLauncher
from frontload.device.cold_device import ColdDevice
from frontload.pagecache import cache as pagecache
program = Path(sys.argv[1])
with ColdDevice(program.parent, [program], file_system=sys.argv[2]) as device:
    launcher = CountingLauncher(device.number)
    copy = device.place(program)
    copy.read_bytes()  # which EROFS keeps compressed, too
    pagecache.make_cold(copy)
    sample = launcher.run([str(copy)])
    read = launcher.of(sample)
    print(json.dumps([sample.major_faults, read.bytes, read.reads]))
"""


@pytest.fixture
def program(tmp_path, link):
    chance = random.Random(1)
    (tmp_path / "noise").write_bytes(bytes(chance.choices(range(16), k=NOISE)))
    return link("-Wl,--format=binary", "noise", "-Wl,--format=default", source=SOURCE)


@pytest.fixture
def trace(tmp_path, program):
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    for name in ("_start", "_init", "frame_dummy", "main"):
        writer.event(program.addresses[name])
    for i in range(PLACES):
        writer.event(program.addresses[f"far{i * 7 % PLACES}"])
        writer.event(program.addresses["_binary_noise_start"] + i * 5 % PLACES * 240000 + 7,
                     kind=DATA)
    return writer.write(tmp_path / "trace")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=needs(f"image:{name}"))
    for name in ("squashfs:xz:1M", "squashfs:gzip", "squashfs:zstd:256K", "squashfs:lzo",
                 "squashfs:lz4:512K", "erofs:lz4", "erofs:lz4hc:64K", "erofs:lzma:64K",
                 "erofs:deflate:64K", "erofs:zstd:64K", "btrfs:zstd")])
@needs("loop-devices", "quiet-page-cache", "kernel>=6.17")
def test_the_kernel_reads_what_was_predicted(frontload, tools, run, program, trace, name):
    """btrfs also reads nodes of its trees, if others dropped all caches meanwhile."""
    predicted = json.loads(frontload("predict", f"--device={name}", "--json=-", trace).stdout)
    figures = predicted["variants"][0]["devices"][name]
    faults, read, requests = json.loads(run(
        sys.executable, "-c", ON_A_DEVICE, program.path, name, env=os.environ | {
            "PYTHONPATH": os.pathsep.join([*sys.path, str(BENCH)])}).stdout)
    assert figures["major_faults"] == pytest.approx(faults, rel=0.05, abs=1)
    assert figures["read_bytes"] == pytest.approx(read, rel=0.05, abs=16384)
    assert figures["requests"] == pytest.approx(requests, rel=0.1, abs=6)
    assert figures["decompressed_bytes"] > read and figures["blocks"] > 1


def test_chunks_are_predicted_on_top_of_a_device(frontload, program, trace):
    names = "lazy+chunks:512K", "lazy+chunks:4M", "hdd"
    document = json.loads(frontload("predict", *(f"--device={name}" for name in names),
                                    "--json=-", trace).stdout)
    assert [device["name"] for device in document["devices"]] == ["hdd", *names[:2]]
    found = document["variants"][0]["devices"]
    size = program.path.stat().st_size
    assert found["lazy+chunks:4M"]["blocks"] == -(-size // (4 << 20))
    assert found["lazy+chunks:512K"]["blocks"] > 16
    assert "blocks" not in found["hdd"]
    assert "MB decom" in frontload("predict", f"--device={names[0]}", trace).stdout


@needs("image:squashfs:zstd")
@needs("loop-devices")
def test_a_program_is_measured_in_an_image(frontload, program):
    document = json.loads(frontload("measure", "--device=squashfs:zstd", "--runs=1", "--warmup=0",
                                    "--json=-", "--", program.path).stdout)
    assert document["device"]["image"] == "squashfs:zstd"
    assert document["files"][0]["file_system"] == "squashfs"


@pytest.mark.parametrize("name, expected", [
    ("hdd", ("hdd", None)), ("squashfs:xz:1M", ("", "squashfs:xz:1M")),
    ("hdd+erofs", ("hdd", "erofs")), ("squashfs:zip", ("squashfs:zip", None)),
    ("squashfs:xz:96K", ("squashfs:xz:96K", None)), ("btrfs:zstd:1M", ("btrfs:zstd:1M", None))])
def test_names_of_images(name, expected):
    assert kinds.split(name) == expected


def test_what_is_no_image_is_refused(frontload):
    said = frontload("measure", "--device=squashfs:xz:2M", "--", "true", code=2).stderr
    assert "'squashfs:xz:2M' is not one of hdd, emmc, ssd, nfs, lazy, custom" in said
    assert image.syntax() in said
