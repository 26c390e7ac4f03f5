"""The numbers of a study of given releases in rows."""

from math import isnan

from unveil.grades.releases import Order
from unveil.questions.study.releases.findings import ReleasesFindings
from unveil.questions.study.releases.words import points, rate_text, risk_text, spread_text
from unveil.report.blocks import Side, TableBlock
from unveil.report.text import percent
from unveil.report.trust import MARKS

_MOST_ROWS = 250


def cell_table(findings: ReleasesFindings) -> TableBlock:
    """Return technique and epsilon with risk and what was lost."""
    return TableBlock(
        caption="Technique and epsilon: the clearest risk, how far linking gets, and what was lost",
        columns=("technique", "epsilon", "releases", "proved", "clearest risk", "linked", "copied", "lost"),
        rows=tuple(
            (
                each.technique,
                "–" if isnan(each.epsilon) else f"{each.epsilon:g}",
                f"{each.releases:,}",
                f"{each.proved:,}",
                risk_text(each.worst),
                spread_text(each.linked),
                percent(each.copied.mean),
                spread_text(each.loss),
            )
            for each in findings.cells
        ),
        align=_sides("llrrlrrr"),
        note="The clearest risk is that of the worst release: what is beyond anybody who has not the data, with an "
        "interval for all its questions together. Linked, copied (people who stand in the release word for word) and "
        "lost are means, with intervals from drawing releases anew.",
    )


def family_table(findings: ReleasesFindings) -> TableBlock:
    """Return the techniques, those first that keep most for the least risk."""
    return TableBlock(
        caption="Techniques beside the other releases with the same columns of the same people",
        columns=(
            "technique",
            "releases",
            "proved",
            "less lost at the same risk",
            "safer than",
            "more useful than",
            "beaten in both by",
        ),
        rows=tuple(
            (
                each.technique,
                f"{each.releases:,}",
                f"{each.proved:,}",
                points(each.saves),
                *map(spread_text, (each.safer, each.more_useful, each.beaten)),
            )
            for each in findings.ranked()
        ),
        align=_sides("lrrrrrr"),
        note="Less lost at the same risk: in points of a hundred, beside what a line through loss and the logarithm of "
        "what is linked says for the same columns. The others are shares of the other releases. All with 95% intervals "
        "from drawing the releases of a technique anew. The most useful release is never beaten in both, however much "
        "it gives away.",
    )


def grade_table(findings: ReleasesFindings) -> TableBlock:
    """Return how well each figure orders releases by epsilon and by who is copied."""
    return TableBlock(
        caption="Which figures order releases",
        columns=("figure", "trust", "by epsilon", "by people copied"),
        rows=tuple(
            (each.figure, MARKS[each.verdict], _order(each.epsilon), _order(each.copied)) for each in findings.grades
        ),
        align=_sides("lllr"),
        note="The share of pairs of releases that a figure puts in the right order (a coin: 50%), with intervals from "
        "drawing groups of comparable releases anew. By epsilon: one technique, the same columns of the same people. "
        "By people copied: the same columns, and at least one person of a hundred more word for word.",
    )


def release_table(findings: ReleasesFindings) -> TableBlock:
    """Return every release, in the order of the study."""
    return TableBlock(
        caption="All releases",
        columns=("release", "technique", "epsilon", "columns", "proved", "clearest risk", "linked", "copied", "lost"),
        rows=tuple(
            (
                each.name,
                each.technique,
                "–" if isnan(each.epsilon) else f"{each.epsilon:g}",
                f"{each.columns}",
                "yes" if each.proved else "no",
                risk_text(each),
                rate_text(each.linked),
                percent(each.copied),
                percent(each.loss),
            )
            for each in findings.releases[:_MOST_ROWS]
        ),
        align=_sides("llrrllrrr"),
    )


def _order(order: Order) -> str:
    if not order.pairs:
        return "–"
    return f"{percent(order.share)} ({percent(order.low)} to {percent(order.high)}), {order.pairs:,} pairs"


def _sides(letters: str) -> tuple[Side, ...]:
    return tuple("left" if letter == "l" else "right" for letter in letters)
