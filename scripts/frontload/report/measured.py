"""What other verbs wrote, as it goes into the document of a report: figures of `frontload measure`
and of `frontload predict`. Their files are not trusted either; single runs are left out.
"""

import math
import os
from collections.abc import Iterable

from frontload.errors import BadData

_MEASURE, _PREDICT = "frontload-measure/2", "frontload-predict/1"


def measured(document: object, path: os.PathLike | str) -> dict:
    """The figures and comparisons of a measurement."""
    _check_schema(document, _MEASURE, path)
    results = []
    for place, result in _objects(document, "results", path):
        figures = result.get("figures")
        if not isinstance(figures, dict):
            raise BadData(path, f"{place}.figures: is not an object")
        results.append({
            **{key: _text(result, key, place, path) for key in ("variant", "condition", "label")},
            "figures": {name: _numbers(figure, f"{place}.figures.{name}", path)
                        for name, figure in figures.items()}})
    comparisons = [{
        **{key: _text(each, key, place, path) for key in ("condition", "variant", "base",
                                                          "figure")},
        **_numbers({key: each.get(key) for key in ("estimate", "low", "high")}, place, path)}
        for place, each in _objects(document, "comparisons", path)]
    return {"results": results, "comparisons": comparisons}


def predicted(document: object, variant: str, path: os.PathLike | str) -> list[dict]:
    """The predictions for one variant, trace by trace."""
    _check_schema(document, _PREDICT, path)
    found = []
    for place, each in _objects(document, "predictions", path):
        devices = each.get("devices")
        if not isinstance(devices, dict):
            raise BadData(path, f"{place}.devices: is not an object")
        found.append({"variant": variant, "trace": _text(each, "trace", place, path),
                      "devices": {name: _numbers(figures, f"{place}.devices.{name}", path)
                                  for name, figures in devices.items()}})
    return found


def _check_schema(document: object, schema: str, path: os.PathLike | str) -> None:
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise BadData(path, f"is not of the schema {schema}")


def _objects(document: dict, key: str, path: os.PathLike | str) -> Iterable[tuple[str, dict]]:
    values = document.get(key)
    if not isinstance(values, list):
        raise BadData(path, f"{key}: is not a list")
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            raise BadData(path, f"{key}[{number}]: is not an object")
        yield f"{key}[{number}]", value


def _text(value: dict, key: str, place: str, path: os.PathLike | str) -> str:
    if not isinstance(value.get(key), str):
        raise BadData(path, f"{place}.{key}: is not a text")
    return value[key]


def _numbers(value: object, place: str, path: os.PathLike | str) -> dict:
    """The members that are numbers or null; a figure is an object of these, and a list of which
    runs are outliers."""
    if not isinstance(value, dict):
        raise BadData(path, f"{place}: is not an object")
    for key, each in value.items():
        for number in each if isinstance(each, list) else [each]:
            if number is not None and (type(number) not in (int, float)
                                       or not math.isfinite(number)):
                raise BadData(path, f"{place}.{key}: is not a number")
    return value
