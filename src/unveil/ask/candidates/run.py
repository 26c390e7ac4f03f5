"""The question about candidates measured: a guess and perhaps a truth in, findings out."""

from collections.abc import Sequence

from unveil._kernels.types import IntArray
from unveil.ask.candidates.findings import CandidatesFindings
from unveil.guess import Candidates
from unveil.measure import all_metrics
from unveil.measure.candidates.matches import matches
from unveil.show.progress import Progress


def run(
    guess: Candidates,
    truth: IntArray | None,
    *,
    metrics: Sequence[str],
    progress: Progress,
    notes: Sequence[str],
) -> CandidatesFindings:
    """Return how much the adversary knows, and how often it is right; see :func:`unveil.candidates`."""
    progress("measuring", 0.0)
    return CandidatesFindings(
        matches=matches(guess, truth), measured=all_metrics(guess, truth), metrics=tuple(metrics), notes=tuple(notes)
    )
