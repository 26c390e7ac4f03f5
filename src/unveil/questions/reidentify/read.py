"""Read a re-identification question: files, release, truth, columns, and attacks."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks.specification import TableAttack, attack_from, attack_text
from unveil.attacks.table.bayes import Bayes
from unveil.attacks.table.candidate_set import CandidateSet
from unveil.attacks.table.rank_intersection import RankIntersection
from unveil.data.files.settings import FileSettings
from unveil.data.files.source import shown
from unveil.data.mechanism import Mechanism
from unveil.data.table import Dictionary, Hierarchy, Table
from unveil.data.table.agree import agree
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.guesses.candidates import NOBODY
from unveil.guesses.partition import exact_fraction
from unveil.protections import TableProtection, protection_text
from unveil.protections.declared_method import declared_mechanism
from unveil.protections.dialects import ParsedProtection, as_written
from unveil.protections.specification import applied
from unveil.questions.reading import reading_of
from unveil.questions.reidentify.findings import NotRun
from unveil.questions.reidentify.settings import LEAVES, ReidentifySettings
from unveil.report.progress import Progress

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike  # type: ignore[type-arg]

_SAMPLE_ROWS = 120
_SAMPLE_SEED = 1996

_ORDER_TOLD = "in the order in which they were named"
_ORDER_FOUND = "the most telling first, by the entropy of the original column"


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseCase:
    """The attacker's view of a release: both tables, quasi-identifiers only.

    ``truth`` is the original row of each released one, -1 for those that come from nobody.
    """

    original: Table
    released: Table
    truth: IntArray
    mechanism: Mechanism | None

    def with_columns(self, names: Sequence[str]) -> "ReleaseCase":
        """Return the case of an attacker who knows these columns only."""
        return replace(self, original=self.original.select(names), released=self.released.select(names))


@dataclass(frozen=True, kw_only=True, eq=False)
class ReidentifyInputs:
    """A checked question.

    Attributes
    ----------
    case
        The release as the adversary meets it.
    release
        The original and the release with all columns.
    order
        In which order columns are learnt, in words.
    attacks
        The attacks by how they are written.
    protect
        How the release was made, as it is written; None for a release made elsewhere by a method that is not known.
    notes
        What has to be said.
    declared, against, refuting
        Whether the method was declared for a release made elsewhere, what shows that it did not make it, and how many
        released records do.
    not_run
        Attacks that need a method which did not make the file.
    """

    case: ReleaseCase
    release: Release
    order: str
    attacks: dict[str, TableAttack]
    protect: str | None
    notes: tuple[str, ...]
    declared: bool = False
    against: tuple[str, ...] = ()
    refuting: int = 0
    not_run: tuple[NotRun, ...] = ()


def inputs_of(
    original: Any,
    released: Any,
    settings: ReidentifySettings,
    *,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
) -> ReidentifyInputs:
    """Return the checked question; make the release if needed."""
    table, released, truth = _tables(original, released, settings, progress)
    protect, known = settings.method or None, settings.quasi_identifiers
    people, about_roles = _with_known(table, known)
    progress("protecting", 0.0)
    release, protection = _made_release(people, released, truth, protect, rng)
    numbers = _checked_truth(release, people.rows)
    declared = released is not None and protection is not None
    if declared:
        people, release = _recognized(people, release, protection, numbers, known, rng)
    case, order = _case_of(people, release, numbers, known)
    chosen, not_run = _chosen_attacks(settings.attacks, protection, release, case)
    return ReidentifyInputs(
        case=case,
        release=Release(people, release.released),
        order=order,
        attacks=chosen,
        protect=None if protect is None else (protect if isinstance(protect, str) else protection_text(protect)),
        notes=(*notes, *about_roles, *release.notes),
        declared=declared,
        against=release.against,
        refuting=release.refuting,
        not_run=not_run,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _ReadRelease:
    """A release: the table, the person behind each row, its mechanism if known, and notes."""

    released: Table
    truth: Any
    mechanism: Mechanism | None = None
    notes: tuple[str, ...] = ()
    #: What shows that the method declared did not make it, and how many released rows do.
    against: tuple[str, ...] = ()
    refuting: int = 0


def _with_known(people: Table, known: Sequence[str]) -> tuple[Table, tuple[str, ...]]:
    """Return the people with their quasi-identifiers, and notes on guesses.

    A protection leaves out what it takes for an identifier, so that this comes before it.
    """
    if known:
        if len(set(known)) < len(known):
            raise InputError("The quasi-identifiers name a column twice. Leave out one of them")
        for name in known:
            people.column(name)
        told = set(known)
        columns = tuple(
            replace(each, role="known", role_told=True) if each.name in told else each for each in people.columns
        )
        return replace(people, columns=columns), ()
    taken = [repr(each.name) for each in people.columns if each.role == "identifier" and not each.role_told]
    if not taken:
        return people, ()
    return people, (
        f"Left out as direct identifiers: {', '.join(taken)}. Name them as quasi-identifiers if the attacker "
        "knows them.",
    )


def _made_release(
    people: Table, released: Any, truth: Any, protect: str | TableProtection | None, rng: np.random.Generator
) -> tuple[_ReadRelease, TableProtection | None]:
    """Return the release and its protection, made here or declared."""
    if released is None and protect is None:
        raise InputError("The release is missing. Pass one, or a protection that makes one")
    written = as_written(protect) if isinstance(protect, str) else ParsedProtection(protect)
    protection: Any = written.protection
    if released is None:
        if not callable(getattr(protection, "apply", None)):
            raise InputError(
                f"{protect} can only be declared for a given release, and none was named. Name one, or a "
                "protection that makes one ('unveil list protections')"
            )
        made: Release = applied(protection, people, rng=rng)
        if made.truth is None:
            raise InputError(
                "This protection generates rows without an original. Choose one of type masked ('unveil list "
                "protections')"
            )
        own = protection if callable(getattr(protection, "log_likelihood", None)) else None
        return _ReadRelease(
            released=made.released, truth=made.truth, mechanism=made.mechanism or own, notes=made.notes
        ), protection
    if isinstance(released, Release):
        own = released.truth if truth is None else truth
        made_so = released.mechanism if protection is None else None
        notes = (*released.notes, *written.notes)
        return _ReadRelease(released=released.released, truth=own, mechanism=made_so, notes=notes), protection
    table = released if isinstance(released, Table) else Table.from_frame(released, name="release")
    return _ReadRelease(released=table, truth=truth, notes=written.notes), protection


def _recognized(
    people: Table,
    release: _ReadRelease,
    protection: object,
    truth: IntArray,
    known: Sequence[str],
    rng: np.random.Generator,
) -> tuple[Table, _ReadRelease]:
    """Return both tables with matching columns, and the declared masking."""
    original, released = agree(people, release.released, masked=True)
    names = _known_names(original, released, known)
    left_out = [each.name for each in original.columns if each.role != "identifier" and each.name not in names]
    # A stream of its own, so that declaring a method changes no other figure.
    found = declared_mechanism(protection, original, released, truth, only=names, rng=rng.spawn(1)[0])
    notes = tuple(each for each in (*original.notes, *released.notes) if each not in release.notes)
    if left_out:
        notes += (f"the declared method was checked in the {len(names)} quasi-identifiers",)
    return original, replace(release, released=released, notes=(*release.notes, *notes), **found._asdict())


def _checked_truth(release: _ReadRelease, originals: int) -> IntArray:
    """Return the original row of each released one, -1 for none."""
    rows = release.released.rows
    if release.truth is None:
        raise InputError("The true match of each released row is missing. Pass truth")
    numbers = np.asarray(release.truth)
    if numbers.shape != (rows,) or numbers.dtype.kind not in "iu":
        raise InputError(
            f"truth needs one whole number for each of the {rows} released rows, -1 for none. Pass as many"
        )
    numbers = numbers.astype(np.int64)
    if ((numbers < NOBODY) | (numbers >= originals)).any():
        raise InputError(
            f"truth names original rows outside 0 to {originals - 1} (-1 for none). Correct the row numbers"
        )
    some = numbers[numbers != NOBODY]
    if np.unique(some).size < some.size:
        raise InputError(
            f"truth repeats original rows ({some.size - np.unique(some).size:,} too many). Name each at most once"
        )
    return numbers


def _case_of(people: Table, release: _ReadRelease, truth: IntArray, known: Sequence[str]) -> tuple[ReleaseCase, str]:
    """Return both tables with the quasi-identifiers, in order of learning."""
    if known:
        for name in known:
            release.released.column(name)
        names, order = list(known), _ORDER_TOLD
    else:
        names = _known_names(people, release.released, known)
        names.sort(key=lambda name: -_entropy(people, name))
        order = _ORDER_FOUND
    tables = [_all_known(table.select(names)) for table in (people, release.released)]
    return ReleaseCase(original=tables[0], released=tables[1], truth=truth, mechanism=release.mechanism), order


def _known_names(people: Table, released: Table, known: Sequence[str]) -> list[str]:
    """Return the quasi-identifiers of both tables."""
    if known:
        return list(known)
    there = set(released.column_names)
    names = [each.name for each in people.columns if each.role == "known" and each.name in there]
    if not names:
        raise InputError(
            f"{people.name} and {released.name} share no quasi-identifier. Name the columns that the attacker knows"
        )
    return names


def _entropy(table: Table, name: str) -> float:
    count = table.series(name).value_counts(name="how often")["how often"].to_numpy() / table.rows
    # Rounded, so that equal columns keep the order of the table.
    return round(float(-(count * np.log(count)).sum()), 9)


def _all_known(table: Table) -> Table:
    return replace(table, columns=tuple(replace(each, role="known", role_told=True) for each in table.columns))


def _chosen_attacks(
    requested: Sequence[str | TableAttack], protection: TableProtection | None, release: _ReadRelease, case: ReleaseCase
) -> tuple[dict[str, TableAttack], tuple[NotRun, ...]]:
    """Return the attacks by name, and those that cannot run."""
    if not requested:
        raise InputError("No attack was named. Name at least one ('unveil list attacks' shows all)")
    chosen: dict[str, TableAttack] = {}
    not_run = []
    for each in requested:
        attack = attack_from(each, leaves=LEAVES) if isinstance(each, str) else each
        name = each.strip() if isinstance(each, str) else attack_text(attack)
        if isinstance(attack, RankIntersection) and attack.p is None:
            p = _percentage(protection)
            if p is not None:
                attack = replace(attack, p=p)
                name += f"{',' if ':' in name else ':'}p={p:g}"
        if isinstance(attack, Bayes) or (isinstance(attack, CandidateSet) and not attack.reach):
            attack = replace(attack, mechanism=attack.mechanism or release.mechanism)
            if release.against and attack.mechanism is None:
                not_run.append(NotRun(name, "it needs the method that made the release"))
                continue
        if name in chosen:
            raise InputError(f"Attack {name!r} is named twice. Name each once, or change a setting")
        for column in getattr(attack, "columns", None) or ():
            if column not in case.original.column_names:
                raise InputError(
                    f"Attack {name!r} uses column {column!r}, which is not a quasi-identifier. "
                    f"Quasi-identifiers: {', '.join(map(repr, case.original.column_names))}. Change one of "
                    "the two"
                )
        chosen[name] = attack
    return chosen, tuple(not_run)


def _percentage(protection: TableProtection | None) -> float | None:
    """Return the largest rank change of a protection, in percent, if declared."""
    p, share = getattr(protection, "p", None), getattr(protection, "share", None)
    if p is not None:
        return float(p)
    return None if share is None else float(exact_fraction(share, what="share") * 100)


def _tables(original: Any, released: Any, settings: ReidentifySettings, progress: Progress) -> tuple[Table, Any, Any]:
    """Return the people, the release, and the truth, from files."""
    truth, identifier = settings.truth, settings.identifier
    is_file = isinstance(released, PathLike)
    if is_file and (truth is None) == (not identifier):
        seen = "neither was" if truth is None else "both were"
        raise InputError(
            f"The true match of each released row needs either truth or an identifier column, but {seen} "
            "given. Pass one"
        )
    if released is None and truth is not None:
        raise InputError("The truth belongs to a given release, and no released file was named. Name one")
    if identifier and not isinstance(original, PathLike):
        raise InputError("identifier needs files, but the tables are data frames. Pass paths, or truth")
    reading = reading_of(settings)
    progress("reading", 0.0)
    people = _named(reading.table(original, "original"), identifier)
    files = {**(reading.dictionary.hierarchies if isinstance(reading.dictionary, Dictionary) else {})}
    files |= settings.hierarchies
    people = people.with_readings(hierarchies={name: Hierarchy.read(path) for name, path in files.items()})
    if not is_file:
        reading.check([people])
        made_elsewhere = released is None or isinstance(released, Release | Table)
        return people, released if made_elsewhere else reading.frame(released, "release"), truth
    progress("reading", 0.5)
    table = _named(reading.file(released, "release", released=True), identifier)
    reading.check([people, table])
    if identifier:
        return people, table, _by_identifier(original, released, identifier, reading.files)
    if isinstance(truth, PathLike):
        truth = read_truth(truth, released=table.rows, originals=people.rows)
    return people, table, truth


def _named(table: Table, identifier: str) -> Table:
    """Return the table with this column as an identifier, which no attack sees."""
    if not identifier:
        return table
    table.column(identifier)
    told = (
        replace(each, role="identifier", role_told=True) if each.name == identifier else each for each in table.columns
    )
    return replace(table, columns=tuple(told))


def _by_identifier(original: Any, released: Any, identifier: str, reading: FileSettings) -> IntArray:
    """Return each released row's original by a common identifier column."""
    import polars as pl

    from unveil.data.files.read import read_table, refuse_cells, refuse_repeats

    frames = []
    for path in (original, released):
        frame = read_table(path, {identifier: identifier}, complete=[identifier], **vars(reading))
        refuse_repeats(frame, path, [identifier])
        frames.append(pl.DataFrame({"name": frame.get_column(identifier)}))
    people, rows = frames
    found = rows.join(people.with_row_index("place"), on="name", how="left", maintain_order="left")["place"]
    refuse_cells(found.is_null(), released, identifier, f"name a person of {shown(Path(original))}")
    return found.cast(pl.Int64).to_numpy().astype(np.int64)


def read_truth(path: Any, *, released: int, originals: int) -> IntArray:
    """Return each released row's original from the columns ``released`` and ``original``.

    In the file rows are counted from 1; an empty ``original`` is a released row that comes from nobody, -1 here.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "truth.csv")
    ...     _ = file.write_text("released,original" + chr(10) + "2,1" + chr(10) + "1,3" + chr(10))
    ...     read_truth(file, released=2, originals=3)
    array([2, 0])
    """
    from unveil.data.files.read import read_table, refuse_repeats

    frame = read_table(path, {"released": "released", "original": "original"}, complete=["released"])
    numbers = {
        name: _numbers(frame[name], path, most) for name, most in (("released", released), ("original", originals))
    }
    refuse_repeats(frame, path, ["released"])
    refuse_repeats(frame.filter(frame["original"].is_not_null()), path, ["original"])
    if frame.height < released:
        raise InputError(
            f"{shown(Path(path))} lacks {released - frame.height} of {released} released rows. Add them, with "
            "an empty original for rows without one"
        )
    truth = np.full(released, NOBODY)
    truth[numbers["released"]] = numbers["original"]
    return truth


def _numbers(cells: "pl.Series", path: Any, at_most: int) -> IntArray:
    """Return row numbers counted from 0, -1 for an empty cell."""
    import polars as pl

    from unveil.data.files.read import refuse_cells

    plain = cells.str.strip_chars().str.contains(r"^0*[1-9][0-9]{0,15}$")
    found = cells.str.strip_chars().cast(pl.Int64, strict=False)
    wrong = cells.is_not_null() & ~(plain & (found <= at_most)).fill_null(False)
    refuse_cells(wrong, path, cells.name, f"hold a row number from 1 to {at_most}")
    return (found.fill_null(NOBODY + 1) - 1).to_numpy().astype(np.int64)


def reidentify_sample() -> Table:
    """Return the example: 120 people of the bundled election study.

    >>> reidentify_sample().rows
    120
    """
    from unveil.data.samples import audit_sample

    people, _ = audit_sample()
    drawn = np.random.default_rng(_SAMPLE_SEED).choice(people.rows, _SAMPLE_ROWS, replace=False)
    return replace(people.take(np.sort(drawn)), name="original")
