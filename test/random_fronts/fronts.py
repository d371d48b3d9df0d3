"""Random fronts: a startup profile of a random half of what a link has, in random order, and
options that decide where sections lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from frontload.profile.format import to_bytes
from frontload.profile.startup_profile import Name, Profile, Touch, Touched
from linking import ALWAYS, LD_FRONTLOAD, LD_LLD
from names import names_of
from places import BUILD
from startable import Link, Startable

FLAGS = (
    "-z now", "-z lazy", "-z norelro", "-z relro", "-z separate-code", "-z noseparate-code",
    "-z separate-loadable-segments", "-z max-page-size=4096", "-z max-page-size=16384",
    "-z max-page-size=65536", "-z max-page-size=2097152", "-z common-page-size=4096",
    "-z keep-text-section-prefix", "-z nokeep-text-section-prefix", "-z rodynamic",
    "-z retpolineplt", "-z shstk", "-z force-ibt", "-z execstack", "-z noexecstack",
    "-z nognustack", "-z pack-relative-relocs", "-z nopack-relative-relocs", "-z nocombreloc",
    "-z start-stop-gc", "-z nostart-stop-gc", "-z stack-size=1000000", "-z rela", "-z wxneeded",
    "-z origin", "-z global", "-z interpose", "-z undefs",
    "--gc-sections", "--icf=all", "--icf=safe", "--emit-relocs", "-O0", "-O2", "--no-rosegment",
    "--xosegment", "--hash-style=both", "--hash-style=sysv", "--build-id=sha1",
    "--compress-debug-sections=zlib", "--strip-all", "--strip-debug", "--discard-all",
    "--discard-locals", "--export-dynamic", "--no-mmap-output-file", "--threads=1",
    "--no-gnu-unique", "--no-relax", "--sort-section=name", "--sort-section=alignment",
    "--pack-dyn-relocs=relr", "--call-graph-profile-sort=none", "--randomize-section-padding=7",
    "--no-apply-dynamic-relocs", "--image-base=0x10000000", "-Bsymbolic", "-Bsymbolic-functions",
)
_OF_LIBRARIES_ONLY = {"-Bsymbolic", "-Bsymbolic-functions"}
_PREFETCH = ("--front-prefetch", f"--rpath={BUILD / 'lib'}")


def random_profile(random: Random, names: list[Name]) -> Profile:
    """Half of the names, or hardly any, or all, each touched by some of the runs."""
    share = random.choice((0.5, 0.5, 0.5, 0.05, 1))
    chosen = random.sample(names, max(1, round(share * len(names))))
    runs = random.randint(1, 4)
    data_runs = random.randint(1, runs)
    return Profile(b"program", runs, {
        name: Touch(random.randint(1, runs if name.kind == "function" else data_runs), rank,
                    Touched(16 * random.randint(1, 20)) if random.random() < 0.7 else Touched())
        for rank, name in enumerate(chosen)}, data_runs)


def random_flags(random: Random, link: Link) -> Iterator[str]:
    for flag in random.sample(FLAGS, random.choice((0, 0, 1, 2, 4, 8))):
        if flag in _OF_LIBRARIES_ONLY and not link.is_shared:
            continue
        yield from flag.split()
    if random.random() < 0.2 and not link.is_shared and not link.is_static:
        yield from _PREFETCH


@dataclass(frozen=True)
class _Chosen:
    """How one file is linked with a random front."""

    name: str
    link: Link
    flags: tuple[str, ...]
    profile: Path

    def __str__(self) -> str:
        return f"{self.name}: {' '.join(self.flags)} --startup-profile={self.profile}"

    def with_front(self, folder: Path) -> str:
        """What the linker says if it fails."""
        ran = self.link.run(LD_FRONTLOAD, folder / self.name, "--min-match=0", ALWAYS,
                            f"--startup-profile={self.profile}", *self.flags)
        return ran.stderr if ran.returncode else ""

    def without(self, folder: Path) -> str:
        flags = [flag for flag in self.flags if flag not in _PREFETCH]
        ran = self.link.run(LD_LLD, folder / self.name, *flags)
        return ran.stderr if ran.returncode else ""


def problem_of(made: Startable, number: int, key: str, folder: Path) -> str | None:
    """Links a program with the random fronts of this number, and starts it. What is wrong with it,
    unless it is wrong without a front, too."""
    random = Random(f"{key} {number}")
    files = [_choose(random, made, name, folder) for name, link in made.files.items()
             if link.objects]
    told = "\n".join([f"{key} {number}", *map(str, files)])
    for name, link in made.files.items():
        if not link.objects:
            folder.joinpath(name).symlink_to(made.folder / name)
    for file in files:
        if complaint := file.with_front(folder):
            return None if file.without(folder) else f"{told}\ndoes not link: {complaint}"
    ran = made.start(folder)
    if ran == made.expected:
        return None
    for file in files:
        if file.without(folder):
            return f"{told}\nlinks with a front only"
    if made.start(folder) == ran:
        return None
    return f"{told}\ndoes {ran} instead of {made.expected}"


def _choose(random: Random, made: Startable, name: str, folder: Path) -> _Chosen:
    link = made.files[name]
    flags = tuple(random_flags(random, link))
    profile = folder / f"{name}.startup"
    profile.write_bytes(to_bytes(random_profile(
        random, names_of(made.folder / name, link.objects))))
    if random.random() < 0.15 and not link.is_lto:
        link = _through_one_object(link, folder / f"{name}.o")
    return _Chosen(name, link, flags, profile)


def _through_one_object(link: Link, output: Path) -> Link:
    """The same link, of one object that `-r` has made of all."""
    ran = Link(("-r", *map(str, link.objects)), ()).run(LD_FRONTLOAD, output)
    assert ran.returncode == 0, ran.stderr
    own = {str(path) for path in link.objects}
    first = next(i for i, word in enumerate(link.arguments) if word in own)
    rest = [word for word in link.arguments[first:] if word not in own]
    return Link((*link.arguments[:first], str(output), *rest), (output,), link.is_shared,
                link.is_static)
