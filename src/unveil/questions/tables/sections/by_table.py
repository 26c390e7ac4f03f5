"""By table: what each table reveals, and to readers who interpret its symbols in another way."""

from unveil.metrics.counts.count_disclosure import CellDisclosure
from unveil.questions.tables.findings import TablesFindings
from unveil.report.blocks import Section, Side, TableBlock
from unveil.report.editions import people
from unveil.report.text import count, together

_READERS = {
    "any": "knows no rule",
    "rule": "knows the suppression rule",
    "zeros": "knows that zeros are shown",
}


def section(findings: TablesFindings, *, shareable: bool = False) -> Section:
    """Return the recovered cells of each table and for each reading of the symbols."""
    readings = (readings_table(findings, shareable=shareable),) if findings.symbols else ()
    linked = "Tables that share a variable reveal more together than alone. " if len(findings.tables) > 1 else ""
    return Section(
        heading="By table",
        question="Which table reveals cells, and to which reader?",
        lead=f"{linked}{_symbols(findings)}".strip(),
        blocks=(tables_table(findings, shareable=shareable),),
        data=readings,
    )


def _symbols(findings: TablesFindings) -> str:
    """Return how the suppression symbols are read."""
    if not findings.symbols:
        return ""
    symbols = together([f"“{symbol}”" if symbol else "an empty cell" for symbol in findings.symbols])
    rule = next((each for each in findings.readings if each.name == "rule"), None)
    if rule is None:
        return f"The attacker reads {symbols} as any number."
    wrong = " The microdata exclude this rule." if rule.excluded else ""
    if any(each.name == "zeros" for each in findings.readings):
        wrong += " An attacker who knows that zeros are shown reads 1 or more."
    ranges = together(dict.fromkeys(rule.ranges))
    return f"The attacker reads {symbols} as any number or, knowing the rule, as {ranges}.{wrong}"


def tables_table(findings: TablesFindings, *, shareable: bool = False) -> TableBlock:
    """Return the cells of each table, the recovered ones, and those that it reveals alone.

    In the shareable edition of several tables, a column that is small for one of them is left out for all: it would be
    the total of all tables less those of the others. So are small recovered cells, where few stand in no table.
    """
    columns: dict[str, list[int | None]] = {
        findings.treatment.capitalize() if findings.treatment != "suppressed" else "Suppressed": [
            each.suppressed for each in findings.tables
        ],
        "Recovered": [each.recovered for each in findings.tables],
        "from it alone": [each.alone for each in findings.tables],
        "Small": [each.small_cells_recovered for each in findings.tables],
    }
    whole = len(columns)
    if shareable and len(findings.tables) > 1:
        columns = {name: own for name, own in columns.items() if not any(is_few(findings, each or 0) for each in own)}
    if shareable and is_few(findings, findings.figures.small_by_differencing):
        columns.pop("Small", None)
    rows = tuple(
        (
            each.name,
            " × ".join(each.variables),
            count(each.cells),
            *("not settled" if (own := column[at]) is None else people(own) for column in columns.values()),
        )
        for at, each in enumerate(findings.tables)
    )
    right: Side = "right"
    return TableBlock(
        caption="Cells by table",
        columns=("Table", "Variables", "Cells", *columns),
        rows=rows,
        align=("left", "left", *(right for _ in range(1 + len(columns)))),
        note="Columns from which a small number could be derived are left out." if len(columns) < whole else "",
    )


def readings_table(findings: TablesFindings, *, shareable: bool = False) -> TableBlock:
    """Return what follows from each reading of the symbols."""
    rows = tuple(
        (
            _READERS[each.name] + (" (excluded by the microdata)" if each.excluded else ""),
            ", ".join(dict.fromkeys(each.ranges)) or "no symbol",
            people(each.figures.recovered),
            people(each.figures.small),
            "not shown" if shareable and not is_rest_many(findings, each.figures) else people(each.figures.approximate),
        )
        for each in findings.readings
    )
    return TableBlock(
        caption="Recovered cells by reading of the symbols",
        columns=("The attacker", "Reads a symbol as", "Recovered", "Small", "Approximate"),
        rows=rows,
        align=("left", "left", "right", "right", "right"),
        note="The first reading is always true. Thresholds apply to the reading that reveals most.",
    )


# The shareable edition states no small number, and none from which one could be derived.


def least_shared(findings: TablesFindings) -> int:
    """Return the smallest number that the redacted report states."""
    return max(findings.minimum, 3)


def is_few(findings: TablesFindings, number: int) -> bool:
    """Return whether the redacted report must omit this number."""
    return 0 < number < least_shared(findings)


def is_rest_many(findings: TablesFindings, figures: CellDisclosure) -> bool:
    """Return whether the redacted report may state the other cells."""
    if is_few(findings, figures.suppressed):
        return False
    recovered = least_shared(findings) - 1 if is_few(findings, figures.recovered) else figures.recovered
    return not is_few(findings, figures.suppressed - recovered)
