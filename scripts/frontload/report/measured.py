"""What other verbs wrote, as it goes into the document of a report: figures of `frontload measure`
and of `frontload predict`. Their files are not trusted either; single runs are left out.
"""

import functools
import math
import os

from frontload.base import documents
from frontload.base.documents import Number, Part, Text
from frontload.base.errors import BadData

_MEASURE, _PREDICT, _PLAN = ("frontload-measure/2", "frontload-predict/1",
                             "frontload-predict-starts/1")
_NOTE = "make it again with this frontload: measure --json FILE, or predict --json"
_damaged = functools.partial(BadData, note=_NOTE)


class _Interval(Part):
    estimate: object = None
    low: object = None
    high: object = None


class _Result(Part):
    variant: Text
    condition: Text
    label: Text
    figures: dict[str, dict]


class _Comparison(_Interval):
    condition: Text
    variant: Text
    base: Text
    figure: Text


class _Excess(_Interval):
    base: Text


class _Cost(_Interval):
    condition: Text
    variant: Text
    figure: Text
    excess: _Excess | None = None


class _Measurement(Part):
    results: list[_Result]
    comparisons: list[_Comparison]
    costs: list[_Cost]


class _Prediction(Part):
    variant: object = None
    trace: Text
    devices: dict[str, dict]


class _Predictions(Part):
    predictions: list[_Prediction]


class _WayCost(Part):
    major_faults: Number
    requests: Number
    read_bytes: Number
    seconds: object = None


class _Ways(Part):
    as_it_is: _WayCost
    list: _WayCost
    fronts: _WayCost
    fronts_and_list: _WayCost


class _Device(Part):
    name: Text


class _PlannedFile(Part):
    path: Text
    touched_bytes: Number
    can_have_front: bool
    devices: dict[str, _Ways]


class _Plan(Part):
    devices: list[_Device]
    starts: dict[str, _Ways]
    files: list[_PlannedFile]


def measured(document: object, path: os.PathLike | str) -> dict:
    """The figures of a measurement, and what it says of pairs of variants and conditions."""
    _check_schema(document, _MEASURE, path)
    found = documents.checked(_Measurement, document, path, _NOTE, quoting=False)
    for number, result in enumerate(found.results):
        for name, figure in result.figures.items():
            _check_numbers(figure, f"results[{number}].figures.{name}", path)
    for number, comparison in enumerate(found.comparisons):
        _check_interval(comparison, f"comparisons[{number}]", path)
    for number, cost in enumerate(found.costs):
        _check_interval(cost, f"costs[{number}]", path)
        if cost.excess is not None:
            _check_interval(cost.excess, f"costs[{number}].excess", path)
    return {"results": [dict(result) for result in found.results],
            "comparisons": [dict(comparison) for comparison in found.comparisons],
            "costs": [{**dict(cost), "excess": cost.excess and dict(cost.excess)}
                      for cost in found.costs]}


def predicted(document: object, variant: str, path: os.PathLike | str) -> list[dict]:
    """The predictions for one variant, trace by trace; a file of another variant alone will do,
    whatever it is called there."""
    _check_schema(document, _PREDICT, path)
    predictions = documents.checked(_Predictions, document, path, _NOTE, quoting=False).predictions
    names = [variant if each.variant is None else str(each.variant) for each in predictions]
    if variant not in names and len(set(names)) != 1:
        raise _damaged(path, f"has no prediction for the variant {variant!r}")
    found = []
    for number, (name, each) in enumerate(zip(names, predictions, strict=True)):
        if variant in names and name != variant:
            continue
        for device, figures in each.devices.items():
            _check_numbers(figures, f"predictions[{number}].devices.{device}", path)
        found.append({"variant": variant, "trace": each.trace, "devices": each.devices})
    return found


def planned(document: object, path: os.PathLike | str) -> dict:
    """What whole starts cost on each device, as they are and with lists and fronts, and their
    files."""
    _check_schema(document, _PLAN, path)
    found = documents.checked(_Plan, document, path, _NOTE, quoting=False)
    devices = [device.name for device in found.devices]
    if not devices:
        raise _damaged(path, "has no device")
    for place, by_device in (("starts", found.starts),
                             *((f"files[{number}].devices", file.devices)
                               for number, file in enumerate(found.files))):
        if missing := set(devices) - set(by_device):
            raise _damaged(path, f"{place} lacks the device {min(missing)!r}")
        for device, ways in by_device.items():
            for way, cost in _ways(ways).items():
                if cost["seconds"] is None:
                    raise documents.bad(path, f"{place}.{device}.{way}.seconds", "is not a number",
                                        _NOTE)
                _check_numbers(cost, f"{place}.{device}.{way}", path)
    return {"devices": devices,
            "starts": {device: _ways(found.starts[device]) for device in devices},
            "files": [{"path": file.path, "touched_bytes": file.touched_bytes,
                       "can_have_front": file.can_have_front,
                       "devices": {device: _ways(file.devices[device]) for device in devices}}
                      for file in found.files]}


def _ways(ways: _Ways) -> dict[str, dict]:
    return {way: dict(cost) for way, cost in dict(ways).items()}


def _check_schema(document: object, schema: str, path: os.PathLike | str) -> None:
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise _damaged(path, f"does not have the schema {schema}")


def _check_interval(value: _Interval, place: str, path: os.PathLike | str) -> None:
    _check_numbers({key: getattr(value, key) for key in ("estimate", "low", "high")}, place, path)


def _check_numbers(value: dict, place: str, path: os.PathLike | str) -> None:
    """Each member is a number or null; a figure has also a list of which runs are outliers."""
    for key, each in value.items():
        for number in each if isinstance(each, list) else [each]:
            if number is not None and (type(number) not in (int, float)
                                       or not math.isfinite(number)):
                raise documents.bad(path, f"{place}.{key}", "is not a number", _NOTE)
