"""Grades shipped with unveil, from the studies in the documentation."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # reading grades must not load what made them
    from unveil.grades.scores import Reading
    from unveil.grades.verdict import MetricGrade

#: Each verdict as the reliability of the metric.
RELIABILITY: Mapping[str, str] = MappingProxyType(
    {"use": "reliable", "with care": "limited", "do not rank by it": "unreliable", "no grade": "not graded"}
)

#: What was attacked in a study: graphs and tables that it protected itself, or releases that others made.
Ground = Literal["graphs", "tables", "releases"]
_FILE = "shipped.json"


@dataclass(frozen=True, kw_only=True)
class ShippedGrade:
    """Grade of a metric in a study: verdict, reason, and scores."""

    verdict: str
    reason: str
    monotonicity: float | None
    low: float | None
    high: float | None
    evenness: float | None
    shared_range: float | None


@dataclass(frozen=True, kw_only=True)
class ShippedGrades:
    """The grades of all metrics in one study."""

    studies: tuple[str, ...]
    cases: int
    metrics: Mapping[str, ShippedGrade]


@cache
def shipped_grades() -> Mapping[Ground, ShippedGrades]:
    """Return the shipped grades: graph attacks, table attacks, and given releases.

    >>> sorted(shipped_grades())
    ['graphs', 'releases', 'tables']
    >>> 0 <= shipped_grades()["graphs"].metrics["adversary_overall_success"].monotonicity <= 1
    True
    """
    text = (files("unveil.grades") / _FILE).read_text(encoding="utf-8")
    return MappingProxyType({ground: shipped_from(told) for ground, told in json.loads(text).items()})


def shipped_from(fields: Mapping[str, Any]) -> ShippedGrades:
    """Return the grades of one study, as :func:`as_shipped` writes them."""
    return ShippedGrades(
        studies=tuple(fields["studies"]),
        cases=fields["cases"],
        metrics=MappingProxyType({name: ShippedGrade(**grade) for name, grade in fields["metrics"].items()}),
    )


def as_shipped(grades: "Reading", studies: tuple[str, ...]) -> dict[str, object]:
    """Return the grades as they are written into the package; ``tools/make_grades.py`` does that."""
    return {
        "studies": list(studies),
        "cases": len(grades.scores.values.cases),
        "metrics": {each.metric: _grade(each) for each in sorted(grades.metrics, key=lambda each: each.metric)},
    }


def _grade(each: "MetricGrade") -> dict[str, object]:
    score = each.monotonicity
    return {
        "verdict": each.verdict,
        "reason": each.reason,
        "monotonicity": _rounded(score.mean),
        "low": _rounded(score.low),
        "high": _rounded(score.high),
        "evenness": _rounded(each.evenness.mean),
        "shared_range": _rounded(each.shared_range.mean),
    }


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)
