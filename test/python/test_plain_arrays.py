"""The stand-in for numpy: the same results as numpy's, for all that verbs without numpy use."""

import numpy
import pytest
from frontload.base import plain_arrays
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = [0, 1, 2, 3, 5, 15, 16, 17, 250, (1 << 31) - 1, 1 << 40, (1 << 63) - 1]
# Each makes something of a module, and of two arrays of one length and a type.
OPERATIONS = {
    "add wraps": lambda np, a, b: a + b,
    "subtract wraps": lambda np, a, b: a - b,
    "with a number": lambda np, a, b: (a + 1, 7 - b, a * 2, a // 3, a % 16, a >> 4, b & 6, a | 1),
    "granules": lambda np, a, b: a & ~np.uint64(15),
    "compare": lambda np, a, b: (a < b, a <= b, a == b, a != b, a > 5, a >= b),
    "booleans": lambda np, a, b: ((a < b) & (a > 2), (a < b) | ~(a == b), (a < b).any(),
                                  (a < b).all(), np.count_nonzero(a < b), (a < 16).sum()),
    "choose": lambda np, a, b: (a[a < b], a[np.argsort(b, kind="stable")], a[1:], a[::-1],
                                a[:0], a[[0, 0]], a[-1]),
    "set": lambda np, a, b: _set(np, a, b),
    "types": lambda np, a, b: (a.astype(np.int64), a.astype("u1"), a.astype(bool),
                               a.astype(np.int32), a.astype("u8") - b.astype("u8")),
    "sorting": lambda np, a, b: (np.sort(a), np.argsort(a, kind="stable"), np.lexsort((a, b))),
    "unique": lambda np, a, b: (np.unique(a), *np.unique(a, return_index=True),
                                *np.unique(a, return_inverse=True)),
    "search": lambda np, a, b: (np.searchsorted(np.sort(a), b), np.searchsorted(
        np.sort(a), b, "right"), int(np.searchsorted(np.sort(a), 5))),
    "joined": lambda np, a, b: (np.concatenate([a, b]), np.append(a, b), np.append(True, a < b),
                                np.append(a.astype(np.int64), len(a)),
                                np.concatenate([[0], np.cumsum((a & 255).astype(np.int64))])),
    "members": lambda np, a, b: (np.isin(a, b), np.isin(a, (1, 2, 5))),
    "where": lambda np, a, b: (np.where(a < b, a, b), np.where(a < b, a, 0),
                               np.flatnonzero(a < b)),
    "extremes": lambda np, a, b: (np.minimum(a, b), np.maximum(a, 4), np.maximum.accumulate(a),
                                  np.maximum.reduceat(a, np.arange(len(a))[::2]),
                                  np.minimum.reduceat(a, np.arange(len(a))[::3]),
                                  np.add.reduceat(a & 255, np.arange(len(a))[::2])),
    "counted": lambda np, a, b: np.bincount((a & 15).astype(np.int64), minlength=20),
    "records": lambda np, a, b: _records(np, a, b),
    "bytes": lambda np, a, b: (a.tobytes(), np.frombuffer(a.tobytes(), np.uint8),
                               np.frombuffer(a.astype("u8").tobytes(), ">u8")),
    "made": lambda np, a, b: (np.zeros(3, bool), np.full(2, -1), np.full(2, True), np.arange(3),
                              np.array([True, False]), np.array(a.tolist(), np.uint64)),
}
# Numpy refuses others.
OF_KINDS = {"granules": ("u8",)}


def _set(np, a, b):
    a, found = a.copy(), np.zeros(len(a), np.int64)
    found[a < b] = 7
    found[np.flatnonzero(a == b)] = np.arange(len(a))[a == b]
    found[1:] = np.arange(len(a))[:-1]
    a[0] = 9
    a[a > 100] = b[a > 100]
    mask = a < b
    mask[mask] = b[mask] > 3
    return a, found, mask


def _records(np, a, b):
    kind = np.dtype([("name", ">u4"), ("value", ">u8"), ("small", "u1")])
    data = b"".join(each.to_bytes(4, "big") + each.to_bytes(8, "big") + b"\x07"
                    for each in (a & 255).tolist())
    read = np.frombuffer(data, kind)
    made = np.empty(len(a), np.dtype([("one", "i8"), ("two", "i8")]))
    made["one"], made["two"] = (a & 255).astype(np.int64), 4
    made["two"] += 3
    made["two"][0] = 5
    made = made[made["one"] < 200]
    made = np.concatenate([made, made[:1]])[::-1]
    return (read["name"].astype("u4"), read["value"].astype("u8"), kind.itemsize, len(read),
            kind["name"].itemsize, [int(row["value"]) for row in read], int(read[0]["small"]),
            read.tolist(), made.tolist(), len(np.empty(0, kind)))


def plain(value):
    """A result without types of numpy, to compare."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, numpy.ndarray | plain_arrays.ndarray | plain_arrays.Table):
        return plain(value.tolist())
    return value.item() if isinstance(value, numpy.generic) else value


@pytest.mark.parametrize(("name", "kind"), [
    (name, kind) for name in OPERATIONS for kind in ("u8", "i8", "u4", "i4", "u1")
    if kind in OF_KINDS.get(name, kind)])
@given(data=st.data())
def test_results_are_those_of_numpy(name, kind, data):
    """Of arrays of every type that we use."""
    fitting = st.sampled_from([each for each in NUMBERS if each < 1 << 8 * int(kind[1]) - 1])
    pairs = data.draw(st.lists(st.tuples(fitting, fitting), min_size=1, max_size=9))

    def result(np):
        arrays = [np.array([pair[which] for pair in pairs], kind) for which in (0, 1)]
        with numpy.errstate(over="ignore"):
            return plain(OPERATIONS[name](np, *arrays))

    assert result(plain_arrays) == result(numpy)


@pytest.mark.parametrize("work", [lambda np: np.zeros(3)[np.full(2, True)],
                                  lambda np: np.arange(3)[np.array([5])],
                                  lambda np: np.arange(3) + np.arange(2)])
def test_what_numpy_refuses_is_refused(work):
    for np in (numpy, plain_arrays):
        with pytest.raises((IndexError, ValueError)):
            work(np)
