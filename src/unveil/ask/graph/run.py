"""Attack released graphs one after another, and put together what was found in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._specification import settings_of
from unveil.ask.graph.measured import Measurements, averages, cut_offs, measure, nodes_of, run_attack
from unveil.show.progress import Progress
from unveil.attack import ATTACKS, AttacksGraph, attack_text
from unveil.data.graph import Graph
from unveil.data.graph_release import GraphKnowledge
from unveil.errors import InputError
from unveil.guess import Candidates
from unveil.ask.graph.findings import AttackedGraph, Nodes

Integers = NDArray[np.int64]

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
