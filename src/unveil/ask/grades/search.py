"""The search for better suites in rows: the best ones found, and what holds in cases that had no say."""

from unveil.grade.cross_validation import WAYS
from unveil.grade.search import SuiteSearch
from unveil.show.blocks import Table
from unveil.ask.grades.tables import weights_text
from unveil.show.text import percent

#: So many of the suites with equal weights are shown.
MOST_EQUAL = 5


def found_table(name: str, search: SuiteSearch) -> Table:
    """Return the best single metric, the best suites with equal weights and the optimised one."""
    shown = [("single metric", each) for each in search.singles[:2]]
    shown += [("equal weights", each) for each in search.equal[:MOST_EQUAL]]
    shown += [("optimised weights", search.optimised)] if search.optimised is not None else []
    return Table(
        caption=f"Suites of {name}: those that do best in the cases that they were chosen by",
        columns=("way", "metrics and weights", "cases in order", "pairs in order"),
        rows=tuple(
            (way, weights_text(dict(each.suite.weights)), percent(each.whole), percent(each.pairs))
            for way, each in shown
        ),
        align=("left", "left", "right", "right"),
        note=" ".join(
            [f"{len(search.equal):,} suites with equal weights were tried, on {search.cases:,} cases.", *search.notes]
        ),
        prose=True,
    )


def held_out_table(searches: dict[str, SuiteSearch]) -> Table | None:
    """Return the shares in cases that had no say, and the gains over the best single metric; None without any."""
    rows = []
    for name, search in searches.items():
        for validation in search.validations:
            for way in WAYS:
                gain = validation.gains.get(way)
                told = (
                    "" if gain is None else f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
                )
                rows.append(
                    (
                        name,
                        f"{validation.groups} {validation.grouping}s",
                        way,
                        percent(search.apparent[way]),
                        percent(validation.shares[way]),
                        told,
                    )
                )
    if not rows:
        return None
    return Table(
        caption="Chosen by some cases, judged by others",
        columns=("suites of", "held out by", "way", "where chosen", "elsewhere", "gain over the best metric"),
        rows=tuple(rows),
        align=("left", "left", "left", "right", "right", "right"),
        note="The share of cases in order, and the gain in percentage points with its 95% interval. Elsewhere: in "
        "cases that had no say in the choice. All axes of an attack (or all of a data set) are held out together.",
    )
