"""Column metadata, and notes on guessed types."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from unveil.data.table.hierarchy import Hierarchy
from unveil.data.table.kinds import Confidence, Kind, Role
from unveil.data.table.markers import Marker

#: The roles of the columns that attacks use.
USED: tuple[Role, ...] = ("known", "sensitive")
_SHOWN = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """Column metadata, without its rows.

    Attributes
    ----------
    name, kind, role
        What it is called, what it holds and what it is to an attacker.
    reason
        Why this kind and role were guessed, or "as given".
    missing
        How many cells are null.
    role_told
        Whether the role was told.
    confidence
        Where the kind comes from: "given", "dictionary", "labels" (inside the file), or a guess that is "sure",
        "likely" or "uncertain".
    markers
        The texts that stand for no value; `Table.marked` says where they stand.
    question
        A sentence on what only the owner of the data can know, or "".
    written
        How the two truth values, or the dates, were written, where that is known.
    follows
        Whether its kind was taken from another table with which it agrees.
    called
        What it was called before it was renamed, or "".
    hierarchy, exact
        Which values the wider labels of a release stand for, where told; and whether its numbers are as they seem.
    """

    name: str
    kind: Kind
    role: Role
    reason: str
    missing: int
    role_told: bool = False
    confidence: Confidence = "sure"
    markers: tuple[Marker, ...] = ()
    question: str = ""
    written: tuple[str, ...] = ()
    follows: bool = False
    called: str = ""
    hierarchy: Hierarchy | None = None
    exact: bool = False

    @property
    def kind_told(self) -> bool:
        """True if the column type was declared."""
        return self.confidence == "given"

    @property
    def is_used(self) -> bool:
        """True if attacks use the column (not an identifier or ignored)."""
        return self.role in USED


class KindOfColumn(Protocol):
    """Name, role, and type confidence of a column."""

    @property
    def name(self) -> str:
        """Name of the column."""

    @property
    def role(self) -> str:
        """Role of the column for an attacker."""

    @property
    def confidence(self) -> str:
        """Confidence of the column type."""


def unsure_note(columns: Iterable[KindOfColumn]) -> str:
    """Return a note on used columns with uncertain types, or ""."""
    used = [column for column in columns if column.role in USED]
    unsure = [column.name for column in used if column.confidence == "uncertain"]
    if not unsure:
        return ""
    return (
        f"The types of {len(unsure)} of {len(used)} columns ({listed(unsure)}) are uncertain guesses. "
        "Declare them, or pass a dictionary: a wrong type changes the results."
    )


def listed(names: Sequence[str]) -> str:
    """Return quoted names, shortened if many.

    >>> listed(["age", ""])
    "'age', one without a name"
    """
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) if name else "one without a name" for name in names[:_SHOWN]) + more
