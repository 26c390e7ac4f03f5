"""Rank swapping: swap values of similar rank."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial, floor
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import NOBODY
from unveil.guesses.partition import exact_fraction
from unveil.protections._listing import protection
from unveil.protections.table._levels import WITH_ORDER, ValueLevels, levels
from unveil.protections.table._mechanism import (
    MechanismPart,
    ProductMechanism,
    SingleColumn,
    UnchangedColumns,
    value_numbers,
)
from unveil.protections.table._rank_schemes import BATCHES, MOST_DRAWS, STEPS, Lines, Offsets, Scheme, relative_error
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism, Refutation
from unveil.protections.table._release import (
    check_columns,
    masked_release,
    named_columns,
    released_columns,
)

if TYPE_CHECKING:
    import polars as pl

_SHARE = 0.05


@protection(
    source='Moore, "Controlled data-swapping techniques for masking public use microdata sets", 1996',
    aka=("rank-swap", "data-swapping"),
    keeps=("values",),
)
@dataclass(frozen=True, kw_only=True)
class RankSwapping:
    """Swap each column's values of similar rank; then shuffle the rows.

    In a column with n values, the value of lowest rank swaps with one of the next ``floor(share * n)`` ranks at random,
    then the lowest one left swaps with one of those left, and so on; a value near the top may find none left and
    stays. So no value moves by more than that many ranks, and every column keeps its values and how often each
    occurs. Columns are swapped independently, which loosens what holds them together.

    Our reading, where the source leaves it open: equal values are ranked at random, so that a value may swap with its
    equal and look unchanged. Columns without an order (category, text) get one at random each time: then values swap
    with those of the categories next to theirs, and most members of a large category keep it. A missing
    value stays where it is.

    The true probability of an original row is proportional to the product over columns of the chance that its rank gets
    the released value. These chances are not even over the window. They are exact for windows of up to 12 ranks and
    for columns of up to 13 values; beyond, they are simulated when they are first asked for, and
    ``release.mechanism.error()`` says how well.

    Parameters
    ----------
    columns
        The columns to swap; None swaps all. Columns that identify people are left out of the release and cannot be
        named here; the others that are not named stay as they are.
    share
        How far a value may move, as a share of the column's values that are not missing, above 0 and at most 1.
        Where that is less than one rank nothing can move: the release then says so in its notes.
    p
        The same in percent, above 0 and at most 100; None takes ``share``.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.
    draws
        How many simulations the true probability rests on where it is not exact; None takes enough for some hundredths.
    seed
        Where these simulations start; it has no part in the swaps themselves.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"income": range(0, 600, 10)}))
    >>> release = RankSwapping(p=5).apply(people, rng=np.random.default_rng(1))
    >>> moved = release.released.frame["income"].to_numpy() - people.frame["income"].to_numpy()[release.truth]
    >>> int(abs(moved).max())
    30
    """

    columns: tuple[str, ...] | None = None
    share: float = _SHARE
    p: float | None = None
    shuffle: bool = True
    draws: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_simulation(self.draws, self.seed)
        if not 0 < exact_fraction(self.share, what="share") <= 1:
            raise InputError(f"share is {self.share}; it must be above 0 and at most 1. Write 5 % of the ranks as 0.05")
        if self.p is not None:
            check_percent(self.p)
            same = float(exact_fraction(self.p, what="p") / 100)
            if self.share not in (_SHARE, same):
                raise InputError(
                    f"share and p set the same window, but differ: {self.share} and {self.p} %. Give one of them"
                )
            object.__setattr__(self, "share", same)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with swapped values, in random order."""
        return swapped_release(
            original,
            self.columns,
            self._scheme,
            text=f"{self.share} of its values",
            name="rank-swapped",
            shuffle=self.shuffle,
            draws=self.draws,
            seed=self.seed,
            rng=rng,
        )

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        return declared_swaps(file, self.columns, self._scheme, draws=self.draws, seed=self.seed)

    def _scheme(self, n: int) -> Offsets | None:
        window = self._window(n)
        return Offsets(np.ones(window)) if window else None

    def _window(self, n: int) -> int:
        return floor(exact_fraction(self.share, what="share") * n)


def check_percent(p: object) -> None:
    """Refuse a setting that is no percentage."""
    if isinstance(p, bool) or not 0 < exact_fraction(p, what="p") <= 100:  # type: ignore[arg-type]
        raise InputError(f"p is {p}; it must be a percentage above 0 and at most 100. Write 5 % of the ranks as 5")


def check_simulation(draws: object, seed: object) -> None:
    """Refuse settings of a simulation that are none."""
    if draws is not None:
        whole_number(draws, "draws", at_least=2, advice="Leave it out for enough of them")
    whole_number(seed, "seed", at_least=0)


@dataclass(frozen=True, eq=False, repr=False)
class SwapMechanism(ProductMechanism):
    """The mechanism of rank swapping, possibly simulated."""

    def error(self) -> float:
        """Return the largest relative standard error of probabilities, 0 if exact."""
        columns = [part.chances for part in self.parts if isinstance(part, SingleColumn)]
        return max((chances.error for chances in columns if isinstance(chances, RankChances)), default=0.0)


def swapped_release(
    original: Table,
    columns: tuple[str, ...] | None,
    scheme_for: Callable[[int], Scheme | None],
    *,
    text: str,
    name: str,
    shuffle: bool,
    draws: int | None,
    seed: int,
    rng: np.random.Generator,
) -> Release:
    """Return a release with rank-swapped columns, by scheme.

    Where there is no scheme because a window is less than one rank, the column stays, and a note says so.
    """
    kept = released_columns(original)
    names = kept if columns is None else named_columns(original, columns)
    frame = original.frame[kept]
    notes: tuple[str, ...] = ()
    parts: list[MechanismPart] = []
    for column in names:
        found = levels(original, column)
        in_order = original.column(column).kind in WITH_ORDER
        scheme = scheme_for(int(found.counts.sum()))
        if scheme is None:
            notes += (f"column {column!r} is unchanged: {text} is less than one rank",)
            parts.append(UnchangedColumns((column,)))
            continue
        # Renamed for a moment, because polars would read a name such as "^a.*$" as a pattern of names.
        values = frame[column].alias("values")
        frame = frame.with_columns(values.gather(_sources(found, in_order, scheme, rng)).alias(column))
        parts.append(SingleColumn(column, values[found.row], RankChances(found.counts, scheme, in_order, draws, seed)))
    return masked_release(
        original, frame, names, parts, name=name, shuffle=shuffle, rng=rng, notes=notes, mechanism=SwapMechanism
    )


def declared_swaps(
    file: DeclaredFile,
    columns: tuple[str, ...] | None,
    scheme_for: Callable[[int], Scheme | None],
    *,
    draws: int | None,
    seed: int,
) -> RecognizedMechanism:
    """Return swap probabilities of a declared file, and impossible values."""
    original = file.original
    parts: list[MechanismPart] = []
    against: tuple[Refutation, ...] = ()
    names = released_columns(original) if columns is None else named_columns(original, columns)
    for name in names:
        found = levels(original, name)
        scheme = scheme_for(int(found.counts.sum()))
        if scheme is None:
            parts.append(UnchangedColumns((name,)))
            continue
        values = original.series(name).alias("values")[found.row]
        in_order = original.column(name).kind in WITH_ORDER
        parts.append(SingleColumn(name, values, RankChances(found.counts, scheme, in_order, draws, seed)))
        if in_order and isinstance(scheme, Offsets):
            against += _moved_too_far(file, name, found, values, scheme.weight.size)
    return RecognizedMechanism(tuple(parts), against, SwapMechanism)


def _moved_too_far(
    file: DeclaredFile, name: str, levels: ValueLevels, values: "pl.Series", window: int
) -> tuple[Refutation, ...]:
    """Return the rows with values beyond the window, ties favorable."""
    import polars as pl

    if (file.released.series(name).dtype == pl.String) != (values.dtype == pl.String):
        return ()  # said where the chances of such cells are looked at
    end = np.cumsum(levels.counts)
    begin = end - levels.counts
    somebody = np.flatnonzero(file.truth != NOBODY)
    new = value_numbers(values, file.released.series(name))[somebody]
    old = levels.level[file.truth[somebody]]
    both = (new < values.len()) & (old >= 0)
    somebody, new, old = somebody[both], new[both], old[both]
    apart = np.maximum(begin[new] - end[old], begin[old] - end[new]) + 1
    far = (apart > window) & (new != old)
    if not far.any():
        return ()
    first = int(np.flatnonzero(far)[0])
    sentence = (
        f"column {name!r}: {int(far.sum())} values moved beyond the window of {window} ranks, the first in "
        f"released row {somebody[first] + 1} (counted from 1), by at least {apart[first]} ranks"
    )
    return (Refutation(sentence, somebody[far]),)


def _sources(levels: ValueLevels, in_order: bool, scheme: Scheme, rng: np.random.Generator) -> IntArray:
    """Return for each row the row whose value it gets."""
    level = levels.level
    if not in_order:
        level = np.append(rng.permutation(levels.row.size), -1)[level]
    by_lot = rng.permutation(np.flatnonzero(~levels.missing))
    ranked = by_lot[np.argsort(level[by_lot], kind="stable")]
    source = np.arange(level.size)
    source[ranked] = ranked[scheme.partners(ranked.size, rng)]
    return source


# The true probabilities of rank swapping: how likely a value of a column becomes another one.

_PLAIN_STEPS = 10_000
_ORDERS = 720


@dataclass(frozen=True, eq=False, repr=False)
class RankChances:
    """Probability of each new value given each old one.

    ``counts`` has how many rows have each value, in their order. Equal values are ranked at random; with ``in_order``
    False the values themselves too. Computed when first asked for: exactly if the window and the table are small, else
    by simulation from ``seed``, with ``draws`` runs (None: enough for an error of a few hundredths).
    """

    counts: IntArray
    scheme: Scheme
    in_order: bool
    draws: int | None = None
    seed: int = 0

    @cached_property
    def _found(self) -> tuple[Lines, float]:
        if self.in_order:
            return self.scheme.lines(self.counts, self.draws, self.seed)
        return _lines_by_lot(self.scheme, self.counts, self.draws, self.seed)

    @property
    def error(self) -> float:
        """Relative standard error of expected swaps (RMS), 0 if exact."""
        return self._found[1]

    def __call__(self, new: IntArray) -> FloatArray:
        """Return probabilities of new values given old ones; missing stays."""
        size = self.counts.size
        lines = np.zeros((new.size, size + 1))
        there = new < size
        if there.any():
            lines[there, :size] = self._found[0](new[there])
        lines[~there, size] = 1.0
        return lines


def _lines_by_lot(scheme: Scheme, counts: IntArray, draws: int | None, seed: int) -> tuple[Lines, float]:
    """Return the probabilities of values with randomly ordered ties.

    Values with the same number of rows are then alike, so that all that matters is two such numbers, and whether the
    value is the same.
    """
    sizes, kind = np.unique(counts, return_inverse=True)
    many = np.bincount(kind)
    batches = _exact_by_lot(scheme, counts, kind) or _simulated_by_lot(scheme, counts, kind, draws, seed)
    same, other = (np.mean([batch[part] for batch in batches], axis=0) for part in (0, 1))
    error = relative_error([np.append(batch[1].ravel(), batch[0]) for batch in batches])
    # From expected numbers of rows to chances of one row of one value.
    to_same = same / (many * sizes)
    pairs = np.outer(many, many) - np.diag(many)
    to_other = np.divide(other, pairs * sizes[:, None], out=np.zeros_like(other), where=pairs > 0)

    def lines(asked: IntArray) -> FloatArray:
        table = to_other[:, kind[asked]].T[:, kind]
        table[np.arange(asked.size), asked] = to_same[kind[asked]]
        return np.asarray(table, np.float64)

    return lines, error


def _tally(swaps: FloatArray, kind: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the rows that keep and change their value."""
    kinds = int(kind.max()) + 1
    same = np.bincount(kind, np.diag(swaps), kinds).astype(np.float64)
    other = np.zeros((kinds, kinds))
    np.add.at(other, (kind[:, None], kind[None, :]), swaps - np.diag(np.diag(swaps)))
    return same, other


def _exact_by_lot(scheme: Scheme, counts: IntArray, kind: IntArray) -> list[tuple[FloatArray, FloatArray]] | None:
    if counts.size > 7 or factorial(counts.size) > _ORDERS:
        return None
    swap = scheme.exact(int(counts.sum()))
    if swap is None:
        return None
    total = np.zeros((counts.size, counts.size))
    for order in permutations(range(counts.size)):
        value = np.repeat(order, counts[list(order)])
        np.add.at(total, (value[:, None], value[None, :]), swap)
    return [_tally(total / factorial(counts.size), kind)]


def _simulated_by_lot(
    scheme: Scheme, counts: IntArray, kind: IntArray, draws: int | None, seed: int
) -> list[tuple[FloatArray, FloatArray]]:
    n, kinds = int(counts.sum()), int(kind.max()) + 1
    runs = max(1, (draws or int(np.clip(STEPS // scheme.steps(n), 100, MOST_DRAWS / 10))) // BATCHES)
    often = scheme.steps(n) * runs * BATCHES > _PLAIN_STEPS
    batches = []
    for batch in range(BATCHES):
        rng = np.random.default_rng([seed, batch])
        same, other = np.zeros(kinds), np.zeros((kinds, kinds))
        for _ in range(runs):
            order = rng.permutation(counts.size)
            value = np.repeat(order, counts[order])
            new = value[scheme.partners(n, rng, often=often)]
            kept = value == new
            same += np.bincount(kind[value[kept]], minlength=kinds)
            moved = kind[value[~kept]] * kinds + kind[new[~kept]]
            other += np.bincount(moved, minlength=kinds * kinds).reshape(kinds, kinds)
        batches.append((same / runs, other / runs))
    return batches
