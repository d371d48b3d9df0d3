"""Shared by bench/run and bench/race: measures and predicts the starts of a workload's built
variants."""

from collections.abc import Callable, Sequence

from frontload.measure import doubts

from coldbench.judge import figures, replay
from coldbench.judge.figures import Figures
from coldbench.judge.verdicts import Verdict
from coldbench.measure.starts import Starts, measure_starts
from coldbench.variants.work_folder import WorkFolder


class Session:
    """The measured starts of variants, and their results so far.

    workload     their part of the document; its variants are those of judge/figures.py
    figures      those that can be judged
    predictions  verdicts on how near the model came
    """

    def __init__(self, work: WorkFolder, variants: Sequence[str], *, runs: int, device: bool,
                 progress: Callable[[str], None]):
        self.starts: Starts = measure_starts(work, variants, runs=runs, device=device,
                                             progress=progress)
        measured = [figures.of_variant(work, self.starts, name) for name in variants]
        place = figures.place(self.starts)
        self.figures: Figures = figures.to_judge(self.starts, measured)
        progress("predicting the starts")
        predictions = replay.replay(work, measured, place)
        self.predictions: list[Verdict] = replay.verdicts(predictions)
        described = work.workload
        base = described.variants[0]
        self.workload = {
            "name": described.name,
            "title": described.title or described.name,
            "command": list(work.command(base, work.binary(base), "OUTPUT")),
            "place": place,
            "missing": self.starts.missing,
            "warnings": [warning for measurement in self.starts.measurements.values()
                         for warning in doubts.warnings(measurement)],
            "variants": [variant | {"prediction": predictions[variant["name"]]}
                         for variant in measured],
            "outputs_are_identical": self.starts.outputs_are_identical(),
        }
