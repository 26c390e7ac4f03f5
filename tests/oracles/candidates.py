"""The metrics of candidates by their definitions: full vectors over the candidates considered, exact where it can be.

Nothing here uses a closed form of the implementation. Where a definition does not say what to do (one candidate, a
truth that was not considered, …) the convention of the metric's docstring is spelt out in a line of its own.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, pvariance
from typing import Any

from unveil.metrics import METRICS

NOBODY = -1
NOT_ATTEMPTED = -1
LEAST = 1e-12


@dataclass(frozen=True, kw_only=True)
class Target:
    """What the adversary believes about one target; ``chosen`` None means one of the most likely ones, by lot."""

    probability: dict[int, Fraction]
    chosen: int | None
    truth: int

    @property
    def attempted(self) -> bool:
        return bool(self.probability) and self.chosen != NOT_ATTEMPTED

    @property
    def somebody(self) -> bool:
        return self.truth != NOBODY

    @property
    def vector(self) -> list[Fraction]:
        """One probability per candidate considered."""
        return list(self.probability.values())

    @property
    def onehot(self) -> list[int]:
        """The true match as 0 and 1, over the candidates considered."""
        return [int(candidate == self.truth) for candidate in self.probability]

    @property
    def of_truth(self) -> Fraction:
        return self.probability.get(self.truth, Fraction(0))

    def with_truth_considered(self) -> "Target":
        """The same target, the truth added with probability 0 if it was not considered."""
        widened = {**self.probability, self.truth: self.of_truth}
        return Target(probability=widened, chosen=self.chosen, truth=self.truth)


Targets = Sequence[Target]
Oracle = Callable[..., Any]


def log2(value: Fraction) -> float:
    """The logarithm of a fraction, also of one that is too small for a float."""
    return math.log2(value.numerator) - math.log2(value.denominator)


def shannon(probabilities: Iterable[Fraction]) -> float:
    return -math.fsum(float(p) * log2(p) for p in probabilities if p > 0)


def renyi(target: Target, order: float) -> float:
    """1 / (1 - a) * log2 of the sum of p ** a, and its limits at 1 and infinity; whole orders are exact."""
    positive = [p for p in target.vector if p > 0]
    if order == 1:
        return shannon(positive)
    if order == math.inf:
        return -log2(max(positive))
    if order == int(order):
        return log2(sum((p ** int(order) for p in positive), Fraction(0))) / (1 - order)
    return math.log2(math.fsum(float(p) ** order for p in positive)) / (1 - order)


def correct(target: Target) -> Fraction:
    """The chance that the candidate settled on is the true one."""
    if not target.attempted or not target.somebody:
        return Fraction(0)
    if target.chosen is not None:
        return Fraction(int(target.chosen == target.truth))
    likely = [candidate for candidate, p in target.probability.items() if p == max(target.vector)]
    return Fraction(sum(candidate == target.truth for candidate in likely), len(likely))


# ---- one target at a time -------------------------------------------------------------------------------------------


def entropy_of(outcomes: Iterable[Hashable]) -> float:
    """The entropy of one of these outcomes drawn at random."""
    counts = Counter(outcomes)
    return shannon(Fraction(count, counts.total()) for count in counts.values())


def labelled_draws(target: Target) -> list[tuple[int, Fraction]]:
    """The joint table of X (is it the true one?) and Y (its probability as a label), one row per candidate."""
    return list(zip(target.onehot, target.vector, strict=True))


def conditional_entropy(target: Target, *, form: str = "label") -> float:
    if form == "prior":
        return shannon(target.vector)
    joint = labelled_draws(target)
    return entropy_of(joint) - entropy_of(y for _, y in joint)


def mutual_information(target: Target, *, form: str = "label") -> float:
    if form == "prior":
        before = [Fraction(1, len(target.vector))] * len(target.vector)
        return shannon(before) - shannon(target.vector)
    joint = labelled_draws(target)
    cells, xs, ys = Counter(joint), Counter(x for x, _ in joint), Counter(y for _, y in joint)
    total = Fraction(len(joint))
    return math.fsum(
        float(k / total) * log2((k / total) / (xs[x] / total * ys[y] / total)) for (x, y), k in cells.items()
    )


def quantiles_on_entropy(target: Target, *, at_least: float = 0.001, renormalize: bool = False) -> float:
    kept = [p for p in target.vector if p > 0 and float(p) >= at_least]
    if renormalize and kept:
        kept = [p / sum(kept) for p in kept]
    return shannon(kept)


def normalized_entropy(target: Target) -> float:
    most = renyi(target, 0)
    return shannon(target.vector) / most if most else 0.0  # a single candidate left


def pearson_correlation(target: Target) -> float:
    x, p = target.onehot, target.vector
    if len(x) == 1:
        return float(x[0])
    count = Fraction(len(x))
    mean_x, mean_p = sum(x) / count, sum(p) / count
    covariance = sum((a - mean_x) * (b - mean_p) for a, b in zip(x, p, strict=True)) / count
    spread = pvariance(list(map(Fraction, x))) * pvariance(p)
    return float(covariance) / math.sqrt(spread) if spread else 0.0  # all alike, or the truth not considered


def capped(target: Target) -> float:
    """The probability of the truth; the logarithm of a smaller one is not told apart."""
    return max(float(target.of_truth), LEAST)


def relative_entropy(target: Target) -> float:
    """Sum of x * ln(x / p); only the true candidate has x > 0."""
    return math.fsum(x * math.log(x / capped(target)) for x in target.with_truth_considered().onehot if x > 0)


def squared_errors(target: Target) -> list[Fraction]:
    wide = target.with_truth_considered()
    return [(x - p) ** 2 for x, p in zip(wide.onehot, wide.vector, strict=True)]


def normalized_variance(target: Target) -> float:
    if len(target.probability) == 1:
        return 0.0 if target.truth in target.probability else 1.0
    wide = target.with_truth_considered()
    x = list(map(Fraction, wide.onehot))
    return float(pvariance([a - p for a, p in zip(x, wide.vector, strict=True)]) / pvariance(x))


def set_size(target: Target, credible: float | None = None) -> int:
    """How many candidates have some probability; or the fewest, at least one, that hold so much of it together."""
    if credible is None:
        return sum(p > 0 for p in target.vector)
    falling = sorted(target.vector, reverse=True)
    return next(k for k in range(1, len(falling) + 1) if sum(falling[:k]) >= Fraction(credible))


PER_TARGET: dict[str, Oracle] = {
    "anonymity_set_size": set_size,
    "collision_entropy": lambda target: renyi(target, 2),
    "conditional_entropy": conditional_entropy,
    "conditional_privacy": lambda target, **form: 2 ** conditional_entropy(target, **form),
    "entropy": lambda target: renyi(target, 1),
    "inherent_privacy": lambda target: 2 ** shannon(target.vector),
    "max_entropy": lambda target: renyi(target, 0),
    "min_entropy": lambda target: renyi(target, math.inf),
    "normalized_entropy": normalized_entropy,
    "quantiles_on_entropy": quantiles_on_entropy,
    "information_surprisal": lambda target: -math.log2(capped(target)),
    "mutual_information": mutual_information,
    "pearson_correlation": pearson_correlation,
    "relative_entropy": relative_entropy,
    "absolute_error": lambda target: max(target.vector) - target.of_truth,
    "incorrectness": lambda target: sum(p for candidate, p in target.probability.items() if candidate != target.truth),
    "mean_squared_error": lambda target: sum(squared_errors(target)) / len(squared_errors(target)),
    "normalized_variance": normalized_variance,
}


def values(name: str, targets: Targets, **settings: Any) -> list[float]:
    """One value per target, NaN where it was not attempted, or stands for nobody and the metric needs the truth."""
    return [
        float(PER_TARGET[name](target, **settings))
        if target.attempted and (target.somebody or not METRICS[name].needs_truth)
        else math.nan
        for target in targets
    ]


# ---- a whole release ------------------------------------------------------------------------------------------------


def known_information(targets: Targets, form: str) -> list[float]:
    return [value for value in values("mutual_information", targets, form=form) if not math.isnan(value)]


def leaked(targets: Targets, *, at_least: float | None = None) -> float:
    if at_least is None:
        return float(sum(map(correct, targets)))
    return sum(t.attempted and t.somebody and float(t.of_truth) >= at_least for t in targets)


def conditional_privacy_loss(targets: Targets, *, form: str = "label") -> float:
    information = known_information(targets, form)
    return 1 - 2 ** -fmean(information) if information else math.nan


def share(part: Fraction | int, whole: int, otherwise: float) -> float:
    return float(Fraction(part) / whole) if whole else otherwise


def somebodies(targets: Targets) -> int:
    return sum(target.somebody for target in targets)


def wrong(targets: Targets) -> Fraction:
    return sum((1 - correct(target) for target in targets if target.attempted and target.somebody), Fraction(0))


def hidden(targets: Targets, *, threshold: float = 0.5, unattempted_hidden: bool = True) -> int:
    return sum(float(max(t.vector)) < threshold if t.attempted else unattempted_hidden for t in targets)


def innocent(targets: Targets, *, threshold: float = 0.5, unattempted_innocent: bool = True) -> int:
    people = [target for target in targets if target.somebody]
    return sum(float(t.of_truth) < threshold if t.attempted else unattempted_innocent for t in people)


PER_RELEASE: dict[str, Oracle] = {
    "amount_of_leaked_information": leaked,
    "conditional_privacy_loss": conditional_privacy_loss,
    "loss_of_anonymity": lambda targets, *, form="label": max(known_information(targets, form), default=math.nan),
    "incorrectly_classified": lambda targets: share(wrong(targets), somebodies(targets), math.nan),
    "adversary_success_rate": lambda targets: share(
        sum(map(correct, targets), Fraction(0)), sum(target.attempted for target in targets), 0.0
    ),
    "adversary_overall_success": lambda targets: share(
        sum(map(correct, targets), Fraction(0)), somebodies(targets), math.nan
    ),
    "hiding_property": hidden,
    "user_specified_innocence": innocent,
}
