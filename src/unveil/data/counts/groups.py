"""Which codes are sums of which others, as a file says: pairs of child and parent, or a value and its wider labels."""

import os
from pathlib import Path

from unveil.data.files.documents import read_document
from unveil.data.files.source import shown
from unveil.data.table._cell_texts import folded
from unveil.errors import InputError


def read_groups(path: str | os.PathLike[str]) -> tuple[dict[str, frozenset[str]], tuple[str, ...]]:
    """Return the leaves of each code that is a sum, all folded, and how the leaves are written.

    The file has the columns child and parent, a code below another in each row, also for several groupings of the
    same leaves; or it has a leaf and its wider labels in each line, with semicolons, as for the audit.
    """
    from unveil.data.files.read import read_table
    from unveil.data.table.hierarchy import Hierarchy

    first = read_document(Path(path)).partition("\n")[0].casefold()
    if "child" in first and "parent" in first:
        frame = read_table(path, {"child": "child", "parent": "parent"})
        return _closed(frame.rows(), Path(path))
    hierarchy = Hierarchy.read(Path(path))
    labels = {label for line in hierarchy.lines for label in line[1:]}
    groups = {label: hierarchy.below(label) or frozenset() for label in labels}
    leaves = [line[0] for line in hierarchy.lines]
    return {label: own for label, own in groups.items() if own != {label}}, tuple(leaves)


def _closed(rows: list[tuple[str | None, str | None]], path: Path) -> tuple[dict[str, frozenset[str]], tuple[str, ...]]:
    """Return the leaves below every parent."""
    below: dict[str, list[str]] = {}
    written: dict[str, str] = {}
    for number, (child, parent) in enumerate(rows, 1):
        if not child or not parent or folded(child) == folded(parent):
            raise InputError(
                f"each row of {shown(path)} must hold a code and another one above it, but row {number} does not "
                "(counted from 1 below the header). Fill in child and parent"
            )
        below.setdefault(folded(parent), []).append(folded(child))
        written.setdefault(folded(child), child)
    found: dict[str, frozenset[str]] = {}

    def leaves(code: str, above: tuple[str, ...]) -> frozenset[str]:
        if code in above:
            raise InputError(
                f"the codes of {shown(path)} must become wider from child to parent, but one is above itself. Take one "
                "of its rows out"
            )
        if code not in below:
            return frozenset({code})
        if code not in found:
            found[code] = frozenset().union(*(leaves(child, (*above, code)) for child in below[code]))
        return found[code]

    for parent in below:
        leaves(parent, ())
    return found, tuple(label for key, label in written.items() if key not in below)
