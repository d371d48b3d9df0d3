"""The residency map of a file as SVG paths: which part of each stretch was read, and used.

A strip is the file from its first byte to its last, in columns. Each column is filled from below
with the share of its touched bytes, and above it with the share read for nothing.
"""

from dataclasses import dataclass

import numpy as np

from frontload.profile.trace import GRANULE

COLUMNS = 1000
HEIGHT = 24  # in the units of the SVG; a part that was read is at least one of them high


@dataclass(frozen=True)
class Strip:
    """Two SVG paths in a box of COLUMNS by HEIGHT; `touched` is None if unknown."""

    read: str
    touched: str | None


def strip(file: dict, length: int, page_size: int) -> Strip | None:
    """The map of one file, in a strip for `length` bytes; None if its reads are unknown."""
    if file["read"] is None or length <= 0:
        return None
    edges = np.arange(COLUMNS + 1) * (length / COLUMNS)
    room = length / COLUMNS
    read = _covered(file["read"], page_size, file["size"], edges) / room
    if file["touched"] is None:
        return Strip(_path(_heights(read)), None)
    touched = np.minimum(_covered(file["touched"], GRANULE, file["size"], edges) / room, read)
    used = _heights(touched)
    # Unused bytes show as one unit even where nearly all was used, and the other way round.
    whole = np.maximum(_heights(read), used + (read - touched > 1e-9))
    return Strip(_path(np.minimum(whole, HEIGHT)), _path(np.minimum(used, HEIGHT - (
        (read - touched > 1e-9) & (used >= HEIGHT)))))


def _covered(runs: str, unit: int, size: int, edges: np.ndarray) -> np.ndarray:
    """How many bytes of the runs (`first+count` of units) lie in each column."""
    if not runs:
        return np.zeros(len(edges) - 1)
    pairs = np.array([run.split("+") for run in runs.split()], dtype=np.int64)
    start = np.minimum(pairs[:, 0] * unit, size)
    end = np.minimum((pairs[:, 0] + pairs[:, 1]) * unit, size)
    # Bytes covered before a position grow along each run and stay in between.
    positions = np.column_stack([start, end]).ravel().astype(float)
    covered = np.concatenate([[0], np.cumsum(end - start)])
    values = np.column_stack([covered[:-1], covered[1:]]).ravel()
    return np.diff(np.interp(edges, positions, values, left=0, right=covered[-1]))


def _heights(shares: np.ndarray) -> np.ndarray:
    return np.ceil(np.clip(shares, 0, 1) * HEIGHT - 1e-6).astype(int)


def _path(heights: np.ndarray) -> str:
    """An outline of the columns; those of one height are one rectangle."""
    changes = np.flatnonzero(np.diff(heights)) + 1
    starts = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [len(heights)]])
    return "".join(f"M{start} {HEIGHT}V{HEIGHT - heights[start]}H{end}V{HEIGHT}z"
                   for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
                   if heights[start])
