"""The question about candidates asked of files: a guess, and the truth if it is known."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY, TOLERANCE
from unveil.questions.attack_metrics.settings import CandidatesSettings
from unveil.report.progress import Progress

if TYPE_CHECKING:
    import polars as pl


class CandidatesInputs(NamedTuple):
    """A guess that was read, the truth as one candidate number per target, and what has to be said."""

    guess: Candidates
    truth: IntArray | None
    notes: tuple[str, ...]


def read(
    guess: Path, truth: str | Path | None, settings: CandidatesSettings, *, progress: Progress
) -> CandidatesInputs:
    """Read and check the files of a guess and of the truth."""
    from unveil.data.candidates import read_candidates, read_truth

    progress("reading", 0.0)
    target, candidate, normalise = settings.target, settings.candidate, settings.normalise
    table = read_candidates(
        guess,
        target=target,
        candidate=candidate,
        probability=settings.probability,
        tolerance=None if normalise else TOLERANCE,
    )
    notes: list[str] = []
    answers = None
    if truth is not None:
        progress("reading", 0.6)
        answers = read_truth(truth, target=target, candidate=candidate)
        table, notes = _with_truth_only(table, answers, guess, truth, drop_unmatched=settings.drop_unmatched)
    progress("sorting", 0.0)
    found = Candidates.from_table(table["target"], table["candidate"], table["probability"], normalise=normalise)
    notes += _idle_note(int((~found.attempted).sum()), "has nothing but 0", "have nothing but 0")
    numbers = None
    if answers is not None:
        named = found.target_count
        found, numbers = _beside_truth(found, answers)
        notes += _idle_note(found.target_count - named, "is not in the guess", "are not in the guess")
    return CandidatesInputs(found, numbers, tuple(notes))


def _with_truth_only(
    table: "pl.DataFrame", answers: "pl.DataFrame", guess: str | Path, truth: str | Path, *, drop_unmatched: bool
) -> tuple["pl.DataFrame", list[str]]:
    """Return the rows whose target the truth names, and a note on the others; without leave, refuse these."""
    import polars as pl

    guessed, known = shown(Path(guess)), shown(Path(truth))
    targets = table.lazy().with_row_index("row", offset=1).group_by("target").agg(pl.col("row").first()).collect()
    unknown = targets.join(answers, on="target", how="anti")
    if unknown.height == 0:
        return table, []
    seen = f"{unknown.height} of the {targets.height} targets of {guessed}"
    if unknown.height == targets.height:
        raise InputError(
            f"{known} must name the targets of {guessed}, but names none of them. Check that both files are about the "
            "same targets and write their names alike"
        )
    if not drop_unmatched:
        raise InputError(
            f"{known} must name every target of the guess, but lacks {seen}, the first of them in row "
            f"{unknown['row'].sort()[0]} (counted from 1 below the header). Add them (with an empty candidate for "
            "those that stand for nobody), or pass --drop-unmatched to leave them out"
        )
    note = f"Targets that the truth does not name were left out: {seen}."
    return table.join(answers, on="target", how="semi", maintain_order="left"), [note]


def _beside_truth(candidates: Candidates, answers: "pl.DataFrame") -> tuple[Candidates, IntArray]:
    """Return the guess with the targets that only the truth names, not attempted, and the truth as numbers."""
    import polars as pl

    attempted = pl.DataFrame({"target": _names(candidates.targets)})
    idle = answers.join(attempted, on="target", how="anti", maintain_order="left").select("target")
    candidate = pl.DataFrame({"candidate": _names(candidates.candidates)}).with_row_index("number")
    ordered = (
        pl.concat([attempted, idle])
        .join(answers, on="target", how="left", maintain_order="left")
        .join(candidate, on="candidate", how="left", maintain_order="left")
    )
    # A candidate that no target was given gets a number of its own: it was not considered.
    number = pl.when(pl.col("candidate").is_null()).then(NOBODY).otherwise(pl.col("number").fill_null(candidate.height))
    start = np.concatenate([candidates.start, np.full(idle.height, candidates.start[-1])])
    whole = Candidates(
        start,
        candidates.candidate,
        candidates.probability,
        targets=ordered["target"].to_numpy(),
        candidates=candidates.candidates,
    )
    return whole, ordered.select(number.cast(pl.Int64))["literal"].to_numpy()


def _names(names: NDArray[np.object_] | None) -> "pl.Series":
    import polars as pl

    return pl.Series([] if names is None else names.tolist(), dtype=pl.String)


def _idle_note(number: int, one: str, many: str) -> list[str]:
    from unveil.report.text import count

    so = "counts" if number == 1 else "count"
    return [f"{count(number, f'target {one}', f'targets {many}')} and {so} as not attempted."] if number else []
