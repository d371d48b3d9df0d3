"""The part of numpy that recording, profiles, orders and checks use, in plain Python.

numpy is large, and made for one version of Python and one libc: a command that has to work wherever
it is unpacked cannot bring it. arrays.py takes numpy where it is installed, and this module
elsewhere: names and results are numpy's, for whole numbers and booleans in one dimension. It is
slower: a program with a million symbols takes some seconds more.

Differences from numpy: an array of an index or a slice is a copy, so writing to it changes nothing
else; an empty list has whole numbers; arithmetic with unsigned and signed numbers of 64 bits is
signed.
"""

# The names are numpy's, also of its types.

from __future__ import annotations

import operator
import sys
from array import array as _Numbers
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import accumulate, chain, compress, pairwise
from itertools import repeat as times
from typing import Any

_Data = Any  # array.array of numbers, bytearray of booleans
_LETTERS = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "i8": "q"}
_BOOL, _INT = "b1", "i8"
_NATIVE = "<" if sys.byteorder == "little" else ">"


class _Number:
    """A type of numbers: what it makes of a number is a number of Python's."""

    def __init__(self, kind: str):
        self.kind = kind

    def __call__(self, value: Any = 0) -> Any:
        return _wrapped(self.kind, value)


def _wrapped(kind: str, value: Any) -> Any:
    if kind == _BOOL:
        return bool(value)
    bits = 8 * int(kind[1])
    value = int(value) & (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "i" and value >> bits - 1 else value


int32, int64, uint8, uint64 = _Number("i4"), _Number("i8"), _Number("u1"), _Number("u8")


class dtype:
    """A type of elements: a kind and its byte order, or `fields` with types of their own."""

    def __init__(self, spec: Any):
        self.fields: dict[str, dtype] = {}
        self.itemsize: int
        self.kind, self.byteorder = "", _NATIVE
        if isinstance(spec, list):
            self.fields = {name: dtype(each) for name, each in spec}
            self.itemsize = sum(each.itemsize for each in self.fields.values())
            return
        if isinstance(spec, str):
            if spec[0] in "<>":
                self.byteorder, spec = spec[0], spec[1:]
            self.kind = spec
        else:
            self.kind = spec.kind if isinstance(spec, _Number) else {bool: _BOOL, int: _INT}[spec]
        self.itemsize = int(self.kind[1])

    def __getitem__(self, field: str) -> dtype:
        return self.fields[field]


def _type(spec: Any) -> dtype:
    return spec if isinstance(spec, dtype) else dtype(spec)


def _stored(kind: str, values: Iterable[Any]) -> _Data:
    """Values in their place; numbers that are too large for it wrap around."""
    if kind == _BOOL:
        return bytearray(map(bool, values))
    if not isinstance(values, list | _Numbers | bytearray):
        values = list(values)
    try:
        return _Numbers(_LETTERS[kind], values)
    except (OverflowError, TypeError):
        return _Numbers(_LETTERS[kind], [_wrapped(kind, each) for each in values])


def _kind_of(values: Sequence[Any]) -> str:
    """The kind that numpy gives a list."""
    if values and all(isinstance(each, bool) for each in values):
        return _BOOL
    return "u8" if max(values, default=0) >> 63 > 0 else _INT


def _common(one: str, other: str) -> str:
    """The kind of a result of two."""
    if one == other or other == _BOOL:
        return one
    if one == _BOOL:
        return other
    if one[0] == other[0]:
        return max(one, other)
    signed, unsigned = sorted((one, other))
    return f"i{min(max(int(signed[1]), 2 * int(unsigned[1])), 8)}"


class ndarray:
    """A row of elements of one kind."""

    __hash__ = None  # type: ignore[assignment]  # as numpy's, it is compared by element
    __slots__ = ("_kind", "data")

    def __init__(self, kind: str, data: _Data):
        self._kind, self.data = kind, data

    @property
    def dtype(self) -> dtype:
        return dtype(self._kind)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return map(bool, self.data) if self._kind == _BOOL else iter(self.data)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ndarray(self._kind, self.data[index])
        if isinstance(index, ndarray | list | tuple):
            return ndarray(self._kind, _chosen(self._kind, self.data, index))
        return bool(self.data[index]) if self._kind == _BOOL else self.data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice | ndarray | list):
            self.data[index] = _wrapped(self._kind, value)
            return
        places = _places(index, len(self.data))
        new = (_stored(self._kind, value) if isinstance(value, ndarray | list | tuple) else
               _stored(self._kind, [value]) * len(places))
        if len(new) != len(places):
            raise ValueError(f"{len(new)} values for {len(places)} places")
        for place, each in zip(places, new, strict=True):
            self.data[place] = each

    def tolist(self) -> list[Any]:
        return list(self)

    def tobytes(self) -> bytes:
        return bytes(self.data)

    def astype(self, kind: Any) -> ndarray:
        return array_of(self.data, _type(kind).kind)

    def copy(self) -> ndarray:
        return ndarray(self._kind, self.data[:])

    def sum(self) -> Any:
        return sum(self.data)

    def any(self) -> bool:
        return any(self.data)

    def all(self) -> bool:
        return all(self.data)

    def _each(self, work: Callable[[Any, Any], Any], other: Any, kind: str = "") -> ndarray:
        """The result of `work` for each pair of elements; of this kind, or the common one."""
        if isinstance(other, list | tuple):
            other = array_of(other)
        if isinstance(other, ndarray):
            if len(other) != len(self) and 1 not in (len(self), len(other)):
                raise ValueError(f"{len(self)} and {len(other)} elements")
            theirs, kind = other.data, kind or _common(self._kind, other._kind)
            mine = self.data if len(self) != 1 else self.data * len(theirs)
            theirs = theirs if len(other) != 1 else theirs * len(mine)
        else:
            mine, theirs = self.data, times(other)
            kind = kind or (_INT if self._kind == _BOOL and not isinstance(other, bool)
                            else self._kind)
        return ndarray(kind, _stored(kind, map(work, mine, theirs)))

    def __invert__(self) -> ndarray:
        invert = operator.not_ if self._kind == _BOOL else operator.invert
        return ndarray(self._kind, _stored(self._kind, map(invert, self.data)))

    def __neg__(self) -> ndarray:
        return ndarray(self._kind, _stored(self._kind, map(operator.neg, self.data)))

    def __eq__(self, other: Any) -> ndarray:  # type: ignore[override]
        return self._each(operator.eq, other, _BOOL)

    def __ne__(self, other: Any) -> ndarray:  # type: ignore[override]
        return self._each(operator.ne, other, _BOOL)


def _give_operators() -> None:
    def give(name: str, work: Callable[[Any, Any], Any], kind: str) -> None:
        setattr(ndarray, f"__{name}__", lambda self, other: self._each(work, other, kind))
        setattr(ndarray, f"__r{name}__", lambda self, other: self._each(
            lambda mine, theirs: work(theirs, mine), other, kind))

    for name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "rshift"):
        give(name, getattr(operator, f"__{name}__"), "")
    for name in ("lt", "le", "gt", "ge"):
        give(name, getattr(operator, name), _BOOL)


_give_operators()


class Table:
    """Rows with named columns: a structured array of numpy."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, columns: dict[str, ndarray]):
        self.columns = columns

    @property
    def dtype(self) -> dtype:
        return dtype([(name, each._kind) for name, each in self.columns.items()])

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self.columns[index]
        found = {name: each[index] for name, each in self.columns.items()}
        return Table(found) if isinstance(index, slice | ndarray) else found

    def __setitem__(self, column: str, value: Any) -> None:
        self.columns[column][:] = value

    def tolist(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns.values(), strict=True))


def _chosen(kind: str, data: _Data, index: Any) -> _Data:
    if isinstance(index, ndarray) and index._kind == _BOOL:
        if len(index) != len(data):
            raise IndexError(f"{len(index)} booleans for {len(data)} elements")
        found: Iterable[Any] = compress(data, index.data)
    else:
        found = map(data.__getitem__, index)
    return bytearray(found) if kind == _BOOL else _stored(kind, found)


def _places(index: Any, length: int) -> Sequence[int]:
    """The places that a slice, booleans or numbers stand for."""
    if isinstance(index, slice):
        return range(length)[index]
    if isinstance(index, ndarray) and index._kind == _BOOL:
        if len(index) != length:
            raise IndexError(f"{len(index)} booleans for {length} elements")
        return list(compress(range(length), index.data))
    return list(index)


def array_of(values: Any, kind: str = "") -> ndarray:
    if isinstance(values, ndarray):
        kind, values = kind or values._kind, values.data
    elif not isinstance(values, list | tuple | _Numbers | bytearray):
        values = list(values)
    kind = kind or _kind_of(values)
    if isinstance(values, _Numbers) and values.typecode == _LETTERS.get(kind):
        return ndarray(kind, values[:])
    return ndarray(kind, _stored(kind, values))


def asarray(values: Any, dtype: Any = None) -> ndarray:
    return array_of(values, "" if dtype is None else _type(dtype).kind)


def full(count: Any, value: Any, dtype: Any = None) -> Any:
    spec = _type(dtype) if dtype is not None else _type(type(value))
    if spec.fields:
        return Table({name: full(count, value, each) for name, each in spec.fields.items()})
    return ndarray(spec.kind, _stored(spec.kind, [value]) * int(count))


def zeros(count: Any, dtype: Any = int) -> Any:
    return full(count, 0, dtype)


empty = zeros


def arange(*limits: int) -> ndarray:
    return ndarray(_INT, _Numbers("q", range(*limits)))


def frombuffer(data: Any, dtype: Any) -> Any:
    spec = _type(dtype)
    if not spec.fields:
        numbers = _Numbers(_LETTERS[spec.kind])
        numbers.frombytes(bytes(data))
        if spec.byteorder != _NATIVE:
            numbers.byteswap()
        return ndarray(spec.kind, numbers)
    columns, begin, whole = {}, 0, spec.itemsize
    for name, each in spec.fields.items():
        size = each.itemsize
        if begin % size or whole % size:  # not aligned
            columns[name] = frombuffer(b"".join(
                data[at:at + size] for at in range(begin, len(data), whole)), each)
        else:
            columns[name] = frombuffer(data, each)[begin // size::whole // size]
        begin += size
    return Table(columns)


def concatenate(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], Table):
        return Table({name: concatenate([each.columns[name] for each in parts])
                      for name in parts[0].columns})
    arrays = [array_of(each) for each in parts]
    kind = arrays[0]._kind
    for each in arrays[1:]:
        kind = _common(kind, each._kind)
    return ndarray(kind, _stored(kind, chain.from_iterable(each.data for each in arrays)))


def append(one: Any, other: Any) -> Any:
    return concatenate([each if isinstance(each, ndarray | list) else [each]
                        for each in (one, other)])


def where(is_first: ndarray, first: Any, second: Any) -> ndarray:
    first, second = (each if isinstance(each, ndarray) else array_of([each])
                     for each in (first, second))
    kind = _common(first._kind, second._kind)
    count = len(is_first)
    one, other = (each.data if len(each) == count else each.data * count
                  for each in (first, second))
    return ndarray(kind, _stored(kind, [mine if use else theirs for use, mine, theirs
                                        in zip(is_first.data, one, other, strict=True)]))


def flatnonzero(values: ndarray) -> ndarray:
    return ndarray(_INT, _Numbers("q", compress(range(len(values)), values.data)))


def count_nonzero(values: ndarray) -> int:
    return sum(map(bool, values.data))


def isin(values: ndarray, among: Any) -> ndarray:
    return ndarray(_BOOL, bytearray(map(set(among).__contains__, values.data)))


def sort(values: ndarray) -> ndarray:
    return ndarray(values._kind, _stored(values._kind, sorted(values.data)))


def argsort(values: ndarray, kind: str = "") -> ndarray:
    return ndarray(_INT, _Numbers("q", sorted(range(len(values)), key=values.data.__getitem__)))


def lexsort(keys: Sequence[ndarray]) -> ndarray:
    rows = list(zip(*(each.data for each in reversed(keys)), strict=True))
    return ndarray(_INT, _Numbers("q", sorted(range(len(rows)), key=rows.__getitem__)))


def searchsorted(ascending: ndarray, values: Any, side: str = "left") -> Any:
    find = bisect_left if side == "left" else bisect_right
    if isinstance(values, int):
        return find(ascending.data, values)
    return ndarray(_INT, _Numbers("q", [find(ascending.data, each) for each in values]))


def unique(values: ndarray, return_index: bool = False, return_inverse: bool = False) -> Any:
    first: dict[Any, int] = {}
    for place, each in enumerate(values):
        first.setdefault(each, place)
    found = sorted(first)
    answer = [array_of(found, values._kind)]
    if return_index:
        answer.append(array_of([first[each] for each in found], _INT))
    if return_inverse:
        numbers = {each: number for number, each in enumerate(found)}
        answer.append(array_of([numbers[each] for each in values], _INT))
    return answer[0] if len(answer) == 1 else tuple(answer)


def cumsum(values: Any) -> ndarray:
    return array_of(list(accumulate(array_of(values).data)), _INT)


def bincount(numbers: ndarray, minlength: int = 0) -> ndarray:
    found = [0] * max(minlength, max(numbers.data, default=-1) + 1)
    for each in numbers.data:
        found[each] += 1
    return array_of(found, _INT)


class _Reducing:
    """A function of two arrays, which also sums up one."""

    def __init__(self, work: Callable[[Any, Any], Any]):
        self._work = work

    def __call__(self, one: Any, other: Any) -> Any:
        if not isinstance(one, ndarray):
            one, other = other, one
        return one._each(self._work, other) if isinstance(one, ndarray) else self._work(one, other)

    def accumulate(self, values: ndarray) -> ndarray:
        return array_of(list(accumulate(values.data, self._work)), values._kind)

    def reduceat(self, values: ndarray, first: ndarray) -> ndarray:
        return array_of([reduce(self._work, values.data[begin:end])
                         for begin, end in pairwise([*first.data, len(values)])], values._kind)


maximum, minimum, add = _Reducing(max), _Reducing(min), _Reducing(operator.add)
array = asarray
