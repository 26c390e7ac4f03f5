"""Tell the header of a file of edges from its first edge, by what columns are called and by the names below."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from unveil.data.graph.graph import DroppedInformation
from unveil.errors import InputError, shortened

if TYPE_CHECKING:
    import polars as pl

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
    """Return which columns hold the two ends of an edge, by their names; None if that is not clear.

    >>> find_ends(["Id", "Source", "Target"]), find_ends(["name", "age"])
    ((1, 2), None)
    """
    plain = [_plain(name) for name in names]
    for one, other in ENDS:
        if plain.count(one) == plain.count(other) == 1:
            return plain.index(one), plain.index(other)
    return None


def unknown_ends(names: Sequence[str], where: str) -> InputError:
    """Return the error for columns of which none or too many can be the ends of edges."""
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
    """Return the note on columns that are not ends of edges; without their names if these may be data.

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
    """Return whether the names above the ends of edges can be nothing else than the names of columns.

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
    """Return a note if the first line of a file without a header holds names of columns that no other line has.

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
            f"{where} must hold an edge as all others do, but holds two words where these hold whole numbers only. "
            "Write source and target in its place if it is a header, or above it if it is an edge"
        )
    if find_ends(first) is None or below.is_in(first).any():
        return ()
    return ("the first line was read as an edge, though columns are often called so too",)


def _usual_for_nodes(name: str) -> bool:
    return len(_plain(name)) == 1 or _plain(name)[-1:].isdigit()


def _alike(name: str) -> str:
    """Return the pattern of names that are made like this one: user7 is made like user1, and k like i."""
    import polars as pl

    if len(name) == 1:
        return "[A-Za-z]"
    stem = name.rstrip("0123456789")
    return pl.escape_regex(stem) + ("[0-9]+" if stem != name else "")
