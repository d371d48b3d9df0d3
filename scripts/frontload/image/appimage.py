"""AppImages: an ELF program, the runtime, and behind its end a SquashFS image, which it mounts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from frontload.base import tools
from frontload.base.errors import BadData
from frontload.base.processes import check_call
from frontload.base.scratch import scratch_folder
from frontload.device.squashfs import Super, read_super


def runtime_size(path: Path) -> int:
    """Where the image begins: at the end of the section headers, which are an ELF file's last."""
    try:
        with open(path, "rb") as stream:
            head = ELFFile(stream).header
    except (ELFError, ValueError) as problem:
        raise BadData(path, f"is no folder and no AppImage: {problem}", note="give a folder, or an "
                      "AppImage of type 2") from problem
    return int(head["e_shoff"] + head["e_shentsize"] * head["e_shnum"])


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, bytes, Super]]:
    """Within `with`, the folder of an AppImage, its runtime, and the image's superblock."""
    size = runtime_size(path)
    image = read_super(path, size)
    with scratch_folder("frontload-image.") as scratch:
        check_call([tools.program("unsquashfs", "install squashfs-tools"), "-quiet", "-no-progress",
                    "-offset", str(size), "-dest", scratch / "folder", path])
        with open(path, "rb") as stream:
            yield scratch / "folder", stream.read(size), image
