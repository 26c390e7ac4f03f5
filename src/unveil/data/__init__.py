"""Tables, graphs, and releases: data structures and file access."""

from typing import TYPE_CHECKING

from unveil._lazy import lazily, reexports

# Loaded when first asked for: those who only read or write a file do not pay for the rest.
if TYPE_CHECKING:
    from unveil.data import samples as samples
    from unveil.data.files.column_store import ColumnStore as ColumnStore
    from unveil.data.graph import Graph as Graph
    from unveil.data.graph.knowledge import draw_knowledge as draw_knowledge
    from unveil.data.graph.read import graph_from as graph_from
    from unveil.data.graph.read import read_graph as read_graph
    from unveil.data.graph.release import GraphKnowledge as GraphKnowledge
    from unveil.data.graph.release import GraphRelease as GraphRelease
    from unveil.data.ledger import Ledger as Ledger
    from unveil.data.ledger import Query as Query
    from unveil.data.table import Column as Column
    from unveil.data.table import Table as Table
    from unveil.data.table import agree as agree
    from unveil.data.table.release import Knowledge as Knowledge
    from unveil.data.table.release import Release as Release

__all__, __getattr__, __dir__ = lazily(__name__, reexports(__name__))
