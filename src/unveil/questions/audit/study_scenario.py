"""An audit as a study scenario: its results as numbers.

Studies lie below questions and find this by its name (`unveil.studies._parts`); nothing imports it.

The risk of each question is the excess over what anybody reaches without the data. With a control it is what being in
the data adds. Without one, only results that no stranger explains count: unmistakable copies, secrets guessed better
than by a learner taught by other people of the data, descriptions that single out more often than any made without the
data, and links beyond chance. The other questions have no figure then.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from unveil.metrics.trials.risk import CONFIDENCE, ExcessStatus, Rate, clopper_pearson, excess, measured
from unveil.questions.audit.answer import audit
from unveil.questions.audit.attacks import ATTACKS, GOALS, AuditAttack
from unveil.questions.audit.attacks.attack import AttackerGoal
from unveil.questions.audit.attacks.memorization import GUESSES, OTHERS, REMEMBERS
from unveil.questions.audit.decision.evidence import OF_POPULATION, release_quantities
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, Audit, AuditedRelease
from unveil.questions.audit.settings import MEASURES
from unveil.report.limits import Quantity
from unveil.report.suppressed_number import SuppressedNumber
from unveil.studies.audit_columns import COLUMNS, COMPARED, LOSS, LOST, MORE, PEOPLE, PROVED, RISK

if TYPE_CHECKING:
    from unveil.studies.existing_release import ExistingTables

_ENDS = ("", ".low", ".high")


@dataclass(frozen=True, kw_only=True)
class WholeAudit:
    """Every attack of an audit on one release, with its utility loss.

    Attributes
    ----------
    targets
        How many people of each table are attacked by expensive attacks; None is as an audit has it.
    guesses
        How many descriptions are tried in singling out.
    without
        Attacks and measures to leave out.
    """

    targets: int | None = None
    guesses: int = 1_000
    # The original is the same for many releases of a study: how bad it was is no number of a release.
    without: tuple[str, ...] = ("before",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all numbers, whichever of them a release has."""
        return _columns()

    @property
    def graded(self) -> dict[str, bool]:
        """Values that rank releases, and the direction of each.

        Ends of intervals are none, nor what strangers reach.
        """
        figures = {f"{name}.{rate}": True for name, rate in _rates() if rate not in ("naive_rate", "control_rate")}
        figures |= {name: each.more_is_worse for name, each in _values(_NOTHING).items()}
        figures |= dict.fromkeys(_means(), True)
        risks = dict.fromkeys([RISK, *(f"{RISK}.{name}" for name in GOALS)], True)
        return {**risks, **figures, **dict.fromkeys([LOSS, *LOST[:3]], False)}

    def measure(self, tables: "ExistingTables", *, rng: np.random.Generator) -> dict[str, float]:
        """Return what the audit found, as far as it is defined."""
        answer = audit(
            tables.original,
            {tables.name: tables.released},
            tables.control,
            release_type=None if tables.made is None else {tables.name: tables.made},
            attacks=[name for name in (*ATTACKS, *MEASURES) if name not in self.without],
            targets="auto" if self.targets is None else self.targets,
            predicates=self.guesses,
            threads=1,
            rng=rng,
        )
        return numbers_of(answer.findings)


_NOTHING = Audit(rows=0, columns=(), sha256=None, control_rows=None, control_sha256=None, releases=(), attacks=())


def _values(audit: Audit) -> dict[str, Quantity]:
    """Return the values of a release; a study has no population file."""
    return {name: each for name, each in release_quantities(audit).items() if name not in OF_POPULATION}


@cache
def _columns() -> tuple[str, ...]:
    asked = [f"{RISK}.{name}{end}" for name in GOALS for end in _ENDS]
    worst = [f"{RISK}{end}" for end in _ENDS]
    rates = [f"{name}.{rate}{end}" for name, rate in _rates() for end in _ENDS]
    return (*worst, *asked, *rates, *_values(_NOTHING), *_means(), *LOST, *MORE, PROVED, COMPARED)


def _attacks_on_one_table() -> Iterator[tuple[str, AuditAttack]]:
    """Yield the attacks of a study, which has no child tables."""
    return ((name, attack) for name, attack in ATTACKS.items() if not attack.needs_children)


def _rates() -> Iterator[tuple[str, str]]:
    """Yield each attack with each rate that it has."""
    for name, attack in _attacks_on_one_table():
        if not attack.distances:
            yield name, "attack_rate"
            if attack.has_chance:
                yield name, "naive_rate"
            if attack.controlled:
                yield from ((name, "control_rate"), (name, "excess_over_control"))


def _means() -> tuple[str, ...]:
    """Return values that are means over many attackers or columns."""
    attacks = _attacks_on_one_table()
    return tuple(f"{name}.mean_rate" for name, attack in attacks if attack.controlled and not attack.distances)


def numbers_of(audit: Audit) -> dict[str, float]:
    """Return the numbers of an audit of one release, by column."""
    release = audit.releases[0]
    risks = risks_of(audit, release)
    found = {f"{RISK}.{name}{end}": value for name, rate in risks.items() for end, value in _ends(rate)}
    found |= {f"{RISK}{end}": value for end, value in _ends(worst_risk(risks))}
    found |= {name: _number(each.value) for name, each in _values(audit).items()}
    found |= dict(_worst_rates(release))
    found |= {f"{each.attack}.mean_rate": each.risk.attack_rate.value for each in release.findings if each.is_mean}
    lost = release.utility
    if lost is not None:
        found |= {name: float(getattr(lost, name.partition(".")[2])) for name in LOST}
    own = audit.verdict.releases[0]
    copies = own.copies
    more: Mapping[str, float] = {
        PEOPLE: float(audit.people or audit.rows),
        COLUMNS: float(len(audit.columns)),
        "copies.expected": nan if copies is None else copies.expected,
        "copies.people_unchanged": nan if copies is None else float(copies.people_unchanged),
        "unseen_columns": float(sum(each.unseen > 0 for each in release.unseen)),
    }
    return {**found, **more, PROVED: float(bool(own.proved or own.unmistakable)), COMPARED: float(_compares(audit))}


def _worst_rates(release: AuditedRelease) -> Iterator[tuple[str, float]]:
    """Yield each attack success with its limits, at the worst attacker."""
    for name, rate in _rates():
        rates = [each.rate(rate) for each in release.of(name) if not each.is_mean and each.rate(rate).defined]
        for end, part in zip(_ENDS, ("value", "low", "high"), strict=True):
            values = [value for each in rates if not isnan(value := getattr(each, part))]
            yield f"{name}.{rate}{end}", _number(max(values, default=nan))


def _ends(rate: Rate) -> tuple[tuple[str, float], ...]:
    return tuple(zip(_ENDS, (_number(rate.value), rate.low, rate.high), strict=True))


def _number(value: float) -> float:
    """Return an exact value; NaN for bounds."""
    return nan if isinstance(value, SuppressedNumber) else float(value)


@dataclass(frozen=True, kw_only=True)
class ExcessFigure:
    """One excess over the control group, with both rates."""

    asked: AttackerGoal
    finding: AttackFinding
    #: What strangers reach; None where the finding has a control.
    strangers: Rate | None

    def rate(self, confidence: float) -> Rate:
        """Return the excess with its interval at a confidence."""
        if self.strangers is None:
            risk = self.finding.risk
            if confidence == CONFIDENCE:
                return risk.excess_over_control
            attack, control = (_at(each, confidence) for each in (risk.attack_rate, risk.control_rate))
            made = excess(attack, control)
            return Rate(risk.excess_over_control.value, made.low, made.high)
        attack, strangers = (_at(each, confidence) for each in (self.finding.risk.attack_rate, self.strangers))
        made = excess(attack, strangers)
        return Rate(excess(attack, self.strangers).value, made.low, made.high)


def _at(rate: Rate, confidence: float) -> Rate:
    """Return a rate with its CI at another confidence."""
    attempts = rate.worth or rate.tries
    return (
        clopper_pearson(rate.value * attempts, attempts, confidence=confidence) if attempts and rate.defined else rate
    )


def risks_of(audit: Audit, release: AuditedRelease) -> dict[AttackerGoal, Rate]:
    """Return the strongest excess of each criterion; NaN if undefined.

    The clearest is the one with the highest lower end. Intervals are at a confidence of 1 - 0.05 / F for all F figures
    of the release together, so that choosing among them accuses nobody by luck. Figures that are too blunt to measure
    an excess do not count.
    """
    every = [*_beyond(audit, release)]
    confidence = 1 - (1 - CONFIDENCE) / max(len(every) + 1, 1)
    found: dict[AttackerGoal, Rate] = dict.fromkeys(GOALS, UNDEFINED)
    for each in every:
        rate = each.rate(confidence)
        if measured(rate, each.strangers or each.finding.risk.control_rate) is ExcessStatus.YES:
            found[each.asked] = _clearer(found[each.asked], rate)
    copies = next((each.copies for each in audit.verdict.releases if each.name == release.name), None)
    if copies is not None and not _compares(audit):
        found["copied"] = clopper_pearson(copies.unmistakable, copies.people, confidence=confidence)
    return found


def worst_risk(risks: Mapping[AttackerGoal, Rate]) -> Rate:
    """Return the strongest of several criteria."""
    worst = UNDEFINED
    for rate in risks.values():
        worst = _clearer(worst, rate)
    return worst


def _clearer(one: Rate, other: Rate) -> Rate:
    if not one.defined or not other.defined:
        return other if other.defined else one
    return max(one, other, key=lambda each: (each.low, each.value))


def _compares(audit: Audit) -> bool:
    return audit.verdict.control.outcome in ("usable", "overlap")


def _beyond(audit: Audit, release: AuditedRelease) -> Iterator[ExcessFigure]:
    compares = _compares(audit)
    for finding in release.findings:
        attack = ATTACKS[finding.attack]
        if attack.asks is None or finding.is_mean or not finding.risk.attack_rate.defined:
            continue
        if compares and attack.controlled:
            if finding.risk.excess_over_control.defined:
                yield ExcessFigure(asked=attack.asks, finding=finding, strangers=None)
        else:
            strangers = _strangers(release, finding)
            if strangers.defined:
                yield ExcessFigure(asked=attack.asks, finding=finding, strangers=strangers)


def _strangers(release: AuditedRelease, finding: AttackFinding) -> Rate:
    """Return the theoretical baseline, where one is known."""
    most = finding.figures.get("most_by_guessing", nan)
    if not isnan(most):
        return Rate(most, most, most)
    if not ATTACKS[finding.attack].controlled:
        return finding.risk.naive_rate
    if _role(finding) in (REMEMBERS, GUESSES):
        taught = (each for each in release.of(finding.attack) if _role(each) == OTHERS)
        return next((each.risk.attack_rate for each in taught if each.secret == finding.secret), UNDEFINED)
    return UNDEFINED


def _role(finding: AttackFinding) -> str:
    return "" if finding.scenario is None else finding.scenario.name.partition(":")[0]
