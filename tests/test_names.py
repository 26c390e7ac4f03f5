"""Names that readers can search for: the packages are plural nouns, and no old name is left."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The packages before they got their names; verbs are for functions.
OLD_PACKAGES = {"protect", "attack", "guess", "measure", "study", "grade", "show", "ask"}
SOURCES = [
    path for folder in ("src", "tests", "tools", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")
]


def imported(source: str) -> set[str]:
    """Return the names below ``unveil`` from which a module imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        found |= {name.split(".")[1] for name in names if name.startswith("unveil.")}
    return found


def test_no_old_package_is_imported() -> None:
    assert len(SOURCES) > 1000
    assert [path for path in SOURCES if imported(path.read_text(encoding="utf-8")) & OLD_PACKAGES] == []


def test_no_old_package_is_left() -> None:
    for folder in (ROOT / "src" / "unveil", ROOT / "tests"):
        assert {path.name for path in folder.iterdir() if path.is_dir()} & OLD_PACKAGES == set()


def test_an_old_import_would_be_seen() -> None:
    assert imported("import unveil.ask.audit\nfrom unveil.show import page\nfrom unveil import study") == {
        *("ask", "show", "study"),
    }
