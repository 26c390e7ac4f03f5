"""The figures about published counts as text: the same on the page and in the terminal."""

from unveil.metrics.counts.count_disclosure import CountFigures
from unveil.questions.tables.findings import GroupFindings, RankedRecord, RecordFindings, RepairFindings, TablesFindings
from unveil.questions.tables.repair_words import undecided
from unveil.questions.tables.words import blind_text, sum_text
from unveil.report.blocks import Number, Side, TableBlock
from unveil.report.editions import people
from unveil.report.text import count, percent

_LEFT: tuple[Side, ...] = ("left", "left")
_RIGHT: tuple[Side, ...] = ("right", "right", "right", "right")
#: So many sums are shown in a terminal.
FEW_STEPS = 10


def key_numbers(findings: TablesFindings, *, shareable: bool = False) -> tuple[Number, ...]:
    """Return the figures that matter most, each with one sentence; how many people there are is internal."""
    figures, word = findings.figures, findings.treatment

    def few(number: int) -> bool:
        return shareable and is_few(findings, number)

    numbers = [
        Number(
            label="Worked out",
            value=people(
                figures.worked_out, pattern="{}" if few(figures.hidden) else f"{{}} of {count(figures.hidden)}"
            ),
            meaning=f"{word.capitalize()} counts with one value left, over every population that fits. "
            + ("Exact: everything was tried." if not figures.undecided else _undecided(findings, shareable)),
            # What blind guessing gets right is a known share of all: it says how many they are.
            reference="" if figures.blind != figures.blind or few(figures.hidden) else blind_text(figures.blind),
            tone="bad" if figures.worked_out else "neutral",
        ),
        Number(
            label=f"Small counts worked out (1 to {findings.minimum - 1})",
            value=people(figures.small),
            meaning=f"Listed in a table: {people(figures.small_worked_out)}; in no table, but following from several: "
            f"{people(figures.unlisted_small)}."
            if not shareable
            else "Listed in a table, or in none and following from several.",
            tone="bad" if figures.small else "neutral",
        ),
    ]
    if not shareable or _is_rest_many(findings, figures):
        numbers += _left_over(findings)
    if not shareable:
        numbers.append(
            Number(
                label="People in small counts that are worked out",
                value=f"at least {count(figures.people)}" if figures.people else "0",
                meaning="Each counted once, not again in subtotals.",
                tone="bad" if figures.people else "neutral",
            )
        )
    # The mean over few counts, or with few of them worked out, says how many these are.
    parts = (figures.hidden, figures.worked_out, figures.narrow, figures.hidden - figures.worked_out)
    if figures.left == figures.left and not any(few(each) for each in parts):
        numbers.append(
            Number(
                label="Doubt left",
                value=percent(figures.left),
                meaning="Bits that are left of those that the told ranges hold, on average: 100% if nothing was "
                "learned, 0% if all is worked out.",
            )
        )
    return tuple(numbers)


def _left_over(findings: TablesFindings) -> list[Number]:
    """Return what is known of hidden counts that are not worked out; of one or two of them it would say which."""
    figures, word = findings.figures, findings.treatment
    return [
        Number(
            label="Narrow",
            value=people(figures.narrow),
            meaning=f"{word.capitalize()} counts with 2 to {findings.values} values left.",
        ),
        Number(
            label="Known to be small",
            value=people(figures.known_small),
            meaning=f"{word.capitalize()} counts, not worked out, that lie from 1 to {findings.minimum - 1} though no "
            "symbol said so.",
        ),
    ]


def least_shared(findings: TablesFindings) -> int:
    """Return the least number that the shareable edition says; "fewer than 2" would be 1, as zeros are said."""
    return max(findings.minimum, 3)


def is_few(findings: TablesFindings, number: int) -> bool:
    """Return whether the shareable edition must not say this number."""
    return 0 < number < least_shared(findings)


def _is_rest_many(findings: TablesFindings, figures: CountFigures) -> bool:
    """Return whether many counts are not worked out, by what the shareable edition says: else it would say more."""
    if is_few(findings, figures.hidden):
        return False
    worked = least_shared(findings) - 1 if is_few(findings, figures.worked_out) else figures.worked_out
    return not is_few(findings, figures.hidden - worked)


def _undecided(findings: TablesFindings, shareable: bool) -> str:
    if shareable and is_few(findings, findings.figures.undecided):
        return "At least: of some counts it was not settled."
    return f"At least: of {count(findings.figures.undecided)} counts it was not settled."


def readings_table(findings: TablesFindings, *, shareable: bool = False) -> TableBlock:
    """Return what follows in each reading of the symbols."""
    names = {"any": "any number (knows nothing)", "rule": "knows the rule", "zeros": "knows that zeros are shown"}
    rows = tuple(
        (
            names[each.name] + (" – excluded by the records" if each.excluded else ""),
            ", ".join(dict.fromkeys(each.ranges)) or "no symbol",
            people(each.figures.worked_out),
            people(each.figures.small),
            "not shown" if shareable and not _is_rest_many(findings, each.figures) else people(each.figures.narrow),
        )
        for each in findings.readings
    )
    return TableBlock(
        caption="How symbols were read, and what follows",
        columns=("Whoever", "reads a symbol as", "Worked out", "Small", "Narrow"),
        rows=rows,
        align=("left", "left", "right", "right", "right"),
        note="Reading any number is always true; another reading may be wrong, and then so is what follows from it. "
        "Limits are held to the reading that gives most away.",
    )


def tables_table(findings: TablesFindings, *, shareable: bool = False) -> TableBlock:
    """Return what each table has, what of it is worked out, and what it gives away alone.

    In the shareable edition of several tables a figure that is small for one of them is left out for all: it would be
    the figure of all tables less those of the others. So are small counts worked out, where few stand in no table.
    """
    figures: dict[str, list[int | None]] = {
        findings.treatment.capitalize(): [each.hidden for each in findings.tables],
        "Worked out": [each.worked_out for each in findings.tables],
        "by itself alone": [each.alone for each in findings.tables],
        "Small": [each.small_worked_out for each in findings.tables],
    }
    whole = len(figures)
    if shareable and len(findings.tables) > 1:
        figures = {name: own for name, own in figures.items() if not any(is_few(findings, each or 0) for each in own)}
    if shareable and is_few(findings, findings.figures.unlisted_small):
        figures.pop("Small", None)
    rows = tuple(
        (
            each.name,
            " × ".join(each.variables),
            count(each.cells),
            *("not settled" if (own := column[at]) is None else people(own) for column in figures.values()),
        )
        for at, each in enumerate(findings.tables)
    )
    return TableBlock(
        caption="By table",
        columns=("Table", "Variables", "Cells", *figures),
        rows=rows,
        align=(*_LEFT, "right", *_RIGHT[: len(figures)]),
        note="Figures are left out from which a small one could be computed." if len(figures) < whole else "",
    )


def steps_table(findings: TablesFindings, *, at_most: int | None = None) -> TableBlock:
    """Return how counts are worked out, those that need no other hidden count first."""
    shown = findings.steps if at_most is None else findings.steps[:at_most]
    rows = tuple(
        (each.cell if each.is_listed else f"{each.cell} (in no table)", count(each.count), sum_text(each))
        for each in shown
    )
    left = findings.steps_of - len(shown)
    return TableBlock(
        caption="How they are worked out",
        columns=("Count", "is", "because"),
        rows=rows,
        align=("left", "right", "left"),
        note=f"{count(left)} more are not spelt out here." if left > 0 else "",
        prose=True,
    )


def groups_table(findings: TablesFindings) -> TableBlock:
    """Return the groups in which all have the same code, the smallest first."""
    rows = tuple((each.group, f"{each.variable}: {each.code}", _people(each)) for each in findings.groups)
    left = findings.groups_of - len(rows)
    return TableBlock(
        caption="Groups in which everybody has the same code",
        columns=("Everybody in", "has", "People"),
        rows=rows,
        align=("left", "left", "right"),
        note=f"{count(left)} more, all of them larger, are left out." if left > 0 else "",
    )


def _people(of: GroupFindings | RankedRecord) -> str:
    if of.high is None:
        return f"{count(of.low)} or more"
    return count(of.low) if of.low == of.high else f"{count(of.low)} to {count(of.high)}"


def records_table(records: RecordFindings) -> TableBlock:
    """Return the records that are most likely to exist, those that must exist first."""
    rows = tuple(
        (
            each.record,
            "must exist" if each.is_certain else "may exist",
            f"{round(each.share * records.worlds)} of {records.worlds}",
            _people(each),
        )
        for each in records.first
    )
    left = records.possible - records.absent - len(rows)
    return TableBlock(
        caption="Records, the surest first",
        columns=("Record", "", "Populations that have it", "People"),
        rows=rows,
        align=("left", "left", "right", "right"),
        note=f"{count(left)} more may exist and are not named here (--records)." if left > 0 else "",
    )


def precision_table(records: RecordFindings) -> TableBlock:
    """Return how many of the first ranked records exist, beside those that margins alone rank first."""
    rows = tuple(
        (
            "as many as exist" if each.first is None else f"first {each.first}",
            percent(each.ranked),
            percent(each.by_margins),
        )
        for each in records.precision
    )
    return TableBlock(
        caption="Ranked records that exist, held against the truth",
        columns=("Of the", "By all counts", "By margins alone"),
        rows=rows,
        align=("left", "right", "right"),
    )


def repair_table(repair: RepairFindings, findings: TablesFindings) -> TableBlock:
    """Return the figures before and after more is hidden, by the same attack."""
    before, after = findings.figures, repair.after
    rows = (
        ("Hidden", count(repair.hidden_before), count(repair.hidden_after)),
        ("Worked out", count(before.worked_out), count(after.worked_out)),
        ("Small counts worked out", count(before.small), count(after.small)),
        ("Narrow", count(before.narrow), count(after.narrow)),
        ("Known to be small", count(before.known_small), count(after.known_small)),
        *([(f"Small counts with fewer than {repair.keep} values", "", count(repair.tight))] if repair.keep > 2 else []),
    )
    return TableBlock(
        caption="Before and after more is hidden",
        columns=("", "Before", "After"),
        rows=rows,
        align=("left", "right", "right"),
    )


def sure_table(findings: TablesFindings) -> TableBlock:
    """Return how sure the ranges are."""
    figures = findings.figures
    rows = [
        ("Ends of ranges", count(figures.ends)),
        ("of them attained by a population that fits", count(figures.proven)),
        ("Counts of which it is not settled whether they can be worked out", count(undecided(figures))),
        ("Linear programs solved", count(findings.linear)),
        ("Searches for whole numbers", count(findings.whole)),
    ]
    return TableBlock(caption="How sure the ranges are", columns=("", ""), rows=tuple(rows), align=("left", "right"))
