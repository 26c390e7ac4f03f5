"""Graphs: who is connected to whom, where it is read from, and what an adversary knows of it."""

from unveil.data.graph.graph import Graph

__all__ = ["Graph"]
