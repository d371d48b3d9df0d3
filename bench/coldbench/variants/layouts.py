"""The same program at other addresses: links that differ by padding before their code and data.

The speed of a loop depends on its address by some percent: on the lines of a cache and of the
branch predictor that it shares with other code. So comparing one link with another shows as much of
their luck as of their linkers (Mytkowicz, Diwan, Hauswirth and Sweeney, "Producing wrong data
without doing anything obviously wrong!", ASPLOS 2009). Many links of each, at other addresses, show
how they compare (Curtsinger and Berger, "Stabilizer", ASPLOS 2013).
"""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from coldbench.variants.run_words import run_words
from coldbench.variants.work_folder import WorkFolder, linked

_STEP = 8  # bytes: the alignment of most data
_PAGE = 4096
# Sections that are kept without references (R), and their contents. `.init` is run, and lies before
# the functions of a front. Addresses that the loader writes lie in a front; and for each symbol of
# a library it has an entry of 24 bytes before the front's constants.
_PADDED = {
    '.init,"ax"': ".rept {0}\nnop\n.endr",
    '.text.padding,"axR"': ".skip {0}",
    '.rodata.padding,"aR"': ".skip {0}",
    '.data.rel.ro.padding,"awR"': ".rept {0} / 24\n.quad free\n.endr",
    '.data.rel.ro.more,"awR"': ".quad .\n.skip {0}",
    '.padding,"awR"': ".quad .\n.skip {0}, 1",
    '.bss.padding,"awR",%nobits': ".skip {0}",
}


def _pad(work: WorkFolder, sections: Mapping[str, str], output: Path) -> None:
    """Makes an object whose only effect is to move everything behind it."""
    texts = [f".section {section}\n{contents}\n" for section, contents in sections.items()]
    source = output.with_suffix(".s")
    source.write_text("".join(texts) + '.section .note.GNU-stack,""\n')
    run_words([work.llvm / "bin" / "clang", "-c", source, "-o", output], work.folder)


def link_layouts(work: WorkFolder, variant: str, count: int, folder: Path,
                 progress: Callable[[str], None], more: Sequence[str] = ()) -> list[Path]:
    """Links a built variant `count` times into `folder`, the first without padding. `more` are
    further data sections of the program."""
    command = work.build_command(work.target(variant))
    sections = _PADDED | {f'{name},"awR"': ".skip {0}, 1" for name in more}
    chosen = random.Random(1)
    files = []
    for number in range(count):
        progress(f"link {variant}, layout {number}")
        padding = folder / "padding.o"
        _pad(work, {section: contents.format(chosen.randrange(0, _PAGE, _STEP) if number else 0)
                    for section, contents in sections.items()}, padding)
        files.append(folder / f"{work.target(variant)}.{number}")
        compiler, *words = linked(command, files[-1])
        # Before all other objects, so that it comes first in its output section.
        run_words([compiler, padding, *words], work.folder)
    return files
