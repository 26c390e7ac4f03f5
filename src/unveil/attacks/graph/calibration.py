"""Calibration of attack scores on experiments with known truth.

The score of a candidate over the sum of all scores is no probability. An attacker can have better ones without knowing
more: it takes the released graph, which everyone has, for an original, protects it in the same way, draws from it what
it would know of it, attacks, and sees how often choices with such scores, leads and degrees are correct.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np

from unveil._kernels.calibration import FEWEST_LABELS, Calibrator, chance, fit
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks.graph.resemblance import resemblance
from unveil.attacks.specification import GraphAttack
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates

#: How an attacker learns: by an experiment on the released graph, or from seed pairs that it keeps back.
CalibrationSource = Literal["simulate", "seeds"]

#: The most of the edges that an own experiment knows: with all of them it would learn nothing.
MOST_OVERLAP = 0.98
#: An experiment is repeated until this many choices can be learned from; at least and at most so often.
ENOUGH_LABELS, LEAST_DRAWS, MOST_DRAWS = 6_000, 2, 20
# Where experiments go otherwise than the attack, this many times as many are looked at before that is accepted.
_PATIENCE = 3
_FOLDS = 5
_LEAST = 1e-12
_FARTHEST_LEAD = 6.0
#: An experiment that attempts this many times more or fewer than the attack is not like it.
_UNLIKE = 1.5
_FEWEST_SEEDS = 10
#: With one pair there is none to attack with while it is kept back.
_FEWEST_PAIRS = 2


class GraphProtector(Protocol):
    """The interface that calibration needs of a graph protection."""

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the protected graph with its true matching."""


class Labels(NamedTuple):
    """Choices with known correctness.

    ``listed`` says whether the true node was a candidate at all; ``targets`` is how many nodes there were to choose
    for, those that were not attempted included.
    """

    features: FloatArray
    right: BoolArray
    listed: BoolArray
    targets: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """Learned calibration of an attack's scores; made by :func:`calibrate`.

    Attributes
    ----------
    released, knowledge
        The release, and what the attacker knows of it.
    learned
        Probability that a choice is correct.
    listed
        Of the wrong choices, the share whose true node was among the candidates.
    facts
        ``labels`` choices were learned from, the share ``right`` of them; the share of nodes ``attempted`` in the
        experiment, and ``attempted_here`` in the attack.
    notes
        What a reader has to know, such as that the experiment went otherwise than the attack.
    """

    released: Graph
    knowledge: GraphKnowledge
    learned: Calibrator
    listed: float
    facts: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def chance(self, guess: Candidates) -> FloatArray:
        """Return the probability that each choice is correct; 0 if not attempted."""
        found = np.zeros(guess.target_count)
        tried = np.flatnonzero(guess.attempted)
        found[tried] = chance(self.learned, features_of(guess, self.released, self.knowledge.auxiliary))
        return found

    def __call__(self, guess: Candidates) -> Candidates:
        """Return the guess with learned probabilities, and some for free nodes.

        The choice has its learned chance q. Of the rest, the share ``listed`` goes to the other candidates as the
        squares of their probabilities do, and what is left evenly to all auxiliary nodes that are neither candidates
        nor in a seed pair. A node that was not attempted may be any of those that are in no seed pair.
        """
        pool = np.setdiff1d(np.arange(self.knowledge.auxiliary.nodes), self.knowledge.seeds[:, 1])
        chosen = _chosen(guess)
        tried = guess.attempted
        listed = np.where(tried, guess.considered, 0)
        start = np.concatenate([[0], np.cumsum(listed)])
        owner = np.repeat(np.arange(tried.size), listed)
        candidate, raw = _entries_of_attempts(guess)
        is_choice = candidate == chosen[owner]
        likely = self.chance(guess)
        # Over the largest, so that squares of small numbers do not vanish.
        largest = np.zeros(tried.size)
        np.maximum.at(largest, owner[~is_choice], raw[~is_choice])
        scale = np.where(largest > 0, largest, 1.0)
        square = np.where(is_choice, 0.0, (raw / scale[owner]) ** 2)
        total = np.bincount(owner, square, minlength=tried.size)
        no_others, nobody_else = total == 0, listed >= pool.size
        share = np.where(no_others, 0.0, np.where(nobody_else, 1.0, self.listed))
        likely = np.where(no_others & nobody_else & tried, 1.0, likely)
        rest = 1 - likely
        spread = square / np.where(no_others, 1.0, total)[owner] * (rest * share)[owner]
        probability = np.where(is_choice, likely[owner], spread)
        elsewhere = np.where(tried, rest * (1 - share), 1.0)
        elsewhere[self.knowledge.seeds[:, 0]] = 0.0
        return Candidates(
            start,
            candidate,
            probability,
            np.where(tried, chosen, NOT_ATTEMPTED),
            guess.targets,
            guess.candidates,
            elsewhere=elsewhere,
            pool=pool.astype(np.int32),
        )


def calibrate(
    attack: GraphAttack,
    protection: GraphProtector | None,
    *,
    released: Graph,
    knowledge: GraphKnowledge,
    guess: Candidates,
    how: CalibrationSource = "simulate",
    draws: int | None = None,
    check: bool = True,
    rng: np.random.Generator,
) -> Calibration:
    """Return the calibration that the attacker learns from its own knowledge.

    Parameters
    ----------
    attack
        The attack.
    protection
        How the release was protected, which the attacker is taken to know; only ``how="seeds"`` does without.
    released, knowledge
        What was attacked.
    guess
        What the attack left there: of it counts how many nodes were attempted.
    how
        "simulate": the released graph is protected again and attacked by an attacker who knows the same nodes in it, as
        large a share of its nodes as the auxiliary graph has, and of its edges (0.98 at most). It is as dense as the
        original, which the auxiliary graph is not. An attack that grows catches on in one experiment and dies out in
        the next: those are learned from in which it attempted about as many nodes as here, if there are any. "seeds":
        the release is attacked five times, each time without a fifth of the seed pairs, which tell what is correct.
    draws
        How often the experiment is done; None repeats it, from 2 to 20 times, until there are 6,000 choices.
    check
        Whether an own experiment is preceded by a look at whether the auxiliary graph is one of the released graph at
        all (:func:`~unveil.attacks.graph.resemblance.resemblance`), which takes about as long as ``mean-field``. Of a
        graph of others an experiment learns chances that are far too high, and a note says so. False where the
        auxiliary graph was drawn from the original.
    rng
        Where chance comes from.

    Returns
    -------
    Calibration
        Where the share of nodes that were attempted in the experiment differs from that of the attack by more than a
        factor 1.5, a note says so, and chances are moved to agree with seed pairs that were kept back, if at least ten
        of them were attempted.

    Examples
    --------
    >>> from unveil.attacks import NarayananShmatikov
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 5])
    >>> knowledge, rng = GraphKnowledge(ring, np.array([[0, 0], [1, 1]])), np.random.default_rng(1)
    >>> guess = NarayananShmatikov().run(released=ring, knowledge=knowledge, rng=rng)
    >>> learned = calibrate(
    ...     NarayananShmatikov(), None, released=ring, knowledge=knowledge, guess=guess, how="seeds", rng=rng
    ... )
    >>> learned.facts["labels"] <= 2, learned(guess).elsewhere[:2]
    (True, array([0., 0.]))
    """
    if how not in get_args(CalibrationSource):
        raise InputError(f"Unknown calibration {how!r}. Use 'simulate' or 'seeds'")
    if draws is not None:
        whole_number(draws, "draws")
    if how == "seeds" and len(knowledge.seeds) < _FEWEST_PAIRS:
        raise InputError(
            f"holding out seed pairs needs at least {_FEWEST_PAIRS}, but there are {len(knowledge.seeds)}. "
            "Give more, or calibrate by an own experiment"
        )
    if how == "seeds":
        known = _from_seeds(attack, released, knowledge, rng)
    elif protection is None:
        raise InputError("an own experiment needs the protection of the release. Pass it, or how='seeds'")
    else:
        known = _simulated(
            attack, protection, released, knowledge, _share_attempted(guess, released, knowledge), draws, rng
        )
    learned = fit(known.features, known.right)
    notes: tuple[str, ...] = ()
    there = known.right.size / max(known.targets, 1)
    here = _share_attempted(guess, released, knowledge)
    if how == "simulate" and not _alike(there, here):
        learned, notes = _moved(learned, there, here, _from_seeds(attack, released, knowledge, rng))
    if known.right.size < FEWEST_LABELS:
        notes += (
            f"The attacker could learn from {known.right.size} choices only. All choices get the same "
            f"probability ({learned.share:.0%}), which says little.",
        )
    if how == "simulate" and check:
        seen = resemblance(None, released=released, knowledge=knowledge, rng=rng)
        notes += (seen.sentence,) if seen is not None and seen.doubtful else ()
    wrong = known.listed[~known.right]
    return Calibration(
        released=released,
        knowledge=knowledge,
        learned=learned,
        listed=float(wrong.mean()) if wrong.size else 0.0,
        facts=MappingProxyType(
            {
                "labels": known.right.size,
                "right": float(known.right.mean()) if known.right.size else np.nan,
                "attempted": there,
                "attempted_here": here,
            }
        ),
        notes=notes,
    )


def features_of(guess: Candidates, released: Graph, auxiliary: Graph) -> FloatArray:
    """Return the features of each choice, one row per attempted node.

    Seven columns: the logarithm of its probability; by how much that exceeds the best of the others, as a logarithm
    held within 6; of the number of candidates; of one more than the degrees of both nodes, and how far these are apart;
    and the probability as a multiple of an even share.
    """
    tried = np.flatnonzero(guess.attempted)
    number, chosen = guess.considered[tried], _chosen(guess)[tried]
    owner = np.repeat(np.arange(tried.size), number)
    candidate, probability = _entries_of_attempts(guess)
    is_choice = candidate == chosen[owner]
    first, second = np.zeros(tried.size), np.zeros(tried.size)
    first[owner[is_choice]] = probability[is_choice]
    np.maximum.at(second, owner[~is_choice], probability[~is_choice])
    own, other = np.log1p(released.degrees[tried]), np.log1p(auxiliary.degrees[chosen])
    logarithm = np.log(np.maximum(first, _LEAST))
    lead = np.clip(logarithm - np.log(np.maximum(second, _LEAST**2)), -_FARTHEST_LEAD, _FARTHEST_LEAD)
    return np.column_stack(
        [logarithm, lead, np.log(np.maximum(number, 1)), own, other, np.abs(own - other), number * first]
    )


def _entries_of_attempts(guess: Candidates) -> tuple[Int32Array, FloatArray]:
    kept = np.repeat(guess.attempted, guess.considered)
    return guess.candidate[kept], guess.probability[kept]


def _chosen(guess: Candidates) -> IntArray:
    if guess.chosen is None:
        raise InputError(
            "calibration needs an attack that chooses one candidate, but this attack chose none. Set "
            "chosen in the Candidates that it returns"
        )
    return guess.chosen.astype(np.int64)


def _share_attempted(guess: Candidates, released: Graph, knowledge: GraphKnowledge) -> float:
    return float(guess.attempted.sum()) / max(knowledge.targets(released).size, 1)


def _alike(there: float, here: float) -> bool:
    """Return whether two attempt shares are about the same."""
    return max(there, here) <= _UNLIKE * min(there, here)


def _simulated(
    attack: GraphAttack,
    protection: GraphProtector,
    released: Graph,
    knowledge: GraphKnowledge,
    here: float,
    draws: int | None,
    rng: np.random.Generator,
) -> Labels:
    """Return the attack's results on a protected copy of the release.

    ``here`` is the share of nodes that it attempted; experiments in which it did about as well are preferred.
    """
    heard = min(1.0, knowledge.auxiliary.nodes / released.nodes)
    among = max(released.edges * heard**2, 1.0)
    overlap = min(MOST_OVERLAP, knowledge.auxiliary.edges / among)
    every: list[Labels] = []
    alike: list[Labels] = []
    while not _enough(every, alike, draws):
        release = protection.apply(released, rng=rng)
        own = draw_knowledge(release, overlap=overlap, known=knowledge.seeds[:, 0], node_share=heard, rng=rng)
        guess = attack.run(released=release.released, knowledge=own, rng=rng)
        features = features_of(guess, release.released, own.auxiliary)
        targets, truth = own.targets(release.released).size, own.in_auxiliary_numbers(release.truth)
        every.append(_labels(guess, truth, np.flatnonzero(guess.attempted), features, targets))
        alike += every[-1:] if _alike(every[-1].right.size / max(targets, 1), here) else []
    return _joined(alike or every)


def _enough(every: list[Labels], alike: list[Labels], draws: int | None) -> bool:
    """Return whether there are enough experiments, in total and comparable."""
    if draws is not None or len(every) >= MOST_DRAWS:
        return len(every) >= (MOST_DRAWS if draws is None else draws)
    goals = ((alike, ENOUGH_LABELS), (every, _PATIENCE * ENOUGH_LABELS))
    return any(len(some) >= LEAST_DRAWS and sum(each.right.size for each in some) >= goal for some, goal in goals)


def _from_seeds(attack: GraphAttack, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Labels:
    """Return the attack's results on unused seed pairs, by fifths."""
    seeds = knowledge.seeds
    fold = rng.permutation(len(seeds)) % _FOLDS
    every = []
    for number in range(_FOLDS):
        held = seeds[fold == number]
        if held.size == 0 or len(held) == len(seeds):
            continue
        told = GraphKnowledge(knowledge.auxiliary, seeds[fold != number])
        guess = attack.run(released=released, knowledge=told, rng=rng)
        row = np.cumsum(guess.attempted) - 1
        asked = held[guess.attempted[held[:, 0]]]
        truth = np.full(released.nodes, NOT_ATTEMPTED, np.int64)
        truth[held[:, 0]] = held[:, 1]
        features = features_of(guess, released, knowledge.auxiliary)[row[asked[:, 0]]]
        every.append(_labels(guess, truth, asked[:, 0], features, len(held)))
    return _joined(every)


def _labels(guess: Candidates, truth: IntArray, rows: IntArray, features: FloatArray, targets: int) -> Labels:
    right = _chosen(guess)[rows] == truth[rows]
    return Labels(features, right, guess.entry_of(truth)[rows] >= 0, targets)


def _joined(every: list[Labels]) -> Labels:
    if not every:
        return Labels(np.empty((0, 7)), np.empty(0, np.bool_), np.empty(0, np.bool_), 0)
    features, right, listed, targets = zip(*every, strict=True)
    return Labels(np.concatenate(features), np.concatenate(right), np.concatenate(listed), sum(targets))


def _moved(learned: Calibrator, there: float, here: float, held: Labels) -> tuple[Calibrator, tuple[str, ...]]:
    """Return probabilities adjusted to the mean of held-out seed pairs."""
    unlike = (
        f"The simulated attack attempted {there:.1%} of the nodes and the real attack {here:.1%}. They differ, "
        "so the calibrated probabilities are less certain."
    )
    number = held.right.size
    if number < _FEWEST_SEEDS:
        few = f" Too few held-out seed pairs ({number}) were attempted to correct for it."
        return learned, (unlike + few,)
    goal = (float(held.right.sum()) + 0.5) / (number + 1)
    said = (f"{unlike} They were adjusted to {number} held-out seed pairs.",)
    if learned.coefficients.size == 0:
        return learned._replace(share=goal), said
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        below = float(chance(_shifted(learned, middle), held.features).mean()) < goal
        low, high = (middle, high) if below else (low, middle)
    return _shifted(learned, (low + high) / 2), said


def _shifted(learned: Calibrator, by: float) -> Calibrator:
    coefficients = learned.coefficients.copy()
    coefficients[0] += by
    return learned._replace(coefficients=coefficients)
