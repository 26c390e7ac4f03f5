"""The two parts of a split table, as data."""

from dataclasses import dataclass

from unveil._figure import NOTES, figure


@dataclass(frozen=True, kw_only=True)
class TablePart:
    """One part of the table: its size and its file."""

    file: str = figure("The name of its file.")
    rows: int = figure("How many rows it has.", counts="rows")
    people: int = figure("How many people it has.", counts="people")
    households: int | None = figure("How many households it has; null where none are stated.", counts="people")
    sha256: str = figure("The SHA-256 of its file.")


@dataclass(frozen=True, kw_only=True)
class SplitFindings:
    """What was set aside, and from which table."""

    table: str = figure("The table that was split.")
    sha256: str | None = figure("The SHA-256 of its file; null where no file was read.")
    date: str = figure("The day of the split.")
    share: float = figure("The share that was asked for.")
    unit: str = figure("What was drawn at random: row, person or household.")
    control_share: float = figure("The share of people in the control group.")
    release_part: TablePart = figure("The people to release.")
    control: TablePart = figure("The control group.")
    notes: tuple[str, ...] = figure(NOTES, default=())
    control_people: int = figure(
        hidden=True,
        limit="split.control_people",
        limit_meaning="how many people are in the control group",
        worse="less",
        counts="people",
    )
