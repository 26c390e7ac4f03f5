"""Metrics suite: metrics and weights, as written, checked, and listed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType

from unveil.errors import InputError, did_you_mean, shortened
from unveil.metrics import METRICS

#: More metrics than this have too many combinations to try all.
MOST_METRICS = 12
_SUM_WITHIN = 1e-9


@dataclass(frozen=True)
class Suite:
    """Metrics and weights, combined as a weighted product of quotients.

    >>> Suite("mine", {"entropy": 0.5, "pearson_correlation": 0.5}).metrics
    ('entropy', 'pearson_correlation')
    """

    name: str
    #: Above 0, and 1 in all.
    weights: Mapping[str, float] = field(hash=False)

    def __post_init__(self) -> None:
        if not self.name.strip() or set(self.name) & set(":,="):
            raise InputError(
                f"the name of a suite must be a word without : , or =, but is {shortened(self.name)}. Use another name"
            )
        if not self.weights:
            raise InputError(f"the suite {self.name} must have at least one metric, but has none. Name some")
        for metric, weight in self.weights.items():
            _check_metric(metric, self.name)
            if not weight > 0:
                raise InputError(
                    f"weights must be above 0, but that of {metric} in the suite {self.name} is {weight:g}. "
                    "Leave the metric out"
                )
        total = sum(self.weights.values())
        if not abs(total - 1) <= _SUM_WITHIN:
            raise InputError(
                f"the weights of a suite must sum to 1, but those of {self.name} sum to {total:.10g}. "
                "Divide each by their sum"
            )
        object.__setattr__(self, "weights", MappingProxyType({key: float(w) for key, w in self.weights.items()}))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(self.weights)

    @classmethod
    def parse(cls, text: str) -> "Suite":
        """Return the suite that is written as ``S3``, ``name:metric=weight,metric=weight``, or ``name:metric,metric``.

        Without weights, all are alike.

        >>> Suite.parse("mine:entropy,pearson_correlation").weights["entropy"]
        0.5
        >>> Suite.parse("S2").metrics
        ('adversary_overall_success', 'normalized_variance')
        """
        name, colon, rest = (part.strip() for part in text.partition(":"))
        if not colon:
            if name in SUITES:
                return SUITES[name]
            raise InputError(
                f"there is no suite {shortened(name)}.{did_you_mean(name, SUITES)} Choose from {', '.join(SUITES)}, or "
                "write name:metric=weight,metric=weight"
            )
        if not rest:
            raise InputError(
                f"the suite {shortened(name)} has no metrics after its colon. Write name:metric=weight,metric=weight"
            )
        pieces = [[side.strip() for side in piece.partition("=")] for piece in rest.split(",")]
        if len({metric for metric, _, _ in pieces}) < len(pieces):
            raise InputError(f"each metric of the suite {shortened(name)} must be named once. Leave out the second one")
        if not any(equals for _, equals, _ in pieces):
            return cls(name, {metric: 1 / len(pieces) for metric, _, _ in pieces})
        return cls(name, {metric: _weight(weight, metric, name) for metric, _, weight in pieces})

    def __str__(self) -> str:
        """Return the suite as :meth:`parse` reads it."""
        return f"{self.name}:" + ",".join(f"{metric}={weight:.10g}" for metric, weight in self.weights.items())


def _check_metric(metric: str, suite: str) -> None:
    if metric not in METRICS:
        hint = did_you_mean(metric, METRICS) or " See unveil list metrics."
        raise InputError(f"the suite {suite} needs the metric {shortened(metric)}, which does not exist.{hint}")
    if "private" not in METRICS[metric].more_means:
        raise InputError(
            f"metrics of a suite must measure privacy, but {metric} of the suite {suite} measures utility. Leave it out"
        )


def _weight(text: str, metric: str, suite: str) -> float:
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(
            f"the weight of {shortened(metric)} in the suite {shortened(suite)} must be a number such as 0.25 or 1/4, "
            f"but is {shortened(text)}. Give a weight to all metrics, or to none"
        ) from error


def _suites(*suites: Suite) -> Mapping[str, Suite]:
    return MappingProxyType({suite.name: suite for suite in suites})


#: The suites of Zhao & Wagner, Table 7; the first is their best single metric.
SUITES: Mapping[str, Suite] = _suites(
    Suite("S1", {"amount_of_leaked_information": 1.0}),
    Suite("S2", {"adversary_overall_success": 0.5, "normalized_variance": 0.5}),
    Suite(
        "S3",
        {
            "pearson_correlation": 0.25,
            "adversary_overall_success": 0.25,
            "normalized_variance": 0.25,
            "amount_of_leaked_information": 0.25,
        },
    ),
    Suite(
        "S4",
        {
            "pearson_correlation": 0.1,
            "adversary_overall_success": 0.35,
            "normalized_variance": 0.1,
            "amount_of_leaked_information": 0.35,
            "incorrectness": 0.1,
        },
    ),
    Suite(
        "S5",
        {
            "pearson_correlation": 0.1,
            "normalized_variance": 0.1,
            "incorrectness": 0.1,
            "amount_of_leaked_information": 0.25,
            "adversary_success_rate": 0.1,
            "adversary_overall_success": 0.25,
            "absolute_error": 0.1,
        },
    ),
)


def equal_suites(metrics: Sequence[str]) -> tuple[Suite, ...]:
    """Return all equal-weight suites of at least two metrics.

    >>> [suite.name for suite in equal_suites(["entropy", "incorrectness", "pearson_correlation"])][:2]
    ['entropy + incorrectness', 'entropy + pearson_correlation']
    """
    if len(set(metrics)) < len(metrics) or not 2 <= len(metrics) <= MOST_METRICS:
        raise InputError(
            f"suites are made of 2 to {MOST_METRICS} different metrics, but {len(metrics)} are given, of which "
            f"{len(set(metrics))} are different. Name each once, and leave out the weakest"
        )
    subsets = (chosen for size in range(2, len(metrics) + 1) for chosen in combinations(metrics, size))
    return tuple(Suite(" + ".join(chosen), dict.fromkeys(chosen, 1 / len(chosen))) for chosen in subsets)


def available(metrics: Sequence[str], own: Sequence[Suite]) -> tuple[list[Suite], tuple[str, ...]]:
    """Return usual and own suites of the metrics, and omitted ones."""
    own = [suite for suite in own if SUITES.get(suite.name) != suite]
    names = [*SUITES, *(suite.name for suite in own)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"each suite must have a name of its own, but {twice[0]!r} is there twice. Give yours a "
            f"name that is neither among {', '.join(SUITES)} nor that of another one"
        )
    for suite in own:
        for metric in suite.weights:
            if metric not in metrics:
                raise InputError(
                    f"the suite {suite.name!r} has the metric {metric!r}, which was not computed. Take it out, or run "
                    "a study with it"
                )
    missing = {name: [metric for metric in suite.weights if metric not in metrics] for name, suite in SUITES.items()}
    usual = [suite for name, suite in SUITES.items() if not missing[name]]
    return [*usual, *own], _left_out({name: lacking for name, lacking in missing.items() if lacking})


def _left_out(missing: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return in one sentence which suites were left out, and which metrics they lack."""
    if not missing:
        return ()
    lacking = dict.fromkeys(metric for metrics in missing.values() for metric in metrics)
    suites = f"suite {next(iter(missing))} is" if len(missing) == 1 else f"suites {', '.join(missing)} are"
    were = "was" if len(lacking) == 1 else "were"
    return (f"The {suites} left out: {', '.join(lacking)} {were} not computed.",)
