"""Registry of attacks and protections: settings dataclasses with facts."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from types import ModuleType
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar

InputKind = Literal["table", "graph", "count table", "history table"]
#: What a method takes that is not about a table of records.
_ON: dict[str, InputKind] = {"Graph": "graph", "CountSystem": "count table", "ReleasedHistory": "history table"}
Facts = TypeVar("Facts")
Arguments = ParamSpec("Arguments")
Class = TypeVar("Class", bound=type)


class Registry(Mapping[str, Facts]):
    """Read-only mapping of registered classes by name, loaded at first use.

    >>> found = {"b": 1}
    >>> dict(Registry(found, lambda: found.update(a=2)))
    {'b': 1, 'a': 2}
    """

    def __init__(self, listed: Mapping[str, Facts], load: Callable[[], object]) -> None:
        self._listed, self._load = listed, load

    def __getitem__(self, name: str) -> Facts:
        self._load()
        return self._listed[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._listed)

    def __len__(self) -> int:
        self._load()
        return len(self._listed)


@dataclass(frozen=True, kw_only=True)
class RegistryEntry:
    """Facts about one registered class, for ``unveil list``, studies, and tests."""

    #: How it is written in commands and files: as the class, in small letters with hyphens, unless told otherwise.
    name: str = ""
    #: The class itself, which the decorator fills in.
    make: Callable[..., Any] = object
    source: str
    #: Other names it goes by; they are not understood in commands, but lead to its name.
    aka: tuple[str, ...] = ()

    #: The method that does the work, what it takes, and the facts that are read from its signature.
    method: ClassVar[str]
    takes: ClassVar[tuple[str, ...]]
    read: ClassVar[tuple[str, ...]] = ("on",)

    @property
    def on(self) -> InputKind:
        """Input type of its method: tables, graphs, published counts, or histories."""
        first = next(each for each in self._signature.parameters.values() if each.name != "self")
        return _ON.get(name_of_type(first.annotation), "table")

    @property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(getattr(self.make, self.method))

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings as written: required names alone, the rest as ``name=value``.

        >>> from unveil.protections import PROTECTIONS
        >>> PROTECTIONS["mondrian"].settings
        ('columns=none', 'k=3', 'shuffle=yes', 'cells=no')
        """
        if not is_dataclass(self.make):
            parameters = inspect.signature(self.make).parameters.values()
            return tuple(
                each.name if each.default is each.empty else f"{each.name}={_written_value(each.default)}"
                for each in parameters
            )
        given = []
        for field in (each for each in fields(self.make) if each.repr):
            made = field.default if field.default_factory is MISSING else field.default_factory()
            given.append(field.name if made is MISSING else f"{field.name}={_written_value(made)}")
        return tuple(given)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Everything that is shown, by name, in the order to show it."""
        told = {key: value for key, value in vars(self).items() if key not in ("name", "make", "source", "aka")}
        told = {"name": self.name, **{key: getattr(self, key) for key in self.read}, **told}
        shown = {key: ", ".join(value) if isinstance(value, tuple) else value for key, value in told.items()}
        rest = {"settings": ", ".join(self.settings), "aka": ", ".join(self.aka)}
        return {**shown, **rest, "summary": self.summary, "source": self.source}


ListedFacts = TypeVar("ListedFacts", bound=RegistryEntry)


def brought_by(module: ModuleType, kind: type[ListedFacts], listed: Iterable[ListedFacts]) -> list[ListedFacts]:
    """Return the facts of a module's classes, by command-line name.

    Those are the public names of the module, or what its ``__all__`` names, that are classes of the same package with
    the method of the kind; what another package made is not counted. A class without a decorator has the facts that its
    signature and its docstring tell.

    >>> import unveil.protections as package
    >>> [each.name for each in brought_by(package, package.Protection, package.PROTECTIONS.values())][:1]
    ['unveil.protections:AdditiveNoise']
    """
    told = {each.make: each for each in listed}
    package = module.__name__.partition(".")[0]
    found = []
    for name in getattr(module, "__all__", sorted(vars(module))):
        made = getattr(module, name, None)
        if not inspect.isclass(made) or made.__module__.partition(".")[0] != package:
            continue
        if not name.startswith("_") and _does(made, kind):
            facts = told.get(made) or kind(make=made, source="")
            found.append(replace(facts, name=f"{module.__name__}:{name}"))
    return found


def _does(cls: type, kind: type[RegistryEntry]) -> bool:
    """Return whether a class implements the method, and is no Protocol."""
    method = getattr(cls, kind.method, None)
    if not callable(method) or getattr(cls, "_is_protocol", False):
        return False
    return {*kind.takes} <= {*inspect.signature(method).parameters}


def lister(
    kind: Callable[Arguments, ListedFacts], listed: dict[str, ListedFacts], docstring: str
) -> Callable[Arguments, Callable[[Class], Class]]:
    """Return a decorator that registers a class and returns it unchanged."""

    def with_facts(*nothing: Arguments.args, **facts: Arguments.kwargs) -> Callable[[Class], Class]:
        def list_it(cls: Class) -> Class:
            name = str(facts.get("name") or written_name(cls))
            listed[name] = kind(*nothing, **{**facts, "name": name, "make": cls})  # type: ignore[arg-type]
            return cls

        return list_it

    with_facts.__doc__ = docstring
    return with_facts


def name_of_type(annotation: Any) -> str:
    """Return the name of a type, also if import-guarded; "" without annotation.

    >>> name_of_type(int), name_of_type("data.Table"), name_of_type(inspect.Signature.empty)
    ('int', 'Table', '')
    """
    if annotation is inspect.Signature.empty:
        return ""
    return annotation.rpartition(".")[2] if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def _written_value(value: Any) -> str:
    """Return a setting as it can be written in commands."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def written_name(kind: type) -> str:
    """Return a class name as written in commands: lower case with hyphens.

    >>> written_name(RegistryEntry)
    'registry-entry'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
