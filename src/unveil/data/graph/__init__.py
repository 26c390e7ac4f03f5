"""Graphs: reading, writing, releases, and attacker knowledge."""

from unveil.data.graph.graph import Graph

__all__ = ["Graph"]
