"""The numbers behind the pictures and sentences of the partition page."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.questions.unlinkability.example import Example, conservative, example, large
from unveil.metrics.partitions.policy_grid import risk_slope_on
from unveil.questions.unlinkability.sections.forecast import forecast_chart, forecast_method, forecast_table, with_ends
from unveil.questions.unlinkability.sections.merges import others_chart, overall_chart
from unveil.questions.unlinkability.sections.sensitivity import TEXTS, playground, slope_chart
from unveil.questions.unlinkability.sections.subjects import TEXTS as SUBJECT_TEXTS
from unveil.questions.unlinkability.sections.subjects import (
    at_risk_table,
    fairness_table,
    linked_chart,
    most_at_risk,
    subject_playground,
)
from unveil.questions.unlinkability.view import (
    distance_table,
    explanation,
    headline,
    next_steps,
    page,
    summary_table,
    tone,
)
from unveil.report.blocks import Chart, Playground, TableBlock


def risk_slope_of(drawn: Chart, alpha: float) -> float:
    """Return the paper's formula applied to the vectors of a chart."""
    linked, mixed = drawn.vectors
    return 2 / math.pi * (alpha * math.atan(linked.y / linked.x) + (1 - alpha) * math.atan(mixed.y / mixed.x))


def by_label(table: TableBlock) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in table.rows}


def perfect(**settings: Any) -> Example:
    """Return an adversary who has everybody."""
    return example("aabbcc", "xxyyzz", **settings)


def test_the_vectors_of_the_stars_are_those_of_figure_4() -> None:
    result = conservative(beta="9/10").result
    drawn = subject_playground(result, list(result.subjects).index("stars")).chart
    assert risk_slope_of(drawn, 0.5) == pytest.approx(0.23197, abs=5e-6)
    assert drawn.series[0].y.tolist() == [0.5, pytest.approx(5 / 6, abs=1e-4), 1.0]
    assert drawn.thresholds[0].name == "β = 90%"


def test_the_overall_vectors_give_the_overall_slope() -> None:
    result = conservative().result
    drawn = overall_chart(result)
    assert risk_slope_of(drawn, 0.5) == pytest.approx(result.overall.risk_slope)
    assert drawn.series[0].y[0] == pytest.approx(result.linked0.mean())


def test_random_guessing_is_drawn_beside() -> None:
    both = conservative()
    drawn = overall_chart(both.result, reference=both.reference)
    assert [series.style for series in drawn.series] == ["first", "second", "first-reference", "second-reference"]
    shown = drawn.series[2].y
    assert shown.tolist() == both.reference.linked[: shown.size].tolist()


def test_no_vectors_once_the_threshold_is_passed() -> None:
    drawn = overall_chart(perfect().result)
    assert drawn.vectors == ()
    assert "without any merge" in drawn.caption


def test_the_picture_ends_where_nothing_more_is_to_be_seen(approved: Approved) -> None:
    result = large().result
    drawn = overall_chart(result)
    high = int(drawn.x_range[1])
    assert result.overall.linked[high] >= 0.99
    assert high >= result.overall.merges
    assert high < 300 < result.overall.linked.size
    approved(drawn.caption)


def test_slopes_against_beta_begin_where_they_are_defined() -> None:
    grid = conservative().grid
    drawn = slope_chart(grid, beta=0.8)
    assert [series.name for series in drawn.series] == ["α = 0", "α = 1/3", "α = 0.5", "α = 2/3", "α = 1"]
    for series, row in zip(drawn.series, (0, 7, 11, 15, 22), strict=True):
        expected = risk_slope_on(grid.linked[row], grid.mixed[row], alpha=float(grid.alphas[row]), beta=grid.betas)
        np.testing.assert_allclose(series.y, expected)
        defined = np.isfinite(series.y)
        assert (defined == (grid.betas > grid.linked[row][0] + 1e-12)).all()
        assert np.nanmax(series.y) <= drawn.y_range[1]


def test_a_line_that_is_nowhere_defined_says_so() -> None:
    names = [series.name for series in slope_chart(perfect().grid).series]
    assert all("breached at every β" in name for name in names)


def test_bars_count_subjects_and_tenths_belong_to_the_bar_they_start() -> None:
    result = large().result
    shares = np.resize([0.3, 0.1 + 0.2, 1.0, 0.05], result.subjects.size // 4 * 4)
    drawn = linked_chart(replace(result, linked0=shares))
    assert drawn.series[0].y.tolist() == [0.25, 0, 0, 0.5, 0, 0, 0, 0, 0, 0.25]
    assert drawn.y_range == (0.0, 0.6)
    assert [t.value for t in drawn.thresholds] == [0.8]


def test_few_subjects_are_shown_one_by_one() -> None:
    result = conservative().result
    drawn = linked_chart(result)
    assert drawn.rows == tuple(result.subjects[most_at_risk(result)])
    assert drawn.series[0].x.tolist() == result.linked0[most_at_risk(result)].tolist()
    assert linked_chart(result, show_names=False).rows[0].startswith("subject ")


def test_the_results_are_those_of_the_paper() -> None:
    built = conservative()
    values = by_label(summary_table(built))
    assert [each[0] for each in values.values()] == ["0 of 4 (0.0%)", "12", "4", "24.82%"]
    assert "is conservative" in summary_table(built).note
    # (4 + 2 + 3 + 3 + 4) / 2 errors over 4 subjects, over n - 1 = 23
    assert float(by_label(distance_table(built))["Normalized error e*"][0]) == pytest.approx(8 / 4 / 23, abs=1e-3)


def test_each_result_has_its_baseline() -> None:
    built = conservative()
    mean, ends = by_label(summary_table(built))["Miss errors (items left out)"][1].split(" (")
    assert float(mean) == pytest.approx(built.reference.miss, abs=0.005)
    found = built.reference.range_of("miss")
    assert [float(end) for end in ends.rstrip(")").split(" to ")] == pytest.approx([found.low, found.high], abs=0.005)
    assert summary_table(built).columns[2] == "Random guessing (5–95%)"
    distances = by_label(distance_table(built))
    assert distances["Variation of information (over log2 n)"][1].endswith(f"({built.reference.voi_normalized:.3f})")
    assert distances["Minimal transfer distance (over n − 1)"][1]


def test_undefined_baselines_are_left_out() -> None:
    built = conservative()
    blank = replace(built, reference=replace(built.reference, risk_slope=math.nan, mtd=math.nan))
    assert by_label(summary_table(blank))["Risk slope of the average subject"][1] == ""
    assert by_label(distance_table(blank))["Minimal transfer distance (over n − 1)"][1] == ""


def test_a_breach_is_never_shown_as_a_missing_number() -> None:
    answer = perfect(at_breach="limit")
    assert by_label(summary_table(answer))["Risk slope of the average subject"][0] == "breached"
    assert headline(answer).startswith("3 of 3 subjects are breached (β = 80%; baseline ")
    assert "without any merge" in explanation(answer)[-1]
    assert answer.page().tone == "bad"


def test_the_tone_is_that_of_the_average_subject_and_of_the_number_breached() -> None:
    built = conservative()

    def toned(breached: int, *, overall: bool = False) -> str:
        changed = replace(built.result.overall, breached_subjects=breached, breached=overall)
        return tone(replace(built, result=replace(built.result, overall=changed)))

    assert [toned(breached) for breached in (0, 1, 2)] == ["neutral", "warning", "bad"]
    assert toned(0, overall=True) == "bad"
    assert next_steps(built) != next_steps(perfect())


def test_single_items_are_said_to_be_breached_by_nature() -> None:
    lead = example("abcd", "xxyz").page().sections[0].lead
    assert lead.endswith("Breached subjects with a single item, which count as linked: 2.")


def test_distances_are_shown_as_they_are() -> None:
    built = conservative()
    rows = by_label(distance_table(built))
    assert rows["Rand index"][0] == f"{built.distances.rand * 100:.1f}%"
    assert rows["Adjusted Rand index"][0] == f"{built.distances.adjusted_rand:.3f}"
    assert rows["Minimal transfer distance (over n − 1)"][0].startswith(f"{built.distances.mtd:g} items")
    left_out = by_label(distance_table(replace(built, distances=replace(built.distances, mtd=math.nan))))
    assert left_out["Minimal transfer distance (over n − 1)"][0] == "not computed"


def test_the_most_at_risk_come_first() -> None:
    guess, truth = "aaaabbcdeefghi", "wwwwxxxxyyzzuv"
    result = example(guess, truth).result
    names = [str(result.subjects[index]) for index in most_at_risk(result)]
    assert set(names[:4]) == {"w", "y", "u", "v"}
    assert names[:2] == ["w", "y"]
    slopes = [float(result.risk_slope[index]) for index in most_at_risk(result)[4:]]
    assert slopes == sorted(slopes, reverse=True)


def test_the_table_holds_the_figures_of_the_subject() -> None:
    table = at_risk_table(conservative(beta="9/10").result)
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    stars = rows["stars"]
    assert (stars["Breached"], stars["Linked"], stars["Risk slope"]) == ("no", "50.0%", "23.20%")
    assert (stars["Items"], stars["Miss errors"], stars["Include errors"]) == ("6", "3", "1")
    assert table.note == ""
    assert len(table.columns) == len(table.align)


def test_the_table_names_ten_and_counts_the_rest() -> None:
    result = large().result
    table = at_risk_table(result)
    assert len(table.rows) == 10
    assert table.note.startswith(f"{result.subjects.size - 10:,} more subjects are in the JSON output")
    hidden = at_risk_table(result, show_names=False, at_most=3)
    assert all(row[0].startswith("subject ") for row in hidden.rows)


def test_names_can_be_left_out_of_the_whole_page() -> None:
    html = conservative().html(show_names=False).split("<body>", 1)[1]
    assert not any(shape in html for shape in ("triangles", "squares", "circles", "stars"))


def test_the_spread_is_that_of_the_measure() -> None:
    rows = by_label(fairness_table(conservative().fairness))
    assert rows["Linked"][:4] == ("45.8%", "50.0%", "16.7%", "66.7%")
    assert rows["Linked"][5] == "66.7%"
    assert len(rows) == 4


def test_undefined_spreads_are_said_to_be() -> None:
    rows = by_label(fairness_table(perfect().fairness))
    assert (rows["Risk slope"][0], rows["Risk slope"][-1]) == ("undefined", "3")


def test_the_playground_holds_the_grid_as_it_is() -> None:
    built = conservative()
    data = playground(built.result, built.grid).data
    expected = np.round(built.grid.risk_slope, 4)
    shown = np.array([[math.nan if each is None else each for each in row] for row in data["risk_slope"]])
    np.testing.assert_array_equal(shown, expected)
    assert data["breached_subjects"] == built.grid.breached_subjects.tolist()
    a, b = 11, 90
    slope = 2 / math.pi * (0.5 * math.atan(0.9 / data["merges"][a][b]))
    slope += 2 / math.pi * (0.5 * math.atan(data["mixed_at"][a][b] / data["merges"][a][b]))
    assert slope == pytest.approx(data["risk_slope"][a][b], abs=2e-4)


def test_the_playground_starts_at_the_policy_of_the_report(approved: Approved) -> None:
    built = conservative(alpha="1/3", beta="9/10")
    start = playground(built.result, built.grid)
    assert [(slider.name, slider.texts[slider.start]) for slider in start.sliders] == [
        ("alpha", "1/3"),
        ("beta", "90%"),
    ]
    assert "nearest values" not in start.note
    odd = conservative(alpha="0.37", beta="9/10")
    approved(playground(odd.result, odd.grid).note)
    assert "nearest values" not in playground(conservative().result, built.grid).note


def test_the_playground_says_what_it_does_to_policies_of_their_own() -> None:
    built = example("aabbcd", "xxxyyy", alpha=[0.25, 0.75])
    assert "one α and one β for all subjects" in playground(built.result, built.grid).note


def test_the_start_of_the_playground_is_what_the_script_will_say() -> None:
    built = conservative()
    start = playground(built.result, built.grid)
    assert {output.name: output.value for output in start.outputs} == {
        "slope": "24.82%",
        "breached": "0 of 4",
        "merges": "1.07",
    }
    assert start.sentence.startswith("With α = 0.50 and β = 80%, 0 of 4 subjects are breached.")
    assert set(TEXTS) >= {output.name for output in start.outputs}


def test_the_playground_of_a_breach_keeps_hidden_arrows() -> None:
    built = perfect()
    start = playground(built.result, built.grid)
    assert all(math.isnan(vector.x) for vector in start.chart.vectors)
    assert len(start.chart.vectors) == 2
    assert start.outputs[0].value == "breached"
    assert "it has no risk slope" in start.sentence


def test_axes_grow_until_the_farthest_point_fits() -> None:
    built = large()
    data = playground(built.result, built.grid).data
    highs = [axis["high"] for axis in data["axes"]]
    assert highs == sorted(set(highs))
    farthest = max(each for row in data["merges"] for each in row if each is not None)
    assert highs[-1] >= farthest
    assert all(tick[0] <= axis["high"] for axis in data["axes"] for tick in axis["ticks"])


def test_the_page_has_its_parts_in_order() -> None:
    built = conservative().page(notes=("Note.",), weighted=True)
    assert [type(block) for block in built.picture] == [Chart, TableBlock]
    kinds = [([type(block) for block in each.blocks], [type(block) for block in each.data]) for each in built.sections]
    assert kinds == [
        ([TableBlock], [Playground, TableBlock]),
        ([Chart, Chart], [TableBlock, Chart]),
        ([Playground], [Chart]),
    ]
    assert any("weights" in sentence for sentence in built.method)
    assert any("3 random partitions" in sentence for sentence in built.method)


def test_the_sensitivity_states_every_beta_that_is_breached() -> None:
    assert conservative().page().sections[2].lead.endswith("is breached for every β up to 45%.")
    assert perfect().page().sections[2].lead.endswith("is breached for every β up to 100%.")


def test_the_method_names_those_who_like_contamination() -> None:
    built = example("aabb", "xxxy", contamination_desirable=True)
    assert any("as protection for 2 subjects" in sentence for sentence in built.page().method)


def test_policies_of_their_own_are_mentioned() -> None:
    built = example("aabb", "xxxy", beta=[0.5, 0.9])
    assert any("policies of their own" in sentence for sentence in built.page().method)
    assert "own β per subject" in headline(built)
    assert linked_chart(built.result).thresholds == ()


def test_the_version_is_the_installed_one_unless_given() -> None:
    built = conservative()
    assert page(built).version.count(".") >= 1


@pytest.mark.parametrize(
    ("guess", "truth"), [("a", "x"), ("aaaa", "xxxx"), ("abcd", "wxyz"), ("aaaa", "wxyz"), ("abcd", "xxxx")]
)
def test_the_extremes_have_a_page(guess: str, truth: str) -> None:
    html = example(guess, truth).html()
    assert "nan" not in html.replace("nanmax", "")
    assert html.count("<figure>") == 7


def test_any_subject_can_be_chosen_and_is_shown_with_its_own_figures() -> None:
    built = conservative(beta="9/10")
    result = built.result
    for at, subject in enumerate(result.subjects):
        block = subject_playground(result, at, forecast=built.forecast)
        chooser, data = block.choosers[0], block.data
        assert set(chooser.texts) == set(result.subjects)
        assert chooser.texts[chooser.start] == subject
        place = chooser.start
        linked, mixed = result.graphs(at)
        assert data["linked"][place][1] == pytest.approx(linked.tolist(), abs=1e-4)
        assert data["mixed"][place][1] == pytest.approx(mixed.tolist(), abs=1e-4)
        assert data["merges"][place] == pytest.approx(float(result.merges[at]), abs=1e-4)
        assert {output.name for output in block.outputs} == {"linked_now", "merges", "slope", "forecast"}
        shown = {output.name: output.value for output in block.outputs}
        assert shown["slope"] == f"{result.risk_slope[at] * 100:.2f}%"
        assert shown["forecast"].startswith(f"{built.forecast.risk_slope[at] * 100:.2f}% (")
        assert block.sentence.startswith(f"{subject}: ")
        assert set(SUBJECT_TEXTS) >= set(shown)
        assert risk_slope_of(block.chart, 0.5) == pytest.approx(float(result.risk_slope[at]))


def test_of_many_subjects_those_at_risk_can_be_chosen_and_the_one_asked_for() -> None:
    result = large().result
    least = most_at_risk(result, at_most=result.subjects.size)[-1]
    block = subject_playground(result, least, show_names=False)
    assert len(block.choosers[0].texts) == 300
    assert block.choosers[0].texts[block.choosers[0].start] == f"subject {least + 1}"
    assert f"{result.subjects.size - 300:,} subjects are not in this list" in block.note
    assert len(large().html()) < 1_000_000


def test_a_breached_subject_is_said_to_be() -> None:
    block = subject_playground(perfect().result, 1)
    assert "breached without any merge" in block.sentence
    assert all(math.isnan(vector.x) for vector in block.chart.vectors)


def test_the_chart_of_others_draws_both_numbers() -> None:
    built = conservative()
    assert built.others is not None
    drawn = others_chart(built.others, built.result.overall.merges)
    for series, graph in zip(drawn.series, (built.others.overall_others, built.others.overall_effective), strict=True):
        assert series.y.tolist() == graph[: series.y.size].tolist()
    assert drawn.y_range[1] >= max(series.y.max() for series in drawn.series)


def test_the_chart_of_the_forecast_draws_who_is_breached_by_then() -> None:
    built = conservative()
    drawn = forecast_chart(built.forecast)
    line = drawn.series[0]
    assert line.y.tolist() == built.forecast.breached_after[: line.y.size].tolist()
    assert line.y[-1] == 1
    assert line.low is not None
    assert line.high is not None
    assert ((line.low <= line.y + 1e-12) & (line.y <= line.high + 1e-12)).all()
    assert forecast_chart(perfect().forecast).series[0].y.tolist() == [1.0, 1.0]


def test_what_mixing_counts_is_said() -> None:
    built = conservative(mixing="others")
    assert any("differs from the paper" in sentence for sentence in built.page().method)
    assert "all other items" in overall_chart(conservative().result).caption


def test_a_forecast_has_its_range() -> None:
    assert with_ends(0.5, 0.2, math.inf, str) == "0.5 (0.2 to inf)"
    rows = by_label(forecast_table(perfect().forecast))
    assert rows["Risk slope of the average subject"] == ("breached",) * 3


@pytest.mark.parametrize("linkage", ["pairs", "any", "cheapest", "given"])
def test_how_evidence_comes_in_is_said(linkage: Any) -> None:
    found = replace(conservative().forecast, linkage=linkage, draws=200, split=0.0)
    assert forecast_method(found).endswith("no cluster is split.")
    assert "odds of 2 per" in forecast_method(replace(found, split=2.0))
    assert "200 random futures" in forecast_method(found)
