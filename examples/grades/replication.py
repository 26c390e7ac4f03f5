"""Which findings of Zhao and Wagner hold in studies of ours? Writes Markdown: the figures, with their intervals.

    UNVEIL_DATA=... python -m examples.grades.replication > docs/research/replication-figures.md

Without files it takes those in studies/results. Studies are graded together; of a study that still runs, the cases that
have all levels. Intervals are of 95 % and stand for other graphs.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from examples.grades.axes import AXES, complete, is_extra, seeds_counted
from examples.grades.findings import (
    OURS,
    SEEDS,
    SINGLE,
    ceiling_table,
    count_table,
    criteria_table,
    factor_table,
    inflation_table,
    mean_table,
    metric_table,
    protection_table,
    replication_table,
    search_table,
    suite_table,
    table,
    term_table,
)
from unveil.errors import InputError
from unveil.grades.grades import Grades, grade
from unveil.grades.nodes import NodeSketches
from unveil.grades.replicated_metrics import ReplicatedMetrics, is_calibrated
from unveil.grades.scores import Scores
from unveil.questions.grade_metrics.answer import grade_metrics
from unveil.questions.grade_metrics.details import cases_with
from unveil.questions.grade_metrics.sections.calibration import calibration_answer, calibration_table
from unveil.questions.grade_metrics.sections.suites import case_table
from unveil.report.blocks import TableBlock
from unveil.studies import Results
from unveil.studies.store import manifest_of

STORED = Path(__file__).resolve().parents[2] / "studies" / "results"
#: The cases that the paper has results for.
PAPER_CASES = 1_440
#: Of the paper's metrics in all three criteria: those that it speaks of by the values of nodes.
PER_NODE = ("pearson_correlation", "normalized_variance", "absolute_error", "incorrectness", "anonymity_set_size")
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


def graph_table(studies: Sequence[Results]) -> Iterator[str]:
    """Yield the nodes and edges of each graph beside those that the paper prints, where the data can be read."""
    from unveil.studies.sources import graph_of

    rows = []
    for data in dict.fromkeys(data for each in studies for data in each.study.data if data.name in TABLE_1):
        try:
            graph = graph_of(data)
        except InputError:
            continue
        nodes, edges = TABLE_1[data.name]
        rows.append((data.name, f"{graph.nodes:,}", f"{nodes:,}", f"{graph.edges:,}", f"{edges:,}"))
    unique = list(dict.fromkeys(rows))
    yield from table(("graph", "nodes", "nodes printed", "edges", "edges printed"), unique)


def conventions(studies: Sequence[Results], *, extra: bool = False) -> dict[str, Scores]:
    """Return the scores of the paper's cases, or of those that it lacks, under both conventions."""
    found = {}
    for name, every in ((OURS, studies), (SEEDS, [seeds_counted(each) for each in studies])):
        values = complete(ReplicatedMetrics.of(*every))
        found[name] = Scores.of(values.only(cases=np.array([is_extra(case) == extra for case in values.cases], bool)))
    return found


def graded(studies: Sequence[Results], rng: np.random.Generator) -> Grades:
    """Return the grades of the paper's cases, with the values of nodes."""
    values = complete(ReplicatedMetrics.of(*studies))
    values = values.only(cases=np.array([not is_extra(case) for case in values.cases], bool))
    return grade(values, nodes=NodeSketches.of(values, *studies), rng=rng)


def main_report(studies: Sequence[Results], rng: np.random.Generator) -> Iterator[str]:
    """Yield all findings by axis."""
    scores, extra = conventions(studies), conventions(studies, extra=True)
    values = scores[OURS].values
    yield f"{len(values.cases):,} of the paper's {PAPER_CASES:,} cases; {len(extra[OURS].values.cases)} more are UMGA on "
    yield "manufacturing, where it failed in the paper: they are listed apart."
    yield ""
    parts = {
        "The graphs": graph_table(studies),
        "Monotonicity of each metric by axis": metric_table(scores),
        "1. Metrics that count nodes found": count_table(scores),
        "3. Three criteria, of means and of nodes": criteria_table(graded(studies, rng), (*PER_NODE, SINGLE, "entropy")),
        "4. Success rate less overall success": inflation_table(scores),
        "5. Ceilings of chunks": ceiling_table(values),
        "7. Suites": suite_table(scores),
        "8. Suites chosen on other graphs": search_table(scores, rng),
        "9. What explains a score": factor_table(scores[OURS]),
        "9. The model of monotonicity with two-way interactions": term_table(scores[OURS]),
        "Differential privacy: wPINQ at ε = 1": protection_table(scores[OURS], "wpinq-dp"),
    }
    for heading, lines in parts.items():
        yield from (f"## {heading}", "", *lines)
    if extra[OURS].values.cases:
        yield from ("## The cases that the paper lacks: UMGA on manufacturing", "")
        yield from mean_table(extra[OURS].values, (SINGLE, "entropy"))


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
    yield from (f"## Table 8 ({case})", "")
    found = grade_metrics(*folders, rng=rng).findings
    try:
        asked = tuple(cases_with(found.grades, case, "--case"))
    except InputError:  # these studies have no such case
        yield from ("No study has this case.", "")
        return
    for number in asked:
        yield from markdown(case_table(replace(found, asked=asked), number))


def report(
    studies: Sequence[Results], many: Sequence[Results], apart: Sequence[Results], rng: np.random.Generator, case: str
) -> Iterator[str]:
    """Yield everything as Markdown.

    ``many`` are studies of many replications, ``apart`` those that are not graded with the rest.
    """
    yield from ("# The figures of the replication", "")
    yield "Written by `python -m examples.grades.replication`; [which findings hold](replication.md) says what they mean."
    yield from ("", "## What was run", "")
    yield from study_table([*studies, *many, *apart])
    yield from main_report(studies, rng)
    for each in many:
        values = complete(ReplicatedMetrics.of(each))
        if values.cases:
            yield from (f"## Replications: {each.study.name}, {len(values.cases)} cases", "")
            yield from replication_table(values)
    for each in apart:
        if each.study.name == "readings":
            yield from ("## 6. Chunks, and both readings of t-means", "")
            yield from mean_table(ReplicatedMetrics.of(each), (SINGLE, "adversary_success_rate", "entropy"))
    yield from calibrated_report(studies, rng)
    one = [each for each in apart if each.study.name == "table-8"]
    yield from case_report([each.folder for each in one or studies], case, rng)


def main() -> None:
    """Write what the named studies, or those that are stored, say to each finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", type=Path, help="folders or summaries of studies graded together")
    parser.add_argument("--case", default=CASE, help="words of the case of Table 8")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    studies = given.studies or sorted(STORED.glob("paper-[1-4].parquet"))
    named = "paper-100-*.parquet", "readings.parquet", "table-8.parquet"
    many, *apart = ([] if given.studies else sorted(STORED.glob(name)) for name in named)
    read = [[Results.read(path) for path in paths] for paths in (studies, many, [*apart[0], *apart[1]])]
    for line in report(*read, np.random.default_rng(given.seed), given.case):
        print(line)


if __name__ == "__main__":
    main()
