"""What prevents a front in a build: options of the program's link if that is known, otherwise the
configured flags; and how the objects were compiled. Runs nothing that the build wrote, because the
folder may be a stranger's."""

import os
import re
import shlex
from dataclasses import asdict, dataclass, field

from frontload.auto import link_command, linker_options, objects, programs, relink
from frontload.auto.build_folder import Folder
from frontload.auto.link_sources import Search
from frontload.auto.linker_options import Hindrance
from frontload.auto.objects import Sections
from frontload.base.errors import Failure

_SECTION_FLAGS = "add -ffunction-sections -fdata-sections to the compiler's flags"
_LTO = re.compile(r"-flto(=\S+)?$")


@dataclass
class Looked:
    link: str = ""  # the source of the link command; empty if none was found
    hindrances: list[Hindrance] = field(default_factory=list)
    sections: Sections | None = None
    lto: str = ""

    def lines(self) -> list[str]:
        found = []
        if self.link:
            found.append(f"its link command is known: {self.link}; frontload auto can try it")
        found += [f"obstacle: {each.option}: {each.why}; {each.remedy}"
                  for each in self.hindrances if each.why and each.remedy]
        if self.sections and (self.sections.objects or self.sections.bitcode):
            lost = self.sections.lost()
            found.append(f"obstacle: {lost}; {_SECTION_FLAGS}" if lost else
                         "most functions and data have sections of their own: a front can be made "
                         "of them")
        if self.lto:
            found.append(self.lto)
        return found

    def as_json(self) -> dict[str, object]:
        return {"link": self.link or None,
                "hindrances": [asdict(each) for each in self.hindrances],
                "sections": None if self.sections is None else
                asdict(self.sections) | {"lost": self.sections.lost() or None},
                "lto": self.lto or None}


def look(folder: Folder, program: str) -> Looked:
    """The hindrances to a front of `program` (empty: of any program) in this folder."""
    found = Looked()
    link = None
    if program:
        try:
            link = Search(os.path.realpath(program)).find()
        except Failure:
            link = None
    if link:
        _of_link(link, _kind(link, folder, program), found)
    else:
        _of_flags(folder, found)
        found.sections = _of_objects(folder.build)
    if program and programs.look(program).stripped and linker_options.STRIPS not in [
            each.why for each in found.hindrances]:
        found.hindrances.append(Hindrance("strip", linker_options.DROPPED,
                                          f"{program} is stripped, but its names are recorded and "
                                          "checked", linker_options.STRIP_LAST))
    return found


def _kind(link: link_command.LinkCommand, folder: Folder, program: str) -> str:
    """The compiler that links, by its name, or else as recorded in the build and the program."""
    if named := link_command.compiler(link):
        return named
    said = f"{_compilers(folder)} {' '.join(programs.look(program).compilers)}".lower()
    return "clang" if "clang" in said else "gcc"


def _compilers(folder: Folder) -> str:
    return " ".join(f"{each.path} {each.version}" for each in folder.compilers).lower()


def _of_link(link: link_command.LinkCommand, kind: str, found: Looked) -> None:
    found.link = link.source
    try:
        arguments = link.expanded()
        found.hindrances = relink.hindrances(link)
        found.sections = objects.look(objects.inputs(arguments, link.directory))
    except Failure as problem:
        found.hindrances.append(Hindrance(link.arguments[0], linker_options.REFUSED,
                                          problem.message, problem.note or ""))
        return
    _lto(arguments, kind, found)


def _of_flags(folder: Folder, found: Looked) -> None:
    compilers = _compilers(folder)
    for flags in folder.flags:
        try:
            words = shlex.split(flags.text)
        except ValueError:
            continue
        _, hindrances = linker_options.separate(linker_options.tokens(words), folder.path)
        found.hindrances += [Hindrance(f"{each.option} ({flags.where})", each.kind, each.why,
                                       each.remedy) for each in hindrances]
        _lto(words, "clang" if "clang" in compilers else "gcc", found)


def _lto(words: list[str], kind: str, found: Looked) -> None:
    if not any(_LTO.match(word) for word in words) or "-fno-lto" in words:
        return
    found.lto = ("link-time optimization by clang: lld does it, with a section for each function"
                 if kind == "clang" else
                 "obstacle: -flto of gcc: lld cannot link its objects; leave it out, or build with "
                 "clang, or link with gold and frontload order --linker gold")


def _of_objects(build: str) -> Sections | None:
    """For a build without a known link command: looks at all objects in its folder."""
    if not build:
        return None
    paths = []
    for inside, folders, names in os.walk(build):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules"))
        paths += [os.path.join(inside, name) for name in sorted(names) if name.endswith(".o")]
        if len(paths) > 100_000:
            break
    return objects.look(paths) if paths else None
