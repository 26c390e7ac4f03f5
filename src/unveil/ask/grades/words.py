"""Grades in sentences: which metrics can be trusted, what the scores mean, and whether suites are any better."""

from collections.abc import Sequence

from unveil.grade.grades import HERE, LEAST, NOTHING_SIGNIFICANT, MetricGrade
from unveil.show.blocks import Number, Tone
from unveil.ask.grades.findings import MEANINGS, GradesFindings, named, words
from unveil.show.text import count, fixed, percent

_MOST_NAMED = 5


def headline(found: GradesFindings) -> str:
    """Return which metrics can be trusted, in one sentence or two."""
    every, use = found.grades.metrics, found.by_verdict("use")
    graded = [each for each in every if each.verdict != "no grade"]
    if not graded:
        return "No metric can be graded: nowhere are there two levels with two replications each."
    if len(every) == 1:
        return f"{_begun(words(every[0].metric))} {_ALONE[every[0].verdict]}: {every[0].reason}."
    if not use:
        care = found.by_verdict("with care")
        but = f" {_begun(_named(care))} may be used with care." if care else ""
        return f"None of the {len(every)} metrics can be trusted to rank here.{but}"
    if len(use) == len(every):
        return f"All {len(every)} metrics can be trusted here: each follows the adversary's strength."
    verb = "can" if len(use) > 1 else "alone can"
    wrong = found.by_verdict("do not rank by it")
    rest = f" Do not rank by {count(len(wrong), 'other', 'others')}." if wrong else ""
    return (
        f"{len(use)} of {len(every)} metrics can be trusted here: {_named(use)} {verb} tell a strong adversary from a "
        f"weak one.{rest}"
    )


#: What is said of a metric that is the only one.
_ALONE = {
    "use": "can be trusted here",
    "with care": "may be used with care",
    "do not rank by it": "cannot be trusted to rank here",
}


def _named(metrics: Sequence[MetricGrade]) -> str:
    return named([each.metric for each in metrics], _MOST_NAMED)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def tone(found: GradesFindings) -> Tone:
    """Return how the headline should strike: a warning where nothing can be trusted."""
    return "neutral" if found.by_verdict("use") else "warning"


def key_numbers(found: GradesFindings) -> tuple[Number, ...]:
    """Return how much was graded, and how many metrics have which verdict."""
    grades, values = found.grades, found.grades.values
    levels = sum(len(each) for each in values.levels)
    wrong = found.by_verdict("do not rank by it")
    passed = sum(each.monotonicity.mean >= LEAST for each in grades.metrics)
    numbers = [
        Number(
            label="Metrics to use",
            value=f"{len(found.by_verdict('use'))} of {len(values.metrics)}",
            meaning="They follow the adversary's strength: surely better than a metric that never changes, significant "
            "in half of the cases or more, and the wrong way in one of five at most.",
        ),
        Number(
            label="Not to rank by",
            value=str(len(wrong)),
            meaning="On average no better than a metric that never changes, or the wrong way in more than a third of "
            f"the cases. The rule of Zhao and Wagner, a mean of {LEAST:g}, would let {passed} of {len(values.metrics)} "
            "pass.",
            tone="warning" if wrong else "neutral",
        ),
        Number(
            label="Cases",
            value=f"{len(values.cases):,}",
            meaning=f"One attack on one protected data set, by adversaries of growing strength: {levels:,} levels in "
            "all.",
        ),
    ]
    if grades.suites:
        best = grades.suites[0]
        numbers.append(
            Number(
                label="Best suite",
                value=percent(best.whole.mean),
                meaning=f"The share of cases that the suite {best.suite.name} ranks in order throughout.",
            )
        )
    return tuple(numbers)


def scores_in_words() -> str:
    """Return what the scores mean, below the table of them."""
    return (
        "Monotonicity is the mean over cases (95% interval): 1 if each stronger adversary significantly lowers "
        "measured privacy, 0.667 if nothing is significant, less if it goes the wrong way or back and forth. "
        "Undecided: the share of cases in which nothing is significant; wrong: those in which something "
        "significant counts against it. Even (evenness, 0 to 1): do values tell things apart? Range (0 to 1): do cases "
        "share one scale?"
    )


def reading() -> str:
    """Return how the ranking is to be read."""
    return (
        f"{MEANINGS['monotonicity']} The score of a metric that never changes, {fixed(NOTHING_SIGNIFICANT, places=3)}, "
        "is the one to beat."
    )


def honest_sentences(found: GradesFindings) -> tuple[str, ...]:
    """Return what the search for better suites found, in cases that had no say in the choice."""
    said = []
    for name, search in found.grades.searches.items():
        for validation in search.validations:
            single, gain = validation.shares["single metric"], validation.gains["optimised weights"]
            held = "attacks" if validation.grouping == "attack" else "data sets"
            verdict = "a gain" if gain.shown else "a loss" if gain.high < 0 else "which may be chance"
            verdict = "no difference" if gain.low == gain.high == 0 else verdict
            said.append(
                f"Suites of {name}, in cases of {held} that had no say in the choice: the best single metric ranks "
                f"{percent(single)} in order, equal weights {percent(validation.shares['equal weights'])}, optimised "
                f"weights {percent(validation.shares['optimised weights'])}: {100 * gain.mean:+.1f} points "
                f"({100 * gain.low:+.1f} to {100 * gain.high:+.1f}) against the single metric, {verdict}."
            )
    notes = (note for search in found.grades.searches.values() for note in search.notes)
    return (*said, *dict.fromkeys(notes))


def search_conclusion(found: GradesFindings) -> str:
    """Return in how many comparisons with the best single metric suites are better, in one sentence."""
    gains = [
        gain
        for search in found.grades.searches.values()
        for validation in search.validations
        for gain in validation.gains.values()
    ]
    if not gains:
        return "Here there are too few attacks for that."
    shown, worse = sum(gain.shown for gain in gains), sum(gain.high < 0 for gain in gains)
    against = f"Of {count(len(gains), 'comparison', 'comparisons')} with the best single metric, "
    if not shown and not worse:
        return against + "none shows a difference that can be told from chance."
    return against + f"{shown or 'none'} {'show' if shown > 1 else 'shows'} a gain and {worse or 'none'} a loss."


def search_lead(found: GradesFindings) -> str:
    """Return what the search is, and what flatters it."""
    text = (
        "Is there a better suite? All suites with equal weights were tried, and weights were optimised. What is chosen "
        "by some cases looks good in these very cases; so each way of choosing was judged by cases that had no say."
    )
    if HERE in found.grades.searches:
        text += " Which metrics are the best here was seen in all cases, which still flatters the suites made of them."
    return text
