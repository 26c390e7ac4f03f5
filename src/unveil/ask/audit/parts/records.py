"""The internal edition of an audit: the report with records of the original in it, for those who may see them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unveil.show.blocks import Block, Number, Page, Section, Side, Table
from unveil.show.text import count, name

#: So many records are shown in all, and so many columns of each: enough to look some up, and the page stays small.
MOST_RECORDS = 20
MOST_COLUMNS = 30
WARNING = (
    "This is an internal edition: it shows records of the original data and must not be shared, published or passed on "
    "with the release."
)
_LEFT: Side = "left"
_RIGHT: Side = "right"
_LONGEST_CELL = 60
_LONGEST_NAME = 40


@dataclass(frozen=True, kw_only=True)
class CopiedRecord:
    """One record of the original that is also released: how many people have it, and its known cells as text."""

    people: int
    cells: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CopiedRecords:
    """The records of the original that stand in one release unchanged; ``records`` holds the first of them."""

    release: str
    columns: tuple[str, ...]
    #: All records that are released unchanged, those that several people share counted once.
    distinct: int
    #: The people who have one of them.
    people: int
    records: tuple[CopiedRecord, ...]


def with_records(page: Page, copied: Sequence[CopiedRecords]) -> Page:
    """Return the page as internal edition: with a last section on records at stake, and warnings that it has them."""
    several = len(copied) > 1
    section = Section(
        heading="Records at stake",
        lead=(
            f"{WARNING} Shown are records of the original that are released unchanged, in the columns that an "
            "adversary may know: first those that fewest people share."
        ),
        blocks=tuple(_block(each, several=several) for each in copied),
    )
    return replace(
        page,
        sections=(*page.sections, section),
        notes=(WARNING, *page.notes),
        holds_records=True,
    )


def _block(copied: CopiedRecords, *, several: bool) -> Block:
    where = f" in {name(copied.release, _LONGEST_NAME)!r}" if several else ""
    if not copied.records:
        return Number(
            label=f"Records released unchanged{where}",
            value=count(copied.distinct),
            meaning="None of them is shown, to keep this page short."
            if copied.distinct
            else "No record of the original is released as an exact copy.",
        )
    columns = copied.columns[:MOST_COLUMNS]
    return Table(
        caption=f"Records of the original that are released unchanged{where}",
        columns=("People", *(name(column, _LONGEST_NAME) for column in columns)),
        rows=tuple(
            (count(record.people), *(name(cell, _LONGEST_CELL) for cell in record.cells[:MOST_COLUMNS]))
            for record in copied.records
        ),
        align=(_RIGHT, *(_LEFT for _ in columns)),
        note=_note(copied),
    )


def _note(copied: CopiedRecords) -> str:
    more, hidden = copied.distinct - len(copied.records), len(copied.columns) - MOST_COLUMNS
    said = [f"{count(copied.people, 'person has', 'people have')} a record that is released unchanged."]
    if more:
        said.insert(0, f"{count(more, 'more record is', 'more records are')} not shown.")
    if hidden > 0:
        said.append(f"{count(hidden, 'more column is', 'more columns are')} left out.")
    return " ".join(said)
