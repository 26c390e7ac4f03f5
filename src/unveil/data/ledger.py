"""Privacy ledger: every noisy answer of a release, with its cost."""

from collections import defaultdict
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Literal

from unveil._figure import derived, figure
from unveil.errors import InputError

Mechanism = Literal["Laplace", "geometric", "exponential"]

# Sums of costs are computed with rounding; a budget is not exceeded by that.
_SLACK = 1e-9


@dataclass(frozen=True, kw_only=True)
class Query:
    """Query on the private data, with the noise in its answer.

    Examples
    --------
    >>> Query(name="number of edges", mechanism="Laplace", sensitivity=1, scale=10, cost=0.1).cost
    0.1
    """

    name: str = figure("Description of the query.")
    mechanism: Mechanism = figure("Distribution of the noise, or the exponential mechanism.")
    sensitivity: float = figure(
        "By how much one edge more or less can change the answer: the sum over all its numbers (Laplace, geometric), "
        "or the score of any outcome (exponential)."
    )
    scale: float = figure(
        "Noise scale: the parameter b of the Laplace distribution, also where geometric noise rounds it; "
        "for the exponential mechanism, the divisor of the scores."
    )
    cost: float = figure("Share of epsilon spent: sensitivity / scale, doubled for the exponential mechanism.")
    answers: int = figure("Number of released values.", default=1)
    part: str | None = figure(
        "Questions of the same part look at disjoint sets of edges, so that together they cost as much as the "
        "dearest; null for a question that stands alone.",
        default=None,
    )

    def __post_init__(self) -> None:
        numbers = (self.sensitivity, self.scale, self.cost)
        if not all(isfinite(number) and number > 0 for number in numbers):
            raise InputError(
                f"sensitivity, scale and cost of {self.name!r} must be above 0 and finite. Pass such numbers"
            )
        least = self.sensitivity / self.scale * (2 if self.mechanism == "exponential" else 1)
        if self.cost < least * (1 - _SLACK):
            raise InputError(
                f"the noise of {self.name!r} costs at least {least:.6g} of epsilon, but {self.cost:.6g} is "
                "recorded. Record the actual cost, or add more noise"
            )


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """All queries on the private data of a release, and the privacy budget.

    Two data sets are neighbours if they differ in one edge. What counts as public, and so is not protected, is said
    in ``public``.

    Examples
    --------
    >>> edges = Query(name="number of edges", mechanism="Laplace", sensitivity=1, scale=2, cost=0.5)
    >>> inside = [Query(name=f"block {i}", mechanism="Laplace", sensitivity=1, scale=2, cost=0.5, part="blocks")
    ...           for i in (1, 2)]
    >>> Ledger(epsilon=1, queries=(edges, *inside)).total
    1.0
    """

    epsilon: float = figure("The epsilon that may be spent.")

    @derived("The epsilon that was spent.")
    def total(self) -> float:
        """Total cost; disjoint queries count as the most expensive one."""
        dearest: dict[str, float] = defaultdict(float)
        for query in self.queries:
            if query.part is not None:
                dearest[query.part] = max(dearest[query.part], query.cost)
        return fsum([*(query.cost for query in self.queries if query.part is None), *dearest.values()])

    public: tuple[str, ...] = figure("Facts treated as public.", default=("the number of nodes",))
    queries: tuple[Query, ...] = figure("The questions, in their order.")

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        if self.total > self.epsilon * (1 + _SLACK):
            raise InputError(
                f"the queries of a release may cost at most epsilon = {self.epsilon:g}, but cost {self.total:.6g}. "
                "Give each a smaller part of the budget"
            )


def check_epsilon(epsilon: object, *, what: str = "epsilon") -> None:
    """Refuse a budget that is no finite number above 0."""
    good = isinstance(epsilon, (int, float)) and not isinstance(epsilon, bool) and isfinite(epsilon) and epsilon > 0
    if not good:
        raise InputError(f"{what} must be a finite number above 0, but is {epsilon!r}. Smaller means more private")
