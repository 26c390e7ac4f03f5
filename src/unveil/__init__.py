"""If this data is released, what can an adversary do with it, and how sure are we?"""

# Not from typing, whose own imports take so long that Ctrl-C could fall among them, before anything can catch it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from unveil import ask as ask
    from unveil import guess as guess
    from unveil import measure as measure
    from unveil.ask.audit.answer import audit as audit
    from unveil.errors import InputError as InputError
    from unveil.errors import MissingExtraError as MissingExtraError
    from unveil.errors import UndefinedMetricWarning as UndefinedMetricWarning
    from unveil.errors import UnveilError as UnveilError
    from unveil.guess import Candidates as Candidates
    from unveil.guess import Partition as Partition
    from unveil.guess import View as View

    __version__: str

# Every public name and the module it lives in, loaded when first asked for: `import unveil` stays light.
# The block above repeats it for type checkers, which cannot read a table; a test holds the two together.
_HOME = {
    "Candidates": "unveil.guess",
    "InputError": "unveil.errors",
    "MissingExtraError": "unveil.errors",
    "Partition": "unveil.guess",
    "UndefinedMetricWarning": "unveil.errors",
    "UnveilError": "unveil.errors",
    "View": "unveil.guess",
    "__version__": "importlib.metadata",
    "ask": "unveil.ask",
    "audit": "unveil.ask",
    "guess": "unveil.guess",
    "measure": "unveil.measure",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(_HOME[name])
    if name == "__version__":
        value: object = home.version(__name__)
    elif home.__name__ == f"{__name__}.{name}":
        value = home
    else:
        value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
