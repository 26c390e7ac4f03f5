"""Report tables as escaped LaTeX without extra packages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from unveil.report.blocks import TableBlock
from unveil.report.text import plain

#: What LaTeX gives a meaning to, and letters that its usual fonts lack.
_SPELT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # A straight quote needs another encoding of fonts than the usual one.
    '"': "''",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "−": r"$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "²": r"\textsuperscript{2}",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "…": r"\ldots{}",
    "�": "?",
    "\u00a0": "~",
}
_TABLE = str.maketrans(_SPELT)
_MOST_ROWS = 45
#: The last letter that every LaTeX shows without a package: behind it are those that are not of Europe's west.
_LAST_KNOWN = 0x17F
_OTHER_LETTERS = "Some names have letters that pdfLaTeX lacks: use XeLaTeX or LuaLaTeX, and a font that has them."


def escape(text: object) -> str:
    r"""Return any text as one line of escaped LaTeX.

    >>> print(escape("entropy_2 < 50% & {x}"))
    entropy\_2 \textless{} 50\% \& \{x\}
    """
    # Two hyphens would become a dash: a setting such as --limit stays as it is written.
    return plain(text).translate(_TABLE).replace("--", "-{}-") if str(text) else ""


def table(shown: TableBlock, *, label: str = "") -> str:
    r"""Return a ``table`` environment with caption, columns, rows, and note.

    >>> small = TableBlock(caption="Means", columns=("metric", "mean"), rows=(("a_b", "50%"),), align=("left", "right"))
    >>> print(table(small, label="tab:means"))
    \begin{table}
    \centering
    \caption{Means}
    \label{tab:means}
    \begin{tabular}{lr}
    \hline
    metric & mean \\
    \hline
    a\_b & 50\% \\
    \hline
    \end{tabular}
    \end{table}
    """
    sides = "".join(
        "p{6.5cm}" if shown.prose and side == "left" and at else side[0] for at, side in enumerate(shown.align)
    )
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(shown.caption)}}}",
        *([rf"\label{{{label}}}"] if label else []),
        rf"\begin{{tabular}}{{{sides}}}",
        r"\hline",
        *([_row(shown.columns), r"\hline"] if any(shown.columns) else []),
        *(_row(row) for row in shown.rows),
        r"\hline",
        r"\end{tabular}",
        *([rf"\par\smallskip\footnotesize {escape(shown.note)}"] if shown.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines)


def document(tables: Iterable[tuple[str, TableBlock]], *, comment: Sequence[str] = ()) -> str:
    r"""Return labeled tables for ``\input``, after comment lines.

    A table of many rows is cut in several of at most 45, each of which fits a page.
    """
    parts = []
    for label, whole in tables:
        for number, shown in enumerate(_pages(whole)):
            parts += ["", table(shown, label=f"{label}-{number + 1}" if number else label)]
    said = [*comment, *([_OTHER_LETTERS] if max(map(ord, "".join(parts)), default=0) > _LAST_KNOWN else [])]
    return "\n".join([*(f"% {plain(line)}" for line in said), *parts]) + "\n"


def _pages(whole: TableBlock) -> list[TableBlock]:
    pages = [whole.rows[at : at + _MOST_ROWS] for at in range(0, max(len(whole.rows), 1), _MOST_ROWS)]
    more = [replace(whole, rows=rows, caption=f"{whole.caption} (continued)", note="") for rows in pages[1:]]
    return [replace(whole, rows=pages[0]), *more]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"
