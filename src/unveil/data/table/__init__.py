"""Tables of people: columns with kinds and roles, rows that are never shown."""

from unveil.data.table.table import KINDS, ROLES, Column, Kind, Role, Table, ToldKind, agree

__all__ = ["KINDS", "ROLES", "Column", "Kind", "Role", "Table", "ToldKind", "agree"]
