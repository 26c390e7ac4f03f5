"""What an adversary's matches mean, in plain sentences for somebody who has to decide."""

import math

from unveil.measure.candidates.matches import Matches
from unveil.show.blocks import Tone
from unveil.show.text import count, decimal, percent


def matched_headline(found: Matches, *, doubt: float = math.nan) -> str:
    """Return the answer in one sentence: how many targets were matched rightly, of those attempted and of all.

    ``doubt`` is the number of equally likely candidates that the typical attempted target still hides among; it is said
    where there is no truth.

    >>> matched_headline(Matches(targets=30, attempted=25, has_truth=True, correct=12, success_rate=0.48,
    ...                          overall_success=0.4))
    'The adversary matched 12 of 30 targets rightly: 48.0% of the 25 attempted, 40.0% of all.'
    """
    if found.attempted == 0:
        return f"The adversary attempted none of the {count(found.targets, 'target', 'targets')}."
    if not found.has_truth:
        hidden = "" if math.isnan(doubt) else f"; the typical one still hides among {decimal(doubt, places=1)} alike"
        return (
            f"The adversary attempted {count(found.attempted)} of {count(found.targets, 'target', 'targets')}{hidden}. "
            "Whether it is right cannot be said without the truth."
        )
    if found.somebody == 0:
        return f"No match can be right: none of the {count(found.targets, 'target', 'targets')} stands for anybody."
    of_whom = count(found.somebody, "target", "targets")
    of_all = f"of all{' that stand for somebody' if found.nobody else ''}"
    if found.correct == 0:
        return f"The adversary matched none of {of_whom} rightly, in {count(found.attempted, 'attempt', 'attempts')}."
    matched = f"The adversary matched {decimal(found.correct, places=1)} of {of_whom} rightly"
    blind = "" if math.isnan(found.by_chance) else f" Random guessing would match {decimal(found.by_chance, places=1)}."
    if found.attempted == found.somebody:
        return f"{matched}: {percent(found.overall_success)} {of_all}.{blind}"
    rate = f"{percent(found.success_rate)} of the {count(found.attempted)} attempted"
    return f"{matched}: {rate}, {percent(found.overall_success)} {of_all}.{blind}"


def matched_tone(found: Matches) -> Tone:
    """Return how the headline should strike: bad when every second attempt, or every second target, is right.

    Nobody matched is neutral, not good: it does not say what another adversary would reach.

    >>> matched_tone(Matches(targets=9, attempted=3, has_truth=True, correct=2, success_rate=2 / 3))
    'bad'
    """
    if not found.has_truth or found.correct == 0:
        return "neutral"
    return "bad" if max(found.success_rate, found.overall_success) >= 0.5 else "warning"


def why_they_differ(found: Matches) -> str:
    """Return why the success rate and overall success differ, or why they do not.

    >>> why_they_differ(Matches(targets=2, attempted=2, has_truth=True)).partition(":")[0]
    'Both are the same here'
    """
    if found.attempted == 0:
        return "Nothing was attempted. That says nothing about what an adversary who attempts something would reach."
    if found.missed == 0 and found.nobody_attempted == 0:
        return "Both are the same here: the adversary attempted every target that stands for somebody, and no other."
    reasons = []
    if found.missed:
        were = "was" if found.missed == 1 else "were"
        reasons.append(f"{count(found.missed, 'target', 'targets')} {were} not attempted")
    if found.nobody_attempted:
        one, many = "attempt was on a target that stands", "attempts were on targets that stand"
        reasons.append(f"{count(found.nobody_attempted, one, many)} for nobody, which cannot be right")
    same = found.attempted == found.somebody
    because = "They happen to be the same here, although" if same else "They differ because"
    return (
        f"The success rate counts the {count(found.attempted, 'target', 'targets')} that the adversary attempted, "
        f"overall success the {count(found.somebody)} that stand for somebody, attempted or not. {because} "
        f"{' and '.join(reasons)}. An adversary who attempts only what it is sure of has a high success rate and "
        "little overall success: the first says how far a single claim of it can be trusted, the second how many it "
        "finds."
    )
