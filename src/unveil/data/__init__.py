"""What comes in: tables of people, graphs and their releases, what files hold, and the one way to write a file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unveil.data.graph import Graph as Graph
    from unveil.data.graph_knowledge import draw_knowledge as draw_knowledge
    from unveil.data.graph_release import GraphKnowledge as GraphKnowledge
    from unveil.data.graph_release import GraphRelease as GraphRelease
    from unveil.data.graphs import graph_from as graph_from
    from unveil.data.graphs import read_graph as read_graph
    from unveil.data.ledger import Ledger as Ledger
    from unveil.data.ledger import Query as Query
    from unveil.data.release import Knowledge as Knowledge
    from unveil.data.release import Release as Release
    from unveil.data.table import Column as Column
    from unveil.data.table import Table as Table
    from unveil.data.table import agree as agree

# Loaded when first asked for: those who only read or write a file do not pay for the rest.
_HOME = {
    "Column": "unveil.data.table",
    "Graph": "unveil.data.graph",
    "GraphKnowledge": "unveil.data.graph_release",
    "GraphRelease": "unveil.data.graph_release",
    "Knowledge": "unveil.data.release",
    "Ledger": "unveil.data.ledger",
    "Query": "unveil.data.ledger",
    "Release": "unveil.data.release",
    "Table": "unveil.data.table",
    "agree": "unveil.data.table",
    "draw_knowledge": "unveil.data.graph_knowledge",
    "graph_from": "unveil.data.graphs",
    "read_graph": "unveil.data.graphs",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
