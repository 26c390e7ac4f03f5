"""The list of protections: frozen dataclasses with the facts of their decorator."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np

from unveil._registry import RegistryEntry, lister
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.table import KINDS, Table
from unveil.data.table.kinds import Kind as ColumnKind
from unveil.data.table.release import Release


class TableProtection(Protocol):
    """Interface of table protections: settings and a method that makes releases.

    Whatever it does, this holds, and ``tests/protections/test_every_protection.py`` sees to it:

    * Settings that cannot be are refused when it is made, data that cannot be protected when it is applied: with an
      `InputError` of one line that shows no cell. The decorator says what it suits and how much it needs; all else
      is released.
    * Nothing that was passed is changed, and no randomness is used but that of ``rng``: the same state of it gives the
      same release, another one another.
    * The release has the columns of the original in their order, with their kinds and roles, but none that identifies
      people; where the decorator promises no new values, every cell shows a value that its column had.
    * A masked release has a row for each row of the original and its ``truth`` says whose each is; the rows are in
      random order, every order as likely, unless a setting says no, and then a note does. A row of a synthetic one is
      no person's: its ``truth`` is None.
    * What the decorator says that it ``keeps`` is exactly as it was.
    * The ``mechanism``, where there is one, gives everyone's own row a chance, equal rows equal ones, and no row one
      that depends on its place; what it gives is true on average.
    """

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the release that the holder of the original would publish."""


class GraphProtection(Protocol):
    """Interface of graph protections: settings and a method that makes releases.

    Whatever it does, this holds, and ``tests/protections/test_every_graph_protection.py`` sees to it:

    * A graph with fewer nodes than the decorator says, or without an edge where it needs some, is refused with an
      `InputError` of one line; any other is released, or a `CannotProtectError` says why not.
    * Nothing that was passed is changed, and no randomness is used but that of ``rng``: the same state of it gives the
      same release, another one another.
    * The release is a simple graph without names, numbered at random, every order as likely. Each node of the original
      is exactly one of the release, and ``truth`` says which; the others belong to no person.
    * What the decorator says that it ``keeps`` is exactly as it was; what changed is counted by the release.
    * With a ledger no more than epsilon is spent, and no note tells what was seen in the private file.
    """

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the release that the holder of the original would publish."""


Kind = Literal["masked", "synthetic"]
#: What becomes of missing values: they stay, they stay but enough others must be there, or the table is refused.
Gaps = Literal["stay", "few", "refused"]
#: What stays exactly as it was. Of every column: its values and how often each occurs, or its mean. Of a graph: how
#: many nodes or edges there are, the degree of every node, or every edge.
KeptProperty = Literal["values", "means", "node count", "edge count", "degrees", "edges"]


@dataclass(frozen=True, kw_only=True)
class Protection(RegistryEntry):
    """Facts of one protection, shown by ``unveil list protections``."""

    method = "apply"
    takes = ("original", "rng")

    #: Whether a released row comes from one person (masked) or from a model of all of them (synthetic).
    kind: Kind = "masked"
    #: The kinds of columns that it changes unless columns are named: all, if nothing is given; none for graphs.
    suits: tuple[ColumnKind, ...] = ()
    #: Whether a released cell may show a value that its column did not have.
    new_values: bool = False
    #: The fewest rows of a table, or nodes of a graph, that it can be used on.
    least_rows: int = 0
    #: What becomes of missing values in the columns that it changes, "stay" if nothing is given; None for graphs.
    gaps: Gaps | None = None
    #: Whether a graph without edges is refused.
    needs_edges: bool = False
    keeps: tuple[KeptProperty, ...] = ()
    #: Of a graph: the setting that says how many pairs of edges, as a share of all edges, give way to two new edges;
    #: empty where there is none.
    exchanges: str = ""

    def __post_init__(self) -> None:
        if self.on == "table":
            object.__setattr__(self, "suits", self.suits or KINDS)
            object.__setattr__(self, "gaps", self.gaps or "stay")


_PROTECTIONS: dict[str, Protection] = {}

#: Every protection by name, in the order in which they are imported.
PROTECTIONS: Mapping[str, Protection] = MappingProxyType(_PROTECTIONS)


protection = lister(
    Protection,
    _PROTECTIONS,
    "List the class as a protection with the facts of `Protection`, and return it unchanged.",
)


def facts_of(protection: object) -> Protection:
    """Return the facts of an object of a listed class."""
    return next(each for each in PROTECTIONS.values() if each.make in type(protection).__mro__)


def original_edges(protection: object) -> float | None:
    """Return the share of released edges that are original, or None.

    Edges that are drawn again are none, even where one happens to be as before.

    >>> from unveil.protections import HrgDP, IdRemoval, KDegree, Switch
    >>> [original_edges(made) for made in (IdRemoval(), Switch(share=0.05), HrgDP(), KDegree())]
    [1.0, 0.9, 0.0, None]
    """
    for each in PROTECTIONS.values():
        if each.make in type(protection).__mro__:
            if {"edges", "edge count"} <= set(each.keeps):
                return 1.0
            if each.kind == "synthetic":
                return 0.0
            return max(1 - 2 * float(getattr(protection, each.exchanges)), 0.0) if each.exchanges else None
    return None
