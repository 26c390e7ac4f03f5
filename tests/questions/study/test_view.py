"""What is said and drawn of a study: the headline, pictures on one scale, tables, and a page below 1 MB."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.report.test_page import Reader
from unveil.questions.study.findings import AttackCost, Effect, Failures, StudyFindings
from unveil.questions.study.run import effects_of
from unveil.questions.study.sections.strength import (
    MOST_CHARTS,
    effect_table,
    main_chart,
    mean_table,
    mean_tables,
    mean_text,
    strength_charts,
)
from unveil.questions.study.status import computed, tone
from unveil.questions.study.view import explanation, failure_table, headline, page, time_table
from unveil.report.page import render
from unveil.report.svg.lines import svg
from unveil.report.text import duration, labels, percent
from unveil.studies import Axis, DataSet, Replications, Study
from unveil.studies.results import Counts

SUCCESS = "adversary_overall_success"
ATTACKS = ("NS", "KL:theta=1", "YG")


def mean_of(data: int, protect: int, attack: int, level: int) -> float:
    """Return a mean that tells which scenario it belongs to."""
    return (data + 2 * protect + 3 * attack + 5 * level) / 1000


def findings(
    *,
    data: int = 1,
    protections: int = 2,
    attacks: tuple[str, ...] = ATTACKS,
    axes: tuple[Axis, ...] = (Axis("seed_pairs", (5, 10, 50)),),
    metrics: tuple[str, ...] = (SUCCESS,),
    without: frozenset[tuple[str, str]] = frozenset(),
    **changes: Any,
) -> StudyFindings:
    """Return what a study found whose means are planted; ``without`` are protections and attacks that failed."""
    plan = Study(
        name="planted",
        seed=1,
        data=tuple(DataSet(f"data{n}", "graph", "x") for n in range(data)),
        protections=tuple(f"p{n}" for n in range(protections)),
        attacks=attacks,
        axes=axes,
        replications=Replications(number=4),
    )
    rows = [
        (f"data{d}", f"p{p}", text, axis.name, level, metric, 4, 0, mean, 0.01, mean - 0.02, mean + 0.02, 0.1)
        for d, p, (a, text), axis, metric in itertools.product(
            range(data), range(protections), enumerate(attacks), axes, metrics
        )
        if (f"p{p}", text) not in without
        for place, level in enumerate(axis.levels)
        for mean in [mean_of(d, p, a, place)]
    ]
    names = "data protect attack axis level metric replications undefined mean standard_error low high relative_error"
    total = len(plan.scenarios())
    fine = len(rows) // len(metrics)
    told: dict[str, Any] = {
        "study": plan,
        "folder": "out",
        "version": "1.2.3",
        "counts": Counts(total=total, fine=fine, failed=total - fine, damaged=0, missing=0),
        "replications": 4 * fine,
        "metrics": metrics,
        "summary": pl.DataFrame(rows, schema=names.split(), orient="row"),
        "results": None,
    }
    found = StudyFindings(**{**told, **changes})
    return found if "effects" in changes else replace(found, effects=effects_of(found))


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((1, 1, 0, 0, 0), "The only scenario is computed, and none failed."),
        ((8, 8, 0, 0, 0), "All 8 scenarios are computed, and none failed."),
        ((8, 1, 7, 0, 0), "1 of 8 scenarios is computed; 7 failed."),
        ((8, 5, 1, 1, 1), "5 of 8 scenarios are computed; 1 failed, 1 is damaged and 1 is missing."),
        ((2000, 0, 0, 2, 1998), "0 of 2,000 scenarios are computed; 2 are damaged and 1,998 are missing."),
    ],
)
def test_what_is_computed_is_counted(counts: tuple[int, ...], said: str) -> None:
    total, fine, failed, damaged, missing = counts
    found = Counts(total=total, fine=fine, failed=failed, damaged=damaged, missing=missing)
    assert computed(found) == said
    assert tone(found) == ("neutral" if fine == total else "warning")
    about = findings(counts=found, folder="my study")
    options = " ".join(getattr(step, "option", "") for step in page(about).next_steps)
    assert ("--resume" in options) == (fine < total)
    assert ("'my study'" in options) == (fine > 0 or fine < total)
    assert (said in explanation(about)) == (0 < fine < total)


def left(*figures: tuple[str, str, float, float], **changes: Any) -> StudyFindings:
    """Return a study by what attacks reach: the protection, the attack, the mean, and half the interval."""
    protections = tuple(dict.fromkeys(each[0] for each in figures))
    attacks = tuple(dict.fromkeys(each[1] for each in figures))
    effects = tuple(Effect(protect=p, attack=a, mean=mean, half=half) for p, a, mean, half in figures)
    found = findings(protections=1, attacks=attacks, effects=effects, **changes)
    return replace(found, study=replace(found.study, protections=protections))


BARE = ("id-removal", "NS", 0.86, 0.02)


def test_the_headline_names_the_strongest_attack() -> None:
    found = left(BARE, ("id-removal", "KL", 0.9, 0.01), ("k-degree", "NS", 0.43, 0.04), ("k-degree", "KL", 0.2, 0.1))
    scenarios = found.counts.fine
    reached = "re-identifies 90% (89–91%) of targets at full strength"
    assert headline(found) == f"KL is the strongest attack: it {reached} ({scenarios} scenarios)."
    assert "of 940 to 941 targets" in headline(left(BARE, targets=(940, 941)))
    assert "re-identifies 86% of targets" in headline(left(("id-removal", "NS", 0.86, math.nan)))


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        (
            [BARE, ("k-degree:k=5", "NS", 0.43, 0.04), ("umga", "NS", 0.6, 0.04)],
            "k-degree protects most: adversary overall success 43% (39–47%) for its strongest attack, compared with "
            "86% (84–88%) after id-removal.",
        ),
        (
            [BARE, ("id-removal", "KL", 0.5, 0.1), ("switch", "NS", 0.1, 0.01), ("switch", "KL", 0.27, 0.07)],
            "switch protects most: adversary overall success 27% (20–34%) for its strongest attack, compared with 86% "
            "(84–88%) after id-removal.",
        ),
        (
            [BARE, ("umga", "NS", 0.85, 0.02), ("odd", "NS", 0.99, 0.005)],
            "No protection lowers the success of its strongest attack significantly (adversary overall success).",
        ),
        (
            [("hrg", "NS", 0.002, 0.02), ("switch", "NS", 0.2, 0.1)],
            "hrg protects most: adversary overall success 0.2% (0–2.2%) for its strongest attack, compared with 20% "
            "(10–30%) after switch.",
        ),
    ],
    ids=["some", "another attack", "none", "no reference"],
)
def test_the_explanation_names_the_best_protection(figures: list[Any], text: str) -> None:
    assert explanation(left(*figures)) == (text,)
    assert explanation(left(BARE, ("id-removal", "KL", 0.5, math.nan))) == ()


def test_other_metrics_are_said_in_their_own_unit_and_direction(approved: Approved) -> None:
    figures = (("a", "NS", 0.5, 0.1), ("a", "KL", 4.0, 0.1), ("b", "NS", 3.0, 0.1), ("b", "KL", 2.5, 0.1))
    found = left(*figures, metrics=("entropy",))
    # More entropy is more private: the strongest attack leaves least, and the best protection most.
    assert headline(found).startswith("NS is the strongest attack: it leaves an entropy of 0.5 (0.4–0.6)")
    approved(explanation(found))


def test_the_first_screen_has_a_line_for_each_attack_and_all_at_full_strength() -> None:
    found = findings(data=2, protections=2, without=frozenset({("p1", "YG")}))
    chart = main_chart(found)
    assert chart is not None
    assert chart.title == "Success by attacker strength, data0, p0"
    assert page(found).picture[1:] == (effect_table(found),)
    # Over both data sets, at the highest level.
    means = [(mean_of(0, 1, attack, 2) + mean_of(1, 1, attack, 2)) / 2 for attack in range(2)]
    assert effect_table(found).rows[1] == ("p1", *(f"{percent(mean)} ± 1.4" for mean in means), "–")


def test_a_line_is_an_attack_and_a_point_the_mean_of_a_level() -> None:
    found = findings(protections=2, without=frozenset({("p1", "YG")}))
    (first, second), possible = strength_charts(found)
    assert possible == 2
    assert [series.name for series in first.series] == ["NS", "KL", "YG"]
    assert first.series[1].x.tolist() == [5, 10, 50]
    assert first.series[1].y.tolist() == [mean_of(0, 0, 1, level) for level in range(3)]
    assert np.isnan(second.series[2].y).all()
    assert "YG: undefined everywhere." in svg(second, identity="one")
    assert len({series.style for series in first.series}) == 3


def test_all_pictures_have_one_scale_that_holds_every_mean() -> None:
    found = findings(protections=9, attacks=tuple(f"attack{n}" for n in range(6)))
    charts, _ = strength_charts(found)
    assert len({chart.y_range for chart in charts}) == 1
    low, high = charts[0].y_range
    top = max(float(series.y.max()) for chart in charts for series in chart.series)
    assert low == 0
    assert top <= high <= 2 * top


def test_means_below_zero_are_inside_the_picture() -> None:
    found = findings(metrics=("pearson_correlation",))
    below = found.summary.with_columns(pl.col("mean") - 0.5, pl.col("low") - 0.5, pl.col("high") - 0.5)
    charts, _ = strength_charts(findings(metrics=("pearson_correlation",), summary=below))
    assert charts[0].y_range[0] <= -0.5
    assert charts[0].y_range[1] >= 0


def test_more_attacks_than_styles_are_left_to_the_tables(approved: Approved) -> None:
    found = findings(attacks=tuple(f"attack{n}" for n in range(9)))
    charts, _ = strength_charts(found)
    assert len(charts[0].series) == 7
    approved(charts[0].caption)
    assert len(mean_table(found, SUCCESS, found.study.axes[0], "data0").rows) == 18


def test_one_level_makes_no_line() -> None:
    found = findings(axes=(Axis("overlap", (0.85,)),))
    assert strength_charts(found) == ((), 0)
    assert main_chart(found) is None
    assert page(found).sections[0].data == mean_tables(found)[0]


def test_tables_hold_each_mean_where_it_belongs() -> None:
    found = findings(data=2, without=frozenset({("p0", "NS")}))
    table = mean_table(found, SUCCESS, found.study.axes[0], "data1")
    assert table.columns == ("Protection", "Attack", "5", "10", "50")
    cells = {row[:2]: row[2:] for row in table.rows}
    assert cells["p0", "NS"] == ("–", "–", "–")
    assert cells["p1", "YG"] == tuple(f"{100 * mean_of(1, 1, 2, level):.1f}% ± 2.0" for level in range(3))


def test_a_mean_is_said_in_the_unit_of_its_metric() -> None:
    nan = math.nan
    assert mean_text((0.5, 0.125), "entropy") == "0.500 ± 0.125"
    assert mean_text((1234.56, 2e-5), "anonymity_set_size") == "1,234.6 ± 0.0"
    assert mean_text((0.5, nan), SUCCESS) == "50.0%"
    assert mean_text((nan, nan), SUCCESS) == "undefined"
    assert mean_text(None, SUCCESS) == "–"


def test_failures_and_times_are_listed(approved: Approved) -> None:
    failures = (
        Failures(error="the graph is dense", scenarios=12, data=("a",), protections=("umga",), attacks=tuple("bcdefg")),
    )
    spent = (AttackCost(data="data0", attack="NS", replications=10, seconds=5.0, parts={}),)
    found = findings(failures=failures, spent=spent)
    failed, times = failure_table(found), time_table(found)
    assert failed is not None
    approved(failed.rows)
    assert times is not None
    assert times.rows == (("data0", "0.5 s", "–", "–", "5 s"),)
    assert failure_table(findings()) is time_table(findings()) is None
    headings = [section.heading for section in page(found).sections]
    assert headings == ["Attacks by strength", "Failures"]
    assert page(found).method_data == (times,)


def test_settings_are_left_out_of_names_that_stay_different() -> None:
    assert labels(["k-degree:k=5", "k-degree:k=9", "switch:share=0.1"]) == {
        "k-degree:k=5": "k-degree:k=5",
        "k-degree:k=9": "k-degree:k=9",
        "switch:share=0.1": "switch",
    }
    assert labels(["my.module:Own"]) == {"my.module:Own": "my.module:Own"}


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, "0 s"), (59.0, "59 s"), (60.0, "1 min"), (7200.0, "2 h"), (40 * 86400.0, "40 days")]
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.unwatched
def test_the_page_of_a_huge_study_stays_below_a_megabyte() -> None:
    axes = (Axis("seed_pairs", (5, 10, 20, 35, 50, 100)), Axis("overlap", (0.6, 0.7, 0.8, 0.85, 0.9, 0.95)))
    found = findings(
        data=11, protections=11, attacks=tuple(f"attack{n}" for n in range(6)), axes=axes, metrics=(SUCCESS, "entropy")
    )
    html = render(page(found))
    assert len(html.encode()) < 1_000_000
    assert f"{242 - MOST_CHARTS} more charts" in html
    tables, left_out = mean_tables(found)
    assert len(tables) + left_out == 2 * 2 * 11
    assert f"{left_out} more tables" in html


def test_names_cannot_break_the_page() -> None:
    found = findings(attacks=("<script>alert(1)</script>", "b"), folder="<b>x</b>")
    html = render(page(found))
    assert "<script>alert" not in html
    assert "<b>x" not in html
    assert any("alert(1)" in text for _, text in Reader(html).texts)
