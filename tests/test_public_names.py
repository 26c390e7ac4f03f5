"""Every public name exists and says what it is; every version number is the same one."""

import inspect
import pkgutil
import tomllib
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import unveil
from unveil._lazy import reexports

ROOT = Path(__file__).parent.parent


def public_modules() -> list[ModuleType]:
    """Return unveil and every module below it that has no underscore in its path."""
    names = [info.name for info in pkgutil.walk_packages(unveil.__path__, "unveil.")]
    return [unveil, *(import_module(name) for name in names if "._" not in name)]


def public_objects() -> dict[str, Any]:
    """Return what ``__all__`` of every public module names, by its full name."""
    return {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in public_modules()
        for name in getattr(module, "__all__", ())
    }


def without_docstring(name: str, thing: Any) -> list[str]:
    """Return the names of ``thing`` and its public members whose docstring is missing or not a sentence."""
    if not (isinstance(thing, (ModuleType, type, property)) or hasattr(thing, "__get__")):
        return []  # a constant: its type's docstring says nothing about it
    members = vars(thing) if isinstance(thing, type) else {}
    # The fields of a named tuple are told by its own docstring.
    fields = getattr(thing, "_fields", ())
    public = [(key, member) for key, member in members.items() if not key.startswith("_") and key not in fields]
    below = [wrong for key, member in public for wrong in without_docstring(f"{name}.{key}", member)]
    text = thing.__doc__ or ""
    # A dataclass without a docstring gets its signature as one.
    made_up = isinstance(thing, type) and text.startswith(f"{thing.__name__}(")
    says = inspect.cleandoc(text).partition("\n")[0].endswith((".", "?")) and not made_up
    return below if says else [name, *below]


def test_every_public_module_says_what_it_is() -> None:
    wrong = [name for module in public_modules() for name in without_docstring(module.__name__, module)]
    assert wrong == []


def test_every_public_name_says_what_it_is() -> None:
    objects = public_objects()
    assert len(objects) >= len(unveil.__all__)
    assert [wrong for name, thing in objects.items() for wrong in without_docstring(name, thing)] == []


def test_every_subpackage_lists_its_names() -> None:
    packages = [module for module in public_modules() if hasattr(module, "__path__")]
    assert {"unveil", "unveil.guesses"} <= {package.__name__ for package in packages}
    for package in packages:
        names = getattr(package, "__all__", [])
        assert len(names) == len(set(names)), package.__name__
        assert set(names) <= set(dir(package)), package.__name__


def test_a_missing_docstring_is_seen() -> None:
    class Bare:
        """Fine."""

        def method(self) -> None: ...

        @property
        def fact(self) -> int:
            """No full stop"""
            return 1

    assert without_docstring("Bare", Bare) == ["Bare.method", "Bare.fact"]
    assert without_docstring("lambda", FunctionType(compile("0", "", "eval"), {})) == ["lambda"]


@pytest.mark.parametrize(
    ("package", "name", "home"),
    [
        (unveil.attacks, "Linkability", "table.linkability"),
        (unveil.protections, "Mondrian", "table.mondrian"),
        (unveil.metrics, "entropy", "candidates.uncertainty"),
        (unveil.data, "samples", "samples"),
        (unveil, "columns", "questions.columns.answer"),
    ],
)
def test_the_lines_for_type_checkers_are_the_names_of_a_package(package: ModuleType, name: str, home: str) -> None:
    homes = reexports(package.__name__)
    assert homes[name] == home
    assert sorted(homes) == sorted(package.__all__)
    assert {"reexports", "TYPE_CHECKING", "import_module"}.isdisjoint(homes)


def test_names_are_what_their_home_has() -> None:
    from unveil.errors import InputError
    from unveil.guesses.partition import Partition

    assert unveil.Partition is Partition
    assert unveil.InputError is InputError
    assert unveil.guesses is import_module("unveil.guesses")
    assert set(unveil.__all__) <= set(dir(unveil))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'unveil' has no attribute 'Partitions'"):
        unveil.Partitions  # noqa: B018


def test_there_is_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert unveil.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
