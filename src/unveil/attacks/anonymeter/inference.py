"""The inference attack with the same guesses and verdicts as anonymeter 1.1.0, for those who compare numbers with it.

What it does is kept, also where :class:`unveil.attacks.table.inference.Inference` does better: ties as a
sort leaves them, numbers off by a share of the guess and not of the truth, a baseline that hardly ever guesses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._kernels.anonymeter.nearest import (
    PLAIN_WORK,
    TARGETS_AT_ONCE,
    ColumnGroup,
    GroupNeighbours,
    _alike,
    _exactly,
    _side,
)
from unveil._kernels.types import BoolArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.anonymeter.linkability import (
    _check_seed,
    _codes,
    _generator,
    _groups,
    _is_number,
    _notes_on_categories,
    _released_and_targets,
    _values,
)
from unveil.attacks.table import _secrets
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    import polars as pl


#: What the package allows a number to be off, as a share of the guess.
TOLERANCE = 0.05
#: How many pairs of a target and a row as near as its nearest are judged at a time.
PAIRS_AT_ONCE = 1 << 22


@attack(
    source="anonymeter 1.1.0; Giomi et al., PoPETs 2023",
    example="secret=vote,known=age,education",
    uses_row_order=True,
    knows=("known",),
)
@dataclass(frozen=True, kw_only=True)
class AnonymeterInference:
    """An adversary who guesses as anonymeter 1.1.0 does and is judged as there, which is not always right.

    A guess of a number is compared with ``|guess - truth| / guess <= 0.05``, so that a negative guess is right whatever
    the truth is; a missing guess for a missing truth is right; the baseline keeps a random released row only where its
    number happens to be that of the target, and else guesses "missing".

    Parameters
    ----------
    secret
        The column to guess.
    known
        The columns that the adversary knows. A column whose cells are kept as numbers counts by its size, every other
        one (truth values and dates too) by whether two cells are equal.
    regression
        Whether the secret is judged as a number; False, as in the package, wants it equal. None asks for numbers where
        the column holds numbers.
    targets
        How many people are attacked, and how many of the control; None attacks all of them.
    seed
        The targets are those that the package draws after ``numpy.random.seed(seed)``: for the baseline first, then for
        the attack, then for the control; None takes a seed from ``rng``.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [30, 40], "pay": [500, 20]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [30, 40], "pay": [-100, 30]}), name="released")
    >>> attack = AnonymeterInference(secret="pay", known=("age",), regression=True, targets=None, seed=1)
    >>> trials = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> int(trials.attack.expected)  # -100 for 500
    1
    """

    secret: str
    known: tuple[str, ...]
    regression: bool | None = False
    targets: int | None = 500
    seed: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", _secrets.check_settings(self.secret, self.known, TOLERANCE, self.targets))
        _check_seed(self.seed)

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Trials:
        """Return which guesses the package counts as right, of its baseline, its attack and its control.

        The rows of all tables are taken to be numbered from 0, as they are in a file just read.
        """
        draw = _generator(self.seed, rng)
        columns = [*self.known, self.secret]
        # The package knows single values only.
        released = released.single_values()
        tables = [released, knowledge.records] + ([] if knowledge.control is None else [knowledge.control])
        trials, without = self.run_on([table.select(columns).frame for table in tables], draw)
        return replace(trials, notes=tuple(_notes(self, tables, trials.naive.tries, without)))

    def run_on(self, frames: Sequence["pl.DataFrame"], draw: np.random.RandomState) -> tuple[Trials, int]:
        """Return the same for frames as they are (released rows, the records, perhaps the control), without notes.

        Beside it stands for how many targets the baseline has no guess.
        """
        many = [frame.height if self.targets is None else min(self.targets, frame.height) for frame in frames]
        blind = min(many[1], frames[0].height)
        naive_rows = draw.choice(frames[1].height, blind, replace=False)
        naive_guesses = draw.choice(frames[0].height, blind, replace=False)
        rows = [
            draw.choice(frame.height, size, replace=False) for frame, size in zip(frames[1:], many[1:], strict=True)
        ]
        people = [frame[row] for frame, row in zip(frames[1:], rows, strict=True)]
        naive, *right = _judged(frames[0], [frames[1][naive_rows], *people], self, naive_rows, naive_guesses)
        attempts = [Attempts.from_chances(each, rows=row) for each, row in zip(right, rows, strict=True)]
        trials = Trials(
            attack=attempts[0],
            naive=Attempts.from_chances(naive, rows=naive_rows),
            control=attempts[1] if len(attempts) > 1 else None,
            what=f"{self.secret} of the released row that is nearest by {', '.join(self.known)}, ties as in "
            "anonymeter, is right by its rule",
        )
        return trials, int((~np.isin(naive_rows, naive_guesses)).sum())


def _notes(settings: AnonymeterInference, tables: Sequence[Table], tries: int, without: int) -> list[str]:
    asked = settings.targets or 0
    notes = [
        f"{asked} targets were asked for, but the {table.name} has {table.rows}: all were attacked"
        for table in tables[1:]
        if table.rows < asked
    ]
    if without:
        notes.append(
            f"the baseline of anonymeter has no guess for {without} of {tries} targets, which it counts as "
            "misses: it is no baseline to compare with"
        )
    return notes + _notes_on_categories(tables[0], (*settings.known, settings.secret))


def _judged(
    released: "pl.DataFrame",
    people: Sequence["pl.DataFrame"],
    settings: AnonymeterInference,
    naive_rows: IntArray,
    naive_guesses: IntArray,
) -> list[BoolArray]:
    """Return what is right of the baseline, whose targets come first, and of the attack on all others."""
    cells, truths, regression = _cells(released, people, settings.secret, settings.regression)
    naive = _baseline(cells, truths[0], naive_rows, naive_guesses, regression)
    groups = _groups(released, people[1:], settings.known)
    return [naive] + [_hits(group, cells, truth, regression) for group, truth in zip(groups, truths[1:], strict=True)]


def hits(
    original: Any,
    released: Any,
    target_rows: ArrayLike,
    known: Sequence[str],
    secret: str,
    regression: bool | None = False,
) -> BoolArray:
    """Return for each target whether anonymeter 1.1.0 counts its guess as right.

    Parameters
    ----------
    original, released
        Any DataFrames. Columns of integers and floats are compared by size, all others by equality.
    target_rows
        The rows of the original to attack, counted from 0. Number columns are divided by their range over the released
        rows and these targets, so that other targets may change the answer for one.
    known, secret, regression
        As in :class:`AnonymeterInference`.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 40, 31], "pay": [500, 20, 100]})
    >>> released = pl.DataFrame({"age": [41, 30, 32], "pay": [20, -100, 105]})
    >>> hits(original, released, [0, 1, 2], ["age"], "pay", regression=True)
    array([ True,  True,  True])
    """
    rows, targets = _released_and_targets(original, released, target_rows, [*known, secret])
    if targets.height == 0 or rows.height == 0:
        return np.zeros(targets.height, np.bool_)
    cells, (truth,), as_number = _cells(rows, [targets], secret, regression)
    (group,) = _groups(rows, [targets], known)
    return _hits(group, cells, truth, as_number)


def _cells(
    released: "pl.DataFrame", people: Sequence["pl.DataFrame"], secret: str, regression: bool | None
) -> tuple[NDArray[Any], list[NDArray[Any]], bool]:
    """Return the secrets of the released rows and of the people, comparable, and whether they are judged as numbers."""
    is_number = _is_number(released, people, secret)
    if regression and not is_number:
        raise InputError(
            f"the secret {secret!r} must hold numbers to be judged as numbers, but is {released.schema[secret]}. "
            "Leave regression out"
        )
    parts = [frame[secret] for frame in (released, *people)]
    if is_number:
        cells = [_values(part) for part in parts]
    else:
        codes = _codes(parts)
        whole = np.where(codes == 0, np.nan, codes)
        cells = np.split(whole, np.cumsum([part.len() for part in parts])[:-1])
    return cells[0], cells[1:], is_number if regression is None else regression


def _verdict(guess: NDArray[Any], truth: NDArray[Any], regression: bool) -> BoolArray:
    """Return what the package counts as right; what is missing is a NaN."""
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
    """Return what is right where a target gets the released row of its own number, if that was drawn, else nothing."""
    drawn = np.isin(rows, guesses)
    right = _gone(truth)
    right[drawn] = _verdict(cells[rows[drawn]], truth[drawn], regression)
    return right


def _hits(group: ColumnGroup, cells: NDArray[Any], truth: NDArray[Any], regression: bool) -> BoolArray:
    """Return what is right of the guesses from the nearest row of each target."""
    rows, right = len(group.row), np.zeros(truth.size, np.bool_)
    fast = truth.size * (rows + group.codes.size + group.numbers.size) > PLAIN_WORK
    alike = _alike(group)
    order = np.argsort(alike, kind="stable")
    at_once = max(1, min(TARGETS_AT_ONCE, PAIRS_AT_ONCE // rows))
    for begin in range(0, truth.size, at_once):
        part = order[begin : begin + at_once]
        side = _side(group, part, alike[part], 1, fast)
        right[part] = _hits_of_some(side, cells, truth[part], regression, fast)
    return right


def _hits_of_some(
    side: GroupNeighbours, cells: NDArray[Any], truth: NDArray[Any], regression: bool, fast: bool
) -> BoolArray:
    """Return what is right; the order within a tie is worked out only where rows that tie disagree."""
    size = np.diff(side.near.start)[side.of]
    owner, begin = np.repeat(np.arange(size.size), size), np.cumsum(size) - size
    row = side.near.row[np.arange(owner.size) + (side.near.start[side.of] - begin)[owner]]
    verdict = np.add.reduceat(_verdict(cells[row], truth[owner], regression).astype(np.int64), begin)
    right = np.asarray(verdict == size)
    open_ = np.flatnonzero((verdict > 0) & ~right)
    if open_.size:
        first = _exactly(side, open_, 1, fast)
        right[open_] = _verdict(cells[first.near.row[first.of]], truth[open_], regression)
    return right
