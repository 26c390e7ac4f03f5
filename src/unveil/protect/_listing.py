"""The one list of protections: each is a frozen dataclass of settings plus the facts in its decorator."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from unveil.data.release import Release
from unveil.data.table import Table


class Protects(Protocol):
    """What every protection is: settings, and one method that makes a release."""

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the release that the holder of the original would publish."""


Class = TypeVar("Class", bound=type)

On = Literal["table", "graph"]
Kind = Literal["masked", "synthetic"]


@dataclass(frozen=True, kw_only=True)
class Protection:
    """The facts of one protection, as shown by ``unveil list protections`` and used by studies, pages and tests."""

    #: How it is written in commands and files.
    name: str
    make: Callable[..., Protects]
    on: On
    #: Whether a released row comes from one person (masked) or from a model of all of them (synthetic).
    kind: Kind
    #: Other names it goes by; they are not understood in commands, but lead to its name.
    aka: tuple[str, ...]
    source: str

    @property
    def summary(self) -> str:
        """The first line of the docstring: what it does."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def settings(self) -> tuple[str, ...]:
        """What can be set, as it is written: a name alone must be given, ``name=value`` shows what holds if it is not.

        >>> from unveil.protect import PROTECTIONS
        >>> PROTECTIONS["rank-swapping"].settings
        ('columns=none', 'share=0.05')
        """
        given = []
        for field in fields(self.make):  # type: ignore[arg-type]
            made = field.default if field.default_factory is MISSING else field.default_factory()
            given.append(field.name if made is MISSING else f"{field.name}={'none' if made is None else made}")
        return tuple(given)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Everything that is shown of a protection, by name, in the order to show it."""
        return {
            "name": self.name,
            "on": self.on,
            "kind": self.kind,
            "settings": ", ".join(self.settings),
            "aka": ", ".join(self.aka),
            "summary": self.summary,
            "source": self.source,
        }


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
        written = name or re.sub(r"(?<!^)(?=[A-Z])", "-", made.__name__).lower()
        _PROTECTIONS[written] = Protection(name=written, make=made, on=on, kind=kind, aka=aka, source=source)
        return made

    return list_it
