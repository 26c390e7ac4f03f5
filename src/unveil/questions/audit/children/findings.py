"""Findings on the tables of an audit on people with several rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from unveil._figure import figure
from unveil.metrics.releases.transitions import TransitionDistance

#: What the table with one row per person is called in reports.
PEOPLE = "people"
#: Views of no single child table, with the tables that they look at.
VIEWS = {"parent row": PEOPLE, "all views": "all tables"}


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
    released_people: int = figure("Number of people with a row in the release.")
    rows_per_person: float = figure("Mean number of rows of people with one, in the original.")
    released_rows_per_person: float = figure("The same in the release.")
    orphans: int = figure("Number of released rows whose key the released people table lacks.", default=0)
    empty_keys: int = figure("Number of released rows without a key.", default=0)
    transitions: tuple[TransitionDistance, ...] = figure(
        "How far the transitions between consecutive values lie from those of the original.", default=()
    )
    #: The digests of the files of the original, the release, and the control group.
    digests: tuple[str | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PeopleTables:
    """The tables of an audit on people with several rows."""

    COUNTS = "nothing private"

    key: str = figure("The person key of all tables.")
    has_parent: bool = figure("Whether there is a table with one row per person.")
    people: int = figure("Number of people in the original.")
    released_people: int = figure("Number of people in the release.")
    shared_keys: int = figure("Number of keys of the release that are keys of the original.", default=0)
    tables: tuple[TableFacts, ...] = figure("One entry for each child table.")
    #: The column and the table that each summary is made of, in words.
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The child tables by name."""
        return tuple(each.name for each in self.tables)

    def with_digests(self, change: Callable[[str | None], str | None]) -> "PeopleTables":
        """Return the tables with other digests of their files."""
        return replace(
            self, tables=tuple(replace(each, digests=tuple(map(change, each.digests))) for each in self.tables)
        )

    def table_of(self, attacker: str) -> str:
        """Return the table that an attacker looks at, or the tables that it links.

        An attacker on rows of a child table is called by the table and the view, such as "visits, set of rows".

        >>> facts = dict(rows=2, released_rows=2, people=1, released_people=1, rows_per_person=2.0)
        >>> visits = TableFacts(name="visits", released_rows_per_person=2.0, **facts)
        >>> found = PeopleTables(key="id", has_parent=True, people=1, released_people=1, tables=(visits,))
        >>> found.table_of("visits, set of rows"), found.table_of("people | visits, 3 neighbors")
        ('visits', 'people | visits')
        >>> found.table_of("neighbor"), found.table_of("all views")
        ('people', 'all tables')
        """
        if attacker in VIEWS:
            return VIEWS[attacker]
        head = attacker.partition(",")[0].strip()
        known = {PEOPLE, *self.names}
        return head if head and {each.strip() for each in head.split("|")} <= known else PEOPLE

    def view_of(self, attacker: str) -> str:
        """Return the table and the view of an attacker; empty where it sees one row per person."""
        return attacker if attacker in VIEWS or self.table_of(attacker) != PEOPLE else ""

    def in_words(self, columns: list[str]) -> list[str]:
        """Return columns with the columns of child tables in place of their summaries."""
        return list(dict.fromkeys(self.sources.get(each, each) for each in columns))

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the keys of the release."""
        if self.shared_keys:
            keys = "1 key" if self.shared_keys == 1 else f"{self.shared_keys:,} keys"
            stands = "stands" if self.shared_keys == 1 else "stand"
            yield (
                f"{keys} of the release {stands} in the original too. If they belong to the same people, they identify "
                "them. Give the release new keys"
            )
        for each in self.tables:
            if each.orphans:
                row = "1 released row" if each.orphans == 1 else f"{each.orphans:,} released rows"
                yield f"{row} of {each.name!r} without a person in the people table: no attack uses them"
            if each.empty_keys:
                row = "1 released row" if each.empty_keys == 1 else f"{each.empty_keys:,} released rows"
                yield f"{row} of {each.name!r} without a person key: no attack uses them"
            if each.people == self.people and each.released_people < self.released_people:
                lacking = self.released_people - each.released_people
                yield (
                    f"{lacking:,} of {self.released_people:,} released people have no row of {each.name!r}; in the "
                    "original all people have one"
                )
