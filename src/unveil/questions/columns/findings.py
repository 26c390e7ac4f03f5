"""What was found about the columns of a table, as data."""

from dataclasses import dataclass

from unveil.data.table.forms import Kind
from unveil.data.table.kinds import Role
from unveil.data.table.markers import MarkerCount
from unveil.data.table.rules import Confidence


@dataclass(frozen=True, kw_only=True)
class ColumnReading:
    """How one column was read.

    ``different`` counts its values without missing ones, ``missing`` its empty cells and markers that are null; the
    other fields are those of :class:`unveil.data.table.Column`.
    """

    name: str
    kind: Kind
    role: Role
    confidence: Confidence
    reason: str
    different: int
    missing: int
    markers: tuple[MarkerCount, ...]
    question: str


@dataclass(frozen=True, kw_only=True)
class ColumnsFindings:
    """How the columns of a table were read, those first of which nothing is sure.

    Attributes
    ----------
    table, rows
        What the table is called, and how many rows it has.
    columns
        Its columns: unsure ones first, the others in their order.
    notes
        What the dictionary did not explain, and what only the owner of the data can know.
    """

    table: str
    rows: int
    columns: tuple[ColumnReading, ...]
    notes: tuple[str, ...] = ()

    @property
    def unsure(self) -> tuple[str, ...]:
        """The names of the columns in use whose kinds nothing tells for sure."""
        used = ("known", "sensitive")
        return tuple(each.name for each in self.columns if each.confidence == "unsure" and each.role in used)
