"""What is said and drawn of grades: the headline, every picture's numbers, tables, notes, LaTeX, and a small page."""

import math
import re
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.grades.planted import METRICS, planted
from tests.report.test_page import Reader
from unveil.grades.factors import explain
from unveil.grades.grades import Grades, grade
from unveil.grades.mars import Hinge, MarsTerm
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.suites import Suite
from unveil.questions.grade_metrics.details import details_of
from unveil.questions.grade_metrics.findings import AttackFacts, Detail, GradedStudy, GradesFindings
from unveil.questions.grade_metrics.run import notes_of
from unveil.questions.grade_metrics.sections.cases import (
    detail_boxes,
    factors_sentence,
    group_table,
    heat_map,
    maxima_boxes,
    success_boxes,
    term_table,
)
from unveil.questions.grade_metrics.sections.metrics import ranking_boxes, ranking_table, reason_table
from unveil.questions.grade_metrics.sections.suites import (
    example_table,
    found_table,
    held_out_table,
    search_conclusion,
    suite_score_table,
    suite_table,
)
from unveil.questions.grade_metrics.view import VIEW, explanation, headline, meanings, page, summary_table, to_latex
from unveil.questions.result import Result
from unveil.report.blocks import Page
from unveil.report.blocks_spread import HeatMap
from unveil.report.page import render
from unveil.report.text import labels
from unveil.report.trust import RELIABILITY
from unveil.studies import Axis, DataSet, Replications, Study
from unveil.studies.results import Counts

RNG = np.random.default_rng
NS, DV = "NS:theta=0.5", "DV:theta=0,chunk=100"
DONE = Counts(total=64, fine=64, failed=0, damaged=0, missing=0)


def findings(
    values: ReplicatedMetrics | None = None, *, wanted: tuple[str, ...] = (), **changes: Any
) -> GradesFindings:
    """Return what grading planted values finds."""
    values = planted() if values is None else values
    grades = changes.pop("grades", None) or grade(values, rng=RNG(1))
    study = GradedStudy(study=plan(), version="1.2.3", counts=changes.pop("counts", DONE))
    scores = grades.scores.monotonicity.score
    told: dict[str, Any] = {
        "grades": grades,
        "studies": (study,),
        "factors": (explain(scores, values, response="monotonicity"),) if np.isfinite(scores).any() else (),
        "details": details_of(grades, wanted)[0],
        "attacks": {
            NS: AttackFacts(called="NS", scope="local"),
            DV: AttackFacts(called="DV", scope="global", chunk=100),
        },
        "protections": labels(tuple(dict.fromkeys(case.protect for case in grades.values.cases))),
        "notes": notes_of(grades, (study,)),
        "version": "1.2.3",
    }
    return GradesFindings(**{**told, **changes})


def plan() -> Study:
    return Study(
        name="planted",
        seed=1,
        data=(DataSet("mail", "graph", "x"), DataSet("roads", "graph", "y")),
        protections=("id-removal", "switch:share=0.1"),
        attacks=(NS, DV),
        axes=(Axis("overlap", (0.6, 0.7, 0.8, 0.9)), Axis("seed_pairs", (5, 10, 20, 50))),
        replications=Replications(number=6),
    )


#: How many there are in the planted study.
CASES = 16


@pytest.fixture(scope="module")
def found() -> GradesFindings:
    return findings()


def changed(values: ReplicatedMetrics, numbers: Any, **changes: Any) -> ReplicatedMetrics:
    told = {name: getattr(values, name) for name in ("cases", "metrics", "levels", "rising")}
    return ReplicatedMetrics(**{**told, "values": np.array(numbers), **changes})


def test_the_headline_counts_reliable_metrics_and_names_the_best(found: GradesFindings) -> None:
    reliable = found.by_verdict("use")
    best = reliable[0].metric.replace("_", " ")
    assert headline(found) == f"{len(reliable)} of {len(METRICS)} metrics are reliable in {CASES} cases; best: {best}."
    wrong = " and ".join(each.metric.replace("_", " ") for each in found.by_verdict("do not rank by it"))
    assert explanation(found)[0].startswith(f"Unreliable: {wrong}.")
    assert page(found).tone == "neutral"


def test_where_nothing_can_be_trusted_the_headline_warns() -> None:
    values = planted()
    still = findings(changed(values, np.full(values.values.shape, 0.5)))
    assert headline(still) == f"No metric is reliable ({CASES} cases)."
    assert page(still).tone == "warning"
    single = findings(changed(values, values.values[..., :1]))
    assert headline(single).startswith("No metric can be graded")
    one_case = findings(values.only(cases=np.array([0])))
    assert headline(one_case).startswith("No metric is reliable (1 case; best: ")


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (
            "adversary_success_rate",
            "Adversary success rate is reliable in {} cases: monotone in attacker strength.",
        ),
        ("min_entropy", "Min entropy is unreliable in {} cases: it changes significantly in no case."),
    ],
)
def test_of_a_single_metric_the_headline_says_one_thing(metric: str, text: str) -> None:
    assert headline(findings(planted().only(metrics=[metric]))) == text.format(CASES)


def test_the_summary_has_the_best_metric_of_each_reliability(found: GradesFindings) -> None:
    rows = summary_table(found).rows
    present = {RELIABILITY[each.verdict] for each in found.grades.metrics}
    assert [row[0] for row in rows] == [
        name for name in ("reliable", "limited", "unreliable", "not graded") if name in present
    ]
    assert sum(int(row[1]) for row in rows) == len(METRICS)
    best = found.by_verdict("use")[0]
    assert rows[0][2:4] == (
        best.metric.replace("_", " "),
        f"{best.monotonicity.mean:.3f} ({best.monotonicity.low:.2f}–{best.monotonicity.high:.2f})",
    )
    picture = page(found).picture
    assert [block.title for block in picture[:1] if isinstance(block, HeatMap)] == ["Monotonicity by case"]
    assert picture[1:] == (summary_table(found),)
    careful = findings(planted().only(cases=np.array([0])))
    assert [each.verdict for each in careful.first] == ["with care"] * len(careful.first)
    # What moves with the number of targets comes last.
    assert [each.counts_targets for each in careful.first] == sorted(each.counts_targets for each in careful.first)


def test_two_cases_that_agree_by_chance_are_not_enough_to_trust_a_metric() -> None:
    few = findings(planted().only(cases=np.arange(4)))
    grades = few.grades.metric("adversary_overall_success")
    assert (grades.monotonicity.groups, grades.monotonicity.low) == (2, 1.0)
    assert (grades.verdict, grades.reason[:14]) == ("with care", "2 combinations")
    assert not few.by_verdict("use")


@pytest.mark.parametrize("score", ["monotonicity", "evenness", "shared_range"])
def test_rankings_hold_all_scores_the_highest_mean_first(found: GradesFindings, score: str) -> None:
    boxes = ranking_boxes(found, score)
    assert len(boxes.rows) == len(METRICS)
    means = [row.boxes[0].mean for row in boxes.rows if row.boxes[0] and row.boxes[0].number]
    assert means == sorted(means, reverse=True)
    assert {row.name for row in boxes.rows if row.bold} == {
        "adversary overall success",
        "adversary success rate",
        "amount of leaked information",
    }
    row = next(row for row in boxes.rows if row.name == "entropy")
    mean = getattr(found.grades.metric("entropy"), score)
    assert row.boxes[0] is not None
    assert row.boxes[0].mean == pytest.approx(mean.mean)
    assert row.boxes[0].interval == (mean.low, mean.high)
    assert bool(boxes.thresholds) == (score == "monotonicity")


def test_the_heat_map_has_a_mean_over_the_axes_per_attack_protection_and_data(found: GradesFindings) -> None:
    heat = heat_map(found)
    assert heat.values.shape == (len(METRICS), 8)
    assert heat.columns[0] == ("NS", "id-removal", "mail")
    assert [column[0] for column in heat.columns] == ["NS"] * 4 + ["DV"] * 4
    values = found.grades.values
    rows = [
        n
        for n, case in enumerate(values.cases)
        if (case.attack, case.protect, case.data) == (DV, "id-removal", "roads")
    ]
    assert len(rows) == 2
    name = found.grades.metrics[0].metric
    mean = found.grades.scores.monotonicity.score[rows, values.metrics.index(name)].mean()
    at = heat.columns.index(("DV", "id-removal", "roads"))
    assert heat.values[0, at] == pytest.approx(mean)
    assert np.isnan(heat.values[heat.rows.index("max entropy")]).all()


def test_a_detail_shows_each_level_with_its_mean_and_the_score(found: GradesFindings, approved: Approved) -> None:
    values = found.grades.values
    boxes = detail_boxes(found, Detail(metric="incorrectness", case=found.grades.values.cases[1], why="asked for"))
    own = values.values[1, values.metrics.index("incorrectness")]
    assert [row.name for row in boxes.rows] == ["5", "10", "20", "50"]
    assert [row.boxes[0].mean for row in boxes.rows if row.boxes[0]] == pytest.approx(own.mean(axis=1).tolist())
    first = boxes.rows[0].boxes[0]
    assert first is not None
    assert first.interval is not None
    assert first.interval[0] < first.mean < first.interval[1]
    assert boxes.more_private == "right"
    assert "Monotonicity 1.000: 6 of 6 tests are significant. Asked for." in boxes.caption
    approved(boxes.title)
    low, high = boxes.x_range
    assert low <= own.min() <= own.max() <= high
    flat = detail_boxes(found, Detail(metric="min_entropy", case=found.grades.values.cases[0], why="asked for"))
    assert flat.x_range[0] < 0.25 < flat.x_range[1]
    missing = detail_boxes(found, Detail(metric="max_entropy", case=found.grades.values.cases[0], why="asked for"))
    assert missing.caption.startswith("No pair of levels could be tested")


def test_maxima_are_shown_by_attack_only_where_an_attack_has_chunks(found: GradesFindings) -> None:
    pictures = maxima_boxes(found)
    assert [each.x_label for each in pictures] == ["entropy", "adversary success rate"]
    assert [(row.name, row.note) for row in pictures[0].rows] == [("NS", ""), ("DV", "chunks of 100")]
    values = found.grades.values
    rows = [n for n, case in enumerate(values.cases) if case.attack == NS]
    most = values.values[rows, values.metrics.index("entropy")].max(axis=(1, 2))
    box = pictures[0].rows[0].boxes[0]
    assert box is not None
    assert box.mean == pytest.approx(most.mean())
    assert box.number == len(rows)
    free = replace(found, attacks={name: replace(facts, chunk=None) for name, facts in found.attacks.items()})
    assert maxima_boxes(free) == ()


def test_success_rate_and_overall_success_stand_side_by_side(found: GradesFindings) -> None:
    boxes = success_boxes(found)
    assert boxes is not None
    assert [row.name for row in boxes.rows] == ["NS (local)", "DV (global)"]
    values = found.grades.values
    rows = [n for n, case in enumerate(values.cases) if case.attack == DV]
    for at, name in enumerate(("adversary_success_rate", "adversary_overall_success")):
        box = boxes.rows[1].boxes[at]
        assert box is not None
        assert box.mean == pytest.approx(values.means[rows, values.metrics.index(name)].mean())
    assert success_boxes(findings(planted().only(metrics=["entropy", "incorrectness"]))) is None


def test_the_ranking_table_has_all_scores_and_the_reliability(found: GradesFindings) -> None:
    rows = {row[0]: row for row in ranking_table(found).rows}
    assert list(rows)[-3:] == ["min entropy", "entropy", "max entropy"]
    assert rows["min entropy"][1:5] == ("unreliable", "0.667 (0.67–0.67)", "100%", "0%")
    assert rows["max entropy"][1:] == ("not graded", *("undefined",) * 5)
    assert len(rows) == len(METRICS)
    assert rows["entropy"][4] == "100%"
    reasons = {row[0]: row for row in reason_table(found).rows}
    assert reasons["entropy"][1].startswith("on average no better")
    assert reasons["incorrectness"][2:] == ("1.000", "1.000")


def test_suites_are_shown_with_weights_shares_and_scores(found: GradesFindings) -> None:
    table = suite_table(found)
    assert table is not None
    rows = {row[0]: row for row in table.rows}
    assert "amount of leaked information 0.25" in rows["S5"][3]
    scores = suite_score_table(found)
    assert scores is not None
    assert len(scores.rows) == 5
    example = example_table(found)
    assert example is not None
    assert [row[0] for row in example.rows][-1] == "suite S5"
    assert len(example.rows) == 8
    none = findings(planted().only(metrics=["entropy", "incorrectness"]))
    assert (suite_table(none), suite_score_table(none), example_table(none)) == (None,) * 3


def test_the_search_says_what_holds_elsewhere(found: GradesFindings) -> None:
    searches = dict(found.grades.searches)
    table = held_out_table(searches)
    assert table is not None
    assert [row[2] for row in table.rows[:3]] == ["single metric", "equal weights", "optimized weights"]
    assert table.rows[0][5] == ""
    assert "+0.0 (+0.0 to +0.0)" in table.rows[1][5]
    name, search = next(iter(searches.items()))
    assert "120 suites" in found_table(name, search).note
    assert held_out_table({}) is None
    assert search_conclusion(found).endswith("none is significant.")
    one = findings(planted().only(cases=np.arange(2)))
    name, search = next(iter(one.grades.searches.items()))
    assert "too few attacks" in found_table(name, search).note
    assert "Too few attacks" in search_conclusion(findings(planted().only(metrics=["entropy", "incorrectness"])))


def test_a_product_of_factors_is_shown_with_the_names_of_both(found: GradesFindings) -> None:
    hinges = (Hinge(0, "attack narayanan-shmatikov:theta=1", 0, indicator=True), Hinge(1, "average_degree", 7))
    factors = found.factors[0]
    model = replace(factors.mars, terms=(MarsTerm(hinges, 0.25, 0.1),))
    facts = {hinges[0].name.removeprefix("attack "): AttackFacts(called="NS")}
    shown = term_table(replace(found, attacks=facts), replace(factors, mars=model)).rows[1]
    assert shown[0] == f"attack: NS × {hinges[1].text()}"


def test_factors_are_shown_by_group_and_term_by_term(found: GradesFindings) -> None:
    groups = group_table(found)
    assert groups is not None
    shares = {row[0]: row[1] for row in groups.rows}
    assert shares["the metric"] == ">99.9%"
    assert "more than data, protection" in factors_sentence(found)
    table = term_table(found, found.factors[0], at_most=2)
    assert [row[0] for row in table.rows[:2]] == ["(always)", "metric: entropy"]
    assert len(table.rows) == 3
    nothing = replace(found, factors=())
    assert (group_table(nothing), factors_sentence(nothing)) == (None, "")


def test_the_rule_for_zeros_is_stated_where_there_are_any(found: GradesFindings) -> None:
    assert found.suite_notes == ()
    values = planted()
    numbers = np.array(values.values)
    numbers[0, values.metrics.index("adversary_overall_success"), 0] = 0.0
    said = list(findings(changed(values, numbers)).suite_notes)
    assert "cannot take zeros" in said[0]
    assert "adversary overall success (1 of 64, in 1 case)" in said[1]


def pages(found: GradesFindings) -> list[Page]:
    values = planted()
    return [
        page(found),
        page(findings(changed(values, values.values[..., :1]))),
        page(findings(changed(values, np.full(values.values.shape, 0.5)))),
        page(findings(values.only(cases=np.array([0]), metrics=["entropy"]))),
    ]


def test_every_page_is_whole_small_and_escaped(found: GradesFindings) -> None:
    for each in pages(found):
        html = render(each)
        assert len(html.encode()) < 1_000_000
        assert Reader(html).open == []
        assert "nan" not in re.sub(r"<[^>]*>", " ", html).lower().split()
        assert all(len(section.lead) <= 800 for section in each.sections), "a longer lead would be cut"
        headings = [section.heading for section in each.sections]
        assert headings[0] == "Metrics"
        assert len(headings) <= 4
    wild = replace(found, notes=("<script>alert(1)</script>",))
    assert "<script>alert" not in render(page(wild))


def test_a_study_as_large_as_that_of_the_paper_fits_a_page() -> None:
    # Without the metrics of suites, which are not what takes room, this takes seconds less.
    base = planted(replications=2).only(metrics=[name for name in METRICS if name != "absolute_error"])
    cases = tuple(
        replace(case, data=f"data{d}", protect=f"protection{p}", attack=f"attack{a}")
        for d in range(11)
        for p in range(11)
        for a in range(6)
        for case in base.cases[:2]
    )
    rng = RNG(5)
    large = ReplicatedMetrics(
        cases=cases,
        metrics=base.metrics,
        levels=tuple(base.levels[0] if case.axis == "overlap" else base.levels[1] for case in cases),
        values=rng.normal(0.5, 0.1, (len(cases), len(base.metrics), 4, 4)),
        rising=base.rising,
    )
    grades: Grades = grade(large, rng=RNG(1))
    attacks = {f"attack{a}": AttackFacts(called=f"attack{a}") for a in range(6)}
    found = findings(large, grades=grades, attacks=attacks)
    assert heat_map(found).values.shape == (len(METRICS) - 1, 726)
    assert len(render(page(found)).encode()) < 1_000_000


def test_it_is_said_what_the_rule_of_the_paper_would_let_pass(found: GradesFindings) -> None:
    assert "would pass 8 of 10" in page(found).sections[0].lead


def test_latex_has_every_table_balanced_and_escaped(found: GradesFindings) -> None:
    text = to_latex(found)
    marks = re.findall(r"\\label\{(.*?)\}", text)
    assert marks[:4] == ["tab:ranking", "tab:factors-monotonicity", "tab:variance", "tab:suites"]
    assert {"tab:suite-scores", "tab:suite-example", "tab:held-out", "tab:search-1"} <= set(marks)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == len(marks)
    assert "0.667 (0.67\\textendash{}0.67)" in text
    for line in text.splitlines():
        assert "%" not in line.replace(r"\%", "") or line.startswith("% ")


def test_latex_says_which_letters_need_another_engine(found: GradesFindings) -> None:
    assert "XeLaTeX" not in to_latex(found)
    values = planted()
    cases = tuple(replace(case, data=f"\u05d0{case.data}") for case in values.cases)
    assert "pdfLaTeX" in to_latex(findings(changed(values, values.values, cases=cases)))


def test_names_of_studies_are_shown_as_they_are(found: GradesFindings) -> None:
    odd = replace(found.studies[0].study, name="a\\b'c")
    assert page(replace(found, studies=(replace(found.studies[0], study=odd),))).facts[0] == "study 'a\\b'c'"


def test_a_suite_of_ones_own_is_in_every_table() -> None:
    grades = grade(planted(), suites=[Suite.parse("mine:entropy=0.25,incorrectness=0.75")], rng=RNG(1))
    found = findings(grades=grades)
    table = suite_table(found)
    assert table is not None
    assert any(row[0] == "mine" and "entropy 0.25" in row[3] for row in table.rows)
    assert "mine" in to_latex(found)
    assert not math.isnan(next(each for each in grades.suites if each.suite.name == "mine").whole.mean)


def test_the_answer_has_a_row_per_case_and_metric_and_a_meaning_per_quantity(found: GradesFindings) -> None:
    answer = Result(found, VIEW)
    frame = answer.to_polars()
    assert frame.height == len(found.grades.values.cases) * len(METRICS)
    for row in frame.iter_rows(named=True):
        names = [case for case in found.grades.values.cases if asdict(case).items() <= row.items()]
        case, column = found.grades.values.cases.index(names[0]), found.grades.values.metrics.index(row["metric"])
        score = found.grades.scores.monotonicity.score[case, column]
        assert row["monotonicity"] == (None if math.isnan(score) else score)
    assert list(answer.quantities) == list(meanings())
    assert answer.quantities["reliable_metrics"].value == len(found.by_verdict("use"))
    assert repr(answer) == f"<Result: {headline(found)}>"
