"""How the findings about a matching attack are shown: thresholds, first screen, sections and methods."""

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks, EstimatedValue
from unveil.metrics.matchings.permanents import Ambiguity
from unveil.questions.matching.estimates import (
    CERTAIN,
    TAIL,
    UNSETTLED,
    accuracy,
    amount,
    certainty,
    degree_text,
    lower,
    method_words,
    or_more,
    permanent_label,
    permanent_text,
)
from unveil.questions.matching.findings import AmbiguityFindings, MatchingFindings
from unveil.questions.matching.sections.items import MatchingContext, ceiling
from unveil.questions.matching.sections.items import section as items_section
from unveil.questions.matching.sections.sets import release_section
from unveil.questions.matching.sections.sets import section as sets_section
from unveil.questions.result import QuestionView
from unveil.report.blocks import Chart, NextStep, Page, Series, TableBlock, Threshold, Tone
from unveil.report.limits import Quantity
from unveil.report.scale import round_step
from unveil.report.text import count, decimal, percent

_CONTEXT = MatchingContext()
_SOURCE = "Definitions: Lakshmanan, Ng and Ramesh (2008), Bagai, Malik and Jadliwala (2017), Edman, Sivrikaya and Yener"
#: What the report does not cover.
LIMITATIONS = (
    "Only the given attack is measured; stronger attackers may resolve more.",
    "The attacker's weights are taken as they are.",
    "The report does not say what a resolved pseudonym reveals about a person.",
)
_HOW: Mapping[str, str] = MappingProxyType(
    {
        "possible pairs": "and all matchings made of them to be equally likely",
        "probabilities": "with probabilities that sum to 1 in each row and column",
        "weights": "with weights; only their proportions matter",
    }
)
#: The most bars of the distribution.
MOST_BARS = 40
#: Numbers further out than this share of all chance are not drawn.
_FAR_OUT = 1e-4
#: The baseline is drawn where this much of its probability can be seen, and the bars with it.
_SEEN, _HIGHEST = 0.5, 3.0

_MEANINGS = {
    "cracked_share": "expected share of items that get their true pseudonym, from 0 to 1",
    "cracked_share.high": "the same, two standard errors higher where it was sampled; 1 if chains do not agree",
    "cracks_q95": "number of items that are resolved with a probability of at least 5%",
    "cracks_q95.high": "the same, with sampled probabilities two standard errors higher",
    "highest_crack_probability": "probability that the item most at risk is resolved",
    "d": "degree of anonymity, from 0 (one matching is left) to 1 (all equally likely). Fails below VALUE: "
    "more is more private",
    "d.low": "the same, two standard errors lower where it was sampled; 0 if chains do not agree. Fails below VALUE",
    "group_found_share": "expected share of items that get a pseudonym of their own category (needs equivalent items)",
    "group_found_share.high": "the same, two standard errors higher where it was sampled (needs equivalent items)",
    "set_found": "probability that the set most at risk is found as a whole (needs item sets)",
    "set_found.high": "the same, two standard errors higher where it was sampled (needs item sets)",
    "believed_share": "without the truth: expected share of resolved items by the attacker's own probabilities",
    "most_cracked_share": "without the truth: largest expected share of resolved items for any truth",
}


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return dict(_MEANINGS)


def quantities(findings: MatchingFindings) -> dict[str, Quantity]:
    """Return the quantities that accept a limit."""
    cracks, luck = findings.cracks, findings.cracks.at_least(TAIL)
    values = {
        "cracked_share": cracks.cracked_share.value,
        "cracked_share.high": end_of(cracks.cracked_share, +2),
        "cracks_q95": float(luck.at_least),
        "cracks_q95.high": float(cracks.n if cracks.r_hat > UNSETTLED else luck.high),
        "highest_crack_probability": float(cracks.crack_probability.max()),
        "d": cracks.d.value,
        "d.low": end_of(cracks.d, -2),
    }
    if cracks.groups is not None:
        share = _divided(cracks.groups.expected, cracks.n)
        values |= {"group_found_share": share.value, "group_found_share.high": end_of(share, +2)}
    if cracks.itemsets is not None:
        sets = [each.found for each in cracks.itemsets.sets]
        values |= {
            "set_found": max(each.value for each in sets),
            "set_found.high": max(end_of(each, +2) for each in sets),
        }
    return as_quantities(values)


def as_quantities(values: Mapping[str, float]) -> dict[str, Quantity]:
    """Return values by name as limited quantities."""
    return {
        name: Quantity(
            name=name,
            value=value,
            meaning=_MEANINGS[name],
            exceeded_when_undefined=False,
            more_is_worse=not name.startswith("d"),
        )
        for name, value in values.items()
    }


def _divided(figure: EstimatedValue, by: int) -> EstimatedValue:
    return EstimatedValue(figure.value / by, figure.error / by, figure.method, figure.r_hat, figure.kind)


def end_of(figure: EstimatedValue, errors: int) -> float:
    """Return a share shifted by standard errors; exact values stay.

    Chains that do not agree say nothing: a limit must not be kept because of them.
    """
    if figure.r_hat > UNSETTLED:
        return float(errors > 0)
    if figure.kind != "sampled":
        return figure.value
    low, high = (0.0, 1.0) if math.isnan(figure.low) else (figure.low, figure.high)
    return float(min(max(figure.value + errors * figure.error, low), high))


def headline(cracks: Cracks) -> str:
    """Return how many pseudonyms are expected to be resolved, in one sentence."""
    n, expected = count(cracks.n, "pseudonym", "pseudonyms"), cracks.expected_cracks
    if not (cracks.crack_probability > 0).any():
        return f"0 of {n} can be resolved: the attack rules out every true match."
    if (cracks.crack_probability >= CERTAIN).all():
        verb = "is" if cracks.n == 1 else "are"
        return f"{count(cracks.n)} of {n} {verb} resolved: only the true matching is possible."
    few = decimal(expected.value, places=1 if expected.value >= 1 else 2)
    interval = ""
    if expected.kind == "sampled":
        ends = (
            max(0.0, expected.value - 2 * expected.error),
            min(float(cracks.n), expected.value + 2 * expected.error),
        )
        low, high = (decimal(end, places=2) for end in ends)
        interval = f"95% CI {low}–{high}; "
    baseline = decimal(cracks.blind_cracks, places=2)
    return f"{few} of {n} are expected to be resolved ({interval}baseline {baseline})."


def explanation(cracks: Cracks) -> tuple[str, ...]:
    """Return the outcome at the 5% tail, and certain items."""
    if cracks.n == 1:
        return ("A single item cannot be confused with another.",)
    if not (cracks.crack_probability > 0).any():
        return ("The attacker is misled; another one may do better.",)
    least, sure = cracks.at_least(TAIL).at_least, sure_items(cracks)
    tail = f"With a probability of at least 5%, the attack resolves {or_more(least, cracks.n)}."
    certain = f"{count(sure, 'pseudonym is', 'pseudonyms are')} resolved with certainty."
    return (*((tail,) if least > cracks.expected_cracks.value else ()), *((certain,) if 0 < sure < cracks.n else ()))


def sure_items(cracks: Cracks) -> int:
    """Return how many items get their true pseudonym in every possible matching."""
    return int((cracks.crack_probability >= CERTAIN).sum())


def next_steps(cracks: Cracks) -> tuple[str, ...]:
    """Return the next steps."""
    step = "Repeat the measurement with the strongest attack that you know."
    if cracks.n > 1 and sure_items(cracks):
        step = "Merge the items that are resolved with certainty with similar items, or leave them out."
    elif tone(cracks) in ("bad", "warning"):
        step = "Generalize what sets the most exposed items apart, and measure again."
    return step, NextStep("Choose a threshold to get pass or fail.", option="--limit cracks_q95=NUMBER")


def tone(cracks: Cracks) -> Tone:
    """Return the tone: bad if half of all items are resolved."""
    expected = cracks.expected_cracks
    if cracks.n == 1:
        return "neutral"
    if expected.value >= cracks.n / 2:
        return "bad"
    margin = 2 * expected.error if expected.kind == "sampled" else 1e-9
    return "warning" if sure_items(cracks) or expected.value > cracks.blind_cracks + margin else "neutral"


def summary_table(cracks: Cracks, blind: FloatArray) -> TableBlock:
    """Return the main results, their baselines and their accuracy; ``blind`` is the distribution of the baseline."""
    n, luck, d = cracks.n, cracks.at_least(TAIL), cracks.d
    rows = [
        (
            "Expected resolved pseudonyms",
            f"{amount(cracks.expected_cracks)} of {count(n)}",
            decimal(cracks.blind_cracks),
            accuracy(cracks.expected_cracks),
        ),
        ("Resolved with 5% probability", or_more(luck.at_least, n), or_more(_last(blind), n), _luck_accuracy(cracks)),
        ("Degree of anonymity d", degree_text(d), "1", accuracy(d)),
        *permanent_rows(cracks),
    ]
    return TableBlock(
        caption="Resolved pseudonyms",
        columns=("Result", "Attack", "Baseline", "Accuracy"),
        rows=tuple(rows),
        align=("left", "right", "right", "right"),
        note="d: 0 if one matching is left, 1 if all are equally likely. Baseline: all matchings equally likely.",
    )


def permanent_rows(result: Cracks | Ambiguity) -> tuple[tuple[str, str, str, str], ...]:
    """Return the row of the permanent, none where it is undefined."""
    log = result.log_permanent
    if math.isnan(log.value):
        return ()
    more = " or more" if log.kind == "bracket" else ""
    exact = "exact" if log.kind == "exact" else "see Methods"
    return ((permanent_label(result), f"{permanent_text(result)}{more}", "", exact),)


def _luck_accuracy(cracks: Cracks) -> str:
    luck = cracks.at_least(TAIL)
    if not (cracks.crack_distribution_error > 0).any():
        return "exact"
    return "sampled" if luck.low == luck.high else f"{count(luck.low)} to {count(luck.high)}"


def _last(chance: FloatArray) -> int:
    """Return the largest number that is reached or passed with a probability of 5%."""
    tail = np.cumsum(chance[::-1])[::-1]
    return int(np.flatnonzero(tail >= TAIL - 1e-12).max(initial=0))


def heuristic_table(cracks: Cracks) -> TableBlock:
    """Return the heuristic H and its errors."""
    bias, nmape = cracks.matched_bias, cracks.nmape
    off = "undefined" if math.isnan(bias.value) else f"{bias.value * 100:+.1f}%"
    small = "undefined" if math.isnan(nmape.value) else percent(nmape.value / 100, places=2)
    rows = (
        ("Heuristic H", decimal(cracks.heuristic.value), "estimate of the expected resolved pseudonyms"),
        (
            "Matched bias of H",
            "0.0%" if off in ("-0.0%", "+0.0%") else off,
            "mean error by the attacker's own probabilities",
        ),
        ("NMAPE of H", small, "mean absolute error over all truths, in percent of items"),
    )
    return TableBlock(
        caption="Heuristic",
        columns=("Result", "Value", "Meaning"),
        rows=rows,
        align=("left", "right", "left"),
        note="H adds up the matrix at the true pairs. It ignores that each pseudonym is given once.",
    )


def page(findings: MatchingFindings, context: MatchingContext = _CONTEXT) -> Page:
    """Return the whole report as data.

    Items are named, so the page is internal; pseudonyms are not, because a name with its pseudonym is the key to the
    release.
    """
    cracks = findings.cracks
    sections = (
        items_section(cracks, findings.items, context),
        sets_section(cracks),
        release_section(findings.releases, cracks.expected_cracks, cracks.d),
    )
    return Page(
        title="Matching attack",
        question="How many pseudonyms does the attack resolve?",
        headline=headline(cracks),
        explanation=explanation(cracks),
        next_steps=next_steps(cracks),
        picture=(crack_chart(cracks, findings.blind), summary_table(cracks, findings.blind)),
        tone=tone(cracks),
        sections=tuple(each for each in sections if each is not None),
        method=_method(findings),
        limitations=LIMITATIONS,
        method_data=(heuristic_table(cracks),),
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        edition="internal",
    )


def _method(findings: MatchingFindings) -> tuple[str, ...]:
    cracks = findings.cracks
    likely = "its stated probability" if math.isnan(cracks.log_permanent.value) else "the product of its weights"
    by = method_words(cracks.crack_distribution_method)
    spread = f"exact, by {by}."
    if (cracks.crack_distribution_error > 0).any():
        spread = (
            f"sampled, with standard errors of at most {float(cracks.crack_distribution_error.max()):.2g}, by {by}."
        )
    return (
        knowledge(findings),
        f"The attack draws one matching, each with {likely}. A pseudonym is resolved if it is matched to its item.",
        f"Expected resolved pseudonyms: {lower(certainty(cracks.expected_cracks))}",
        f"Distribution: {spread}",
        f"Degree of anonymity: {lower(certainty(cracks.d))}",
        flat_sentence(cracks),
        f"{_SOURCE} (2007).",
    )


def flat_sentence(result: Cracks | Ambiguity) -> str:
    """Return whether the weights say more than which pairs are possible."""
    return "All possible matchings are equally likely." if result.flat else "Matchings are not equally likely."


def knowledge(findings: MatchingFindings | AmbiguityFindings) -> str:
    """Return what the attacker holds."""
    if findings.holds == "matchings":
        return f"The attacker holds {count(findings.possible, 'matching', 'matchings')} with probabilities."
    result = findings.cracks if isinstance(findings, MatchingFindings) else findings.ambiguity
    size = result.n * result.pseudonym_count
    held = f"The attacker holds {findings.possible:,} of {size:,} pairs of an item and a pseudonym to be possible"
    alone, spare = result.n - result.pairs, result.pseudonym_count - result.pairs
    parts = [f"{count(alone, 'item', 'items')} without a pseudonym"] if alone else []
    parts += [f"{count(spare, 'pseudonym', 'pseudonyms')} without an item"] if spare else []
    unequal = f" Each matching leaves {' and '.join(parts)}." if parts else ""
    return f"{held}, {_HOW[findings.holds]}.{unequal}"


def crack_chart(cracks: Cracks, blind: FloatArray) -> Chart:
    """Return the probability of each number of resolved pseudonyms, the worst 5% marked, with the baseline."""
    chance, tail = cracks.crack_distribution, cracks.at_least(TAIL).at_least
    low, width, number = _bins(chance, tail)
    starts = low + width * np.arange(number)
    height, guessed = _binned(chance, starts, width), _binned(blind, starts, width)
    top = float(max(height.max(), 0.0))
    there = height > 0
    series = [
        Series(
            name="attack",
            x=np.asarray(starts[there] - 0.5, np.float64),
            y=height[there],
            style="first",
            kind="bars",
            width=float(width),
        )
    ]
    if guessed.sum() >= _SEEN and guessed.max() <= _HIGHEST * top:
        top = max(top, float(guessed.max()))
        middle = np.asarray(starts + (width - 1) / 2, np.float64)
        series.append(Series(name="baseline", x=middle, y=guessed, style="second"))
    share = percent(TAIL, places=0)
    at = Threshold(name=f"with {share} probability {or_more(tail, cracks.n)}", value=tail - 0.5, across="x")
    return Chart(
        title="Distribution of resolved pseudonyms",
        x_label="resolved pseudonyms" if width == 1 else f"resolved pseudonyms, in steps of {count(width)}",
        y_label="probability",
        series=tuple(series),
        caption=_caption(cracks, tail),
        x_range=(float(starts[0]) - 0.5, float(starts[-1] + width) - 0.5),
        # Above the highest bar there is room for the name of the threshold.
        y_range=(0.0, ceiling(top)),
        x_kind="count",
        thresholds=(at,) if tail > 0 else (),
    )


def _bins(chance: FloatArray, tail: int) -> tuple[int, int, int]:
    """Return the first bar, the bar width, and the number of bars.

    One bar starts at ``tail``.
    """
    below = np.cumsum(chance)
    above = np.cumsum(chance[::-1])[::-1]
    first = int(np.argmax(below > _FAR_OUT))
    last = max(int(chance.size - 1 - np.argmax(above[::-1] > _FAR_OUT)), tail)
    if first <= last / 2:
        first = 0
    last = min(max(last, first + 3), chance.size - 1)
    width = max(1, round(round_step((last - first + 1) / (MOST_BARS - 1))))
    low = tail - width * math.ceil((tail - first) / width)
    return low, width, (last - low) // width + 1


def _binned(chance: FloatArray, starts: np.ndarray[tuple[int], np.dtype[np.int64]], width: int) -> FloatArray:
    whole = np.concatenate([[0.0], np.cumsum(chance)])
    ends = np.clip([starts, starts + width], 0, chance.size)
    return np.asarray(whole[ends[1]] - whole[ends[0]])


def _caption(cracks: Cracks, tail: int) -> str:
    if not tail:
        return "The attack hardly ever resolves more than expected."
    worst = percent(float(cracks.crack_distribution[tail:].sum()))
    return f"The attack resolves {or_more(tail, cracks.n)} with a probability of {worst}."


VIEW: QuestionView[MatchingFindings] = QuestionView(
    schema="unveil.matching/2",
    findings=MatchingFindings,
    about="Result of `unveil matching` with the truth: resolved pseudonyms.",
    quantities=quantities,
    frame=lambda findings: findings.item_frame,
    page=page,
    meanings=meanings,
    context=MatchingContext,
)
