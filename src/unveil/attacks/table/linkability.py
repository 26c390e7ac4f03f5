"""Linkability: linking two sources about a person through released rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.cells.neighbours import heaviest_boxes_around
from unveil._kernels.neighbours.index import prepare
from unveil._kernels.neighbours.link_chances import chances_by_search
from unveil._kernels.neighbours.nearest import IntegerGrid, content_rank, link_chance, link_chances
from unveil._kernels.neighbours.search import Neighbourhood
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.errors import InputError, column_names, whole_number
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.encode import EncodedTable
    from unveil.data.table.release import Knowledge


@attack(
    source="anonymeter 1.1.0 (Giomi, Boenisch, Wehmeyer & Tasnádi, PoPETs 2023), but with random ties",
    example="first=age,education,second=income,town_size",
    knows=("first", "second"),
)
@dataclass(frozen=True, kw_only=True)
class Linkability:
    """Link two column groups of a person that lead to one released row.

    One party knows the ``first`` columns of a target, another the ``second`` ones. Each looks up the ``neighbours``
    released rows that are nearest in its columns; the target is linked when the two sets share a row. Where rows tie
    for the last places they are drawn at random, and the chance of a link under these draws is computed exactly: no
    number depends on the order of rows, and columns that say nothing link no person more often than random guessing
    does.

    Where released cells stand for several values, rows are ranked by the gap, which is 0 for those that the target is
    compatible with, and among equal gaps by weight (see :class:`~unveil.attacks.table.inference.Inference`).

    Attributes
    ----------
    first, second
        Names of the two groups of columns, at least one each, none twice.
    neighbours
        How many nearest released rows each party looks up (k), at most as many as there are.
    targets
        How many people to attack, drawn at random among the records by what is in them; None = all. As many are drawn
        from the control. Where there are fewer, all are attacked.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table.release import Knowledge
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": [25, 30, 28], "income": [50, 60, 55]}))
    >>> released = Table.from_frame(pl.DataFrame({"age": [24, 31, 29], "income": [52, 62, 53]}))
    >>> attack = Linkability(first=("age",), second=("income",), neighbours=1, targets=None)
    >>> trials = attack.run(released=released, knowledge=Knowledge(people), rng=np.random.default_rng(1))
    >>> trials.attack.low, trials.attack.expected, trials.attack.high  # age 30 is as near to 31 as to 29
    (2.0, 2.5, 3.0)
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    neighbours: int = 10
    targets: int | None = 500

    def __post_init__(self) -> None:
        for which in ("first", "second"):
            object.__setattr__(self, which, column_names(getattr(self, which), which))
        column_names(self.first + self.second, "the two groups")
        whole_number(self.neighbours, "neighbours")
        if self.targets is not None:
            whole_number(self.targets, "targets")

    def run(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> Trials:
        """Return links among people of the records, baseline, and control.

        The same ``rng`` and the same rows, in whatever order, give the same numbers. random guessing means that both
        parties pick their released rows at random.

        Raises
        ------
        InputError
            If a column is missing from a table or of another kind in two of them, or if there are fewer released rows
            than neighbors.
        """
        return self.run_at((self.neighbours,), released=released, knowledge=knowledge, rng=rng)[0]

    def run_at(
        self, neighbours: Sequence[int], *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator
    ) -> tuple[Trials, ...]:
        """Return the same for several neighborhood sizes, by one search."""
        if max(neighbours) > released.rows:
            raise InputError(
                f"neighbours is {max(neighbours)}, but the {released.name} has {released.rows} rows. "
                f"Lower it to {released.rows} or less"
            )
        from unveil.data.table import agree
        from unveil.data.table.encode import encode

        people = [knowledge.records] if knowledge.control is None else [knowledge.records, knowledge.control]
        every = self.first + self.second
        scale = [] if knowledge.scale is None else [knowledge.scale]
        tables = agree(*(table.select(every) for table in (people[0], released, *people[1:], *scale)))
        spans = (0, 1, *range(1 + len(people), len(tables)))
        halves = [encode(tables, names, span_of=spans)[: 1 + len(people)] for names in (self.first, self.second)]
        first, second = ([half[0].grid(), *(part.grid() for part in half[2:])] for half in halves)
        drawn = [self._drawn(*both, rng) for both in zip(first, second, strict=True)]
        # All targets at once, so that the released rows are prepared once.
        targets, other_targets = (_together(parts) for parts in zip(*(both[:2] for both in drawn), strict=True))
        found = _chances(halves[0][1], halves[1][1], targets, other_targets, neighbours)
        rows = [part[2] for part in drawn]
        notes = tuple(
            f"all {table.rows} targets of the {table.name} were attacked, fewer than the {self.targets} requested"
            for table in people
            if self.targets is not None and self.targets > table.rows
        )
        return tuple(
            self._trials(k, chances, rows, released.rows, notes) for k, chances in zip(neighbours, found, strict=True)
        )

    def _trials(
        self, k: int, chances: FloatArray, rows: Sequence[IntArray], released: int, notes: tuple[str, ...]
    ) -> Trials:
        """Return the attempts on records and control, from their probabilities."""
        inside = rows[0].size
        return Trials(
            attack=Attempts.from_chances(chances[:inside], rows=rows[0]),
            naive=_blind(inside, released, k),
            control=Attempts.from_chances(chances[inside:], rows=rows[1]) if len(rows) > 1 else None,
            what=self._what(k),
            notes=notes,
        )

    def _drawn(
        self, first: IntegerGrid, second: IntegerGrid, rng: np.random.Generator
    ) -> tuple[IntegerGrid, IntegerGrid, IntArray]:
        """Return a content-ordered sample of targets, and their rows."""
        by_content = np.argsort(content_rank(first, second), kind="stable")
        rows = by_content.size
        if self.targets is not None and self.targets < rows:
            by_content = by_content[np.sort(rng.choice(rows, self.targets, replace=False, shuffle=False))]
        return _take(first, by_content), _take(second, by_content), by_content

    def _what(self, k: int) -> str:
        nearest = "nearest released row" if k == 1 else f"{k} nearest released rows"
        verb, share = ("is", "the same") if k == 1 else ("have", "a row in common")
        return f"its {nearest} by {', '.join(self.first)} and by {', '.join(self.second)} {verb} {share}"


def _chances(
    first: "EncodedTable", second: "EncodedTable", targets: IntegerGrid, other_targets: IntegerGrid, ks: Sequence[int]
) -> FloatArray:
    if first.cells is None and second.cells is None:
        return link_chances(first, second, targets, other_targets, ks)
    return chances_by_search(_around(first, targets), _around(second, other_targets), ks)


def _around(released: "EncodedTable", targets: IntegerGrid) -> Neighbourhood:
    if released.cells is None:
        return prepare(released.grid(), targets)
    return heaviest_boxes_around(released.cells, targets)


def _take(grid: IntegerGrid, rows: IntArray) -> IntegerGrid:
    return grid._replace(numbers=grid.numbers[rows], codes=grid.codes[rows])


def _together(parts: tuple[IntegerGrid, ...]) -> IntegerGrid:
    numbers, codes = (np.concatenate([getattr(part, name) for part in parts]) for name in ("numbers", "codes"))
    return parts[0]._replace(numbers=numbers, codes=codes)


def _blind(tries: int, rows: int, neighbours: int) -> Attempts:
    """Return the expected overlap of two random samples."""
    drawn = np.array([[rows], [neighbours], [rows], [neighbours]])
    return Attempts.from_chances(np.repeat(link_chance(np.array([[0, 0, 0, rows]]), *drawn), tries))
