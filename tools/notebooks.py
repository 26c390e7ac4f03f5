"""Notebooks that are kept as text: run them, and write what they show as a page and as a Jupyter notebook.

A notebook is a Python file whose cells begin with ``# %%``, or with ``# %% [markdown]`` for text, as jupytext, VS Code
and Spyder know them. Running one needs no Jupyter: the value of the last line of a cell is shown, as there.
"""

import ast
import io
import json
import re
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.environment import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.py"))
_MARKER = re.compile(r"^# %%(?: \[(markdown)\])?\n", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A piece of text or of code."""

    is_text: bool
    source: str


def cells_of(text: str) -> list[Cell]:
    """Return the cells of a notebook in their order."""
    _, *parts = _MARKER.split(text)
    made = []
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        source = re.sub(r"^# ?", "", body, flags=re.MULTILINE) if kind else body
        made.append(Cell(kind == "markdown", source.strip()))
    return made


def page_of(path: Path, folder: Path) -> None:
    """Run a notebook, and write its page, its pictures, its reports and the same as a Jupyter notebook to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = cells_of(path.read_text(encoding="utf-8"))
    variables: dict[str, Any] = {"__name__": "__main__"}
    parts, title = [], path.stem
    for number, cell in enumerate(cells):
        if cell.is_text:
            headings = re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)
            title = headings[-1] if headings else title
            parts.append(cell.source)
        else:
            parts += [
                f"```python\n{cell.source}\n```",
                *_shown(cell, variables, folder, f"{path.stem}-{number}", title),
            ]
    first, _, rest = "\n\n".join(parts).partition("\n")
    as_files = f"[The same as a Jupyter notebook]({path.stem}.ipynb), and [as text]({path.name})."
    (folder / f"{path.stem}.md").write_text(f"{first}\n{rest}\n\n{as_files}\n", encoding="utf-8")
    (folder / f"{path.stem}.ipynb").write_text(jupyter(cells), encoding="utf-8")


def _shown(cell: Cell, variables: dict[str, Any], folder: Path, name: str, title: str) -> list[str]:
    """Run a cell in the folder, and return what it shows as Markdown."""
    from matplotlib import pyplot

    said = io.StringIO()
    with redirect_stdout(said), chdir(folder):
        value = _run(cell.source, variables, name)
    shown = [_fenced(said.getvalue())] if said.getvalue() else []
    if hasattr(value, "to_html") and hasattr(value, "findings"):
        (folder / f"{name}.html").write_text(value.to_html(), encoding="utf-8")
        shown += [_fenced(repr(value)), f"[The whole report]({name}.html)"]
    elif value is not None:
        shown.append(_fenced(repr(value)))
    for each in pyplot.get_fignums():
        pyplot.figure(each).savefig(folder / f"{name}-{each}.png", dpi=110, bbox_inches="tight")
        shown.append(f"![{title}: the picture that this code draws]({name}-{each}.png)")
    pyplot.close("all")
    return shown


def _run(source: str, variables: dict[str, Any], name: str) -> Any:
    """Run the code of a cell, and return the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    exec(compile(tree, name, "exec"), variables)  # noqa: S102 - the notebooks of this project
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), name, "eval"), variables)  # noqa: S307


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def jupyter(cells: list[Cell]) -> str:
    """Return the cells as a Jupyter notebook that has not been run."""
    made: list[dict[str, Any]] = []
    for number, cell in enumerate(cells):
        own: dict[str, Any] = {} if cell.is_text else {"execution_count": None, "outputs": []}
        kind = "markdown" if cell.is_text else "code"
        lines = cell.source.splitlines(keepends=True)
        made.append({"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **own})
    whole = {"cells": made, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
