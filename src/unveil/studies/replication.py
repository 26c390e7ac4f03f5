"""One replication of a scenario: attacker knowledge, attack, and measurements."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks.graph.calibration import CalibrationSource, calibrate
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge, original_among
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
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
from unveil.studies.times import Clock


class Replication(NamedTuple):
    """Result of an attack in one replication, and the true matches.

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
    """Return the results of a graph attack, raw and calibrated."""
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
    """Return further measured results: the mapping and learned probabilities."""
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
    """Return the calibrated guess, or None with the reason in ``errors``."""
    try:
        learned = calibrate(
            attack,
            protection_of("graph", scenario.protect),
            released=released,
            knowledge=knowledge,
            guess=guess,
            how=cast("CalibrationSource", study.calibrate),
            draws=study.calibrate_draws,
            check=False,  # what the attacker knows is drawn from the original
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
    """Return the attempts on people of one replication, with a leaked share."""
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
    """Return the random stream of attacker knowledge, shared by all attacks."""
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


class TableCase(NamedTuple):
    """Release as one attacker sees it: columns, knowledge, and true matches.

    ``truth`` numbers the rows that the attacker holds. Released rows of all others have numbers above these: their
    people are no candidates, whatever the attack does.
    """

    released: Table
    knowledge: Knowledge
    truth: IntArray


def draw_table_knowledge(
    release: Release, *, known_columns: float | None, known_share: float, rng: np.random.Generator
) -> TableCase:
    """Return the case of an attacker who knows some columns of some people.

    Parameters
    ----------
    release
        Where the original rows come from, with its truth.
    known_columns
        How many of the columns that an attacker can know and that are released, each set of that many being equally
        likely; None for all of them.
    known_share
        The share of original rows that the attacker holds, above 0 and at most 1, drawn by lot; at least one row.
    rng
        Where chance comes from.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [25, 30, 28], "town": ["Ulm", "Bonn", "Ulm"]}), name="original")
    >>> release = Release(people, people.take([2, 0, 1]), truth=np.array([2, 0, 1]))
    >>> case = draw_table_knowledge(release, known_columns=1, known_share=0.5, rng=np.random.default_rng(1))
    >>> case.knowledge.records.rows, len(case.knowledge.records.columns), sorted(case.truth.tolist())
    (2, 1, [0, 1, 2])
    """
    original, truth = release.original, _truth(release)
    names = _drawn_columns(_knowable(release), known_columns, original.name, rng)
    if not 0 < known_share <= 1:
        raise InputError(f"known_share must be above 0 and at most 1, but is {known_share!r}. Write half as 0.5")
    size = max(1, int(np.floor(known_share * original.rows + 0.5)))
    held = np.sort(rng.choice(original.rows, size, replace=False))
    number = np.full(original.rows, -1, np.int64)
    number[held] = np.arange(size)
    number[number < 0] = np.arange(size, original.rows)
    people = original.select(names)
    whole = size == original.rows
    knowledge = Knowledge(people) if whole else Knowledge(people.take(held), scale=people.extremes())
    mine = np.where(truth < 0, truth, number[np.maximum(truth, 0)])
    return TableCase(release.released.select(names), knowledge, mine)


class PeopleCase(NamedTuple):
    """Partial release with all members, as many non-members, and quasi-identifiers.

    The columns are in an order by lot, so that an attack may divide them.
    """

    released: Table
    knowledge: Knowledge
    columns: tuple[str, ...]


def draw_leaked_people(
    release: Release, *, known_columns: float | None, leaked_share: float, rng: np.random.Generator
) -> PeopleCase:
    """Return the case of an attacker facing a partial leak.

    The original rows are divided by lot into three parts of the same size: members, people who are only there to be
    released in the place of members, and the control. The release has as many rows as there are members: those of a
    share of the members, and for the rest those of the second part. So with a ``leaked_share`` of 0 it tells nothing
    about the members that it does not tell about the control, and with 1 it is the protected table of the members.

    Parameters
    ----------
    release
        Where the original rows come from, with its truth.
    known_columns
        How many of the columns that an attacker can know and that are released, each set of that many being equally
        likely; None for all of them.
    leaked_share
        The share of the members whose rows are released, from 0 to 1.
    rng
        Where chance comes from.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": range(30), "pay": range(30)}), name="original")
    >>> release = Release(people, people, truth=np.arange(30))
    >>> case = draw_leaked_people(release, known_columns=None, leaked_share=0.2, rng=np.random.default_rng(1))
    >>> members, released = (set(table.frame["age"]) for table in (case.knowledge.records, case.released))
    >>> len(released), len(members & released)
    (10, 2)
    """
    original, truth = release.original, _truth(release)
    names = _drawn_columns(_knowable(release), known_columns, original.name, rng)
    columns = tuple(names[place] for place in rng.permutation(len(names)))
    part = original.rows // 3
    if not part:
        raise InputError(
            f"the {original.name} must have at least 3 rows to be divided, but has {original.rows}. Take a larger table"
        )
    lot = rng.permutation(original.rows)
    members, others, control = (lot[place * part : (place + 1) * part] for place in range(3))
    leaked = int(np.floor(leaked_share * part + 0.5))
    shown = np.zeros(original.rows, np.bool_)
    shown[members[:leaked]] = shown[others[leaked:]] = True
    rows = np.flatnonzero((truth >= 0) & shown[np.maximum(truth, 0)])
    records, outside = (original.take(np.sort(who)) for who in (members, control))
    knowledge = Knowledge(records, replace(outside, name="control"))
    return PeopleCase(release.released.take(rows), knowledge, columns)


def _truth(release: Release) -> IntArray:
    if release.truth is None:
        raise InputError("a study needs a release with true matches, and this one has none. Use masked data")
    return release.truth


def _knowable(release: Release) -> list[str]:
    shared = set(release.released.column_names)
    return [column.name for column in release.original.columns if column.role == "known" and column.name in shared]


def _drawn_columns(can: list[str], count: float | None, table: str, rng: np.random.Generator) -> list[str]:
    if not can:
        raise InputError(f"the {table} must have a released quasi-identifier, but has none. Name some as known")
    if count is None:
        return can
    if not 1 <= count <= len(can):
        raise InputError(
            f"known_columns is {count:g}; it must be from 1 to {len(can)}, the number of quasi-identifiers of "
            f"the {table}. Lower it, or declare more quasi-identifiers"
        )
    return [can[place] for place in np.sort(rng.choice(len(can), int(count), replace=False))]
