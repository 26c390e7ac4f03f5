"""What the matches disclose about attributes of people."""

import math
from collections.abc import Iterator

import numpy as np

from unveil.questions.graph.findings import ClaimSource, GraphFindings, LearnedColumn
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, TableBlock
from unveil.report.text import about, mean_count, name, percent

_SOURCES: dict[ClaimSource, str] = {
    "mapping": "matches",
    "chances": "probabilities",
    "calibrated": "calibrated probabilities",
}


def section(findings: GraphFindings, context: PageContext) -> Section | None:
    """Return the section on disclosed attributes; None where none was released."""
    del context
    if not findings.columns:
        return None
    return Section(
        heading="Attribute disclosure",
        question="Which values does the attacker learn?",
        lead=value_sentence(findings),
        blocks=(value_chart(findings),),
        data=tuple(value_table(each) for each in findings.columns),
    )


def value_sentence(findings: GraphFindings) -> str:
    """Return in one sentence how often values are inferred: the column with the largest gain."""
    columns = best_columns(findings)
    defined = [each for each in columns if not math.isnan(each.gain.mean)]
    if not defined:
        return "No value of a person outside the seed pairs could be checked."
    best = max(defined, key=lambda each: each.gain.mean)
    which = name(best.column, 30) + ("" if len(columns) == 1 else f" (the strongest of {len(columns)} columns)")
    gain = best.mean(lambda each: each.gain.value if math.isnan(each.gain.low) else each.gain.low)
    rates = f"{about(best.accuracy.mean)} of the people, by guessing for {about(best.guessing.mean)}"
    if not gain > 0:
        return f"Values are not inferred beyond guessing: the attacker infers {which} for {rates}."
    return f"The attacker correctly infers {which} for {rates}."


def best_columns(findings: GraphFindings) -> tuple[LearnedColumn, ...]:
    """Return each column once, from probabilities if there are any."""
    return tuple({each.column: each for each in findings.columns}.values())


def value_chart(findings: GraphFindings) -> Chart:
    """Return how often values of each column are inferred correctly, compared with guessing."""
    columns = best_columns(findings)[:15]
    places = np.arange(len(columns), dtype=np.float64)
    inferred, guessed = (np.array([getattr(each, rate).mean for each in columns]) for rate in ("accuracy", "guessing"))
    ends = [np.array([getattr(each.accuracy, end) for each in columns]) for end in ("low", "high")]
    low, high = (np.where(np.isnan(end), inferred, end) for end in ends)
    return Chart(
        title="Correct values by attribute",
        x_label="share of people",
        y_label="",
        series=(
            Series(name="attack", x=inferred, y=places, style="first", kind="points", low=low, high=high),
            Series(name="guessing", x=guessed, y=places, style="second", kind="points"),
        ),
        rows=tuple(name(each.column, 30) for each in columns),
        caption="Guessing uses the auxiliary graph alone. Lines are 95% CI.",
        x_range=(0.0, 1.15),
        x_kind="share",
    )


def value_table(column: LearnedColumn) -> TableBlock:
    """Return how often each value of a column is inferred and guessed correctly, the rarest last."""

    def row(
        label: str, people: float, shares: tuple[float, float, float], ends: tuple[float, float]
    ) -> tuple[str, ...]:
        accuracy, guessing, gain = shares
        interval = "" if math.isnan(ends[0]) else f"{_points(ends[0])} to {_points(ends[1])}"
        return (label, mean_count(people), percent(accuracy), percent(guessing), _points(gain), interval)

    rates = column.accuracy.mean, column.guessing.mean, column.gain.mean
    rows = [("All", column.people, *rates, column.gain.low, column.gain.high)]
    rows += [
        (one.shown_label, one.people, one.accuracy, one.guessing, one.gain, one.low, one.high) for one in column.values
    ]
    return TableBlock(
        caption=f"{name(column.column, 40)}, inferred by {_SOURCES[column.way]}",
        columns=("Value", "People", "Attack", "Guessing", "Gain (points)", "95% CI of the gain"),
        rows=tuple(
            (
                *(label, mean_count(people), percent(accuracy), percent(guessing), _points(gain)),
                "" if math.isnan(low) else f"{_points(low)} to {_points(high)}",
            )
            for label, people, accuracy, guessing, gain, low, high in rows
        ),
        align=("left", *(("right",) * 5)),
        note=f"People outside the seed pairs whose value is known; {mean_count(column.in_release)} "
        "values come from the release, the rest are inferred.",
    )


def _points(share: float) -> str:
    """Return a difference of shares in percentage points.

    >>> _points(0.123), _points(-0.02)
    ('+12.3', '−2.0')
    """
    return "undefined" if math.isnan(share) else f"{100 * share:+.1f}".replace("-", "−")


def method(findings: GraphFindings) -> Iterator[str]:
    """Yield how values are inferred and guessed."""
    if findings.columns:
        yield (
            "Attributes: a person gets the value of the matched nodes, weighted by probability if there are several. "
            "If all candidates share a value, it is disclosed without a correct match. Nodes without a true match get "
            "random values. Guessing takes the most common value among known neighbors, else the most common of all. "
            "With one repetition, the CI takes people as independent."
        )
