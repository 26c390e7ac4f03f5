"""Profile matching: link the pseudonyms of two periods."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.link._assignment import EXACT, best_assignment, exact_assignment, soft_assignment
from unveil.attacks.link._profiles import Profiles, profiles_of
from unveil.attacks.link._training import PeriodPair, Training, train
from unveil.attacks.link.learned_weights import learned_weights, weighted
from unveil.attacks.link.score import ScoreModel
from unveil.data.histories import History, ReleasedHistory
from unveil.errors import InputError, share, whole_number
from unveil.guesses.candidates import Candidates
from unveil.guesses.matching import Matching

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
        """Rounds of training."""

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
        The tempered log Bayes factor of each pair, earlier by later.
    probability
        The probability of each pair; rows and columns sum to at most 1.
    row, column
        The best one-to-one assignment.
    training
        The trained model.
    """

    earlier: IntArray
    later: IntArray
    scores: FloatArray
    probability: FloatArray
    row: IntArray
    column: IntArray
    training: Training

    @property
    def partner(self) -> IntArray:
        """The assigned earlier place of each later item, -1 for none."""
        partner = np.full(self.later.size, -1, np.int64)
        partner[self.column] = self.row
        return partner

    def candidates(self) -> Candidates:
        """Return the later items' candidates among the earlier ones."""
        earlier = self.earlier.size
        shares = self.probability.T.copy()
        listed = shares >= _LEAST
        listed[self.column, self.row] = True
        known = np.minimum(shares.sum(axis=1), 1.0)
        shares = np.where(listed, shares, 0)
        sums = shares.sum(axis=1)
        away = np.where(sums > 0, 1 - known, 1.0)
        away[(away < 1e-9) | (listed.sum(axis=1) == earlier)] = 0.0
        away[~listed.any(axis=1)] = 1.0
        lost = listed.any(axis=1) & (sums <= 0)  # an assignment with no probability at all
        shares[lost], sums[lost], away[lost] = listed[lost], listed[lost].sum(axis=1), 0.0
        rows = np.flatnonzero(sums > 0)
        shares[rows] *= ((1 - away[rows]) / sums[rows])[:, None]
        start = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
        target, candidate = np.nonzero(listed)
        pool = np.arange(earlier, dtype=np.int32) if away.any() else None
        return Candidates(
            start,
            candidate.astype(np.int32),
            shares[target, candidate],
            chosen=self.partner.astype(np.int32),
            targets=self.later,
            candidates=self.earlier,
            elsewhere=away if pool is not None else None,
            pool=pool,
        )

    def matching(self) -> Matching:
        """Return the probabilities as a square matching, if both periods have as many items."""
        if self.earlier.size != self.later.size:
            raise InputError(
                f"The periods have {self.earlier.size} and {self.later.size} items, but a matching is square. "
                "Use the candidates"
            )
        matrix = soft_assignment(self.scores, 1.0).probability
        return Matching(np.maximum(matrix, 1e-300))

    def true_rank(self, partners: IntArray) -> FloatArray:
        """Return the rank of the true partner's score by earlier item, from 0 to 1.

        1 is the best score among all later items, 0 the worst; NaN for people in one period. Ties share their ranks.
        """
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
        Rounds of training.
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
    rounds: int = 4
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
        trained = train(profiles, [PeriodPair(earlier, later)], share=self.overlap, rounds=self.rounds, rng=rng)
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
    scores = training.model.scores(profiles.take(earlier), profiles.take(later))
    if earlier.size == later.size <= EXACT and share == 1:
        probability = exact_assignment(scores)
    else:
        probability = soft_assignment(scores, share).probability
    row, column = best_assignment(scores, rng=rng)
    return PeriodMatch(
        earlier=earlier,
        later=later,
        scores=scores,
        probability=probability,
        row=row,
        column=column,
        training=training,
    )
