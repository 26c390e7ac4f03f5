"""The one list of protections: each is a frozen dataclass of settings plus the facts in its decorator."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol, TypeVar

import numpy as np

from unveil._listed import Listed, On, written_name
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.table import Table
from unveil.data.table.release import Release


class Protects(Protocol):
    """What every protection of tables is: settings, and one method that makes a release."""

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the release that the holder of the original would publish."""


class ProtectsGraph(Protocol):
    """What every protection of graphs is: settings, and one method that makes a release."""

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the release that the holder of the original would publish."""


Class = TypeVar("Class", bound=type)

Kind = Literal["masked", "synthetic"]


@dataclass(frozen=True, kw_only=True)
class Protection(Listed):
    """The facts of one protection, as shown by ``unveil list protections``."""

    #: Whether a released row comes from one person (masked) or from a model of all of them (synthetic).
    kind: Kind


_PROTECTIONS: dict[str, Protection] = {}

#: Every protection by name, in the order in which they are imported.
PROTECTIONS: Mapping[str, Protection] = MappingProxyType(_PROTECTIONS)


def protection(
    *, on: On, kind: Kind, source: str, name: str | None = None, aka: tuple[str, ...] = ()
) -> Callable[[Class], Class]:
    """List the decorated class as a protection, and return it unchanged.

    Its name in commands is that of the class in small letters with hyphens, unless another is given.
    """

    def list_it(made: Class) -> Class:
        called = name or written_name(made)
        _PROTECTIONS[called] = Protection(name=called, make=made, on=on, kind=kind, aka=aka, source=source)
        return made

    return list_it
