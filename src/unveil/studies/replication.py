"""One replication of a scenario: what the adversary is drawn to know, the attack, and what it leaves."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks.graph.calibration import CalibrationSource, calibrate
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge, original_among
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates
from unveil.guesses.edge_claims import EdgeClaims
from unveil.guesses.trials import Trials
from unveil.protections._listing import original_edges
from unveil.studies._parts import attack_of, metrics_of, protection_of
from unveil.studies.failures import note_traceback
from unveil.studies.plan import Study
from unveil.studies.scenario import Scenario, number_text, rng
from unveil.studies.tables import draw_leaked_people, draw_table_knowledge
from unveil.studies.times import Clock


class Replication(NamedTuple):
    """The guess of an attack in one replication, and the truth about its targets.

    ``learned`` is the same guess with calibrated probabilities, None where there is none. ``also`` has other guesses
    that follow, and their truths, by what a metric is on, as far as the study measures them; ``learned_also`` those of
    calibrated probabilities.
    """

    guess: Candidates | Trials
    truth: IntArray
    learned: Candidates | None = None
    also: Mapping[str, tuple[Any, Any]] = MappingProxyType({})
    learned_also: Mapping[str, tuple[Any, Any]] = MappingProxyType({})


def attack_graph(
    study: Study, scenario: Scenario, release: Any, attack: Any, number: int, clock: Clock, folder: Path
) -> Replication:
    """Return what an attack on a graph leaves in one replication, calibrated too where the study asks for it."""
    levels = scenario.levels
    with clock.timed("knowledge"):
        knowledge = draw_knowledge(
            release,
            overlap=levels["overlap"],
            seed_pairs=int(levels["seed_pairs"]),
            node_share=levels.get("node_share", 1.0),
            rng=_knowledge_stream(study, scenario, number),
        )
    with clock.timed("attack"):
        whole = _candidates(
            attack.run(released=release.released, knowledge=knowledge, rng=_attack_stream(study, scenario, number)),
            scenario.attack,
        )
    targets = knowledge.targets(release.released)
    learned = None
    if study.calibrate is not None:
        with clock.timed("calibrate"):
            learned = _calibrated(
                study, scenario, release.released, knowledge, attack, whole, number=number, folder=folder
            )
    with clock.timed("measure"):
        also, learned_also = _also(study, scenario, release, knowledge, whole, learned)
    return Replication(
        whole.only(targets),
        knowledge.in_auxiliary_numbers(release.truth)[targets],
        None if learned is None else learned.only(targets),
        also,
        learned_also,
    )


def _also(
    study: Study,
    scenario: Scenario,
    release: GraphRelease,
    knowledge: GraphKnowledge,
    guess: Candidates,
    learned: Candidates | None,
) -> tuple[dict[str, tuple[Any, Any]], dict[str, tuple[Any, Any]]]:
    """Return what else of a replication is measured, with its truth: of the mapping, and of learned probabilities."""
    wanted = {metric.on for metric in metrics_of(study)}
    raw: dict[str, tuple[Any, Any]] = {}
    better: dict[str, tuple[Any, Any]] = {}
    if "GraphKnowledge" in wanted:
        raw["GraphKnowledge"] = (knowledge, release)
    if "EdgeClaims" in wanted:
        original, met = original_among(release.original, knowledge), {"released": release.released}
        raw["EdgeClaims"] = (EdgeClaims.from_mapping(guess, knowledge=knowledge, **met), original)
        if learned is not None:
            known = original_edges(protection_of("graph", scenario.protect))
            share = 1.0 if known is None else known
            claims = EdgeClaims.from_chances(learned, knowledge=knowledge, original_share=share, **met)
            better["EdgeClaims"] = (claims, original)
    return raw, better


def _calibrated(
    study: Study,
    scenario: Scenario,
    released: Graph,
    knowledge: GraphKnowledge,
    attack: Any,
    guess: Candidates,
    *,
    number: int,
    folder: Path,
) -> Candidates | None:
    """Return the guess with learned probabilities; None where none can be learned, and why in ``errors``."""
    try:
        learned = calibrate(
            attack,
            protection_of("graph", scenario.protect),
            released=released,
            knowledge=knowledge,
            guess=guess,
            how=cast("CalibrationSource", study.calibrate),
            draws=study.calibrate_draws,
            check=False,  # what the adversary knows is drawn from the original
            # A stream of its own, so that the attack itself is the same with and without.
            rng=rng(study.seed, "calibrate", scenario.drawn.key, number),
        )
        return learned(guess)
    except MemoryError:
        raise
    except Exception as error:  # an experiment on a graph that is too small for the protection, say: raw numbers stay
        note_traceback(folder, scenario, error)
        return None


def attack_table(
    study: Study, scenario: Scenario, release: Any, attack: Any, number: int, clock: Clock, _folder: Path
) -> Replication:
    """Return what an attack on a table leaves in one replication."""
    levels = scenario.levels
    with clock.timed("knowledge"):
        case = draw_table_knowledge(
            release,
            known_columns=levels.get("known_columns"),
            known_share=levels["known_share"],
            rng=_knowledge_stream(study, scenario, number),
        )
    with clock.timed("attack"):
        guess = attack.run(
            released=case.released, knowledge=case.knowledge, rng=_attack_stream(study, scenario, number)
        )
        guess = _candidates(guess, scenario.attack)
    drawn = guess.targets
    return Replication(guess, case.truth if drawn is None else case.truth[np.asarray(drawn, np.int64)])


def attack_people(
    study: Study, scenario: Scenario, release: Any, _attack: Any, number: int, clock: Clock, _folder: Path
) -> Replication:
    """Return the tries on people of one replication, in which a share of them leaked."""
    levels = scenario.levels
    with clock.timed("knowledge"):
        case = draw_leaked_people(
            release,
            known_columns=levels.get("known_columns"),
            leaked_share=levels.get("leaked_share", 1.0),
            rng=_knowledge_stream(study, scenario, number),
        )
    with clock.timed("attack"):
        attack = attack_of("table", scenario.attack, case.columns)
        trials: Trials = attack.run(
            released=case.released, knowledge=case.knowledge, rng=_attack_stream(study, scenario, number)
        )
    return Replication(trials, np.empty(0, np.int64))


def _knowledge_stream(study: Study, scenario: Scenario, number: int) -> np.random.Generator:
    """Return the stream of what the adversary knows: the same for every attack."""
    strength = (scenario.drawn.axis, number_text(scenario.drawn.level))
    return rng(study.seed, "knowledge", scenario.data.name, scenario.protect, *strength, number)


def _attack_stream(study: Study, scenario: Scenario, number: int) -> np.random.Generator:
    return rng(study.seed, "attack", scenario.drawn.key, number)


def _candidates(guess: object, attack: str) -> Candidates:
    if isinstance(guess, Beliefs):
        return guess.to_candidates()
    if not isinstance(guess, Candidates):
        raise InputError(
            f"an attack in a study must leave Candidates, but {attack!r} left a {type(guess).__name__}. Correct its "
            "method run"
        )
    return guess
