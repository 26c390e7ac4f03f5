"""Views of a person, each with a score of how close a released person is.

A view is what an attacker compares: the parent row, the child rows as a set, or their order. Its score is the log Bayes
factor of two profiles (`unveil.attacks.link.score`) for the hypothesis that one is a copy of the other, noise aside: a
value that both have counts by its rarity, and numbers by their distance.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks.link._profiles import NumberBlock, Profiles, ValueColumn, counted, normal_scores
from unveil.attacks.link.score import ScoreModel, Tempering, TwoCovariance, Urn
from unveil.attacks.people.rows import PersonRows

#: The concentration of values, and the share of the variance of numbers that a copy shares with its original.
_ALPHA, _SAME = 1.0, 0.95
#: Released people whose scores among one another set the temperature.
_TEMPERED_BY = 300
#: Numbers are put into this many groups for transitions.
_GROUPS = 5


@dataclass(frozen=True, eq=False)
class PersonView:
    """One view of all targets and released people.

    Attributes
    ----------
    name
        What reports call the view.
    profiles
        The profiles: targets first, then released people.
    model
        The score of two profiles.
    targets
        Number of targets.
    """

    name: str
    profiles: Profiles = field(repr=False)
    model: ScoreModel = field(repr=False)
    targets: int

    @cached_property
    def released(self) -> Profiles:
        """Profiles of the released people."""
        return self.profiles.take(np.arange(self.targets, self.profiles.items))

    @cached_property
    def attacked(self) -> Profiles:
        """Profiles of the targets."""
        return self.profiles.take(np.arange(self.targets))

    def closeness(self, some: IntArray) -> FloatArray:
        """Return the score of some targets with all released people."""
        return self.model.scores(self.profiles.take(some), self.released)

    def without(self, column: str) -> "PersonView":
        """Return the view without the parts of a column."""
        values = [place for place, each in enumerate(self.profiles.values) if _column_of(each.name) != column]
        blocks = [_without(*each, column) for each in zip(self.profiles.numbers, self.model.numbers, strict=True)]
        kept = [each for each in blocks if each is not None]
        return replace(
            self,
            profiles=replace(
                self.profiles,
                values=tuple(self.profiles.values[place] for place in values),
                numbers=tuple(block for block, _ in kept),
            ),
            model=replace(
                self.model,
                values=tuple(self.model.values[place] for place in values),
                numbers=tuple(model for _, model in kept),
            ),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.model.parts


def parent_view(rows: PersonRows, order: IntArray) -> PersonView:
    """Return the view of the parent row."""
    return _view(rows, "parent row", _set_parts(rows), order)


def set_view(rows: PersonRows, order: IntArray) -> PersonView:
    """Return the view of a person's child rows as a set.

    Values are counted. Numbers are their mean and spread by person, and exact values.
    """
    return _view(rows, f"{rows.name}, set of rows", _set_parts(rows), order)


def order_view(rows: PersonRows, order: IntArray) -> PersonView:
    """Return the view of counts, gaps, and the order of a person's child rows.

    The parts are the number of rows, the gaps between times, and the transitions between consecutive values of each
    category, or of groups of each number where there is no category. Without a time column the order means nothing, and
    the number of rows remains.
    """
    values: list[ValueColumn] = []
    size = rows.sizes
    features = [normal_scores(size.astype(np.float64), np.zeros(size.size, np.int64))]
    names = ["number of rows"]
    if rows.days is not None:
        same = rows.person[1:] == rows.person[:-1]
        owner = rows.person[1:][same]
        gap = np.diff(rows.days)[same]
        values += _value_part("time gap (exact)", owner, _coded(gap), rows.people)
        features += _moments(gap, owner, rows.people)
        names += ["time gap", "time gap (spread)"]
        for column, steps in _steps(rows):
            pairs = np.where((steps[1:] >= 0) & (steps[:-1] >= 0), steps[:-1].astype(np.int64) * 2**31 + steps[1:], -1)
            values += _value_part(f"{column} (transitions)", owner, _coded(pairs[same], missing=-1), rows.people)
    numbers = _number_part(names, features, np.ones(rows.people, np.bool_))
    return _view(rows, f"{rows.name}, order of rows", (values, numbers), order)


def _steps(rows: PersonRows) -> list[tuple[str, Int32Array]]:
    """Return the columns whose transitions are counted, in codes."""
    codes = [
        (column.name, codes)
        for column, codes in zip(rows.columns, rows.all_codes, strict=True)
        if column.numbers is None and column.name != rows.time
    ]
    numbers = [column for column in rows.columns if column.numbers is not None and column.name != rows.time]
    return codes or [(column.name, _grouped(column.numbers)) for column in numbers if column.numbers is not None]


def _view(
    rows: PersonRows, name: str, parts: tuple[list[ValueColumn], list[NumberBlock]], order: IntArray
) -> PersonView:
    values, numbers = parts
    profiles = Profiles(values=tuple(values), numbers=tuple(numbers), items=rows.people)
    model = ScoreModel(
        values=tuple(Urn(_ALPHA) for _ in values), numbers=tuple(_same_person(block) for block in numbers)
    )
    impostors = profiles.take(rows.targets + np.sort(order[:: max(1, order.size // _TEMPERED_BY)]))
    scores = model.scores(impostors, impostors)[np.triu_indices(impostors.items, 1)] if model.parts else np.zeros(0)
    return PersonView(name, profiles, replace(model, temperature=Tempering(scores).temperature()), rows.targets)


def _same_person(block: NumberBlock) -> TwoCovariance:
    """Return the model of two numbers that agree but for a little noise."""
    means = block.means[block.records > 0]
    total = np.atleast_2d(np.cov(means.T)) if len(means) > 1 else np.eye(block.sums.shape[1])
    return TwoCovariance.of(_SAME * total, total)


def _set_parts(rows: PersonRows) -> tuple[list[ValueColumn], list[NumberBlock]]:
    """Return counts of values, and the means and spreads of numbers."""
    values: list[ValueColumn] = []
    features: list[FloatArray] = []
    names: list[str] = []
    for column, codes in zip(rows.columns, rows.all_codes, strict=True):
        if column.numbers is None:
            values += _value_part(column.name, rows.person, codes, rows.people)
            continue
        values += _value_part(f"{column.name} (exact)", rows.person, codes, rows.people)
        mean, spread = _moments(column.numbers, rows.person, rows.people)
        features.append(mean)
        names.append(column.name)
        if rows.sizes.max(initial=0) > 1:
            features.append(spread)
            names.append(f"{column.name} (spread)")
    return values, _number_part(names, features, rows.sizes > 0)


def _value_part(name: str, person: IntArray, codes: Int32Array, people: int) -> list[ValueColumn]:
    """Return the counts of a column's values; none if it has fewer than two values."""
    seen = codes >= 0
    if not seen.any():
        return []
    value = np.unique(codes[seen], return_inverse=True)[1].astype(np.int32)
    frequency = np.bincount(value) / value.size
    return [counted(name, person[seen], value, people, frequency)] if frequency.size > 1 else []


def _number_part(names: list[str], features: list[FloatArray], has: BoolArray) -> list[NumberBlock]:
    if not features or not has.any():
        return []
    sums = np.where(has[:, None], np.column_stack(features), 0.0)
    varies = sums.std(axis=0) > 0
    if not varies.any():
        return []
    kept = tuple(name for name, each in zip(names, varies, strict=True) if each)
    return [NumberBlock("numbers", kept, sums[:, varies], has.astype(np.int64), None)]


def _moments(numbers: FloatArray, person: IntArray, people: int) -> list[FloatArray]:
    """Return mean and spread by person of normal scores; 0 for a person without numbers."""
    seen = np.flatnonzero(~np.isnan(numbers))
    score, who = normal_scores(numbers, np.zeros(numbers.size, np.int64))[seen], person[seen]
    size = np.maximum(np.bincount(who, minlength=people), 1)
    mean = np.bincount(who, weights=score, minlength=people) / size
    square = np.bincount(who, weights=(score - mean[who]) ** 2, minlength=people) / size
    return [mean, np.sqrt(square)]


def _coded(values: "FloatArray | IntArray", missing: float = np.nan) -> Int32Array:
    """Return the place of each value among all, -1 if missing."""
    absent = np.isnan(values) if np.isnan(missing) else values == missing
    codes = np.full(values.size, -1, np.int32)
    codes[~absent] = np.unique(values[~absent], return_inverse=True)[1]
    return codes


def _grouped(numbers: FloatArray) -> Int32Array:
    """Return the quantile group of each number, -1 if missing."""
    seen = ~np.isnan(numbers)
    edges = np.quantile(numbers[seen], np.arange(1, _GROUPS) / _GROUPS) if seen.any() else np.zeros(0)
    return np.where(seen, np.searchsorted(edges, numbers, side="right"), -1).astype(np.int32)


def _column_of(part: str) -> str:
    """Return the column that a part is about."""
    for suffix in (" (exact)", " (transitions)", " (spread)"):
        part = part.removesuffix(suffix)
    return part


def _without(block: NumberBlock, model: TwoCovariance, column: str) -> tuple[NumberBlock, TwoCovariance] | None:
    kept = [place for place, name in enumerate(block.columns) if _column_of(name) != column]
    if len(kept) == len(block.columns):
        return block, model
    if not kept:
        return None
    less = block._replace(columns=tuple(block.columns[place] for place in kept), sums=block.sums[:, kept])
    return less, _same_person(less)
