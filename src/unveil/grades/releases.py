"""Grades of audit results on given releases, by ε and by copies.

Nobody knows how much a release that somebody else made gives away. But of two releases of one technique with the same
columns of the same people the one with the greater epsilon was made with less noise, and of two releases with the same
columns the one that holds more people word for word holds more of them. A figure that deserves trust says so too.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan

import numpy as np

from unveil._figure import derived
from unveil._figure import figure as declared
from unveil.errors import InputError
from unveil.grades.shipped_grades import RELIABILITY, ShippedGrade, ShippedGrades
from unveil.grades.verdict import FEWEST_GROUPS, Verdict
from unveil.studies import Results
from unveil.studies._parts import scenario_of
from unveil.studies._toml import AUDIT
from unveil.studies.audit_columns import COLUMNS, COPIED

#: The labels by which releases are told apart.
TECHNIQUE, LIBRARY, EPSILON, FEATURES = "technique", "library", "epsilon", "features"
#: What a coin says of two releases.
BY_COIN = 0.5
#: Two releases differ in who is copied from so many people of a hundred on.
_DIFFERS = 0.01
_DRAWS = 2000


@dataclass(frozen=True, kw_only=True)
class GradedRelease:
    """Release with its origin, and its results by name (NaN if undefined)."""

    name: str
    original: str
    technique: str
    library: str
    epsilon: float
    features: str
    figures: Mapping[str, float]

    @property
    def same_columns(self) -> tuple[str, ...]:
        """Comparison key: people, feature set, and number of columns."""
        return self.original, self.features, str(self.figures.get(COLUMNS, nan))


@dataclass(frozen=True, kw_only=True)
class Order:
    """Share of release pairs in the correct order, with 95% CI.

    The interval comes from drawing groups of comparable releases anew. NaN where there are no two to compare.
    """

    share: float = declared("Share of pairs in the right order.")
    low: float = declared("Lower end of its 95% CI.")
    high: float = declared("Upper end of its 95% CI.")
    pairs: int = declared("Number of compared pairs of releases.")
    groups: int = declared("Number of groups of comparable releases.")


@dataclass(frozen=True, kw_only=True)
class FigureGrade:
    """Reliability of one result for ordering releases."""

    figure: str = declared("The result, by its threshold name.", name="quantity")
    epsilon: Order = declared("Order of releases of one technique by epsilon.")
    copied: Order = declared("Order of releases by the share of people with an exact copy.", name="exact_copies")

    @derived("Reliability for ranking releases.")
    def reliability(self) -> str:
        """Reliability for ranking releases."""
        return RELIABILITY[self.verdict]

    @property
    def verdict(self) -> Verdict:
        """Advice on ranking releases."""
        orders = [each for each in (self.epsilon, self.copied) if each.pairs]
        if isnan(self.epsilon.share) or self.epsilon.groups < FEWEST_GROUPS:
            return "no grade"
        if any(each.share <= BY_COIN for each in orders):
            return "do not rank by it"
        return "use" if all(each.low > BY_COIN for each in orders) else "with care"

    @derived("Reason for the reliability, in words.")
    def reason(self) -> str:
        """Why, in a few words."""
        if self.verdict == "no grade":
            return "too few releases have it"
        worse = [
            f"by {what} ({each.share:.0%} of pairs)"
            for what, each in (("epsilon", self.epsilon), ("who is copied", self.copied))
            if each.pairs and (each.share <= BY_COIN if self.verdict == "do not rank by it" else each.low <= BY_COIN)
        ]
        if self.verdict == "use":
            return f"it orders {self.epsilon.share:.0%} of pairs of releases as their epsilon does"
        how = "no better than chance" if self.verdict == "do not rank by it" else "not significantly better than chance"
        return f"it orders releases {how} {' and '.join(worse)}"

    def to_shipped(self) -> ShippedGrade:
        """Return the grade as it comes with the package."""
        order = self.epsilon
        scores = (nan,) * 3 if self.verdict == "no grade" else (order.share, order.low, order.high)
        share, low, high = (None if isnan(each) else round(each, 4) for each in scores)
        return ShippedGrade(
            verdict=self.verdict,
            reason=self.reason,
            monotonicity=share,
            low=low,
            high=high,
            evenness=None,
            shared_range=None,
        )


@dataclass(frozen=True, kw_only=True)
class ReleaseGrades:
    """Grades of all results on the releases of a study, best first."""

    study: str
    releases: tuple[GradedRelease, ...]
    figures: tuple[FigureGrade, ...]

    def to_shipped(self) -> ShippedGrades:
        """Return the grades as they come with the package."""
        return ShippedGrades(
            studies=(self.study,),
            cases=max((each.epsilon.groups for each in self.figures), default=0),
            metrics={each.figure: each.to_shipped() for each in sorted(self.figures, key=lambda each: each.figure)},
        )


def grade_releases(
    results: Results, *, rng: np.random.Generator, figures: Mapping[str, bool] | None = None
) -> ReleaseGrades:
    """Return how well each audit result orders the releases of a study.

    ``figures`` are those to grade, with whether more of each means that more is told; those of an audit unless given.

    Raises
    ------
    InputError
        If the study is none of releases that were made already.
    """
    if results.study.kind != "release":
        raise InputError(
            "audit results are graded on given releases, but this study makes its own. Name a study of "
            "given releases, such as studies/atlas.toml"
        )
    releases = releases_of(results)
    # Not those of the classes that the study names: reading results must not run their code.
    graded = scenario_of(AUDIT).graded if figures is None else figures
    graded = {name: rises for name, rises in graded.items() if name in results.metrics}
    seed = int(rng.integers(2**63))
    found = [_graded(name, rises, releases, seed) for name, rises in graded.items()]
    # A figure that no release has is not worth a line.
    found = [each for each in found if each.epsilon.pairs or each.copied.pairs]
    order = {"use": 0, "with care": 1, "do not rank by it": 2, "no grade": 3}
    found.sort(key=lambda each: (order[each.verdict], -np.nan_to_num(each.epsilon.share)))
    return ReleaseGrades(study=results.study.name, releases=releases, figures=tuple(found))


def releases_of(results: Results) -> tuple[GradedRelease, ...]:
    """Return the releases with results, averaged over replications."""
    import polars as pl

    means = results.frame.group_by("data", maintain_order=True).agg(pl.col(name).mean() for name in results.metrics)
    rows = {row["data"]: row for row in means.iter_rows(named=True)}
    found = []
    for data in results.study.data:
        if data.given is None or data.name not in rows:
            continue
        own = rows[data.name]
        found.append(
            GradedRelease(
                name=data.name,
                original=data.given.original_name,
                technique=data.given.label(TECHNIQUE) or "not stated",
                library=data.given.label(LIBRARY),
                epsilon=_number(data.given.label(EPSILON)),
                features=data.given.label(FEATURES),
                figures={name: nan if own[name] is None else float(own[name]) for name in results.metrics},
            )
        )
    return tuple(found)


def order_of(
    releases: Sequence[GradedRelease],
    value: Callable[[GradedRelease], float],
    truth: Callable[[GradedRelease], float],
    group: Callable[[GradedRelease], tuple[str, ...]],
    *,
    differs: float = 0.0,
    rng: np.random.Generator,
) -> Order:
    """Return the share of release pairs that a value orders correctly.

    Pairs whose truths differ by no more than ``differs`` are left out, and so are those without a value.
    """
    members: dict[tuple[str, ...], list[GradedRelease]] = defaultdict(list)
    for each in releases:
        if not isnan(value(each)) and not isnan(truth(each)):
            members[group(each)].append(each)
    right, pairs = [], []
    for every in members.values():
        known = [(value(a) - value(b), truth(a) - truth(b)) for a, b in combinations(every, 2)]
        known = [(v, t) for v, t in known if abs(t) > differs]
        if known:
            right.append(sum(0.5 if v == 0 else float((v > 0) == (t > 0)) for v, t in known))
            pairs.append(len(known))
    if not pairs:
        return Order(share=nan, low=nan, high=nan, pairs=0, groups=0)
    hits, tries = np.array(right), np.array(pairs)
    drawn = rng.integers(0, tries.size, (_DRAWS, tries.size))
    shares = hits[drawn].sum(axis=1) / tries[drawn].sum(axis=1)
    low, high = np.quantile(shares, [0.025, 0.975])
    share = float(hits.sum() / tries.sum())
    return Order(share=share, low=float(low), high=float(high), pairs=int(tries.sum()), groups=tries.size)


def _graded(name: str, rises: bool, releases: Sequence[GradedRelease], seed: int) -> FigureGrade:
    sign = 1.0 if rises else -1.0

    def value(each: GradedRelease) -> float:
        return sign * each.figures.get(name, nan)

    nothing = Order(share=nan, low=nan, high=nan, pairs=0, groups=0)
    return FigureGrade(
        figure=name,
        epsilon=order_of(
            releases,
            value,
            lambda each: each.epsilon,
            lambda each: (*each.same_columns, each.technique, each.library),
            rng=np.random.default_rng(seed),
        ),
        # What copies are counted by is no witness in its own cause.
        copied=nothing
        if name.startswith("copies.")
        else order_of(
            releases,
            value,
            lambda each: each.figures.get(COPIED, nan),
            lambda each: each.same_columns,
            differs=_DIFFERS,
            rng=np.random.default_rng(seed),
        ),
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan
