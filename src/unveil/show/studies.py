"""How the parts of a study are called: its axes in words, and its protections and attacks without their settings."""

from collections.abc import Mapping, Sequence
from typing import Literal

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
