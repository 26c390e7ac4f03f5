"""Validate columns and prepare tables before an audit runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from unveil._kernels.threads import side_by_side
from unveil._kernels.types import BoolArray, IntArray
from unveil._kernels.verdict.labels import labels
from unveil.data.files.column_store import arrays_on_disk
from unveil.data.identifiers.direct import direct_identifiers
from unveil.data.table import Hierarchy, Role, Table, agree, near_names, near_note, unsure_note
from unveil.data.table.child_tables import ChildRelease
from unveil.data.table.column import listed
from unveil.data.table.native import is_one_table
from unveil.data.table.release import Release
from unveil.data.table.repeated_people import repeated_people
from unveil.data.table.words import weight_columns
from unveil.errors import InputError, did_you_mean
from unveil.metrics.releases._population_models import checked_weights
from unveil.metrics.releases.population_risk import RISK_ABOVE
from unveil.metrics.releases.release_type import is_masked
from unveil.metrics.trials.groups import bands
from unveil.metrics.verdict.control import check_control
from unveil.metrics.verdict.groups import division, pool_groups
from unveil.metrics.verdict.pooled_tables import PooledTables
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.children.findings import PeopleTables
from unveil.questions.audit.children.join import JoinedTables, join_people, repeated_source
from unveil.questions.audit.children.settings import ChildSource
from unveil.questions.audit.findings import Audit, AuditedRelease, AuditVerdict, ColumnFact, TableFlags, TypeSource
from unveil.questions.audit.people import (
    Labels,
    TargetPool,
    divide_people,
    draw_people,
    most_attacked,
    number_households,
    pool_people,
)
from unveil.questions.audit.reference.calibration import CalibrationReleases
from unveil.questions.audit.reference.findings import PopulationFinding, SiblingFinding
from unveil.questions.audit.reference.population import control_from, population_finding, reference_set
from unveil.questions.audit.reference.read import ReferenceTables, check_siblings
from unveil.questions.audit.reference.siblings import compared_columns
from unveil.questions.audit.settings import (
    FEW_ROWS,
    ONE_ROW_EACH,
    USUAL_NEIGHBOURS,
    AuditSettings,
    ReleaseKind,
    usual_neighbours,
)
from unveil.report.editions import people as people_text
from unveil.report.profiles import profile

if TYPE_CHECKING:
    import polars as pl


def refuse_constant(table: Table, settings: AuditSettings) -> None:
    """Raise an error for a sensitive column with a single value."""
    if not any(attack.guesses_sensitive for name, attack in ATTACKS.items() if name in settings.parts):
        return
    for column in table.columns:
        if column.role == "sensitive" and table.series(column.name).drop_nulls().n_unique() < 2:
            raise InputError(
                f"The sensitive column {column.name!r} of the {table.name} has only one value, so there is nothing to "
                "infer. Choose another column"
            )


def refuse_repeated(table: Table, *, identifiers: Sequence[str], ignore: Sequence[str | None] = ()) -> None:
    """Raise an error if people have several rows but no identifier.

    Tests that count each row as a person raise false alarms.
    """
    found = None if identifiers else repeated_people(table, ignore=[name for name in ignore if name is not None])
    if found is None:
        return
    alike = f"agree in {listed(found.constant)}" if found.constant else f"never share a value of {found.time!r}"
    raise InputError(
        f"Several rows of the {table.name} seem to belong to one person: column {found.column!r} has "
        f"{found.people:,} values in {found.rows:,} rows, and rows with the same value {alike}. Set id to "
        f"{found.column!r}, or to {ONE_ROW_EACH!r} if each row is another person"
    )


def check_weights(release: Release, settings: AuditSettings) -> None:
    """Check the weight and household columns before anything runs."""
    if "disclosure" not in settings.parts:
        return
    for what, name in (("weight", settings.weight), ("household", settings.household)):
        if name is not None and name not in release.released.column_names:
            raise InputError(
                f"The {what} column {name!r} is missing from the original or from the release {release.name!r}. Choose "
                "a column of both, or leave it out"
            )
    for table in (release.original, release.released):
        checked_weights(table, settings.weight)


#: Tables with more cells are not compared row by row with people: all columns are held in memory at once.
MOST_MATCHED = 10**7
_ROLE_WORDS = {"identifier": "an identifier", "sensitive": "sensitive", "ignored": "ignored"}


@dataclass(frozen=True, kw_only=True)
class PreparedRelease:
    """One release, ready to be attacked."""

    release: Release
    known: tuple[str, ...]
    sensitive: tuple[str, ...]
    #: Sensitive columns that the release does not hold.
    withheld: tuple[str, ...]
    #: Columns that no adversary knows, and why.
    left_out: Mapping[str, str]
    truth: IntArray | None
    sha256: str | None
    seed: int
    #: Whose each row of the original and of the control is, where that was told.
    ids: "tuple[pl.Series | None, pl.Series | None]" = (None, None)
    #: The same without the control table, which may lack columns that nobody attacks, such as weights.
    alone: Release | None = None
    #: Columns of the release that were left out, with the one of the original that each is nearly called.
    near_names: tuple[tuple[str, str], ...] = ()
    #: How many columns of the original the release lacks, identifiers not counted: they are left out on purpose.
    columns_left_out: int = 0
    #: Who says whether it is masked or synthetic: the user, or its rows.
    type_source: TypeSource | None = None
    #: Siblings that calibrate membership scores; None without any.
    siblings: CalibrationReleases | None = None
    #: People of a population file who are the reference set of membership scores; None where the control provides it.
    reference: Table | None = None

    def rng(self, part: str) -> np.random.Generator:
        """Return the random generator of one attack, independent of other attacks."""
        return np.random.default_rng([self.seed, crc32(part.encode())])


@dataclass(frozen=True, kw_only=True)
class PreparedAudit:
    """Everything an audit works on."""

    original: Table
    control: Table | None
    releases: tuple[PreparedRelease, ...]
    #: The attacks to run and what else is measured, in the order of the report.
    parts: tuple[str, ...]
    people: TargetPool
    #: How many people of each table are attacked; None is everybody.
    targets: int | None
    #: Where the draws of the verdict start from.
    seed: int
    #: The group of each row of the original and of the control table, where groups were asked for.
    groups: Labels | None
    flags: tuple[TableFlags, ...]
    settings: AuditSettings
    notes: tuple[str, ...]
    #: Sibling releases with their people, and the population file.
    reference: ReferenceTables = field(default_factory=ReferenceTables)
    population: PopulationFinding | None = None
    #: Whether the control group is the people of the siblings.
    control_of_siblings: bool = False
    #: The tables behind one row per person, where people have several rows.
    tables: PeopleTables | None = None

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks to run."""
        return tuple(part for part in self.parts if part in ATTACKS)

    def found(
        self,
        releases: tuple[AuditedRelease, ...],
        *,
        verdict: AuditVerdict,
        before: AuditedRelease | None,
        notes: tuple[str, ...],
        siblings: SiblingFinding | None = None,
    ) -> Audit:
        """Return the audit with these findings."""
        return Audit(
            rows=self.original.rows,
            columns=tuple(
                ColumnFact(
                    name=each.name,
                    kind=each.kind,
                    role=each.role,
                    reason=each.reason,
                    missing=each.missing,
                    confidence=each.confidence,
                    markers=self.original.marker_counts(each.name),
                )
                for each in self.original.columns
            ),
            sha256=self.original.sha256,
            control_rows=None if self.control is None else self.control.rows,
            control_sha256=None if self.control is None else self.control.sha256,
            releases=releases,
            attacks=self.attacks,
            sensitive_stated=self.settings.sensitive_stated,
            verdict=verdict,
            before=before,
            flags=self.flags,
            by=self.settings.group_by,
            minimum_cell=self.settings.min_cell,
            quasi_identifiers=tuple(self.settings.quasi_identifiers),
            is_sample=self.settings.weight is not None or self.settings.population_size is not None,
            people=self.people.everybody.members,
            attacked=np.unique(self.people.everybody.person[self.people.inside]).size,
            attacked_outside=np.unique(self.people.everybody.person[self.original.rows + self.people.outside]).size,
            notes=tuple(dict.fromkeys((*notes, *self.notes))),
            siblings=siblings,
            population=self.population,
            tables=self.tables,
        )


def prepare(
    original: Any,
    released: Any,
    control: Any,
    reference: ReferenceTables = ReferenceTables(),  # noqa: B008 - never changed
    children: Sequence[ChildSource] | None = None,
    *,
    settings: AuditSettings,
    rng: np.random.Generator,
    by_lot: BoolArray | None = None,
) -> PreparedAudit:
    """Return the prepared tables: types, roles, targets, and notes.

    ``by_lot`` is told where the two tables are one that was divided by lot: which rows of both, those of the control
    last, may be attacked. ``children`` are joined to one row per person, and without any a single table with several
    rows per person is; None leaves tables as they are.
    """
    joined = None if children is None else _joined(original, released, control, reference, children, settings)
    if joined is not None:
        original, released, control = joined.original, {joined.released.name: joined.released}, joined.control
        settings = joined.settings
    parts = settings.parts
    reading, told = settings.reading, settings.hierarchies.items()
    hierarchies = {name: each if isinstance(each, Hierarchy) else Hierarchy.read(each) for name, each in told}
    whole = with_roles(reading.frame(original, "original"), settings)
    whole = whole.with_readings(hierarchies=hierarchies, exact=settings.exact)
    outside = None if control is None else reading.frame(control, "control")
    found, control_notes = control_from(whole, reference, settings.person_key) if outside is None else (None, [])
    outside = outside if found is None else replace(found, name="control")
    refuse_constant(whole, settings)
    if any(part in ATTACKS for part in parts):
        refuse_repeated(whole, identifiers=settings.identifiers, ignore=(settings.weight, settings.household))
    notes = [*control_notes, *_role_notes(whole), *_weight_notes(whole, settings.weight)]
    notes += [] if joined is None else joined.notes
    seeds = rng.integers(2**63, size=5)
    ids = _ids(whole, settings), None if outside is None else _ids(outside, settings)
    # The person key of a release that has new ones is no column that it lacks.
    own_keys = {joined.finding.key} - {*joined.released.column_names} if joined is not None else set()
    people, others = _without(whole, own_keys), None if outside is None else _without(outside, own_keys)
    releases = []
    given_tables: list[Table] = []
    named = _named(released)
    settings = replace(settings, release_type=_release_types(settings.release_type, [name for name, _ in named]))
    for name, given in named:
        table = given.released if isinstance(given, Release) else reading.frame(given, name, released=True)
        related = () if joined is None else joined.children
        prepared, said = _prepared_release(name, given, table, people, others, settings, int(seeds[2]), related)
        releases.append(replace(prepared, ids=ids))
        # Flagged are all columns that a release has, also those that the original lacks.
        given_tables.append(replace(table, name=name))
        notes += said
    as_read = () if joined is None else (*joined.released_tables, *joined.original_tables)
    reading.check([whole, *given_tables, *([] if outside is None else [outside]), *as_read])
    population = _compared(whole, releases, reference, settings, 0 if found is None else found.rows)
    if population is not None and outside is not None and not population.control_people:
        releases, population, said = _with_reference(releases, population, reference, settings, int(seeds[2]))
        notes += said
    (targets, most), flags = side_by_side(
        lambda: _people(whole, outside, ids, settings, seeds.tolist(), by_lot),
        lambda: _flags([_without(each, own_keys) for each in as_read] or [*given_tables, whole]),
    )
    notes += _target_notes(targets.everybody.members, settings)
    return PreparedAudit(
        original=whole,
        control=outside,
        releases=tuple(releases),
        parts=_with_rows(parts, releases),
        people=targets,
        targets=most,
        seed=int(seeds[4]),
        groups=_groups(whole, outside, settings),
        flags=flags,
        settings=settings,
        notes=tuple(notes),
        reference=reference,
        population=population,
        control_of_siblings=found is not None and bool(reference.people),
        tables=None if joined is None else joined.finding,
    )


def _with_rows(parts: tuple[str, ...], releases: Sequence[PreparedRelease]) -> tuple[str, ...]:
    """Return the parts without attacks on child tables that no release has."""
    if any(each.release.children for each in releases):
        return parts
    kept = tuple(part for part in parts if part not in ATTACKS or not ATTACKS[part].needs_children)
    if parts and not kept:
        raise InputError(
            f"The release has no child tables, but {listed(parts)} compares them. Add child tables, or choose other "
            "attacks"
        )
    return kept


def _joined(
    original: Any,
    released: Any,
    control: Any,
    reference: ReferenceTables,
    children: Sequence[ChildSource],
    settings: AuditSettings,
) -> JoinedTables | None:
    """Return one row per person of child tables, or of a single table with several rows per person."""
    named = [] if children and released is None else _named(released)
    if children:
        if len(named) > 1 or any(isinstance(given, Release) for _, given in named):
            raise InputError("Child tables belong to one released table. Audit each release by itself, as a table")
        if reference.every or settings.suggest:
            raise InputError(
                "siblings, population and suggest need a single table. Leave them out, or the child tables"
            )
    else:
        by_rows = reference.every or settings.weight or settings.household or settings.suggest
        if len(named) != 1 or isinstance(named[0][1], Release) or settings.person_key is None or by_rows:
            return None
    reading = settings.reading
    name = next((name for name, _ in named), "release")
    whole = None if original is None else reading.frame(original, "original")
    table = None if not named else reading.frame(named[0][1], name, released=True)
    outside = None if control is None else reading.frame(control, "control")
    kind = _release_types(settings.release_type, [name])[name] if settings.release_type else None
    if not children:
        source = repeated_source(whole, table, outside, settings)
        if source is None:
            return None
        children, whole, table, outside = (source,), None, None, None
    made = join_people(whole, table, outside, children, settings, masked=kind == "masked")
    return replace(made, released=replace(made.released, name=name))


def _without(table: Table, columns: set[str]) -> Table:
    """Return a table without some columns."""
    return table.select([each for each in table.column_names if each not in columns]) if columns else table


def _compared(
    whole: Table,
    releases: Sequence[PreparedRelease],
    reference: ReferenceTables,
    settings: AuditSettings,
    control_rows: int,
) -> PopulationFinding | None:
    """Check siblings, and return the risk against a population file."""
    if reference.siblings and len(releases) > 1:
        # Each would have a test of its own with the same smallest p, so that several together would exceed the level.
        raise InputError(
            f"Siblings are of the same generator and settings as one release, but there are {len(releases)} releases. "
            "Audit each release by itself, with its own siblings"
        )
    if reference.population is not None and len(releases) > 1:
        raise InputError(
            f"A population file can be compared with one release, but there are {len(releases)}. Audit each release by "
            "itself"
        )
    release = releases[0].release
    if reference.siblings:
        # A control group that lacks columns leaves them out of the release: here they are looked for.
        check_siblings(release, compared_columns(releases[0].alone or release), reference)
    if reference.population is None:
        return None
    return population_finding(
        release,
        whole,
        reference.population,
        stated=tuple(settings.quasi_identifiers),
        population_is=settings.population_is,
        threshold=_risk_threshold(settings),
        control_people=0 if reference.people else control_rows,
    )


def _risk_threshold(settings: AuditSettings) -> float:
    """Return the risk of one person above which records are counted: that of the profile, if it has one."""
    allowed = profile(settings.profile).max_risk if settings.profile else None
    return RISK_ABOVE if allowed is None else allowed


def _with_reference(
    releases: list[PreparedRelease],
    finding: PopulationFinding,
    reference: ReferenceTables,
    settings: AuditSettings,
    seed: int,
) -> tuple[list[PreparedRelease], PopulationFinding, list[str]]:
    """Return releases with the population file as reference set of membership scores, where it can be, with notes."""
    release = releases[0].release
    if reference.population is None or release.control is None or "membership" not in settings.parts:
        return releases, finding, []
    people, why = reference_set(
        (release.original, release.control),
        reference.population,
        releases[0].known + releases[0].sensitive,
        identifier=settings.person_key,
        rng=np.random.default_rng([seed, 1]),
    )
    if people is None:
        return releases, finding, [why]
    # A population may hold values that the original lacks: it is read like the original.
    people = agree(release.original, release.released, people)[2]
    return [replace(each, reference=people) for each in releases], replace(finding, reference_people=people.rows), []


def with_roles(table: Table, settings: AuditSettings) -> Table:
    """Return the table with its given roles."""
    told: dict[str, Role] = dict.fromkeys(settings.sensitive, "sensitive")
    told |= dict.fromkeys(settings.identifiers_of(table), "identifier")
    told |= dict.fromkeys(settings.quasi_identifiers, "known")
    told |= {name: "ignored" for name in (settings.weight, settings.household) if name}
    for name in (*told, *([settings.group_by] if settings.group_by is not None else [])):
        table.column(name)
    columns = []
    for column in table.columns:
        role: Role | None = told.get(column.name)
        if role is None and settings.quasi_identifiers and column.role == "known":
            role = "ignored"
        if role is not None:
            kind_reason = column.reason.rpartition("; ")[0]
            column = replace(column, role=role, role_told=True, reason=f"{kind_reason}; {role}: as given")
        columns.append(column)
    return replace(table, columns=tuple(columns))


def _weight_notes(table: Table, weight: str | None) -> list[str]:
    """Return the note that rates ignore survey weights, where they exist."""
    if weight is not None:
        return [f"No rate uses the survey weights in {weight!r}: every row counts once. They only tell the population."]
    found = weight_columns(table.column_names)
    hold = "holds" if len(found) == 1 else "hold"
    return [f"If {listed(found)} {hold} survey weights: no rate uses them, every row counts once."] if found else []


def _role_notes(table: Table) -> list[str]:
    guessed = [column.name for column in table.columns if column.role == "identifier" and not column.role_told]
    if not guessed:
        return []
    names = ", ".join(map(repr, guessed[:5])) + (f" and {len(guessed) - 5} more" if len(guessed) > 5 else "")
    return [
        f"Treated as identifiers, so no attack uses them: {names}. If that is wrong, state them as quasi-identifiers."
    ]


def _target_notes(people: int, settings: AuditSettings) -> list[str]:
    if not isinstance(settings.targets, int) or settings.targets <= people:
        return []
    pattern = f"All {{}} of the original were attacked: there are no {settings.targets} of them."
    return [people_text(people, "person", "people", pattern=pattern)]


def _ids(table: Table, settings: AuditSettings) -> "pl.Series | None":
    """Return each row's person, by the first given identifier."""
    told = settings.identifiers[:1]
    return table.series(told[0]) if told and told[0] in table.column_names else None


def _people(
    whole: Table,
    outside: Table | None,
    ids: "tuple[pl.Series | None, pl.Series | None]",
    settings: AuditSettings,
    seeds: Sequence[int],
    by_lot: BoolArray | None,
) -> tuple[TargetPool, int | None]:
    """Return the population, its targets, and their numbers."""
    # A row of the original stands for a release: only the people count here.
    row = replace(whole.take([0]), name="original itself")
    itself = Release(whole, row, outside)
    everybody = pool_people(itself, ids)
    attacks = any(part in ATTACKS for part in settings.parts)
    if outside is not None and settings.household is not None and attacks:
        everybody = replace(everybody, household=_households(everybody, (whole, outside), settings.household))
    most = most_attacked(settings.targets, everybody.members, everybody.others)
    unit = everybody.person if everybody.household is None else everybody.household[everybody.person]
    units = np.split(unit, [whole.rows])
    tables = (whole, *(() if outside is None else (outside,)))
    drawn = []
    numbers = everybody.members, everybody.others
    for table, seed, own, number in zip(tables, seeds, units, numbers, strict=False):
        several = own.size > number or everybody.household is not None
        everyone = draw_people(table, rng=np.random.default_rng([seed, 0]), person=own if several else None)
        if by_lot is not None and not by_lot.all():
            first = 0 if table is whole else whole.rows
            drawn.append(everyone.divided(by_lot[first + everyone.rows]))
        elif most is not None and everybody.household is not None:
            drawn.append(everyone.split(everyone.people_of(most)))
        else:
            drawn.append(everyone.split(everyone.people if most is None else min(most, everyone.people)))
    rows = [attacked.rows for attacked, _ in drawn]
    attacked = np.concatenate([rows[0], *(whole.rows + each for each in rows[1:])])
    control = check_control(
        everybody,
        labels=labels,
        rng=np.random.default_rng([seeds[3], 0]),
        separate=bool(settings.identifiers),
        attacked=np.unique(everybody.person[attacked]),
    )
    if by_lot is not None and control.outcome != "too_small":
        control = replace(control, outcome="usable")
    by = None if settings.group_by is None else division(everybody, settings.group_by, whole, outside)
    compares = control.outcome in ("usable", "overlap")
    return (
        TargetPool(
            # Without what the checks found out on their way, some numbers for everybody.
            everybody=replace(everybody),
            inside=rows[0],
            outside=rows[1] if len(rows) > 1 else np.empty(0, np.int64),
            control=control,
            by=by,
            groups=arrays_on_disk(pool_groups(everybody, by=by) if compares else (), whole.store),
            parts=divide_people(drawn[0][0], *drawn[1]) if compares else None,
            by_lot=by_lot is not None,
        ),
        most,
    )


def _households(pool: PooledTables, tables: Sequence[Table], column: str) -> IntArray:
    """Return the household of each person."""
    for table in tables:
        if column not in table.column_names:
            raise InputError(
                f"The household column {column!r} is missing from the {table.name}. Add it to the original and the "
                "control group, or leave out the household column"
            )
    return number_households(pool, [table.series(column) for table in tables])


def _named(released: Any) -> list[tuple[str, Any]]:
    if isinstance(released, Mapping) and not is_one_table(released):
        named: list[tuple[str, Any]] = [(str(name), each) for name, each in released.items()]
    elif isinstance(released, list | tuple) and not is_one_table(released):
        named = [(_own_name(each) or f"release {at}", each) for at, each in enumerate(released, start=1)]
    else:
        named = [(_own_name(released) or "release", released)]
    if not named:
        raise InputError("There is no release to audit. Pass the released table")
    seen: set[str] = set()
    for name, _ in named:
        if name in seen:
            raise InputError(f"Two releases have the name {name!r}. Rename one")
        seen.add(name)
    return named


def _release_types(given: Any, names: Sequence[str]) -> dict[str, ReleaseKind | None]:
    """Return the given type of each release: one for all, one for each, or by name."""
    if not isinstance(given, Mapping):
        is_one = given is None or isinstance(given, str)
        types: list[Any] = [given or None] * len(names) if is_one else list(given)
        if len(types) != len(names):
            raise InputError(
                f"The number of release types is {len(types)}, but that of releases is {len(names)}. Give one for each"
            )
        return dict(zip(names, types, strict=True))
    for name in given:
        if name not in names:
            hint = did_you_mean(name, names) or " Name one that is there."
            raise InputError(f"A release type is given for {name!r}, which is not a release.{hint}")
    return dict(given)


def _own_name(given: Any) -> str | None:
    return given.name if isinstance(given, Table | Release) else None


def _prepared_release(
    label: str,
    given: Any,
    table: Table,
    whole: Table,
    outside: Table | None,
    settings: AuditSettings,
    seed: int,
    children: tuple[ChildRelease, ...] = (),
) -> tuple[PreparedRelease, list[str]]:
    kind = settings.release_type.get(label)
    truth = None
    if isinstance(given, Release):
        kind = kind or given.kind
        truth = given.truth
        children = given.children
    type_source: TypeSource | None = None if kind is None else "stated"
    release = _masked(label, table, whole, outside) if kind is None else None
    if release is not None:
        kind, type_source = "masked", "detected"
    else:
        release = Release(whole, table, outside, kind=kind, name=label)
    release = replace(release, children=children) if children else release
    alone = Release(whole, table, None, kind=kind, name=label)
    check_weights(alone, settings)
    near = near_names(whole, table)
    # These stand above the headline.
    loud = {unsure_note(release.original.columns), *(near_note(*names, table.name) for names in near)}
    notes = [note if note.endswith(".") else f"{note}." for note in release.notes if note not in loud]
    if kind is None:
        masked = " and ".join(attack.title.lower() for attack in ATTACKS.values() if attack.needs_masked)
        notes.append(
            f"The release type of {label!r} is not stated and was not detected. Not run, because it needs a masked "
            f"release: {masked}."
        )
    if settings.neighbors is None and usual_neighbours(table.rows) != USUAL_NEIGHBOURS:
        notes.append(
            f"Linkability uses only the nearest row of {label!r}, not the {USUAL_NEIGHBOURS[-1]} nearest: the release "
            f"has at most {FEW_ROWS} rows."
        )
    left_out = {column.name: _ROLE_WORDS[column.role] for column in release.original.columns if column.role != "known"}
    known = tuple(column.name for column in release.original.columns if column.role == "known")
    if not known:
        raise InputError(
            f"An attacker can know no column of {label!r}: all columns that it shares with the original are "
            "identifiers, sensitive, or ignored. State some as quasi-identifiers"
        )
    found, said = _identified(release)
    prepared = PreparedRelease(
        release=release,
        known=known,
        sensitive=tuple(column.name for column in release.original.columns if column.role == "sensitive"),
        withheld=tuple(
            column.name
            for column in whole.columns
            if column.role == "sensitive" and column.name not in release.original.column_names
        ),
        left_out=left_out,
        truth=found if truth is None else np.asarray(truth, np.int64),
        sha256=table.sha256,
        seed=seed,
        alone=alone,
        near_names=near,
        columns_left_out=sum(
            column.role in ("known", "sensitive") and column.name not in release.original.column_names
            for column in whole.columns
        ),
        type_source=type_source,
    )
    return prepared, notes + said


def _masked(label: str, table: Table, whole: Table, outside: Table | None) -> Release | None:
    """Return the release read as masked where rows match, else None."""
    rows = whole.rows + (0 if outside is None else outside.rows)
    if rows * len(whole.columns) > MOST_MATCHED:
        return None
    try:
        release = Release(whole, table, outside, kind="masked", name=label)
    except InputError:
        return None  # read as it stands, it says what is wrong
    return release if is_masked(release, compared_with_people(release)) else None


def compared_with_people(release: Release) -> tuple[str, ...]:
    """Return the columns compared between released rows and people."""
    return tuple(column.name for column in release.original.columns if column.role != "identifier")


def _identified(release: Release) -> tuple[IntArray | None, list[str]]:
    """Return the true matches of a release by identifier, and a warning."""
    import polars as pl

    names = [column.name for column in release.original.columns if column.role == "identifier"]
    if not names:
        return None, []
    notes = [
        f"The release {release.name!r} still has the identifier {names[0]!r}. It was used only to match rows to "
        "people. It identifies every person, so remove it before the release."
    ]
    own, theirs = release.original.series(names[0]), release.released.series(names[0])
    if own.drop_nulls().n_unique() < own.len() - own.null_count():
        return None, notes
    where = pl.DataFrame({"key": own, "row": np.arange(own.len())}).drop_nulls("key")
    found = pl.DataFrame({"key": theirs}).join(where, on="key", how="left", maintain_order="left")["row"]
    if found.null_count() == found.len():
        return None, notes
    return found.fill_null(-1).to_numpy().astype(np.int64), notes


def _groups(whole: Table, outside: Table | None, settings: AuditSettings) -> Labels | None:
    """Return the subgroup of each row of original and control."""
    if settings.group_by is None:
        return None
    inside = bands(whole, settings.group_by)
    if outside is None or settings.group_by not in outside.column_names:
        return inside, None
    own, others = agree(whole.select([settings.group_by]), outside.select([settings.group_by]))
    return inside, bands(others, settings.group_by, like=own)


def _flags(tables: Sequence[Table]) -> tuple[TableFlags, ...]:
    """Return columns that look like direct identifiers, of each table."""
    return tuple(TableFlags(table=each.name, flags=direct_identifiers(each)) for each in tables)
