"""What was found about the columns of a table, as data."""

from dataclasses import dataclass

from unveil._figure import NOTES, derived, figure
from unveil.data.table.forms import Kind
from unveil.data.table.kinds import Role
from unveil.data.table.markers import MarkerCount
from unveil.data.table.rules import Confidence


@dataclass(frozen=True, kw_only=True)
class ColumnReading:
    """How one column was read; the fields are those of :class:`unveil.data.table.Column`."""

    name: str = figure("The name of the column.")
    kind: Kind = figure(
        "The kind as which the column is read: number, category, ordered, date, boolean or text.",
    )
    role: Role = figure("What the column is to the adversary: known, sensitive, identifier or ignored.")
    confidence: Confidence = figure(
        "How sure it is that the column is read as meant: told, dictionary or labels where somebody said so, else "
        "sure, likely or unsure."
    )
    reason: str = figure("Why so, in words.")
    different: int = figure("How many different values the column has.", counts="rows")
    missing: int = figure("How many cells stand for no value.", counts="rows")
    markers: tuple[MarkerCount, ...] = figure("Texts that were read as no value.")
    question: str = figure("What to decide about the column; empty where nothing is open.")


@dataclass(frozen=True, kw_only=True)
class ColumnsFindings:
    """How the columns of a table were read: unsure ones first, the others in their order."""

    table: str = figure("The table that this is about.")
    rows: int = figure("How many rows there are.", counts="rows")
    columns: tuple[ColumnReading, ...] = figure("One entry for each column.")
    notes: tuple[str, ...] = figure(NOTES, default=())

    @property
    def unsure(self) -> tuple[str, ...]:
        """The names of the columns in use whose kinds nothing tells for sure."""
        used = ("known", "sensitive")
        return tuple(each.name for each in self.columns if each.confidence == "unsure" and each.role in used)

    @derived(
        hidden=True,
        limit="unsure_columns",
        limit_meaning="how many columns in use nothing tells for sure what they hold",
        breached=True,
        counts="columns",
    )
    def unsure_columns(self) -> int:
        """The number of columns in use whose kinds nothing tells for sure."""
        return len(self.unsure)
