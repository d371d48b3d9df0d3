"""Changes to a project's files that `frontload init --write` makes: only what is safe.

It is safe to append to a CMakeLists.txt that names the target literally outside any block, and to
make a file that does not exist. Everything else is left to the user. Changes are shown as diffs. A
change made before is reported, and a second run changes nothing.
"""

import difflib
import os
import re
from dataclasses import dataclass

from frontload.auto import advice
from frontload.auto.advice import Advice, Training
from frontload.auto.build_folder import Folder, Target
from frontload.base.files import write_if_changed

_README = """\
# Startup profiles

{name} lists by name what the program touches while it starts, in order. Frontload's linker places
these at the beginning of the program, so that a cold start reads one piece of it. The file is
text, made by `frontload record` and `frontload profile`; a new recording changes only the lines of
functions that have changed. `frontload check PROGRAM --profile {name}` tells when it is stale.
"""
_OPENING = {"if", "foreach", "while", "function", "macro", "block"}
_CLOSING = {f"end{each}" for each in _OPENING}
_COMMAND = re.compile(r"([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True)
class Change:
    """A new text for a file, or the reason for none; `done`: the file already has the change."""

    path: str
    before: str
    after: str = ""
    obstacle: str = ""
    done: bool = False

    def diff(self) -> str:
        old = self.before.splitlines(keepends=True)
        name = self.path.lstrip("/")
        return "".join(difflib.unified_diff(old, self.after.splitlines(keepends=True),
                                            f"a/{name}" if self.before else "/dev/null",
                                            f"b/{name}"))


def plan(folder: Folder, output: str, training: Training, advised: Advice) -> Change:
    """The change that --write makes for this program."""
    if folder.system == "cmake":
        target = advice.target_of(folder, output)
        return _cmake(advised.steps[0].file, target, output, training)
    readme = os.path.join(os.path.dirname(advised.profile), "README.md")
    before = advice.existing(readme)
    name = os.path.basename(advised.profile)
    return Change(readme, before, _README.format(name=name), done=bool(before))


def _cmake(lists: str, target: Target | None, output: str,
           training: Training) -> Change:
    before = advice.existing(lists)
    if not before:
        return Change(lists, "", obstacle="there is no such file")
    name = target.name if target else os.path.basename(output)
    code = advice.without_comments(before)
    if advice.calls_frontload(before, name):
        return Change(lists, before, before, done=True)
    if target is None or not re.search(
            rf"\badd_(?:executable|library)\s*\(\s*{re.escape(name)}[\s)]", code, re.IGNORECASE):
        return Change(lists, before, obstacle=f"it does not name the target {name} literally")
    if not _at_top_level(code, name):
        return Change(lists, before, obstacle=f"{name} is defined in a block (if, function, ...)")
    lines = "\n".join(advice.cmake_lines(name, training))
    gap = "" if before.endswith("\n") else "\n"
    added = f"{gap}\n{lines}\n"
    if before.count("\r\n") * 2 > before.count("\n"):  # most lines end so
        added = added.replace("\n", "\r\n")
    return Change(lists, before, before + added)


def _at_top_level(code: str, name: str) -> bool:
    depth = 0
    for match in _COMMAND.finditer(code):
        command = match[1].lower()
        depth += (command in _OPENING) - (command in _CLOSING)
        if command in ("add_executable", "add_library") and re.match(
                rf"\s*{re.escape(name)}[\s)]", code[match.end():]):
            return depth == 0
        if command == "return" and depth == 0:
            return False  # CMake does not read the rest
    return False


def apply(change: Change) -> None:
    os.makedirs(os.path.dirname(change.path), exist_ok=True)
    write_if_changed(change.path, change.after.encode("utf-8"))
