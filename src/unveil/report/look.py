"""How the lines of a chart look, on the page and in matplotlib alike: told apart by dashes and marks, not by colour."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from unveil.report.blocks import Style

#: A curve of more points than this is drawn without a mark on each.
MOST_MARKS = 40


@dataclass(frozen=True, kw_only=True)
class Look:
    """One style: the colour on white paper (the style sheet has another for the dark), dashes, marks and width."""

    colour: str
    dashes: tuple[int, ...] = ()
    mark: Literal["round", "square", "none"] = "none"
    width: float = 2.25


LOOKS: Mapping[Style, Look] = MappingProxyType(
    {
        "first": Look(colour="#0a5ea8", mark="round"),
        "second": Look(colour="#a8480a", dashes=(8, 4), mark="square"),
        "third": Look(colour="#1b7350", dashes=(2, 4)),
        "fourth": Look(colour="#74399b", dashes=(11, 4, 2, 4)),
        "fifth": Look(colour="#50575f", dashes=(14, 6)),
        "first-reference": Look(colour="#5b7a99", dashes=(2, 3), width=1.5),
        "second-reference": Look(colour="#94714f", dashes=(6, 3, 2, 3), width=1.5),
    }
)
