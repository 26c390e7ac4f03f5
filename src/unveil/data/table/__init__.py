"""Tables of people: columns with kinds and roles, rows that are never shown."""

from unveil.data.table._names import near_names, near_note
from unveil.data.table.agree import agree, kind_notes, kinds_of_release, stacked, with_markers
from unveil.data.table.cells import Cells
from unveil.data.table.column import Column, unsure_note
from unveil.data.table.dictionaries import Dictionary, dictionary_of_labels
from unveil.data.table.dictionary_files import read_dictionary, write_kinds
from unveil.data.table.hierarchy import Hierarchy
from unveil.data.table.kinds import KINDS, ROLES, DeclaredKind, Kind, Role
from unveil.data.table.markers import Marker, MarkerCount
from unveil.data.table.table import Table

__all__ = [
    "KINDS",
    "ROLES",
    "Cells",
    "Column",
    "DeclaredKind",
    "Dictionary",
    "Hierarchy",
    "Kind",
    "Marker",
    "MarkerCount",
    "Role",
    "Table",
    "agree",
    "dictionary_of_labels",
    "kind_notes",
    "kinds_of_release",
    "near_names",
    "near_note",
    "read_dictionary",
    "stacked",
    "unsure_note",
    "with_markers",
    "write_kinds",
]
