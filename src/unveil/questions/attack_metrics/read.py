"""The question about candidates asked of files: a guess, and the truth if it is known."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import IntArray
from unveil.data.files.read import read_table, refuse_cells, refuse_repeats
from unveil.data.files.source import shown
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY, TOLERANCE
from unveil.questions.attack_metrics.settings import CandidatesSettings
from unveil.report.progress import Progress

if TYPE_CHECKING:
    import polars as pl


class CandidatesInputs(NamedTuple):
    """A guess, the truth as one candidate number per target, and notes."""

    guess: Candidates
    truth: IntArray | None
    notes: tuple[str, ...]


def read(
    guess: Path, truth: str | Path | None, settings: CandidatesSettings, *, progress: Progress
) -> CandidatesInputs:
    """Read and check the files of a guess and of the truth."""
    progress("reading", 0.0)
    target, candidate, normalize = settings.target_column, settings.candidate_column, settings.normalize
    table = read_candidates(
        guess,
        target=target,
        candidate=candidate,
        probability=settings.probability_column,
        tolerance=None if normalize else TOLERANCE,
    )
    notes: list[str] = []
    answers = None
    if truth is not None:
        progress("reading", 0.6)
        answers = read_truth(truth, target=target, candidate=candidate)
        table, notes = _with_truth_only(table, answers, guess, truth, drop_unmatched=settings.drop_unmatched)
    progress("sorting", 0.0)
    found = Candidates.from_table(table["target"], table["candidate"], table["probability"], normalize=normalize)
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
    """Return the rows whose target is in the truth, and a note."""
    import polars as pl

    guessed, known = shown(Path(guess)), shown(Path(truth))
    targets = table.lazy().with_row_index("row", offset=1).group_by("target").agg(pl.col("row").first()).collect()
    unknown = targets.join(answers, on="target", how="anti")
    if unknown.height == 0:
        return table, []
    seen = f"{unknown.height} of the {targets.height} targets of {guessed}"
    if unknown.height == targets.height:
        raise InputError(
            f"{known} names no target of {guessed}. Check that both files are about the same targets and use "
            "the same names"
        )
    if not drop_unmatched:
        raise InputError(
            f"{known} lacks {seen}, the first in row {unknown['row'].sort()[0]} (counted from 1 "
            "below the header). Add them, with an empty candidate for targets without an original, or set "
            "drop_unmatched to leave them out"
        )
    note = f"Targets that the truth does not name were left out: {seen}."
    return table.join(answers, on="target", how="semi", maintain_order="left"), [note]


def _beside_truth(candidates: Candidates, answers: "pl.DataFrame") -> tuple[Candidates, IntArray]:
    """Return the guess and truth with unattempted targets of the truth."""
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


# Read what an adversary believes about each target, and the truth about the same targets, from files.

PathLike = str | os.PathLike[str]

_OPTIONS = {"target": "--target", "candidate": "--candidate", "probability": "--probability"}


def read_candidates(
    path: PathLike,
    *,
    target: str = "target",
    candidate: str = "candidate",
    probability: str = "probability",
    tolerance: float | None = 1e-6,
) -> "pl.DataFrame":
    r"""Return each target's candidates and their probabilities: text columns ``target`` and ``candidate``, and numbers.

    Targets and candidates are names: ``01`` and ``1`` differ. The order is that of the file.

    Parameters
    ----------
    path
        CSV or Parquet with one row per target and candidate.
    target, candidate, probability
        What the columns are called in the file.
    tolerance
        How far from 1 the probabilities of a target may sum, and by half of it more for each candidate; None allows
        every sum, for scores yet to be divided by it.

    Raises
    ------
    InputError
        With the file, the column and the row, if a cell is empty, a probability is not a number of at least 0, a target
        has a candidate twice, or the probabilities of a target do not sum to 1.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "guess.csv")
    ...     _ = file.write_text("target,candidate,probability\nrecord 7,Ann,0.75\nrecord 7,Bea,0.25\n")
    ...     read_candidates(file).rows()
    [('record 7', 'Ann', 0.75), ('record 7', 'Bea', 0.25)]
    """
    import polars as pl

    columns = {"target": target, "candidate": candidate, "probability": probability}
    frame = read_table(path, columns, complete=list(columns), numbers=["probability"], options=_OPTIONS)
    numbers = frame["probability"].str.strip_chars().cast(pl.Float64, strict=False)
    refuse_cells(~numbers.is_finite().fill_null(value=False), path, probability, "hold a number such as 0.25")
    refuse_cells(numbers < 0, path, probability, "hold numbers of at least 0")
    frame = frame.with_columns(numbers)
    refuse_repeats(frame, path, ["target", "candidate"])
    if tolerance is not None:
        _refuse_sums(frame, path, tolerance)
    return frame


def read_truth(path: PathLike, *, target: str = "target", candidate: str = "candidate") -> "pl.DataFrame":
    r"""Return the true candidate of each target; null without an original.

    Raises
    ------
    InputError
        If the file cannot be read, a target has no name, or a target comes twice; with the rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "truth.csv")
    ...     _ = file.write_text("target,candidate\nrecord 7,Ann\nrecord 8,\n")
    ...     read_truth(file).rows()
    [('record 7', 'Ann'), ('record 8', None)]
    """
    frame = read_table(path, {"target": target, "candidate": candidate}, complete=["target"], options=_OPTIONS)
    refuse_repeats(frame, path, ["target"])
    return frame


def _refuse_sums(frame: "pl.DataFrame", path: PathLike, tolerance: float) -> None:
    import polars as pl

    sums = (
        frame.lazy()
        .with_row_index("row", offset=1)
        .group_by("target")
        .agg(pl.col("row").first(), pl.col("probability").sum().alias("sum"), pl.len().alias("entries"))
        .drop("target")
        .collect()
    )
    # The rule of Candidates, which would refuse these too, but knows neither the file nor the row.
    wrong = sums.filter((pl.col("sum") - 1).abs() > tolerance * (1 + 0.5 * pl.col("entries")))
    if wrong.height == 0:
        return
    zero = wrong.filter(pl.col("sum") == 0).height
    idle = f" (a target with nothing but 0, as {zero} here, then counts as not attempted)" if zero else ""
    raise InputError(
        f"{shown(Path(path))}: the probabilities of {wrong.height} of {sums.height} targets do not sum to 1, "
        f"the first in row {wrong['row'].sort()[0]} (counted from 1 below the header). Correct them, or set "
        f"normalize{idle}"
    )
