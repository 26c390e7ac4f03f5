"""What the cracks of a matching attack mean, in plain sentences for somebody who has to decide."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from unveil.metrics.matchings.cracks import Cracks, EstimatedFigure
from unveil.metrics.matchings.permanents import Ambiguity
from unveil.questions.matching.findings import AmbiguityFindings, MatchingFindings
from unveil.report.blocks import Tone
from unveil.report.text import UNDEFINED, about, count, decimal, name, percent, significant

#: A chance from here on counts as certain: rounding leaves no more.
CERTAIN = 1 - 1e-9
#: What is said to happen with a probability of one in twenty.
TAIL = 0.05
#: An R-hat from which on chains do not agree, and what was sampled is not to be trusted.
UNSETTLED = 1.05
#: Permanents between these are written out.
_LARGE, _SMALL_DIGITS = 10**12, 3
#: Shares that differ by less are the same to a reader.
_SAME = 5e-4

_METHODS: Mapping[str, str] = MappingProxyType(
    {
        "single": "blocks of one entry, which leave no choice",
        "closed form": "a closed formula, because all matchings of a block are equally likely",
        "subsets": "dynamic programming over sets of tokens",
        "frontier": "dynamic programming along the tokens in order",
        "Glynn": "Glynn's formula",
        "worm": "random matchings drawn by chains (worm Monte Carlo)",
        "annealing": "random matchings drawn on the way from a full matrix to this one (annealed worms)",
        "Bethe bracket": "belief propagation, which gives a lower and an upper bound that are certain",
        "listed matchings": "adding up the matchings that were listed",
    }
)


_HOW: Mapping[str, str] = MappingProxyType(
    {
        "possible pairs": "and all matchings made of them to be equally likely",
        "probabilities": "with probabilities that sum to 1 in each row and column",
        "weights": "with weights of any size; only their proportions matter",
    }
)


def headline(cracks: Cracks) -> str:
    """Return the answer in one sentence: how many entries are cracked, expected and with bad luck, beside chance."""
    n, expected = count(cracks.n, "entry", "entries"), cracks.expected_cracks
    if not (cracks.crack_probability > 0).any():
        return f"The adversary cracks none of {n}: it gives no true token a chance, or next to none."
    if (cracks.crack_probability >= CERTAIN).all():
        return f"The adversary cracks {_all(cracks.n)}: it holds no other matching than the true one to be possible."
    few = decimal(expected.value, places=1 if expected.value >= 1 else 2)
    blind = decimal(cracks.blind_cracks, places=2)
    text = f"The adversary is expected to crack {few} of {n} ({_share(cracks)}), where knowing nothing cracks {blind}"
    least = cracks.at_least(TAIL).at_least
    if least <= expected.value:
        return f"{text}, and hardly ever more."
    return f"{text}; with a probability of 5% it cracks {or_more(least, cracks.n)}."


def _share(cracks: Cracks) -> str:
    """Return the share of entries that is expected to be cracked; where it was sampled, within two standard errors."""
    share = cracks.cracked_share
    if share.kind != "sampled":
        return about(share.value)
    low, high = max(0.0, share.value - 2 * share.error), min(1.0, share.value + 2 * share.error)
    return f"{about(share.value)}, within two standard errors {about(low)} to {about(high)}"


def explanation(cracks: Cracks) -> tuple[str, ...]:
    """Return which set is most at risk, if sets were asked for, and what is certain."""
    unequal = unequal_sentence(cracks).strip()
    return (*_set_at_risk(cracks), *((unequal,) if unequal else ()), *_certain(cracks))


def _set_at_risk(cracks: Cracks) -> tuple[str, ...]:
    if cracks.itemsets is None:
        return ()
    sets = cracks.itemsets.sets
    most = max(sets, key=lambda each: each.found.value)
    which = f"Of {count(len(sets))} sets most at risk is {name(most.name, 40)},"
    told = which if len(sets) > 1 else f"The set {name(most.name, 40)} is"
    chance = f"{about(most.found.value)} (by chance: {about(most.by_chance)})"
    return (f"{told} found as a whole with a probability of {chance}.",)


def _certain(cracks: Cracks) -> tuple[str, ...]:
    if cracks.n == 1:
        return ("With a single entry there is nothing to confuse it with: whoever knows of it has cracked it.",)
    if not (cracks.crack_probability > 0).any():
        return ("It is misled, and one who sees the mistake may do better.",)
    sure = sure_entries(cracks)
    if not sure:
        none = " or none" if cracks.pairs < cracks.n else ""
        return (f"No entry is cracked for certain: each may have another token{none}.",)
    which = (
        "One entry is" if sure == 1 else f"{_begun(_all(sure)) if sure == cracks.n else count(sure, '', 'entries')} are"
    )
    drawn = " in any matching that was drawn" if (cracks.crack_probability_error > 0).any() else ""
    return (f"{which} cracked for certain: no other token is possible there{drawn}.",)


def sure_entries(cracks: Cracks) -> int:
    """Return how many entries get their true token in every matching that is possible."""
    return int((cracks.crack_probability >= CERTAIN).sum())


def next_steps(cracks: Cracks) -> tuple[str, ...]:
    """Return what to do about it."""
    steps = []
    if cracks.n > 1 and sure_entries(cracks):
        steps.append(
            "Give the entries that are cracked for certain company: merge them with others or leave them out, and ask "
            "again."
        )
    elif tone(cracks) in ("bad", "warning"):
        steps.append("Look at the entries most at risk: what sets them apart is what to coarsen before the release.")
    else:
        steps.append("Ask again with what a better informed adversary may hold: only what was given is measured.")
    steps.append("Decide on the most entries that may be cracked with bad luck, and set it: --limit cracks_q95=NUMBER.")
    return tuple(steps)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def tone(cracks: Cracks) -> Tone:
    """Return how the headline should strike: bad when half of all entries are cracked, a warning above blind guessing.

    An adversary who knows nothing is expected to crack one entry, whatever their number, if each has a token.
    """
    expected = cracks.expected_cracks
    if cracks.n == 1:
        return "neutral"
    if expected.value >= cracks.n / 2:
        return "bad"
    margin = 2 * expected.error if expected.kind == "sampled" else 1e-9
    return "warning" if sure_entries(cracks) or expected.value > cracks.blind_cracks + margin else "neutral"


def held_sentence(findings: MatchingFindings) -> str:
    """Return what the adversary holds."""
    if findings.holds == "matchings":
        return _listed(findings.possible)
    how = _HOW[findings.holds]
    cracks = findings.cracks
    return f"{_held(findings.possible, cracks.n * cracks.token_count, how)}{unequal_sentence(cracks)}"


def held_open(findings: AmbiguityFindings) -> str:
    """Return what the adversary holds, where the truth was not told."""
    if findings.holds == "matchings":
        return _listed(findings.possible)
    size = findings.ambiguity.n * findings.ambiguity.token_count
    return f"{_held(findings.possible, size, _HOW[findings.holds])}{unequal_sentence(findings.ambiguity)}"


def _held(possible: int, size: int, how: str) -> str:
    return f"The adversary holds {possible:,} of {size:,} pairs of an entry and a token to be possible, {how}."


def _listed(possible: int) -> str:
    return f"The adversary holds {possible:,} matchings to be possible, each with a probability of its own."


def unequal_sentence(result: Cracks | Ambiguity) -> str:
    """Return how many are left alone, where not every entry gets a token and every token an entry.

    Begins with a space; empty where all are paired.
    """
    alone, spare = result.n - result.pairs, result.token_count - result.pairs
    if not alone and not spare:
        return ""
    parts = [f"{count(alone, 'entry', 'entries')} without a token"] if alone else []
    parts += [f"{count(spare, 'token', 'tokens')} without an entry"] if spare else []
    return (
        f" Of {count(result.n, 'entry', 'entries')} and {count(result.token_count, 'token', 'tokens')} it makes "
        f"{count(result.pairs, 'pair', 'pairs')} and leaves {' and '.join(parts)}."
    )


def heuristic_sentence(cracks: Cracks) -> str:
    """Return how the heuristic H compares with the expected number of cracks, and which of them to trust."""
    heuristic, expected = cracks.heuristic.value, cracks.expected_cracks.value
    if math.isnan(heuristic):
        return "The heuristic H needs a matrix, and here matchings were listed; the expected cracks need none."
    said = f"The heuristic H, which adds up the doubly stochastic matrix at the true tokens, gives {decimal(heuristic)}"
    if expected > 0:
        off = heuristic / expected - 1
        differs = f"{percent(abs(off))} {'more' if off > 0 else 'less'} than"
        said += f": {'the same as' if abs(off) < _SAME else differs} the expected cracks"
    return f"{said}. It ignores that no two entries can have the same token: trust the expected cracks."


def bias_meaning(cracks: Cracks) -> str:
    """Return what the matched bias says."""
    bias = cracks.matched_bias.value
    text = "By how much H is off, over all truths, if the truth is as the adversary believes."
    if math.isnan(bias):
        return f"{text} It has no value where matchings were listed: there is no matrix."
    if abs(bias) < _SAME:
        return f"{text} Here H is right on average."
    return f"{text} Here H {'understates' if bias < 0 else 'overstates'} the risk on average."


def nmape_sentence(cracks: Cracks) -> str:
    """Return how far H is off on average over all truths."""
    said = "The NMAPE is the distance of H from the expected cracks, on average over all truths, in percent of entries"
    value = cracks.nmape.value
    if math.isnan(value):
        return f"{said}; it needs a square matrix."
    bound = 100 * math.sqrt(2 / (cracks.n * (cracks.n - 1))) if cracks.n > 1 else 0.0
    little = (
        f" A small value says little: with {count(cracks.n)} entries it is never above {decimal(bound, places=1)}%."
    )
    return f"{said}: {percent(value / 100, places=2)}.{little if cracks.n > 9 else ''}"


def flat_sentence(result: Cracks | Ambiguity) -> str:
    """Return whether the weights say more than which pairs are possible."""
    if result.flat:
        return (
            "All matchings that are possible are equally likely: the weights say no more than which pairs are possible."
        )
    return "Matchings are not equally likely: the weights say more than which pairs are possible."


def amount(figure: EstimatedFigure) -> str:
    """Return a number of cracks, with as many digits as are known.

    >>> amount(EstimatedFigure(2421.8213, 1.7, "worm", 1.001, "sampled"))
    '2,421.8'
    >>> amount(EstimatedFigure(29 / 18, 0.0, "subsets"))
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
    """Return in words how a number was found.

    >>> method_words("single, Glynn")
    "blocks of one entry, which leave no choice; and Glynn's formula"
    """
    return "; and ".join(_METHODS.get(each, each) for each in method.split(", "))


def certainty(figure: EstimatedFigure) -> str:
    """Return in words how far a number may be off.

    >>> certainty(EstimatedFigure(1.5, 0.0, "subsets"))
    'Exact, by dynamic programming over sets of tokens.'
    """
    if math.isnan(figure.value):
        return ""
    by = method_words(figure.method)
    if figure.kind == "bracket":
        low, high = decimal(figure.value), decimal(figure.value + figure.error)
        sampled = " (and three standard errors of what was sampled)" if "worm" in figure.method else ""
        return f"Not exact: it lies between {low} and {high}{sampled}, by {by}."
    if figure.kind == "sampled":
        chains = "" if math.isnan(figure.r_hat) else f", R-hat {figure.r_hat:.3f}"
        doubt = " The chains do not agree: do not trust it." if figure.r_hat > UNSETTLED else ""
        sure = "" if math.isnan(figure.low) else f" {_surely(figure)}"
        return f"Sampled, with a standard error of {_small(figure.error)}{chains}, by {by}.{sure}{doubt}"
    return f"Exact, by {by}."


def _surely(figure: EstimatedFigure) -> str:
    return f"Certain is that it lies between {decimal(figure.low)} and {decimal(figure.high)} (belief propagation)."


def _small(error: float) -> str:
    return decimal(error) if error >= 0.001 else significant(error, digits=2)


def permanent_certainty(log: EstimatedFigure) -> str:
    """Return in words how far a permanent may be off, whose logarithm this is."""
    if log.kind == "exact":
        return certainty(log)
    by = method_words(log.method)
    if log.kind == "bracket":
        power = decimal(log.error / math.log(10), places=1)
        return f"Not exact: a lower bound, from which the permanent is at most 10^{power} times away, by {by}."
    times = math.exp(min(2 * log.error, 600.0))
    factor = decimal(times, places=2) if times < 100 else f"10^{decimal(math.log10(times), places=1)}"
    low, high = (decimal(end / math.log(10), places=1) for end in (log.low, log.high))
    return (
        f"Sampled: within two standard errors it is up to {factor} times more or less, by {by}. Certain is that it "
        f"lies between 10^{low} and 10^{high} (belief propagation)."
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


def _all(n: int) -> str:
    return "the only entry" if n == 1 else "both entries" if n == 2 else f"all {count(n)} entries"
