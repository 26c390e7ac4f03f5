"""The paper's algorithms put together: every figure that ``unlinkability`` returns, exact where it can be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracles import unlinkability as paper
from tests.oracles.unlinkability import AtBreach, Cluster, Guesses, Point, Weights


@dataclass(frozen=True, kw_only=True)
class Subject:
    size: int
    related: Fraction
    miss: Fraction
    include: Fraction
    error: Fraction
    normalized_error: Fraction | float
    linked0: Fraction
    mixed0: Fraction
    breached: bool
    merges: Fraction
    risk_slope: float
    others: Fraction
    others_evenness: float
    points: list[Point]


@dataclass(frozen=True, kw_only=True)
class Overall:
    alpha: Fraction
    beta: Fraction
    miss: Fraction
    include: Fraction
    kind: str
    normalized_error: Fraction | float
    breached: bool
    merges: Fraction
    risk_slope: float
    breached_subjects: int
    breached_share: Fraction
    points: list[Point]


@dataclass(frozen=True, kw_only=True)
class Result:
    n: int
    names: list[Any]
    subjects: list[Subject]
    overall: Overall


def unlinkability(
    truth_labels: Sequence[Any],
    guesses: Guesses,
    *,
    alpha: Sequence[Fraction],
    beta: Sequence[Fraction],
    contamination: Sequence[bool] | None = None,
    item_weights: Mapping[int, Fraction] | None = None,
    weights: Mapping[tuple[Any, int], Fraction] | None = None,
    norm: str = "weight",
    at_breach: AtBreach = "nan",
    overall_alpha: Fraction | None = None,
    overall_beta: Fraction | None = None,
) -> Result:
    """Return all figures; ``alpha``, ``beta`` and ``contamination`` have one value per subject, in sorted order.

    ``item_weights`` hold for every subject, ``weights`` by (subject, item) for one; all else weighs 1.
    """
    n = len(truth_labels)
    truth = paper.clusters_of(truth_labels)
    divided = [paper.clusters_of(labels) for labels, _ in guesses]
    everybody = dict(item_weights or {})
    own: dict[Any, dict[int, Fraction]] = {}
    for (name, item), weight in (weights or {}).items():
        own.setdefault(name, {})[item] = weight
    everybody_total = paper.total(everybody.get(item, paper.ONE) for item in range(n))
    subjects = []
    for k, (name, cluster) in enumerate(truth.items()):
        weigh = Weights(n, everybody, own.get(name, {}), everybody_total)
        related = [paper.related(cluster, d, labels) for d, (labels, _) in zip(divided, guesses, strict=True)]
        contaminate = contamination is not None and contamination[k]
        probabilities = [probability for _, probability in guesses]
        graphs = [paper.plot_for_cluster(cluster, these, alpha[k], contaminate, weigh, norm) for these in related]
        points = paper.plot_for_cluster_given_view(graphs, probabilities)
        tied = [paper.most_relevant(cluster, these, alpha[k], weigh) for these in related]
        errors = [paper.primary_errors(cluster, these, alpha[k], weigh) for these in related]
        subjects.append(
            _subject(cluster, related, errors, tied, points, probabilities, alpha[k], beta[k], truth_labels, at_breach)
        )
    overall_alpha = paper.mean(alpha) if overall_alpha is None else overall_alpha
    overall_beta = paper.mean(beta) if overall_beta is None else overall_beta
    # Reading 7: the overall graphs of a view run to its longest partition.
    longest = max(map(len, divided))
    return Result(
        n=n,
        names=list(truth),
        subjects=subjects,
        overall=_overall(subjects, longest, overall_alpha, overall_beta, at_breach),
    )


def _subject(
    cluster: Cluster,
    related: Sequence[Sequence[Cluster]],
    errors: Sequence[Point],
    tied: Sequence[Sequence[Cluster]],
    points: list[Point],
    probabilities: Sequence[Fraction],
    alpha: Fraction,
    beta: Fraction,
    truth_labels: Sequence[Any],
    at_breach: AtBreach,
) -> Subject:
    miss = paper.total(p * m for p, (m, _) in zip(probabilities, errors, strict=True))
    include = paper.total(p * i for p, (_, i) in zip(probabilities, errors, strict=True))
    error = alpha * miss + (1 - alpha) * include
    others, evenness = _others(cluster, tied, probabilities, truth_labels)
    n = len(truth_labels)
    return Subject(
        size=len(cluster),
        related=paper.total(p * len(these) for p, these in zip(probabilities, related, strict=True)),
        miss=miss,
        include=include,
        error=error,
        # Reading 9: n - 1 is the worst case of n items, and there is none for one item.
        normalized_error=error / (n - 1) if n > 1 else math.nan,
        linked0=points[0][0],
        mixed0=points[0][1],
        breached=paper.is_breached(points, beta),
        merges=paper.beta_point(points, beta)[0],
        risk_slope=paper.risk_slope(points, alpha, beta, at_breach),
        others=others,
        others_evenness=evenness,
        points=points,
    )


def _others(
    cluster: Cluster,
    tied: Sequence[Sequence[Cluster]],
    probabilities: Sequence[Fraction],
    truth_labels: Sequence[Any],
) -> tuple[Fraction, float]:
    """Averages over tied clusters and over the view; evenness over those that have one."""
    counts: list[Fraction] = []
    evenness: list[tuple[Fraction, float]] = []
    for probability, clusters in zip(probabilities, tied, strict=True):
        share = probability / len(clusters)
        for taken in clusters:
            number, even = paper.others_in(cluster, taken, truth_labels)
            counts.append(share * number)
            if even is not None:
                evenness.append((share, even))
    if not evenness:
        return paper.total(counts), math.nan
    return paper.total(counts), sum(float(s) * e for s, e in evenness) / float(paper.total(s for s, _ in evenness))


def _overall(
    subjects: Sequence[Subject], cluster_count: int, alpha: Fraction, beta: Fraction, at_breach: AtBreach
) -> Overall:
    points = paper.plot_for_partition([subject.points for subject in subjects], cluster_count)
    miss = paper.total(subject.miss for subject in subjects)
    include = paper.total(subject.include for subject in subjects)
    normalized = [s.normalized_error for s in subjects if isinstance(s.normalized_error, Fraction)]
    breached = sum(subject.breached for subject in subjects)
    return Overall(
        alpha=alpha,
        beta=beta,
        miss=miss,
        include=include,
        # Remark 1.
        kind="conservative" if miss > include else "liberal" if miss < include else "neutral",
        normalized_error=paper.mean(normalized) if normalized else math.nan,
        breached=paper.is_breached(points, beta),
        merges=paper.beta_point(points, beta)[0],
        risk_slope=paper.risk_slope(points, alpha, beta, at_breach),
        breached_subjects=breached,
        breached_share=Fraction(breached, len(subjects)),
        points=points,
    )
