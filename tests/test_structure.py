"""An algorithm is one file: small modules lie in their only user, kernels serve several, and folders stay small."""

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

import pytest

from tests.test_layers import imported, modules
from unveil.attacks import ATTACKS
from unveil.metrics import METRICS
from unveil.protections import PROTECTIONS
from unveil.questions import QUESTIONS
from unveil.questions.audit.attacks import ATTACKS as AUDIT_ATTACKS

#: Code lines below which a module with one importer belongs in it, and that no merged file may exceed.
SMALL, LARGEST = 70, 400
#: Files that a folder may hold, without its `__init__` and those that a registry lists.
FOLDER = 20

#: Modules that may stay for now, with the reason. An entry leaves the list with its reason; none joins it.
MODULES = {"unveil._kernels._warm_up": "worker processes import it, without the command line"}
#: Folders that may hold more for now: how many files at most, and the reason.
FOLDERS = {
    "unveil.data.table": (29, "the modules of cells and of dictionaries get folders"),
    "unveil.studies": (22, "the modules of results and of generators get folders"),
}


def code_lines(source: str) -> int:
    """Return the number of lines without blank ones, comments and docstrings.

    >>> code_lines('x = 1  # one\\n\\n# two\\ndef f():\\n    "Three."\\n    return (\\n        1\\n    )\\n')
    5
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            lines |= {*range(token.start[0], token.end[0] + 1)} if token.string else set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines -= {*range(first.lineno, (first.end_lineno or first.lineno) + 1)}
    return len(lines)


def importers(sources: Mapping[str, str], packages: set[str]) -> dict[str, set[str]]:
    """Return for each module of ``sources`` the other ones that import from it."""
    users: dict[str, set[str]] = defaultdict(set)
    for module, source in sources.items():
        for name in imported(source, module, is_package=module in packages):
            used = name if name in sources else name.rpartition(".")[0]
            users[used] |= {module} - {used}
    return users


def misplaced(sources: Mapping[str, str], packages: set[str]) -> dict[str, str]:
    """Return modules that belong in their only importer, with it.

    Those are small ones, and kernels of any size whose importer is no kernel. What a package's `__init__` imports is
    loaded from a list, and what would exceed the largest size stays apart.
    """
    found = {}
    for module, users in importers(sources, packages).items():
        if len(users) != 1 or module in packages or module not in sources:
            continue
        (user,) = users
        lines = code_lines(sources[module])
        is_kernel = ("._kernels." in module) > ("._kernels." in user)
        if user not in packages and (lines < SMALL or is_kernel) and lines + code_lines(sources[user]) <= LARGEST:
            found[module] = user
    return found


def _sources() -> tuple[dict[str, str], set[str]]:
    found = modules()
    packages = {name for name, path in found if path.name == "__init__.py"}
    return {name: path.read_text(encoding="utf-8") for name, path in found}, packages


@cache
def _misplaced() -> dict[str, str]:
    settings = {f"unveil.questions.{each.folder}.{each.table.partition(':')[0]}" for each in QUESTIONS.values()}
    found = misplaced(*_sources()).items()
    return {module: user for module, user in found if module not in settings and ".sections." not in module}


def _listed() -> set[str]:
    """Return the modules that a registry lists."""
    return {
        *(each.make.__module__ for each in (*ATTACKS.values(), *PROTECTIONS.values())),
        *(each.function.__module__ for each in METRICS.values()),
        *(each.run.__module__ for each in AUDIT_ATTACKS.values()),
    }


@cache
def _sizes() -> dict[str, int]:
    """Return how many files each folder holds that no registry lists."""
    sources, packages = _sources()
    sizes: dict[str, int] = defaultdict(int)
    for module in sources.keys() - packages - _listed():
        if ".sections." in module:  # a report lists its sections
            continue
        sizes[module.rpartition(".")[0]] += 1
    return sizes


def test_a_module_with_one_small_use_lies_in_its_user() -> None:
    found = _misplaced()
    assert found.keys() - MODULES.keys() == set(), f"merge each into its importer: {found}"


def test_folders_stay_small() -> None:
    large = {name: size for name, size in _sizes().items() if size > FOLDERS.get(name, (FOLDER, ""))[0]}
    assert large == {}, "merge modules, or split the folder by topic"


def test_exceptions_leave_the_lists() -> None:
    assert MODULES.keys() - _misplaced().keys() == set(), "take them off the list"
    assert [name for name in FOLDERS if _sizes()[name] <= FOLDER] == [], "take them off the list"


@pytest.mark.parametrize(
    ("module", "lines", "users", "expected"),
    [
        ("unveil.data.small", 69, ("unveil.data.user",), True),
        ("unveil.data.small", 70, ("unveil.data.user",), False),
        ("unveil.data.small", 69, ("unveil.data.user", "unveil.data.other"), False),
        ("unveil.data.small", 69, ("unveil.data",), False),
        ("unveil._kernels.loops", 300, ("unveil.data.user",), True),
        ("unveil._kernels.loops", 300, ("unveil._kernels.user",), False),
        ("unveil._kernels.loops", 400, ("unveil.data.user",), False),
    ],
)
def test_a_misplaced_module_is_seen(module: str, lines: int, users: tuple[str, ...], expected: bool) -> None:
    sources = dict.fromkeys(users, f"def late():\n    from {module} import x")
    assert (module in misplaced({module: "x = 1\n" * lines, **sources}, {"unveil.data"})) == expected
