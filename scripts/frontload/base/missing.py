"""Figures that a measurement or a recording lacks, for its tables and JSON."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """A figure that this machine or user cannot have, and the remedy."""

    what: str
    why: str
    remedy: str
