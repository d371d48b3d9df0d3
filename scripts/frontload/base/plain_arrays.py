"""The part of numpy that recording, profiles, orders and checks use, in plain Python.

numpy is large, and made for one version of Python and one libc: a command that has to work wherever
it is unpacked cannot bring it. arrays.py takes numpy where it is installed, and this module
elsewhere: names and results are numpy's, for whole numbers, booleans and objects. It is slower: a
program with a million symbols takes some seconds more.

Differences from numpy: an array of an index or a slice is a copy, so writing to it changes nothing
else; an empty list has whole numbers; arithmetic with unsigned and signed numbers of 64 bits is
signed.
"""

# The names are numpy's, also of its types.

from __future__ import annotations

import builtins
import operator
import sys
from array import array as _Numbers
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, pairwise
from itertools import repeat as times
from typing import Any

_Data = Any  # array.array of numbers, bytearray of booleans, list of objects
_LETTERS = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "i8": "q",
            "f8": "d"}
_BOOL, _INT, _OBJECT = "b1", "i8", "O"
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


int8, int32, int64 = _Number("i1"), _Number("i4"), _Number("i8")
uint8, uint64, bool_ = _Number("u1"), _Number("u8"), _Number("b1")


class dtype:
    """A type of elements: a kind and its byte order, or `fields` with types of their own."""

    def __init__(self, spec: Any):
        self.fields: dict[str, dtype] = {}
        self.itemsize: int
        self.kind, self.byteorder = _OBJECT, _NATIVE
        if isinstance(spec, list):
            self.fields = {name: dtype(each) for name, each in spec}
            self.itemsize = sum(each.itemsize for each in self.fields.values())
            return
        if isinstance(spec, str):
            if spec[0] in "<>":
                self.byteorder, spec = spec[0], spec[1:]
            self.kind = spec
        else:
            self.kind = (spec.kind if isinstance(spec, _Number) else
                         {bool: _BOOL, int: _INT, float: "f8", object: _OBJECT}[spec])
        self.itemsize = int(self.kind[1:] or 8)

    def __getitem__(self, field: str) -> dtype:
        return self.fields[field]


def _type(spec: Any) -> dtype:
    return spec if isinstance(spec, dtype) else dtype(spec)


def _stored(kind: str, values: Iterable[Any]) -> _Data:
    """Values in their place; numbers that are too large for it wrap around."""
    if kind == _OBJECT:
        return list(values)
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
    if not values or all(isinstance(each, int) for each in values):
        if values and all(isinstance(each, bool) for each in values):
            return _BOOL
        return "u8" if max(values, default=0) >> 63 > 0 else _INT
    return "f8" if all(isinstance(each, int | float) for each in values) else _OBJECT


def _common(one: str, other: str) -> str:
    """The kind of a result of two."""
    if one == other or other == _BOOL:
        return one
    if one == _BOOL:
        return other
    if _OBJECT in (one, other):
        return _OBJECT
    if "f8" in (one, other):
        return "f8"
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

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return map(bool, self.data) if self._kind == _BOOL else iter(self.data)

    def __repr__(self) -> str:
        return f"array({self.tolist()}, {self._kind})"

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ndarray(self._kind, self.data[index])
        if isinstance(index, ndarray | list | tuple):
            return ndarray(self._kind, _chosen(self._kind, self.data, index))
        return bool(self.data[index]) if self._kind == _BOOL else self.data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice | ndarray | list):
            self.data[index] = value if self._kind == _OBJECT else _wrapped(self._kind, value)
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

    def view(self, kind: Any) -> ndarray:
        return frombuffer(self.data, kind)

    def reshape(self, rows: int, columns: int) -> Table:
        assert rows == -1
        return Table({each: self[each::columns] for each in range(columns)})

    def sum(self) -> Any:
        return sum(self.data)

    def min(self) -> Any:
        return min(self.data)

    def max(self) -> Any:
        return max(self.data)

    def any(self) -> bool:
        return builtins.any(self.data)

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

    for name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
        give(name, getattr(operator, f"__{name}__"), "")
    give("truediv", operator.truediv, "f8")
    for name in ("lt", "le", "gt", "ge"):
        give(name, getattr(operator, name), _BOOL)


_give_operators()


class Table:
    """Rows with several columns: by name, as a structured array of numpy, or by number."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, columns: dict[Any, ndarray]):
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
        if isinstance(index, list) and index and isinstance(index[0], str):
            return Table({name: self.columns[name] for name in index})
        if isinstance(index, tuple):
            rows, column = index
            if isinstance(column, slice):
                chosen = list(self.columns.values())[column]
                return Table({place: each[rows] for place, each in enumerate(chosen)})
            return self.columns[column][rows]
        if isinstance(index, slice | ndarray):
            return Table({name: each[index] for name, each in self.columns.items()})
        row = {name: each[index] for name, each in self.columns.items()}
        return row if isinstance(next(iter(row)), str) else array_of(list(row.values()))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, str):
            self.columns[index][:] = value
        else:
            rows, column = index
            self.columns[column][rows] = value

    def reshape(self, rows: int, columns: int) -> Table:
        assert (rows, columns) == (-1, len(self.columns))
        return self

    def tolist(self) -> list[Any]:
        rows = zip(*self.columns.values(), strict=True)
        return list(rows) if isinstance(next(iter(self.columns)), str) else list(map(list, rows))

    @property
    def T(self) -> list[ndarray]:
        return list(self.columns.values())


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


def asarray(values: Any, dtype: Any = None) -> Any:
    if isinstance(values, Table):
        return values
    spec = _type(dtype) if dtype is not None else None
    if spec and spec.fields:
        columns = list(zip(*values, strict=True)) or [()] * len(spec.fields)
        return Table({name: asarray(column, each) for (name, each), column
                      in zip(spec.fields.items(), columns, strict=True)})
    if isinstance(values, Sequence) and len(values) and isinstance(values[0], tuple | list):
        return Table({number: asarray(column, dtype)
                      for number, column in enumerate(zip(*values, strict=True))})
    return array_of(values, spec.kind if spec else "")


def full(count: Any, value: Any, dtype: Any = None) -> Any:
    if isinstance(count, tuple):
        return Table({each: full(count[0], value, dtype) for each in range(count[1])})
    spec = _type(dtype) if dtype is not None else _type(type(value))
    if spec.fields:
        return Table({name: full(count, value, each) for name, each in spec.fields.items()})
    return ndarray(spec.kind, _stored(spec.kind, [value]) * int(count))


def zeros(count: Any, dtype: Any = float) -> Any:
    return full(count, 0, dtype)


def ones(count: Any, dtype: Any = float) -> Any:
    return full(count, 1, dtype)


empty = zeros


def arange(*limits: int) -> ndarray:
    return ndarray(_INT, _Numbers("q", range(*limits)))


def fromiter(values: Iterable[Any], dtype: Any, count: int = -1) -> ndarray:
    return array_of(list(values), _type(dtype).kind)


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


def column_stack(columns: Sequence[ndarray]) -> Table:
    return Table(dict(enumerate(columns)))


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


def nonzero(values: Table) -> tuple[ndarray, ndarray]:
    found = [(row, column) for row, each in enumerate(zip(*values.T, strict=True))
             for column, value in enumerate(each) if value]
    return array_of([row for row, _ in found]), array_of([column for _, column in found])


def count_nonzero(values: ndarray) -> int:
    return sum(map(bool, values.data))


def any(values: Any, axis: int | None = None) -> Any:
    if axis is None:
        return builtins.any(values)
    return logical_or.reduce(values)


def isin(values: ndarray, among: Any) -> ndarray:
    return ndarray(_BOOL, bytearray(map(set(among).__contains__, values.data)))


def sort(values: ndarray) -> ndarray:
    return ndarray(values._kind, _stored(values._kind, sorted(values.data)))


def argsort(values: ndarray, kind: str = "") -> ndarray:
    return ndarray(_INT, _Numbers("q", sorted(range(len(values)), key=values.data.__getitem__)))


def lexsort(keys: Sequence[ndarray]) -> ndarray:
    rows = list(zip(*(each.data for each in reversed(keys)), strict=True))
    return ndarray(_INT, _Numbers("q", sorted(range(len(rows)), key=rows.__getitem__)))


def searchsorted(ascending: ndarray, values: Any, side: str = "left",
                 sorter: ndarray | None = None) -> Any:
    data = ascending.data if sorter is None else ascending[sorter].data
    find = bisect_left if side == "left" else bisect_right
    if isinstance(values, int):
        return find(data, values)
    return ndarray(_INT, _Numbers("q", [find(data, each) for each in values]))


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


def union1d(one: Any, other: Any) -> ndarray:
    return unique(concatenate([one, other]))


def cumsum(values: Any, dtype: Any = None) -> ndarray:
    return array_of(list(accumulate(array_of(values).data)), _INT)


def diff(values: ndarray) -> ndarray:
    return values[1:] - values[:-1]


def roll(values: ndarray, by: int) -> ndarray:
    return concatenate([values[-by:], values[:-by]])


def repeat(values: Any, counts: Any) -> ndarray:
    values = array_of(values)
    each = times(counts) if isinstance(counts, int) else counts
    return array_of(list(chain.from_iterable(map(times, values, each))), values._kind)


def bincount(numbers: ndarray, minlength: int = 0) -> ndarray:
    found = [0] * max(minlength, max(numbers.data, default=-1) + 1)
    for each in numbers.data:
        found[each] += 1
    return array_of(found, _INT)


def argmax(values: ndarray) -> int:
    return values.data.index(max(values.data))


def frexp(numbers: ndarray) -> tuple[None, ndarray]:
    """Only the exponents, of whole numbers."""
    return None, array_of(list(map(int.bit_length, numbers.data)), _INT)


def unpackbits(values: ndarray, bitorder: str) -> ndarray:
    assert bitorder == "little"
    return array_of([each >> bit & 1 for each in values.data for bit in range(8)], "u1")


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

    def reduce(self, parts: Sequence[ndarray]) -> ndarray:
        found = parts[0]
        for each in parts[1:]:
            found = self(found, each)
        return found

    def reduceat(self, values: Any, first: ndarray, axis: int = 0) -> Any:
        if isinstance(values, Table):
            return Table({name: self.reduceat(each, first)
                          for name, each in values.columns.items()})
        bounds = [*first.data, len(values)]
        return array_of([self._reduced(values.data[begin:end])
                         for begin, end in pairwise(bounds)], values._kind)

    def _reduced(self, data: _Data) -> Any:
        *_, found = accumulate(data, self._work)
        return found


maximum, minimum = _Reducing(max), _Reducing(min)
add, logical_or = _Reducing(operator.add), _Reducing(operator.or_)
array = asarray
