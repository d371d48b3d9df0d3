"""Shared by bench/run and bench/race: measures and predicts the starts of a workload's built
variants."""

from collections.abc import Callable, Sequence

from coldbench.judge import figures, replay
from coldbench.judge.figures import Figures
from coldbench.judge.verdicts import Verdict
from coldbench.measure.starts import Starts, measure_starts
from coldbench.show import document
from coldbench.variants.work_folder import WorkFolder


class Session:
    """The measured starts of variants, and their results so far.

    workload     their part of the document
    figures      those that can be judged
    predictions  verdicts on how near the model came
    """

    def __init__(self, work: WorkFolder, variants: Sequence[str], *, runs: int, device: bool,
                 progress: Callable[[str], None]):
        self.starts: Starts = measure_starts(work, variants, runs=runs, device=device,
                                             progress=progress)
        measured = [figures.of_variant(work, self.starts, name) for name in variants]
        self.figures: Figures = figures.to_judge(self.starts, measured)
        progress("predicting the starts")
        predictions = replay.replay(work, measured, figures.place(self.starts))
        self.predictions: list[Verdict] = replay.verdicts(predictions)
        self.workload = document.of_starts(work, self.starts, measured, predictions)
