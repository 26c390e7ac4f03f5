"""Metrics in words: what each is called, what it is, and what its values mean as something a limit can be set for."""

from collections.abc import Mapping

from unveil.metrics import Metric
from unveil.metrics.candidates.candidate_metrics import candidate_metrics
from unveil.report.text import percent


def summary_of(metric: Metric) -> str:
    """Return what a metric is, as a sentence: the first line of its docstring without the word Return.

    >>> from unveil.metrics import METRICS
    >>> summary_of(METRICS["min_entropy"])
    'The surprise at the most likely candidate, in bits: the worst case for the target.'
    """
    text = metric.summary.removeprefix("Return ").replace("``", "")
    return text[:1].upper() + text[1:]


def meaning_of(metric: Metric) -> str:
    """Return what a metric is and what its values mean, in plain sentences.

    >>> from unveil.metrics import METRICS
    >>> meaning_of(METRICS["collision_entropy"])
    'The Rényi entropy of order 2, in bits. 0 means the adversary is sure; log2(k) means k candidates look alike.'
    """
    return f"{summary_of(metric)} {metric.meaning.replace('``', '')}".strip()


def title_of(metric: Metric) -> str:
    """Return the name of a metric as a person writes it.

    >>> from unveil.metrics import METRICS
    >>> title_of(METRICS["anonymity_set_size"])
    'Anonymity set size'
    """
    return metric.name.replace("_", " ").capitalize()


def cap_mark(at_cap: float) -> str:
    """Return the mark of a mean that a cap has a say in, by the share of values at the cap (NaN where there is none).

    >>> cap_mark(0.2), cap_mark(0.0), cap_mark(float("nan"))
    ('†', '', '')
    """
    return "†" if at_cap > 0 else ""


def cap_notes(shares: Mapping[str, float], *, who: str, named: bool = False) -> list[str]:
    """Return what the mark says, where a metric has it; ``shares`` are those of values at the cap, by metric.

    With ``named`` the metrics stand in place of the mark, for a table that has no room for it.

    >>> cap_notes({"relative_entropy": 0.25, "entropy": float("nan")}, who="nodes")[0][:53]
    '† 25.0% of the nodes with a value are at the cap, as '
    """
    marked = [name for name, share in shares.items() if cap_mark(share)]
    if not marked:
        return []
    share = percent(max(shares[name] for name in marked))
    return [
        f"{', '.join(marked) + ':' if named else '†'} {share} of the {who} with a value are at the cap, as their truth "
        "was given no probability: the cap decides the mean."
    ]


def quantity_meanings() -> dict[str, str]:
    """Return what each metric of candidates means as a quantity that a limit can be set for."""
    return {name: _meaning(metric) for name, metric in candidate_metrics().items()}


def _meaning(metric: Metric) -> str:
    what = metric.summary.removeprefix("Return ").rstrip(".")
    mean = " (mean over targets)" if metric.per == "target" else ""
    side = "less than VALUE" if metric.more_means == "more private" else "greater than VALUE"
    return f"{what}{mean}. Exceeded when {side}: more is {metric.more_means}"
