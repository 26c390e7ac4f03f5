"""Names that readers can search for: packages, modules and classes are nouns, and parameters say what they hold."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "unveil"
#: The packages before they got their names; verbs are for functions.
OLD_PACKAGES = {"protect", "attack", "guess", "measure", "study", "grade", "show", "ask"}
OLD_MODULES = {
    *(
        "questions.told",
        "questions.audit.held",
        "questions.audit.kept",
        "questions.audit.said",
        "questions.audit.bench",
    ),
    *("questions.audit.trials", "questions.audit.clearest", "questions.audit.paper", "questions.audit.asserted"),
    *(
        "questions.audit.scenario",
        "questions.audit.risks",
        "questions.audit.attacks.memory",
        "questions.graph.disclosed",
    ),
    *("report.bounded", "studies.made", "studies.made_folder", "studies.given", "studies.attacked", "studies.audited"),
    *("metrics.epsilon.needed", "metrics.partitions.others", "attacks.table._compared", "data.files.packed"),
    *("data.files.stored", "_listed", "_kernels.counts.seen"),
}
OLD_CLASSES = {
    *("Told", "Reply", "AskedError", "Home", "KeptResults", "ReleaseBench", "Paper", "Weight", "Links", "How", "Asked"),
    *("AskedTables", "AuditOrder", "DrawnPeople", "RowsOfPeople", "Way", "EpsilonFound"),
}
#: Words that name nothing by themselves: pronouns, and participles that do not end in "ed".
NAMELESS = {
    *(
        "all",
        "another",
        "any",
        "around",
        "begun",
        "beyond",
        "both",
        "bought",
        "bound",
        "built",
        "caught",
        "chosen",
        "cut",
    ),
    *(
        "done",
        "drawn",
        "each",
        "found",
        "given",
        "gone",
        "held",
        "hidden",
        "kept",
        "known",
        "left",
        "lent",
        "lost",
        "made",
    ),
    *("meant", "met", "one", "other", "others", "paid", "put", "said", "seen", "sent", "set", "shown", "some", "spent"),
    *(
        "spread",
        "swept",
        "taken",
        "taught",
        "that",
        "these",
        "thrown",
        "told",
        "what",
        "which",
        "whom",
        "worn",
        "written",
    ),
}
#: Nouns among them.
NOUNS = {"bound", "cut", "need", "seed", "set", "spread"}
#: A parameter says what it holds: ``findings``, not ``found``; ``at_most``, not ``most``.
PARAMETERS = {"found", "told", "most", "least"}
#: ``SuppressedNumber`` is made from its two ends, which are its attributes.
ATTRIBUTES = {("report/suppressed_number.py", "least"), ("report/suppressed_number.py", "most")}


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module of the package."""
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}


def classes(tree: ast.Module) -> list[str]:
    """Return the names of classes and of aliases of types in a module."""
    aliases = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)] + [
        target.id
        for target in aliases
        if isinstance(target, ast.Name) and re.fullmatch(r"[A-Z][a-z]\w*", target.id) and target.id[1:] != target.id
    ]


def parameters(tree: ast.Module) -> set[str]:
    """Return the names of all parameters of a module's functions; those of a lambda are not part of any call."""
    functions = (node.args for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {each.arg for of in functions for each in (*of.posonlyargs, *of.args, *of.kwonlyargs)}


def is_nameless(name: str) -> bool:
    """Return whether a name is a single participle or pronoun."""
    word = name.strip("_")
    if re.search(r"_|[a-z0-9][A-Z]", word):
        return False
    return (word.lower() in NAMELESS or word.lower().endswith("ed")) and word.lower() not in NOUNS


def imported(source: str) -> set[str]:
    """Return the packages below ``unveil`` from which a module imports."""
    lines = re.findall(r"^\s*(?:from|import) unveil\b[^\n(]*(?:\([^)]*\))?", source, re.MULTILINE)
    dotted = {name for line in lines for name in re.findall(r"(?:from|import) unveil\.(\w+)", line)}
    plain = {name for line in lines for name in re.findall(r"\w+", line.partition("from unveil import")[2])}
    return dotted | plain


def test_no_old_package_is_imported() -> None:
    sources = [
        path for folder in ("src", "tests", "tools", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")
    ]
    assert len(sources) > 1000
    assert [path for path in sources if imported(path.read_text(encoding="utf-8")) & OLD_PACKAGES] == []


def test_no_old_package_or_module_is_left() -> None:
    for folder in (SOURCE, ROOT / "tests"):
        assert {path.name for path in folder.iterdir() if path.is_dir()} & OLD_PACKAGES == set()
    assert {name.removesuffix(".py").replace("/", ".") for name in trees()} & OLD_MODULES == set()


def test_no_old_class_is_left() -> None:
    assert {
        name: set(classes(tree)) & OLD_CLASSES for name, tree in trees().items() if set(classes(tree)) & OLD_CLASSES
    } == {}


def test_no_module_or_class_is_a_participle_or_pronoun() -> None:
    modules = [name for name in trees() if any(is_nameless(part) for part in name.removesuffix(".py").split("/"))]
    assert modules == []
    assert {
        name: bad for name, tree in trees().items() if (bad := [each for each in classes(tree) if is_nameless(each)])
    } == {}


def test_a_class_name_is_used_once() -> None:
    names = Counter(node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert len(names) > 800
    assert [name for name, number in names.items() if number > 1] == []


def test_parameters_say_what_they_hold() -> None:
    found = {(name, each) for name, tree in trees().items() for each in parameters(tree) & PARAMETERS}
    assert found - ATTRIBUTES == set()


@pytest.mark.parametrize("name", ["Held", "_Made", "told", "Both", "Measured", "_declared", "One"])
def test_a_nameless_name_would_be_seen(name: str) -> None:
    assert is_nameless(name)
    assert not any(map(is_nameless, ("ResultCache", "held_items", "Seed")))


def test_old_imports_and_parameters_would_be_seen() -> None:
    source = "import unveil.ask.audit\nfrom unveil.show import page\nfrom unveil import (\n    study,\n)"
    assert imported(source) == {"ask", "show", "study"}
    assert parameters(ast.parse("def f(a, *, told): ...")) == {"a", "told"}
    assert classes(ast.parse("class A: ...\nTold = int\nB = 3")) == ["A", "Told"]
