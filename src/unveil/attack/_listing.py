"""The one list of attacks: an attack is a frozen dataclass of settings plus the facts in its decorator."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, TypeVar

Class = TypeVar("Class", bound=type)

On = Literal["table", "graph"]
Leaves = Literal["Trials", "Candidates", "Partition", "Matching"]


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The facts of one attack, as shown by ``unveil list attacks`` and used by audits, pages and tests."""

    name: str
    make: Callable[..., Any]
    on: On
    leaves: Leaves
    source: str

    @property
    def summary(self) -> str:
        """The first line of the docstring: who attacks, and how."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def settings(self) -> tuple[str, ...]:
        """What can be set, as it is written: a name alone must be given, ``name=value`` shows what holds if it is not.

        >>> from unveil.attack import ATTACKS
        >>> ATTACKS["linkability"].settings
        ('first', 'second', 'neighbours=10', 'targets=500')
        """
        given = []
        for field in fields(self.make):  # type: ignore[arg-type]
            made = field.default if field.default_factory is MISSING else field.default_factory()
            given.append(field.name if made is MISSING else f"{field.name}={made}")
        return tuple(given)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Everything that is shown of an attack, by name, in the order to show it."""
        return {
            "name": self.name,
            "on": self.on,
            "leaves": self.leaves,
            "settings": ", ".join(self.settings),
            "summary": self.summary,
            "source": self.source,
        }


_ATTACKS: dict[str, Attack] = {}

#: Every attack by name, in the order in which they are imported.
ATTACKS: Mapping[str, Attack] = MappingProxyType(_ATTACKS)


def attack(*, on: On, leaves: Leaves, source: str, name: str | None = None) -> Callable[[Class], Class]:
    """List the decorated dataclass as an attack, and return it unchanged.

    Its fields are the settings; ``run(*, released, knowledge, rng)`` returns the guess that it ``leaves``. The name is
    that of the class in small letters, words apart, unless it is given.
    """

    def list_it(kind: Class) -> Class:
        called = name or re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
        _ATTACKS[called] = Attack(name=called, make=kind, on=on, leaves=leaves, source=source)
        return kind

    return list_it
