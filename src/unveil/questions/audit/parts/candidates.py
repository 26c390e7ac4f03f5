"""What record linkage leaves of each released record, by metrics of candidates, and which of them to trust."""

from collections.abc import Iterator

from unveil.metrics import METRICS, Metric
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import AttackFinding, Audit
from unveil.report.blocks import Side, TableBlock
from unveil.report.text import decimal, name
from unveil.report.trust import mark, title_of, trust_note, trust_of

_LEFT: Side = "left"
_RIGHT: Side = "right"
_NONE = "–"
_LONGEST_NAME = 60


def candidate_metrics(finding: AttackFinding) -> Iterator[tuple[Metric, float]]:
    """Yield the metrics of candidates among the figures of a finding, with their values."""
    for figure, value in finding.figures.items():
        metric = METRICS.get(figure)
        if metric is not None and metric.on == "Candidates":
            yield metric, value


def trust_in(finding: AttackFinding) -> dict[str, dict[str, str | None]]:
    """Return how the figures of a finding were graded: metrics of candidates in tables, others on given releases."""
    rates = ATTACKS[finding.attack].distances or ("attack_rate",)
    ordering = {name: trust_of(f"{finding.attack}.{name}", ["releases"]) for name in rates}
    return {
        **{name: grade for name, grade in ordering.items() if grade["releases"] is not None},
        **{metric.name: trust_of(metric.name, ["tables"]) for metric, _ in candidate_metrics(finding)},
    }


def candidate_table(audit: Audit, attack: str) -> TableBlock | None:
    """Return the metrics of candidates that an attack was measured by, with a column for each release.

    None where there are none: most attacks leave no candidates.
    """
    found = [
        {metric.name: value for finding in release.of(attack) for metric, value in candidate_metrics(finding)}
        for release in audit.releases
    ]
    shown = [METRICS[each] for each in dict.fromkeys(each for values in found for each in values)]
    if not shown:
        return None
    several = len(audit.releases) > 1
    heads = [name(release.name, _LONGEST_NAME) for release in audit.releases] if several else ["Value"]
    return TableBlock(
        caption="What the adversary knows about each released record",
        columns=("Metric", *heads, "Private", "Trust in tables"),
        rows=tuple(
            (
                title_of(metric),
                *(decimal(values[metric.name]) if metric.name in values else _NONE for values in found),
                "if high" if metric.more_means == "more private" else "if low",
                mark(metric.name, "tables"),
            )
            for metric in shown
        ),
        align=(_LEFT, *(_RIGHT for _ in heads), _LEFT, _LEFT),
        note=f"Metrics of single records are their means. {trust_note(['tables'])}",
    )
