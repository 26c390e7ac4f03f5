"""Line styles of charts, for the page and matplotlib: dashes and marks, not colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from unveil.report.blocks import Style

#: A curve of more points than this is drawn without a mark on each.
MOST_MARKS = 40


@dataclass(frozen=True, kw_only=True)
class LineStyle:
    """One line style: colour on white paper, dashes, marks and width."""

    colour: str
    dashes: tuple[int, ...] = ()
    mark: Literal["round", "square", "none"] = "none"
    width: float = 2.25


LOOKS: Mapping[Style, LineStyle] = MappingProxyType(
    {
        "first": LineStyle(colour="#0a5ea8", mark="round"),
        "second": LineStyle(colour="#a8480a", dashes=(8, 4), mark="square"),
        "third": LineStyle(colour="#1b7350", dashes=(2, 4)),
        "fourth": LineStyle(colour="#74399b", dashes=(11, 4, 2, 4)),
        "fifth": LineStyle(colour="#50575f", dashes=(14, 6)),
        "first-reference": LineStyle(colour="#5b7a99", dashes=(2, 3), width=1.5),
        "second-reference": LineStyle(colour="#94714f", dashes=(6, 3, 2, 3), width=1.5),
    }
)
