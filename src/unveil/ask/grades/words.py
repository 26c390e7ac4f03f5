"""What a reader of grades has to know: what is missing, what could not be tested, and what scores cannot show."""

from collections.abc import Sequence
from math import comb

import numpy as np

from unveil.ask.grades.findings import MEANINGS, GradedStudy, GradesFindings, named, words
from unveil.grade.grades import HERE, LEAST, NOTHING_SIGNIFICANT, Grades, MetricGrade
from unveil.grade.replicated import Replicated
from unveil.show.blocks import Number, Tone
from unveil.show.studies import labels
from unveil.show.text import count, fixed, percent, significant

#: With fewer replications than these the note on small samples is made.
FEW = 5
_MOST_NAMED = 6


def notes_of(grades: Grades, studies: Sequence[GradedStudy]) -> tuple[str, ...]:
    """Return everything that limits what the grades say, in sentences."""
    values = grades.values
    return (
        *(sentence for each in studies for sentence in _incomplete(each)),
        *_mixed(studies),
        *_missing_levels(values),
        *_few_replications(values, grades.level),
        *_without_values(values),
        *_constant(values),
        *_one_case(values),
        *_counting_targets(grades),
        *grades.left_out,
    )


def zeros_of(grades: Grades) -> list[str]:
    """Return what suites do about zeros and negative values, and how many there are; nothing where there are none."""
    found = grades.rankings
    if found is None or not found.zeros.counts:
        return []
    counts = [
        f"{words(name)} ({each.zeros + each.negative:,} of {each.values:,}, in {count(each.cases, 'case', 'cases')})"
        for name, each in found.zeros.counts.items()
    ]
    return [found.zeros.rule, f"Means that are zero or negative, among the metrics of suites: {', '.join(counts)}."]


def _counting_targets(grades: Grades) -> list[str]:
    found = [each.metric for each in grades.metrics if each.counts_targets]
    if not found:
        return []
    return [
        f"{_named(found)} count{'s' if len(found) == 1 else ''} targets. Whoever the adversary knows beforehand is no "
        "target, so that with more seed pairs there are fewer to count, and the metric moves even if the attack finds "
        "nothing out: judge it by an axis that leaves the targets as they are, such as overlap."
    ]


def _incomplete(each: GradedStudy) -> list[str]:
    counts, name = each.counts, each.study.name
    said = []
    if each.running:
        said.append(f"The study '{name}' is being computed now: grades will change as results come in.")
    if counts.left:
        parts = {"failed": counts.failed, "damaged": counts.damaged, "not computed": counts.missing}
        why = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number)
        said.append(
            f"{count(counts.left, 'scenario', 'scenarios')} of {counts.total:,} of the study '{name}' "
            f"{'has' if counts.left == 1 else 'have'} no results ({why}): the levels are missing, and a case without "
            "any level is left out."
        )
    return said


def _mixed(studies: Sequence[GradedStudy]) -> list[str]:
    """Say what is wrong with grading studies together that have little in common."""
    said = []
    if len({each.study.kind for each in studies}) > 1:
        said.append(
            "Attacks on graphs and on tables were graded together, so that a metric has one range for both and its "
            "evenness and range say little. Grade the studies one by one."
        )
    seen: dict[str, set[str]] = {}
    for each in studies:
        for name, digest in each.digests.items():
            seen.setdefault(name, set()).add(digest)
    different = [name for name, digests in seen.items() if len(digests) > 1]
    if different:
        said.append(
            f"The studies have different data by the name {', '.join(different)}: they count as one data set here. "
            "Give them names of their own."
        )
    return said


def _missing_levels(values: Replicated) -> list[str]:
    """Say how many cases lack a level in all metrics; adjacent levels are then those that are there."""
    there = (values.replications > 0).any(axis=1)
    wanted = np.array([len(levels) for levels in values.levels])
    short = there.sum(axis=1) < wanted
    if not short.any():
        return []
    worst = _case(values, int(np.argmax(wanted - there.sum(axis=1))))
    one = int(short.sum()) == 1
    return [
        f"{count(int(short.sum()), 'case lacks', 'cases lack')} levels{',' if one else ', such as'} {worst}: levels "
        f"that are there count as adjacent, and {'its score rests' if one else 'their scores rest'} on fewer pairs."
    ]


def _case(values: Replicated, number: int) -> str:
    """Return a case without the settings of its protection and attack, unless two would be called the same."""
    case = values.cases[number]
    protect = labels(tuple(dict.fromkeys(each.protect for each in values.cases)))[case.protect]
    attack = labels(tuple(dict.fromkeys(each.attack for each in values.cases)))[case.attack]
    return f"{case.data}, {protect}, {attack}, by {case.axis.replace('_', ' ')}"


def _few_replications(values: Replicated, level: float) -> list[str]:
    number = values.replications.max(axis=1)
    number = number[number > 0]
    if not number.size:
        return []
    least = int(number.min())
    if least >= FEW:
        return []
    where = "All levels have" if least == int(number.max()) else "Some levels have"
    if least == 1:
        return [
            f"{where} one replication only, which no test can compare: monotonicity is undefined there. Run the study "
            f"with at least {FEW} replications."
        ]
    smallest = 2 / comb(2 * least, least)
    have = f"{where} {least} replications"
    if smallest >= level:
        return [
            f"{have}. The exact rank-sum test then has no p value below {significant(smallest)} and cannot be "
            f"significant at {level:g}, so that no score there can exceed 0.833; take at least {FEW} replications."
        ]
    return [
        f"{have}: only large changes are significant. Take at least {FEW}, so that 0.667 does not mean too few of them."
    ]


def _without_values(values: Replicated) -> list[str]:
    empty = [name for at, name in enumerate(values.metrics) if not (values.replications[:, at] > 0).any()]
    partly = np.isnan(values.means[:, [name not in empty for name in values.metrics]])
    said = []
    if empty:
        said.append(
            f"{_named(empty)} {'is' if len(empty) == 1 else 'are'} undefined in every case and {_has(empty)} no grade."
        )
    depth = np.array([len(levels) for levels in values.levels])
    real = np.arange(values.values.shape[2]) < depth[:, None]
    there = (values.replications > 0).any(axis=1)
    cases = (partly & (real & there)[:, None, :]).any(axis=(1, 2))
    if cases.any():
        number = int(cases.sum())
        said.append(
            f"In {count(number, 'case', 'cases')} a metric is undefined at a level that has results (nothing was "
            "attempted, say): that level is left out there."
        )
    return said


def _constant(values: Replicated) -> list[str]:
    found = []
    for at, name in enumerate(values.metrics):
        own = values.values[:, at]
        known = own[~np.isnan(own)]
        if known.size and known.min() == known.max():
            found.append(name)
    if not found:
        return []
    return [
        f"{_named(found)} {'has' if len(found) == 1 else 'have'} the same value everywhere: nothing is significant "
        f"(0.667), and evenness and range are 0."
    ]


def _one_case(values: Replicated) -> list[str]:
    if len({case[:3] for case in values.cases}) > 1:
        return []
    return [
        "There is one combination of data, protection and attack: means have no interval, and nothing shows that the "
        "grades hold elsewhere."
    ]


def _named(metrics: Sequence[str]) -> str:
    said = named(metrics, _MOST_NAMED)
    return said[:1].upper() + said[1:]


def _has(metrics: Sequence[str]) -> str:
    return "has" if len(metrics) == 1 else "have"


_MOST_GRADED = 5


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
        but = f" {_begun(_graded(care))} may be used with care." if care else ""
        return f"None of the {len(every)} metrics can be trusted to rank here.{but}"
    if len(use) == len(every):
        return f"All {len(every)} metrics can be trusted here: each follows the adversary's strength."
    verb = "can" if len(use) > 1 else "alone can"
    wrong = found.by_verdict("do not rank by it")
    rest = f" Do not rank by {count(len(wrong), 'other', 'others')}." if wrong else ""
    return (
        f"{len(use)} of {len(every)} metrics can be trusted here: {_graded(use)} {verb} tell a strong adversary from a "
        f"weak one.{rest}"
    )


#: What is said of a metric that is the only one.
_ALONE = {
    "use": "can be trusted here",
    "with care": "may be used with care",
    "do not rank by it": "cannot be trusted to rank here",
}


def _graded(metrics: Sequence[MetricGrade]) -> str:
    return named([each.metric for each in metrics], _MOST_GRADED)


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
