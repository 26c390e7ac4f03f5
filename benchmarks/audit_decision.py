"""Audit tables and return the decision: the only place of the benchmarks that knows how to get it."""

from collections.abc import Iterator
from math import isnan, nan
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import unveil
from unveil._kernels.threads import threads
from unveil.metrics.trials.risk import clopper_pearson
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.attacks.copies import RARE
from unveil.questions.audit.decision.findings import AttackEffect, AuditDecision
from unveil.questions.audit.findings import Audit
from unveil.questions.result import Result

Line = dict[str, Any]
#: The threshold of all measurements.
THRESHOLD = 0.09


class Decided(NamedTuple):
    """The decision on an audit of one release, and what it rests on."""

    answer: Result[Audit]
    decision: AuditDecision
    effects: tuple[AttackEffect, ...]
    #: The figures of single people that can raise a level, by name.
    individuals: dict[str, float]


def decision(original: Any, released: Any, control: Any = None, *, seed: int = 0, **settings: Any) -> Decided:
    """Return the decision on a release at the threshold of all measurements."""
    asked: dict[str, Any] = {"attacks": list(ATTACKS), "threshold": THRESHOLD, **settings}
    with threads(1):
        answer = unveil.audit(original, released, control, rng=np.random.default_rng([seed, 1]), **asked)
    findings = answer.findings
    release = findings.verdict.releases[0]
    copies = next(iter(findings.releases[0].of("copies")), None)
    names = ("rare_copies", "rare_copies_expected", "rare_explained")
    rare = {} if copies is None else {name: copies.figures[name] for name in names if name in copies.figures}
    rare["rare_p"] = next((each.p_adjusted for each in release.findings if each.adversary == RARE), nan)
    groups = [each.p_adjusted for each in release.group_effects if not isnan(each.p_adjusted)]
    individuals = {"unmistakable": release.unmistakable, **rare, "group_p": min(groups, default=nan)}
    made = answer.decided
    return Decided(answer, made, made.releases[0].effects, individuals)


def line_of(original: Any, released: Any, control: Any = None, *, seed: int = 0, **settings: Any) -> Line:
    """Return what a results file keeps of the decision on a release."""
    start = perf_counter()
    decided = decision(original, released, control, seed=seed, **settings)
    made, release = decided.decision, decided.decision.releases[0]
    return {
        "seed": seed,
        "level": made.level,
        "at_most": release.at_most,
        "decision": made.decision,
        "reason": made.headline,
        "control": decided.answer.findings.verdict.control.outcome,
        "worst": None if release.worst is None else _effect(release.worst),
        "highest": _number(release.highest),
        "effects": [_effect(each) for each in decided.effects],
        **{name: _number(value) for name, value in decided.individuals.items()},
        "seconds": round(perf_counter() - start, 2),
    }


def _effect(effect: AttackEffect) -> Line:
    excess = effect.excess
    return {
        "attack": effect.attack,
        "attacker": effect.attacker,
        "sensitive": effect.sensitive,
        "attack_rate": _number(excess.attack_rate),
        "baseline": _number(excess.baseline),
        "value": _number(excess.value),
        "low": _number(excess.low),
        "high": _number(excess.high),
        "p": _number(effect.p_adjusted),
        "blocks_pass": effect.blocks_pass,
    }


def _number(value: float) -> float | None:
    """Return the number with six digits; JSON has no NaN."""
    return None if isnan(value) else round(float(value), 6)


def share(count: int, number: int) -> str:
    """Return a share with its 95 % interval of Clopper and Pearson.

    >>> share(1, 36)
    '1 of 36 (2.8 %, 0.1 to 14.5)'
    """
    if not number:
        return "none"
    rate = clopper_pearson(count, number)
    return f"{count} of {number} ({100 * rate.value:.1f} %, {100 * rate.low:.1f} to {100 * rate.high:.1f})"


def table(head: str, rows: Iterator[tuple[object, ...]]) -> str:
    """Return a table in Markdown; ``head`` names its columns with bars between."""
    names = [each.strip() for each in head.split("|")]
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
