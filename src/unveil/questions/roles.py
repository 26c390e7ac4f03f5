"""What columns of a table are and what they are to an adversary, as people say it and as the library takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.questions.settings import MORE, Choices, Settings, setting

#: What a column can be to an adversary, as the page says it. The last two are for surveys.
ROLES: Choices = (
    ("known", "Could be known to others"),
    ("sensitive", "Sensitive: nobody should learn it"),
    ("identifier", "Identifies a person"),
    ("ignored", "Leave it out"),
    ("weight", "Survey weight"),
    ("household", "Number of the household"),
)
KINDS: Choices = (
    ("number", "Number"),
    ("category", "Category"),
    ("ordered", "Ordered levels"),
    ("date", "Date"),
    ("boolean", "Yes or no"),
    ("text", "Text"),
)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What the columns of an audit were said to be, as its arguments; empty where the suggestions were kept."""

    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    known: tuple[str, ...] | None = None
    weight: str | None = None
    household: str | None = None
    kinds: Mapping[str, Any] | None = None


def roles_of(columns: Sequence[Mapping[str, Any]]) -> Roles:
    """Return the arguments that give each column the role and kind that was chosen for it.

    What the library would suppose by itself is not said again: the same answer comes from the shortest command.

    >>> age = {"name": "age", "role": "known", "suggested": "known", "kind": "number", "guessed": "number"}
    >>> roles_of([age, {**age, "name": "income", "role": "sensitive"}])
    Roles(identifiers=(), sensitive=('income',), known=None, weight=None, household=None, kinds=None)
    """
    of = {role: tuple(each["name"] for each in columns if each["role"] == role) for role, _ in ROLES}
    supposed = tuple(each["name"] for each in columns if each["suggested"] == "identifier")
    more_known = any(each["role"] != "identifier" and each["name"] in supposed for each in columns)
    kinds = {
        each["name"]: each.get("levels") or each["kind"]
        for each in columns
        if each["kind"] != each["guessed"] or each.get("levels")
    }
    return Roles(
        identifiers=() if of["identifier"] == supposed else of["identifier"],
        sensitive=of["sensitive"],
        # Named one by one where some are left out, or where a supposed identifier is none.
        known=of["known"] if of["ignored"] or more_known else None,
        weight=next(iter(of["weight"]), None),
        household=next(iter(of["household"]), None),
        kinds=kinds or None,
    )


@dataclass(frozen=True, kw_only=True)
class TableColumnSettings(Settings):
    """What the columns of tables are: kinds, names and markers of missing cells."""

    kinds: Mapping[str, Any] = setting(
        (),
        "Kinds of columns",
        f"Where the guess is not right: one of {', '.join(kind for kind, _ in KINDS)}.",
        form="COLUMN=KIND",
        only="command line",
        metavar="COLUMN=KIND",
    )
    strict_kinds: bool = setting(
        False,
        "Refuse columns whose kind nothing tells for sure",
        "For pipelines: a wrong kind changes every figure.",
        fold=MORE,
    )
    rename: Mapping[str, str] = setting(
        (),
        "Columns that are called differently in one of the tables",
        "What such a column is called, and its name in the original.",
        form="OLD=NEW",
        metavar="OLD=NEW",
        example="incom=income",
        fold=MORE,
    )
    missing: tuple[str, ...] = setting(
        (),
        "Cells that stand for a missing value",
        "Empty cells always do. COLUMN=TEXT is about one column.",
        objects=True,
        example="?, age=-1",
        metavar="TEXT",
        fold=MORE,
    )
    dictionary: Any = setting(
        None,
        "What is known of the columns",
        "A dictionary: TOML as 'unveil columns --write' makes it, a Frictionless or CSVW schema, or JSON with values.",
        kind="file",
        fold=MORE,
    )


@dataclass(frozen=True, kw_only=True)
class HierarchySettings(Settings):
    """What the wider labels of a release stand for."""

    hierarchies: Mapping[str, Any] = setting(
        (),
        "Which values the wider labels of a column stand for",
        "A file with value;label;wider label in each line.",
        form="COLUMN=FILE, as in job=jobs.csv",
        only="command line",
        option="--hierarchy",
        metavar="COLUMN=FILE",
    )
