"""JSON documents from files, checked by pydantic against models of their used fields.

A file may come from another machine or version, or be damaged. Messages give the place of an error
in the document (`files[0].size`). Models declare the used fields; others may exist.

We use only what pydantic 1 (in Debian 12) and 2 have in common. Their messages differ, so we take
only the place from them.
"""

import json
import os
import types
import typing
from collections.abc import Iterable

from pydantic import BaseModel, StrictStr, ValidationError, conint

from frontload.base.errors import BadData

MAX_NUMBER = (1 << 62) - 1  # sums of two still fit into 64 bits
if typing.TYPE_CHECKING:
    Number: typing.TypeAlias = int
else:
    Number = conint(strict=True, ge=0, le=MAX_NUMBER)
Text = StrictStr
_MAX_LENGTH = 40

Model = typing.TypeVar("Model", bound="Part")


class Part(BaseModel):
    """An object in a document."""


def bad(path: os.PathLike[str] | str, place: str, what: str, note: str | None = None) -> BadData:
    """The failure for a wrong value at a place in a document."""
    return BadData(path, f"{place or 'the document'}: {what}", note=note)


def checked(model: type[Model], value: object, path: os.PathLike[str] | str,
            note: str | None = None, quoting: bool = True) -> Model:
    """The object of a parsed document; `path` and `note` are for messages, and `quoting` says
    whether messages show a wrong value."""
    try:
        # pydantic 2's name, then version 1's.
        return (getattr(model, "model_validate", None) or model.parse_obj)(value)
    except ValidationError as problem:
        place, wrong, kind = _wrong(model, value, problem.errors()[0]["loc"])
        what = f"is not {_called(kind)}"
        if quoting and kind in (Number, Text):
            what = f"{shown(wrong)} {what}"
        raise bad(path, place, what, note) from problem


def shown(value: object) -> str:
    """A value as it stands in the document."""
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH - 3] + "..."


def _wrong(kind: object, value: object, location: Iterable[str | int]
           ) -> tuple[str, object, object]:
    """The place of the error, as far as the document has it, the value there, and the expected
    kind."""
    place = ""
    for key in location:
        if isinstance(key, int) and isinstance(value, list):
            place += f"[{key}]"
            value, kind = value[key], typing.get_args(kind)[0]
        elif isinstance(key, str) and isinstance(value, dict):
            place += f".{key}" if place else key
            value = value.get(key)
            kind = (typing.get_type_hints(kind, include_extras=True)[key] if _is_part(kind)
                    else typing.get_args(kind)[1])
        else:
            break
        kind = _without_none(kind)
    return place, value, kind


def _called(kind: object) -> str:
    if kind in (Number, Text):
        return "a text" if kind == Text else "a whole number from 0 up"
    return "a list" if (typing.get_origin(kind) or kind) is list else "an object"


def _is_part(kind: object) -> typing.TypeGuard[type[Part]]:
    return isinstance(kind, type) and issubclass(kind, Part)


def _without_none(kind: object) -> object:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kind, = (each for each in typing.get_args(kind) if each is not type(None))
    return kind
