"""Estimated values of a matching attack as text, with their accuracy."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from unveil.metrics.matchings.cracks import Cracks, EstimatedValue
from unveil.metrics.matchings.permanents import Ambiguity
from unveil.report.text import UNDEFINED, count, decimal, percent, significant

#: A probability from here on counts as certain: rounding leaves no more.
CERTAIN = 1 - 1e-9
#: The probability of an outcome that is named as bad luck.
TAIL = 0.05
#: An R-hat from which on chains disagree, and what was sampled is unreliable.
UNSETTLED = 1.05
#: Permanents between these are written out.
_LARGE, _SMALL_DIGITS = 10**12, 3

_METHODS: Mapping[str, str] = MappingProxyType(
    {
        "single": "blocks of one item",
        "closed form": "a closed formula, as all matchings of a block are equally likely",
        "subsets": "dynamic programming over sets of pseudonyms",
        "frontier": "dynamic programming along the pseudonyms in order",
        "Glynn": "Glynn's formula",
        "worm": "random matchings from Markov chains (worm Monte Carlo)",
        "annealing": "random matchings drawn on the way from a full matrix to this one (annealed worms)",
        "Bethe bracket": "belief propagation, which gives certain lower and upper bounds",
        "listed matchings": "summation over the listed matchings",
    }
)


def amount(figure: EstimatedValue) -> str:
    """Return an estimated number, with as many digits as are known.

    >>> amount(EstimatedValue(2421.8213, 1.7, "worm", 1.001, "sampled"))
    '2,421.8'
    >>> amount(EstimatedValue(29 / 18, 0.0, "subsets"))
    '1.611'
    """
    if figure.kind != "sampled" or not figure.error > 0:
        return decimal(figure.value)
    return decimal(figure.value, places=min(6, max(0, 1 - math.floor(math.log10(figure.error)))))


def or_more(at_least: int, n: int) -> str:
    """Return "3 or more", or that these are all there are.

    >>> or_more(3, 5), or_more(5, 5), or_more(2, 2)
    ('3 or more', 'all 5', 'both')
    """
    if at_least < n:
        return f"{count(at_least)} or more"
    return "the only one" if n == 1 else "both" if n == 2 else f"all {count(n)}"


def method_words(method: str) -> str:
    """Return the method of a number, in words.

    >>> method_words("single, Glynn")
    "blocks of one item; and Glynn's formula"
    """
    return "; and ".join(_METHODS.get(each, each) for each in method.split(", "))


def certainty(figure: EstimatedValue) -> str:
    """Return how accurate a number is, in words.

    >>> certainty(EstimatedValue(1.5, 0.0, "subsets"))
    'Exact, by dynamic programming over sets of pseudonyms.'
    """
    if math.isnan(figure.value):
        return ""
    by = method_words(figure.method)
    if figure.kind == "bracket":
        low, high = decimal(figure.value), decimal(figure.value + figure.error)
        sampled = " (plus three standard errors of the samples)" if "worm" in figure.method else ""
        return f"Not exact: between {low} and {high}{sampled}, by {by}."
    if figure.kind == "sampled":
        chains = "" if math.isnan(figure.r_hat) else f", R-hat {figure.r_hat:.3f}"
        doubt = " The chains disagree: the value is unreliable." if figure.r_hat > UNSETTLED else ""
        bounds = f" Certain bounds: {decimal(figure.low)} and {decimal(figure.high)} (belief propagation)."
        bounds = "" if math.isnan(figure.low) else bounds
        error = decimal(figure.error) if figure.error >= 0.001 else significant(figure.error, digits=2)
        return f"Sampled, with a standard error of {error}{chains}, by {by}.{bounds}{doubt}"
    return f"Exact, by {by}."


def permanent_certainty(log: EstimatedValue) -> str:
    """Return how accurate a permanent is, in words, given its logarithm."""
    if log.kind == "exact":
        return certainty(log)
    by = method_words(log.method)
    if log.kind == "bracket":
        power = decimal(log.error / math.log(10), places=1)
        return f"A lower bound; the permanent is at most 10^{power} times larger, by {by}."
    times = math.exp(min(2 * log.error, 600.0))
    factor = decimal(times, places=2) if times < 100 else f"10^{decimal(math.log10(times), places=1)}"
    low, high = (decimal(end / math.log(10), places=1) for end in (log.low, log.high))
    return (
        f"Sampled (95% CI: a factor of {factor}), by {by}. Certain bounds: 10^{low} and 10^{high} (belief propagation)."
    )


def permanent_text(result: Cracks | Ambiguity) -> str:
    """Return the permanent as a number that can be read, however large or small."""
    if result.permanent is not None and result.permanent < _LARGE:
        return count(result.permanent)
    log = result.log_permanent.value
    if math.isnan(log):
        return UNDEFINED
    digits = log / math.log(10)
    if -_SMALL_DIGITS <= digits < 0:
        return significant(math.exp(log), digits=6)
    if 0 <= digits < math.log10(_LARGE):
        return decimal(math.exp(log), places=4)
    power = math.floor(digits)
    return f"{10 ** (digits - power):.2f} × 10^{power}"


def accuracy(figure: EstimatedValue) -> str:
    """Return how accurate a number is, in a word or two.

    >>> accuracy(EstimatedValue(1.5, 0.0, "subsets")), accuracy(EstimatedValue(1.5, 0.02, "worm", 1.0, "sampled"))
    ('exact', '± 0.04')
    """
    if figure.kind == "bracket":
        return "lower bound"
    if figure.kind == "sampled" and figure.error > 0:
        return "unreliable" if figure.r_hat > UNSETTLED else f"± {significant(2 * figure.error, digits=2)}"
    return "exact"


def degree_text(figure: EstimatedValue) -> str:
    """Return a degree of anonymity."""
    return decimal(figure.value) if figure.kind != "bracket" else f"{decimal(figure.value)} or more"


def permanent_label(result: Cracks | Ambiguity) -> str:
    """Return what the sum of weights over all matchings is called."""
    if result.permanent is not None and result.flat:
        return "Possible matchings"
    return "Permanent of the matrix" if result.n == result.pairs == result.pseudonym_count else "Weight of all pairings"


def chance_text(value: float) -> str:
    """Return a probability, with a note if it is certain."""
    return "100% (certain)" if value >= CERTAIN else percent(float(value))


def lower(text: str) -> str:
    """Return a sentence as it stands after a colon."""
    return text[:1].lower() + text[1:]
