"""The tables of a report on grades for a paper: the ranking, factors, suites and the search for better ones."""

from unveil.ask.grades.findings import GradesFindings
from unveil.ask.grades.tables import (
    example_table,
    found_table,
    group_table,
    held_out_table,
    ranking_table,
    suite_score_table,
    suite_table,
    term_table,
)
from unveil.show import latex
from unveil.show.blocks import Table


def to_latex(found: GradesFindings) -> str:
    """Return all tables, each as a ``table`` environment with a label that begins with ``tab:``."""
    names = ", ".join(each.study.name for each in found.studies)
    told: list[tuple[str, Table | None]] = [
        ("tab:ranking", ranking_table(found)),
        *((f"tab:factors-{each.response.replace('_', '-')}", term_table(found, each)) for each in found.factors),
        ("tab:variance", group_table(found)),
        ("tab:suites", suite_table(found)),
        ("tab:suite-scores", suite_score_table(found)),
        ("tab:suite-example", example_table(found)),
        ("tab:held-out", held_out_table(dict(found.grades.searches))),
        *(
            (f"tab:search-{number}", found_table(name, search))
            for number, (name, search) in enumerate(found.grades.searches.items(), start=1)
        ),
    ]
    return latex.document(
        [(label, table) for label, table in told if table is not None],
        comment=(
            f"Grades of privacy metrics, judged by: {names}.",
            f"Made by unveil {found.version}. Read it with \\input; it needs no package.",
        ),
    )
