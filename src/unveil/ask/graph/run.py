"""The question about an attacked graph measured: a release is made or given, attacked, and all figures put together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil._specification import settings_of
from unveil.ask.graph.findings import (
    BARS_PER_POWER,
    LEAST_POWER,
    TRUTH_BARS,
    Averaged,
    CutOff,
    GraphFindings,
    Nodes,
    Repetition,
    averaged,
)
from unveil.attack import ATTACKS, AttacksGraph, attack_text
from unveil.data.graph import Graph
from unveil.data.graph.files import UNKNOWN
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import NOBODY, GraphKnowledge
from unveil.errors import InputError
from unveil.guess import Candidates
from unveil.measure import all_metrics, quantiles_on_entropy
from unveil.measure.candidates._truth import correct
from unveil.measure.candidates.matches import matches
from unveil.protect import ProtectsGraph
from unveil.show.progress import Progress

#: The probabilities below which the paper cuts off, and none at all first.
CUT_OFFS = (0.0, 0.0001, 0.001, 0.01)
_NOTHING = "no target was attempted"
_OTHER_NOTES = "Notes on releases and knowledge are those of the first repetition; others had other ones as well."
_ONE_REPETITION = (
    "There is one repetition, and so no interval: another release, or other knowledge of the adversary, may give other "
    "figures. Repeat it (--repeat 10) to see by how much."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """One release, what an adversary knows of it, and where the chance of the attack comes from.

    ``truth`` is -1 for a released node that stands for nobody and -2 for one of which nothing is known.
    """

    released: Graph
    knowledge: GraphKnowledge
    truth: IntArray
    rng: np.random.Generator
    notes: tuple[str, ...] = ()
    paired_by_rank: bool = False


def run(
    original: Graph,
    protection: ProtectsGraph,
    attack: AttacksGraph,
    *,
    protect: str,
    seed_pairs: int,
    overlap: float,
    connected: bool,
    repeat: int,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
) -> GraphFindings:
    """Return what an adversary finds in a graph that is protected here; see :func:`unveil.graph`.

    ``protect`` is how the protection is written.
    """

    def worlds() -> Iterator[World]:
        for number, own in enumerate(_generators(rng, repeat)):
            for_protection, for_knowledge, for_attack = own.spawn(3)
            progress("protecting", number / repeat)
            release = protection.apply(original, rng=for_protection)
            knowledge = draw_knowledge(
                release, overlap=overlap, seed_pairs=seed_pairs, connected=connected, rng=for_knowledge
            )
            yield World(
                released=release.released,
                knowledge=knowledge,
                truth=release.truth,
                rng=for_attack,
                notes=(*release.notes, *knowledge.notes),
                paired_by_rank=release.pairing == "rank",
            )

    found = _attack_all(
        attack,
        worlds(),
        repeat=repeat,
        progress=progress,
        graph=(original.nodes, original.edges),
        protect=protect,
        protect_settings=settings_of(protection),
        overlap=overlap,
        connected=connected,
        given_seeds=False,
    )
    # The overlap is known to be a number only now: drawing knowledge has checked it.
    return replace(found, overlap=float(overlap), notes=_all_notes(repeat, *notes, *original.notes, *found.notes))


def run_made_elsewhere(
    released: Graph,
    auxiliary: Graph,
    seeds: int | IntArray,
    truth: IntArray,
    attack: AttacksGraph,
    *,
    repeat: int,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
) -> GraphFindings:
    """Return what an adversary finds in a release made elsewhere; see :mod:`unveil.ask.graph.answer`."""

    def worlds() -> Iterator[World]:
        for own in _generators(rng, repeat):
            for_seeds, for_attack = own.spawn(2)
            pairs = _drawn_seeds(truth, auxiliary, seeds, for_seeds) if isinstance(seeds, int) else seeds
            yield World(released=released, knowledge=GraphKnowledge(auxiliary, pairs), truth=truth, rng=for_attack)

    found = _attack_all(
        attack,
        worlds(),
        repeat=repeat,
        progress=progress,
        graph=None,
        protect=None,
        overlap=None,
        connected=False,
        given_seeds=not isinstance(seeds, int),
    )
    said = [*notes, *released.notes, *auxiliary.notes, *found.notes, *_notes_on_inputs(truth, seeds, repeat)]
    return replace(found, notes=_all_notes(repeat, *said))


def _attack_all(
    attack: AttacksGraph, worlds: Iterator[World], *, repeat: int, progress: Progress, **facts: Any
) -> GraphFindings:
    """Return what the attack finds in each world; only the first guess is kept, because guesses are large.

    ``facts`` are the fields of the findings that do not depend on the attack.
    """
    every: list[Measurements] = []
    said: list[tuple[str, ...]] = []
    kept: list[dict[str, Any]] = []
    paired_by_rank = False
    for number, world in enumerate(worlds):
        progress("attacking", (number + 0.3) / repeat)
        guess, truth, targets = run_attack(attack, world.released, world.knowledge, world.truth, world.rng)
        progress("measuring", (number + 0.8) / repeat)
        unknown = world.released.nodes - targets.size - np.unique(world.knowledge.seeds[:, 0]).size
        every.append(measure(guess, truth, world.released, world.knowledge, unknown=unknown))
        said.append((*world.notes, *_estimates(attack, world)))
        paired_by_rank = paired_by_rank or world.paired_by_rank
        if not kept:
            nodes = nodes_of(guess, truth, world.released.degrees[targets])
            kept.append({"guess": guess, "truth": truth, "nodes": nodes})
    return GraphFindings(
        attack=attack_text(attack),
        scope=next((each.scope for each in ATTACKS.values() if each.make is type(attack)), None),
        chunk=_chunk(attack),
        attack_settings=settings_of(attack),
        paired_by_rank=paired_by_rank,
        repetitions=tuple(each.repetition for each in every),
        metrics=averages(every),
        cut_offs=cut_offs(every),
        truth_counts=np.sum([each.truth_counts for each in every], axis=0),
        candidate_counts=np.sum([each.candidate_counts for each in every], axis=0),
        candidate_mass=np.sum([each.candidate_mass for each in every], axis=0),
        notes=_notes(said),
        **kept[0],
        **facts,
    )


def _generators(rng: np.random.Generator, repeat: int) -> Iterator[np.random.Generator]:
    """Yield the random numbers of each repetition, made when it begins; the first are the same however many follow."""
    for _ in range(repeat):
        yield rng.spawn(1)[0]


def _drawn_seeds(truth: IntArray, auxiliary: Graph, number: int, rng: np.random.Generator) -> IntArray:
    """Return so many pairs of the truth, all sets of them equally likely."""
    known = np.flatnonzero((truth >= 0) & (truth < auxiliary.nodes))
    if not 0 <= number <= known.size:
        raise InputError(
            f"the number of seed pairs must be from 0 to {known.size}, so many released nodes have a true one in the "
            f"auxiliary graph, but is {number}. Ask for fewer pairs"
        )
    # By the auxiliary node, so that the draw does not depend on how the release numbers its nodes.
    known = known[np.argsort(truth[known])]
    chosen = known[rng.choice(known.size, number, replace=False)] if number else known[:0]
    return np.column_stack([chosen, truth[chosen]])


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


def _all_notes(repeat: int, *notes: str) -> tuple[str, ...]:
    """Return each note once, at the end that there is no interval, where there is none."""
    return tuple(dict.fromkeys([*notes, *([_ONE_REPETITION] if repeat == 1 else [])]))


def _notes(said: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the notes of the first repetition: with counts in them, those of all would be a long list of the same."""
    first = dict.fromkeys(said[0])
    others = any(note not in first for notes in said for note in notes)
    return (*first, *([_OTHER_NOTES] if others else []))


def _notes_on_inputs(truth: IntArray, seeds: int | IntArray, repeat: int) -> Iterator[str]:
    nobody, unknown = int((truth == NOBODY).sum()), int((truth == UNKNOWN).sum())
    if nobody:
        stand = "stands" if nobody == 1 else "stand"
        yield (
            f"{nobody:,} of {truth.size:,} released nodes {stand} for nobody: an attempt there is a failed one, and "
            "overall success leaves them out."
        )
    if unknown:
        yield (
            f"The truth says nothing of {unknown:,} of {truth.size:,} released nodes: the attack saw them, but whether "
            "it was right about them is not known, and no figure counts them."
        )
    if isinstance(seeds, int):
        return
    whose = truth[seeds[:, 0]]
    wrong = int(((whose != UNKNOWN) & (whose != seeds[:, 1])).sum())
    if wrong:
        contradict = "contradicts" if wrong == 1 else "contradict"
        yield f"{wrong:,} of {len(seeds):,} seed pairs {contradict} the truth: the adversary starts with errors."
    if repeat > 1:
        yield (
            "Graphs and seed pairs are given and stay the same, so repetitions differ only in what the attack draws: "
            "the intervals do not say what an adversary with other knowledge would find."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """What is kept of one repetition: figures and counts, but not the guess itself."""

    repetition: Repetition
    values: tuple[float, ...]
    why: tuple[str, ...]
    cut_offs: tuple[CutOff, ...]
    truth_counts: IntArray
    candidate_counts: IntArray
    candidate_mass: FloatArray


def run_attack(
    attack: AttacksGraph, released: Graph, knowledge: GraphKnowledge, truth: IntArray, rng: np.random.Generator
) -> tuple[Candidates, IntArray, IntArray]:
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
    guess: Candidates, truth: IntArray, released: Graph, knowledge: GraphKnowledge, *, unknown: int = 0
) -> Measurements:
    """Return every metric of the guess, and the counts behind the pictures; ``unknown`` nodes are in none of them."""
    measured, found = all_metrics(guess, truth), matches(guess, truth)
    likely = next(each.values for each in measured if each.metric.name == "incorrectness")
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


def nodes_of(guess: Candidates, truth: IntArray, degrees: IntArray) -> Nodes:
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


def _counted(probability: FloatArray) -> IntArray:
    bar = np.clip(np.floor(probability * TRUTH_BARS + 1e-9), 0, TRUTH_BARS - 1).astype(np.int64)
    return np.bincount(bar, minlength=TRUTH_BARS)


def _at_random(guess: Candidates, truth: IntArray, knowledge: GraphKnowledge) -> float:
    """Return how many attempts would be right if each were given any auxiliary node that is no seed."""
    nodes = knowledge.auxiliary.nodes
    left = nodes - len(knowledge.seeds)
    findable = guess.attempted & (truth != NOBODY) & (truth < nodes) & ~np.isin(truth, knowledge.seeds[:, 1])
    return float(findable.sum() / left) if left else 0.0


def _cut_off(guess: Candidates, probability: FloatArray, least: float) -> CutOff:
    bits = quantiles_on_entropy(guess, least=least)
    bits = bits[~np.isnan(bits)]
    if bits.size == 0:
        return CutOff(**dict.fromkeys((each.name for each in fields(CutOff)), np.nan) | {"least": least})
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
