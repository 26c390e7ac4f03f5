"""Numbers as plain sentences: what a figure means to somebody who has to decide, and never saw it before."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from unveil.metrics.partitions.views import Range
from unveil.report.blocks import Tone
from unveil.report.text import count, decimal, fixed, percent, short_percent


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


#: What the mixed graph shows, by what it counts.
MIXED: Mapping[str, str] = MappingProxyType(
    {
        "items": "the share of everybody else's items that came along",
        "others": "the share of all other subjects of whom items came along",
        "even": "the share of all other subjects who came along, by their effective number",
    }
)

#: What stands beside a figure, by who guesses.
BESIDE: Mapping[str, str] = MappingProxyType(
    {
        "uniform": "random guessing",
        "growing": "guessing with growing clusters",
        "sizes": "guessing with these sizes",
        "prior": "held before",
    }
)

#: Who guesses, as the subject of a sentence.
GUESSERS: Mapping[str, str] = MappingProxyType(
    {
        "uniform": "Random guessing",
        "growing": "Guessing with clusters that grow item by item",
        "sizes": "Guessing with clusters of the same sizes",
        "prior": "What the adversary held before",
    }
)


def explanation(*, reference: float, mergings: float, breached: bool, guesser: str = "uniform") -> tuple[str, ...]:
    """Return what guessing would do, and how far the average subject is from a breach.

    ``reference`` is the share of subjects that guessing breaches on average, ``mergings`` how many clusters have to be
    merged until the average subject is ``breached``, if it is not.

    >>> explanation(reference=0.0, mergings=1.07, breached=False)
    ('Random guessing would breach nobody.', 'The average subject would be breached after 1.1 mergings of clusters.')
    """
    share = "nobody" if reference == 0 else percent(reference).replace("<", "less than ")
    random = () if math.isnan(reference) else (f"{GUESSERS[guesser]} would breach {share}.",)
    if breached:
        return (*random, "The average subject is breached without any merging of clusters.")
    if not math.isfinite(mergings):
        return random
    often = "1 merging" if round(mergings, 1) == 1 else f"{decimal(mergings, places=1)} mergings"
    return (*random, f"The average subject would be breached after {often} of clusters.")


def reference_sentence(guesser: str, draws: int) -> str:
    """Return what stands beside the figures.

    >>> reference_sentence("prior", 1)
    'Beside each figure stands what the adversary held before would give.'
    """
    if guesser == "prior":
        of = (
            ""
            if draws == 1
            else f": the mean over its {count(draws)} partitions, and the range in which nine tenths lie"
        )
        return f"Beside each figure stands what the adversary held before would give{of}."
    who = GUESSERS[guesser][0].lower() + GUESSERS[guesser][1:]
    drawn = count(draws, "random partition", "random partitions")
    return (
        f"Beside each figure stands what {who} would give: the mean of {drawn} of the same items, and in brackets the "
        "range in which nine of ten of them lie."
    )


def reference_method(guesser: str, draws: int) -> str:
    """Return how guessing was done.

    >>> reference_method("uniform", 1)
    'Random guessing: every way to divide the items is equally likely; 1 was drawn.'
    """
    drawn = f"{count(draws)} {'was' if draws == 1 else 'were'} drawn"
    if guesser == "growing":
        return (
            "Guessing: items come in random order, and a fair coin decides if one starts a cluster or joins one of "
            f"those there are, each equally likely; {drawn}."
        )
    if guesser == "sizes":
        return f"Guessing: the adversary's clusters keep their sizes, and the items are dealt out anew; {drawn}."
    if guesser == "prior":
        return "In the place of guessing stands what the adversary held before, each partition with its probability."
    return f"Random guessing: every way to divide the items is equally likely; {drawn}."


def with_ends(mean: float, low: float, high: float, form: Callable[[float], str]) -> str:
    """Return a mean with the range in which nine tenths lie.

    >>> with_ends(0.5, 0.25, math.nan, percent)
    '50.0% (25.0% to already breached)'
    """
    texts = ["already breached" if math.isnan(each) else form(each) for each in (mean, low, high)]
    return texts[0] if texts[0] == texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"


def forecast_meaning(overall: Range) -> str:
    """Return what the forecast risk slope says."""
    text = (
        "The risk slope over the futures in which evidence comes in by chance: the mean, and the range in which nine "
        "of ten futures lie."
    )
    if overall.undefined == 1:
        return "The average subject is breached before any evidence comes in, so that there is no slope to forecast."
    if overall.undefined > 0:
        return f"{text} In {percent(overall.undefined)} of them the average subject is breached from the start."
    return text


def evidence_meaning(needed: Range) -> str:
    """Return what the number of pieces of evidence says."""
    text = (
        "How many true facts about each subject the adversary must learn, one that links or parts two items at a time, "
        "until β of the average subject is linked."
    )
    if math.isinf(needed.high):
        return f"{text} In some futures that never happens, as nothing links the clusters that are left."
    return text


_LINKAGES: Mapping[str, str] = MappingProxyType(
    {
        "pairs": "a cluster is the more likely to be merged next the more of the subject's items are in it",
        "any": "all related clusters are equally likely to be merged next",
        "cheapest": "the cheapest related cluster is merged next, as in the paper",
        "given": "clusters are merged by the rates that were given",
    }
)


def forecast_method(linkage: str, split: float, draws: int) -> str:
    """Return how futures were drawn.

    >>> forecast_method("cheapest", 0, 1)[:73]
    'Forecast: the cheapest related cluster is merged next, as in the paper; n'
    """
    parted = "nothing is ever split off"
    if split > 0:
        each = "other subject" if linkage == "any" else "foreign item"
        parted = f"a split takes one other subject's items out, with odds of {decimal(split)} per {each}"
    return (
        f"Forecast: {_LINKAGES[linkage]}; {parted}. {count(draws, 'future was', 'futures were')} drawn of each subject."
    )


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
