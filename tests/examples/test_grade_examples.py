"""The figures of the replication are what their definitions give, on values whose answers are known."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

from examples.grades.axes import complete, first, mean_over_graphs, seeds_counted
from examples.grades.findings import (
    OURS,
    SEEDS,
    ceiling_table,
    cell_share,
    inflation_table,
    metric_table,
    replication_table,
    suite_table,
)
from examples.grades.replication import report, without_repeats
from examples.grades.utility import STRENGTHS
from examples.grades.utility import lines as utility_lines
from unveil.data.graph import Graph
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.scores import Scores
from unveil.grades.suites import SUITES
from unveil.metrics import METRICS
from unveil.studies import Axis, DataSet, Replications, Results, Study, run_study
from unveil.studies.sources import graph_of

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


def scores() -> dict[str, Scores]:
    return dict.fromkeys((OURS, SEEDS), Scores.of(values()))


def cells(lines: Iterable[str], first: str) -> list[str]:
    """Return the cells of the row that begins with a word."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]
    return next(row for row in rows if row[0] == first)


def test_tables_say_what_was_planted() -> None:
    assert cells(metric_table(scores()), "entropy")[1:4] == ["0.667 (0.667 to 0.667)", "0%", "–"]
    inflated = cells(inflation_table(scores()), "overlap")
    assert inflated == ["overlap", OURS, "+0.20 (+0.20 to +0.20)", "+0.00 (+0.00 to +0.00)"]
    assert cells(ceiling_table(values()), "NS")[1] == "3.250"
    suites = [line for line in suite_table(scores()) if "100.0 (100.0 to 100.0)" in line]
    assert len(suites) == 2 * 2 * 6  # both conventions, one axis and both together, five suites and the single metric
    assert cells(replication_table(values()), "5")[1:3] == ["overlap", "1.000"]


def test_shares_of_variance_are_those_of_plain_regressions() -> None:
    given = values()
    score = np.random.default_rng(4).random((len(given.cases), len(NAMES)))
    score[2, 5] = np.nan
    for labels in (None, [case.protect for case in given.cases]):
        groups = labels or [""] * len(score)
        keys = [(group, name) for group in groups for name in NAMES]
        there = ~np.isnan(score.ravel())
        design = np.array([[key == other for other in dict.fromkeys(keys)] for key in keys], float)[there]
        response = score.ravel()[there]
        left = response - design @ np.linalg.lstsq(design, response, rcond=None)[0]
        expected = 1 - left @ left / ((response - response.mean()) ** 2).sum()
        assert cell_share(score, labels) == pytest.approx(expected, abs=1e-12)


def test_an_interval_comes_from_leaving_out_whole_graphs() -> None:
    cases = [GradedCase(f"graph {number // 6}", "switch", f"{number}", "overlap") for number in range(48)]
    graphs = np.random.default_rng(5).standard_normal(8)
    found = mean_over_graphs(np.repeat(graphs, 6), cases)
    half = stdtrit(7, 0.975) * graphs.std(ddof=1) / 8**0.5  # of 8 graphs, not of 48 cases
    assert found == pytest.approx((graphs.mean(), graphs.mean() - half, graphs.mean() + half))


def little_study(folder: Path) -> Path:
    plan = Study(
        name="little",
        seed=1,
        data=(DataSet("sample", "graph", "sample:generated-graph"),),
        protections=("id-removal",),
        attacks=("NS", "YG"),
        axes=(Axis("seed_pairs", (20, 200)),),
        replications=Replications(number=2),
    )
    run_study(plan, folder / "little", workers=0)
    return folder / "little"


def test_seeds_are_counted_as_targets_and_as_finds(tmp_path: Path) -> None:
    results = Results.read(little_study(tmp_path))
    nodes = graph_of(results.study.data[0]).nodes
    frame = results.frame
    seeds, finds = frame["level"].to_numpy(), frame["correct"].to_numpy()
    assert frame["adversary_overall_success"].to_numpy() == pytest.approx(finds / (nodes - seeds))
    counted = seeds_counted(results).frame
    wrong = frame["incorrectly_classified"].to_numpy() * (nodes - seeds)
    expected = {
        "amount_of_leaked_information": finds + seeds,
        "adversary_overall_success": (finds + seeds) / nodes,
        "adversary_success_rate": (finds + seeds) / (frame["attempted"].to_numpy() + seeds),
        "incorrectly_classified": wrong / nodes,
    }
    for name, column in expected.items():
        assert counted[name].to_numpy() == pytest.approx(column)
    same = [name for name in frame.columns if name not in expected]
    assert counted.select(same).equals(frame.select(same))


def test_a_study_that_still_runs_gives_its_complete_cases() -> None:
    given = values()
    part = given.values.copy()
    part[3, :, 2] = np.nan
    found = complete(replace(given, values=part))
    assert found.cases == (*given.cases[:3], *given.cases[4:])
    assert first(found, 2).values.shape[3] == 2


def test_the_report_is_markdown_with_all_parts_of_a_study(tmp_path: Path) -> None:
    study = Results.read(little_study(tmp_path))
    later = replace(study.study, name="later")
    assert without_repeats([study, study]) == [study]
    text = "\n".join(report([study], [study], [study], [later], np.random.default_rng(0), "sample,YG"))
    assert "| little | 4 of 4 | sample | 1 | 2 | 2 | no |" in text
    assert re.search(r"^\| later \| 4 \| sample \| 0\.0 \|$", text, re.MULTILINE)
    assert "2 of the paper's 1,440 cases; 0 more" in text
    assert "**Suite S5 and its metrics in one case: sample, id-removal, YG, by seed pairs**" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    heads = [number for number, line in enumerate(tables) if set(line) == set("|-")]
    for start, last in zip(heads, [*(head - 1 for head in heads[1:]), len(tables)], strict=True):
        assert len({line.count("|") for line in tables[start - 1 : last]}) == 1


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


@pytest.mark.parametrize("name", ["paper-1", "paper-2", "readings", "table-8"])
def test_results_that_are_kept_are_those_of_the_study_and_the_page_says_how_many(name: str) -> None:
    kept = Results.read(ROOT / "studies" / "results" / f"{name}.parquet")
    plan = Study.read(ROOT / "studies" / f"{name}.toml")
    assert [each.name for each in kept.study.data] == [each.name for each in plan.data]
    assert (kept.study.protections, kept.study.attacks) == (plan.protections, plan.attacks)
    assert (kept.study.axes, kept.study.replications) == (plan.axes, plan.replications)
    assert kept.failed == ()
    figures = (ROOT / "docs" / "research" / "replication-figures.md").read_text(encoding="utf-8")
    assert f"| {name} | {len(kept.fine)} of {len(kept.scenarios)} |" in figures


#: Numbers that the paper prints, that follow from definitions, or that are points of scales.
NOT_MEASURED = {"0.5", "0.6", "0.667", "0.467", "0.833", "6.644", "82.3", "82.9"}


def test_every_figure_on_the_page_is_among_the_generated_ones() -> None:
    research = ROOT / "docs" / "research"
    page = (research / "replication.md").read_text(encoding="utf-8").partition("## Printed numbers")[0]
    generated = set(re.findall(r"\d+\.\d+", (research / "replication-figures.md").read_text(encoding="utf-8")))
    assert set(re.findall(r"\d+\.\d+", page)) - NOT_MEASURED <= generated
