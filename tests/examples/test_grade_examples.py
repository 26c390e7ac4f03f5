"""The figures of the replication are what their definitions give, on values whose answers are known."""

from pathlib import Path

import numpy as np
import pytest

from examples.grades.replication import bootstrap, findings_of, lines, node_lines, report, shares_of_variance
from examples.grades.utility import STRENGTHS
from examples.grades.utility import lines as utility_lines
from tests.approved.sentences import Approved
from tests.grades.sketched import around_means, node_values
from unveil.data.graph import Graph
from unveil.grades.grades import grade
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.suites import SUITES
from unveil.grades.verdict import groups_of
from unveil.metrics import METRICS
from unveil.studies import Axis, DataSet, Replications, Results, Study, run_study

ROOT = Path(__file__).parents[2]

NAMES = (
    *SUITES["S5"].metrics, "entropy", "min_entropy", "normalized_entropy", "anonymity_set_size", "hiding_property",
    "user_specified_innocence",
)  # fmt: skip


def values() -> ReplicatedMetrics:
    """Return cases in which local attacks have a success rate that is 0.2 above their overall success."""
    rng = np.random.default_rng(3)
    cases = tuple(
        GradedCase(data, protect, attack, "overlap")
        for data in ("mail", "roads", "friends")
        for protect in ("id-removal", "switch", "umga", "k-degree:k=2", "k-degree:k=3")
        for attack in ("NS:theta=0.5", "DV:chunk=100")
    )
    rising = np.array([METRICS[name].more_means == "less private" for name in NAMES])
    made = 0.5 + np.where(rising, 0.02, -0.02)[None, :, None, None] * np.arange(4)[:, None]
    made = made + rng.normal(0, 0.003, (len(cases), len(NAMES), 4, 6))
    made[:, NAMES.index("entropy")] = 2.0  # nothing significant
    made[0, NAMES.index("entropy"), 0, 0] = 3.25
    local = np.array([case.attack.startswith("NS") for case in cases])
    overall = made[:, NAMES.index("adversary_overall_success")]
    made[:, NAMES.index("adversary_success_rate")] = overall + 0.2 * local[:, None, None]
    levels = ((0.6, 0.7, 0.8, 0.9),) * len(cases)
    return ReplicatedMetrics(cases=cases, metrics=NAMES, levels=levels, values=made, rising=rising)


def test_lines_say_what_was_planted() -> None:
    said = list(lines(grade(values(), rng=np.random.default_rng(1)), np.random.default_rng(2)))
    assert "2. entropy: 0.667 (0.667 to 0.667); wrong way in 0%, nothing significant in 100%" in said
    assert "4. local less global: 0.200 (0.200 to 0.200)" in said
    assert "5. NS:theta=0.5: highest entropy 3.250 bits; 100 candidates allow 6.644" in said
    assert {line[0] for line in said} == set("1 234567")


def test_shares_of_variance_are_those_of_plain_regressions() -> None:
    given = values()
    rng = np.random.default_rng(4)
    score = rng.random((len(given.cases), len(NAMES)))
    score[2, 5] = np.nan
    found = shares_of_variance(score, given, np.arange(len(given.cases)))
    rows = [(tuple(case), name, score[i, j]) for i, case in enumerate(given.cases) for j, name in enumerate(NAMES)]
    rows = [row for row in rows if not np.isnan(row[2])]
    response = np.array([row[2] for row in rows])
    by_metric = np.array([[row[1] == name for name in NAMES] for row in rows], float)
    texts = sorted({(part, tuple(case)[part]) for case in given.cases for part in range(3)})
    by_setting = np.array([[row[0][part] == text for part, text in texts] for row in rows], float)
    for share, design in zip(found, (by_metric, by_setting), strict=True):
        left = response - design @ np.linalg.lstsq(design, response, rcond=None)[0]
        assert share == pytest.approx(1 - left @ left / ((response - response.mean()) ** 2).sum(), abs=1e-12)


def test_an_interval_comes_from_drawing_whole_groups() -> None:
    cases = [
        GradedCase("mail", f"{number // 2}", "NS", axis) for number, axis in enumerate(["overlap", "seed_pairs"] * 30)
    ]
    figure = np.repeat(np.random.default_rng(5).standard_normal(30), 2)
    found = bootstrap(lambda rows: float(figure[rows].mean()), groups_of(cases), np.random.default_rng(6))
    error = figure.std() / 30**0.5  # of 30 groups, not of 60 cases
    assert found.value == pytest.approx(figure.mean())
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.15)


def test_nodes_stand_beside_means_and_what_fits_the_figures_of_the_paper_is_named(approved: Approved) -> None:
    given = values()
    nodes = node_values(given, around_means(given, ("pearson_correlation", "incorrectness"), nodes=60))
    said = list(node_lines(grade(given, nodes=nodes, rng=np.random.default_rng(1))))
    assert said[0].startswith("pearson_correlation: evenness of nodes 0.")
    assert said[-1].startswith("metrics of nodes above 0.5 in all three criteria: ")
    without = list(node_lines(grade(given, rng=np.random.default_rng(1))))
    approved(without)


def test_the_report_is_markdown_with_all_parts_of_a_study(tmp_path: Path) -> None:
    plan = Study(
        name="little",
        seed=1,
        data=(DataSet("sample", "graph", "sample:generated-graph"),),
        protections=("id-removal",),
        attacks=("NS", "YG"),
        axes=(Axis("seed_pairs", (20, 200)),),
        replications=Replications(number=2),
    )
    run_study(plan, tmp_path / "little", workers=0)
    rng = np.random.default_rng(0)
    text = "\n".join(report(findings_of([str(tmp_path / "little")], "sample,YG", rng), rng, "sample,YG"))
    assert "| little | 4 of 4 | sample | 1 | 2 | 2 | yes | no |" in text
    assert "| Metric | Reliability | Monotonicity |" in text
    assert "Evenness (nodes) | Range | Range (nodes) |" in text
    assert "No study has calibrated probabilities." in text
    assert "**Product and sum of the metrics" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    heads = [number for number, line in enumerate(tables) if set(line) == set("|-")]
    for first, last in zip(heads, [*(head - 1 for head in heads[1:]), len(tables)], strict=True):
        assert len({line.count("|") for line in tables[first - 1 : last]}) == 1


def test_losses_are_graded_by_protections_that_grow() -> None:
    rng = np.random.default_rng(2)
    ends = rng.integers(0, 40, (2, 160))
    said = list(utility_lines({"small": Graph.from_edges(*ends)}, 2, seed=1))
    assert len(said) == 2 + 7
    assert said[0].count("|") == said[2].count("|") == 7 + len(STRENGTHS)
    rows = {line.split("|")[1].strip(): line.split("|") for line in said[2:]}
    # Switching keeps all degrees, so that their distance says nothing, and loses edges surely.
    place = [cell.strip() for cell in said[0].split("|")].index("switch")
    assert rows["degree distance"][place].strip() == "0.67"
    assert float(rows["edge difference"][place]) > 0.8


@pytest.mark.parametrize("name", ["paper-1", "paper-2", "table-8"])
def test_results_that_are_kept_are_those_of_the_study_and_the_page_says_how_many(name: str) -> None:
    kept = Results.read(ROOT / "studies" / "results" / f"{name}.parquet")
    plan = Study.read(ROOT / "studies" / f"{name}.toml")
    assert [each.name for each in kept.study.data] == [each.name for each in plan.data]
    assert (kept.study.protections, kept.study.attacks) == (plan.protections, plan.attacks)
    assert (kept.study.axes, kept.study.replications) == (plan.axes, plan.replications)
    assert kept.failed == ()
    figures = (ROOT / "docs" / "research" / "replication-figures.md").read_text(encoding="utf-8")
    assert f"| {name} | {len(kept.fine)} of {len(kept.scenarios)} |" in figures
