"""Link all records of a person: chains of periods or successors, and agglomeration of profiles."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.link._assignment import pair_probabilities
from unveil.attacks.link._profiles import Profiles, profiles_of
from unveil.attacks.link._training import ROUNDS, PeriodPair, train
from unveil.attacks.link.score import ScoreModel
from unveil.attacks.link.two_periods import Learning, check_learning, pair_up, taught
from unveil.data.histories import History, ReleasedHistory, span_of_items
from unveil.errors import InputError
from unveil.guesses.partition import Partition, View

#: Agglomeration compares all pairs, of at most this many items or chains.
MOST_CLUSTERS = 5_000
#: Partitions of a view.
DRAWS = 20
_CUT = 0.5
#: Bins of the lengths of gaps, and gaps within pseudonyms that are enough to learn from.
_BINS, _FEWEST_GAPS = 20, 50
#: Successors this far below the best of their item are no candidates.
_FAR = 20.0
#: Times that are compared to see whether two pseudonyms are in use at once.
_TIMES = 500


class LinkModel(NamedTuple):
    """A release's profiles and the model trained on neighboring periods."""

    profiles: Profiles
    model: ScoreModel
    pairs: tuple[PeriodPair, ...]
    released: ReleasedHistory

    @property
    def prior(self) -> float:
        """Log odds that two items chosen at random belong to one person."""
        sizes = np.bincount(self.released.period)
        return -float(np.log(sizes.max()))


def link_model(released: ReleasedHistory, *, overlap: float | None, rounds: int, rng: np.random.Generator) -> LinkModel:
    """Return the model of a release, trained without truth."""
    profiles = profiles_of(released)
    waves = [released.items_of(period) for period in range(len(released.periods))]
    pairs = tuple(PeriodPair(one, other) for one, other in pairwise(waves))
    if not pairs or not released.separate:
        everyone = np.arange(released.items)
        pairs = (PeriodPair(everyone, everyone, same=True),)
    trained = train(profiles, pairs, share=overlap or 1.0, rounds=rounds, rng=rng)
    return LinkModel(profiles, trained.model, pairs, released)


@dataclass(frozen=True, kw_only=True)
class _Linking(ABC):
    """Settings and runs of attacks that link all periods."""

    overlap: float | None = None
    rounds: int = ROUNDS
    learn: Learning = "without truth"

    def __post_init__(self) -> None:
        check_learning(self)

    def run(
        self, *, released: ReleasedHistory, knowledge: History | None = None, rng: np.random.Generator
    ) -> Partition:
        """Return the records by person, as the attacker links them; ``rng`` breaks ties."""
        return self._linked(self._model(released, knowledge, rng), rng, noise=False)

    def view(
        self,
        *,
        released: ReleasedHistory,
        knowledge: History | None = None,
        rng: np.random.Generator,
        draws: int = DRAWS,
    ) -> View:
        """Return partitions of perturbed scores, each as likely as any other."""
        trained = self._model(released, knowledge, rng)
        partitions = [self._linked(trained, rng, noise=True) for _ in range(draws)]
        return View(partitions, [f"1/{draws}"] * draws)

    def _model(self, released: ReleasedHistory, knowledge: History | None, rng: np.random.Generator) -> LinkModel:
        trained = link_model(released, overlap=self.overlap, rounds=self.rounds, rng=rng)
        model = taught(trained.model, trained.profiles, knowledge, self, rng=rng)
        return trained._replace(model=model)

    @abstractmethod
    def _linked(self, trained: LinkModel, rng: np.random.Generator, *, noise: bool) -> Partition:
        """Return the linked records by a trained model."""


@attack(source="Tournier and de Montjoye, Expanding the attack surface, 2022; Sholokhov et al., 2023")
@dataclass(frozen=True, kw_only=True)
class ChainedProfiles(_Linking):
    """Link neighboring periods one to one, and join the links to chains.

    A link is kept if its probability is above 1/2. Every record of a chain is taken to be one person's. Best where
    people are present in all periods. Where pseudonyms change at their own times, each is linked to the one that
    succeeds it.

    Parameters
    ----------
    overlap
        The share of the smaller period's people who are in both; None estimates it.
    rounds
        Most rounds of training; it ends when the stated probabilities no longer change.
    learn
        Where the weights of columns come from: ``without truth``, or ``other people``, whose linked records are the
        attacker's knowledge.
    """

    def _linked(self, trained: LinkModel, rng: np.random.Generator, *, noise: bool) -> Partition:
        return _partition(_chains(trained, self.overlap, rng, noise=noise))


@attack(source="Sholokhov et al., Probabilistic embeddings for speaker diarization, 2023; WP216 (2014), linkability")
@dataclass(frozen=True, kw_only=True)
class AgglomeratedProfiles(_Linking):
    """Join the two most similar profiles until no two are likelier one person's.

    A cluster is one profile of summed counts. Two items of one period are never joined where the release gives each
    person one pseudonym. Best where single pseudonyms say little, where people skip periods, or without periods.

    Parameters
    ----------
    overlap
        The share of the smaller period's people who are in both; None estimates it.
    rounds
        Most rounds of training; it ends when the stated probabilities no longer change.
    learn
        Where the weights of columns come from: ``without truth``, or ``other people``, whose linked records are the
        attacker's knowledge.
    """

    def _linked(self, trained: LinkModel, rng: np.random.Generator, *, noise: bool) -> Partition:
        alone = np.arange(trained.released.items)
        return _partition(_agglomerated(trained, alone, rng, noise=noise))


@attack(source="Tournier and de Montjoye, 2022, with the agglomeration of Sholokhov et al., 2023")
@dataclass(frozen=True, kw_only=True)
class LinkedProfiles(_Linking):
    """Chain neighboring periods, then agglomerate the chains.

    The chains hold people who are in every period; agglomeration joins the chains of those who skipped one.

    Parameters
    ----------
    overlap
        The share of the smaller period's people who are in both; None estimates it.
    rounds
        Most rounds of training; it ends when the stated probabilities no longer change.
    learn
        Where the weights of columns come from: ``without truth``, or ``other people``, whose linked records are the
        attacker's knowledge.
    """

    def _linked(self, trained: LinkModel, rng: np.random.Generator, *, noise: bool) -> Partition:
        chains = _chains(trained, self.overlap, rng, noise=noise)
        if chains.max() >= MOST_CLUSTERS:
            return _partition(chains)
        return _partition(_agglomerated(trained, chains, rng, noise=noise))


def _partition(label: IntArray) -> Partition:
    codes = np.unique(label, return_inverse=True)[1].astype(np.int32)
    return Partition(codes, np.arange(codes.max() + 1))


# Chains


def _chains(trained: LinkModel, overlap: float | None, rng: np.random.Generator, *, noise: bool) -> IntArray:
    """Return the chain of each item, numbered from 0."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    items = trained.released.items
    left, right = [], []
    for pair in trained.pairs:
        if pair.same:
            continue
        ones, others = (trained.profiles.take(side) for side in (pair.ones, pair.others))
        found = pair_up(trained.model, ones, others, share=overlap, rng=rng, by="probability", noise=noise)
        row, column = found.row, found.column
        chance = found.probability[row, column]  # sparse if the scores are
        sure = (chance if isinstance(chance, np.ndarray) else chance.toarray()) > _CUT
        left.append(pair.ones[row[sure]])
        right.append(pair.others[column[sure]])
    days, item = trained.released.days, trained.released.item
    if not left and days is not None:
        pairs = successors(trained.profiles, trained.model, item, days, share=overlap, noise=rng if noise else None)
        sure = pairs.probability > _CUT
        left, right = [pairs.earlier[sure]], [pairs.later[sure]]
    if not left:
        return np.arange(items)
    ends = np.concatenate(left), np.concatenate(right)
    graph = coo_array((np.ones(ends[0].size), ends), shape=(items, items))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


# Succession


class Successors(NamedTuple):
    """Pairs of items, and the probability that the later one is the other's successor."""

    earlier: IntArray
    later: IntArray
    probability: FloatArray


def successors(
    profiles: Profiles,
    model: ScoreModel,
    item: IntArray,
    days: FloatArray,
    *,
    share: float | None = None,
    noise: np.random.Generator | None = None,
) -> Successors:
    """Return the probability of each pair of items that one person's pseudonym changes from one to the other.

    Only an item that starts when the other has ended can follow it. The log Bayes factor of the gap is added to the
    score. ``share`` is the share of items with a successor: by default all but as many as are in use at once, as if
    nobody came or left. ``noise`` adds Gumbel noise to all scores.
    """
    first, last = span_of_items(item, days)
    gap = first[None, :] - last[:, None]
    np.fill_diagonal(gap, -1.0)
    allowed = gap >= 0
    scores = np.where(allowed, model.scores(profiles, profiles), -np.inf)
    scores[allowed] += log_gap_ratio(gap[allowed], gaps_within(item, days)) + np.log(gap.size / max(1, allowed.sum()))
    if noise is not None:
        scores += noise.gumbel(size=scores.shape)
    best = scores.max(axis=1, keepdims=True)
    near = allowed & (scores >= np.where(np.isfinite(best), best, 0.0) - _FAR)
    row, column = np.nonzero(near)
    start = np.searchsorted(row, np.arange(len(scores) + 1))
    if share is None:
        share = 1 - float(times_covered(item, days).sum(axis=0).max()) / len(scores)
    found = pair_probabilities(start, column.astype(np.int32), scores[near], len(scores), share)
    return Successors(row, column, found.probability)


def gaps_within(item: IntArray, days: FloatArray) -> FloatArray:
    """Return the times between neighboring records of an item.

    >>> gaps_within(np.array([0, 1, 0, 0]), np.array([5.0, 2.0, 1.0, 2.0]))
    array([1., 3.])
    """
    order = np.lexsort((days, item))
    same = item[order][1:] == item[order][:-1]
    return np.asarray(np.diff(days[order])[same], np.float64)


def log_gap_ratio(gap: FloatArray, within: FloatArray) -> FloatArray:
    """Return ln of how much likelier each gap is at a change of pseudonym than among all of ``gap``.

    A pseudonym changes with some record, or at some moment: half of the changes have gaps as within items, and half of
    them in proportion to their length, because a moment falls into long gaps more often.
    """
    if within.size < _FEWEST_GAPS:
        return np.zeros(gap.size)
    within = np.sort(within)
    weight = 0.5 / within.size + 0.5 * within / max(float(within.sum()), 1e-12)
    quantile = np.searchsorted(np.cumsum(weight), np.linspace(0, weight.sum(), _BINS + 1)[1:-1])
    edges = np.unique(within[quantile])
    place, own = np.searchsorted(edges, gap), np.searchsorted(edges, within)
    bins = edges.size + 1
    change = np.bincount(own, weights=weight * within.size, minlength=bins) + 0.5
    pair = np.bincount(place, minlength=bins) + 0.5
    ratio: FloatArray = np.log(change / change.sum() / pair * pair.sum())[place]
    return ratio


def times_covered(item: IntArray, days: FloatArray) -> BoolArray:
    """Return the times at which each item is surely in use: its records lie before and after."""
    first, last = span_of_items(item, days)
    times = np.unique(np.quantile(days, np.linspace(0, 1, _TIMES)))
    covered: BoolArray = (first[:, None] < times) & (times < last[:, None])
    return covered


# Agglomeration


def _agglomerated(trained: LinkModel, label: IntArray, rng: np.random.Generator, *, noise: bool) -> IntArray:
    """Return the cluster of each item, from the given clusters on."""
    clusters = int(label.max()) + 1
    if clusters > MOST_CLUSTERS:
        raise InputError(
            f"There are {clusters} profiles, but agglomeration compares at most {MOST_CLUSTERS}. "
            "Use chained-profiles, longer pseudonyms, or fewer people"
        )
    released = trained.released
    if released.days is not None:  # a person has one pseudonym at a time
        covered = times_covered(released.item, released.days)
        present = np.zeros((clusters, covered.shape[1]), np.bool_)
        np.logical_or.at(present, label, covered)
    else:
        present = np.zeros((clusters, len(released.periods)), np.bool_)
        present[label, released.period] = released.separate
    return agglomerate(
        trained.profiles,
        trained.model,
        label,
        present,
        prior=trained.prior,
        rng=rng,
        noise=noise,
    )


def agglomerate(
    profiles: Profiles,
    model: ScoreModel,
    label: IntArray,
    present: BoolArray,
    *,
    prior: float,
    rng: np.random.Generator,
    noise: bool = False,
) -> IntArray:
    """Return the cluster of each item after merges of the likeliest pairs.

    Parameters
    ----------
    profiles, model
        The items' profiles, and the score.
    label
        The cluster of each item at the start, numbered from 0.
    present
        The periods of each cluster: two clusters of one period are never merged.
    prior
        The log odds of a merge without evidence; the log Bayes factor is added.
    rng
        Breaks ties.
    noise
        Whether Gumbel noise is added to each pair's odds.
    """
    label, present = label.copy(), present.copy()
    clusters = len(present)
    joined = profiles.merged(label)
    odds = model.scores(joined, joined) + prior
    _perturb(odds, rng, noise)
    odds[_together(present, present)] = -np.inf
    np.fill_diagonal(odds, -np.inf)
    best = odds.argmax(axis=1)
    value = odds[np.arange(clusters), best]
    while True:
        one = int(value.argmax())
        if not value[one] > 0:
            return label
        other = int(best[one])
        label[label == other] = one
        present[one] |= present[other]
        merged = profiles.take(np.flatnonzero(label == one))
        merged = merged.merged(np.zeros(merged.items, np.int64))
        row = np.full(clusters, -np.inf)
        scores = model.scores(merged, profiles, owner=label)[0] + prior
        if noise:
            scores += rng.gumbel(size=scores.size)
        row[: scores.size] = scores
        row[_together(present[one][None], present)[0]] = -np.inf
        row[value == -np.inf] = -np.inf  # merged into others, or without any possible partner
        row[[one, other]] = -np.inf
        odds[one], odds[:, one] = row, row
        odds[other], odds[:, other] = -np.inf, -np.inf
        _renew(odds, best, value, one, other)


def _renew(odds: FloatArray, best: IntArray, value: FloatArray, one: int, other: int) -> None:
    """Update the best partner of each cluster after a merge."""
    better = odds[one] > value
    best[better], value[better] = one, odds[one][better]
    lost = np.flatnonzero(((best == one) | (best == other)) & ~better)
    for each in (*lost.tolist(), one, other):
        best[each] = odds[each].argmax()
        value[each] = odds[each, best[each]]


def _together(ones: BoolArray, others: BoolArray) -> BoolArray:
    """Return which clusters have a period in common."""
    return (ones.astype(np.float32) @ others.astype(np.float32).T) > 0


def _perturb(odds: FloatArray, rng: np.random.Generator, noise: bool) -> None:
    """Add Gumbel noise, or as little as breaks ties, the same both ways."""
    added = rng.gumbel(size=odds.shape) if noise else 1e-9 * rng.random(odds.shape)
    odds += np.triu(added) + np.triu(added, 1).T
