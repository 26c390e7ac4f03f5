"""Run attacks on a graph: make or read the release, attack, measure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from unveil._kernels.types import IntArray
from unveil._specification import settings_of
from unveil.attacks import ATTACKS, GraphAttack, attack_text
from unveil.attacks.graph._settings import compared_at_a_time
from unveil.attacks.graph.calibration import CalibrationSource, calibrate
from unveil.attacks.graph.needs import Needs
from unveil.attacks.graph.resemblance import Resemblance, resemblance
from unveil.data.graph import Graph
from unveil.data.graph.files import UNKNOWN
from unveil.data.graph.knowledge import draw_knowledge, original_among
from unveil.data.graph.release import NOBODY, GraphKnowledge, GraphRelease
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates
from unveil.metrics.graphs.symmetry import most_found
from unveil.protections import GraphProtection
from unveil.protections.specification import applied
from unveil.questions.graph.disclosure import AttackRecord, DisclosureTally
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.graph.measurements import (
    CalibratedMeasurements,
    Measurements,
    averages,
    calibrated_of,
    cut_offs,
    measure,
    measure_calibrated,
    nodes_of,
    run_attack,
    together,
)
from unveil.questions.graph.read import NodeAttributes, values_of_people
from unveil.questions.graph.settings import GraphSettings
from unveil.report.progress import Progress, Say

_OTHER_NOTES = "Notes on releases and knowledge are those of the first repetition; later ones differ in detail."
_NOT_LOOKED_AT = (
    "The resemblance of the auxiliary graph was not tested: there are too few edges or too many nodes. If it "
    "is a graph of different people, the attacker's probabilities are wrong."
)
# What takes more CPU seconds is said beforehand.
_LONG = 30.0
_ONE_REPETITION = (
    "One repetition has no CI over repetitions. Another release or other knowledge of the attacker may give "
    "other values."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class World(AttackRecord):
    """One release, the attacker's knowledge, and the attack's random generator.

    ``truth`` is -1 for a released node that stands for nobody and -2 for one of which nothing is known.
    """

    truth: IntArray
    rng: np.random.Generator
    original: Graph | None = None
    values: tuple[IntArray, IntArray] | None = None
    notes: tuple[str, ...] = ()
    paired_by_rank: bool = False
    drawn_anew: bool = False


def run(
    original: Graph,
    protection: GraphProtection,
    attack: GraphAttack,
    settings: GraphSettings,
    *,
    protect: str,
    attributes: NodeAttributes | None,
    rng: np.random.Generator,
    progress: Progress,
    say: Say,
    notes: Sequence[str],
) -> GraphFindings:
    """Attack a graph that is protected here; see :func:`unveil.graph`.

    ``protect`` is how the protection is written.
    """
    repeat, overlap, node_share = settings.repeats, float(settings.edge_overlap), float(settings.node_overlap)

    def worlds() -> Iterator[World]:
        for number, own in enumerate(_generators(rng, repeat)):
            for_protection, for_knowledge, for_attack = own.spawn(3)
            progress("protecting", number / repeat)
            release: GraphRelease = applied(protection, original, rng=for_protection)
            if attributes is not None:
                _check_people(release)
            knowledge = draw_knowledge(
                release,
                overlap=overlap,
                seed_pairs=settings.seed_pairs,
                connected=settings.keep_connected,
                node_share=node_share,
                rng=for_knowledge,
            )
            yield World(
                released=release.released,
                knowledge=knowledge,
                truth=knowledge.in_auxiliary_numbers(release.truth),
                rng=for_attack,
                notes=(*release.notes, *knowledge.notes, *_not_heard_of(release, knowledge)),
                paired_by_rank=release.pairing == "rank",
                drawn_anew=release.kind == "synthetic",
                original=original_among(original, knowledge),
                # Drawn after all else, so that the attack is the same with and without.
                values=None if attributes is None else _values(attributes, release, knowledge, own.spawn(1)[0]),
            )

    found = _attack_all(
        attack,
        worlds(),
        repeat=repeat,
        progress=progress,
        say=say,
        calibration=_calibration(settings),
        protection=protection,
        attributes=attributes,
        graph=(original.nodes, original.edges),
        protect=protect,
        protect_settings=settings_of(protection),
        overlap=overlap,
        connected=settings.keep_connected,
        given_seeds=False,
    )
    about_values = () if attributes is None else attributes.notes
    said = _all_notes(repeat, *notes, *original.notes, *about_values, *found.notes)
    return replace(found, node_share=node_share, notes=said)


def _calibration(settings: GraphSettings) -> CalibrationSource | None:
    """Return the source of calibration data, if requested."""
    return None if settings.calibrate == "none" else cast("CalibrationSource", settings.calibrate)


def _check_people(release: GraphRelease) -> None:
    if release.kind == "synthetic":
        raise InputError(
            f"{release.name} draws a new graph, so its nodes have no original values to release. Leave the "
            "attributes out, or choose another protection"
        )


def _values(
    attributes: NodeAttributes, release: GraphRelease, knowledge: GraphKnowledge, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return the values of released nodes and of people, who have auxiliary numbers."""
    people = attributes.codes if knowledge.names is None else attributes.codes[:, knowledge.names]
    return attributes.at(release.truth, rng), people


def _not_heard_of(release: GraphRelease, knowledge: GraphKnowledge) -> Iterator[str]:
    """Yield a note if people are missing from the auxiliary graph."""
    if knowledge.names is not None:
        nodes, absent = release.original.nodes, release.original.nodes - knowledge.auxiliary.nodes
        yield (
            f"{absent:,} of {nodes:,} original nodes are missing from the auxiliary graph. A match of their "
            "released nodes counts as a false alarm, and recall leaves them out."
        )


def run_made_elsewhere(
    released: Graph,
    auxiliary: Graph,
    seeds: int | IntArray,
    truth: IntArray,
    attack: GraphAttack,
    settings: GraphSettings,
    *,
    attributes: NodeAttributes | None,
    rng: np.random.Generator,
    progress: Progress,
    say: Say,
    notes: Sequence[str],
) -> GraphFindings:
    """Attack a given release; see :mod:`unveil.questions.graph.answer`."""
    values, repeat = None, settings.repeats
    if attributes is not None:
        values = attributes.codes, values_of_people(attributes.codes, truth, auxiliary.nodes)

    def worlds() -> Iterator[World]:
        for own in _generators(rng, repeat):
            for_seeds, for_attack = own.spawn(2)
            pairs = _drawn_seeds(truth, auxiliary, seeds, for_seeds) if isinstance(seeds, int) else seeds
            knowledge = GraphKnowledge(auxiliary, pairs)
            yield World(released=released, knowledge=knowledge, truth=truth, rng=for_attack, values=values)

    found = _attack_all(
        attack,
        worlds(),
        repeat=repeat,
        progress=progress,
        say=say,
        calibration=_calibration(settings),
        protection=None,
        attributes=attributes,
        graph=None,
        protect=None,
        overlap=None,
        connected=False,
        given_seeds=not isinstance(seeds, int),
    )
    about_values = () if attributes is None else attributes.notes
    said = [
        *notes,
        *about_values,
        *released.notes,
        *auxiliary.notes,
        *found.notes,
        *_notes_on_inputs(truth, seeds, repeat),
    ]
    return replace(found, notes=_all_notes(repeat, *said))


def _attack_all(
    attack: GraphAttack,
    worlds: Iterator[World],
    *,
    repeat: int,
    progress: Progress,
    say: Say,
    calibration: CalibrationSource | None,
    protection: GraphProtection | None,
    attributes: NodeAttributes | None,
    **facts: Any,
) -> GraphFindings:
    """Run the attack on each repetition; keep only the first guess.

    ``facts`` are the fields of the findings that do not depend on the attack.
    """
    every: list[Measurements] = []
    learned: list[CalibratedMeasurements] = []
    said: list[tuple[str, ...]] = []
    kept: list[dict[str, Any]] = []
    disclosed = DisclosureTally(attack, protection, attributes)
    paired_by_rank = drawn_anew = False
    for number, world in enumerate(worlds):
        progress("attacking", (number + 0.3) / repeat)
        if number == 0:
            _say_what_it_takes(attack, world, say)
        whole, truth, targets = run_attack(attack, world.released, world.knowledge, world.truth, world.rng)
        guess = whole.only(targets)
        mended: tuple[str, ...] = ()
        better = None
        if calibration is not None:
            progress("calibrating", (number + 0.5) / repeat)
            made = calibrate(
                attack,
                protection,
                released=world.released,
                knowledge=world.knowledge,
                guess=whole,
                how=calibration,
                # What the adversary knows was drawn from the original here, or its own experiment is not done.
                check=False,
                rng=world.rng.spawn(1)[0],  # so that the attack itself is the same with and without
            )
            better = made(whole)
            learned.append(measure_calibrated(guess, better.only(targets), truth, made.facts, world.rng.spawn(1)[0]))
            mended = made.notes
        progress("measuring", (number + 0.8) / repeat)
        unknown = world.released.nodes - targets.size - np.unique(world.knowledge.seeds[:, 0]).size
        most = float(most_found(world.released, world.knowledge, world.truth).sum())
        every.append(measure(guess, truth, world.released, world.knowledge, at_most=most, unknown=unknown))
        disclosed.add(world, whole, better)
        said.append((*world.notes, *_estimates(attack, world), *_doubts(attack, whole, world), *mended))
        paired_by_rank, drawn_anew = paired_by_rank or world.paired_by_rank, drawn_anew or world.drawn_anew
        if not kept:
            nodes = nodes_of(guess, truth, world.released.degrees[targets])
            kept.append({"guess": guess, "truth": truth, "nodes": nodes})
            kept[0]["resemblance"] = _resemblance(attack, world, elsewhere=protection is None)
            if kept[0]["resemblance"] is None and protection is None:  # where it is doubtful, the first screen says so
                said[0] += (_NOT_LOOKED_AT,)
    return GraphFindings(
        attack=attack_text(attack),
        scope=next((each.scope for each in ATTACKS.values() if each.make is type(attack)), None),
        chunk=compared_at_a_time(attack),
        attack_settings=settings_of(attack),
        paired_by_rank=paired_by_rank,
        drawn_anew=drawn_anew,
        edges=disclosed.edges(),
        columns=disclosed.columns(),
        repetitions=tuple(each.repetition for each in every),
        metrics=averages(every, [each.repetition.matches.attempted == 0 for each in every]),
        calibrated=None if calibration is None else calibrated_of(calibration, learned, every),
        cut_offs=cut_offs(every),
        truth_counts=np.sum([each.truth_counts for each in every], axis=0),
        histogram=together([each.histogram for each in every]),
        notes=_notes(said),
        **kept[0],
        **facts,
    )


def _say_what_it_takes(attack: GraphAttack, world: World, say: Say) -> None:
    """Tell beforehand what a long attack takes, if it knows that."""
    needs = getattr(attack, "needs", None)
    if callable(needs):
        taken: Needs = needs(world.released, world.knowledge)
        if taken.most > _LONG:
            say(taken.sentence)


def _resemblance(attack: GraphAttack, world: World, *, elsewhere: bool) -> Resemblance | None:
    """Return the resemblance of both graphs, if the attack depends on it."""
    posterior = any(each.posterior for each in ATTACKS.values() if each.make is type(attack))
    if not (elsewhere or posterior):
        return None
    return resemblance(
        attack if posterior else None, released=world.released, knowledge=world.knowledge, rng=world.rng.spawn(1)[0]
    )


def _generators(rng: np.random.Generator, repeat: int) -> Iterator[np.random.Generator]:
    """Yield the random generator of each repetition."""
    for _ in range(repeat):
        yield rng.spawn(1)[0]


def _drawn_seeds(truth: IntArray, auxiliary: Graph, number: int, rng: np.random.Generator) -> IntArray:
    """Return a random sample of true pairs of the given size."""
    known = np.flatnonzero((truth >= 0) & (truth < auxiliary.nodes))
    if not 0 <= number <= known.size:
        raise InputError(
            f"{number} seed pairs were requested, but only {known.size} released nodes have a true match in "
            "the auxiliary graph. Request fewer"
        )
    # By the auxiliary node, so that the draw does not depend on how the release numbers its nodes.
    known = known[np.argsort(truth[known])]
    chosen = known[rng.choice(known.size, number, replace=False)] if number else known[:0]
    return np.column_stack([chosen, truth[chosen]])


def _estimates(attack: object, world: World) -> Iterator[str]:
    """Yield a note if an attack estimates centrality."""
    limit, pivots = (getattr(attack, name, None) for name in ("exact_up_to", "pivots"))
    used = any(getattr(attack, f"{name}_weight", 0) > 0 for name in ("structure", "closeness"))
    largest = max(world.released.nodes, world.knowledge.auxiliary.nodes)
    if used and isinstance(limit, int) and isinstance(pivots, int) and largest > max(limit, pivots):
        yield f"How central nodes are was estimated from {pivots:,} of up to {largest:,} nodes (exact_up_to={limit})."


def _doubts(attack: object, guess: Candidates, world: World) -> Iterator[str]:
    """Yield what the attack says against its own guess."""
    doubt = getattr(attack, "doubt", None)
    said = doubt(guess, world.released, world.knowledge) if callable(doubt) else None
    if said:
        yield said


def _all_notes(repeat: int, *notes: str) -> tuple[str, ...]:
    """Return each note once, at the end that there is no interval, where there is none."""
    return tuple(dict.fromkeys([*notes, *([_ONE_REPETITION] if repeat == 1 else [])]))


def _notes(by_repetition: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the notes of the first repetition."""
    first = dict.fromkeys(by_repetition[0])
    others = any(note not in first for notes in by_repetition for note in notes)
    return (*first, *([_OTHER_NOTES] if others else []))


def _notes_on_inputs(truth: IntArray, seeds: int | IntArray, repeat: int) -> Iterator[str]:
    nobody, unknown = int((truth == NOBODY).sum()), int((truth == UNKNOWN).sum())
    if nobody:
        stand = "stands" if nobody == 1 else "stand"
        yield (
            f"{nobody:,} of {truth.size:,} released nodes {stand} for no original node: an attempt there "
            "fails, and recall leaves them out."
        )
    if unknown:
        yield (
            f"The true match of {unknown:,} of {truth.size:,} released nodes is unknown: the attack saw them, "
            "but no result counts them."
        )
    if isinstance(seeds, int):
        return
    whose = truth[seeds[:, 0]]
    wrong = int(((whose != UNKNOWN) & (whose != seeds[:, 1])).sum())
    if wrong:
        contradict = "contradicts" if wrong == 1 else "contradict"
        yield f"{wrong:,} of {len(seeds):,} seed pairs {contradict} the truth: the attacker starts with errors."
    if repeat > 1:
        yield (
            "Graphs and seed pairs are given, so repetitions differ only in the randomness of the attack. "
            "The CIs do not cover attackers with other knowledge."
        )
