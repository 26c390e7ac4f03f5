"""What an adversary's matches mean, in plain sentences for somebody who has to decide."""

import math

from unveil.metrics.candidates.matches import Matches
from unveil.report.blocks import Tone
from unveil.report.text import about, count, decimal


def matched_headline(matches: Matches, *, doubt: float = math.nan) -> str:
    """Return the answer in one sentence: how many targets were matched rightly, of all and of those attempted.

    ``doubt`` is the number of equally likely candidates that the typical attempted target still hides among; it is said
    where there is no truth.

    >>> matched_headline(Matches(targets=30, attempted=25, has_truth=True, correct=12, success_rate=0.48,
    ...                          overall_success=0.4))
    'The adversary matched 12 of 30 targets rightly (40% of all, 48% of the 25 it attempted).'
    """
    if matches.attempted == 0:
        return f"The adversary attempted none of the {count(matches.targets, 'target', 'targets')}."
    if not matches.has_truth:
        hidden = "" if math.isnan(doubt) else f"; the typical one still hides among {decimal(doubt, places=1)} alike"
        return (
            f"The adversary attempted {count(matches.attempted)} of "
            f"{count(matches.targets, 'target', 'targets')}{hidden}."
        )
    if matches.somebody == 0:
        return f"No match can be right: none of the {count(matches.targets, 'target', 'targets')} stands for anybody."
    of_whom = count(matches.somebody, "target", "targets")
    if matches.correct == 0:
        return f"The adversary matched none of {of_whom} rightly, in {count(matches.attempted, 'attempt', 'attempts')}."
    shares = f"{about(matches.overall_success)} of all"
    if matches.attempted != matches.somebody:
        shares += f", {about(matches.success_rate)} of the {count(matches.attempted)} it attempted"
    blind = (
        ""
        if math.isnan(matches.by_chance)
        else f", where random guessing matches {decimal(matches.by_chance, places=1)}"
    )
    return f"The adversary matched {decimal(matches.correct, places=1)} of {of_whom} rightly ({shares}){blind}."


def explanation(matches: Matches, *, doubt: float) -> tuple[str, ...]:
    """Return how much doubt is left, or that nothing says whether the adversary is right."""
    if not matches.has_truth:
        return ("Whether it is right cannot be said without the truth.",)
    if not matches.attempted or math.isnan(doubt):
        return ()
    return (
        f"The typical attempted target hides among {decimal(doubt, places=1)} that look alike to the adversary."
        if doubt >= _SURE
        else "Of the typical attempted target the adversary is sure, rightly or wrongly.",
    )


def next_steps(matches: Matches) -> tuple[str, ...]:
    """Return what to do about it."""
    if not matches.has_truth:
        return ("Give the truth to see how often the adversary is right (--truth FILE).",)
    if matches.correct and matched_tone(matches) == "bad":
        return (
            "Protect the release further before it goes out, and let the same adversary guess again.",
            "Compare by overall success, which counts every target: an adversary who attempts only what is easy has a "
            "high success rate.",
        )
    return (
        "Ask again with the best adversary you know of: only the guess that was given is measured.",
        "Set what may be found at most: --limit adversary_overall_success=SHARE.",
    )


#: So few equally likely candidates are one.
_SURE = 1.05


def matched_tone(matches: Matches) -> Tone:
    """Return how the headline should strike: bad when every second attempt, or every second target, is right.

    Nobody matched is neutral, not good: it does not say what another adversary would reach.

    >>> matched_tone(Matches(targets=9, attempted=3, has_truth=True, correct=2, success_rate=2 / 3))
    'bad'
    """
    if not matches.has_truth or matches.correct == 0:
        return "neutral"
    return "bad" if max(matches.success_rate, matches.overall_success) >= 0.5 else "warning"


def why_they_differ(matches: Matches) -> str:
    """Return why the success rate and overall success differ, or why they do not.

    >>> why_they_differ(Matches(targets=2, attempted=2, has_truth=True)).partition(":")[0]
    'Both are the same here'
    """
    if matches.attempted == 0:
        return "Nothing was attempted. That says nothing about what an adversary who attempts something would reach."
    if matches.missed == 0 and matches.nobody_attempted == 0:
        return "Both are the same here: the adversary attempted every target that stands for somebody, and no other."
    reasons = []
    if matches.missed:
        were = "was" if matches.missed == 1 else "were"
        reasons.append(f"{count(matches.missed, 'target', 'targets')} {were} not attempted")
    if matches.nobody_attempted:
        one, many = "attempt was on a target that stands", "attempts were on targets that stand"
        reasons.append(f"{count(matches.nobody_attempted, one, many)} for nobody, which cannot be right")
    same = matches.attempted == matches.somebody
    because = "They happen to be the same here, although" if same else "They differ because"
    return (
        f"The success rate counts the {count(matches.attempted, 'target', 'targets')} that the adversary attempted, "
        f"overall success the {count(matches.somebody)} that stand for somebody, attempted or not. {because} "
        f"{' and '.join(reasons)}. An adversary who attempts only what it is sure of has a high success rate and "
        "little overall success: the first says how far a single claim of it can be trusted, the second how many it "
        "finds."
    )
