"""The commands of docs/how-to/pgo.md do what the page says, as they stand there."""

import os
import re
import shutil
from pathlib import Path

import pytest
from abilities import needs
from linking import Image
from places import BUILD, LLVM
from shared_run import TOOL, do, function_names

PAGE = Path(__file__).parents[2] / "docs/how-to/pgo.md"


def commands(compiler: str) -> str:
    section = PAGE.read_text().split(f"### {compiler}\n")[1]
    return re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]


@needs("ptrace")
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_the_recipe(tmp_path, compiler):
    """From a source file to a program with PGO and a front, in a folder with a space."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    shutil.copy(TOOL, folder / "app.c")
    text = commands(compiler).replace("/path/to/frontload/", f"{BUILD}/")
    path = f"{BUILD}/bin:{LLVM}:{os.environ['PATH']}"
    do("sh", "-euc", text, cwd=folder, env={**os.environ, "PATH": path})
    image = Image(folder / "app")
    assert image.sections_of("main", "check", "make_table") == {".text.front"}
    assert image.section_of("never") == ".text.unlikely"
    names = function_names(folder / "app.startup")
    assert "main" in names and not any("gcov" in name or "__llvm" in name for name in names)
