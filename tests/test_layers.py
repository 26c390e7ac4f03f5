"""Imports point down the list of layers, so that every module can be read without those above it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import unveil

SOURCE = Path(unveil.__path__[0])

# From the ground up. What shares a line may import one another, except where APART says no.
LAYERS = (
    {"errors", "_lazy", "_optional", "_version", "_specification", "_registry", "_figure"},
    {"_kernels"},
    {"data"},
    {"guesses"},
    {"protections", "attacks", "metrics"},
    {"anonymeter"},
    {"work"},
    {"studies"},
    {"grades"},
    {"report"},
    {"questions"},
    {"web", "cli", "__main__", "__init__"},
)
APART = {"protections", "attacks", "metrics"}
#: A part that nothing imports, with what it does without: it can be taken out as it is.
ALONE = {"anonymeter": {"protections", "attacks"}}
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}

# Inside a question, from what is told and found to who answers. What shares a line may import one another.
STEPS = (
    {"settings", "findings"},
    {"read", "run"},
    {"words"},
    {"tables", "charts"},
    {"sections"},
    {"view"},
    {"answer"},
)
STEP = {name: step for step, names in enumerate(STEPS) for name in names}
#: What shows findings reads no file and attacks nothing.
SHOWN = {"words", "tables", "charts", "sections", "view"}


def imported(source: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Yield the full name of everything of unveil that ``source`` imports, also inside functions."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "unveil")
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            home = ".".join([*above, *filter(None, [node.module])])
            if home.split(".")[0] == "unveil":
                yield from (f"{home}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            texts = [word.value for word in node.args[:1] if isinstance(word, ast.Constant)]
            yield from (text for text in texts if isinstance(text, str) and text.split(".")[0] == "unveil")


def part_of(name: str) -> str:
    """Return the layer's part that a full name belongs to; the package itself is the roof."""
    words = name.split(".")
    return words[1] if len(words) > 1 and words[1] in LEVEL else "__init__"


def violations(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """Return every import of ``source`` that does not point down."""
    own = part_of(module)
    wrong = []
    for name in imported(source, module, is_package=is_package):
        other = part_of(name)
        upward = LEVEL[other] > LEVEL[own] or (other != own and {own, other} <= APART)
        upward |= (other in ALONE and other != own) or other in ALONE.get(own, ())
        # A kernel takes and returns arrays: it knows no class of unveil, not even those from below.
        is_class = name.rpartition(".")[2].lstrip("_")[:1].isupper()
        if upward or (own == "_kernels" and other != own and is_class) or _crosses(module, name):
            wrong.append(f"{module} imports {name}")
    return wrong


def _crosses(module: str, name: str) -> bool:
    """Return whether a question imports another one, or a later step of its own; what two share is in `report`."""
    own, other = module.split("."), name.split(".")
    if own[1:2] != ["questions"] or other[1:2] != ["questions"] or len(own) < 4 or len(other) < 4:
        return False
    if own[2] != other[2]:
        return (SOURCE / "questions" / other[2]).is_dir()
    here, there = STEP.get(own[3]), STEP.get(other[3])
    if here is None or there is None:
        return False
    return there > here or (own[3] in SHOWN and other[3] in ("read", "run"))


def modules() -> list[tuple[str, Path]]:
    names = []
    for path in sorted(SOURCE.rglob("*.py")):
        words = ["unveil", *path.relative_to(SOURCE).with_suffix("").parts]
        names.append((".".join(words[:-1] if words[-1] == "__init__" else words), path))
    return names


@pytest.mark.parametrize(("module", "path"), modules(), ids=[name for name, _ in modules()])
def test_imports_point_down(module: str, path: Path) -> None:
    assert violations(path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py") == []


def test_every_part_has_a_layer() -> None:
    parts = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for _, path in modules()}
    assert parts - set(LEVEL) == set(), "give the new part a place in LAYERS"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("unveil.guesses.partition", "import unveil.metrics.partitions.unlinkability"),
        ("unveil.guesses.partition", "from unveil import metrics"),
        ("unveil.guesses.partition", "from unveil import Partition"),
        ("unveil.guesses.partition", "import unveil"),
        ("unveil.guesses.partition", "from ..measure import unlinkability"),
        ("unveil.guesses.partition", "from .. import show"),
        ("unveil.guesses.partition", "def late():\n    from unveil.report import page"),
        ("unveil.guesses.partition", "def late():\n    return importlib.import_module('unveil.questions')"),
        ("unveil.guesses.partition", "if TYPE_CHECKING:\n    from unveil.studies.grid import Grid"),
        ("unveil.metrics.candidates.error", "from unveil.attacks.graph import Walk"),
        ("unveil.attacks.table", "from unveil.protections import noise"),
        ("unveil.anonymeter.linkability", "from unveil.attacks.table.linkability import Linkability"),
        ("unveil.questions.audit.run", "from unveil.anonymeter import LinkabilityEvaluator"),
        ("unveil.cli.common", "def late():\n    from unveil import anonymeter"),
        ("unveil.report.page", "from unveil.questions.unlinkability.answer import unlinkability"),
        ("unveil.errors", "from unveil._kernels import permanent"),
        ("unveil._kernels.permanent", "from unveil.guesses import Partition"),
        ("unveil._kernels.permanent", "from unveil.errors import InputError"),
        ("unveil.questions.graph.view", "from unveil.questions.attack_metrics.words import matched_headline"),
        ("unveil.questions.graph.findings", "from unveil.questions.graph.run import run"),
        ("unveil.questions.graph.run", "from unveil.questions.graph.view import page"),
        ("unveil.questions.graph.words", "from unveil.questions.graph.tables import metric_table"),
        ("unveil.questions.graph.view", "from unveil.questions.graph.run import attack_all"),
        ("unveil.questions.graph.sections.edges", "from unveil.questions.graph.view import page"),
    ],
)
def test_a_violation_is_seen(module: str, source: str) -> None:
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "unveil.metrics.candidates.error",
            "from unveil.guesses import Partition\nfrom unveil.metrics._listing import metric",
        ),
        ("unveil.metrics.candidates.error", "import numpy as np\nfrom unveiled import everything"),
        ("unveil._kernels.permanent", "from unveil._kernels._compile import kernel\nfrom ._types import FloatArray"),
        ("unveil.cli.partition", "from unveil import questions\nfrom unveil.web import serve"),
        (
            "unveil.anonymeter.results",
            "from unveil.metrics.trials import risk\nfrom unveil.anonymeter.frames import frames_of",
        ),
        ("unveil.report.page", "from unveil._version import __version__"),
        ("unveil._optional", "from unveil.errors import MissingExtraError"),
        (
            "unveil.questions.graph.view",
            "from unveil.questions.graph.tables import table\nfrom unveil.questions.result import View",
        ),
        (
            "unveil.questions.graph.answer",
            "from unveil.questions.graph.run import run\nfrom unveil.questions.graph.view import VIEW",
        ),
    ],
)
def test_what_points_down_is_allowed(module: str, source: str) -> None:
    assert violations(source, module) == []


def test_relative_imports_of_a_package_are_its_own() -> None:
    assert violations("from .partition import Partition", "unveil.guesses", is_package=True) == []
    assert violations("from ..questions import unlinkability", "unveil.guesses", is_package=True) == [
        "unveil.guesses imports unveil.questions.unlinkability"
    ]
