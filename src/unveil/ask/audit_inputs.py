"""What an audit is given, made ready: tables that agree, who is attacked, and what has to be said about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.ask.audit_links import Compatibility, People, draw_people
from unveil.data.release import Release
from unveil.data.table import Role, Table, agree
from unveil.errors import InputError, did_you_mean
from unveil.report.audit_findings import Audit, Audited, ColumnFact

ReleaseKind = Literal["masked", "synthetic"]
_ROLE_WORDS = {"identifier": "an identifier", "sensitive": "sensitive", "ignored": "ignored"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The settings of an audit, checked."""

    attacks: Sequence[str]
    targets: int | None
    neighbours: int
    kind: ReleaseKind | Mapping[str, ReleaseKind] | None
    known: tuple[str, ...] | None
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...]
    kinds: Mapping[str, Any]
    missing: tuple[str, ...]
    compatibility: Compatibility | None

    def __post_init__(self) -> None:
        for what, number in (("targets", self.targets), ("neighbours", self.neighbours)):
            if number is not None and (
                isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1
            ):
                raise InputError(f"{what} must be a whole number of at least 1, but is {number!r}. Raise it")
        if self.compatibility not in (None, "anonymeter"):
            raise InputError(f"compatibility must be 'anonymeter' or None, but is {self.compatibility!r}. Correct it")
        roles = [
            *((name, "sensitive") for name in self.sensitive),
            *((name, "identifiers") for name in self.identifiers),
        ]
        roles += [(name, "known") for name in self.known or ()]
        for name in {name for name, _ in roles}:
            said = sorted({role for column, role in roles if column == name})
            if len(said) > 1:
                raise InputError(f"column {name!r} is said to be {' and '.join(said)}. Give it one role")

    def chosen(self, every: Sequence[str]) -> tuple[str, ...]:
        """Return the attacks that were asked for, in the order of the report."""
        wanted = [attack.strip().replace("-", "_") for attack in self.attacks]
        for attack in wanted:
            if attack not in every:
                hint = did_you_mean(attack, every) or f" Choose from {', '.join(every)}."
                raise InputError(f"there is no attack {attack!r} on tables.{hint}")
        if not wanted:
            raise InputError(f"at least one attack must be chosen. Choose from {', '.join(every)}")
        return tuple(attack for attack in every if attack in wanted)


class One(NamedTuple):
    """One release, ready to be attacked."""

    release: Release
    known: tuple[str, ...]
    #: Columns that no adversary knows, and why.
    left_out: Mapping[str, str]
    truth: NDArray[np.int64] | None
    sha256: str | None
    seed: int
    every: tuple[str, ...]

    def rng(self, attack: str) -> np.random.Generator:
        """Return the source of randomness of one attack: which others are run makes no difference to it."""
        return np.random.default_rng([self.seed, self.every.index(attack)])


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Everything an audit works on."""

    original: Table
    control: Table | None
    releases: tuple[One, ...]
    attacks: tuple[str, ...]
    people: People
    outsiders: People | None
    compatibility: Compatibility | None
    notes: tuple[str, ...]

    def found(self, audited: tuple[Audited, ...], *, notes: tuple[str, ...]) -> Audit:
        """Return the audit with these findings."""
        return Audit(
            rows=self.original.rows,
            columns=tuple(
                ColumnFact(name=each.name, kind=each.kind, role=each.role, reason=each.reason, missing=each.missing)
                for each in self.original.columns
            ),
            sha256=self.original.sha256,
            control_rows=None if self.control is None else self.control.rows,
            control_sha256=None if self.control is None else self.control.sha256,
            releases=audited,
            attacks=self.attacks,
            compatibility=self.compatibility,
            notes=tuple(dict.fromkeys((*notes, *self.notes))),
        )


def prepare(
    original: Any, released: Any, control: Any, *, asked: Asked, every: Sequence[str], rng: np.random.Generator
) -> Prepared:
    """Return the tables made ready: of one kind and role per column, with whom to attack, and what must be said."""
    attacks = asked.chosen(every)
    whole = _with_roles(_table(original, "original", asked), asked)
    outside = None if control is None else _table(control, "control", asked)
    notes = [*_role_notes(whole), *_target_notes(whole, asked)]
    if outside is not None and _same_rows(whole, outside):
        outside = None
        notes.append(
            "The control table holds the same people as the original, so it says nothing about people who are not in "
            "the data; the audit was made as if there were none."
        )
    seeds = rng.integers(2**63, size=3)
    people = draw_people(whole, asked.targets, rng=np.random.default_rng([seeds[0], 0]))
    outsiders = None
    if outside is not None:
        outsiders = draw_people(outside, asked.targets, rng=np.random.default_rng([seeds[1], 0]))
    releases = []
    named = _named(released)
    if isinstance(asked.kind, Mapping):
        _refuse_unknown(asked.kind, [name for name, _ in named])
    for name, given in named:
        one, said = _one(name, given, whole, outside, asked, int(seeds[2]), tuple(every))
        releases.append(one)
        notes += said
    return Prepared(
        original=whole,
        control=outside,
        releases=tuple(releases),
        attacks=attacks,
        people=people,
        outsiders=outsiders,
        compatibility=asked.compatibility,
        notes=tuple(notes),
    )


def _table(given: Any, name: str, asked: Asked) -> Table:
    if isinstance(given, Table):
        return given
    columns = getattr(given, "columns", ())
    told = {column: kind for column, kind in asked.kinds.items() if column in list(columns)}
    return Table.from_frame(given, name=name, kinds=told, missing=asked.missing)


def _with_roles(table: Table, asked: Asked) -> Table:
    """Return the table with the roles that were told; with ``known``, what is not named is ignored."""
    told: dict[str, Role] = dict.fromkeys(asked.sensitive, "sensitive")
    told |= dict.fromkeys(asked.identifiers, "identifier")
    told |= dict.fromkeys(asked.known or (), "known")
    for name in told:
        table.column(name)
    columns = []
    for column in table.columns:
        role: Role | None = told.get(column.name)
        if role is None and asked.known is not None and column.role == "known":
            role = "ignored"
        if role is not None:
            kind_reason = column.reason.rpartition("; ")[0]
            column = replace(column, role=role, role_told=True, reason=f"{kind_reason}; {role}: as told")
        columns.append(column)
    return replace(table, columns=tuple(columns))


def _role_notes(table: Table) -> list[str]:
    guessed = [column.name for column in table.columns if column.role == "identifier" and not column.role_told]
    if not guessed:
        return []
    names = ", ".join(map(repr, guessed[:5])) + (f" and {len(guessed) - 5} more" if len(guessed) > 5 else "")
    return [
        f"Taken for identifiers and left out of all attacks: {names}. Name them as known if that is wrong (--known)."
    ]


def _target_notes(table: Table, asked: Asked) -> list[str]:
    if asked.targets is None or asked.targets <= table.rows:
        return []
    return [f"All {table.rows} people of the original were attacked: there are no {asked.targets} of them."]


def _same_rows(one: Table, other: Table) -> bool:
    """Return whether two tables hold the same people, in any order, as far as the columns they share tell."""
    if one.rows != other.rows:
        return False
    own, theirs = (table.frame.sort(table.column_names) for table in agree(one, other))
    return own.equals(theirs)


def _named(released: Any) -> list[tuple[str, Any]]:
    if isinstance(released, Mapping):
        named: list[tuple[str, Any]] = [(str(name), each) for name, each in released.items()]
    elif isinstance(released, list | tuple):
        named = [(_own_name(each) or f"release {at}", each) for at, each in enumerate(released, start=1)]
    else:
        named = [(_own_name(released) or "release", released)]
    if not named:
        raise InputError("there must be at least one release to audit, but there is none. Pass the released table")
    seen: set[str] = set()
    for name, _ in named:
        if name in seen:
            raise InputError(f"releases must have different names, but two are called {name!r}. Rename one")
        seen.add(name)
    return named


def _refuse_unknown(kinds: Mapping[str, ReleaseKind], names: Sequence[str]) -> None:
    for name in kinds:
        if name not in names:
            hint = did_you_mean(name, names) or " Name one that is there."
            raise InputError(f"kind names the release {name!r}, which is not there.{hint}")


def _own_name(given: Any) -> str | None:
    return given.name if isinstance(given, Table | Release) else None


def _one(
    label: str, given: Any, whole: Table, outside: Table | None, asked: Asked, seed: int, every: tuple[str, ...]
) -> tuple[One, list[str]]:
    kind = asked.kind.get(label) if isinstance(asked.kind, Mapping) else asked.kind
    truth = None
    if isinstance(given, Release):
        kind = kind or given.kind
        truth = given.truth
        table = given.released
    else:
        table = _table(given, label, asked)
    release = Release(whole, table, outside, kind=kind, name=label)
    notes = [note if note.endswith(".") else f"{note}." for note in release.notes]
    if kind is None:
        notes.append(
            f"Whether {label!r} is masked or synthetic was not said (--kind), so nothing is concluded from it: record "
            "linkage, which needs a masked release, was left out."
        )
    left_out = {column.name: _ROLE_WORDS[column.role] for column in release.original.columns if column.role != "known"}
    known = tuple(column.name for column in release.original.columns if column.role == "known")
    if not known:
        raise InputError(
            f"no column of {label!r} can be known to an adversary: all that it shares with the original are "
            "identifiers, sensitive or ignored. Name some with --known"
        )
    found, said = _identified(release)
    one = One(
        release=release,
        known=known,
        left_out=left_out,
        truth=found if truth is None else np.asarray(truth, np.int64),
        sha256=table.sha256,
        seed=seed,
        every=every,
    )
    return one, notes + said


def _identified(release: Release) -> tuple[NDArray[np.int64] | None, list[str]]:
    """Return whose each released row is where an identifier column says so, and a warning that the release has one."""
    import polars as pl

    names = [column.name for column in release.original.columns if column.role == "identifier"]
    if not names:
        return None, []
    notes = [
        f"The release {release.name!r} still has the identifier {names[0]!r}. It was used only to know whose row each "
        "is; everybody could be named by it, so take it out before the release."
    ]
    own, theirs = release.original.frame[names[0]], release.released.frame[names[0]]
    if own.drop_nulls().n_unique() < own.len() - own.null_count():
        return None, notes
    where = pl.DataFrame({"key": own, "row": np.arange(own.len())}).drop_nulls("key")
    found = pl.DataFrame({"key": theirs}).join(where, on="key", how="left", maintain_order="left")["row"]
    if found.null_count() == found.len():
        return None, notes
    return found.fill_null(-1).to_numpy().astype(np.int64), notes
