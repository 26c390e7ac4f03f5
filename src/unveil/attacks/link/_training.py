"""Train the score without truth: items of one period belong to different people."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.link._assignment import pair_probabilities, soft_assignment
from unveil.attacks.link._blocks import DENSE_ITEMS, scored_pairs
from unveil.attacks.link._profiles import NumberBlock, Profiles, ValueColumn, counted
from unveil.attacks.link.score import Exclusion, ScoreModel, Tempering, TwoCovariance, Urn

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Most rounds of training, rounds until starts are compared, and the change of the stated probability that ends it.
ROUNDS, _FIRST_ROUNDS, _CONVERGED = 12, 4, 0.002
#: Shares of the variance of numbers that lie between people at the start, where single records leave it open.
_STARTS = 0.7, 0.9
#: Items that the temperature is set by, and that are compared with impostors.
_IMPOSTORS = 600
#: With fewer items of several records, or a larger concentration, repetition within items tells too little.
_FEWEST_REPEATED, _MOST_ALPHA = 20, 20.0
_DRAWS = 3
#: Without periods at most this share of random pairs is taken to be of one person.
_ONE_PERSON = 0.05
_ALPHAS = np.linspace(np.log(0.02), np.log(1e4), 27)
#: A column is one of values that nobody has twice below this share of the repeated pairs expected.
_ONCE, _FEWEST_EXPECTED, _LEAST_ERROR = 0.1, 50, 0.02


@dataclass(frozen=True, eq=False)
class PeriodPair:
    """Items of two periods; the same items twice where there are no periods."""

    ones: IntArray
    others: IntArray
    same: bool = False


@dataclass(frozen=True, eq=False)
class Training:
    """A model and what its training saw.

    ``impostors`` are scores of pairs that are known to be of two people, before the temperature.
    """

    model: ScoreModel
    impostors: FloatArray = field(repr=False)


def train(
    profiles: Profiles,
    pairs: Sequence[PeriodPair],
    *,
    share: float = 1.0,
    rounds: int = ROUNDS,
    rng: np.random.Generator,
) -> Training:
    """Return the model that expectation maximization finds on pairs of periods.

    ``share`` is the share of the smaller period's people who are in both. By default all are paired, even if some are
    in one period only: to estimate the share here makes the attacker too sure, and weaker. Where single records leave
    open how personal numbers are, several starts are tried, and the one goes on that best tells matches from impostors.
    """
    data = _TrainingData.of(profiles, _limited(pairs, rng), share, rng)
    models = data.starts(profiles)
    first = min(rounds, _FIRST_ROUNDS)
    tried = [data.improved(each, first, rng, converged=0.0) for each in models]
    checks = [data.excess(each, rng) for each in tried] if len(tried) > 1 else [0.0]
    model = tried[int(np.argmax(checks))]
    # A round over candidates is expensive, and more of them were not seen to help.
    return data.tempered(model if data.is_large else data.improved(model, rounds - first, rng))


class _FixedCovariance(NamedTuple):
    """The covariance of numbers that training keeps, and whether it is the total or that within people."""

    covariance: FloatArray
    is_total: bool


@dataclass(frozen=True, eq=False)
class _TrainingData:
    """Items to train on, and what training keeps."""

    pairs: list[PeriodPair]
    sides: list[tuple[Profiles, Profiles]]
    impostors: list[Profiles]
    fixed: list[_FixedCovariance]
    #: Value columns whose concentration is open.
    free: list[int]
    urns: tuple[Urn | Exclusion, ...]
    share: float

    @classmethod
    def of(cls, profiles: Profiles, pairs: list[PeriodPair], share: float, rng: np.random.Generator) -> "_TrainingData":
        values = [_value_model(column) for column in profiles.values]
        return cls(
            pairs=pairs,
            sides=[(profiles.take(pair.ones), profiles.take(pair.others)) for pair in pairs],
            impostors=_impostors(profiles, pairs, rng),
            fixed=[_fixed_covariance(block, pairs) for block in profiles.numbers],
            free=[place for place, (_, is_free) in enumerate(values) if is_free],
            urns=tuple(model for model, _ in values),
            share=share,
        )

    @property
    def is_separate(self) -> bool:
        """Whether items of one period belong to different people."""
        return not any(pair.same for pair in self.pairs)

    @property
    def is_large(self) -> bool:
        """Whether only candidate pairs are compared."""
        return any(pair.others.size > DENSE_ITEMS for pair in self.pairs)

    def starts(self, profiles: Profiles) -> list[ScoreModel]:
        """Return the models that training starts from."""
        is_open = self.is_separate and not self.is_large and any(each.is_total for each in self.fixed)
        return [
            ScoreModel(
                values=self.urns,
                numbers=tuple(
                    _first_covariance(block, self.pairs, fixed, start)
                    for block, fixed in zip(profiles.numbers, self.fixed, strict=True)
                ),
            )
            for start in (_STARTS if is_open else _STARTS[:1])
        ]

    def tempered(self, model: ScoreModel) -> Training:
        """Return the model with its temperature."""
        return _tempered(model, self.impostors, self.is_separate)

    def improved(
        self, model: ScoreModel, rounds: int, rng: np.random.Generator, *, converged: float = _CONVERGED
    ) -> ScoreModel:
        """Return the model after rounds of expectation maximization, fewer if it has converged."""
        # Among the nearest numbers alone, numbers would seem more personal than they are.
        keeps_numbers = self.is_large and not self.urns
        before = np.inf
        for _ in range(rounds):
            model = self.tempered(model).model
            soft = [
                _probability(model, pair, side, self.share) for pair, side in zip(self.pairs, self.sides, strict=True)
            ]
            stated = float(np.mean([each.max(axis=1).mean() for each in soft]))
            if abs(stated - before) < converged:
                break
            before = stated
            covariances, urns = list(model.numbers), list(model.values)
            if not keeps_numbers:
                for place, fixed in enumerate(self.fixed):
                    covariances[place] = _next_covariance(place, fixed, self.sides, soft)
            for place in self.free:
                urns[place] = Urn(_joint_alpha(place, self.sides, soft, rng))
            model = replace(model, values=tuple(urns), numbers=tuple(covariances))
        return model

    def excess(self, model: ScoreModel, rng: np.random.Generator) -> float:
        """Return how well the model tells matches from impostors, without truth."""
        model = self.tempered(model).model
        return float(
            np.mean([excess_over_impostors(model, one, model.scores(one, two), rng) for one, two in self.sides])
        )


def excess_over_impostors(model: ScoreModel, ones: Profiles, scores: FloatArray, rng: np.random.Generator) -> float:
    """Return the share of items with a better score than nearly all impostors, less 0.05."""
    some = np.sort(rng.choice(ones.items, min(ones.items, _IMPOSTORS), replace=False))
    impostors = model.scores(ones.take(some), ones)
    impostors[np.arange(some.size), some] = -np.inf
    bound = float(np.quantile(impostors.max(axis=1), 0.95))
    return float((scores[some].max(axis=1) > bound).mean()) - 0.05


def _limited(pairs: Sequence[PeriodPair], rng: np.random.Generator) -> list[PeriodPair]:
    """Return pairs with few enough items to train on."""
    pairs = [pairs[place] for place in rng.permutation(len(pairs))]
    kept: list[PeriodPair] = []
    room = DENSE_ITEMS**2
    for pair in pairs:
        if kept and pair.ones.size * pair.others.size > room:
            continue
        if max(pair.ones.size, pair.others.size) > DENSE_ITEMS:
            # Partners must stay in reach: some of one side are compared with candidates among all of the other.
            ones = _drawn(pair.ones, DENSE_ITEMS, rng)
            pair = PeriodPair(ones, ones if pair.same else pair.others, pair.same)
        kept.append(pair)
        room -= pair.ones.size * min(pair.others.size, DENSE_ITEMS)
    return kept


def _drawn(items: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    return items if items.size <= size else np.sort(rng.choice(items, size, replace=False))


def _probability(
    model: ScoreModel, pair: PeriodPair, side: tuple[Profiles, Profiles], share: float
) -> "FloatArray | csr_array":
    """Return the probability that items are of one person, at [one, other]; ``share`` serves two periods only."""
    if pair.others.size > DENSE_ITEMS:
        from scipy.sparse import csr_array

        listed, values = scored_pairs(model, *side)
        found = pair_probabilities(listed.start, listed.column, values, pair.others.size)
        shape = (pair.ones.size, pair.others.size)
        return csr_array((found.probability, listed.column, listed.start), shape=shape)
    scores = model.scores(*side)
    if pair.same:
        np.fill_diagonal(scores, -np.inf)
        weight = np.exp(np.minimum(scores, 600.0)) / max(1, len(scores) - 1)
        return np.asarray(weight / (1 + weight.sum(axis=1, keepdims=True)), np.float64)
    return soft_assignment(scores, share, rounds=100).probability


# The temperature


def _impostors(profiles: Profiles, pairs: Sequence[PeriodPair], rng: np.random.Generator) -> list[Profiles]:
    """Return groups of items that belong to different people, or nearly always."""
    if any(pair.same for pair in pairs):
        groups = [pair.ones for pair in pairs]
    else:
        groups = list({int(side[0]): side for pair in pairs for side in (pair.ones, pair.others)}.values())
    each = max(20, _IMPOSTORS // len(groups) if len(groups) > 2 else _IMPOSTORS)
    return [profiles.take(_drawn(group, each, rng)) for group in groups]


def _tempered(model: ScoreModel, impostors: list[Profiles], separate: bool) -> Training:
    model = replace(model, temperature=1.0)
    found = []
    for group in impostors:
        scores = model.scores(group, group)[np.triu_indices(group.items, 1)]
        if not separate and scores.size:  # some pairs are one person's: those that would be merged are left out
            bound = max(np.log(group.items), float(np.quantile(scores, 1 - _ONE_PERSON)))
            scores = scores[scores <= bound]
        found.append(scores)
    scores = np.concatenate(found)
    return Training(replace(model, temperature=Tempering(scores).temperature()), scores)


# Values


def _value_model(column: ValueColumn) -> tuple[Urn | Exclusion, bool]:
    """Return the model by repetition within items, and whether alpha is free."""
    total = column.total
    expected = float((total * (total - 1) / 2).sum() * (column.frequency**2).sum())
    repeated = float((column.repeats.astype(np.int64) * (column.repeats - 1) / 2).sum())
    if expected >= _FEWEST_EXPECTED and repeated < _ONCE * expected:
        return Exclusion(_rates(column), max(repeated / expected, _LEAST_ERROR)), False
    several = np.flatnonzero(total >= 2)
    if several.size >= _FEWEST_REPEATED:
        alpha = _alpha(column.take(several))
        if alpha <= _MOST_ALPHA:
            return Urn(alpha), False
    return Urn(1.0), True


def _alpha(column: ValueColumn) -> float:
    """Return the concentration with the highest likelihood of the counts."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    size, items = np.unique(column.total, return_counts=True)
    key, pairs = np.unique(
        np.column_stack([column.frequency[column.value], column.repeats.astype(np.float64)]), axis=0, return_counts=True
    )
    frequency, count = key.T

    def loss(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        urns = items @ (gammaln(alpha) - gammaln(alpha + size))
        return -float(urns + pairs @ (gammaln(alpha * frequency + count) - gammaln(alpha * frequency)))

    best = int(np.argmin([loss(each) for each in _ALPHAS]))
    ends = _ALPHAS[max(best - 1, 0)], _ALPHAS[min(best + 1, _ALPHAS.size - 1)]
    return float(np.exp(minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-3}).x))


def _rates(column: ValueColumn) -> FloatArray:
    """Return each value's rate, so that as many items as seen are expected to have it."""
    size, items = np.unique(column.total, return_counts=True)
    having, place = np.unique(np.bincount(column.value, minlength=column.frequency.size), return_inverse=True)
    low, high = np.full(having.size, -30.0), np.full(having.size, 10.0)
    for _ in range(45):
        middle = (low + high) / 2
        above = -np.expm1(-np.exp(middle)[:, None] * size) @ items > having
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(np.exp((low + high) / 2)[place], np.float64)


def _joint_alpha(
    place: int,
    sides: Sequence[tuple[Profiles, Profiles]],
    soft: "Sequence[FloatArray | csr_array]",
    rng: np.random.Generator,
) -> float:
    """Return the likeliest concentration of the joint counts of likely pairs."""
    joint = []
    for (ones, others), probability in zip(sides, soft, strict=True):
        one, other = ones.values[place], others.values[place]
        row, column = _drawn_partners(probability, rng)
        left, right = one.take(row), other.take(column)
        owner = np.concatenate([np.repeat(np.arange(row.size), np.diff(each.start)) for each in (left, right)])
        value, count = np.concatenate([left.value, right.value]), np.concatenate([left.repeats, right.repeats])
        joint.append(counted(one.name, owner, value, row.size, one.frequency, count))
    start = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(each.start) for each in joint]))])
    value, count = (np.concatenate([getattr(each, name) for each in joint]) for name in ("value", "repeats"))
    return _alpha(joint[0]._replace(start=start, value=value, repeats=count))


def _drawn_partners(probability: "FloatArray | csr_array", rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return rows and partners drawn by probability; none where a draw has no partner."""
    rows, columns = probability.shape
    if isinstance(probability, np.ndarray):
        chance, start = probability.ravel(), np.arange(rows + 1) * columns
    else:
        chance, start = probability.data, probability.indptr
    cumulative = np.concatenate([[0], np.cumsum(chance)])
    row = np.repeat(np.arange(rows), _DRAWS)
    level = cumulative[start[row]] + rng.random(row.size)
    some = level < cumulative[start[row + 1]]
    if not some.any():
        return row, rng.integers(0, columns, row.size)
    place = np.searchsorted(cumulative, level[some], side="right") - 1
    column = place % columns if isinstance(probability, np.ndarray) else probability.indices[place]
    return row[some], np.asarray(column, np.int64)


# Numbers


def _fixed_covariance(block: NumberBlock, pairs: Sequence[PeriodPair]) -> _FixedCovariance:
    """Return the covariance within people, or the total where single records do not tell it."""
    if block.scatter is not None:
        return _FixedCovariance(block.scatter, False)
    return _FixedCovariance(_spread(_used(block, pairs)), True)


def _first_covariance(
    block: NumberBlock, pairs: Sequence[PeriodPair], fixed: _FixedCovariance, start: float
) -> TwoCovariance:
    """Return the first model; ``start`` is the share of the variance between people where it is open."""
    if fixed.is_total:
        return TwoCovariance.of(start * fixed.covariance, fixed.covariance)
    used = _used(block, pairs)
    spread = _spread(used)
    inverse = (1 / used.records[used.records > 0]).mean()
    between = spread - inverse * fixed.covariance
    scale, axes = np.linalg.eigh(between)
    between = (axes * np.maximum(scale, 0.01 * np.trace(spread) / len(spread))) @ axes.T
    return TwoCovariance.of(between, between + fixed.covariance)


def _used(block: NumberBlock, pairs: Sequence[PeriodPair]) -> NumberBlock:
    return block.take(np.unique(np.concatenate([side for pair in pairs for side in (pair.ones, pair.others)])))


def _spread(block: NumberBlock) -> FloatArray:
    means = block.means[block.records > 0]
    spread: FloatArray = np.atleast_2d(np.cov(means.T)) if len(means) > 1 else np.eye(block.sums.shape[1])
    return spread


def _next_covariance(
    place: int,
    fixed: _FixedCovariance,
    sides: Sequence[tuple[Profiles, Profiles]],
    soft: "Sequence[FloatArray | csr_array]",
) -> TwoCovariance:
    """Return the model with the covariance of likely pairs, over all pairs."""
    between, weight = np.zeros_like(fixed.covariance), 0.0
    for (ones, others), probability in zip(sides, soft, strict=True):
        one, other = ones.numbers[place], others.numbers[place]
        x, y = one.means, other.means
        between += x.T @ (probability @ y)
        weight += float((one.records > 0) @ probability @ (other.records > 0))
    between = (between + between.T) / (2 * max(weight, 1e-9))
    scale, axes = np.linalg.eigh(between)
    between = (axes * np.maximum(scale, 0)) @ axes.T
    return TwoCovariance.of(between, fixed.covariance if fixed.is_total else fixed.covariance + between)
