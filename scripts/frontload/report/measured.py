"""What other verbs wrote, as it goes into the document of a report: figures of `frontload measure`
and of `frontload predict`. Their files are not trusted either; single runs are left out.
"""

import functools
import math
import os
from collections.abc import Iterable

from frontload.base.errors import BadData

_MEASURE, _PREDICT = "frontload-measure/2", "frontload-predict/1"
_damaged = functools.partial(BadData, note="make it anew with this frontload: measure --json FILE, "
                             "or predict --json")


def measured(document: object, path: os.PathLike | str) -> dict:
    """The figures of a measurement, and what it says of pairs of variants and conditions."""
    _check_schema(document, _MEASURE, path)
    results = []
    for place, result in _objects(document, "results", path):
        figures = result.get("figures")
        if not isinstance(figures, dict):
            raise _damaged(path, f"{place}.figures: is not an object")
        results.append({
            **{key: _text(result, key, place, path) for key in ("variant", "condition", "label")},
            "figures": {name: _numbers(figure, f"{place}.figures.{name}", path)
                        for name, figure in figures.items()}})
    comparisons = [{
        **{key: _text(each, key, place, path) for key in ("condition", "variant", "base",
                                                          "figure")},
        **_interval(each, place, path)}
        for place, each in _objects(document, "comparisons", path)]
    costs = []
    for place, cost in _objects(document, "costs", path):
        more = cost.get("excess")
        if more is not None and not isinstance(more, dict):
            raise _damaged(path, f"{place}.excess: is not an object")
        costs.append({
            **{key: _text(cost, key, place, path) for key in ("condition", "variant", "figure")},
            **_interval(cost, place, path),
            "excess": None if more is None else {
                "base": _text(more, "base", f"{place}.excess", path),
                **_interval(more, f"{place}.excess", path)}})
    return {"results": results, "comparisons": comparisons, "costs": costs}


def predicted(document: object, variant: str, path: os.PathLike | str) -> list[dict]:
    """The predictions for one variant, trace by trace; a file of another variant alone will do,
    whatever it is called there."""
    _check_schema(document, _PREDICT, path)
    found = []
    objects = list(_objects(document, "predictions", path))
    names = {str(each.get("variant", variant)) for _, each in objects}
    if variant not in names and len(names) != 1:
        raise _damaged(path, f"has no prediction for the variant {variant!r}")
    for place, each in objects:
        if variant in names and each.get("variant", variant) != variant:
            continue
        devices = each.get("devices")
        if not isinstance(devices, dict):
            raise _damaged(path, f"{place}.devices: is not an object")
        found.append({"variant": variant, "trace": _text(each, "trace", place, path),
                      "devices": {name: _numbers(figures, f"{place}.devices.{name}", path)
                                  for name, figures in devices.items()}})
    return found


def _check_schema(document: object, schema: str, path: os.PathLike | str) -> None:
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise _damaged(path, f"is not of the schema {schema}")


def _objects(document: dict, key: str, path: os.PathLike | str) -> Iterable[tuple[str, dict]]:
    values = document.get(key)
    if not isinstance(values, list):
        raise _damaged(path, f"{key}: is not a list")
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            raise _damaged(path, f"{key}[{number}]: is not an object")
        yield f"{key}[{number}]", value


def _text(value: dict, key: str, place: str, path: os.PathLike | str) -> str:
    if not isinstance(value.get(key), str):
        raise _damaged(path, f"{place}.{key}: is not a text")
    return value[key]


def _interval(value: dict, place: str, path: os.PathLike | str) -> dict:
    return _numbers({key: value.get(key) for key in ("estimate", "low", "high")}, place, path)


def _numbers(value: object, place: str, path: os.PathLike | str) -> dict:
    """The members that are numbers or null; a figure is an object of these, and a list of which
    runs are outliers."""
    if not isinstance(value, dict):
        raise _damaged(path, f"{place}: is not an object")
    for key, each in value.items():
        for number in each if isinstance(each, list) else [each]:
            if number is not None and (type(number) not in (int, float)
                                       or not math.isfinite(number)):
                raise _damaged(path, f"{place}.{key}: is not a number")
    return value
