"""What a source asks for, clause by clause, and what answers it: figures, a part of the report, or nothing here."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

from unveil.report.blocks import TableBlock
from unveil.report.limits import Quantity
from unveil.report.profiles import Clause, Profile
from unveil.report.text import decimal, name

if TYPE_CHECKING:
    from unveil.metrics.trials.risk import Rate

NOT_BY_THIS_TOOL = "not by this tool"


@dataclass(frozen=True, kw_only=True)
class ClauseAnswer:
    """One clause with the figure that answers it in each release; no figure where none fits."""

    clause: Clause
    figure: str
    found: "Mapping[str, Rate]"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "where": self.clause.where,
            "asks": self.clause.asks,
            "answered_by": self.figure or self.clause.part or None,
            "found": {which: {"value": r.value, "low": r.low, "high": r.high} for which, r in self.found.items()},
        }


def answers_to(profile: Profile, releases: Mapping[str, Mapping[str, Quantity]]) -> tuple[ClauseAnswer, ...]:
    """Return what answers each clause of a profile; a figure that was not measured is undefined.

    >>> from unveil.report.profiles import profile
    >>> [each.figure for each in answers_to(profile("cell-3"), {})]
    ['disclosure.k_anonymity', 'disclosure.highest_risk', '']
    """
    return tuple(
        ClauseAnswer(
            clause=clause,
            figure=figure,
            found={which: _rate(own.get(figure)) for which, own in releases.items()} if figure else {},
        )
        for clause in profile.clauses
        for figure in clause.figures or ("",)
    )


def _rate(quantity: Quantity | None) -> "Rate":
    from unveil.metrics.trials.risk import CONFIDENCE, Rate

    if quantity is None:
        return Rate(nan, nan, nan)
    if quantity.evidence is None:
        return Rate(quantity.value, quantity.value, quantity.value)
    ends = quantity.evidence.interval(CONFIDENCE)
    return Rate(quantity.value, ends.low, ends.high)


def clause_table(answers: tuple[ClauseAnswer, ...]) -> TableBlock:
    """Return clause, what it asks, what answers it, and what was found in each release; repeated texts stand once."""
    several = len({which for each in answers for which in each.found}) > 1
    rows, before = [], None
    for each in answers:
        asked = (each.clause.where, each.clause.asks) if each.clause is not before else ("", "")
        texts = [f"{name(which, 40)}: {_text(rate)}" if several else _text(rate) for which, rate in each.found.items()]
        rows.append((*asked, each.figure or each.clause.part or NOT_BY_THIS_TOOL, "; ".join(texts)))
        before = each.clause
    return TableBlock(
        caption="What the source asks, and what answers it",
        columns=("Where", "What it asks, in our words", "Answered by", "Found"),
        rows=tuple(rows),
        align=("left",) * 4,
        note="Figures have their 95% interval behind them. What is answered in words is as good as what was written.",
        prose=True,
    )


def _text(rate: "Rate") -> str:
    if not rate.defined:
        return "not measured"
    if rate.low == rate.high or rate.low != rate.low:
        return decimal(rate.value)
    return f"{decimal(rate.value)} ({decimal(rate.low)} to {decimal(rate.high)})"
