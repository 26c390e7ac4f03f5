"""Attribute inference as in anonymeter 1.1.0, for comparison.

It also follows the package where :class:`unveil.attacks.Inference` does better: ties as a sort leaves them, numbers off
by a share of the guess and not of the truth, a baseline that hardly ever guesses.
"""

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, IntArray
from unveil.anonymeter.frames import column_codes, column_groups, frames_of, is_number, number_cells, sample_rows
from unveil.anonymeter.nearest_rows import (
    PLAIN_WORK,
    TARGETS_AT_ONCE,
    ColumnGroup,
    GroupNeighbours,
    exact_neighbours,
    group_neighbours,
    target_kinds,
)
from unveil.anonymeter.results import EvaluationResults, Evaluator, not_evaluated
from unveil.errors import InputError, column_names, whole_number

if TYPE_CHECKING:
    import polars as pl


#: How much the package allows a number to be off, as a share of the guess.
TOLERANCE = 0.05
#: How many pairs of a target and a row as near as its nearest are judged at a time.
PAIRS_AT_ONCE = 1 << 22


class InferenceEvaluator(Evaluator):
    """Infer a sensitive attribute from the nearest synthetic row.

    A guess of a number is compared with ``|guess - truth| / guess <= 0.05``, so that a negative guess is right whatever
    the truth is; a missing guess for a missing truth is right; the baseline keeps a random synthetic row only where its
    number happens to be that of the target, and else guesses "missing". Rows are numbered from 0, as in a file just
    read.

    Parameters
    ----------
    ori, syn, control
        Any DataFrames: original, synthetic, and people who are not in the original.
    aux_cols, secret
        The known columns, and the one to guess, which may be among them. Columns of integers and floats are compared
        by size, all others by equality.
    regression
        Whether the secret is judged as a number, within 5 % of the guess; None decides by its type.
    n_attacks
        How many people to attack, or infinity for all.
    inference_model
        Anything with a method ``predict`` that takes the rows of the targets and returns a guess for each. It guesses
        in place of the nearest row, and must be fitted to the synthetic rows.

    Examples
    --------
    >>> import polars as pl
    >>> ori = pl.DataFrame({"age": [30, 40, 50], "pay": [500, 20, 70]})
    >>> syn = ori[[2, 0, 1]]
    >>> InferenceEvaluator(ori, syn, ["age"], "pay", n_attacks=3).evaluate().results().n_success
    3
    """

    def __init__(
        self,
        ori: Any,
        syn: Any,
        aux_cols: Sequence[str],
        secret: str,
        regression: bool | None = False,
        n_attacks: float = 500,
        control: Any = None,
        inference_model: Any = None,
    ) -> None:
        if not isinstance(secret, str):
            raise InputError(
                f"The sensitive column (secret) must be one name, but is a {type(secret).__name__}. Write 'income'"
            )
        if inference_model is not None and not hasattr(inference_model, "predict"):
            raise InputError("inference_model must have a method predict, but has none. Pass a fitted model")
        self._aux_cols, self._secret, self._regression = column_names(aux_cols, "aux_cols"), secret, regression
        self._n_attacks = None if n_attacks == inf else whole_number(n_attacks, "n_attacks")
        self._model, self._given = inference_model, [ori] if control is None else [ori, control]
        self._syn, *self._people = frames_of(syn, ori, control, list(dict.fromkeys([*self._aux_cols, secret])))

    def evaluate(self, n_jobs: int = -2) -> Self:  # noqa: ARG002
        """Attack people from numpy's global generator; ``n_jobs`` is unused."""
        sizes = [
            frame.height if self._n_attacks is None else min(self._n_attacks, frame.height) for frame in self._people
        ]
        blind = min(sizes[0], self._syn.height)
        naive_rows, naive_guesses = sample_rows(self._people[0], blind), sample_rows(self._syn, blind)
        self._rows = [sample_rows(frame, size) for frame, size in zip(self._people, sizes, strict=True)]
        targets = [frame[rows] for frame, rows in zip(self._people, self._rows, strict=True)]
        secrets = [frame[self._secret] for frame in (self._syn, self._people[0][naive_rows], *targets)]
        guesses = [] if self._model is None else [self._guesses(place) for place in range(len(targets))]
        cells, as_numbers = _comparable([*secrets, *guesses], self._regression)
        released, naive_truth, *others = cells
        truths = others[: len(targets)]
        if guesses:
            pairs = zip(others[len(targets) :], truths, strict=True)
            self._right = [_verdict(guess, truth, as_numbers) for guess, truth in pairs]
        else:
            groups = column_groups(self._syn, targets, self._aux_cols)
            self._right = [
                _hits(group, released, truth, as_numbers) for group, truth in zip(groups, truths, strict=True)
            ]
        naive = _baseline(released, naive_truth, naive_rows, naive_guesses, as_numbers)
        hits = [int(right.sum()) for right in self._right]
        control = hits[1] if len(hits) > 1 else None
        self._counts = (sizes[0], blind, sizes[-1]), hits[0], int(naive.sum()), control
        return self

    def risk_for_groups(self, confidence_level: float = 0.95) -> dict[Any, EvaluationResults]:
        """Return the results by sensitive value, after ``evaluate()``.

        The baseline is that of all people. As in the package, the rate of the control is a share of all people of the
        control with that secret, also of those who were not attacked. A secret of which nobody was attacked is left
        out, and without people of the control who have it ``control_rate`` is None.
        """
        if self._counts is None:
            not_evaluated()
        (_, blind, _), _, n_baseline, _ = self._counts
        (attacked, hits), *outside = (
            _by_secret(frame[self._secret][rows], right)
            for frame, rows, right in zip(self._people, self._rows, self._right, strict=True)
        )
        control_size: dict[Any, int] = {}
        if outside:
            control_size = _by_secret(self._people[1][self._secret], np.ones(self._people[1].height, np.bool_))[0]
        groups = {}
        for group, tries in attacked.items():
            size = control_size.get(group, 0)
            n_control = outside[0][1].get(group, 0) if size else None
            counts = (tries, blind, size), hits[group], n_baseline, n_control
            groups[group] = EvaluationResults(*counts, confidence_level)
        return groups

    def _guesses(self, place: int) -> "pl.Series":
        """Return the model's predictions, aligned by index as in the package."""
        import narwhals as nw

        from unveil.data.table.native import series_of

        rows = nw.from_native(self._given[place], eager_only=True)[self._rows[place]].to_native()
        guesses = self._model.predict(rows)
        if hasattr(guesses, "reindex_like"):
            guesses = guesses.reindex_like(rows)
        ((series, _),) = series_of({self._secret: guesses}, table="guesses of the model")
        if series.len() != len(rows):
            raise InputError(
                f"inference_model must make one guess per target, but made {series.len()} for {len(rows)}. Make as many"
            )
        return series


class SklearnInferencePredictor:
    """Wrapper of a fitted scikit-learn model, as in anonymeter."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def predict(self, x: Any) -> Any:
        """Return one guess per row."""
        return self._model.predict(x)


def _by_secret(secrets: "pl.Series", right: BoolArray) -> tuple[dict[Any, int], dict[Any, int]]:
    """Return the numbers of people and correct guesses by sensitive value."""
    import polars as pl

    frame = pl.DataFrame({"secret": secrets.fill_nan(None) if secrets.dtype.is_float() else secrets, "right": right})
    counts = frame.drop_nulls("secret").group_by("secret").agg(pl.len(), pl.col("right").sum()).sort("secret")
    rows = counts.rows()
    return {secret: size for secret, size, _ in rows}, {secret: hits for secret, _, hits in rows}


def _comparable(parts: Sequence["pl.Series"], regression: bool | None) -> tuple[list[NDArray[Any]], bool]:
    """Return comparable sensitive values, and whether they are compared as numbers."""
    numbers = is_number(parts)
    if regression and not numbers:
        raise InputError(
            f"the sensitive column {parts[0].name!r} must be numeric for regression, but is {parts[0].dtype}. "
            "Set regression to False"
        )
    if numbers:
        return [number_cells(part) for part in parts], regression is not False
    codes = column_codes(parts)
    cells = np.where(codes == 0, np.nan, codes)
    return np.split(cells, np.cumsum([part.len() for part in parts])[:-1]), False


def _verdict(guess: NDArray[Any], truth: NDArray[Any], regression: bool) -> BoolArray:
    """Return the package's verdicts; missing is NaN."""
    if regression:
        with np.errstate(all="ignore"):
            right = np.abs(guess - truth) / (guess + 1e-12) <= TOLERANCE
    else:
        right = guess == truth
    return np.asarray(right | (_gone(guess) & _gone(truth)))


def _gone(cells: NDArray[Any]) -> BoolArray:
    return np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(cells.shape, np.bool_)


def _baseline(
    cells: NDArray[Any], truth: NDArray[Any], rows: IntArray, guesses: IntArray, regression: bool
) -> BoolArray:
    """Return the correct guesses of the random baseline."""
    drawn = np.isin(rows, guesses)
    right = _gone(truth)
    right[drawn] = _verdict(cells[rows[drawn]], truth[drawn], regression)
    return right


def _hits(group: ColumnGroup, cells: NDArray[Any], truth: NDArray[Any], regression: bool) -> BoolArray:
    """Return the correct guesses from each target's nearest row."""
    rows, right = len(group.row), np.zeros(truth.size, np.bool_)
    fast = truth.size * (rows + group.codes.size + group.numbers.size) > PLAIN_WORK
    kinds = target_kinds(group)
    order = np.argsort(kinds, kind="stable")
    at_once = max(1, min(TARGETS_AT_ONCE, PAIRS_AT_ONCE // rows))
    for begin in range(0, truth.size, at_once):
        part = order[begin : begin + at_once]
        side = group_neighbours(group, part, kinds[part], 1, fast)
        right[part] = _hits_of_some(side, cells, truth[part], regression, fast)
    return right


def _hits_of_some(
    side: GroupNeighbours, cells: NDArray[Any], truth: NDArray[Any], regression: bool, fast: bool
) -> BoolArray:
    """Return the correct guesses; ties are ordered only if they disagree."""
    size = np.diff(side.near.start)[side.of]
    owner, begin = np.repeat(np.arange(size.size), size), np.cumsum(size) - size
    row = side.near.row[np.arange(owner.size) + (side.near.start[side.of] - begin)[owner]]
    verdict = np.add.reduceat(_verdict(cells[row], truth[owner], regression).astype(np.int64), begin)
    right = np.asarray(verdict == size)
    open_ = np.flatnonzero((verdict > 0) & ~right)
    if open_.size:
        first = exact_neighbours(side, open_, 1, fast)
        right[open_] = _verdict(cells[first.near.row[first.of]], truth[open_], regression)
    return right
