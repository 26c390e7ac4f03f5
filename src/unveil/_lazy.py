"""Load the names of a package at first use."""

# Not from typing, whose own imports take so long that Ctrl-C could fall among them, before anything can catch it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazily(
    package: str, homes: "Mapping[str, str]"
) -> "tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]":
    """Return the lazy ``__all__``, ``__getattr__``, and ``__dir__`` of a package.

    A module is written as it is called below the package; one that has the name itself is what is asked for.

    >>> names, get, _ = lazily("unveil", {"InputError": "errors", "errors": "errors"})
    >>> names, get("InputError").__name__, get("errors").__name__
    (['InputError', 'errors'], 'InputError', 'unveil.errors')
    """

    def get(name: str) -> "Any":
        import sys
        from importlib import import_module

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f"{package}.{homes[name]}")
        value = home if homes[name] == name else getattr(home, name)
        setattr(sys.modules[package], name, value)
        return value

    return list(homes), get, lambda: sorted(homes)


def reexports(package: str) -> "dict[str, str]":
    """Return the reexported names of a package source with their modules.

    ``from package.module import name as name`` tells type checkers of a public name. That line is its one declaration,
    also where it stands below ``TYPE_CHECKING`` because the module is loaded when first asked for.

    >>> homes = reexports("unveil.data")
    >>> homes["read_graph"], homes["samples"]
    ('graph.read', 'samples')
    """
    import ast
    import sys
    from inspect import getsource

    lines = [node for node in ast.walk(ast.parse(getsource(sys.modules[package]))) if isinstance(node, ast.ImportFrom)]
    return {
        alias.name: alias.name if line.module == package else str(line.module).removeprefix(f"{package}.")
        for line in sorted(lines, key=lambda line: line.lineno)
        for alias in line.names
        if alias.asname == alias.name
    }


def lazy_reexports(package: str) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """Return the lazy ``__getattr__`` and ``__dir__`` of a package's reexports.

    >>> get, names = lazy_reexports("unveil")
    >>> get("InputError").__name__, "audit" in get("__all__"), "audit" in names()
    ('InputError', True, True)
    """
    homes: dict[str, str] = {}

    def get(name: str) -> "Any":
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        homes.update(homes or reexports(package))
        return list(homes) if name == "__all__" else lazily(package, homes)[1](name)

    return get, lambda: sorted(get("__all__"))
