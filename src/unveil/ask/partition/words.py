"""Numbers as plain sentences: what a figure means to somebody who has to decide, and never saw it before."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from unveil.show.blocks import Tone
from unveil.show.text import count, decimal, fixed, percent, short_percent


def breached_headline(breached: int, subjects: int, *, beta: float | None) -> str:
    """Return the answer in one sentence: for how many subjects the adversary has already linked too much.

    ``beta`` is the share of items that is too much, None where subjects differ in it.

    >>> breached_headline(3, 4, beta=0.8)
    '3 of 4 subjects are already breached: the adversary has put at least 80% of their items together.'
    >>> breached_headline(0, 4, beta=0.8)
    "None of the 4 subjects is breached so far: less than 80% of anybody's items are together."
    """
    if breached == 0:
        who = "The only subject is not" if subjects == 1 else f"None of the {count(subjects)} subjects is"
        less = f"less than {short_percent(beta or 0)} of anybody's items are together"
        if beta is None:
            less = "fewer of anybody's items are together than that subject's threshold β"
        return f"{who} breached so far: {less}."
    whose = "its" if breached == 1 else "their"
    much = f"at least {short_percent(beta or 0)} of {whose} items"
    if beta is None:
        much = f"as many of {whose} items as {whose} own threshold β"
    if subjects == 1:
        who = "The only subject is"
    elif breached == subjects:
        who = f"All {count(subjects)} subjects are"
    else:
        who = f"{count(breached)} of {count(subjects)} subjects {'is' if breached == 1 else 'are'}"
    return f"{who} already breached: the adversary has put {much} together."


def explanation(*, reference: float, mergings: float, breached: bool) -> tuple[str, ...]:
    """Return what random guessing would do, and how far the average subject is from a breach.

    ``reference`` is the share of subjects that random guessing breaches, ``mergings`` how many clusters have to be
    merged until the average subject is ``breached``, if it is not.

    >>> explanation(reference=0.0, mergings=1.07, breached=False)
    ('Random guessing would breach nobody.', 'The average subject would be breached after 1.1 mergings of clusters.')
    """
    share = "nobody" if reference == 0 else percent(reference).replace("<", "less than ")
    random = () if math.isnan(reference) else (f"Random guessing would breach {share}.",)
    if breached:
        return (*random, "The average subject is breached without any merging of clusters.")
    if not math.isfinite(mergings):
        return random
    often = "1 merging" if round(mergings, 1) == 1 else f"{decimal(mergings, places=1)} mergings"
    return (*random, f"The average subject would be breached after {often} of clusters.")


def next_steps(breached: int) -> tuple[str, ...]:
    """Return what to do about it.

    >>> next_steps(0)[0]
    'Nobody breached is no proof: ask again with the guess of the best adversary you know of.'
    """
    first = (
        "Find out what lets the adversary put these items together, take it out of the release, and ask again."
        if breached
        else "Nobody breached is no proof: ask again with the guess of the best adversary you know of."
    )
    return (first, "See how the answer changes with another threshold β and weight α before you rely on it.")


def breached_tone(breached: int, subjects: int, *, overall_breached: bool) -> Tone:
    """Return how the headline should strike: bad when the average subject or every second one is breached.

    Nobody breached is neutral, not good: it does not say what the adversary may still learn.

    >>> breached_tone(0, 9, overall_breached=False), breached_tone(1, 9, overall_breached=False)
    ('neutral', 'warning')
    """
    if overall_breached or 2 * breached >= subjects:
        return "bad"
    return "warning" if breached else "neutral"


def breached_meaning(single: int, *, beta: float | None) -> str:
    """Return what "already breached" means, and how many breached subjects never had anything to hide.

    ``single`` of the breached subjects have one item only.

    >>> breached_meaning(1, beta=0.8).partition(" needed. ")[2]
    '1 of them has a single item: with nothing to link, it is always breached.'
    """
    much = "their own share β" if beta is None else short_percent(beta)
    text = f"Subjects who have at least {much} of their items in one cluster of the adversary: no merging is needed."
    if single == 0:
        return text
    who = f"{count(single)} of them {'has' if single == 1 else 'have'} a single item"
    return f"{text} {who}: with nothing to link, {'it is' if single == 1 else 'they are'} always breached."


def risk_slope_meaning(*, beta: float, breached: bool) -> str:
    """Return what the overall risk slope says, or why there is none.

    >>> risk_slope_meaning(beta=0.8, breached=True).rpartition(". ")[2]
    'This is the highest risk, not a value that is missing.'
    """
    if breached:
        return (
            f"On average {short_percent(beta)} of a subject's items are together without any merging, so that no slope "
            "is left to measure. This is the highest risk, not a value that is missing."
        )
    return (
        f"How steeply merging clusters leads the average subject to the threshold of {short_percent(beta)}, and "
        "foreign items into its cluster: 0% is far away, 100% straight up."
    )


_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "conservative": "It misses more than it wrongly includes: it links only what it is sure of.",
        "liberal": "It wrongly includes more than it misses: it would rather link too much than too little.",
        "neutral": "It misses as many items as it wrongly includes.",
    }
)


def kind_meaning(kind: str) -> str:
    """Return what it means that an adversary is conservative, liberal or neutral.

    >>> kind_meaning("neutral")
    'It misses as many items as it wrongly includes.'
    """
    return _KINDS[kind]


def adjusted_rand_meaning(value: float) -> str:
    """Return what an adjusted Rand index says about the adversary.

    >>> adjusted_rand_meaning(-0.02)
    'The Rand index corrected for chance: 1 is the truth, 0 what chance gives. This guess is no better than chance.'
    """
    scale = "The Rand index corrected for chance: 1 is the truth, 0 what chance gives."
    return f"{scale} This guess is no better than chance." if value <= 0 else scale


def gini_meaning(value: float) -> str:
    """Return what the Gini coefficient of the share linked says about fairness.

    >>> gini_meaning(0.0)
    'The adversary has linked the same share of everybody.'
    """
    if abs(value) < 1e-9:
        return "The adversary has linked the same share of everybody."
    return "How unevenly the share linked is spread over the subjects: 0 is the same for all, near 1 one subject alone."


def others_meaning(mean: float, evenness: float) -> str:
    """Return how well the others who share a subject's cluster blur the picture.

    ``evenness`` is their effective number over their number: 1 when all have as many items there.

    >>> others_meaning(0.0, math.nan)
    'Nobody shares a cluster with anybody: nothing blurs what the adversary sees.'
    """
    if mean == 0:
        return "Nobody shares a cluster with anybody: nothing blurs what the adversary sees."
    text = "How many others have items in the cluster that is most relevant to a subject, on average."
    if math.isnan(evenness):
        return text
    return f"{text} Their items there are spread with an evenness of {fixed(evenness)} out of 1."
