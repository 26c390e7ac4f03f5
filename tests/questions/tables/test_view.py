"""Sentences about published counts, each beside a table in which it is true."""

from dataclasses import replace

import polars as pl
import pytest

import unveil
from tests.approved.sentences import Approved
from unveil.data.counts import Rounding
from unveil.questions.tables.findings import StepFindings, TablesFindings
from unveil.questions.tables.sections.derivations import sum_text
from unveil.questions.tables.view import (
    TablesContext,
    explanation,
    headline,
    narrowest,
    next_steps,
    page,
    profile_outcome,
    quantities,
    shared_page,
    summary_table,
    tone,
)
from unveil.report.blocks import Chart, NextStep


def found(counts: list[str], **settings: object) -> TablesFindings:
    wards = [f"w{at}" for at in range(len(counts) - 1)]
    return unveil.tables({"ward": [*wards, "Total"], "count": counts}, **settings).findings  # type: ignore[arg-type]


def shared(findings: TablesFindings) -> list[str]:
    """Return the sentences of the first screen of the shareable edition."""
    made = shared_page(findings, TablesContext())
    return [made.headline, *made.explanation]


def test_two_readings_that_differ_are_both_stated(approved: Approved) -> None:
    # 3 people in 3 hidden wards: whoever knows that zeros are shown knows that each has one.
    given = found(["*", "*", "*", "9", "12"])
    approved(headline(given))
    approved(explanation(given))
    assert explanation(given)[1].endswith("does not know the suppression rule recovers 0.")


def test_one_person_is_said_as_one(approved: Approved) -> None:
    given = found(["*", "9", "10"])
    approved(headline(given))
    approved(explanation(given)[0])
    assert tone(given) == "bad"


def test_the_summary_counts_the_cells() -> None:
    given = found(["*", "9", "10"])
    rows = {label: text for label, text in summary_table(given).rows}  # noqa: C416 - typed
    assert (rows["Published"], rows["Suppressed"], rows["Recovered exactly"]) == ("3", "1", "1")
    assert rows["Small cells revealed (1 to 4)"] == "1"


def test_the_narrowest_interval_is_in_the_headline_where_nothing_is_recovered() -> None:
    given = found(["*", "*", "9", "40"])
    width = min((given.frame["high"] - given.frame["low"] + 1).to_list())
    assert headline(given).endswith(f"the narrowest interval has {width} values.")
    assert narrowest(found(["3", "9", "12"])) == 0


def test_a_large_count_that_is_worked_out_is_a_warning() -> None:
    given = found(["*", "9", "100"])
    assert tone(given) == "warning"
    assert not any("small count" in sentence for sentence in explanation(given))


def test_rounded_counts_are_called_so() -> None:
    given = found(["5", "10", "15"], rounding=Rounding(base=5))
    assert tone(given) == "good"


def test_shown_small_counts_are_in_the_headline_where_nothing_else_is_found(approved: Approved) -> None:
    alone = found(["3", "9", "12"])
    approved(headline(alone))
    assert tone(alone) == "warning"
    assert [step.option for step in next_steps(alone) if isinstance(step, NextStep)] == [
        "--suppress FILE",
        "--profile cell-11",
    ]
    beside = found(["*", "*", "2", "3", "40"])
    approved(headline(beside))


def test_the_profile_is_judged_on_both_pages(approved: Approved) -> None:
    broken = found(["*", "2", "9", "14"], profile="cell-5")
    approved(explanation(broken)[0])
    assert shared(broken)[1].startswith("Profile cell-5 fails: ")
    shown = found(["3", "9", "12"], profile="cell-5")
    assert tone(shown) == "bad"
    approved(shared(shown)[0])
    kept = found(["*", "*", "9", "40"], profile="cell-5")
    assert explanation(kept)[0].startswith("Profile cell-5 passes: ")
    assert shared(kept)[1].startswith("Profile cell-5 passes: ")


def test_the_microdata_are_mentioned() -> None:
    people = pl.DataFrame({"ward": ["w0"] * 3 + ["w1"] * 9})
    assert "The microdata confirm every interval." in page(found(["*", "9", "12"], microdata=people)).method
    assert "The microdata confirm every interval." not in page(found(["*", "9", "12"])).method


def test_what_was_not_settled_is_no_pass() -> None:
    given = found(["*", "*", "9", "40"], solver_steps=1, profile="cell-5")
    assert given.figures.undecided
    assert profile_outcome(given)[0] is None
    settled = quantities(given)["small_cells_recovered"]
    assert settled.high > settled.value
    assert any("not settled" in sentence for sentence in explanation(given))
    assert headline(given).endswith("not settled.")


def test_tables_without_their_common_detail_say_so() -> None:
    given = replace(found(["*", "9", "10"]), is_whole=False, needed=3_100_000)
    assert any("needs 3,100,000 cells" in sentence for sentence in explanation(given))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (StepFindings(cell="a", count=5, kind="shown"), "another table shows it: 5"),
        (
            StepFindings(cell="a", count=3, kind="sum", terms=((1, "b", 9, False), (-1, "c", 6, True))),
            "(b) − (c)* = 9 − 6 = 3; * recovered above",
        ),
        (
            StepFindings(
                cell="a", count=2, kind="sum", terms=((1, "b", 20, False), *((-1, "c", 2, False),) * 9)
            ),
            "(b) less 9 other counts = 20 − 18 = 2",
        ),
        (StepFindings(cell="a", count=1, kind="combined", terms=((2, "b", 1, False), (-1, "c", 1, False))),
         "2 × (b) − (c) = 2 × 1 − 1 = 1"),
    ],
)  # fmt: skip
def test_sums_can_be_followed(step: StepFindings, said: str) -> None:
    assert sum_text(step) == said


def test_the_picture_holds_what_is_known_of_each_cell() -> None:
    table = pl.DataFrame(
        {"ward": ["N", "S", "Total"], "f": ["3", "*", "*"], "m": ["4", "*", "9"], "Total": ["7", "8", "15"]}
    )
    given = unveil.tables(table, wide="sex").findings
    grid = page(given).picture[0]
    assert grid.texts == (("3", "4", "7"), ("3", "5", "8"), ("6", "9", "15"))  # type: ignore[union-attr]
    assert grid.level.tolist() == [[0, 0, 0], [3, 3, 0], [3, 0, 0]]  # type: ignore[union-attr]


def test_intervals_are_drawn_from_the_narrowest_on() -> None:
    findings = found(["*", "*", "12", "20"], suppressed=["*=1..9"])
    (section,) = (each for each in page(findings).sections if each.heading == "Feasibility intervals")
    (chart,) = section.blocks
    assert isinstance(chart, Chart)
    (series,) = chart.series
    assert series.low is not None
    assert series.high is not None
    assert series.labels == ("1–7", "1–7")
    assert (series.low.tolist(), series.high.tolist()) == ([1, 1], [7, 7])
    assert [threshold.value for threshold in chart.thresholds] == [5]
    assert all(each.heading != "Feasibility intervals" for each in page(found(["3", "*", "10"])).sections)
