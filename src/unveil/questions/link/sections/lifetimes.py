"""Pseudonym lifetime: how many records are linked by how long a pseudonym lives."""

from itertools import pairwise

import numpy as np

from unveil.questions.link.findings import LifetimeResult, LinkFindings
from unveil.questions.link.words import lifetime_words
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, TableBlock, sides
from unveil.report.text import about, count, percent


def section(findings: LinkFindings, context: PageContext) -> Section | None:
    """Return the results by lifetime; None for a single one."""
    del context
    attacked = measured(findings)
    if len(findings.lifetimes) < 2 or len(attacked) < 2:
        return None
    first, last = attacked[0], attacked[-1]
    lead = (
        f"Records linked go from {about(first.records_linked.value)} at {lifetime_words(first.lifetime)} to "
        f"{about(last.records_linked.value)} at {lifetime_words(last.lifetime)}.{_cliff(attacked)}"
    )
    return Section(
        heading="Pseudonym lifetime",
        question="How long may a pseudonym live?",
        lead=lead,
        blocks=(),
        data=(_table(findings),),
    )


def measured(findings: LinkFindings) -> list[LifetimeResult]:
    """Return the lifetimes that were attacked."""
    return [each for each in findings.lifetimes if not each.why]


def lifetime_chart(findings: LinkFindings) -> Chart:
    """Return the records linked against the lifetime, above those linked by the pseudonym alone."""
    attacked = measured(findings)
    place = np.arange(len(attacked), dtype=np.float64)
    rates = [each.records_linked for each in attacked]
    worst = max(attacked, key=lambda each: each.records_linked.value - each.linked_alone)
    return Chart(
        title="Records linked by pseudonym lifetime",
        x_label="lifetime of a pseudonym",
        y_label="share of a person's records",
        series=(
            Series(
                name="attacker",
                x=place,
                y=np.array([rate.value for rate in rates]),
                low=np.array([rate.low for rate in rates]),
                high=np.array([rate.high for rate in rates]),
                style="first",
            ),
            Series(
                name="pseudonym alone",
                x=place,
                y=np.array([each.linked_alone for each in attacked]),
                style="second",
            ),
        ),
        caption=(
            f"The attacker adds most at {lifetime_words(worst.lifetime)}: "
            f"{about(worst.records_linked.value)} linked, {about(worst.linked_alone)} by the pseudonym alone."
        ),
        x_range=(0.0, float(max(1, len(attacked) - 1))),
        x_names=tuple((float(at), lifetime_words(each.lifetime)) for at, each in enumerate(attacked)),
    )


def _cliff(attacked: list[LifetimeResult]) -> str:
    """Return where the excess over the pseudonym alone rises most."""
    excess = [each.records_linked.value - each.linked_alone for each in attacked]
    rise = [after - before for before, after in pairwise(excess)]
    most = max(range(len(rise)), key=rise.__getitem__, default=-1)
    if most < 0 or rise[most] <= 0:
        return ""
    one, other = (lifetime_words(attacked[at].lifetime) for at in (most, most + 1))
    return f" The steepest rise is from {one} to {other}."


def _table(findings: LinkFindings) -> TableBlock:
    return TableBlock(
        caption="Records linked by pseudonym lifetime",
        columns=("Lifetime", "Pseudonyms", "Pseudonym alone", "Records linked (95% CI)", "Own share", "80% linked"),
        rows=tuple(_row(each) for each in findings.lifetimes),
        align=sides("lrrrrr"),
        note="Own share: part of the attacker's profile that is the person's. 80% linked: people with at least 80% of "
        "their records linked.",
    )


def _row(result: LifetimeResult) -> tuple[str, ...]:
    words = lifetime_words(result.lifetime)
    if result.why:
        return (words, "", "", f"not attacked: {result.why}", "", "")
    rate = result.records_linked
    return (
        words,
        count(result.pseudonyms),
        percent(result.linked_alone),
        f"{percent(rate.value)} ({percent(rate.low).removesuffix('%')}–{percent(rate.high)})",
        percent(result.own_share.value),
        percent(result.mostly_linked),
    )
