"""Tables of people: columns with kinds and roles, rows that are never shown."""

from unveil.data.table.cells import Cells
from unveil.data.table.hierarchy import Hierarchy
from unveil.data.table.table import KINDS, ROLES, Column, Kind, Role, Table, ToldKind, agree, kinds_of_release

__all__ = [
    "KINDS",
    "ROLES",
    "Cells",
    "Column",
    "Hierarchy",
    "Kind",
    "Role",
    "Table",
    "ToldKind",
    "agree",
    "kinds_of_release",
]
