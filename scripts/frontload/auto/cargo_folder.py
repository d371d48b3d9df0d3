"""Reads a folder that cargo builds: where its programs go, and its flags."""

import os
from pathlib import Path

from frontload.auto.build_folder import Flags, Folder, text_of


def read(folder: Folder) -> None:
    target = os.path.join(folder.path, "target")
    folder.build = target if os.path.isdir(target) else ""
    for name in ("config.toml", "config"):
        path = Path(folder.path, ".cargo", name)
        if path.is_file():
            folder.flags.append(Flags(str(path), text_of(path)))
