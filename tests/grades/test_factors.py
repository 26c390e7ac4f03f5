"""What explains a grade: shares as by plain regression, planted effects found again, gaps counted and told."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.approved.sentences import Approved
from tests.studies.small import small_study
from unveil.errors import InputError
from unveil.grades.factors import GRAPH_STATISTICS, _shares, explain, scope_of, statistics_of, types_of
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.metrics.graphs.statistics import graph_statistics
from unveil.studies import DataSet, Results, Study, run_study
from unveil.studies.sources import graph_of

Floats = NDArray[np.float64]
STUDIES = Path(__file__).parents[2] / "studies"

DATA = ("arxiv", "caida", "dnc", "pgp")
PROTECTIONS = ("id-removal", "k-degree:k=5", "switch:share=0.05")
ATTACKS = ("NS:theta=0.5", "KL:theta=1,chunk=100", "DV:theta=0,chunk=100", "my.package:Attack")
METRICS = ("entropy", "pearson_correlation", "adversary_success_rate", "incorrectness")
TYPES = {"arxiv": "coauthors", "caida": "computer", "dnc": "communication"}
STATISTICS = {
    name: {"nodes": nodes, "gini": gini}
    for name, nodes, gini in zip(DATA, (18771.0, 26475.0, 1866.0, 10680.0), (0.61, 0.63, 0.71, 0.59), strict=True)
}


def graded(cases: list[GradedCase] | None = None, metrics: tuple[str, ...] = METRICS) -> ReplicatedMetrics:
    """Return values of a grid, which only their names matter of."""
    every = product(DATA, PROTECTIONS, ATTACKS, ("seed_pairs", "overlap"))
    made = tuple(cases or (GradedCase(*each) for each in every))
    return ReplicatedMetrics(
        cases=made,
        metrics=metrics,
        levels=((1.0, 2.0),) * len(made),
        values=np.zeros((len(made), len(metrics), 2, 1)),
        rising=np.zeros(len(metrics), bool),
    )


def planted(values: ReplicatedMetrics, seed: int = 1) -> Floats:
    """Return scores that depend on the metric most, then on a protection and an attack, and on nothing else."""
    noise = np.random.default_rng(seed).normal(0, 0.02, (len(values.cases), len(values.metrics)))
    of_metric = np.array(
        [{"adversary_success_rate": 0.3, "pearson_correlation": 0.15}.get(m, 0.0) for m in values.metrics]
    )
    of_case = [0.08 * (case.protect == "k-degree:k=5") - 0.05 * case.attack.startswith("KL") for case in values.cases]
    found: Floats = 0.34 + of_metric + np.array(of_case)[:, None] + noise
    return found


def by_regression(labels: list[list[Any]], score: Floats) -> float:
    """Return R² of a plain regression on dummies of the labels and on plain numbers."""
    columns = [np.ones(score.size)]
    for each in labels:
        if isinstance(each[0], float):
            columns.append(np.array(each) / np.max(each))
        else:
            columns += [np.array([label == name for label in each], float) for name in set(each) if name]
    design = np.column_stack(columns)
    left = score - design @ np.linalg.lstsq(design, score, rcond=None)[0]
    return 1 - float(left @ left) / float(((score - score.mean()) ** 2).sum())


def test_planted_effects_are_found_again() -> None:
    values = graded()
    found = explain(planted(values), values, STATISTICS, TYPES, response="monotonicity")
    terms = {term.text: term.coefficient for term in found.mars.terms}
    assert terms["metric adversary_success_rate"] == pytest.approx(0.3, abs=0.01)
    assert terms["metric pearson_correlation"] == pytest.approx(0.15, abs=0.01)
    assert terms["protection k-degree:k=5"] == pytest.approx(0.08, abs=0.01)
    assert terms["attack KL:theta=1,chunk=100"] == pytest.approx(-0.05, abs=0.01)
    assert len(terms) == 4
    assert found.mars.terms[0].text == "metric adversary_success_rate"
    assert found.mars.formula(found.response).startswith(
        "monotonicity =\n  0.34\n  + 0.3 * metric adversary_success_rate\n"
    )
    assert (found.rows, found.undefined, found.notes) == (4 * 3 * 4 * 2 * 4, 0, ())
    assert found.groups["metric"] > 0.8 > 0.15 > found.groups["setting"] > found.groups["protection"]
    assert found.groups["data"] < 0.02


def test_shares_are_those_of_plain_regressions() -> None:
    values = graded()
    score = planted(values) + 0.03 * np.array([case.data == "dnc" for case in values.cases])[:, None]
    found = explain(score, values, STATISTICS, TYPES)
    flat = [(case, metric) for case in values.cases for metric in values.metrics]
    labels: dict[str, list[Any]] = {
        "metric": [metric for _, metric in flat],
        "data": [case.data for case, _ in flat],
        "protection": [case.protect for case, _ in flat],
        "attack": [case.attack for case, _ in flat],
        "type": [TYPES.get(case.data, "") for case, _ in flat],
        "scope": [{"N": "local", "K": "local", "D": "global", "m": ""}[case.attack[0]] for case, _ in flat],
        "axis": [case.axis for case, _ in flat],
    }
    numbers = [[STATISTICS[case.data][name] for case, _ in flat] for name in ("nodes", "gini")]
    setting = [labels[name] for name in ("data", "protection", "attack", "type")]
    rest = [*setting, labels["scope"], labels["axis"], *numbers]
    expected = {name: by_regression([each], score.ravel()) for name, each in labels.items()}
    expected |= {"setting": by_regression(setting, score.ravel()), "statistics": by_regression(numbers, score.ravel())}
    expected["everything but the metric"] = by_regression(rest, score.ravel())
    expected["everything"] = by_regression([labels["metric"], *rest], score.ravel())
    expected["metric, given the rest"] = expected["everything"] - expected["everything but the metric"]
    assert found.groups == pytest.approx(expected, abs=1e-9)
    parameters = {name: share.parameters for name, share in found.shares.items()}
    # A type is a sum of data sets, a statistic differs by data set, a scope is a sum of attacks: they add nothing.
    assert parameters["metric"] == parameters["data"] == parameters["attack"] == parameters["type"] == 3
    assert (parameters["setting"], parameters["statistics"], parameters["scope"], parameters["axis"]) == (8, 2, 2, 1)
    assert (parameters["everything"], parameters["metric, given the rest"]) == (12, 3)


def test_what_has_nothing_to_do_with_the_score_explains_what_chance_does() -> None:
    rng = np.random.default_rng(3)
    groups = ["metric"] * 4 + ["data"] * 6 + ["axis"]
    features = np.column_stack([np.eye(4)[rng.integers(4, size=60)], rng.normal(size=(60, 7))])
    tries = [_shares(features, groups, rng.normal(size=60)) for _ in range(800)]
    assert {name: share.parameters for name, share in tries[0].items()} == {
        "metric": 3,
        "data": 6,
        "setting": 6,
        "axis": 1,
        "everything": 10,
        "everything but the metric": 7,
        "metric, given the rest": 3,
    }
    for name in tries[0]:
        shares, chances = (np.array([getattr(each[name], what) for each in tries]) for what in ("r_squared", "chance"))
        assert abs(shares.mean() - chances.mean()) < 4 * shares.std() / np.sqrt(800)
    # Chance is neither nothing nor much.
    assert tries[0]["metric"].chance == pytest.approx(3 / 59)


def test_undefined_scores_are_left_out_and_counted() -> None:
    values = graded()
    score = planted(values)
    score[:, 0] = np.nan
    score[:10, 1] = np.inf
    found = explain(score, values, STATISTICS, TYPES)
    assert (found.rows, found.undefined) == (96 * 3 - 10, 96 + 10)
    assert found.mars.rows == found.rows
    assert found.shares["metric"].parameters == 2
    assert not any("entropy" in term.text for term in found.mars.terms)
    nothing = explain(np.full((96, 4), np.nan), values, STATISTICS, TYPES)
    assert (nothing.rows, nothing.undefined, dict(nothing.groups), nothing.mars.terms) == (0, 384, {}, ())


def test_equal_scores_leave_nothing_to_explain() -> None:
    values = graded()
    found = explain(np.full((96, 4), 2 / 3), values, STATISTICS, TYPES)
    assert np.isnan(list(found.groups.values())).all()
    assert found.mars.terms == ()
    assert found.mars.intercept == 2 / 3


def test_a_group_that_does_not_vary_is_left_out() -> None:
    cases = [GradedCase("dnc", "id-removal", attack, "overlap") for attack in ("NS", "KL", "my.package:Attack")]
    values = graded(cases)
    found = explain(planted(values), values, STATISTICS, TYPES)
    assert list(found.groups) == [
        "metric",
        "attack",
        "setting",
        "scope",
        "everything",
        "everything but the metric",
        "metric, given the rest",
    ]
    one = graded([GradedCase("dnc", "id-removal", "NS", "overlap")], ("entropy",))
    alone = explain(np.array([[0.4]]), one, STATISTICS)
    assert (alone.rows, dict(alone.groups), alone.mars.intercept) == (1, {}, 0.4)
    two = graded(cases[:2], ("entropy",))
    assert list(explain(np.array([[0.4], [0.5]]), two).groups) == ["attack", "setting", "everything"]


def test_the_order_of_cases_does_not_matter() -> None:
    values = graded()
    score = planted(values)
    order = np.random.default_rng(4).permutation(96)
    other = explain(score[order], values.only(cases=order), STATISTICS, TYPES)
    found = explain(score, values, STATISTICS, TYPES)
    assert other.mars == found.mars
    assert other.groups == pytest.approx(found.groups, abs=1e-12)


def test_statistics_that_are_not_known_of_all_data_are_no_factors(approved: Approved) -> None:
    values = graded()
    some = {name: each for name, each in STATISTICS.items() if name != "pgp"}
    found = explain(planted(values), values, some)
    assert "statistics" not in found.groups
    assert found.notes[0].startswith("Statistics of the data are no factors here: they are not known of pgp, and")
    undefined = {**STATISTICS, "pgp": {"nodes": 10680.0, "gini": np.nan}, "dnc": {"nodes": 1866.0}}
    found = explain(planted(values), values, undefined)
    assert found.shares["statistics"].parameters == 1
    approved(found.notes)


def test_interactions_explain_what_a_sum_cannot() -> None:
    values = graded()
    either = np.array([case.axis == "overlap" for case in values.cases])[:, None]
    score = planted(values) + 0.2 * either * (np.array(METRICS) == "entropy")
    plain, crossed = (explain(score, values, interactions=degree).mars for degree in (1, 2))
    assert crossed.r_squared > 0.97 > plain.r_squared
    assert {frozenset(term.text.split(" * ")) for term in crossed.terms} >= {
        frozenset({"axis overlap", "metric entropy"})
    }


def test_scores_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"a score for each of 96 cases and 4 metrics, but their shape is \(4, 96\)"):
        explain(np.zeros((4, 96)), graded())


@pytest.mark.parametrize(
    ("attack", "scope"),
    [
        ("NS", "local"),
        ("ns:theta=0.5", "local"),
        (" KL:theta=1,chunk=100", "local"),
        ("JLSB:theta=0", "global"),
        ("adaptive-deanonymization", "global"),
        ("record-linkage:neighbours=3", ""),
        ("my.package:Attack", ""),
        ("tests.studies.own:Guess:among=2", ""),
    ],
)
def test_the_scope_of_an_attack_is_that_of_its_listing(attack: str, scope: str) -> None:
    assert scope_of(attack) == scope


def test_the_studies_of_the_paper_have_the_types_of_its_table_1() -> None:
    expected = {
        **dict.fromkeys(("dblp", "cora"), "citation"),
        "arxiv": "coauthors",
        **dict.fromkeys(("dnc", "irvine", "manufacturing"), "communication"),
        "caida": "computer",
        **dict.fromkeys(("elections", "pgp"), "online contact"),
        **dict.fromkeys(("google", "facebook"), "social"),
    }
    steps = [types_of(Study.read(STUDIES / f"paper-{number}.toml")) for number in range(1, 5)]
    assert steps[0] | steps[1] | steps[2] == steps[3] == expected
    assert types_of(Study.read(STUDIES / "quick.toml")) == {}


def test_statistics_are_those_of_the_graphs(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    gone = DataSet("gone", "graph", "$UNVEIL_NO_SUCH_FOLDER/graph.txt")
    found, notes = statistics_of(replace(study, data=(*study.data, gone)), rng=np.random.default_rng(1))
    told = graph_statistics(graph_of(study.data[0]))
    assert found == {"small": {name.replace("_", " "): getattr(told, name) for name in GRAPH_STATISTICS}}
    assert found["small"]["average degree"] == 2 * found["small"]["edges"] / found["small"]["nodes"]
    (note,) = notes
    assert note.startswith(
        "The statistics of gone could not be computed: the source '$UNVEIL_NO_SUCH_FOLDER/graph.txt'"
    )


def test_statistics_of_other_data_than_the_results_are_of_are_not_believed(tmp_path: Path, approved: Approved) -> None:
    study = small_study(tmp_path)
    run_study(study, tmp_path / "out", workers=0)
    results = Results.read(tmp_path / "out")
    found, notes = statistics_of(results, rng=np.random.default_rng(1))
    assert (list(found), notes) == (["small"], ())
    source = Path(study.data[0].source)
    source.write_text(source.read_text() + "1,77\n")
    found, notes = statistics_of(results, rng=np.random.default_rng(1))
    assert found == {}
    approved(notes[0])
