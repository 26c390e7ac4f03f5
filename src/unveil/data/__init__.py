"""What comes in: tables of people, graphs and their releases, what files hold, and the one way to write a file."""

from typing import TYPE_CHECKING

from unveil._lazy import lazily

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

# Loaded when first asked for: those who only read or write a file do not pay for the rest.
_HOME = {
    "Column": "table",
    "ColumnStore": "files.column_store",
    "Graph": "graph",
    "GraphKnowledge": "graph.release",
    "GraphRelease": "graph.release",
    "Knowledge": "table.release",
    "Ledger": "ledger",
    "Query": "ledger",
    "Release": "table.release",
    "Table": "table",
    "agree": "table",
    "draw_knowledge": "graph.knowledge",
    "graph_from": "graph.read",
    "read_graph": "graph.read",
    "samples": "samples",
}

__all__, __getattr__, __dir__ = lazily(__name__, _HOME)
