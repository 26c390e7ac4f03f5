"""Tell from how a text begins in which way it holds edges: SNAP, KONECT, CSV with a header or without."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Literal

from unveil.data._edge_lines import MOST_COLUMNS, Between, wrong_line
from unveil.data._edge_stream import HEAD, EdgeFile
from unveil.errors import InputError, shortened

#: What the two columns of an edge are called, in small letters; spaces, dashes and underscores do not count.
ENDS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("source", "destination"),
    ("sourceid", "targetid"),
    ("fromid", "toid"),
    ("fromnodeid", "tonodeid"),
    ("fromnode", "tonode"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("numericid1", "numericid2"),
    ("user1", "user2"),
    ("person1", "person2"),
    ("vertex1", "vertex2"),
    ("u", "v"),
    ("i", "j"),
)
_KONECT = re.compile(r"%\s*(sym|asym|bip)\s+([a-z]+)\b", re.IGNORECASE)
_SIZES = re.compile(r"%\s*[0-9]{1,18}\s+([0-9]{1,18})\s+([0-9]{1,18})\s*$")
_SNAP = re.compile(r"#\s*(un)?directed graph\b", re.IGNORECASE)
_INTEGER = re.compile(rb"\s*-?[0-9]+\s*")
_SHOWN = 20


@dataclass(frozen=True)
class Layout:
    """How a file holds its edges, and what it says about them before the first one.

    Attributes
    ----------
    kind
        "spaces" and "commas" are lines without a header (or with one that is skipped), "table" is CSV with a header.
    skip, before
        How many bytes and lines come before the first edge, or before the header of a table.
    columns
        How many cells the first line has.
    headed
        Whether a line with names of columns, and without commas, was skipped.
    directed
        Whether the file says that edges have a direction; None if it does not say.
    weights
        What KONECT says of the weights, such as "unweighted" or "signed"; empty if the file does not say.
    declared
        How many nodes a KONECT file says there are, numbered from 1; 0 if it does not say.
    """

    kind: Literal["table"] | Between
    skip: int
    before: int
    columns: int = 2
    headed: bool = False
    directed: bool | None = None
    weights: str = ""
    declared: int = 0


def layout_of(file: EdgeFile) -> Layout:
    """Return how a file holds its edges, by its first line that is no remark.

    Raises
    ------
    InputError
        If there are only remarks, if the line has less than two cells or more than four, or if the graph is bipartite.
    """
    skip = before = 0
    remarks: list[str] = []
    # The last line of a long text may be cut here, and a cut line tells nothing.
    whole = file.head[: file.head.rfind(b"\n") + 1] if len(file.head) >= HEAD else file.head
    for line in BytesIO(whole):
        if line.strip() and line.lstrip()[:1] not in (b"#", b"%"):
            return _by_first_line(file, line, skip, before, remarks)
        if line.strip():
            remarks.append(line.decode("utf-8", "replace").strip())
        skip, before = skip + len(line), before + 1
    where = "its first 1 MB has no whole line" if len(file.head) >= HEAD else f"has no line among {before}"
    raise InputError(
        f"the file {file.name} must hold edges, but {where} that is neither empty nor a remark "
        "(which begins with # or %). Check that it was written completely"
    )


def _by_first_line(file: EdgeFile, line: bytes, skip: int, before: int, remarks: Sequence[str]) -> Layout:
    directed, weights, declared = _said(file, remarks)
    words = line.split()
    commas = any(b"," in word for word in words[:2])
    cells = [cell.strip() for cell in line.split(b",")] if commas else words
    # Single letters are names of columns in CSV, but in lines without commas as often names of nodes.
    headed = not commas and find_ends([cell.decode("utf-8", "replace") for cell in cells if len(cell) > 1]) is not None
    if commas and not (_INTEGER.fullmatch(cells[0]) and (not cells[1] or _INTEGER.fullmatch(cells[1]))):
        return Layout("table", skip, before, directed=directed)
    if not 2 <= len(cells) <= MOST_COLUMNS and not headed:
        raise wrong_line(file, before + 1, len(cells), 0, line)
    if headed:
        skip, before = skip + len(line), before + 1
    return Layout("commas" if commas else "spaces", skip, before, len(cells), headed, directed, weights, declared)


def _said(file: EdgeFile, remarks: Sequence[str]) -> tuple[bool | None, str, int]:
    """Return what the remarks say: whether edges have a direction, what weights they have, how many nodes there are."""
    directed: bool | None = None
    weights, declared = "", 0
    for remark in remarks:
        if konect := _KONECT.match(remark):
            directed, weights = konect[1].lower() == "asym", konect[2].lower()
            if konect[1].lower() == "bip":
                raise InputError(
                    f"the graph of {file.name} must have one set of nodes, but its header says that it is bipartite: "
                    "edges go from one set to another, and a number is a different node in each. Take another graph, "
                    "or give every node a name of its own and leave out the header"
                )
        if (sizes := _SIZES.match(remark)) and weights and sizes[1] == sizes[2]:
            declared = int(sizes[1])
        if snap := _SNAP.match(remark):
            directed = snap[1] is None
    return directed, weights, declared


def find_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Return which columns hold the two ends of an edge, by their names; None if that is not clear.

    >>> find_ends(["Id", "Source", "Target"]), find_ends(["name", "age"])
    ((1, 2), None)
    """
    plain = [re.sub(r"[\s_-]", "", name).casefold() for name in names]
    for one, other in ENDS:
        if plain.count(one) == plain.count(other) == 1:
            return plain.index(one), plain.index(other)
    return None


def unknown_ends(names: Sequence[str], where: str) -> InputError:
    """Return the error for columns of which none or too many can be the ends of edges."""
    plain = {re.sub(r"[\s_-]", "", name).casefold() for name in names}
    # Where no name is known at all the first row may be data, and data are not shown.
    known = plain & {end for pair in ENDS for end in pair}
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    listed = ", ".join(shortened(name) for name in names[:_SHOWN]) + more
    seen = f"has {listed}" if known else f"none of its {len(names)} columns has such a name"
    return InputError(
        f"{where} must have the columns 'source' and 'target' (or 'from' and 'to'), each once, but {seen}. "
        "Put 'source,target' above the first edge, or rename the columns"
    )
