"""The chart of risks: where bars, dots and limits lie, what is not drawn, and that nothing withheld has a position."""

import re
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest

from tests.report.test_page import Reader, policy_of, small
from unveil.errors import InputError
from unveil.report.blocks import RISK_LEVELS, LevelStrip, Page, RiskChartRow, RiskSummary, risk_chart, risk_table
from unveil.report.page import render
from unveil.report.svg.risks import excess_mark, success_bar

HOSTILE = '<script>alert(1)</script>"><b>'
LINKED = RiskChartRow(
    risk="Linkability", attack="a | b", success=0.84, baseline=0.2, excess=0.64, low=0.58, high=0.66,
    cells=("84%", "20%", "64 (58, 66)", "<0.001", "● high"), significant=True, level="high",
)  # fmt: skip
UNTESTED = RiskChartRow(
    risk="Membership", attack="", success=0.7, cells=("70%", "–", "not tested: <b>why</b>", "–", "–"), tested=False
)
WITHHELD = RiskChartRow(
    risk="Inference",
    attack="",
    cells=("not shown", "not shown", "not shown", "–", "● low"),
    significant=True,
    level="low",
)
#: What would tell a reader of the page a number: places, lengths and data, but for the bands and lines of each row.
NUMBERS = re.compile(r'class="risk-(?:bar|tick|dot|limits)[^>]*>|data-(?:low|high)="(?!nan")[^"]*"')


def summary(*rows: RiskChartRow, **more: Any) -> RiskSummary:
    return RiskSummary(title="Risks", rows=rows, **more)


def page_of(*rows: RiskChartRow, **more: Any) -> Page:
    return small(strip=LevelStrip(level="high"), picture=(summary(*rows, **more),))


def rows_of(html: str) -> list[str]:
    """Return the rows of the chart as HTML."""
    return re.findall(r'<tr role="row".*?</tr>', html.partition("<tbody")[2].partition("</tbody>")[0], re.DOTALL)


def place(excess: float) -> float:
    """Return where the axis from −10 to 100 points has an excess, in percent of its width."""
    return 100 * (min(max(excess, -0.1), 1.0) + 0.1) / 1.1


def attribute(svg: str, kind: str, name: str) -> float:
    (tag,) = re.findall(rf'<\w+ class="{kind}"[^>]*>', svg)
    (value,) = re.findall(rf'{name}="([\d.-]+)%?"', tag)
    return float(value)


@pytest.mark.parametrize("success", [0.0, 0.001, 0.84, 1.0])
def test_the_bar_is_as_long_as_the_attack_succeeds_and_never_invisible(success: float) -> None:
    svg = success_bar(replace(LINKED, success=success))
    assert attribute(svg, "risk-bar", "width") == pytest.approx(max(100 * success, 0.4))


@pytest.mark.parametrize(
    ("kind", "style"), [("control", "control"), ("chance", "baseline"), ("theoretical", "baseline")]
)
def test_the_tick_is_at_the_baseline_and_told_apart_by_its_kind(kind: str, style: str) -> None:
    svg = success_bar(replace(LINKED, baseline_kind=kind))
    assert attribute(svg, f"risk-tick {style}", "x1") == attribute(svg, f"risk-tick {style}", "x2") == 20
    assert f"{kind} 20%" in svg
    assert "risk-tick" not in success_bar(replace(LINKED, baseline=nan))


@pytest.mark.parametrize(
    ("low", "high", "arrows"),
    [(0.58, 0.66, 0), (-0.1, 1.0, 0), (-0.3, 0.2, 1), (0.5, 1.2, 1), (-0.3, 1.2, 2), (nan, nan, 0)],
)
def test_limits_that_leave_the_axis_end_in_arrows(low: float, high: float, arrows: int) -> None:
    svg = excess_mark(replace(LINKED, low=low, high=high), None)
    assert svg.count('<path class="risk-limits"') == arrows
    if np.isnan(low):
        assert 'line class="risk-limits"' not in svg
        return
    (line,) = re.findall(r'<line class="risk-limits"[^>]*>', svg)
    ends = [float(each) for each in re.findall(r'x[12]="([\d.]+)%"', line)]
    assert ends == pytest.approx([place(low), place(high)], abs=0.006)


@pytest.mark.parametrize(("excess", "significant"), [(0.64, True), (0.64, False), (-0.5, False), (nan, True)])
def test_the_dot_is_at_the_excess_filled_if_significant(excess: float, significant: bool) -> None:
    svg = excess_mark(replace(LINKED, excess=excess, significant=significant), None)
    if np.isnan(excess):
        assert "risk-dot" not in svg
        return
    state = "filled" if significant else "hollow"
    assert attribute(svg, f"risk-dot {state}", "cx") == pytest.approx(place(excess), abs=0.006)


@pytest.mark.parametrize("threshold", [0.0, 0.09, 0.5, None])
def test_the_threshold_is_a_line_in_each_tested_row(threshold: float | None) -> None:
    html = render(page_of(LINKED, WITHHELD, UNTESTED, threshold=threshold))
    lines = re.findall(r'<line class="risk-threshold" x1="([\d.]+)%"', html)
    assert [float(each) for each in lines] == (
        [] if threshold is None else pytest.approx([place(threshold)] * 2, abs=0.006)
    )
    assert f'value="{9 if threshold is None else round(100 * threshold)}"' in html


def test_bands_meet_at_the_bounds_of_the_levels() -> None:
    bands = re.findall(r'class="band-\d" x="([\d.]+)%" y="0" width="([\d.]+)%"', excess_mark(LINKED, None))
    starts = [float(start) for start, _ in bands]
    assert starts == pytest.approx([place(each) for each in (0, 0.05, 0.09, 0.33)], abs=0.006)
    assert [start + float(width) for start, (_, width) in zip(starts, bands, strict=True)] == pytest.approx(
        [*starts[1:], 100], abs=0.02
    )


def test_a_row_that_was_not_tested_says_why_and_has_no_limits() -> None:
    (row,) = rows_of(render(page_of(UNTESTED)))
    assert "&lt;b&gt;why&lt;/b&gt;" in row
    assert not re.search("data-low|data-high|risk-dot|risk-limits|band-", row)
    assert attribute(row, "risk-bar", "width") == 70
    assert 'class="preview"' not in render(page_of(UNTESTED))


def test_nothing_of_a_withheld_number_is_in_any_attribute() -> None:
    html = render(page_of(WITHHELD, LINKED))
    withheld, shown = rows_of(html)
    assert NUMBERS.findall(withheld) == []
    assert len(NUMBERS.findall(shown)) == 6
    # Rows with and without a number differ in the words alone for a screen reader.
    assert "excess not shown, low." in withheld
    # What was filled in for one number is what is filled in for each.
    assert rows_of(render(page_of(replace(WITHHELD, level="low"))))[0] == withheld


def test_a_bounded_row_states_its_words_and_draws_nothing() -> None:
    bounded = replace(LINKED, success=nan, low=nan, high=nan, cells=("less than 2.2%", "20%", "3", "–", "○ low"))
    (row,) = rows_of(render(page_of(bounded)))
    assert "less than 2.2%" in row
    assert not re.search("risk-bar|risk-limits", row)
    assert (row.count('data-low="nan"'), row.count('data-high="nan"')) == (1, 1)


def test_names_are_escaped_and_the_policy_is_no_weaker() -> None:
    bad = replace(LINKED, risk=HOSTILE, attack=HOSTILE, cells=(HOSTILE,) * 5)
    html = render(page_of(bad, note=HOSTILE, caption=HOSTILE, individuals=(HOSTILE, "high")))
    reader = Reader(html)
    assert reader.open == []
    assert (len(reader.all("script")), reader.all("b")) == (1, [])
    for _, attributes in reader.elements:
        assert not [key for key in attributes if key == "style" or key.startswith("on")]
    assert policy_of(html) == policy_of(render(page_of(LINKED)))


def test_the_chart_is_a_table_that_can_be_read_by_ear() -> None:
    reader = Reader(render(page_of(LINKED, UNTESTED, individuals=("26 people are copied", "medium"))))
    (table,) = (each for each in reader.all("table") if each.get("class") == "risk-rows")
    assert table["aria-labelledby"] in {attributes.get("id") for _, attributes in reader.elements}
    assert [each["scope"] for each in reader.all("th")] == ["col"] * 7 + ["row"] * 3
    for svg in (each for each in reader.all("svg") if each.get("class") == "risk"):
        assert svg.get("aria-label") or svg.get("aria-hidden") == "true"
    names = [each["id"] for _, each in reader.elements if "id" in each]
    assert len(names) == len(set(names))
    # Levels have a word and a mark, so that no color is needed.
    assert "● high" in reader.text_of("span")


def test_the_same_numbers_are_a_table_of_text_and_a_chart() -> None:
    table = risk_table(summary(LINKED, UNTESTED, individuals=("26 people are copied", "medium")))
    assert table.rows[0] == ("Linkability: a | b", *LINKED.cells)
    assert table.rows[1] == ("Membership", *UNTESTED.cells)
    assert table.rows[2] == ("Individuals: 26 people are copied", "", "", "", "", "medium")
    assert all(len(row) == len(table.columns) == len(table.align) for row in table.rows)
    chart = risk_chart(summary(LINKED, UNTESTED, threshold=0.09))
    assert chart is not None
    (series,) = chart.series
    np.testing.assert_array_equal(series.x, [0.64, nan])
    np.testing.assert_array_equal(series.low, [0.58, nan])
    assert chart.rows == ("Linkability", "Membership")
    assert [each.value for each in chart.thresholds] == [0.09]
    assert risk_chart(summary(UNTESTED, WITHHELD)) is None


@pytest.mark.parametrize("level", ["", "inconclusive", *RISK_LEVELS])
def test_levels_are_those_of_the_scale(level: str) -> None:
    assert f'class="level {level or "untested"}"' in render(page_of(replace(LINKED, level=level)))
    with pytest.raises(InputError, match="'moderate'"):
        replace(LINKED, level="moderate")
