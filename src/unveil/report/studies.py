"""How a study is told: its axes in words, its protections and attacks without their settings, and how far it is."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Literal

from unveil.report.text import duration

#: What each axis of a study counts, in words, and how a picture shows it.
AXES: Mapping[str, tuple[str, Literal["count", "share"]]] = {
    "seed_pairs": ("seed pairs that the adversary knows", "count"),
    "overlap": ("share of the edges that the adversary knows", "share"),
    "node_share": ("share of the nodes that the adversary has heard of", "share"),
    "known_columns": ("columns that the adversary knows", "count"),
    "known_share": ("share of the original rows that the adversary holds", "share"),
    "leaked_share": ("share of the people who are in the release", "share"),
}


def labels(written: Sequence[str]) -> dict[str, str]:
    """Return how each protection or attack is called: without its settings, unless two would be called the same.

    >>> labels(["NS:theta=0.5", "KL"]), labels(["switch:share=0.1", "switch:share=0.2"])["switch:share=0.1"]
    ({'NS:theta=0.5': 'NS', 'KL': 'KL'}, 'switch:share=0.1')
    """
    # A user's own class is written package.module:Class, and what follows the colon is its name.
    short = {text: text if "." in text.partition(":")[0] else text.partition(":")[0] for text in written}
    often = list(short.values())
    return {text: text if often.count(name) > 1 else name for text, name in short.items()}


def far(done: int, total: int, left: float) -> str:
    """Return how far a run is, and how long the rest may take.

    >>> far(1, 3, 120.0), far(3, 3, 0.0)
    ('1 of 3 scenarios, about 2 min left', '3 of 3 scenarios')
    """
    rest = f", about {duration(left)} left" if isfinite(left) and done < total else ""
    return f"{done:,} of {total:,} scenarios{rest}"
