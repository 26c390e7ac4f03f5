"""Detect the edge format of a text: SNAP, KONECT, Matrix Market, or CSV."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from unveil.data.graph._edge_lines import HEAD, MOST_COLUMNS, Between, EdgeFile, stray_return, wrong_line
from unveil.data.graph.graph import DroppedInformation
from unveil.data.matrices.matrix_market import FIELDS, market_header, market_sizes
from unveil.errors import InputError, shortened

if TYPE_CHECKING:
    import polars as pl

_KONECT = re.compile(r"%\s*(sym|asym|bip)\s+([a-z]+)\b", re.IGNORECASE)
_SIZES = re.compile(r"%\s*[0-9]{1,18}\s+([0-9]{1,18})\s+([0-9]{1,18})\s*$")
_SNAP = re.compile(r"#\s*(un)?directed graph\b", re.IGNORECASE)
_INTEGER = re.compile(rb"\s*-?[0-9]+\s*")


@dataclass(frozen=True)
class Layout:
    """Edge format of a file, and the metadata above its first edge.

    Attributes
    ----------
    kind
        What is between the cells of lines (without a header, or with one that is skipped); "table" is CSV with a
        header.
    skip, before
        How many bytes and lines come before the first edge, or before the header of a table.
    columns
        How many cells the first line has.
    header
        The names of columns in a line without commas that was skipped; empty if there is none.
    ends
        Which columns hold the two ends of an edge.
    directed
        Whether the file says that edges have a direction; None if it does not say.
    weights
        What KONECT says of the weights, such as "unweighted" or "signed"; empty if the file does not say.
    declared
        How many nodes a KONECT or Matrix Market file says there are, numbered from 1; 0 if it does not say.
    entries
        How many lines with edges a Matrix Market file says there are; None if it does not say.
    """

    kind: Literal["table"] | Between
    skip: int
    before: int
    columns: int = 2
    header: tuple[str, ...] = ()
    ends: tuple[int, int] = (0, 1)
    directed: bool | None = None
    weights: str = ""
    declared: int = 0
    entries: int | None = None


def layout_of(file: EdgeFile) -> Layout:
    """Return the edge format of a file from its first non-comment line.

    Raises
    ------
    InputError
        If there are only remarks, if the line is no header and has less than two cells or more than four, or if the
        graph is bipartite.
    """
    skip = before = 0
    remarks: list[str] = []
    is_matrix = file.head[:14].lower() == b"%%matrixmarket"
    # The last line of a long text may be cut here, and a cut line tells nothing.
    whole = file.head[: file.head.rfind(b"\n") + 1] if len(file.head) >= HEAD else file.head
    for line in BytesIO(whole):
        if b"\r" in line.rstrip(b"\r\n"):
            raise stray_return(file, before + 1)
        if line.strip() and line.lstrip()[:1] not in (b"#", b"%"):
            if is_matrix:
                return _matrix_market(file, line, skip, before)
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
    if commas and not (_INTEGER.fullmatch(cells[0]) and (not cells[1] or _INTEGER.fullmatch(cells[1]))):
        return Layout("table", skip, before, directed=directed)
    between: Between = "commas" if commas else "spaces"
    if not commas and (headed := _headed(line)):
        between, header, ends = headed
        return Layout(between, skip + len(line), before + 1, len(header), header, ends, directed, weights, declared)
    if not 2 <= len(cells) <= MOST_COLUMNS:
        raise wrong_line(file, before + 1, len(cells), 0, line)
    return Layout(between, skip, before, len(cells), (), (0, 1), directed, weights, declared)


def _matrix_market(file: EdgeFile, line: bytes, skip: int, before: int) -> Layout:
    """Return the format of a matrix from ``line``, which gives its sizes."""
    form, field, symmetry = market_header(file.head.splitlines()[0])
    if form != "coordinate" or field not in FIELDS or symmetry not in ("general", "symmetric"):
        raise InputError(
            f"the matrix of {file.name} must be coordinate; pattern, integer or real; general or symmetric, but its "
            "first line says otherwise. Write it again with '%%MatrixMarket matrix coordinate pattern general'"
        )
    sizes = market_sizes(line)
    if sizes is None or sizes[0] != sizes[1] or sizes[2] is None:
        raise InputError(
            f"the matrix of {file.name} must be square, but line {before + 1} does not say so. "
            "Write the numbers of rows, columns, and non-zeros there"
        )
    return Layout(
        "spaces",
        skip + len(line),
        before + 1,
        FIELDS[field],
        directed=symmetry == "general",
        weights="unweighted" if field == "pattern" else "weighted",
        declared=sizes[0],
        entries=sizes[2],
    )


def _headed(line: bytes) -> tuple[Between, tuple[str, ...], tuple[int, int]] | None:
    """Return separator, header names, and edge-end columns, or None without header."""
    text = line.decode("utf-8", "replace").strip(" \r\n").replace('"', "")
    tabbed = tuple(name.strip() for name in text.split("\t"))
    # One tab between any two names: then also between the cells, which may be empty or have spaces. The first name is
    # empty where pandas wrote the numbers of rows.
    tries: tuple[tuple[Between, tuple[str, ...]], ...] = (("tabs", tabbed), ("spaces", tuple(text.split())))
    for between, names in tries[0 if len(tabbed) > 1 and all(tabbed[1:]) else 1 :]:
        ends = find_ends(names)
        # Single letters are names of columns in CSV, but in lines without commas as often names of nodes.
        if ends is not None and min(len(names[place]) for place in ends) > 1:
            return between, names, ends
    return None


def _said(file: EdgeFile, remarks: Sequence[str]) -> tuple[bool | None, str, int]:
    """Return edge direction, weights, and node count from the comments."""
    directed: bool | None = None
    weights, declared = "", 0
    for remark in remarks:
        if konect := _KONECT.match(remark):
            directed, weights = konect[1].lower() == "asym", konect[2].lower()
            if konect[1].lower() == "bip":
                raise InputError(
                    f"the graph of {file.name} must have one set of nodes, but its header says that it is bipartite. "
                    "Take another graph, or give every node a unique name and remove the header"
                )
        if (sizes := _SIZES.match(remark)) and weights and sizes[1] == sizes[2]:
            declared = int(sizes[1])
        if snap := _SNAP.match(remark):
            directed = snap[1] is None
    return directed, weights, declared


# Tell the header of a file of edges from its first edge, by what columns are called and by the names below.

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
_KNOWN = {end for pair in ENDS for end in pair}
# What a column with the weights of edges is called.
_WEIGHTS = ("weight", "weights", "edgeweight")
_WHOLE = r"^-?[0-9]+$"
_SHOWN = 5


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def find_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns with the ends of edges by name, or None.

    >>> find_ends(["Id", "Source", "Target"]), find_ends(["name", "age"])
    ((1, 2), None)
    """
    plain = [_plain(name) for name in names]
    for one, other in ENDS:
        if plain.count(one) == plain.count(other) == 1:
            return plain.index(one), plain.index(other)
    return None


def unknown_ends(names: Sequence[str], where: str) -> InputError:
    """Return the error for ambiguous or missing edge-end columns."""
    # The first row may be data, and data are not shown: only words that hardly any node is called by.
    known = [name.strip() for name in names if _plain(name) in _KNOWN and not _usual_for_nodes(name)]
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    listed = ", ".join(shortened(name) for name in known[:_SHOWN]) + more
    seen = f"of such names its {len(names)} columns have only {listed}"
    seen = seen if known else f"none of its {len(names)} columns has such a name"
    return InputError(
        f"{where} must have the columns 'source' and 'target' (or 'from' and 'to'), each once, but {seen}. "
        "Put 'source,target' above the first edge, or rename the columns"
    )


def ignored(names: Sequence[str], used: tuple[int, int], *, shown: bool = True) -> tuple[str, ...]:
    """Return the note on ignored columns, without names that may be data.

    >>> ignored(["id", "from", "to"], (1, 2)), ignored(["i", "j", "k"], (0, 1), shown=False)
    (("the column 'id' was ignored",), ('1 more column was ignored',))
    """
    others = [name for place, name in enumerate(names) if place not in used and name.strip()]
    if not others:
        return ()
    were = "were" if len(others) > 1 else "was"
    if not shown:
        return (f"{len(others)} more column{'s' * (len(others) > 1)} {were} ignored",)
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    listed = ", ".join(shortened(name) for name in others[:_SHOWN]) + more
    return (f"{'columns' if len(others) > 1 else 'the column'} {listed} {were} ignored",)


def lost_weights(names: Sequence[str], used: tuple[int, int]) -> tuple[DroppedInformation, ...]:
    """Return whether a column that is not used holds weights, by its name.

    >>> lost_weights(["from", "to", "Weight"], (0, 1)), lost_weights(["from", "to", "time"], (0, 1))
    (('weights',), ())
    """
    weighted = any(_plain(name) in _WEIGHTS for place, name in enumerate(names) if place not in used)
    return ("weights",) if weighted else ()


def surely_header(header: Sequence[str], ends: Sequence["pl.Series"], where: str) -> bool:
    """Return whether the first line can only be a header.

    Source and target always are: whoever has nodes of these names needs one header that is never taken for an edge.

    Raises
    ------
    InputError
        If nodes below have such names too: the line could then be the first edge of a file without a header.

    Examples
    --------
    >>> import polars as pl
    >>> [surely_header(["u", "v"], [pl.Series([name])] * 2, "line 1") for name in ("7", "Ada")]
    [True, False]
    """
    import polars as pl

    texts = [column.str.strip_chars() for column in ends if column.dtype == pl.String]
    if not texts or tuple(_plain(name) for name in header) == ENDS[0]:
        return True
    pattern = "^(" + "|".join(_alike(name.strip()) for name in header) + ")$"
    if count := sum(int(text.str.contains(pattern).sum()) for text in texts):
        raise InputError(
            f"{where} must be a header or an edge, but can be both: it names columns as usual, and nodes below are "
            f"called like them (such cells: {count:,}). Write source and target in its place if it is a header, or "
            "above it if it is an edge"
        )
    return not any(_usual_for_nodes(name) for name in header) or all(
        bool(text.str.contains(_WHOLE).all()) for text in texts
    )


def first_edge_notes(ends: Sequence["pl.Series"], where: str) -> tuple[str, ...]:
    """Return a note if the first line has names that no other line has.

    Raises
    ------
    InputError
        If only the first line holds words and all others whole numbers: it can then hardly be an edge.
    """
    import polars as pl

    if ends[0].len() < 2 or any(column.dtype != pl.String for column in ends):
        return ()
    first = [str(column[0]) for column in ends]
    below = pl.concat([column[1:] for column in ends])
    if not any(re.match(_WHOLE, name) for name in first) and below.str.contains(_WHOLE).all():
        raise InputError(
            f"{where} holds two words, but all other lines hold whole numbers. "
            "If it is a header, write source and target instead; if it is an edge, write them above it"
        )
    if find_ends(first) is None or below.is_in(first).any():
        return ()
    return ("the first line was read as an edge, though columns are often called so too",)


def _usual_for_nodes(name: str) -> bool:
    return len(_plain(name)) == 1 or _plain(name)[-1:].isdigit()


def _alike(name: str) -> str:
    """Return the name pattern: user7 matches user1, and k matches i."""
    import polars as pl

    if len(name) == 1:
        return "[A-Za-z]"
    stem = name.rstrip("0123456789")
    return pl.escape_regex(stem) + ("[0-9]+" if stem != name else "")
