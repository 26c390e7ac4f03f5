"""How the findings on linked records are shown: the first screen, the sections and the methods."""

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

from unveil.metrics.verdict.levels import LEVEL_WORDS
from unveil.questions.link.findings import LINKED, LinkFindings, quantities
from unveil.questions.link.sections import attackers, columns, lifetimes, people, unicity
from unveil.questions.link.words import (
    cautions,
    explanation,
    headline,
    interval,
    next_steps,
    tone,
)
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import LevelStrip, Page, TableBlock, sides
from unveil.report.figures import frame_of_rows
from unveil.report.text import about, count, decimal, name, together

if TYPE_CHECKING:
    import polars as pl

_METHOD = (
    "The score of two pseudonyms is the log Bayes factor that their records come from one person. Shared values count "
    "by their rarity, and correlated numbers are taken together. All parameters are learned without the truth.",
    "Neighboring periods are linked one to one; links with a probability above 1/2 make chains. Where pseudonyms "
    "change at their own times, each is linked to one that begins after it ends, by the time between them too. Chains "
    "are merged as long as one person is likelier than two.",
    "Records linked: draw one of a person's records; the expected share of the person's records in its profile. The "
    "mean and its interval are over people.",
    "p-values are exact: the release and the guess stay, and people are exchanged at random between the pseudonyms of "
    "a period. All statistics are tested together (step-down min-p).",
    "The level is the band of the excess over the baseline, as in an audit: very low to 5 points, low to 9, medium to "
    "33. The baseline is chance, or the pseudonym alone where that links more.",
)
_LIMITATIONS = (
    "An attacker with other knowledge may link more.",
    "Probabilities that an attacker states are not risks: compare them with what came true.",
    "Errors in the person column, such as shared cards, make linking look harder than it is.",
    "This report is evidence for a decision, not a legal determination of anonymity.",
)


def summary_table(findings: LinkFindings) -> TableBlock:
    """Return each effect with its baseline, p-value and level."""
    rows = []
    for each in findings.verdict.effects:
        mark = "●" if each.significant or each.rank_only else "○"
        p = (
            "not tested"
            if isnan(each.adjusted_p)
            else "<0.001"
            if each.adjusted_p < 0.001
            else f"{each.adjusted_p:.2g}"
        )
        excess = f"{100 * each.excess.value:.1f}" if each.excess.is_tested else "–"
        rows.append(
            (
                attackers.effect_name(each),
                about(each.success.value),
                interval(each),
                about(each.baseline),
                excess,
                p,
                f"{mark} {LEVEL_WORDS[each.level]}",
            )
        )
    return TableBlock(
        caption="Linked by attack",
        columns=("Attack", "Success", "95% CI", "Baseline", "Excess", "Adjusted p", "Level"),
        rows=tuple(rows),
        align=sides("lrrrrrl"),
        note="● significant, ○ not. Baseline: chance, or the pseudonym alone. Excess: points.",
    )


def test_table(findings: LinkFindings) -> TableBlock:
    """Return the exact tests."""
    names = {"links": "right links", "ranks": "log rank of true partners", "pairs": "right pairs in profiles"}
    rows = []
    for each in findings.verdict.tests:
        first, comma, learned = each.name.partition(",")
        rows.append(
            (
                f"{names[first]}{comma}{learned}",
                decimal(each.seen, places=1),
                decimal(each.chance, places=1),
                f"{each.p:.2g}",
                f"{each.adjusted_p:.2g}",
            )
        )
    return TableBlock(
        caption="Permutation tests",
        columns=("Statistic", "Seen", "By chance", "p", "Adjusted p"),
        rows=tuple(rows),
        align=sides("lrrrr"),
    )


def page(findings: LinkFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data."""
    several = len(lifetimes.measured(findings)) > 1
    chart = lifetimes.lifetime_chart(findings) if several else attackers.effect_chart(findings)
    level = findings.verdict.level
    strip = LevelStrip(level=level) if context.strip is None else replace(context.strip, level=level)
    sections = (each.section(findings, context) for each in (lifetimes, attackers, columns, unicity, people))
    return Page(
        title="Linked records",
        question="Can records of the same person be linked?",
        headline=headline(findings, "none" if context.strip is None else context.strip.decision),
        tone=tone(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings, has_limits=context.strip is not None),
        picture=(chart, summary_table(findings)),
        strip=strip,
        facts=(_facts(findings),),
        sections=tuple(each for each in sections if each is not None),
        method=_METHOD,
        limitations=_LIMITATIONS,
        method_data=(test_table(findings),) if findings.verdict.tests else (),
        notes=findings.notes,
        cautions=cautions(findings),
        seed=context.seed,
        holds_records=bool(findings.exposed),
        edition="internal",
    )


def _facts(findings: LinkFindings) -> str:
    history = findings.history
    parts = [
        count(history.records, "record", "records"),
        count(history.people, "person", "people"),
        count(history.pseudonyms, "pseudonym", "pseudonyms"),
    ]
    if history.periods > 1:
        parts.append(count(history.periods, "period", "periods"))
    columns = together([name(each, 30) for each in history.compared], at_most=6)
    return " · ".join((*parts, f"compared by {columns}"))


def frame(findings: LinkFindings) -> "pl.DataFrame":
    """Return one row per result: what it measures, for what, and its value with interval."""
    rows: list[dict[str, Any]] = []

    def add(result: str, of: str, value: float, low: float = float("nan"), high: float = float("nan")) -> None:
        rows.append({"result": result, "of": of, "value": value, "low": low, "high": high})

    for effect in findings.verdict.effects:
        what = "people linked" if effect.name == LINKED else "records linked"
        add(what, effect.attacker, effect.success.value, effect.success.low, effect.success.high)
        add(f"{what}, excess", effect.attacker, effect.excess.value, effect.excess.low, effect.excess.high)
    for lifetime in findings.lifetimes:
        rate = lifetime.records_linked
        add("records linked by lifetime", lifetime.lifetime, rate.value, rate.low, rate.high)
        add("pseudonym alone by lifetime", lifetime.lifetime, lifetime.linked_alone)
    for column in findings.columns:
        add("column alone", column.column, column.alone)
        add("all but column", column.column, column.all_but)
    for cell in findings.unicity:
        steps = " ".join(filter(None, (cell.time_step, cell.column, cell.step)))
        found, error = cell.unicity.unicity, cell.unicity.unicity_error
        add(f"unicity, {cell.unicity.points_known} known", steps, found, found - error, found + error)
    for group in findings.groups:
        rate = group.records_linked
        add(f"records linked by {group.group_by}", group.group, rate.value, rate.low, rate.high)
    return frame_of_rows(rows)


VIEW: QuestionView[LinkFindings] = QuestionView(
    schema="unveil.link/1",
    findings=LinkFindings,
    about="The answer of `unveil link`: whether records of the same person can be linked.",
    quantities=quantities,
    frame=frame,
    page=page,
    level=lambda findings: findings.verdict.level,
)
