"""Column types of a table, as results."""

from dataclasses import dataclass

from unveil._figure import NOTES, derived, figure
from unveil.data.table.forms import Kind
from unveil.data.table.kinds import Role
from unveil.data.table.markers import MarkerCount
from unveil.data.table.rules import Confidence


@dataclass(frozen=True, kw_only=True)
class ColumnReading:
    """One column as it was read; fields as in :class:`unveil.data.table.Column`."""

    name: str = figure("Name of the column.")
    kind: Kind = figure("Column type: number, category, ordered, date, boolean, or text.", name="type")
    role: Role = figure("Role of the column: known (quasi-identifier), sensitive, identifier, or ignored.")
    confidence: Confidence = figure(
        "Confidence in the column type: given, dictionary, or labels if stated by you, else sure, likely, or uncertain."
    )
    reason: str = figure("Reason for the type.")
    different: int = figure("Number of different values.", counts="rows")
    missing: int = figure("Number of missing cells.", counts="rows")
    markers: tuple[MarkerCount, ...] = figure("Texts that were read as missing.")
    question: str = figure("Open decision about the column; empty if there is none.")


@dataclass(frozen=True, kw_only=True)
class ColumnsFindings:
    """Column types of a table, uncertain ones first."""

    table: str = figure("Name of the table.")
    rows: int = figure("Number of rows.", counts="rows")
    columns: tuple[ColumnReading, ...] = figure("One entry per column.")
    notes: tuple[str, ...] = figure(NOTES, default=())

    @property
    def unsure(self) -> tuple[str, ...]:
        """Names of the columns in use with an uncertain type."""
        used = ("known", "sensitive")
        return tuple(each.name for each in self.columns if each.confidence == "uncertain" and each.role in used)

    @derived(
        hidden=True,
        limit="uncertain_columns",
        limit_meaning="number of columns in use with an uncertain type",
        breached=True,
        counts="columns",
    )
    def uncertain_columns(self) -> int:
        """Number of columns in use with an uncertain type."""
        return len(self.unsure)
