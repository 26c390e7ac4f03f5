"""One attack on a released graph, measured; and the figures of several of them put together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._specification import settings_of
from unveil.ask.graph.findings import (
    BARS_PER_POWER,
    LEAST_POWER,
    TRUTH_BARS,
    AttackedGraph,
    Averaged,
    CutOff,
    Nodes,
    Repetition,
    averaged,
)
from unveil.attack import ATTACKS, AttacksGraph, attack_text
from unveil.data.graph import Graph
from unveil.data.graph_files import UNKNOWN
from unveil.data.graph_release import NOBODY, GraphKnowledge
from unveil.errors import InputError
from unveil.guess import Candidates
from unveil.measure import Measured, all_metrics, quantiles_on_entropy
from unveil.measure._truth import correct
from unveil.measure.matches import matches
from unveil.show.progress import Progress

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The probabilities below which the paper cuts off, and none at all first.
CUT_OFFS = (0.0, 0.0001, 0.001, 0.01)
_NOTHING = "no target was attempted"


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """What is kept of one repetition: figures and counts, but not the guess itself."""

    repetition: Repetition
    values: tuple[float, ...]
    why: tuple[str, ...]
    cut_offs: tuple[CutOff, ...]
    truth_counts: Integers
    candidate_counts: Integers
    candidate_mass: Floats


def run_attack(
    attack: AttacksGraph, released: Graph, knowledge: GraphKnowledge, truth: Integers, rng: np.random.Generator
) -> tuple[Candidates, Integers, Integers]:
    """Return the guess about the nodes that count, their truth, and their numbers.

    Those that the adversary knew do not count, nor those of which the truth is not known.
    """
    guess = attack.run(released=released, knowledge=knowledge, rng=rng)
    if not isinstance(guess, Candidates) or guess.target_count != released.nodes:
        raise InputError(
            f"an attack on graphs must leave Candidates with one target for each of the {released.nodes} released "
            f"nodes, but {type(attack).__name__} does not. Correct its method run"
        )
    targets = knowledge.targets(released)
    if targets.size == 0:
        raise InputError(
            f"the adversary must not know all {released.nodes} released nodes beforehand, but each is in a seed pair. "
            "Give fewer seed pairs"
        )
    targets = targets[truth[targets] != UNKNOWN]
    if targets.size == 0:
        raise InputError(
            "the truth must say of at least one released node that is in no seed pair for whom it stands, but says it "
            "of none. Add rows to it, or give fewer seed pairs"
        )
    return guess.only(targets), truth[targets], targets


def measure(
    guess: Candidates, truth: Integers, released: Graph, knowledge: GraphKnowledge, *, unknown: int = 0
) -> Measurements:
    """Return every metric of the guess, and the counts behind the pictures; ``unknown`` nodes are in none of them."""
    measured, found = all_metrics(guess, truth), matches(guess, truth)
    likely = _values(measured, "incorrectness")
    kept = np.repeat(guess.attempted, guess.considered)
    probability = guess.probability[kept]
    probability = probability[probability > 0]
    bar = np.clip(
        np.floor((np.log10(probability) - LEAST_POWER) * BARS_PER_POWER + 1e-9), 0, -LEAST_POWER * BARS_PER_POWER - 1
    ).astype(np.int64)
    bars = -LEAST_POWER * BARS_PER_POWER
    return Measurements(
        repetition=Repetition(
            released_nodes=released.nodes,
            released_edges=released.edges,
            auxiliary_nodes=knowledge.auxiliary.nodes,
            auxiliary_edges=knowledge.auxiliary.edges,
            seeds=len(knowledge.seeds),
            unknown=unknown,
            matches=found,
            at_random=_at_random(guess, truth, knowledge),
        ),
        values=tuple(each.mean for each in measured),
        why=tuple(each.why for each in measured),
        cut_offs=tuple(_cut_off(guess, probability, least) for least in CUT_OFFS),
        truth_counts=_counted(1 - likely[~np.isnan(likely)]),
        candidate_counts=np.bincount(bar, minlength=bars),
        candidate_mass=np.asarray(np.bincount(bar, weights=probability, minlength=bars), np.float64),
    )


def nodes_of(guess: Candidates, truth: Integers, degrees: Integers) -> Nodes:
    """Return what the adversary believes of each node that stands for somebody, those with most connections first.

    Nodes with as many connections are in the order of what is believed of them: their numbers decide nothing.
    """
    from unveil.measure import incorrectness

    somebody = np.flatnonzero(truth != NOBODY)
    probability = 1 - incorrectness(guess, truth)[somebody]
    right, degree = correct(guess, truth)[somebody], degrees[somebody]
    order = np.lexsort((-right, -np.nan_to_num(probability, nan=-1.0), -degree))
    return Nodes(degree=degree[order], probability=probability[order], right=right[order])


def averages(every: Sequence[Measurements]) -> tuple[Averaged, ...]:
    """Return each metric over all repetitions, in the order of the listing.

    A repetition without an attempt has no rate of attempts: as a 0 it would hide how often attempts are right. Where
    nothing was ever attempted, that nobody was found has no interval either, because it was never put to the test.
    """
    from unveil.measure import METRICS

    listed = [metric for metric in METRICS.values() if metric.on == "Candidates"]
    idle = [each.repetition.matches.attempted == 0 for each in every]
    made = []
    for at, metric in enumerate(listed):
        values, why = [each.values[at] for each in every], [each.why[at] for each in every]
        if metric.name == "adversary_success_rate":
            values = [np.nan if nothing else value for value, nothing in zip(values, idle, strict=True)]
            why = [_NOTHING if nothing else reason for reason, nothing in zip(why, idle, strict=True)]
        found = averaged(metric, values, why)
        if metric.name == "adversary_overall_success" and all(idle):
            found = replace(found, low=np.nan, high=np.nan)
        made.append(found)
    return tuple(made)


def cut_offs(every: Sequence[Measurements]) -> tuple[CutOff, ...]:
    """Return what each cut-off leaves, averaged over the repetitions in which anything was attempted."""
    made = []
    for at in range(len(CUT_OFFS)):
        kept: dict[str, Any] = {}
        for field in fields(CutOff):
            values = np.array([getattr(each.cut_offs[at], field.name) for each in every])
            known = values[~np.isnan(values)]
            kept[field.name] = float(known.mean()) if known.size else np.nan
        made.append(CutOff(**kept))
    return tuple(made)


def _values(measured: Sequence[Measured], name: str) -> Floats:
    return next(each.values for each in measured if each.metric.name == name)


def _counted(probability: Floats) -> Integers:
    bar = np.clip(np.floor(probability * TRUTH_BARS + 1e-9), 0, TRUTH_BARS - 1).astype(np.int64)
    return np.bincount(bar, minlength=TRUTH_BARS)


def _at_random(guess: Candidates, truth: Integers, knowledge: GraphKnowledge) -> float:
    """Return how many attempts would be right if each were given any auxiliary node that is no seed."""
    nodes = knowledge.auxiliary.nodes
    left = nodes - len(knowledge.seeds)
    findable = guess.attempted & (truth != NOBODY) & (truth < nodes) & ~np.isin(truth, knowledge.seeds[:, 1])
    return float(findable.sum() / left) if left else 0.0


def _cut_off(guess: Candidates, probability: Floats, least: float) -> CutOff:
    bits = quantiles_on_entropy(guess, least=least)
    bits = bits[~np.isnan(bits)]
    if bits.size == 0:
        return CutOff(
            least=least,
            entropy=np.nan,
            low=np.nan,
            high=np.nan,
            candidates_left_out=np.nan,
            probability_left_out=np.nan,
        )
    low, high = np.quantile(bits, [0.05, 0.95])
    small = probability[probability < least]
    return CutOff(
        least=least,
        entropy=float(bits.mean()),
        low=float(low),
        high=float(high),
        candidates_left_out=small.size / probability.size,
        probability_left_out=float(small.sum() / probability.sum()),
    )


#: More repetitions than this tell nothing new, and their figures would have to be kept.
MOST_REPETITIONS = 10_000

_OTHER_NOTES = "Notes on releases and knowledge are those of the first repetition; others had other ones as well."


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """One release, what an adversary knows of it, and where the chance of the attack comes from.

    ``truth`` is -1 for a released node that stands for nobody and -2 for one of which nothing is known.
    """

    released: Graph
    knowledge: GraphKnowledge
    truth: Integers
    rng: np.random.Generator
    notes: tuple[str, ...] = ()
    paired_by_rank: bool = False


class Outcome(NamedTuple):
    """What was found in all worlds, and the guess in the first of them with its truth."""

    found: AttackedGraph
    notes: tuple[str, ...]
    guess: Candidates
    truth: Integers


def attack_all(
    attack: AttacksGraph, worlds: Iterator[World], *, repeat: int, progress: Progress, **facts: Any
) -> Outcome:
    """Return what the attack finds in each world; only the first guess is kept, because guesses are large.

    ``facts`` are the fields of :class:`~unveil.ask.graph.findings.AttackedGraph` that do not depend on the attack.
    """
    every: list[Measurements] = []
    said: list[tuple[str, ...]] = []
    first: tuple[Candidates, Integers, Nodes] | None = None
    paired_by_rank = False
    for number, world in enumerate(worlds):
        progress("attacking", (number + 0.3) / repeat)
        guess, truth, targets = run_attack(attack, world.released, world.knowledge, world.truth, world.rng)
        progress("measuring", (number + 0.8) / repeat)
        unknown = world.released.nodes - targets.size - np.unique(world.knowledge.seeds[:, 0]).size
        every.append(measure(guess, truth, world.released, world.knowledge, unknown=unknown))
        said.append((*world.notes, *_estimates(attack, world)))
        paired_by_rank = paired_by_rank or world.paired_by_rank
        first = first or (guess, truth, nodes_of(guess, truth, world.released.degrees[targets]))
    if first is None:
        raise InputError("there must be at least one repetition, but there is none. Ask for one")
    guess, truth, nodes = first
    found = AttackedGraph(
        attack=attack_text(attack),
        scope=next((each.scope for each in ATTACKS.values() if each.make is type(attack)), None),
        chunk=_chunk(attack),
        attack_settings=settings_of(attack),
        paired_by_rank=paired_by_rank,
        repetitions=tuple(each.repetition for each in every),
        metrics=averages(every),
        cut_offs=cut_offs(every),
        nodes=nodes,
        truth_counts=np.sum([each.truth_counts for each in every], axis=0),
        candidate_counts=np.sum([each.candidate_counts for each in every], axis=0),
        candidate_mass=np.sum([each.candidate_mass for each in every], axis=0),
        **facts,
    )
    return Outcome(found, _notes(said), guess, truth)


def check_repeat(repeat: object) -> None:
    """Refuse a number of repetitions that is none, or that would never end."""
    whole = isinstance(repeat, (int, np.integer)) and not isinstance(repeat, bool)
    if not whole or not 1 <= repeat <= MOST_REPETITIONS:  # type: ignore[operator]
        raise InputError(
            f"the number of repetitions must be a whole number from 1 to {MOST_REPETITIONS:,}, but is {repeat!r}. "
            "Correct it"
        )


def generators(rng: np.random.Generator, repeat: int) -> Iterator[np.random.Generator]:
    """Yield the random numbers of each repetition, made when it begins; the first are the same however many follow."""
    for _ in range(repeat):
        yield rng.spawn(1)[0]


def _chunk(attack: object) -> int | None:
    """Return how many nodes an attack compares at a time, None if all; only one variant of some has windows."""
    chunk = getattr(attack, "chunk", None) if getattr(attack, "variant", "window") == "window" else None
    return chunk if isinstance(chunk, int) else None


def _estimates(attack: object, world: World) -> Iterator[str]:
    """Yield a note where an attack estimates how central nodes are, because exact numbers would take too long."""
    limit, pivots = (getattr(attack, name, None) for name in ("exact_up_to", "pivots"))
    used = any(getattr(attack, f"{name}_weight", 0) > 0 for name in ("structure", "closeness"))
    largest = max(world.released.nodes, world.knowledge.auxiliary.nodes)
    if used and isinstance(limit, int) and isinstance(pivots, int) and largest > max(limit, pivots):
        yield f"How central nodes are was estimated from {pivots:,} of up to {largest:,} nodes (exact_up_to={limit})."


def _notes(said: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the notes of the first repetition: with counts in them, those of all would be a long list of the same."""
    first = dict.fromkeys(said[0])
    others = any(note not in first for notes in said for note in notes)
    return (*first, *([_OTHER_NOTES] if others else []))
