"""Membership of people in the data, by two scores; it can raise an alarm and never gives an all-clear."""

from typing import Literal

import numpy as np

from unveil.ask.audit.findings import Finding, Scenario
from unveil.ask.audit.people import Drawn
from unveil.ask.audit.trials import finding_of, grouped, not_run, remarked
from unveil.attack.table.membership import Membership
from unveil.errors import InputError

_REASONS: dict[Literal["distance", "density"], str] = {
    "distance": "calls those members to whom the release comes closest",
    "density": "calls those members around whom the release is denser than people outside are",
}


def tell_members(drawn: Drawn, columns: tuple[str, ...], *, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Return how often people in the data are called members, beside people outside who are."""
    if drawn.release.control is None:
        why = "Left out: membership compares with people who are not in the data, and there is no control table."
        return (not_run("membership", why),)
    findings = []
    for method, reason in _REASONS.items():
        scenario = Scenario(name=f"by {method}", first=columns, reason=reason, origin="all")
        attack = Membership(columns=columns, method=method, targets=None)
        try:
            trials = attack.run(released=drawn.release.released, knowledge=drawn.members, rng=rng)
        except InputError as refused:
            text = str(refused)
            findings.append(not_run("membership", f"{text[:1].upper()}{text[1:].rstrip('.')}.", scenario=scenario))
            continue
        groups = grouped(trials, drawn, "told", None)
        findings.append(
            finding_of("membership", trials, scenario=scenario, remark=remarked(trials.notes), groups=groups)
        )
    return tuple(findings)
