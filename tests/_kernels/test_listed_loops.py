"""Every loop that is ever compiled is listed with its types, is warmed, and calls nothing that is slow to compile."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import unveil
from unveil._kernels._compile import LOOPS, Loop, helpers
from unveil._kernels._warm_up import listed_loops, numba_types

#: Library code that takes the compiler longer than the loop around it, or brings in code for messages as text.
SLOW = {
    "sort",
    "argsort",
    "lexsort",
    "unique",
    "concatenate",
    "searchsorted",
    "flatnonzero",
    "nonzero",
    "where",
    "stack",
}
#: Values written to a part of an array at once: that brings in what broadcasting says if shapes do not fit.
PART = "a part at once"
#: Folders whose loops have no types on their decorators yet; warming passes over them.
UNTYPED = ("unveil._kernels.neighbours.", "unveil._kernels.membership.", "unveil._kernels.verdict.")

LISTED = listed_loops()


def compiled_by_name() -> Iterator[str]:
    """Yield each name that a module of unveil passes to ``compiled``, with the module."""
    source = Path(unveil.__file__).parent
    for path in sorted(source.rglob("*.py")):
        module = ".".join(("unveil", *path.relative_to(source).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "compiled"
            if is_call and isinstance(node.args[0], ast.Name) and not path.name.startswith("_"):
                yield f"{module}:{node.args[0].id}"


def _is_one_number(value: ast.expr) -> bool:
    """Return whether it is a number or a constant by name, or several of them."""
    several = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [each.id for each in several if isinstance(each, ast.Name)]
    return all(isinstance(each, ast.Constant | ast.Name | ast.Attribute) for each in several) and all(
        name.isupper() for name in names
    )


def slow_calls(function: Callable[..., Any]) -> set[str]:
    """Return what in a function makes compiling slow."""
    found = set()
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SLOW:
            found.add(node.func.attr)
        if isinstance(node, ast.Assign | ast.AugAssign) and not _is_one_number(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Slice)]
            found |= {PART} if parts else set()
    return found


def test_whatever_is_compiled_is_listed() -> None:
    names = {name.split(":")[1] for name in LISTED}
    unlisted = [name for name in compiled_by_name() if name.split(":")[1] not in names]
    assert [name for name in unlisted if not name.startswith(UNTYPED)] == []
    assert len(LISTED) > 80


@pytest.mark.parametrize("name", [name for name in LISTED if not name.startswith(UNTYPED)])
def test_a_listed_loop_is_warmed_for_all_its_arguments(name: str) -> None:
    loop = LISTED[name]
    assert loop.types, f"write the types of its arguments on the decorator of {name}, as others do"
    parameters = inspect.signature(loop.function).parameters
    for types in loop.types:
        assert len(numba_types(types, loop.function.__globals__)) == len(parameters)


@pytest.mark.parametrize("name", LISTED)
def test_a_loop_calls_nothing_that_is_slow_to_compile(name: str) -> None:
    loop = LISTED[name]
    if name.startswith(UNTYPED):
        return
    slow = {call for function in (loop.function, *helpers(loop.function)) for call in slow_calls(function)}
    assert slow == set(loop.uses), "write it as a loop, or say on the decorator what it uses all the same, and why"


def test_slow_calls_are_seen() -> None:
    def sorts(values: Any) -> Any:
        values[1:] = values[:-1]
        values[:] = 0
        values.sort()
        return values

    assert slow_calls(sorts) == {PART, "sort"}
    assert isinstance(LOOPS[next(iter(LISTED.values())).function], Loop)
