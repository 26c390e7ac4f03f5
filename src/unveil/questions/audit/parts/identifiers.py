"""What stands first in a report: columns that name people by themselves, or that none was found."""

from collections.abc import Collection, Mapping, Sequence

from unveil.data.identifiers.direct import Flag
from unveil.questions.audit.words import listed
from unveil.report.blocks import Block, Number, Section, Side, TableBlock
from unveil.report.text import count, name

HEADING = "Direct identifiers: columns that name people by themselves"
_LEFT: Side = "left"
_LONGEST_NAME = 60
_SOUGHT = (
    "names, addresses, emails, telephone numbers, national identity numbers, dates of birth, record numbers, free "
    "text, postcodes, IP addresses, account numbers, web addresses and positions"
)
_HOW = (
    "Columns are judged by the words of their names (English, German, French, Spanish, Italian, Dutch) and by the "
    "shape, the check digits and the number of their values."
)
_NOT_ALL = "What names people in a way that is not listed is not found: a glance at every column is still needed."


def identifier_section(flags: Mapping[str, Sequence[Flag]], *, released: Collection[str] | None = None) -> Section:
    """Return the section on direct identifiers, for the flags of each table by its name.

    ``released`` are the names of the tables that others will see, by default all. A flagged column that only other
    tables have is listed too, below: it is a warning for whoever handles these.

    >>> identifier_section({"masked.csv": ()}).lead.split(",")[0]
    'No column looks like a direct identifier. Looked for were names'
    """
    out = set(flags if released is None else released)
    rows = _rows(flags, out)
    if not rows:
        return Section(
            heading=HEADING,
            lead=f"No column looks like a direct identifier. Looked for were {_SOUGHT}. {_NOT_ALL}",
            blocks=(),
        )
    going = list(dict.fromkeys(flag.column for where, own in flags.items() if where in out for flag in own))
    blocks: list[Block] = [_number(going, len(out))] if released is not None or going else []
    table = TableBlock(
        caption="Columns that look like direct identifiers",
        columns=("Column", "Looks like", "In", "Released", "Why"),
        rows=tuple(rows),
        align=(_LEFT,) * 5,
        note=f"{_HOW} No value is shown. {_NOT_ALL}",
        prose=True,
    )
    return Section(heading=HEADING, lead=_lead(going), blocks=(*blocks, table))


def _lead(going: Sequence[str]) -> str:
    if not going:
        return (
            "No column that is released looks like a direct identifier. Those below are in other tables only; whoever "
            "handles these should know."
        )
    return (
        f"These columns look like direct identifiers: {listed(going)}. Take them out before anything else. No figure "
        "below means anything for people whom the release names itself."
    )


def _number(going: Sequence[str], tables: int) -> Number:
    where = "the release" if tables == 1 else "the releases"
    return Number(
        label="Direct identifiers released",
        value=count(len(going), "column", "columns"),
        meaning=f"So many columns of {where} seem to name people by themselves."
        if going
        else f"No column of {where} seems to name people by itself.",
        tone="bad" if going else "neutral",
    )


def _rows(flags: Mapping[str, Sequence[Flag]], released: set[str]) -> list[tuple[str, ...]]:
    """Return a row for each column and what it looks like, those that are released first."""
    found: dict[tuple[str, str], list[tuple[str, Flag]]] = {}
    for where, own in flags.items():
        for flag in own:
            found.setdefault((flag.column, flag.looks_like), []).append((where, flag))
    rows = []
    for places in found.values():
        is_out = any(where in released for where, _ in places)
        # What is told of a release comes first; the surer telling of several tables is shown.
        flag = min((flag for _, flag in places), key=lambda each: (_SURE.index(each.sure), -each.share))
        rows.append(
            (
                name(flag.column, _LONGEST_NAME),
                flag.looks_like,
                ", ".join(name(where, 30) for where, _ in places),
                "yes" if is_out else "no",
                flag.reason,
            )
        )
    return sorted(rows, key=lambda row: row[3] == "no")


_SURE = ("by name and content", "by content", "by name")
