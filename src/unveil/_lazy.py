"""Names of a package that are loaded when first asked for, so that nobody pays for what is not used."""

# Not from typing, whose own imports take so long that Ctrl-C could fall among them, before anything can catch it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazily(
    package: str, homes: "Mapping[str, str]"
) -> "tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]":
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package whose names live in these modules.

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
