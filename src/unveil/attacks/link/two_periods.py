"""Profile matching: link the pseudonyms of two periods."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, get_args

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.link._assignment import (
    EXACT,
    best_assignment,
    exact_assignment,
    pair_probabilities,
    soft_assignment,
)
from unveil.attacks.link._blocks import DENSE_ITEMS, assigned_pairs, scored_pairs
from unveil.attacks.link._profiles import Profiles, profiles_of
from unveil.attacks.link._training import ROUNDS, PeriodPair, Training, excess_over_impostors, train
from unveil.attacks.link.learned_weights import learned_weights, weighted
from unveil.attacks.link.score import ScoreModel
from unveil.data.histories import History, ReleasedHistory
from unveil.errors import InputError, share, whole_number
from unveil.guesses.candidates import Candidates
from unveil.guesses.matching import Matching

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Learning = Literal["without truth", "other people"]

#: Smaller probabilities are no candidates.
_LEAST = 1e-4


class LearningSettings(Protocol):
    """Settings of attacks that can learn on other people."""

    @property
    def overlap(self) -> float | None:
        """Share of the smaller period's people in both."""

    @property
    def rounds(self) -> int:
        """Most rounds of training."""

    @property
    def learn(self) -> Learning:
        """Where the weights come from."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PeriodMatch:
    """What profile matching finds between two periods.

    Attributes
    ----------
    earlier, later
        The items of both periods, as numbers of the release.
    scores
        The tempered log Bayes factor of each pair, earlier by later; sparse where a period has more than 4,000 items,
        and only pairs that share a rare value were compared.
    probability
        The probability of each pair, in the same form; rows and columns sum to at most 1.
    row, column
        The best one-to-one assignment.
    training
        The trained model.
    excess
        Share of earlier items whose best score is above 95% of those among items of the same period, less 0.05: a
        check without truth. At 0 or below, the attacker cannot tell matches from impostors. NaN for large periods.
    """

    earlier: IntArray
    later: IntArray
    scores: "FloatArray | csr_array"
    probability: "FloatArray | csr_array"
    row: IntArray
    column: IntArray
    training: Training
    excess: float = nan

    @property
    def partner(self) -> IntArray:
        """The assigned earlier place of each later item, -1 for none."""
        partner = np.full(self.later.size, -1, np.int64)
        partner[self.column] = self.row
        return partner

    @property
    def share(self) -> float:
        """The share of the smaller period's people who are taken to be in both."""
        return float(self.probability.sum()) / min(self.earlier.size, self.later.size)

    @property
    def is_blocked(self) -> bool:
        """Whether only pairs that share a rare value were compared."""
        return not isinstance(self.scores, np.ndarray)

    def candidates(self) -> Candidates:
        """Return the later items' candidates among the earlier ones."""
        candidate, target, chance = self._entries()
        order = np.lexsort((candidate, target))
        candidate, target, chance = candidate[order], target[order], chance[order]
        items = self.later.size
        known = np.minimum(np.asarray(self.probability.sum(axis=0)).ravel(), 1.0)
        listed = np.bincount(target, minlength=items)
        sums = np.bincount(target, weights=chance, minlength=items)
        lost = (listed > 0) & (sums <= 0)  # an assignment with no probability at all
        chance = np.where(lost[target], 1.0, chance)
        sums = np.where(lost, listed, sums)
        away = np.where(lost, 0.0, 1 - known)
        away[(away < 1e-9) | (listed == self.earlier.size)] = 0.0
        away[listed == 0] = 1.0
        pool = np.arange(self.earlier.size, dtype=np.int32) if away.any() else None
        return Candidates(
            np.concatenate([[0], np.cumsum(listed)]),
            candidate.astype(np.int32),
            chance * ((1 - away) / np.maximum(sums, 1e-300))[target],
            chosen=self.partner.astype(np.int32),
            targets=self.later,
            candidates=self.earlier,
            elsewhere=away if pool is not None else None,
            pool=pool,
        )

    def _entries(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the pairs that are likely enough, or assigned."""
        from scipy.sparse import coo_array

        found = coo_array(self.probability)
        row, column, chance = found.row, found.col, found.data
        likely = chance >= _LEAST
        partner = self.partner
        likely |= partner[column] == row
        row, column, chance = row[likely], column[likely], chance[likely]
        missing = np.setdiff1d(np.flatnonzero(partner >= 0), column[partner[column] == row])
        return (
            np.concatenate([row, partner[missing]]),
            np.concatenate([column, missing]),
            np.concatenate([chance, np.zeros(missing.size)]),
        )

    def matching(self) -> Matching:
        """Return the probabilities as a square matching, if both periods have as many items."""
        if self.earlier.size != self.later.size or not isinstance(self.scores, np.ndarray):
            raise InputError(
                f"The periods have {self.earlier.size} and {self.later.size} items, but a matching is square and has "
                f"at most {DENSE_ITEMS}. Use the candidates"
            )
        matrix = soft_assignment(self.scores, 1.0).probability
        return Matching(np.maximum(matrix, 1e-300))

    def true_rank(self, partners: IntArray) -> FloatArray:
        """Return the rank of the true partner's score by earlier item, from 0 to 1.

        1 is the best score among all later items, 0 the worst; NaN for people in one period, and for all where only
        pairs that share a rare value were compared. Ties share their ranks.
        """
        if not isinstance(self.scores, np.ndarray):
            return np.full(self.earlier.size, np.nan)
        with_partner = np.flatnonzero(partners >= 0)
        place = partners[with_partner]
        true = self.scores[place, with_partner][:, None]
        rows = self.scores[place]
        below = (rows < true).sum(axis=1) + ((rows == true).sum(axis=1) - 1) / 2
        rank = np.full(self.earlier.size, np.nan)
        rank[place] = below / max(1, self.later.size - 1)
        return rank


@attack(
    source="Unnikrishnan and Naini, De-anonymizing private data by matching statistics, 2013; Prince and Elder, 2007",
    aka=("matching-of-statistics",),
)
@dataclass(frozen=True, kw_only=True)
class ProfileMatching:
    """Link the pseudonyms of two periods by their profiles.

    The attacker has the earlier period and sees the later one. Each pair of pseudonyms gets a log Bayes factor from
    shared values and correlated numbers; the model is learned without knowing who is who. A target is an item of the
    later period, a candidate one of the earlier, both by number of the release. The choice is the one-to-one
    assignment.

    Parameters
    ----------
    periods
        The names of the two periods, earlier first; None where there are only two.
    overlap
        The share of the smaller period's people who are in both; None estimates it.
    rounds
        Most rounds of training; it ends when the stated probabilities no longer change.
    learn
        Where the weights of columns come from: ``without truth``, or ``other people``, whose linked records are the
        attacker's knowledge.

    Examples
    --------
    >>> from unveil.data.histories import History
    >>> from unveil.data.table import Table
    >>> people = [f"p{i // 6}" for i in range(60)]
    >>> place = [f"at {i // 6 if i % 3 else 10}" for i in range(60)]
    >>> visits = Table.from_frame({"who": people, "week": [i % 6 // 3 for i in range(60)], "place": place})
    >>> history = History.from_table(visits, person="who", period="week")
    >>> guess = ProfileMatching().run(released=history.released, rng=np.random.default_rng(1))
    >>> bool((guess.chosen == history.partners()).all())
    True
    """

    periods: tuple[str, ...] | None = None
    overlap: float | None = None
    rounds: int = ROUNDS
    learn: Learning = "without truth"

    def __post_init__(self) -> None:
        if self.periods is not None and len(self.periods) != 2:
            raise InputError(f"periods names {len(self.periods)} periods, but two are matched. Name two")
        check_learning(self)

    def run(
        self, *, released: ReleasedHistory, knowledge: History | None = None, rng: np.random.Generator
    ) -> Candidates:
        """Return each later item's candidates; ``rng`` breaks ties."""
        return self.match(released, knowledge, rng=rng).candidates()

    def match(
        self, released: ReleasedHistory, knowledge: History | None = None, *, rng: np.random.Generator
    ) -> PeriodMatch:
        """Return scores, probabilities, and assignment."""
        earlier, later = matched_periods(released, self.periods)
        profiles = profiles_of(released)
        trained = train(profiles, [PeriodPair(earlier, later)], share=self.overlap or 1.0, rounds=self.rounds, rng=rng)
        model = taught(trained.model, profiles, knowledge, self, rng=rng)
        trained = replace(trained, model=model)
        return matched(profiles, trained, earlier, later, share=self.overlap, rng=rng)


def taught(
    model: ScoreModel,
    profiles: Profiles,
    knowledge: History | None,
    settings: LearningSettings,
    *,
    rng: np.random.Generator,
) -> ScoreModel:
    """Return the model with the weights that other people teach, if they do."""
    if settings.learn == "without truth":
        return model
    if knowledge is None:
        raise InputError("To learn on other people, their linked records are needed. Pass them as knowledge")
    return weighted(
        model, profiles.names, learned_weights(knowledge, overlap=settings.overlap, rounds=settings.rounds, rng=rng)
    )


def check_learning(settings: LearningSettings) -> None:
    """Refuse settings with which nothing would be learned."""
    if settings.learn not in get_args(Learning):
        raise InputError(f"learn must be one of {', '.join(get_args(Learning))}. Write one of them")
    if settings.overlap is not None:
        share(settings.overlap, "overlap", zero=False)
    whole_number(settings.rounds, "rounds")


def matched_periods(released: ReleasedHistory, names: Sequence[str] | None) -> tuple[IntArray, IntArray]:
    """Return the items of the two periods to match."""
    names = released.periods if names is None else names
    if len(names) != 2 or len(released.periods) < 2:
        raise InputError(
            f"The release has {len(released.periods)} periods, but two are matched. Name two of them with periods"
        )
    unknown = [name for name in names if name not in released.periods]
    if unknown:
        raise InputError(
            f"There is no period {unknown[0]!r}; there are {', '.join(released.periods)}. Name two of them"
        )
    earlier, later = (released.items_of(released.periods.index(name)) for name in names)
    return earlier, later


def matched(
    profiles: Profiles,
    training: Training,
    earlier: IntArray,
    later: IntArray,
    *,
    share: float | None,
    rng: np.random.Generator,
) -> PeriodMatch:
    """Return the match of two periods by a trained model."""
    paired = pair_up(training.model, profiles.take(earlier), profiles.take(later), share=share, rng=rng)
    excess = nan
    if isinstance(paired.scores, np.ndarray):
        excess = excess_over_impostors(training.model, profiles.take(earlier), paired.scores, rng)
    return PeriodMatch(earlier=earlier, later=later, training=training, excess=excess, **paired._asdict())


class PairedItems(NamedTuple):
    """Scores and probabilities of pairs, and the one-to-one assignment."""

    scores: "FloatArray | csr_array"
    probability: "FloatArray | csr_array"
    row: IntArray
    column: IntArray


def pair_up(
    model: ScoreModel,
    ones: Profiles,
    others: Profiles,
    *,
    share: float | None,
    rng: np.random.Generator,
    by: Literal["score", "probability"] = "score",
    noise: bool = False,
) -> PairedItems:
    """Return the one-to-one assignment with the best total score, or total log probability.

    With more than 4,000 items a side only candidate pairs are compared, and assigned by probability. ``noise`` adds
    Gumbel noise to all scores.
    """
    if max(ones.items, others.items) > DENSE_ITEMS:
        from scipy.sparse import csr_array

        pairs, values = scored_pairs(model, ones, others)
        values = values + rng.gumbel(size=values.size) if noise else values
        chance = pair_probabilities(pairs.start, pairs.column, values, others.items, share).probability
        row, column = assigned_pairs(pairs, chance, others.items, rng=rng)
        shape = (ones.items, others.items)
        sparse = [csr_array((each, pairs.column, pairs.start), shape=shape) for each in (values, chance)]
        return PairedItems(sparse[0], sparse[1], row, column)
    scores = model.scores(ones, others)
    if noise:
        scores += rng.gumbel(size=scores.shape)
    if ones.items == others.items <= EXACT and share == 1:
        probability = exact_assignment(scores)
    else:
        probability = soft_assignment(scores, share).probability
    weight = scores if by == "score" else np.log(np.maximum(probability, 1e-300))
    return PairedItems(scores, probability, *best_assignment(weight, rng=rng))
