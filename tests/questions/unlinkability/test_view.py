"""The numbers behind the pictures and sentences of the partition page."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.questions.unlinkability.example import Example, conservative, example, large
from unveil.metrics.partitions.policy_grid import risk_slope_on
from unveil.questions.unlinkability.charts import (
    charts,
    forecast_chart,
    linked_histogram,
    others_chart,
    overall_chart,
    slope_chart,
    subject_chart,
)
from unveil.questions.unlinkability.playgrounds import SUBJECT_TEXTS, TEXTS, playground, subject_playground
from unveil.questions.unlinkability.tables import (
    at_risk_table,
    distance_numbers,
    fairness_numbers,
    fairness_table,
    key_numbers,
    most_at_risk,
)
from unveil.questions.unlinkability.view import headline, page
from unveil.report.blocks import Chart, Number, Playground, TableBlock


def risk_slope_of(drawn: Chart, alpha: float) -> float:
    """Return the paper's formula applied to the vectors of a chart."""
    linked, mixed = drawn.vectors
    return 2 / math.pi * (alpha * math.atan(linked.y / linked.x) + (1 - alpha) * math.atan(mixed.y / mixed.x))


def by_label(numbers: tuple[Number, ...]) -> dict[str, Number]:
    return {number.label: number for number in numbers}


def perfect(**settings: Any) -> Example:
    """Return an adversary who has everybody."""
    return example("aabbcc", "xxyyzz", **settings)


def test_the_vectors_of_the_stars_are_those_of_figure_4(approved: Approved) -> None:
    result = conservative(beta="9/10").result
    drawn = subject_chart(result, list(result.subjects).index("stars"))
    assert risk_slope_of(drawn, 0.5) == pytest.approx(0.23197, abs=5e-6)
    assert drawn.series[0].y.tolist() == [0.5, 5 / 6, 1.0]
    approved(drawn.title)
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
    assert "no merging is needed" in drawn.caption


def test_the_picture_ends_where_nothing_more_is_to_be_seen(approved: Approved) -> None:
    result = large().result
    drawn = overall_chart(result)
    high = int(drawn.x_range[1])
    assert result.overall.linked[high] >= 0.99
    assert high >= result.overall.mergings
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
    assert all("already breached at every β" in name for name in names)


def test_bars_count_subjects_and_tenths_belong_to_the_bar_they_start() -> None:
    result = conservative().result
    result = replace(result, linked0=np.array([0.3, 0.1 + 0.2, 1.0, 0.05]))
    drawn = linked_histogram(result)
    assert drawn.series[0].y.tolist() == [0.25, 0, 0, 0.5, 0, 0, 0, 0, 0, 0.25]
    assert drawn.y_range == (0.0, 0.6)
    assert [t.value for t in drawn.thresholds] == [0.8]


def test_charts_take_the_steepest_subject_unless_told(approved: Approved) -> None:
    built = conservative()
    approved([c.title for c in charts(built.result, subject=built.shown)])
    assert len(charts(built.result, built.grid, subject=2)) == 3
    assert charts(built.result, subject=0)[1].title.endswith("circles")
    assert subject_chart(built.result, 0, show_names=False).title.endswith("subject 1")


def test_key_numbers_are_those_of_the_paper() -> None:
    numbers = by_label(key_numbers(conservative().result))
    assert numbers["Items missed"].value == "12"
    assert numbers["Foreign items included"].value == "4"
    assert numbers["Kind of adversary"].value == "conservative"
    assert numbers["Subjects already breached"].value == "0 of 4 (0.0%)"
    assert numbers["Risk slope of the average subject"].value == "24.82%"
    # (4 + 2 + 3 + 3 + 4) / 2 errors over 4 subjects, over n - 1 = 23
    assert float(numbers["Normalised error e*"].value) == pytest.approx(8 / 4 / 23, abs=1e-3)
    assert all(number.meaning.endswith(".") for number in numbers.values())


def test_what_random_guessing_gives_stands_beside() -> None:
    both = conservative()
    numbers = by_label(key_numbers(both.result, both.reference))
    mean, ends = numbers["Items missed"].reference.split(" (")
    assert float(mean) == pytest.approx(both.reference.miss, abs=0.005)
    found = both.reference.range_of("miss")
    assert [float(end) for end in ends.rstrip(")").split(" to ")] == pytest.approx([found.low, found.high], abs=0.005)
    assert numbers["Items missed"].reference_of == "random guessing"
    assert numbers["Kind of adversary"].reference == ""
    assert not any(number.reference for number in key_numbers(both.result))
    distances = by_label(distance_numbers(both.distances, both.reference))
    assert distances["Variation of information"].reference.endswith(f"({both.reference.voi_normalised:.3f})")
    assert distances["Minimal transfer distance"].reference


def test_undefined_random_figures_are_left_out() -> None:
    both = conservative()
    blank = replace(both.reference, risk_slope=math.nan, mtd=math.nan)
    assert by_label(key_numbers(both.result, blank))["Risk slope of the average subject"].reference == ""
    assert by_label(distance_numbers(both.distances, blank))["Minimal transfer distance"].reference == ""


def test_a_breach_is_never_shown_as_a_missing_number() -> None:
    answer = perfect(at_breach="limit")
    number = by_label(key_numbers(answer.result))["Risk slope of the average subject"]
    assert (number.value, number.tone) == ("already breached", "bad")
    assert "highest risk" in number.meaning
    assert headline(answer).startswith("All 3 subjects are already breached")
    assert answer.page().tone == "bad"


def test_single_items_are_said_to_be_breached_by_nature(approved: Approved) -> None:
    meaning = by_label(key_numbers(example("abc", "xxy").result))["Subjects already breached"].meaning
    approved(meaning)


def test_distances_are_shown_as_they_are() -> None:
    built = conservative()
    numbers = by_label(distance_numbers(built.distances))
    assert numbers["Rand index"].value == f"{built.distances.rand * 100:.1f}%"
    assert numbers["Adjusted Rand index"].value == f"{built.distances.adjusted_rand:.3f}"
    assert numbers["Minimal transfer distance"].value.startswith(f"{built.distances.mtd:g} items")
    left_out = by_label(distance_numbers(replace(built.distances, mtd=math.nan)))
    assert left_out["Minimal transfer distance"].value == "not computed"


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
    assert (stars["Already breached"], stars["Linked now"], stars["Risk slope"]) == ("no", "50.0%", "23.20%")
    assert (stars["Items"], stars["Related clusters"], stars["Missed"], stars["Included"]) == ("6", "3", "3", "1")
    assert table.note == ""
    assert len(table.columns) == len(table.align)


def test_the_table_names_twenty_and_counts_the_rest() -> None:
    result = large().result
    table = at_risk_table(result)
    assert len(table.rows) == 20
    assert table.note.startswith(f"{result.subjects.size - 20:,} more subjects are not shown")
    hidden = at_risk_table(result, show_names=False, at_most=3)
    assert all(row[0].startswith("subject ") for row in hidden.rows)


def test_names_can_be_left_out_of_the_whole_page() -> None:
    html = conservative().html(show_names=False)
    assert not any(shape in html for shape in ("triangles", "squares", "circles", "stars"))


def test_fairness_figures_are_those_of_the_measure() -> None:
    built = conservative()
    linked = next(spread for spread in built.fairness if spread.quantity == "linked0")
    numbers = by_label(fairness_numbers(built.result, built.fairness))
    assert float(numbers["Gini coefficient of the share linked"].value) == pytest.approx(linked.gini, abs=5e-4)
    assert numbers["Linked share in the worst tenth"].value == "66.7%"
    rows = {row[0]: row for row in fairness_table(built.fairness).rows}
    assert rows["Share linked now"][1:5] == ("45.8%", "50.0%", "16.7%", "66.7%")
    assert len(rows) == 4


def test_undefined_spreads_are_said_to_be() -> None:
    built = perfect()
    rows = {row[0]: row for row in fairness_table(built.fairness).rows}
    assert rows["Risk slope"][1] == "undefined"
    assert rows["Risk slope"][-1] == "3"
    assert "Nobody shares" in fairness_numbers(built.result, built.fairness)[2].meaning


def test_the_playground_holds_the_grid_as_it_is() -> None:
    built = conservative()
    data = playground(built.result, built.grid).data
    expected = np.round(built.grid.risk_slope, 4)
    shown = np.array([[math.nan if each is None else each for each in row] for row in data["risk_slope"]])
    np.testing.assert_array_equal(shown, expected)
    assert data["breached_subjects"] == built.grid.breached_subjects.tolist()
    a, b = 11, 90
    slope = 2 / math.pi * (0.5 * math.atan(0.9 / data["mergings"][a][b]))
    slope += 2 / math.pi * (0.5 * math.atan(data["mixed_at"][a][b] / data["mergings"][a][b]))
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
    assert "one α and one β to everybody" in playground(built.result, built.grid).note


def test_the_start_of_the_playground_is_what_the_script_will_say() -> None:
    built = conservative()
    start = playground(built.result, built.grid)
    assert {output.name: output.value for output in start.outputs} == {
        "slope": "24.82%",
        "breached": "0 of 4",
        "mergings": "1.07",
    }
    assert start.sentence.startswith("With α = 0.50 and β = 80%, 0 of 4 subjects are already breached.")
    assert set(TEXTS) >= {output.name for output in start.outputs}


def test_the_playground_of_a_breach_keeps_hidden_arrows() -> None:
    built = perfect()
    start = playground(built.result, built.grid)
    assert all(math.isnan(vector.x) for vector in start.chart.vectors)
    assert len(start.chart.vectors) == 2
    assert start.outputs[0].value == "already breached"
    assert "there is no risk slope" in start.sentence


def test_axes_grow_until_the_farthest_point_fits() -> None:
    built = large()
    data = playground(built.result, built.grid).data
    highs = [axis["high"] for axis in data["axes"]]
    assert highs == sorted(set(highs))
    farthest = max(each for row in data["mergings"] for each in row if each is not None)
    assert highs[-1] >= farthest
    assert all(tick[0] <= axis["high"] for axis in data["axes"] for tick in axis["ticks"])


def test_the_page_has_its_parts_in_order() -> None:
    built = conservative().page(notes=("Note.",), weighted=True)
    kinds = [[type(block) for block in section.blocks] for section in built.sections]
    assert kinds[0] == [Number] * 6
    assert kinds[1:5] == [[Chart, Chart], [Number, Number, Number, Chart], [Number] * 6, [TableBlock, Playground]]
    assert kinds[5] == [Number, Number, Number, TableBlock]
    assert kinds[6:] == [[Chart], [Playground]]
    assert built.next_steps
    assert any("weights" in sentence for sentence in built.method)
    assert any("3 were drawn" in sentence for sentence in built.method)
    assert built.untested


def test_the_method_names_those_who_like_contamination() -> None:
    built = example("aabb", "xxxy", contamination_desirable=True)
    assert any("2 subjects like foreign items" in sentence for sentence in built.page().method)


def test_policies_of_their_own_are_mentioned() -> None:
    built = example("aabb", "xxxy", beta=[0.5, 0.9])
    assert "policies of their own" in built.page().sections[0].lead
    assert linked_histogram(built.result).thresholds == ()


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
        assert data["mergings"][place] == pytest.approx(float(result.mergings[at]), abs=1e-4)
        assert {output.name for output in block.outputs} == {"linked_now", "mergings", "slope", "forecast"}
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
    assert "already breached, without any merging" in block.sentence
    assert all(math.isnan(vector.x) for vector in block.chart.vectors)


def test_the_chart_of_others_draws_both_numbers() -> None:
    built = conservative()
    assert built.others is not None
    drawn = others_chart(built.others, built.result.overall.mergings)
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
    assert any("does not count items" in sentence for sentence in built.page().method)
    assert "everybody else's items" in overall_chart(conservative().result).caption
