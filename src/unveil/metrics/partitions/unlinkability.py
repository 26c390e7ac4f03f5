"""Unlinkability of each subject in the attacker's partition.

The framework measures, per subject, the errors the attacker makes now (primary: missed and wrongly included items
in the most relevant cluster) and the risk of what may follow (secondary: how few merges of clusters would link a
share beta of the subject's items, and how many items of other subjects come along). Readings of passages that the paper
leaves open are stated in :func:`unlinkability`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from numpy.typing import NDArray

from unveil._figure import column, column_names, figure
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.guesses.partition import Number
from unveil.metrics._listing import metric
from unveil.metrics.partitions._evaluate import Policy, evaluate
from unveil.metrics.partitions._mixing import MIXINGS, Mixing
from unveil.metrics.partitions._policy import Flags, PerSubject, exact_share, exact_shares, flags
from unveil.metrics.partitions._tally import tallies
from unveil.metrics.partitions._weights import Weights

if TYPE_CHECKING:
    import polars as pl

Norm = Literal["weight", "literal"]
AtBreach = Literal["nan", "limit"]


class UnlinkabilitySettings(TypedDict, total=False):
    """The settings of :func:`unlinkability`, for functions that pass them on."""

    alpha: PerSubject
    beta: PerSubject
    contamination_desirable: Flags
    weights: Weights | None
    norm: Norm
    at_breach: AtBreach
    overall_alpha: Number | None
    overall_beta: Number | None
    mixing: Mixing


PAPER = "unlinkability framework for partitions"

# The meanings of values that subjects, all of them together, guessing and forecasts have.
MISS = "Miss errors: a subject's items outside its most relevant cluster; for all subjects, the sum."
INCLUDE = "Number of other subjects' items in the most relevant cluster; for all subjects, the sum."
NORMALIZED_ERROR = "Error of the guess as a share of the largest possible error."
LINKED = "Share of a subject's items linked after 0, 1, … merges."
MIXED = "Share of other subjects' items mixed in after 0, 1, … merges."
BREACHED = "Whether the subject is breached (beta linked); in a forecast the probability of it."
BREACHED_SHARE = "Share of breached subjects."
MERGES = "Number of merges to a breach."
RISK_SLOPE = "Closeness to a breach: 0 far away, 1 one step away; null where it is breached already."


@dataclass(frozen=True, kw_only=True, eq=False)
class OverallUnlinkability:
    """Overall values of the partition.

    ``linked[j]`` is the mean share linked after ``j`` merges per subject.
    """

    alpha: float
    beta: float
    miss: float = figure(MISS)
    include: float = figure(INCLUDE)
    kind: Literal["conservative", "liberal", "neutral"] = figure(
        "Whether the guess links too little (conservative), too much (liberal), or neither."
    )
    normalized_error: float = figure(NORMALIZED_ERROR)
    linked: FloatArray = figure(LINKED)
    mixed: FloatArray = figure(MIXED)
    breached: bool = figure(BREACHED)
    merges: float = figure(MERGES)
    risk_slope: float = figure(RISK_SLOPE)
    breached_subjects: int = figure("Number of breached subjects.", counts="people")
    breached_share: float = figure(BREACHED_SHARE, counts="people")


@dataclass(frozen=True, kw_only=True, eq=False)
class Unlinkability:
    """All values per subject, in the order of ``subjects``, and overall."""

    n: int
    subjects: NDArray[Any]
    alpha: FloatArray
    beta: FloatArray
    contamination_desirable: BoolArray
    size: IntArray = column("Number of items.")
    related: FloatArray = column("Clusters that hold items of the subject.")
    miss: FloatArray = column(MISS)
    include: FloatArray = column(INCLUDE)
    error: FloatArray = column("Error of the guess: alpha × miss + (1 - alpha) × include.")
    normalized_error: FloatArray = column(NORMALIZED_ERROR)
    linked0: FloatArray = column("Share of the items linked now.")
    mixed0: FloatArray = column("Share of other subjects' items in the cluster now.")
    breached: BoolArray = column(BREACHED)
    merges: FloatArray = column(MERGES)
    risk_slope: FloatArray = column(RISK_SLOPE)
    others: FloatArray = column("Number of other subjects in the cluster.")
    others_evenness: FloatArray = column("Evenness of the other subjects' shares of the cluster.")
    graph_start: IntArray
    linked: FloatArray
    mixed: FloatArray
    overall: OverallUnlinkability
    #: What the mixed graphs count.
    mixing: Mixing = "items"

    def graphs(self, subject: int) -> tuple[FloatArray, FloatArray]:
        """Return one subject's linked and mixed graph after 0, 1, … merges."""
        part = slice(self.graph_start[subject], self.graph_start[subject + 1])
        return self.linked[part], self.mixed[part]

    def to_frame(self, *, mixing: bool = False) -> "pl.DataFrame":
        """Return one row per subject, optionally with the subjects mixed in."""
        import polars as pl

        names = [name for name in column_names(Unlinkability) if mixing or not name.startswith("others")]
        subjects = self.subjects.tolist()
        try:
            first = pl.Series("subject", subjects)
        except (TypeError, pl.exceptions.PolarsError):  # labels of mixed kinds, tuples, …
            first = pl.Series("subject", [str(subject) for subject in subjects])
        return pl.DataFrame([first, *(pl.Series(name, getattr(self, name)) for name in names)])


def unlinkability(
    guess: Partition | View,
    truth: Partition,
    *,
    alpha: PerSubject = Fraction(1, 2),
    beta: PerSubject = Fraction(4, 5),
    contamination_desirable: Flags = False,
    weights: Weights | None = None,
    norm: Norm = "weight",
    at_breach: AtBreach = "nan",
    overall_alpha: Number | None = None,
    overall_beta: Number | None = None,
    mixing: Mixing = "items",
) -> Unlinkability:
    """Return how well each subject (cluster of ``truth``) is hidden in ``guess``.

    Parameters
    ----------
    guess, truth
        Partitions of the same items; the guess may be a view (several partitions with probabilities). Errors and
        graphs of a view are averaged first; then one beta point is found.
    alpha
        How much missed items matter against those of other subjects, per subject or for all: a cluster costs
        ``alpha * miss + (1 - alpha) * include``. (The paper's prose has it the other way round; its formulas rule.)
        Kept as the exact fraction that was written, because ties between clusters decide averages.
    beta
        The share of a subject's items that must not get linked. Where beta is at most the share linked already,
        the subject is ``breached`` and its risk slope is undefined: NaN, or with ``at_breach="limit"`` the slope of
        the vertical, ``alpha + (1 - alpha) * (mixed0 > 0)``.
    contamination_desirable
        Whether the subject likes items of other subjects in its cluster; the mixed graph is then ``1 - y``.
    weights
        How sensitive items are, from 0 to 1: one per item, a mapping from item, or from (subject, item). With
        ``norm="weight"`` shares are of the weight (linked is 1 where a subject weighs nothing, mixed 0 where the
        others do); ``norm="literal"`` divides by numbers of items, as the formulas are printed: what an item lacks of
        weight 1 then counts as linked from the start. The linked graph ends at 1 either way.
    overall_alpha, overall_beta
        The policy of the overall risk slope; by default the mean over subjects.
    mixing
        What the mixed graph is a share of: all foreign ``"items"`` (the paper), all ``"others"``, the other subjects
        who come along whatever they have there, or ``"even"``, the others by their effective number, 2 to the entropy
        of the items of other subjects by subject: ten items of one other person count as one, ten of ten people as ten.
        Clusters that tie in cost, foreign and missed items bring different others along, so these graphs are means over
        all orders of such clusters (where more than 8 tie, the effective number is 2 to the mean entropy from the
        second of them on). No name of a cluster changes a value.

    Returns
    -------
    Unlinkability
        ``miss`` and ``include`` count the errors in the most relevant cluster, averaged over ties. ``error`` is
        their alpha-weighted sum, ``normalized_error`` divides it by n - 1 (so it cannot be compared between data of
        different size; NaN when n is 1). ``merges`` is where the linked graph reaches beta, interpolated linearly.
        ``risk_slope`` lies in [0, 1]; higher is riskier. The overall graphs run over all clusters of the guess.

    Examples
    --------
    >>> truth = Partition.from_labels("ooooo" "xx")
    >>> result = unlinkability(Partition.from_labels("aaaab" "bb"), truth, alpha=1, beta="9/10")
    >>> result.graphs(0)[0]
    array([0.8, 1. ])
    >>> round(float(result.risk_slope[0]), 4)
    0.6772
    """
    given: UnlinkabilitySettings = {
        "alpha": alpha,
        "beta": beta,
        "contamination_desirable": contamination_desirable,
        "norm": norm,
        "at_breach": at_breach,
        "overall_alpha": overall_alpha,
        "overall_beta": overall_beta,
        "mixing": mixing,
    }
    counted = tallies(guess, truth, weights)
    policy = policy_of(truth, given)
    subjects, overall = evaluate(counted, policy)
    return Unlinkability(
        n=truth.n, subjects=truth.clusters, overall=OverallUnlinkability(**overall), mixing=mixing, **subjects
    )


def policy_of(truth: Partition, settings: UnlinkabilitySettings) -> Policy:
    """Return the checked policy, from the settings of :func:`unlinkability`."""
    norm, at_breach = settings.get("norm", "weight"), settings.get("at_breach", "nan")
    if norm not in ("weight", "literal"):
        raise InputError("Unknown norm. Use 'weight' or 'literal'")
    if at_breach not in ("nan", "limit"):
        raise InputError("Unknown at_breach. Use 'nan' or 'limit'")
    mixing = settings.get("mixing", "items")
    if mixing not in MIXINGS:
        raise InputError("Unknown mixing. Use 'items', 'others' or 'even'")
    alpha, beta = settings.get("overall_alpha"), settings.get("overall_beta")
    desirable = settings.get("contamination_desirable", False)
    return Policy(
        alpha=exact_shares(settings.get("alpha", Fraction(1, 2)), truth.clusters, what="alpha"),
        beta=exact_shares(settings.get("beta", Fraction(4, 5)), truth.clusters, what="beta"),
        contamination_desirable=flags(desirable, truth.clusters, what="contamination_desirable"),
        literal=norm == "literal",
        limit_at_breach=at_breach == "limit",
        mixing=mixing,
        overall_alpha=None if alpha is None else exact_share(alpha, what="overall_alpha"),
        overall_beta=None if beta is None else exact_share(beta, what="overall_beta"),
    )


@metric(category="unlinkability", per="subject", more_means="more private", bounds=(0, inf), source=f"{PAPER}, 3.1")
def miss_errors(guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]) -> FloatArray:
    """Return how many of each subject's items the most relevant cluster misses.

    Formula: ``|C - C'|`` with C the subject's items and C' the cluster that costs least, averaged over ties. 0 means
    the attacker has them all. It is never undefined. ``settings`` are those of :func:`unlinkability`.

    >>> miss_errors(Partition.from_labels("xxy"), Partition.from_labels("aaa"))
    array([1.])
    """
    return unlinkability(guess, truth, **settings).miss


@metric(category="unlinkability", per="subject", more_means="more private", bounds=(0, inf), source=f"{PAPER}, 3.1")
def include_errors(guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]) -> FloatArray:
    """Return the include errors of each subject's most relevant cluster.

    Formula: ``|C' - C|`` with C the subject's items and C' the cluster that costs least, averaged over ties. 0 means
    nothing foreign is mixed in. It is never undefined. ``settings`` are those of :func:`unlinkability`.

    >>> include_errors(Partition.from_labels("xxy"), Partition.from_labels("abb"))
    array([1., 0.])
    """
    return unlinkability(guess, truth, **settings).include


@metric(category="unlinkability", per="subject", more_means="more private", bounds=(0, 1), source=f"{PAPER}, 3.1")
def normalized_error(
    guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]
) -> FloatArray:
    """Return each subject's combined error, as a share of n - 1.

    Formula: ``(alpha * miss + (1 - alpha) * include) / (n - 1)``. 0 means no error the subject cares about. It cannot
    be compared between data of different size. NaN when n is 1.

    >>> normalized_error(Partition.from_labels("xxy"), Partition.from_labels("aaa"))
    array([0.25])
    """
    return unlinkability(guess, truth, **settings).normalized_error


@metric(category="unlinkability", per="subject", more_means="less private", bounds=(0, 1), source=f"{PAPER}, 3.2")
def risk_slope(guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]) -> FloatArray:
    """Return the risk slope of each subject, 0 to 1.

    Formula: ``2 / pi * (alpha * atan(beta / x) + (1 - alpha) * atan(y / x))`` where x merges link beta of the items
    and y of all items of other subjects come along. 0 means far away, 1 straight up. NaN where the subject is already
    breached (see :func:`breached_share`).

    >>> risk_slope(Partition.from_labels("wxyz"), Partition.from_labels("aaaa")).round(3)
    array([0.111])
    """
    return unlinkability(guess, truth, **settings).risk_slope


@metric(category="unlinkability", per="release", more_means="less private", bounds=(0, 1), source=f"{PAPER}, 3.2")
def overall_risk_slope(guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]) -> float:
    """Return the risk slope of the average subject, 0 to 1.

    Formula: that of :func:`risk_slope` on the mean of all subjects' graphs. 0 means far away, 1 straight up. NaN where
    the average subject is already breached.

    >>> round(overall_risk_slope(Partition.from_labels("wxyz"), Partition.from_labels("aabb")), 3)
    0.295
    """
    return unlinkability(guess, truth, **settings).overall.risk_slope


@metric(category="unlinkability", per="release", more_means="less private", bounds=(0, 1), source=f"{PAPER}, 3.2")
def breached_share(guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]) -> float:
    """Return the share of breached subjects, 0 to 1.

    Formula: ``#{beta <= linked(0)}`` over the number of subjects. 0 means none, 1 all. It is never undefined.

    >>> breached_share(Partition.from_labels("xxyz"), Partition.from_labels("aabb"))
    0.5
    """
    return unlinkability(guess, truth, **settings).overall.breached_share
