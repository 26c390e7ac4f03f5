"""Roles and types of columns, as forms name them and as the library takes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from unveil.questions.settings import MORE, Choices, Settings, setting

AnySettings = TypeVar("AnySettings", bound=Settings)

#: The roles of a column, as the form names them. The last two are for surveys.
ROLES: Choices = (
    ("known", "Quasi-identifier: an attacker may know it"),
    ("sensitive", "Sensitive attribute"),
    ("identifier", "Direct identifier"),
    ("ignored", "Ignored"),
    ("weight", "Survey weight"),
    ("household", "Household"),
)
KINDS: Choices = (
    ("number", "Number"),
    ("category", "Category"),
    ("ordered", "Ordered"),
    ("date", "Date"),
    ("boolean", "Boolean"),
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


def with_roles_of(
    columns: Sequence[Mapping[str, Any]], settings: AnySettings, *, kinds: Mapping[str, Any] | None = None
) -> AnySettings:
    """Return settings with the roles and kinds that were chosen on the form, where they have none of their own."""
    roles, own = roles_of(columns), vars(settings)
    changes: dict[str, Any] = {
        **{name: own[name] or getattr(roles, name) for name in ("identifiers", "sensitive")},
        "quasi_identifiers": own["quasi_identifiers"] or roles.known or (),
        **{name: own[name] or getattr(roles, name) for name in ("weight", "household")},
        "kinds": {**(kinds or roles.kinds or {}), **own["kinds"]},
    }
    return replace(settings, **changes)


@dataclass(frozen=True, kw_only=True)
class TableColumnSettings(Settings):
    """Column types, names and missing values of tables, and the dictionary that holds them."""

    kinds: Mapping[str, Any] = setting(
        (),
        "Column types",
        f"One of {', '.join(kind for kind, _ in KINDS)}, or the levels of an ordered column: low<high.",
        form="COLUMN=TYPE",
        only="command line",
        metavar="COLUMN=TYPE",
        place="dictionary",
    )
    strict_types: bool = setting(
        False,
        "Reject uncertain types",
        "For pipelines: a wrong column type changes every result.",
        fold=MORE,
        alias="--strict-kinds",
        group="Input",
    )
    rename: Mapping[str, str] = setting(
        (),
        "Renamed columns",
        "For a column with another name in one of the tables: that name, and its name in the original data.",
        form="OLD=NEW",
        metavar="OLD=NEW",
        example="incom=income",
        fold=MORE,
        place="dictionary",
    )
    missing: tuple[str, ...] = setting(
        (),
        "Missing values",
        "Texts that stand for a missing value. Empty cells always do; COLUMN=TEXT is for one column.",
        objects=True,
        example="?, age=-1",
        metavar="TEXT",
        fold=MORE,
        place="dictionary",
    )
    dictionary: Any = setting(
        None,
        "Data dictionary (types, codes)",
        "TOML as 'unveil columns --write-dictionary' writes it, a Frictionless or CSVW schema, or JSON with values.",
        kind="file",
        fold=MORE,
    )


@dataclass(frozen=True, kw_only=True)
class HierarchySettings(Settings):
    """Value hierarchies of generalized columns."""

    hierarchies: Mapping[str, Any] = setting(
        (),
        "Value hierarchies of generalized columns",
        "A file with value;level 1;level 2 in each line.",
        form="COLUMN=FILE, as in job=jobs.csv",
        only="command line",
        option="--hierarchy",
        metavar="COLUMN=FILE",
        place="dictionary",
    )
