"""Membership inference: does the release tell who is in the data?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.cells.neighbours import boxes_around
from unveil._kernels.neighbours.density import chance_of_highest, rows_within, within
from unveil._kernels.neighbours.nearest import IntegerGrid, nearest_distances, nearest_rows
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table.membership_scores import SCORES, LearnedCombination, score_people
from unveil.errors import InputError, column_names, share, whole_number
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.encode import EncodedTable
    from unveil.data.table.release import Knowledge

#: The one method that learns how much each score counts.
COMBINED = "combined"
#: How many people each part of the control must have, and how many of either kind there must be to learn from some.
LEAST_PART = 20
LEAST_TO_LEARN = 300
#: With this many members and non-members to learn from, trees are added to the regression (docs/research/midst.md).
TREES_FROM = 5_000
#: Levels with more decimals than that are rounded, so that chances can be computed in whole numbers.
_FINEST_LEVEL = 10**6
#: This part of one column's range is added to both distances of a density, so that copies of common people are none of
#: rare ones.
_SOFTENING = Fraction(1, 50)


class PoolScores(NamedTuple):
    """Membership scores of everyone: records first, then the control group.

    ``distance`` is minus the distance to the nearest released row, where -1 is one that differs fully in every column.
    ``density`` is minus that distance over the distance to the nearest other person, 0.02 of one column's range being
    added to both: a released row at the same distance says more about a person who is unlike all others.
    """

    distance: FloatArray
    density: FloatArray


def pool_scores(
    *, released: "Table", knowledge: "Knowledge", columns: tuple[str, ...], person: IntArray | None = None
) -> PoolScores:
    """Return membership scores for the pooled records.

    Who is in the data plays no part, so that scores may be compared under any other choice of members. ``person`` says
    whose each row is, where people have several.

    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> from unveil.data.table.release import Knowledge
    >>> people, rows, others = (Table.from_frame(pl.DataFrame({"age": ages})) for ages in ([20, 30], [30], [31, 40]))
    >>> pool_scores(released=rows, knowledge=Knowledge(people, others), columns=("age",)).distance
    array([-0.5 ,  0.  , -0.05, -0.5 ])
    """
    if knowledge.control is None:
        raise InputError("Membership inference needs a control group. Pass a control table")
    inside, rows, outside = _encoded(released, knowledge, knowledge.control, columns)
    pool = _together(inside.grid(), outside.grid())
    near = _nearest_released(rows, pool)[0]
    other = _nearest_other(pool, person)
    # In whole numbers of Python, so that equal ratios are equal, whatever they come from.
    soft, many = rows.mismatch_cost * _SOFTENING.numerator, _SOFTENING.denominator
    ratio = [-(many * a + soft) / (many * b + soft) for a, b in zip(near.tolist(), other.tolist(), strict=True)]
    return PoolScores(distance=-near / (rows.mismatch_cost * len(columns)), density=np.array(ratio))


def _nearest_other(pool: IntegerGrid, person: IntArray | None) -> IntArray:
    """Return how far the nearest row of another person is."""
    if person is None:
        return nearest_distances(pool, pool, 2)[:, 1]
    # Of this many rows at least one is another person's.
    start, row, distance = nearest_rows(pool, pool, min(int(np.bincount(person).max()) + 1, person.size))
    own = person[row] == np.repeat(person, np.diff(start))
    return np.minimum.reduceat(np.where(own, np.iinfo(np.int64).max, distance), start[:-1])


def highest(scores: FloatArray, share: float) -> FloatArray:
    """Return the probability that each score is in the top share.

    >>> highest(np.array([3.0, 2.0, 2.0, 1.0]), 0.5)
    array([1. , 0.5, 0.5, 0. ])
    """
    exact, (above, alike) = Fraction(repr(share)).limit_denominator(_FINEST_LEVEL), _places(scores)
    most = exact.denominator * alike
    chance: FloatArray = np.clip(exact.numerator * scores.size - exact.denominator * above, 0, most) / most
    return chance


def ranks(scores: FloatArray) -> FloatArray:
    """Return each score's relative rank, 0 to 1, with mean ties.

    >>> ranks(np.array([3.0, 2.0, 2.0, 1.0]))
    array([1. , 0.5, 0.5, 0. ])
    """
    above, alike = _places(scores)
    return 1 - (above + (alike - 1) / 2) / max(scores.size - 1, 1)


def _places(scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the scores above and equal to each score."""
    ascending = np.sort(scores)
    above = scores.size - np.searchsorted(ascending, scores, side="right")
    return above, scores.size - above - np.searchsorted(ascending, scores, side="left")


@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipScores:
    """Membership scores of members and non-members; higher means more likely.

    ``method`` says what a score is (see `Membership`). Scores of two methods cannot be compared.
    """

    members: FloatArray
    nonmembers: FloatArray
    method: str


class _PeopleScores(NamedTuple):
    """Scores of members and controls, and their rows."""

    shown: str  # who of the control was neither attacked nor set the threshold
    members: FloatArray
    member_rows: IntArray
    reference: FloatArray
    tested: FloatArray
    tested_rows: IntArray


@attack(
    source="nearest: Chen, Yu, Zhang & Fritz (GAN-Leaks, CCS 2020). density: van Breugel, Sun, Qian & van der "
    "Schaar (DOMIAS, AISTATS 2023), but with nearest neighbors in exact distances. influence: Ward et al. "
    "(Gen-LRA), in closed form",
    example="columns=age,education,income",
    needs_control=True,
    knows=("columns",),
)
@dataclass(frozen=True, kw_only=True)
class Membership:
    """Flag people as members by their closeness to the release.

    What "like" means is the ``method``. By nearness: "nearest" (the closest released row), "density" (that next to how
    thick people of that kind lie anyhow), "relative" (a row that is nearer to the person than to any person outside)
    and "influence" (all near rows together). By exact values, which generators that draw values of the original repeat:
    "values", "pairs" and "quadruples" of them that are released more often than they occur, and "agreement", one row
    that shares rare ones. By similar values, numbers in bins: "likeness" and "cells". "combined" weighs all ten by what
    it learned from other people, with 5,000 of each kind by trees too. Formulas are in
    docs/research/membership-measured.md. Where released cells stand for several values, a row is as far as the gap, and
    0 for all who are compatible with it, which is blunt; such a cell equals no value.

    The attacker must know control people: the control, divided at random into a part that sets the threshold, a part
    that is attacked, and for all methods but "nearest" a part that shows the population. For "combined" a third shows
    the population and a third is learned from, together with as many members (a third of them at most), who are not
    attacked either; of the last third one half sets the threshold. A person is called a member when it ranks among the
    highest ``level`` of itself and the part that sets the threshold, ties drawn at random; the chance of that is
    computed exactly. So a person who is not in the data is called a member with a chance of ``level``, however scores
    are distributed. That makes ``naive`` and ``control`` the level, up to luck, and what the attack has beyond them
    comes from being in the data.

    It can raise an alarm and never gives an all-clear: a release can tell who is in it without being near to them, and
    releases that pass tests of distance have been attacked with success (Yao, Krčo, Ganev & de Montjoye, The DCR
    Delusion, arXiv 2505.01524).

    Attributes
    ----------
    columns
        The columns in which people and released rows are compared, at least one, none twice.
    method
        One of the ten scores of `unveil.attacks.table.membership_scores.SCORES`, or "combined", which needs 300 members
        and a control of 300.
    level
        The share of people outside the data who are called members, between 0 and 1, both excluded.
    neighbours
        For "density" and "combined": up to the how many-th nearest one people of the population are looked at. Of
        released rows always the nearest counts.
    targets
        How many members to attack, drawn at random among the records by what is in them; None = all. Of the control all
        are used.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table.release import Knowledge
    >>> from unveil.data.table import Table
    >>> rng = np.random.default_rng(1)
    >>> people, others = (Table.from_frame(pl.DataFrame({"height": rng.normal(170, 10, 100)})) for _ in range(2))
    >>> attack = Membership(columns=("height",))
    >>> trials = attack.run(released=people, knowledge=Knowledge(people, others), rng=rng)  # released as they are
    >>> trials.attack.expected, trials.naive.expected, trials.control.expected
    (100.0, 5.0, 3.0)
    """

    columns: tuple[str, ...]
    method: str = "nearest"
    level: float = 0.05
    neighbours: int = 5
    targets: int | None = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", column_names(self.columns, "columns"))
        if self.method not in (*SCORES, COMBINED):
            raise InputError(f"Unknown method {self.method!r}. Use one of: {', '.join(SCORES)}, {COMBINED}")
        share(self.level, "level", zero=False, one=False)
        if not 1 / _FINEST_LEVEL <= self.level <= 1 - 1 / _FINEST_LEVEL:
            raise InputError(
                f"level is {self.level}; it must be at least {1 / _FINEST_LEVEL:g} away from 0 and 1. Write 0.05"
            )
        whole_number(self.neighbours, "neighbours")
        if self.targets is not None:
            whole_number(self.targets, "targets")

    def run(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> Trials:
        """Return flagged members, baseline, and flagged non-members.

        The same ``rng`` and the same rows, in whatever order, give the same numbers. random guessing means that any
        person is called a member with a chance of ``level``.

        Raises
        ------
        InputError
            If there is no control or it has too few people to be divided, or if a column is missing from a table or of
            another kind in two of them.
        """
        scored = self._scored(released, knowledge, rng)
        exact = Fraction(repr(float(self.level))).limit_denominator(_FINEST_LEVEL)
        called = Attempts.from_chances(
            chance_of_highest(scored.members, scored.reference, exact), rows=scored.member_rows
        )
        outside = chance_of_highest(scored.tested, scored.reference, exact)
        parts = f"{scored.reference.size} set the threshold and {scored.tested.size} were attacked"
        notes = [f"of the control group, {scored.shown}{parts}"]
        if self.targets is not None and self.targets > called.tries:
            unused = " unused" if self.method == COMBINED else ""
            notes += [
                f"all {called.tries}{unused} targets of the {knowledge.records.name} were attacked, fewer than the "
                f"{self.targets} requested"
            ]
        return Trials(
            attack=called,
            naive=Attempts.from_chances(np.full(called.tries, float(exact))),
            control=Attempts.from_chances(outside, rows=scored.tested_rows),
            what=self._what(),
            notes=tuple(notes),
        )

    def scores(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> MembershipScores:
        """Return scores of members and non-members, without a threshold.

        As no threshold is needed, all of the control are there but those who show the population or were learned from.
        Settings, ``rng`` and errors are those of `run`; members are in the order of what is in their rows.
        """
        scored = self._scored(released, knowledge, rng)
        nonmembers = np.concatenate([scored.reference, scored.tested])
        for each in (scored.members, nonmembers):
            each.flags.writeable = False
        return MembershipScores(members=scored.members, nonmembers=nonmembers, method=self.method)

    def _scored(self, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> _PeopleScores:
        control = self._control(knowledge)
        inside, rows, outside, *scale = _agreed(released, knowledge, control, self.columns)
        member_rows, pupils = _by_content(knowledge.records, self.columns), np.empty(0, np.int64)
        if self.method == COMBINED:
            lot, many = rng.permutation(member_rows.size), min(control.rows, member_rows.size) // 3
            pupils, member_rows = (member_rows[np.sort(some)] for some in (lot[:many], lot[many:]))
        if self.targets is not None and self.targets < member_rows.size:
            drawn = rng.choice(member_rows.size, self.targets, replace=False, shuffle=False)
            member_rows = member_rows[np.sort(drawn)]
        *apart, reference, tested = self._parts(control, rng)
        people = [inside.take(member_rows), *(outside.take(part) for part in (reference, tested))]
        if self.method == COMBINED:
            people += [inside.take(pupils), outside.take(apart[1])]
        scores = score_people(
            released=rows,
            # The nearest row is looked for without a population.
            population=outside.take(apart[0] if apart else reference),
            people=people,
            columns=self.columns,
            names=tuple(SCORES) if self.method == COMBINED else (self.method,),
            scale=(inside, outside, *scale),
            neighbours=self.neighbours,
            rng=rng,
        )
        score: Callable[[Mapping[str, FloatArray]], FloatArray] = itemgetter(self.method)
        shown = f"{apart[0].size} were the reference set, " if apart else ""
        if self.method == COMBINED:
            score = LearnedCombination.learned(*scores[3:], trees=pupils.size >= TREES_FROM)
            alike = "as many" if pupils.size == apart[1].size else f"{pupils.size}"
            shown += f"{apart[1].size} and {alike} members were learned from, "
        members, of_reference, of_tested = map(score, scores[:3])
        return _PeopleScores(shown, members, member_rows, of_reference, of_tested, tested)

    def _control(self, knowledge: "Knowledge") -> "Table":
        """Return the control, or say why there is no attack without it."""
        if knowledge.control is None:
            raise InputError(
                "Membership inference needs a control group: only similar people outside the original data show how "
                "close records are by chance. Pass held-out people as the control"
            )
        # With fewer people no score would be high enough for a member to be called one for sure.
        by_level = int(np.ceil(1 / self.level - 1e-9)) - 1
        if self.method == COMBINED:
            for table, least in (
                (knowledge.records, LEAST_TO_LEARN),
                (knowledge.control, max(LEAST_TO_LEARN, 6 * by_level)),
            ):
                if table.rows < least:
                    raise InputError(
                        f"the {table.name} has {table.rows} people; combined scores need at least {least}, some to "
                        "learn from and some to attack. Use the method relative, or pass more"
                    )
        parts = 2 if self.method == "nearest" else 3
        least = parts * max(LEAST_PART, by_level, self.neighbours if self.method == "density" else 0)
        if knowledge.control.rows < least:
            raise InputError(
                f"the {knowledge.control.name} has {knowledge.control.rows} people; membership by {self.method} "
                f"divides it into {parts} parts and needs at least {least}. "
                f"Pass more control people{self._or_settings(least // parts, by_level)}"
            )
        return knowledge.control

    def _or_settings(self, part: int, by_level: int) -> str:
        """Return the setting that asks for this number, if any."""
        if part == LEAST_PART:
            return ""
        return f", or raise the level of {self.level:g}" if part == by_level else ", or lower neighbours"

    def _parts(self, control: "Table", rng: np.random.Generator) -> list[IntArray]:
        """Return the random parts of the control group, by content.

        The last two set the threshold and are attacked; before them come who show the population and are learned from.
        """
        by_content = _by_content(control, self.columns)
        size, lot = by_content.size, rng.permutation(by_content.size)
        number = 2 if self.method == "nearest" else 3
        ends = [size // number * place for place in range(1, number)]
        if self.method == COMBINED:
            ends.append((ends[-1] + size) // 2)
        return [by_content[np.sort(part)] for part in np.split(lot, ends)]

    def _what(self) -> str:
        names, share = ", ".join(self.columns), f"{1 - self.level:.6g}"
        sees = "ten scores, weighted by people with known membership, are high"
        if self.method != COMBINED:
            sees = SCORES[self.method].sees
        return f"{sees}, by {names}, more so than for a share {share} of the control group"


def _agreed(
    released: "Table", knowledge: "Knowledge", control: "Table", columns: tuple[str, ...]
) -> "tuple[Table, ...]":
    """Return records, released rows, control, and scale, with harmonized columns."""
    from unveil.data.table import agree

    scale = [] if knowledge.scale is None else [knowledge.scale]
    return agree(*(table.select(columns) for table in (knowledge.records, released, control, *scale)))


def _encoded(
    released: "Table", knowledge: "Knowledge", control: "Table", columns: tuple[str, ...]
) -> "tuple[EncodedTable, ...]":
    """Return all tables on one scale, the range over all.

    If only the records and the release made the range, control people would be measured otherwise.
    """
    from unveil.data.table.encode import encode

    tables = _agreed(released, knowledge, control, columns)
    return encode(tables, columns, span_of=range(len(tables)))[:3]


def _nearest_released(rows: "EncodedTable", targets: IntegerGrid) -> tuple[IntArray, IntArray]:
    """Return the nearest released distance of each target, and ties."""
    if rows.cells is None:
        return rows_within(rows, targets, 1)
    return within(boxes_around(rows.cells, targets)[0], 1)


def _by_content(table: "Table", first: tuple[str, ...]) -> IntArray:
    """Return the rows in an order given by content."""
    import polars as pl

    from unveil.data.table import with_markers

    (cells,) = with_markers([table], [*first, *(name for name in table.column_names if name not in first)])
    return cells.select(pl.arg_sort_by(cells.columns, nulls_last=True)).to_series().to_numpy().astype(np.int64)


def _together(one: IntegerGrid, other: IntegerGrid) -> IntegerGrid:
    numbers, codes = (np.concatenate([getattr(part, name) for part in (one, other)]) for name in ("numbers", "codes"))
    return one._replace(numbers=numbers, codes=codes)
