"""Advice: what would make a start read less, each piece a sentence with its evidence and its gain.

A rule looks at one start and returns advice or nothing. It uses only what was seen in this start: a
table of relocations that was in memory costs nothing, so no rule mentions it. The advice that would
save the most major faults comes first, then the most bytes.
"""

from frontload.report import advice_layout, advice_loader, advice_reading, advice_waiting
from frontload.report.sentence import Sentence
from frontload.report.start import Start

RULES = (
    advice_layout.front,
    advice_layout.prefetch,
    advice_layout.untrained,
    advice_layout.sparse_tables,
    advice_loader.packing,
    advice_loader.fixed_addresses,
    advice_loader.symbolic,
    advice_loader.small_libraries,
    advice_reading.readahead,
    advice_reading.whole_file,
    advice_waiting.others,
)


def advice(start: Start) -> list[Sentence]:
    """The advice of all rules, most gain first."""
    found = [sentence for rule in RULES for sentence in rule(start)]
    return sorted(found, key=lambda each: (-(each.gain.major_faults or 0),
                                           -(each.gain.read_bytes or 0)))
