"""Membership of people in the data, by two scores; it can raise an alarm and never gives an all-clear."""

from typing import Literal

from unveil.ask.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.ask.audit.findings import Finding, Scenario
from unveil.ask.audit.trials import finding_of, grouped, not_run, remarked
from unveil.ask.audit.words import percent_of
from unveil.errors import InputError

_REASONS: dict[Literal["distance", "density"], str] = {
    "distance": "calls those members to whom the release comes closest",
    "density": "calls those members around whom the release is denser than people outside are",
}


def run(attacked: AttackedRelease) -> tuple[Finding, ...]:
    """Return how often people in the data are called members, beside people outside who are."""
    from unveil.attack.table.membership import Membership

    prepared, drawn = attacked.prepared, attacked.drawn
    if prepared.release.control is None:
        why = "Left out: membership compares with people who are not in the data, and there is no control table."
        return (not_run(attacked.attack, why),)
    columns = prepared.known + prepared.sensitive
    findings = []
    for method, reason in _REASONS.items():
        scenario = Scenario(name=f"by {method}", first=columns, reason=reason, origin="all")
        attack = Membership(columns=columns, method=method, targets=None)
        try:
            trials = attack.run(released=prepared.release.released, knowledge=drawn.members, rng=attacked.rng)
        except InputError as refused:
            findings.append(not_run(attacked.attack, remarked([str(refused)]), scenario=scenario))
            continue
        groups = grouped(trials, drawn, "told", None)
        findings.append(
            finding_of(attacked.attack, trials, scenario=scenario, remark=remarked(trials.notes), groups=groups)
        )
    return tuple(findings)


def _meaning(finding: Finding) -> str:
    share = percent_of(finding.risk.attack_rate, "people in the data")
    return f"Whoever holds a person's record calls {share} members of the data, rightly."


def _headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "people in the data")
    return f"{which} lets anyone who holds a record tell that its person is in the data for {share}"


ATTACK = AuditAttack(
    name="membership",
    run=run,
    title="Membership",
    question="Membership: can it be told who is in the data?",
    lead=(
        "Somebody holds a person's record and asks whether it was among the data, because the release lies closer to "
        "it than to people outside. Being in the data can itself be a secret, as in a study of a disease. This can "
        "raise an alarm; it never gives an all-clear."
    ),
    about=(
        "Membership: the threshold is set on one part of the control table so that a small share of people outside "
        "would be called members, and the attack is tried on people in the data and on the other part."
    ),
    meaning=_meaning,
    headline=_headline,
    x_label="share of people called members",
    caption="People outside the data who are called members are false alarms of the adversary.",
    needs_control=True,
    proves_people=True,
)
