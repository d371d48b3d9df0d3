"""bench/releases: which crates it takes."""

from pathlib import Path

import pytest
from bench_room import write_files
from coldbench import releases
from frontload.base.errors import Failure


def test_a_crate_is_described_by_its_versions_and_starts(tmp_path):
    crate = write_files(tmp_path / "tiny", versions="1.9\n1.10", starts="one\nother start\n")
    described = releases.described(crate)
    assert described.versions == ("1.9", "1.10")
    assert described.starts == (("one",), ("other", "start"))
    with pytest.raises(Failure, match="other: has no file versions"):
        releases.described(Path("other"))
