"""The sentences of a report on grades: the headline, what the scores mean, what a search found, and the method."""

from collections.abc import Mapping, Sequence
from math import isnan

from unveil.grades.calibration_grades import CalibratedGrade, CalibrationGrades
from unveil.grades.grades import HERE, LEAST, NOTHING_SIGNIFICANT, Grades, MetricGrade
from unveil.questions.grade_metrics.findings import MOST_FIRST, GradesFindings, named, words
from unveil.report.blocks import Tone
from unveil.report.text import count, fixed, percent, together

#: What each score says, in one sentence: for pages, the terminal and the guide.
MEANINGS: Mapping[str, str] = {
    "monotonicity": (
        "Does the metric show less privacy for each stronger adversary? 1: each stronger adversary significantly "
        "lowers measured privacy; 0.667: nothing significant; below: significant changes in the wrong direction or "
        "back and forth."
    ),
    "evenness": (
        "Are the values spread over the metric's range, so that they tell things apart? 1: evenly; 0: all are at one "
        "end of it."
    ),
    "shared_range": (
        "Which part of the metric's whole range does a case use, so that cases can be compared? 1: all of it; 0: a "
        "single value."
    ),
}


def headline(findings: GradesFindings) -> str:
    """Return which metrics to use first, in one sentence."""
    every, use = findings.grades.metrics, findings.by_verdict("use")
    cases = count(len(findings.grades.values.cases), "case", "cases")
    if all(each.verdict == "no grade" for each in every):
        return "No metric can be graded: nowhere are there two levels with two replications each."
    if len(every) == 1:
        return f"{_begun(words(every[0].metric))} {_ALONE[every[0].verdict]} in {cases}: {every[0].reason}."
    if not use:
        but = f"; with care use {_graded(findings.first)} first" if findings.first else ""
        return f"None of the {len(every)} metrics can be trusted to rank in {cases}{but}."
    if len(use) == len(every):
        return f"All {len(every)} metrics can be trusted: each follows the adversary's strength in {cases}."
    follow = "follows" if len(use) == 1 else "follow"
    return (
        f"Use {_graded(findings.first)} first: {len(use)} of {len(every)} metrics {follow} the adversary's strength in "
        f"{cases}."
    )


def explanation(findings: GradesFindings) -> tuple[str, ...]:
    """Return what calibration changes, how good the metrics to use first are, and which not to rank by."""
    said = list(calibration_answer(findings))
    if findings.first:
        least = findings.first[-1].monotonicity
        ends = "" if isnan(least.low) else f" (95% interval {fixed(least.low)} to {fixed(least.high)})"
        said.append(
            f"Even the last of those to use first has a mean monotonicity of {fixed(least.mean)}{ends}, where 1 is "
            f"best and a metric that never changes has {fixed(NOTHING_SIGNIFICANT)}."
        )
    wrong = findings.by_verdict("do not rank by it")
    if wrong:
        said.append(f"Do not rank by {_graded(wrong)}: they can make a weak protection look strong.")
    return tuple(said)


#: What is asked first of raw scores and calibrated probabilities; metrics are tried in this order.
_DOUBTED = ("entropy", "min_entropy", "collision_entropy", "anonymity_set_size")


def calibration_answer(findings: GradesFindings) -> tuple[str, ...]:
    """Return whether entropy is a bad metric or was fed bad probabilities, and what calibration does to the others.

    Nothing where no study has calibrated probabilities. Where entropy was not measured, another metric is spoken of.
    """
    both = findings.grades.calibrated
    if both is None or not both.changed:
        return ()
    changed = {each.metric: each for each in both.changed}
    first = next((changed[name] for name in _DOUBTED if name in changed), both.changed[0])
    return (_fed(first), _calibrated_count(both))


def _fed(each: CalibratedGrade) -> str:
    name = words(each.metric)
    facts = (
        f"from raw scores it goes the wrong way in {percent(each.raw.against, places=0)} of "
        f"{count(each.cases, 'case', 'cases')} (monotonicity {fixed(each.raw.monotonicity.mean, places=3)}), from "
        f"calibrated probabilities of all targets in {percent(each.calibrated.against, places=0)} "
        f"({fixed(each.calibrated.monotonicity.mean, places=3)})"
    )
    if each.effect == "better":
        told = (
            f"{_begun(name)} was fed bad probabilities: {facts}"
            if each.mended
            else f"Bad probabilities are a part of what is wrong with {name}, and not all of it: {facts}, which is no "
            "better than a metric that never changes"
        )
        still = each.mended and each.calibrated.verdict == "do not rank by it"
        return f"{told}{f'. Yet do not rank by it: {each.calibrated.reason}' if still else ''}."
    if each.effect == "worse":
        return f"{_begun(name)} was not fed bad probabilities: {facts}, which is worse."
    if each.effect == "cannot be told":
        return f"Whether {name} was fed bad probabilities cannot be told from one attack on one release: {facts}."
    if each.raw.verdict == "use":
        return f"{_begun(name)} follows the adversary with raw scores already: {facts}."
    return f"It is not shown that {name} was fed bad probabilities: {facts}, a difference that may be chance."


def _calibrated_count(both: CalibrationGrades) -> str:
    """Return how many metrics follow the adversary better or worse when calibrated, and what that can be due to."""
    number = {effect: sum(each.effect == effect for each in both.changed) for effect in ("better", "worse")}
    every = len(both.changed)
    trusted = [sum(getattr(each, side).verdict == "use" for each in both.changed) for side in ("raw", "calibrated")]
    return (
        f"Of {count(every, 'metric that looks', 'metrics that look')} at probabilities, {number['better'] or 'none'} "
        f"{'follows' if number['better'] in (0, 1) else 'follow'} the adversary surely better when calibrated and "
        f"{number['worse'] or 'none'} surely worse; {trusted[0] or 'none'} can be trusted raw, {trusted[1] or 'none'} "
        "calibrated."
    )


#: What stands above the table of raw scores beside calibrated probabilities.
CALIBRATION = (
    "A raw score divided by its sum is no probability. The calibrated adversary learned what its scores are worth by "
    "attacking a graph of its own. Its metrics are over all targets, raw ones over those attempted, so that a change "
    "is that of both together. All figures are of the cases that have both."
)
#: What stands above the spans of nodes.
SPANS = (
    "Where do the values of nodes lie, from the lowest (0) to the highest (1) that the metric has in any case? A "
    "metric that uses its whole range in each case lets cases be compared; one whose span hangs on the case does not."
)


def next_steps(findings: GradesFindings) -> tuple[str, ...]:
    """Return how to use the grades, and how to be surer of them."""
    steps = []
    if findings.by_verdict("use"):
        steps.append("Rank protections by the first of these metrics, and see whether the others agree.")
    elif findings.first:
        steps.append("Rank by no single metric here: take those to use with care together, and see whether they agree.")
    both = findings.grades.calibrated
    if both is not None and any(each.mended and each.raw.verdict != "use" for each in both.changed):
        steps.append(
            "Whoever reports entropy and its like should take them from calibrated probabilities: 'unveil graph "
            "--calibrate simulate'."
        )
    sets = {(case.data, case.protect, case.attack) for case in findings.grades.values.cases}
    steps.append(
        f"To be surer, study more data sets, protections and attacks than these "
        f"{count(len(sets), 'combination', 'combinations')}: 'unveil study run'."
    )
    return tuple(steps)


#: What is said of a metric that is the only one.
_ALONE = {
    "use": "can be trusted",
    "with care": "may be used with care",
    "do not rank by it": "cannot be trusted to rank",
}


def _graded(metrics: Sequence[MetricGrade]) -> str:
    return named([each.metric for each in metrics], MOST_FIRST)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def tone(findings: GradesFindings) -> Tone:
    """Return how the headline should strike: a warning where nothing can be trusted."""
    return "neutral" if findings.by_verdict("use") else "warning"


def scores_in_words(findings: GradesFindings) -> str:
    """Return what the scores mean, below the table of them."""
    nodes = (
        " Those of nodes are of the values of single nodes at all levels, the others of means over targets; a metric "
        "of a whole release has means only."
        if findings.grades.nodes is not None and findings.grades.of == "both"
        else ""
    )
    return (
        "Monotonicity is the mean over cases (95% interval): 1 if each stronger adversary significantly lowers "
        "measured privacy, 0.667 if nothing is significant, less if it goes the wrong way or back and forth. "
        "Undecided: the share of cases in which nothing is significant; wrong: those in which something "
        "significant counts against it. Even (evenness, 0 to 1): do values tell things apart? Range (0 to 1): do cases "
        f"share one scale?{nodes}"
    )


def reading(findings: GradesFindings) -> str:
    """Return how the ranking is to be read, and what another rule would let pass."""
    every = findings.grades.metrics
    passed = sum(each.monotonicity.mean >= LEAST for each in every)
    return (
        f"{MEANINGS['monotonicity']} The score of a metric that never changes, {fixed(NOTHING_SIGNIFICANT, places=3)}, "
        f"is the one to beat. The rule of Zhao and Wagner, a mean of {LEAST:g}, would let {passed} of {len(every)} "
        "pass."
    )


def honest_sentences(findings: GradesFindings) -> tuple[str, ...]:
    """Return what the search for better suites found, in cases that had no say in the choice."""
    said = []
    for name, search in findings.grades.searches.items():
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
    notes = (note for search in findings.grades.searches.values() for note in search.notes)
    return (*said, *dict.fromkeys(notes))


def search_conclusion(findings: GradesFindings) -> str:
    """Return in how many comparisons with the best single metric suites are better, in one sentence."""
    gains = [
        gain
        for search in findings.grades.searches.values()
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


def search_lead(findings: GradesFindings) -> str:
    """Return what the search is, and what flatters it."""
    text = (
        "Is there a better suite? All suites with equal weights were tried, and weights were optimised. What is chosen "
        "by some cases looks good in these very cases; so each way of choosing was judged by cases that had no say."
    )
    needs = next((search.needs for search in findings.grades.searches.values()), ())
    if needs:
        text += f" Only suites that tell {together(needs)} were tried; the single metrics that they are compared with "
        text += "need not."
    if HERE in findings.grades.searches:
        text += " Which metrics are the best here was seen in all cases, which still flatters the suites made of them."
    return text


def sums_in_words(findings: GradesFindings) -> tuple[str, ...]:
    """Return how the largest suite ranks by a sum instead of a product, in one sentence; nothing without suites."""
    if not findings.grades.suites:
        return ()
    each = max(findings.grades.suites, key=lambda one: len(one.suite.weights))
    return (
        f"If the metrics of {each.suite.name} are added (weighted sum) and not multiplied, "
        f"{percent(each.sum_whole.mean)} of cases are in order instead of {percent(each.whole.mean)}; leaving out the "
        f"worst level then turns two others around in {percent(each.turned.reversed)} of cases (by the product "
        f"{percent(each.turned.reversed_product)}), some one level in {percent(each.turned.reversed_any)} "
        f"({percent(each.turned.reversed_product_any)}).",
    )


def question(findings: GradesFindings) -> str:
    """Return what was asked, and of which studies."""
    names = [each.study.name for each in findings.studies]
    quoted = [f"'{name}'" for name in names]
    which = f"the study {quoted[0]}" if len(names) == 1 else f"the studies {together(quoted)}"
    return f"Which privacy metrics can be trusted, judged by {which}?"


def method(findings: GradesFindings) -> tuple[str, ...]:
    """Return how the grades came about, in sentences."""
    grades, values = findings.grades, findings.grades.values
    sizes = (
        count(len({case.data for case in values.cases}), "data set", "data sets"),
        count(len({case.protect for case in values.cases}), "protection", "protections"),
        count(len({case.attack for case in values.cases}), "attack", "attacks"),
    )
    strict = (
        "A change in the wrong direction counted even where it was not significant."
        if grades.strict
        else "A change in the wrong direction counted only where it was significant."
    )
    return (
        f"{count(len(values.cases), 'case', 'cases')} ({', '.join(sizes)}) with up to {values.values.shape[3]:,} "
        f"replications at each level. {_compared(grades)}",
        f"Monotonicity: each pair of adjacent levels was compared by Welch's t-test and by the rank-sum test (exact "
        f"for small samples). Significant at {grades.level:g} and in the right direction counts 1, in the wrong one "
        "-1, opposite to the direction before -2 instead, not significant 0. The sum s of n pairs becomes "
        f"(s + 2n) / 3n, and the score is the mean of both tests. {strict}",
        "Evenness is 1 - 3E, where E is the Cramér-von Mises distance of the values of a case, scaled by the range of "
        "the metric over all cases, from even ones, divided by their number. Shared value range is the range of a "
        "case as a part of the range over all cases.",
        "Intervals of means over cases are those of Student's t at 95%, with all axes of one attack on one protected "
        "data set taken as one draw. They do not say how other data sets, protections or attacks would do. Where all "
        "cases agree an interval has no width, which does not say that the next one would agree too.",
        "The number of a suite is the product of its metrics, each divided by its most private value in the case (or "
        "dividing it), to the power of its weight.",
        "Models of the scores are multivariate adaptive regression splines, pruned by generalised cross validation; "
        "shares of groups are those of linear regressions.",
        "Definitions: Zhao and Wagner, 'Using metrics suites to improve the measurement of privacy in graphs'. Details "
        "were chosen by rule where none was asked for: the metric with the highest mean where it scores highest, the "
        "one with the lowest where it scores lowest, and the one that is undecided most often where it is.",
    )


def _compared(grades: Grades) -> str:
    """Return what the scores are of, in sentences."""
    means = "What is compared are means over targets, one number per replication."
    if grades.nodes is None:
        return means
    kept = (
        "Of the values of nodes a study keeps sketches: count, ends, sum and sum of squares, and the means of 64 runs "
        "of equal count. Welch's test and ranges of them are exact; the rank-sum test, and evenness to about 0.002, "
        "come from the runs."
    )
    if grades.of == "nodes":
        return (
            "What is compared are the values of nodes, pooled over replications; metrics of a whole release and suites "
            f"have means only. {kept}"
        )
    return f"{means} Evenness and range are also those of the values of nodes. {kept}"


#: What a section on suites begins with.
SUITES = (
    "A suite makes one number of several metrics. It ranks a case in order if each stronger adversary gets a lower one."
)
#: What grades do not say.
UNTESTED = (
    "Whether a metric measures what matters to the people in the data: it may follow the adversary's strength and "
    "still miss what hurts.",
    "Other data, protections and attacks than those of the studies, and adversaries whose strength is something else.",
    "Whether a metric tells the right single targets apart: scores rest on means over targets, or on how the values of "
    "nodes are spread, whoever they belong to.",
)
