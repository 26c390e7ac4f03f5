"""Protections as text, on the command line and in files."""

from typing import Any

import numpy as np

from unveil._registry import InputKind
from unveil._specification import from_text, to_text, understood
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections._listing import PROTECTIONS, GraphProtection, TableProtection


def protection_from(text: str) -> TableProtection:
    """Return the protection of tables that is written ``name:key=value,key=value`` or ``package.module:Class``.

    The names are those of ``unveil list protections``; :func:`unveil._specification.from_text` has the details.

    >>> protection_from("rank-swapping:share=0.1,columns=age,income")
    RankSwapping(columns=('age', 'income'), share=0.1, p=None, shuffle=True, draws=None, seed=0)
    """
    made: TableProtection = _protection(text, "table")
    return made


def masking_from(text: str) -> object:
    """Return the table protection of a text, or your own class.

    A class with the method ``log_likelihood`` (:class:`unveil.data.mechanism.Mechanism`) can be declared for a file
    made elsewhere; to make a release it needs ``apply`` too.

    >>> masking_from("shuffle")
    Shuffle()
    """
    made: object = _protection(text, "table", ("apply", "log_likelihood"))
    return made


def graph_protection_from(text: str) -> GraphProtection:
    """Return the graph protection that ``text`` describes, as :func:`protection_from`.

    >>> graph_protection_from("id-removal")
    IdRemoval()
    >>> graph_protection_from("shuffle")
    Traceback (most recent call last):
    unveil.errors.InputError: the protection 'shuffle' is for a table, not for a graph. Use one of: ...
    """
    made: GraphProtection = _protection(text, "graph")
    return made


def applied(protection: Any, original: Table | Graph, *, rng: np.random.Generator) -> Any:
    """Return the release of a table or a graph by a protection.

    Raises
    ------
    InputError
        If a class of the user's own returns something else.
    """
    made = protection.apply(original, rng=rng)
    wanted: type = Release if isinstance(original, Table) else GraphRelease
    if not isinstance(made, wanted):
        raise InputError(
            f"the method apply of {protection_text(protection)} returned a {type(made).__name__} instead of a "
            f"{wanted.__name__}. Correct the method"
        )
    return made


def protection_text(protection: object) -> str:
    """Return the text of a protection: its name and changed settings.

    >>> protection_text(protection_from("rank-swapping:columns=age,income"))
    'rank-swapping:columns=age,income'
    """
    return to_text(protection, PROTECTIONS.values())


def _protection(text: str, on: InputKind, method: str | tuple[str, ...] = "apply") -> Any:
    fitting = [each for each in PROTECTIONS.values() if each.on == on]
    name = text.strip().partition(":")[0]
    if name in PROTECTIONS and PROTECTIONS[name].on != on:
        raise InputError(
            f"the protection {name!r} is for a {PROTECTIONS[name].on}, not for a {on}. "
            f"Use one of: {', '.join(each.name for each in fitting)}"
        )
    known, aka = understood(fitting)
    return from_text(text, known, aka=aka, what="protection", method=method)
