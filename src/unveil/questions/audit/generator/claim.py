"""How large epsilon is at least: from canaries planted by coins, or from people of two tables paired by lot."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.epsilon.bound import EpsilonBound
from unveil.metrics.epsilon.claim import Claim
from unveil.metrics.epsilon.coins import bound_of_coins, bound_of_pairs
from unveil.metrics.epsilon.power import coins_needed
from unveil.questions.audit.generator.design import Design
from unveil.questions.audit.generator.findings import EpsilonFinding
from unveil.questions.audit.inputs import PreparedAudit

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.questions.audit.findings import Audit
    from unveil.questions.audit.generator.settings import CanaryKind

#: Fewer canaries than these are compared with those of other runs: the smallest share that is tried is one of 32.
FEW_CANARIES = 32


def epsilon_from_canaries(
    releases: "Sequence[Table]",
    first: PreparedAudit,
    design: Design,
    table: "Table",
    *,
    kind: "CanaryKind",
    pairs: Sequence[tuple[str, str]] | None,
    claim: Claim | None,
    rng: np.random.Generator,
) -> EpsilonFinding:
    """Return the bound that all coins of all runs give, each guessed from the release of its run alone.

    Parameters
    ----------
    releases
        What was made in each run.
    first
        The audit of the first run; who is held out is the same in all.
    design
        Whom the generator was given, by which coins.
    table
        Everybody, with rows that are only there to be planted at the end.
    kind, pairs
        What the canaries are, and of unusual ones the columns in which each is.
    claim
        What is said of epsilon.
    rng
        Breaks ties.
    """
    scores = [_scores(each, first, design, table, pairs, rng) for each in releases]
    coins = [each.coins for each in design.runs]
    if len(design.canaries) < FEW_CANARIES:
        # So few cannot be ranked within a run, as where one person is left out or not in each of many runs.
        scores, coins = [np.concatenate(scores)], [np.concatenate(coins)]
    runs = list(zip(scores, coins, strict=True))
    if design.canaries.shape[1] == 2:
        delta = 0.0 if claim is None else claim.delta_against("replace")
        bound = bound_of_pairs([(score[:, 0], score[:, 1], coin) for score, coin in runs], rng=rng, delta=delta)
    else:
        delta = 0.0 if claim is None else claim.delta_against("add-remove")
        bound = bound_of_coins([(score[:, 0], coin) for score, coin in runs], rng=rng, delta=delta)
    bound = replace(bound, runs=len(design.runs))
    return EpsilonFinding(bound=bound, source="canaries", claim=claim, canaries=kind, needed=_needed(claim, bound))


def _scores(
    released: "Table",
    first: PreparedAudit,
    design: Design,
    table: "Table",
    pairs: Sequence[tuple[str, str]] | None,
    rng: np.random.Generator,
) -> FloatArray:
    """Return how much the release of a run looks as if each canary was in, in the shape of the canaries."""
    from unveil.attacks.table.canaries import LEAST_TEACHERS, score_canaries

    prepared, parts = first.releases[0], first.people.parts
    inside, outside = prepared.release.original, prepared.release.control
    if outside is None:
        raise ValueError("somebody is always held out")
    population, teachers = outside, None
    if parts is not None:
        population = outside.take(parts.population)
        members, others = (np.concatenate([parts.learning[side], parts.measured[side]]) for side in (0, 1))
        many = min(members.size, others.size)
        if pairs is None and many >= LEAST_TEACHERS:
            teachers = inside.take(members[:many]), outside.take(others[:many])
    found = score_canaries(
        released=released,
        canaries=table.take(design.canaries.ravel()).select(inside.column_names),
        population=population,
        columns=prepared.known + prepared.sensitive,
        rng=rng,
        pairs=pairs,
        teachers=teachers,
    )
    return found.reshape(design.canaries.shape)


def epsilon_from_tables(audit: "Audit", *, claim: Claim | None, by_lot: bool) -> EpsilonFinding | None:
    """Return the bound from people of the two tables who were measured, paired by lot.

    Where nobody was it says so of a claim, and is None without one.
    """
    every = (finding.separation for release in audit.releases for finding in release.findings)
    bound = next((each.epsilon for each in every if each is not None and each.epsilon is not None), None)
    if bound is None and claim is None:
        return None
    return EpsilonFinding(bound=bound, source="two tables", claim=claim, by_lot=by_lot, needed=_needed(claim, bound))


def _needed(claim: Claim | None, bound: EpsilonBound | None) -> int | None:
    """Return how many coins would contradict the claim where epsilon is twice as large, with the best adversary."""
    if claim is None or bound is None:
        return None
    if bound.adjacency == "replace":
        # What is claimed of adding or removing is twice as much for replacing.
        claimed = claim.epsilon * (2 if claim.adjacency == "add-remove" else 1)
        return coins_needed(claimed, 2 * claimed, design="pairs", delta=bound.delta)
    return coins_needed(claim.epsilon, 2 * claim.epsilon, design="coins", delta=bound.delta)
