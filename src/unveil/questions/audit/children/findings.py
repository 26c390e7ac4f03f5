"""Findings on the tables of a release with child tables."""

from dataclasses import dataclass
from math import nan

from unveil._figure import figure


@dataclass(frozen=True, kw_only=True)
class TableFacts:
    """Rows and people of one child table, in the original and in the release."""

    COUNTS = "nothing private"

    name: str = figure("The child table.")
    time: str = figure("The column that orders the rows of a person; null without one.", blank=True, default="")
    rows: int = figure("Number of rows in the original.")
    released_rows: int = figure("Number of rows in the release.")
    control_rows: int | None = figure("Number of rows of the control group; null without one.", default=None)
    people: int = figure("Number of people with a row in the original.", counts="people")
    released_people: int = figure("Number of people with a row in the release.", counts="nothing private")
    rows_per_person: float = figure("Mean number of rows of people with one, in the original.")
    released_rows_per_person: float = figure("The same in the release.", default=nan)
    orphans: int = figure("Number of released rows whose key the released people table lacks.", default=0)
    empty_keys: int = figure("Number of released rows without a key.", default=0)
    steps: float = figure(
        "Total variation distance between the transitions from a value to the next, mean over columns: 0 is the same; "
        "null without a time column.",
        default=nan,
    )
    sha256: tuple[str | None, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the keys of the release, in sentences."""
        found = []
        if self.orphans:
            rows = "row belongs" if self.orphans == 1 else "rows belong"
            found.append(
                f"{self.orphans:,} released {rows} to nobody in the people table of the release, and no attack uses "
                f"{'it' if self.orphans == 1 else 'them'}."
            )
        if self.empty_keys:
            rows = "row has" if self.empty_keys == 1 else "rows have"
            found.append(f"{self.empty_keys:,} released {rows} no person key.")
        return tuple(found)


@dataclass(frozen=True, kw_only=True)
class PeopleTables:
    """The tables of an audit on people with several rows."""

    COUNTS = "nothing private"

    key: str = figure("The person key of all tables.")
    has_parent: bool = figure("Whether there is a table with one row per person.")
    people: int = figure("Number of people in the original.")
    released_people: int = figure("Number of people in the release.")
    shared_keys: int = figure("Number of keys of the release that are keys of the original.", counts="people")
    tables: tuple[TableFacts, ...] = figure("One entry for each child table.")
