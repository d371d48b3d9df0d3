"""What a measurement or a recording lacks, told with it in the tables and in JSON."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """A figure that this machine or user cannot have, and what would give it."""

    what: str
    why: str
    remedy: str
