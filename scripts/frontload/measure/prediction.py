"""What a cold start of a linked file will read, by frontload-predict.

frontload-predict predicts for one file, from traces of that file or of another build of the same
program. This module joins its predictions for several variants into one document, of the schema
"frontload-predict/1".
"""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from statistics import median
from typing import Any, Literal, TypedDict, cast, get_args

from frontload import __version__
from frontload.base import console, tools
from frontload.base.arrays import np
from frontload.base.errors import Failure
from frontload.base.typed import NotRequired
from frontload.device import image, kinds
from frontload.device.kinds import PredictedDevice
from frontload.profile import trace

SCHEMA = "frontload-predict/1"
_SECONDS: Literal["seconds"] = "seconds"
_OF_IMAGES: tuple[Literal["blocks", "decompressed_bytes"], ...] = "blocks", "decompressed_bytes"
_PREDICTOR = "frontload-predict"
_Path = PathLike[str] | str

Figures = TypedDict("Figures", {
    # Of a variant, these are medians over the runs. The traces of a process and of those that it
    # has forked are one run.
    "major_faults": float,
    "minor_faults": float,  # of the file
    "requests": float, "read_bytes": float, "read_runs": float,
    "seconds": float,  # that the device takes, and the decompression of an image
    "blocks": NotRequired[float],  # of an image, that are read
    "decompressed_bytes": NotRequired[float],
    "total_seconds": NotRequired[float]})  # with a warm start's, if that is known
_Count = Literal["major_faults", "minor_faults", "requests", "read_bytes", "read_runs"]
COUNTS: tuple[_Count, ...] = get_args(_Count)
ComparedFigures = TypedDict("ComparedFigures", {
    "major_faults": float, "minor_faults": float, "requests": float, "read_bytes": float,
    "read_runs": float, "seconds": float, "total_seconds": NotRequired[float],
    "blocks": NotRequired[float], "decompressed_bytes": NotRequired[float],
    # How much less it is than for the first variant, in the same figures, and how many `times` as
    # fast it is, by total_seconds, or by seconds if there are no total_seconds.
    "gain": dict[str, float | None]})
Variant = TypedDict("Variant", {
    "name": str, "binary": str, "file_bytes": int,
    "prefetch_bytes": int,
    "tail_bytes": int,  # asked for behind these
    # With --files: as_it_is; or asked for beforehand: front (or another linker's note), list, or
    # front_and_list
    "way": str,
    "devices": dict[str, ComparedFigures]})  # by name
Prediction = TypedDict("Prediction", {
    "variant": NotRequired[str], "trace": str, "touches": int,
    "missing": int,  # touches without a counterpart in the variant, or whose counterpart cannot be
                     # found (see tools/predict/symbol_map.h)
    "devices": dict[str, Figures]})
Answer = TypedDict("Answer", {  # of frontload-predict, for one file
    "binary": str, "file_bytes": int, "prefetch_bytes": int,
    "tail_bytes": int,  # asked for behind these: what starts outside of the training likely need
    "predictions": list[Prediction]})
Document = TypedDict("Document", {
    "schema": str, "frontload": str,  # the version
    "recorded": str,  # the build that was recorded
    "warm_seconds": float | None,
    "devices": list[PredictedDevice],  # as frontload-predict --list-devices has them
    "variants": list[Variant], "predictions": list[Prediction]})


@dataclass(frozen=True)
class Build:
    """A file to predict for; like a measurement's Variant, but its command is not run. `options`:
    frontload-predict's for this one."""

    name: str
    binary: str
    way: str = "as_it_is"
    options: tuple[str, ...] = ()


def telling(traces: Sequence[_Path]) -> tuple[list[_Path], bool]:
    """The most telling traces: those with data, if there are any, else all; and whether they have
    data. A trace of functions records where each begins, not how far it ran."""
    with_data = [path for path in traces if _has_data(path)]
    return (with_data, True) if with_data else (list(traces), False)


def _has_data(path: _Path) -> bool:
    read = trace.read(path)
    return read.has_data and bool((read.kinds == trace.CODE).any())


def main_program(path: _Path) -> str:
    """The main program of a trace."""
    main = trace.read(path).main
    if main is None:
        raise Failure(f"{path}: does not say which program it belongs to",
                      note="name it with --recorded")
    return main.path


def predict(builds: Sequence[Build], traces: Sequence[_Path], recorded: str, *,
            options: Sequence[str] | None = (), images: Mapping[str, Sequence[str]] = {},
            decompression: float | None = None, warm_seconds: float | None = None) -> Document:
    """The document of these builds, its variants. `options` are frontload-predict's, None for no
    device but those of `images`, by name with the options for the disk below."""
    devices: list[PredictedDevice] = []
    if options is not None:
        devices += _listed(options)
    for name, below in images.items():
        [device] = _listed([*below, "--blocks=-"])
        devices.append({**device, "name": name, "description": kinds.describe(name, device)})
    found = {build: _in_all(build, traces, recorded, options, images, decompression)
             for build in console.progress(builds, "predicting")}
    predictions: list[Prediction] = [
        {"variant": build.name, **each}
        for build, answer in found.items() for each in answer["predictions"]]
    figures = [medians(answer["predictions"], warm_seconds) for answer in found.values()]
    described: list[Variant] = [{
        "name": build.name, "binary": answer["binary"], "file_bytes": answer["file_bytes"],
        "prefetch_bytes": answer["prefetch_bytes"], "tail_bytes": answer["tail_bytes"],
        "way": build.way,
        "devices": {device: {**each, "gain": gain(figures[0][device], each)}
                    for device, each in mine.items()}}
        for (build, answer), mine in zip(found.items(), figures, strict=True)]
    return {"schema": SCHEMA, "frontload": __version__, "recorded": recorded,
            "warm_seconds": warm_seconds,
            "devices": devices, "variants": described, "predictions": predictions}


def _listed(options: Sequence[str]) -> list[PredictedDevice]:
    return ask_predictor(*options, "--list-devices")["devices"]


def _in_all(build: Build, traces: Sequence[_Path], recorded: str, options: Sequence[str] | None,
            images: Mapping[str, Sequence[str]], decompression: float | None) -> Answer:
    """The answer for all devices, with and without images."""
    answers = [] if options is None else [
        ask(build.binary, traces, recorded, [*options, *build.options])]
    for name, below in images.items():
        held = image.parse(kinds.split(name)[1] or "")
        assert held
        with image.blocks_file(held, build.binary, decompression) as path:
            answers.append(ask(build.binary, traces, recorded,
                               [*below, *build.options, f"--blocks={path}"]))
        for each in answers[-1]["predictions"]:
            each["devices"] = {name: next(iter(each["devices"].values()))}
    for answer in answers[1:]:
        for all_devices, more in zip(answers[0]["predictions"], answer["predictions"], strict=True):
            all_devices["devices"].update(more["devices"])
    return answers[0]


def ask(binary: _Path, traces: Sequence[_Path], recorded: _Path,
        options: Sequence[str] = ()) -> Answer:
    return ask_predictor("--recorded", recorded, *options, "--", binary, *traces)


def touches(binary: _Path, recorded: _Path, traces: Sequence[_Path]
            ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each trace its touched addresses in the recorded build, and their counterparts in
    `binary`; touches without a counterpart are left out."""
    answer = ask_predictor("--list-touches", "--recorded", recorded, "--", binary, *traces)
    for found in answer["traces"]:
        yield np.array(found["recorded"], np.uint64), np.array(found["binary"], np.uint64)


def medians(predictions: Sequence[Prediction], warm_seconds: float | None = None
            ) -> dict[str, Figures]:
    """For each device the medians of the predictions from several traces."""
    found = {}
    for device in predictions[0]["devices"]:
        all_figures = [prediction["devices"][device] for prediction in predictions]
        figures = cast(Figures, {name: float(median([each[name] for each in all_figures]))
                                 for name in (*COUNTS, _SECONDS, *_OF_IMAGES)
                                 if name in all_figures[0]})
        if warm_seconds is not None:
            figures["total_seconds"] = figures["seconds"] + warm_seconds
        found[device] = figures
    return found


def add(whole: Document, part: Document) -> None:
    """Adds to the figures of the variants those of other files that the same starts read."""
    for variant, more in zip(whole["variants"], part["variants"], strict=True):
        for device, figures in variant["devices"].items():
            for name in (*COUNTS, _SECONDS):
                figures[name] += more["devices"][device][name]
            figures["gain"] = gain(whole["variants"][0]["devices"][device], figures)


def gain(base: Figures, figures: Figures) -> dict[str, float | None]:
    time: Literal["total_seconds", "seconds"]
    time = "total_seconds" if "total_seconds" in figures else "seconds"
    return {**{name: base[name] - figures[name] for name in COUNTS},
            time: base[time] - figures[time],
            "times": base[time] / figures[time] if figures[time] else None}


def ask_predictor(*arguments: _Path, evidence: str = "the traces and the program") -> Any:
    """frontload-predict's answer; `evidence`: what to send with a report of its defect."""
    command: list[_Path] = [tools.tool(_PREDICTOR), *arguments]
    result = subprocess.run(command, capture_output=True, encoding="utf-8",
                            errors="surrogateescape", stdin=subprocess.DEVNULL)
    if result.returncode == 0:
        return json.loads(result.stdout)
    failure = tools.failure_of(_PREDICTOR, result.returncode, result.stderr,
                               f"please report this, with {evidence}")
    if failure.note:
        failure.note = failure.note.replace(_PREDICTOR, "frontload predict")
    raise failure
