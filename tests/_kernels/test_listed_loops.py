"""Every loop that is ever compiled is listed with its types, is warmed, and calls nothing that is slow to compile."""

import ast
import inspect
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
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

LISTED = listed_loops()


def compiled_by_name() -> Iterator[str]:
    """Yield each name that a module of unveil passes to ``compiled``, with the module."""
    source = Path(unveil.__file__).parent
    for path in sorted(source.rglob("*.py")):
        module = ".".join(("unveil", *path.relative_to(source).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "compiled":
                continue
            if isinstance(node.args[0], ast.Name) and path.name not in ("_compile.py", "_warm_up.py"):
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
    assert unlisted == []
    assert len(LISTED) > 80


@pytest.mark.parametrize("name", LISTED)
def test_a_listed_loop_is_warmed_for_all_its_arguments(name: str) -> None:
    loop = LISTED[name]
    assert loop.types, f"write the types of its arguments on the decorator of {name}, as others do"
    parameters = inspect.signature(loop.function).parameters
    for types in loop.types:
        assert len(numba_types(types, loop.function.__globals__)) == len(parameters)


@pytest.mark.parametrize("name", LISTED)
def test_a_loop_calls_nothing_that_is_slow_to_compile(name: str) -> None:
    loop = LISTED[name]
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


class Pair(NamedTuple):
    first: Any
    second: Any


@pytest.mark.parametrize("several", [(np.arange(3), np.ones(2)), (np.arange(3), np.arange(2))])
def test_types_are_those_that_numba_finds_itself(several: tuple[Any, Any]) -> None:
    locked, turned = np.arange(3), np.ones((2, 2), order="F")
    locked.flags.writeable = False
    given = (locked, turned, np.ones((2, 2), np.int32)[:, 0], 3, 0.5, True, np.random.default_rng(1), Pair(*several))
    typeof: Any = numba.typeof
    second = "f8[]" if several[1].dtype == np.float64 else "i8[]"
    written = f"const i8[], f8[,]F, i4[]A, i8, f8, b1, rng, Pair(i8[], {second})"
    assert numba_types(written, globals()) == tuple(map(typeof, given))


def test_a_warmed_loop_is_loaded_by_the_next_process(tmp_path: Path) -> None:
    program = (
        "from unveil._kernels._warm_up import folder_of, warm\n"
        "done = warm('unveil.protections.graph.graph_anon:_limit')\nprint(done.seconds > 0, folder_of([done]))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert [line[0] for line in said] == ["True", "False"]
    assert all(line[1].startswith(str(tmp_path)) for line in said)
