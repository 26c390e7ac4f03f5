"""Which findings of Zhao and Wagner hold in studies of ours? Writes Markdown: the figures, with their intervals.

    UNVEIL_DATA=... python -m examples.grades.replication > docs/research/replication-figures.md

Without files it takes those in studies/results. Studies are graded together; of a study that still runs, the cases that
have all levels. Intervals are of 95 % and stand for other graphs.
"""

import argparse
import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from examples.grades.axes import AXES, complete, is_extra, seeds_counted
from examples.grades.findings import (
    OURS,
    SEEDS,
    SINGLE,
    axis_factor_table,
    ceiling_table,
    count_table,
    criteria_table,
    factor_table,
    inflation_table,
    mean_table,
    metric_table,
    protection_table,
    replication_suite_table,
    replication_table,
    search_table,
    suite_score_table,
    suite_table,
    table,
    term_table,
)
from unveil.data.graph import Graph
from unveil.errors import InputError
from unveil.grades.grades import grade
from unveil.grades.nodes import NodeSketches
from unveil.grades.replicated_metrics import ReplicatedMetrics, is_calibrated
from unveil.grades.scores import Scores
from unveil.protections.graph.wpinq_dp import WpinqDP
from unveil.questions.grade_metrics.answer import grade_metrics
from unveil.questions.grade_metrics.details import cases_with
from unveil.questions.grade_metrics.sections.calibration import calibration_answer, calibration_table
from unveil.questions.grade_metrics.sections.suites import case_table, sum_table
from unveil.report.blocks import TableBlock
from unveil.studies import Results, Study
from unveil.studies.sources import graph_of
from unveil.studies.store import manifest_of
from unveil.studies.times import seconds_by_size

PLANS = Path(__file__).resolve().parents[2] / "studies"
STORED = PLANS / "results"
#: The cases that the paper has results for.
PAPER_CASES = 1_440
#: What is shown in all three criteria: above all metrics that the paper speaks of by the values of nodes.
CRITERIA = ("pearson_correlation", "normalized_variance", "absolute_error", "incorrectness", "entropy", SINGLE)
#: The nodes and edges that Table 1 of the paper prints.
TABLE_1 = {
    "dblp": (12591, 49743), "cora": (23166, 91500), "arxiv": (18771, 198050), "dnc": (2029, 5598),
    "irvine": (1899, 20296), "manufacturing": (167, 5784), "caida": (26475, 53381), "elections": (7118, 103675),
    "pgp": (10680, 24316), "google": (23628, 39242), "facebook": (4039, 88234),
}  # fmt: skip
CASE = "elections,hrg-dp,JLSB"


def study_table(studies: Sequence[Results]) -> Iterator[str]:
    """Yield what each study has: its size, its version, and the CPU time that it took."""
    rows = []
    for each in studies:
        plan, seconds = each.study, each.seconds
        rows.append(
            (plan.name, f"{len(each.fine)} of {len(each.scenarios)}", ", ".join(data.name for data in plan.data),
             len(plan.protections), len(plan.attacks), plan.replications.number or f"up to {plan.replications.cap}",
             plan.calibrate or "no", str(manifest_of(each.folder)["version"]),
             f"{sum(seconds.values()) / 60:.0f} min" if seconds else "not kept")
        )  # fmt: skip
    head = ("study", "scenarios", "data sets", "protections", "attacks", "replications", "calibrated", "version", "CPU")
    yield from table(head, rows)


def missing_table(studies: Sequence[Results], plans: Sequence[Study]) -> Iterator[str]:
    """Yield what is still to be run, with the CPU hours that scenarios so far suggest; none where no data can be read.

    A data set that has results goes on at their pace, another one at that of all by its size.
    """
    paces = {(each.study.name, name): pace for each in studies for name, pace in _paces(each).items()}
    by_size = {
        (each.name, data.name): seconds_by_size(each, data)
        for each in (*(each.study for each in studies), *plans)
        for data in each.data
    }
    known = [(pace, by_size[key]) for key, pace in paces.items() if by_size[key] > 0]
    ratio = sum(pace for pace, _ in known) / sum(size for _, size in known) if known else float("nan")
    left = [(each.study, each.missing) for each in studies if each.missing]
    started = {each.study.name for each in studies}
    left += [(each, each.scenarios()) for each in plans if each.name not in started]
    rows = []
    for plan, scenarios in left:
        keys = [(plan.name, each.data.name) for each in scenarios]
        hours = sum(paces.get(key, by_size[key] * ratio) for key in keys) / 3600
        names = ", ".join(dict.fromkeys(each.data.name for each in scenarios))
        rows.append((plan.name, f"{len(scenarios):,}", names, f"{hours:.1f}"))
    yield from table(("study", "scenarios left", "data sets", "CPU hours, projected"), rows)


def _paces(study: Results) -> dict[str, float]:
    done = Counter(each.data.name for each in study.fine)
    return {name: seconds / done[name] for name, seconds in study.seconds.items()}


def graphs_of(studies: Sequence[Results]) -> dict[str, Graph]:
    """Return the graphs of Table 1 that the studies have and that can be read."""
    found: dict[str, Graph] = {}
    for data in (data for each in studies for data in each.study.data if data.name in TABLE_1):
        with contextlib.suppress(InputError):
            found.setdefault(data.name, graph_of(data))
    return found


def graph_table(graphs: Mapping[str, Graph]) -> Iterator[str]:
    """Yield the nodes and edges of each graph beside those that the paper prints."""
    rows = []
    for name, graph in graphs.items():
        nodes, edges = TABLE_1[name]
        rows.append((name, f"{graph.nodes:,}", f"{nodes:,}", f"{graph.edges:,}", f"{edges:,}"))
    yield from table(("graph", "nodes", "nodes printed", "edges", "edges printed"), rows)


def wpinq_notes(graphs: Mapping[str, Graph], rng: np.random.Generator) -> dict[str, str]:
    """Return for each graph whether a release of wPINQ at ε = 1 measures more than degrees."""
    notes = {name: " ".join(WpinqDP(epsilon=1).apply(graph, rng=rng).notes) for name, graph in graphs.items()}
    return {
        name: "a random graph with noisy degrees" if _ONLY_DEGREES in note else "joint degrees measured"
        for name, note in notes.items()
    }


_ONLY_DEGREES = "random graph with noisy degrees"


def without_repeats(studies: Sequence[Results]) -> list[Results]:
    """Return the studies without those of which an earlier one has a case."""
    found: list[Results] = []
    seen: set[tuple[str, str, str]] = set()
    for each in studies:
        cases = {(one.data.name, one.protect, one.attack) for one in each.fine}
        if not cases & seen:
            found.append(each)
            seen |= cases
    return found


def cases_of(studies: Sequence[Results], *, extra: bool = False) -> ReplicatedMetrics:
    """Return the values of the paper's cases that are complete, or of those that it lacks."""
    values = complete(ReplicatedMetrics.of(*studies))
    return values.only(cases=np.array([is_extra(case) == extra for case in values.cases], bool))


def main_report(studies: Sequence[Results], rng: np.random.Generator) -> Iterator[str]:
    """Yield all findings by axis."""
    values, extra = cases_of(studies), cases_of(studies, extra=True)
    counted = cases_of([seeds_counted(each) for each in studies])
    scores = {OURS: Scores.of(values), SEEDS: Scores.of(counted)}
    grades = grade(values, nodes=NodeSketches.of(values, *studies), rng=rng)
    yield (
        f"{len(values.cases):,} of the paper's {PAPER_CASES:,} cases; {len(extra.cases)} more are UMGA on "
        "manufacturing, where it failed in the paper: they are listed apart."
    )
    yield ""
    graphs = graphs_of(studies)
    parts = {
        "The graphs": graph_table(graphs),
        "Monotonicity of each metric by axis": metric_table(scores),
        "1. Metrics that count nodes found": count_table(scores),
        "3. Three criteria, of means and of nodes": criteria_table(grades, CRITERIA),
        "4. Success rate less overall success": inflation_table(scores),
        "5. Ceilings of chunks": ceiling_table(values),
        "7. Suites": suite_table(scores),
        "12. Suites: the three criteria": suite_score_table(values),
        "8. Suites chosen on other graphs": search_table(scores, rng),
        "9. What explains a score": factor_table(scores[OURS]),
        "9. What explains a score on one axis": axis_factor_table(scores[OURS]),
        "9. The model of monotonicity with two-way interactions": term_table(scores[OURS]),
        "Differential privacy: wPINQ at ε = 1": protection_table(scores[OURS], "wpinq-dp", wpinq_notes(graphs, rng)),
    }
    for heading, lines in parts.items():
        yield from (f"## {heading}", "", *lines)
    if extra.cases:
        yield from ("## The cases that the paper lacks: UMGA on manufacturing", "")
        yield from mean_table(extra, (SINGLE, "entropy"))


def markdown(block: TableBlock | None) -> Iterator[str]:
    """Yield a table of a page as Markdown; nothing where there is none."""
    if block is not None:
        yield from (f"**{block.caption}**", "")
        yield from table(block.columns, block.rows)
        if block.note:
            yield from (block.note, "")


def calibrated_report(studies: Sequence[Results], rng: np.random.Generator) -> Iterator[str]:
    """Yield what calibrated probabilities change, in the studies that have them."""
    both = [each.folder for each in studies if is_calibrated(each)]
    if not both:
        return
    found = grade_metrics(*both, rng=rng).findings
    yield from ("## Raw scores and calibrated probabilities", "")
    yield from (f"* {line}" for line in calibration_answer(found))
    yield ""
    yield from markdown(calibration_table(found))
    raw, learned = (ReplicatedMetrics.of(*map(Results.read, both), calibrated=each) for each in (False, True))
    rows = []
    for name in ("entropy", "min_entropy", "normalized_entropy", "anonymity_set_size", SINGLE):
        cells = []
        for axis in AXES:
            for each in (raw, learned):
                own = each.only(cases=np.array([case.axis == axis for case in each.cases], bool), metrics=[name])
                cells.append(f"{np.nanmean(Scores.of(own).monotonicity.score):.3f}")
        rows.append((name.replace("_", " "), *cells))
    head = ("metric", *(f"{word}: {how}" for word in AXES.values() for how in ("raw", "calibrated")))
    yield from table(head, rows)


def case_report(folders: Sequence[Path], case: str, rng: np.random.Generator) -> Iterator[str]:
    """Yield the suite S5 beside its metrics in one case, where there is one."""
    found = grade_metrics(*folders, rng=rng).findings
    yield from ("## Suites: products and sums", "", *markdown(sum_table(found)))
    yield from (f"## Table 8 ({case})", "")
    try:
        asked = tuple(cases_with(found.grades, case, "--case"))
    except InputError:  # these studies have no such case
        yield from ("No study has this case.", "")
        return
    for number in asked:
        yield from markdown(case_table(replace(found, asked=asked), number))


def report(
    studies: Sequence[Results],
    many: Sequence[Results],
    apart: Sequence[Results],
    plans: Sequence[Study],
    rng: np.random.Generator,
    case: str,
) -> Iterator[str]:
    """Yield everything as Markdown.

    ``many`` are studies of many replications, ``apart`` those that are not graded with the rest, ``plans`` all that are
    to be run.
    """
    yield from ("# The figures of the replication", "")
    yield "Written by `python -m examples.grades.replication`; [the findings](replication.md) say what they mean."
    yield from ("", "## What was run", "")
    yield from study_table([*studies, *many, *apart])
    yield from ("## What is left", "")
    yield from missing_table([*studies, *many, *apart], plans)
    yield from main_report(studies, rng)
    for each in many:
        values = complete(ReplicatedMetrics.of(each))
        if values.cases:
            yield from (f"## Replications: {each.study.name}, {len(values.cases)} cases", "")
            yield from replication_table(values)
            counted = complete(ReplicatedMetrics.of(seeds_counted(each)))
            yield from ("Cases in order, and in brackets pairs of levels:", "")
            yield from replication_suite_table({OURS: values, SEEDS: counted})
    for each in apart:
        yield from (f"## {each.study.name.capitalize()}", "")
        yield from mean_table(ReplicatedMetrics.of(each), (SINGLE, "adversary_success_rate", "entropy"))
    yield from calibrated_report(studies, rng)
    yield from case_report([each.folder for each in studies], case, rng)


def main() -> None:
    """Write what the named studies, or those that are stored, say to each finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", type=Path, help="folders or summaries of studies graded together")
    parser.add_argument("--case", default=CASE, help="words of the case of Table 8")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    names = ("paper-[1-4]", "table-8", "paper-100-*", "readings")
    found = [sorted(STORED.glob(f"{name}.parquet")) for name in names]
    groups = ([*found[0], *found[1]], found[2], found[3]) if not given.studies else (given.studies, [], [])
    studies, many, apart = ([Results.read(path) for path in paths] for paths in groups)
    plans = [] if given.studies else [Study.read(path) for path in sorted(PLANS.glob("paper-*.toml"))]
    for line in report(without_repeats(studies), many, apart, plans, np.random.default_rng(given.seed), given.case):
        print(line)


if __name__ == "__main__":
    main()
