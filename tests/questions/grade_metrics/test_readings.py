"""Values of nodes and calibrated probabilities on the page: the sentences that are read first, tables and pictures."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.grades.planted import planted
from tests.grades.sketched import around_means, node_values
from tests.grades.test_calibration_grades import column, with_column
from tests.questions.grade_metrics.test_view import findings
from unveil.errors import InputError
from unveil.grades.grades import GradedValues, grade
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.weighted_sum import sum_rankings
from unveil.questions.grade_metrics.details import cases_with
from unveil.questions.grade_metrics.findings import Detail, GradesFindings
from unveil.questions.grade_metrics.run import _about_nodes, spans_of, weighted_quantiles
from unveil.questions.grade_metrics.sections.calibration import (
    calibration_answer,
    calibration_boxes,
    calibration_table,
)
from unveil.questions.grade_metrics.sections.cases import detail_boxes
from unveil.questions.grade_metrics.sections.metrics import node_table, span_table
from unveil.questions.grade_metrics.sections.suites import case_table, case_tables, sum_table
from unveil.questions.grade_metrics.view import VIEW, page, to_latex
from unveil.report.figures import json_of
from unveil.studies import Axis, DataSet

RNG = np.random.default_rng
NODE_METRICS = ("pearson_correlation", "incorrectness", "entropy")


def with_nodes(of: GradedValues = "both", **changes: Any) -> GradesFindings:
    values = planted()
    nodes = node_values(values, around_means(values, NODE_METRICS))
    told = {"grades": grade(values, nodes=nodes, of=of, rng=RNG(1)), "spans": spans_of(nodes)}
    return findings(values, **{**told, **changes})


def with_calibrated(metric: str, numbers: Any, values: ReplicatedMetrics | None = None) -> GradesFindings:
    values = planted() if values is None else values
    turned = with_column(values, metric, numbers)
    return findings(values, grades=grade(values, calibrated=turned, rng=RNG(1)))


@pytest.fixture(scope="module")
def found() -> GradesFindings:
    return with_nodes()


@pytest.fixture(scope="module")
def mended() -> GradesFindings:
    return with_calibrated("entropy", 1.6 - column(planted(), "entropy"))


def test_nodes_stand_beside_means_and_metrics_of_a_release_have_a_dash(found: GradesFindings) -> None:
    table = node_table(found)
    assert table is not None
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    nodes = found.grades.nodes
    assert nodes is not None
    each = nodes.metric("incorrectness")
    assert each is not None
    assert rows["incorrectness"]["Evenness (nodes)"] == f"{each.evenness.mean:.2f}"
    assert rows["incorrectness"]["Range (nodes)"] == f"{each.shared_range.mean:.2f}"
    assert "adversary overall success" not in rows
    by_nodes = with_nodes("nodes")
    assert node_table(by_nodes) is None
    for metric, said in (("entropy", True), ("adversary_overall_success", False)):
        caption = detail_boxes(
            by_nodes, Detail(metric=metric, case=by_nodes.grades.values.cases[0], why="asked for")
        ).caption
        assert ("Tests are of the values of nodes" in caption) == said


def test_without_stored_nodes_one_sentence_says_so(found: GradesFindings, approved: Approved) -> None:
    said = _about_nodes(replace(found.grades, nodes=None), None, found.studies)
    approved(said)
    values = planted()
    nodes = node_values(values, {k: v for k, v in around_means(values, NODE_METRICS).items() if k[0] > 1})
    both = _about_nodes(grade(values, nodes=nodes, rng=RNG(1)), nodes, found.studies)
    approved(both)
    alone = _about_nodes(grade(values, nodes=nodes, of="nodes", rng=RNG(1)), nodes, found.studies)
    assert "not independent of one another" in alone[1]
    assert "adversary overall success" in alone[1]
    assert _about_nodes(grade(values, of="means", rng=RNG(1)), None, found.studies) == []
    data = DataSet("people", "table", "x", known=("age", "town"))
    told: dict[str, Any] = {
        "data": (data,),
        "attacks": ("nearest",),
        "axes": (Axis("known_columns", (1, 2)),),
        "fixed": {},
    }
    table = replace(found.studies[0], study=replace(found.studies[0].study, **told))
    assert "nodes are the released rows" in _about_nodes(found.grades, nodes, (table,))[0]


def test_table_8_has_both_readings_of_each_metric_and_means_of_the_suite(found: GradesFindings) -> None:
    case = cases_with(found.grades, "mail,switch,NS,overlap", "--case")
    assert len(case) == 1
    table = case_table(found, case[0])
    assert table is not None
    assert table.caption.endswith("mail, switch, NS, by overlap")
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert list(rows)[-1] == "suite S5"
    assert len(rows) == 8
    scores = found.grades.nodes.scores  # type: ignore[union-attr]
    at = scores.values.metrics.index("incorrectness")
    assert rows["incorrectness"]["Monotonicity (nodes)"] == f"{scores.monotonicity.score[case[0], at]:.3f}"
    assert float(rows["incorrectness"]["Range (nodes)"]) == pytest.approx(scores.shared_range[case[0], at], rel=0.01)
    assert rows["incorrectness"]["Range"] != rows["incorrectness"]["Range (nodes)"]
    assert rows["suite S5"]["Evenness (nodes)"] == "–"
    shown = replace(found, asked=tuple(case))
    assert case_tables(shown) == (table,)
    assert case_tables(found) != (table,)
    with pytest.raises(InputError, match="No case has the word 'elections' of --case"):
        cases_with(found.grades, "elections", "--case")
    with pytest.raises(InputError, match="No words of a case follow --case"):
        cases_with(found.grades, " , ", "--case")


def test_spans_hold_the_case_that_uses_most_and_the_one_that_uses_least(found: GradesFindings) -> None:
    table = span_table(found)
    assert table is not None
    assert len(table.rows) == len(NODE_METRICS)
    scores = found.grades.nodes.scores  # type: ignore[union-attr]
    for each in found.spans:
        share = scores.shared_range[:, scores.values.metrics.index(each.metric)]
        for one, right in ((each.widest, share.max()), (each.narrowest, share.min())):
            assert one.highest - one.lowest == pytest.approx(right)
            assert share[found.grades.values.cases.index(one.case)] == pytest.approx(right)
            assert 0 <= one.lowest <= one.quartiles[0] <= one.quartiles[1] <= one.quartiles[2] <= one.highest <= 1
            assert one.lowest < one.mean < one.highest
            low, high = one.whiskers
            length = 1.5 * (one.quartiles[2] - one.quartiles[0])
            assert max(one.lowest, one.quartiles[0] - length) <= low <= one.quartiles[0]
            assert one.quartiles[2] <= high <= min(one.highest, one.quartiles[2] + length)
    assert span_table(findings()) is None
    assert table in page(found).sections[0].data


def test_the_box_of_nodes_that_are_all_alike_is_where_they_are() -> None:
    """Means of blocks have fewer digits than the ends, and so lie beside them."""
    values = planted()
    alike = {
        key: np.full(150, 1 / 3) if key[0] == 2 else each for key, each in around_means(values, ("entropy",)).items()
    }
    (span,) = spans_of(node_values(values, alike))
    narrow = span.narrowest
    assert narrow.case == values.cases[2]
    assert {*narrow.quartiles, *narrow.whiskers, narrow.lowest} == {narrow.highest}
    assert narrow.highest == pytest.approx((1 / 3 - span.lowest) / (span.highest - span.lowest))


def test_quartiles_from_blocks_are_near_those_of_values() -> None:
    values = np.sort(RNG(4).gamma(2, 1, 6400))
    blocks = values.reshape(64, 100).mean(axis=1)
    near = weighted_quantiles(blocks, np.full(64, 100.0), (0.25, 0.5, 0.75))
    assert near == pytest.approx(np.quantile(values, (0.25, 0.5, 0.75)), abs=0.01)


def test_entropy_that_was_fed_bad_probabilities_is_said_so_first(mended: GradesFindings, approved: Approved) -> None:
    said = page(mended).explanation[0]
    assert said.startswith("Calibration mends entropy: from raw scores it goes the wrong way in 100% of 16 cases")
    approved(said)
    assert any("calibrated probabilities" in step for step in page(mended).next_steps)
    approved(calibration_answer(mended)[1])
    table = calibration_table(mended)
    assert table is not None
    assert [row[0] for row in table.rows] == ["entropy"]
    assert table.rows[0][4] == "100% → 0%"
    assert table.rows[0][5:] == ("unreliable", "reliable")
    assert "adversary overall success" in table.note
    boxes = calibration_boxes(mended)
    assert boxes is not None
    assert boxes.rows[0].note == "100% → 0% wrong"
    assert [each.heading for each in page(mended).sections][:2] == ["Metrics", "Calibration"]
    assert "tab:calibrated" in to_latex(mended)


def test_a_metric_that_stays_bad_is_not_excused() -> None:
    values = planted()
    shape = column(values, "entropy").shape
    noise = with_calibrated("entropy", 1.0 + RNG(1).normal(0, 1e-3, shape))
    # Nothing significant is better than the wrong way throughout, and still no metric to rank by.
    assert "but not beyond a metric that never changes" in calibration_answer(noise)[0]
    worse = with_calibrated("incorrectness", 1.6 - column(values, "incorrectness"))
    assert calibration_answer(worse)[0].startswith("Calibration makes incorrectness worse: ")
    still = with_calibrated("min_entropy", 0.25 + RNG(1).normal(0, 1e-3, shape))
    assert calibration_answer(still)[0].startswith("Calibration does not significantly change min entropy: ")
    good = with_column(values, "entropy", 1.6 - column(values, "entropy"))
    same = with_calibrated("entropy", column(good, "entropy") + 0.01, good)
    assert calibration_answer(same)[0].startswith(
        "Calibration does not change entropy, which is reliable with raw scores"
    )
    few = values.only(cases=np.arange(2))
    assert "cannot show" in calibration_answer(with_calibrated("entropy", 1.6 - column(few, "entropy"), few))[0]
    assert calibration_answer(findings()) == ()


def test_json_and_frame_have_all_readings(found: GradesFindings, mended: GradesFindings) -> None:
    told = json_of(found)
    metrics = {each["name"]: each for each in told["metrics"]}
    assert metrics["adversary_overall_success"]["nodes"] is None
    assert 0 < metrics["entropy"]["nodes"]["evenness"]["mean"] < 1
    assert {each["metric"] for each in told["spans"]} == set(NODE_METRICS)
    assert told["spans"][0]["widest"]["case"]["data"] in ("mail", "roads")
    rows = VIEW.frame(found)
    assert rows.height == len(found.grades.values.cases) * len(found.grades.values.metrics)
    assert rows["evenness_of_nodes"].null_count() == rows.height - 16 * len(NODE_METRICS)
    calibrated = {each["name"]: each for each in json_of(mended)["calibrated"]}
    assert calibrated["entropy"]["effect"] == "better"
    assert calibrated["entropy"]["gain"]["low"] > 0
    assert "monotonicity_calibrated" in VIEW.frame(mended).columns


def test_sums_stand_beside_products_with_the_ranks_that_turn() -> None:
    values = planted()
    numbers = np.array(values.values)
    # The strongest adversary of one case leaves the highest normalized variance: without it, the quotients grow.
    numbers[0, values.metrics.index("normalized_variance"), :, :] = np.array([0.2, 0.5, 0.45, 3.0])[:, None]
    numbers[0, values.metrics.index("adversary_overall_success"), :, :] = np.array([0.1, 0.11, 0.12, 9.0])[:, None]
    found = findings(replace(values, values=numbers))
    table = sum_table(found)
    assert table is not None
    assert len(table.columns) == len(table.align) == 7
    suite = next(each for each in found.grades.suites if each.suite.name == "S2")
    row = next(row for row in table.rows if row[0] == "S2")
    assert row[1:4] == (f"{suite.whole.mean:.1%}", f"{suite.sum_whole.mean:.1%}", f"{suite.turned.reversed:.1%}")
    assert suite.turned.reversed_product_any == 0
    own = sum_rankings(found.grades.values, [suite.suite])
    assert suite.sum_whole.mean == pytest.approx(np.nanmean(own.whole))
    assert suite.turned.reversed_any == pytest.approx(np.nanmean(own.reversed_any))
    assert sum_table(findings(planted().only(metrics=["entropy", "incorrectness"]))) is None
