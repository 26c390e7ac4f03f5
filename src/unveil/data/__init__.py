"""What comes in: tables of people and their releases, what files hold, and the one way to write a file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unveil.data.release import Knowledge as Knowledge
    from unveil.data.release import Release as Release
    from unveil.data.table import Column as Column
    from unveil.data.table import Table as Table
    from unveil.data.table import agree as agree

# Loaded when first asked for: those who only read or write a file do not pay for the rest.
_HOME = {
    "Column": "unveil.data.table",
    "Knowledge": "unveil.data.release",
    "Release": "unveil.data.release",
    "Table": "unveil.data.table",
    "agree": "unveil.data.table",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
