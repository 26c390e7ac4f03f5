"""Attribute inference: can sensitive values be predicted?"""

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.findings import RISKS, AttackEffect, ReleaseDecision
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.results import charted, result_sentence, result_table
from unveil.report.blocks import NO_CELL, RISK_LEVELS, CellGrid, Section
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import name, percent

INFERENCE = RISKS["inference"]
#: The most rows of a map, and the fewest attempts of a row.
MOST_ROWS, _FEWEST = 15, 20
_LEVELS = (*RISK_LEVELS, "inconclusive")
_LONGEST_NAME = 24
_SIGNIFICANT = "●"


def attack_maps(
    audit: Audit,
    attacks: Sequence[str] = INFERENCE,
    *,
    rows: Literal["sensitive", "attacker"] = "sensitive",
    at_most: int | None = MOST_ROWS,
    only: Collection[str] = (),
) -> tuple[CellGrid, ...]:
    """Return a heat map per release: excess by attribute and attack.

    Rows are sorted by their largest excess. ``at_most`` None shows all. ``only`` names releases; all unless given.
    """
    several = len(audit.decision.releases) > 1
    maps = (
        _map(release, attacks, rows, at_most, several=several)
        for release in audit.decision.releases
        if release.name in (only or (release.name,))
    )
    return tuple(each for each in maps if each is not None)


def _map(
    release: ReleaseDecision,
    attacks: Sequence[str],
    by: Literal["sensitive", "attacker"],
    at_most: int | None,
    *,
    several: bool,
) -> CellGrid | None:
    worst: dict[tuple[str, str], AttackEffect] = {}
    for each in release.effects:
        row = each.sensitive if by == "sensitive" else each.attacker
        if each.attack in attacks and row and _is_shown(each):
            key = row, each.attack
            worst[key] = max(worst.get(key, each), each, key=lambda one: float(one.excess.value))
    if not worst:
        return None
    columns = [attack for attack in attacks if any(own == attack for _, own in worst)]
    names = dict.fromkeys(row for row, _ in worst)

    def largest(row: str) -> float:
        return max(float(each.excess.value) for (own, _), each in worst.items() if own == row)

    shown = sorted(names, key=lambda row: (-largest(row), row))[:at_most]
    cells = [[worst.get((row, attack)) for attack in columns] for row in shown]
    return CellGrid(
        title=f"Excess risk by {'attribute' if by == 'sensitive' else 'attacker'} and attack"
        + (f": {name(release.name, _LONGEST_NAME)}" if several else ""),
        rows=tuple(name(row, _LONGEST_NAME) for row in shown),
        columns=tuple(_title(attack) for attack in columns),
        level=np.array([[NO_CELL if each is None else _LEVELS.index(_level(each)) for each in row] for row in cells]),
        texts=tuple(tuple("" if each is None else _text(each) for each in row) for row in cells),
        tips=tuple(tuple("" if each is None else _tip(each) for each in row) for row in cells),
        levels=tuple(level.replace("_", " ") for level in _LEVELS),
        row_label="Sensitive attribute" if by == "sensitive" else "Attacker",
        column_label="Excess (points)",
        caption=_caption([each for row in cells for each in row if each is not None], len(names) - len(shown), by),
        palette="risk",
        note=f"{_SIGNIFICANT}: significant. Empty: not tested.",
    )


def _is_shown(effect: AttackEffect) -> bool:
    return (
        effect.excess.is_tested and effect.attempts >= _FEWEST and not isinstance(effect.excess.value, SuppressedNumber)
    )


def _level(effect: AttackEffect) -> str:
    return effect.level or "inconclusive"


def _title(attack: str) -> str:
    return next((each.title for each in ATTACKS.values() if each.effect == attack), attack)


def _text(effect: AttackEffect) -> str:
    points = f"{100 * effect.excess.value:.0f}".replace("-0", "0").replace("-", "−")
    return f"{points} {_SIGNIFICANT}" if effect.is_significant else points


def _tip(effect: AttackEffect) -> str:
    low, high = (f"{100 * each:.0f}".replace("-", "−") for each in (effect.excess.low, effect.excess.high))
    limits = "" if isinstance(effect.excess.low, SuppressedNumber) else f" (95% CI {low} to {high} points)"
    about = effect.sensitive or effect.attacker
    return f"{about}, {_title(effect.attack)}: excess {percent(effect.excess.value)}{limits}, {_level(effect)}".replace(
        "_", " "
    )


def _caption(effects: Sequence[AttackEffect], hidden: int, by: str) -> str:
    significant = [each for each in effects if each.is_significant]
    more = f" {hidden} more rows are in the data." if hidden else ""
    if not significant:
        return f"No excess is significant.{more}"
    worst = max(significant, key=lambda each: float(each.excess.value))
    about = worst.sensitive if by == "sensitive" else worst.attacker
    return (
        f"{name(about, _LONGEST_NAME)} stands out: {100 * worst.excess.value:.0f} points of excess risk by "
        f"{_title(worst.attack).lower()}. {_SIGNIFICANT} significant; empty: not tested.{more}"
    )


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the results on attribute inference, attribute disclosure and memorization."""
    table = result_table(
        audit, ("inference", "attribute_disclosure", "memorization"), "Attribute inference: all attributes and attacks"
    )
    if table is None:
        return None
    return Section(
        heading="Attribute inference",
        question="Can sensitive values be predicted?",
        lead=result_sentence(audit, "inference"),
        blocks=attack_maps(audit, only=charted(audit)),
        data=(table,),
    )
