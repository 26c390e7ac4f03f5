"""Return the metrics and cases to show level by level."""

import re
from collections.abc import Sequence

import numpy as np

from unveil.errors import InputError, did_you_mean
from unveil.grades.grades import Grades
from unveil.grades.replicated_metrics import GradedCase
from unveil.questions.grade_metrics.findings import Detail

#: So many are drawn; what is left out is said.
MOST_DETAILS = 12
_BETWEEN = re.compile(r"[,;\s]+")
_PIECES = re.compile(r"[:,=\s]+")


def details_of(grades: Grades, names: Sequence[str]) -> tuple[tuple[Detail, ...], tuple[str, ...]]:
    """Return what is shown level by level, and notes on what is not.

    Each of ``names`` is a metric, or a metric, an ``@`` and words that are all in the parts of a case. A metric alone
    is shown where it scores highest and where it scores lowest. Without any, three are chosen; see :func:`telling`.

    Raises
    ------
    InputError
        If there is no such metric, or no case with these words.
    """
    if not names:
        return telling(grades), ()
    found: dict[tuple[str, GradedCase], Detail] = {}
    for text in names:
        metric, mark, where = (part.strip() for part in text.partition("@"))
        metric = _metric(grades, metric)
        if mark:
            fitting = cases_with(grades, where, "--detail")
            every = [Detail(metric=metric, case=grades.values.cases[at], why="asked for") for at in fitting]
        else:
            every = _ends(grades, metric)
        for each in every:
            found.setdefault((each.metric, each.case), each)
    shown = tuple(found.values())[:MOST_DETAILS]
    over = len(found) - len(shown)
    note = f"{len(found):,} details match --detail; the first {MOST_DETAILS} are shown. Add words of a case for fewer."
    return shown, (note,) if over else ()


def telling(grades: Grades) -> tuple[Detail, ...]:
    """Return three details that show what scores mean; fewer where there are fewer metrics.

    The metric with the highest mean monotonicity in the case where it scores highest; the one with the lowest mean in
    the case where it scores lowest; and the one that is undecided most often, in a case where nothing is significant.
    Of cases that score the same, the one with the most significant tests is taken, and of these the first.
    """
    graded = [each for each in grades.metrics if each.monotonicity.cases]
    if not graded:
        return ()
    found = [
        Detail(
            metric=graded[0].metric,
            case=_place(grades, graded[0].metric, best=True),
            why="the highest mean monotonicity, in the case where it scores highest",
        )
    ]
    if len(graded) > 1:
        last = graded[-1].metric
        found.append(
            Detail(
                metric=last,
                case=_place(grades, last, best=False),
                why="the lowest mean monotonicity, in the case where it scores lowest",
            )
        )
    silent = max(graded, key=lambda each: each.undecided)
    if silent.undecided > 0 and silent.metric not in {each.metric for each in found}:
        column = grades.values.metrics.index(silent.metric)
        scores = grades.scores.monotonicity
        still = scores.undecided[:, column] & ~np.isnan(scores.score[:, column])
        found.append(
            Detail(
                metric=silent.metric,
                case=grades.values.cases[np.flatnonzero(still)[0]],
                why="most often without a significant change, in a case where there is none",
            )
        )
    return tuple(found)


def _ends(grades: Grades, metric: str) -> list[Detail]:
    column = grades.values.metrics.index(metric)
    if np.isnan(grades.scores.monotonicity.score[:, column]).all():
        return [Detail(metric=metric, case=grades.values.cases[0], why="the first case; none has a score")]
    best, worst = _place(grades, metric, best=True), _place(grades, metric, best=False)
    found = [Detail(metric=metric, case=best, why="the case where it scores highest")]
    return (
        found if worst == best else [*found, Detail(metric=metric, case=worst, why="the case where it scores lowest")]
    )


def _place(grades: Grades, metric: str, *, best: bool) -> GradedCase:
    column = grades.values.metrics.index(metric)
    score = grades.scores.monotonicity.score[:, column]
    number = grades.scores.monotonicity.significant[:, column]
    nothing = -np.inf if best else np.inf
    worth = np.where(np.isnan(score), nothing, score)
    level = worth.max() if best else worth.min()
    return grades.values.cases[np.argmax(np.where(worth == level, number, -1))]


def _metric(grades: Grades, name: str) -> str:
    have = grades.values.metrics
    wanted = name.replace(" ", "_").casefold()
    if wanted not in have:
        hint = did_you_mean(wanted, have) or f" Choose from {', '.join(have)}."
        raise InputError(f"Unknown metric {name!r} in the details.{hint}")
    return wanted


def cases_with(grades: Grades, where: str, option: str) -> list[int]:
    """Return the cases whose data, protection, attack and axis match all words.

    Raises
    ------
    InputError
        If there are no words, or no case has all of them.
    """
    cases = grades.values.cases
    wanted = [word.casefold() for word in _BETWEEN.split(where) if word]
    if not wanted:
        raise InputError(
            f"No words of a case follow {'the @ in ' if option == '--detail' else ''}{option}. Write data set "
            "and attack, separated by a comma, or leave it out"
        )
    fitting = list(range(len(cases)))
    for word in wanted:
        having = _having(cases, word)
        if not having:
            raise InputError(f"No case has the word {word!r} of {option}.{_hint(cases, word)}")
        fitting = [case for case in fitting if case in having]
    if not fitting:
        raise InputError(f"No case has all words of {option} together ({', '.join(wanted)}). Leave one out")
    return fitting


def _having(cases: Sequence[GradedCase], word: str) -> set[int]:
    """Return the cases with a word, as a whole piece or anywhere."""
    whole = {number for number, case in enumerate(cases) if word in _pieces(case)}
    return whole or {number for number, case in enumerate(cases) if any(word in part.casefold() for part in case)}


def _pieces(case: GradedCase) -> set[str]:
    found = {part.casefold() for part in case}
    return found | {piece for part in found for piece in _PIECES.split(part)}


def _hint(cases: Sequence[GradedCase], word: str) -> str:
    first = dict.fromkeys(part.partition(":")[0] for case in cases for part in case)
    near = did_you_mean(word, first)
    return near or f" Cases are made of {', '.join(first)}."
