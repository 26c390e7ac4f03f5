"""Read an existing release with its original and its possible control."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Dictionary, Table, read_dictionary
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.verdict.pooled_tables import pool_tables
from unveil.studies.index import REST, without_variables
from unveil.studies.scenario import DataSet
from unveil.studies.sources import digest_of, path_of, paths_of
from unveil.work.memory import check_memory, check_reading, table_bytes


class ExistingTables(NamedTuple):
    """Release with the matching columns of its original people.

    ``control`` are people who are not in the data, None where there are none; ``made`` is "masked" or "synthetic", or
    None where nobody said so.
    """

    name: str
    original: Table
    released: Table
    control: Table | None
    made: str | None


def tables_of(data: DataSet, *, memory: int | None = None) -> ExistingTables:
    """Return the tables of a release, with its columns only.

    Raises
    ------
    InputError
        If a file cannot be read or is not the one that the study began with, if the release has no column of its
        original, or if the control is the rest of the original and somebody of the release is not in it.
    """
    given = data.given
    if given is None:
        raise InputError(f"the data {data.name!r} must be a release with its original, but have none. Name one")
    for path in paths_of(data):
        check_reading(path, memory, f"the release {data.name!r}")
    if data.digest and digest_of(data) != data.digest:
        raise InputError(
            f"the files of the release {data.name!r} changed after the study began. "
            "Restore the files, or start the study in another folder"
        )
    sources = {key: without_variables(getattr(given, key), data.name) for key in ("original", "dictionary", "control")}
    whole = _read(Path(sources["original"]), _changed(sources["original"]), "original", sources["dictionary"])
    released = Table.read(path_of(data), name="release", elsewhere=True)
    shared = [name for name in whole.column_names if name in released.column_names]
    if not shared:
        raise InputError(
            f"the release {data.name!r} must have columns of its original {given.original_name!r}, but has none of "
            "them. Name the right original"
        )
    check_memory(table_bytes(whole.rows + released.rows, len(shared)), memory, f"an audit of {data.name!r}")
    original, control = whole.select(shared), None
    if given.control == REST:
        members, others = divided(original, released, name=data.name)
        original, control = original.take(members), replace(original.take(others), name="control")
    elif given.control:
        control = _read(Path(sources["control"]), _changed(sources["control"]), "control", sources["dictionary"])
        control = control.select([name for name in shared if name in control.column_names])
    return ExistingTables(data.name, original, released, control, given.made or None)


def divided(original: Table, released: Table, *, name: str) -> tuple[IntArray, IntArray]:
    """Return the released rows of the original, and the rest.

    Rows are the same where they are equal in all columns of the original. Of several equal ones as many are taken as
    are released; which of them makes no difference, since nothing tells them apart.

    Raises
    ------
    InputError
        If a released row is not in the original, or more often than there.
    """
    pooled = pool_tables(Release(original, released, name=name))
    kept = np.bincount(pooled.released_record, minlength=pooled.records)
    if pooled.released_record.size < released.rows:
        kept[:] = original.rows + 1  # a cell that may be several values is no row of the original
    have = np.bincount(pooled.record, minlength=pooled.records)
    if (kept > have).any():
        missing = int(np.maximum(kept - have, 0).sum()) if pooled.released_record.size == released.rows else None
        many = "some" if missing is None else f"{missing:,} of {released.rows:,}"
        raise InputError(
            f"with the rest as control every row of the release {name!r} must be a row of its original, but {many} are "
            "not. Remove the control, or name a file with a control group"
        )
    order = np.argsort(pooled.record, kind="stable")
    record = pooled.record[order]
    first = np.searchsorted(record, record)
    is_kept = np.zeros(original.rows, np.bool_)
    is_kept[order] = np.arange(record.size) - first < kept[record]
    return np.flatnonzero(is_kept), np.flatnonzero(~is_kept)


def _changed(source: str) -> int:
    try:
        return Path(source).stat().st_mtime_ns
    except OSError:
        return 0  # reading it says what is wrong


# A worker goes from release to release, most of them of one original.
@lru_cache(maxsize=3)
def _read(path: Path, _changed: int, name: str, dictionary: str) -> Table:
    told: Dictionary | None = read_dictionary(dictionary) if dictionary else None
    return Table.read(path, name=name, dictionary=told, elsewhere=True)
