"""Estimate the time and memory of an audit from table sizes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from types import MappingProxyType

from unveil._kernels.threads import available
from unveil.data.files.column_store import ColumnStore, can_map
from unveil.data.files.read import typed_cells
from unveil.data.files.source import open_source, shown
from unveil.data.table import Table
from unveil.errors import UnveilError
from unveil.questions.audit.inputs import PreparedAudit
from unveil.questions.audit.read import AuditFiles, AuditTables
from unveil.questions.audit.settings import RunSettings
from unveil.questions.reading import TableReading
from unveil.report.progress import Progress, Say
from unveil.report.text import count, duration
from unveil.work.memory import available_memory, check_memory, physical_memory, size_shown

#: CPU seconds of each part of an audit on tables of so many rows and columns, with a control of a quarter as many rows:
#: printed by ``python -m benchmarks.audit_scale 10000 100000 1000000 --threads 1 --table``.
ROWS, COLUMNS = (10_000, 100_000, 1_000_000), 15
SECONDS: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "reading": (1.3, 1.8, 6.5),
        "singling_out": (0.3, 0.7, 5.2),
        "linkability": (0.6, 1.2, 4.0),
        "inference": (0.5, 1.6, 7.6),
        "attribute_disclosure": (0.2, 0.3, 1.8),
        "memory": (5.4, 4.8, 12.3),
        "membership": (0.8, 3.6, 11.2),
        "record_linkage": (0.0, 0.0, 0.0),
        "copies": (0.1, 0.2, 2.7),
        "closest_record": (0.0, 0.1, 0.8),
        "neighbour_ratio": (0.0, 0.2, 0.9),
        "row_order": (0.2, 0.3, 0.5),
        "utility": (0.6, 0.8, 3.0),
        "disclosure": (0.1, 0.2, 0.8),
        "unseen": (0.0, 0.1, 0.6),
        "before": (0.8, 2.2, 18.6),
        "judging": (2.4, 2.1, 2.2),
        "weigh": (0.3, 0.5, 4.5),
    }
)
#: What is taken before any table is read, and per cell of all tables, so that the peaks of such runs on two threads
#: lie below it, which compute two parts at a time.
BASE, PER_CELL = 900 * 2**20, 50
#: The same where tables lie on disk and large parts are computed one at a time: what belongs to no file.
STORED_BASE, STORED_PER_CELL = 700 * 2**20, 8
#: Unless told, tables are held in memory where an audit is projected to take up to this share of what nobody uses.
_SHARE = 0.7
#: n threads are n to the power of this times as fast as one: learners and checks of columns keep Python's lock.
_THREADS = 0.7
#: The same where large parts are computed one at a time.
_THREADS_ALONE = 0.6
#: An audit of so many seconds is worth a sentence before it begins.
LONG = 30.0
_ADVICE = "Allow more memory, leave out columns, audit a sample of the rows, or use fewer workers"
#: Of a text so many bytes are looked at for how long its lines are.
_LINES = 1 << 16


@dataclass(frozen=True)
class Projection:
    """Estimated wall time in seconds and memory in bytes."""

    seconds: float
    memory: int


def projected(prepared: PreparedAudit, run: RunSettings, *, suggest: int = 0) -> Projection:
    """Return the estimate of an audit, with its suggested changes."""
    releases = [each.release.released for each in prepared.releases]
    whole, columns = prepared.original, len(prepared.original.columns)
    tables = [whole, *releases, *([] if prepared.control is None else [prepared.control])]
    inner = [child.release for each in prepared.releases for child in each.release.children]
    rows = [table for each in inner for table in (each.original, each.released, each.control) if table is not None]
    each = (*(part for part in prepared.parts if part != "before"), "unseen", "weigh", "judging")
    seconds = sum(part_seconds(part, max(whole.rows, table.rows), columns) for table in releases for part in each)
    if "before" in prepared.parts:
        seconds += part_seconds("before", whole.rows, columns)
    threads, stored = prepared.settings.threads or available(), prepared.original.store is not None
    hands = run.processes or (1 if run.cluster is not None else threads ** (_THREADS_ALONE if stored else _THREADS))
    return Projection((1 + suggest) * seconds / hands, memory_of(cells_in([*tables, *rows]), run, stored=stored))


def part_seconds(part: str, rows: int, columns: int) -> float:
    """Return the CPU seconds of a part, interpolated between measured sizes.

    Below the smallest size that was measured it is as many times less as there are fewer rows, and beyond the largest
    as many times more as there are more.
    """
    measured = SECONDS.get(part)
    if measured is None:
        return 0.0
    scale = columns / COLUMNS
    if rows <= ROWS[0]:
        return scale * measured[0] * rows / ROWS[0]
    if rows >= ROWS[-1]:
        return scale * measured[-1] * rows / ROWS[-1]
    at = 0 if rows <= ROWS[1] else 1
    # Whatever takes next to nothing cannot be told from nothing, whose logarithm has no end.
    low, high = (max(each, 1e-3) for each in measured[at : at + 2])
    power = log(high / low) / log(ROWS[at + 1] / ROWS[at])
    return scale * low * exp(power * log(rows / ROWS[at]))


def cells_in(tables: Iterable[Table]) -> int:
    """Return how many cells tables have together."""
    return sum(table.rows * len(table.columns) for table in tables)


def memory_of(cells: int, run: RunSettings, *, stored: bool = False) -> int:
    """Return the peak memory of an audit in bytes.

    Of tables that are ``stored`` on disk it is what the system cannot drop.
    """
    base, per_cell = (STORED_BASE, STORED_PER_CELL) if stored else (BASE, PER_CELL)
    return (1 + run.processes) * (base + per_cell * cells)


def read_tables(files: AuditFiles, run: RunSettings, *, progress: Progress, say: Say) -> AuditTables:
    """Return the tables: in memory, or on disk if too large.

    What would take too much even then is refused before files are read, as far as their heads tell how large they are.
    """
    store = _store_for(sum(cells_of(path, files.reading) or 0 for path in files.paths), run, say=say)
    tables = files.read(progress, store=store)
    if store is None and (store := _store_for(cells_in(tables.every), run, say=say)) is not None:
        tables = tables.stored(store)
    return tables


def _store_for(cells: int, run: RunSettings, *, say: Say) -> ColumnStore | None:
    """Return the folder of tables too large for memory, or None."""
    need, limit = memory_of(cells, run), int(_SHARE * available_memory()) if run.memory is None else run.memory
    if need <= limit:
        return None
    if can_map():
        check_memory(memory_of(cells, run, stored=True), run.memory, "this audit, from disk,", advice=_ADVICE)
    else:
        check_memory(need, run.memory, "this audit", advice=_ADVICE)
        return None
    store = ColumnStore()
    say(
        f"The tables are worked on from disk, in {shown(store.folder)}: held in memory, the audit is projected to take "
        f"{size_shown(need)}, and may take {size_shown(limit)}."
    )
    return store


def forewarn(prepared: PreparedAudit, run: RunSettings, *, say: Say, suggest: int = 0) -> None:
    """Print the estimate of a long audit; refuse one without memory."""
    found = projected(prepared, run, suggest=suggest)
    advice = _ADVICE if prepared.original.store is not None else f"{_ADVICE}; tables in files are worked on from disk"
    check_memory(found.memory, run.memory, "this audit", advice=advice)
    beyond = run.cluster is None and found.memory > physical_memory()
    if found.seconds < LONG and not beyond:
        return
    size = f"{count(prepared.original.rows, 'row', 'rows')} and {count(len(prepared.original.columns))} columns"
    time = f"about {duration(found.seconds)}" + " of one worker, divided by how many there are" * bool(run.cluster)
    kept = ", less what is kept already" if run.resume is not None and run.resume.exists() else ""
    memory = f"{size_shown(found.memory)} of memory" + " in each worker" * bool(run.cluster)
    more = ", which is more than this machine has: it may be stopped by the system" if beyond else ""
    say(f"An audit of {size}: {time}{kept}, and up to {memory}{more}.")


def cells_of(path: Path, reading: TableReading) -> int | None:
    """Return a file's approximate number of cells, or None."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_LINES)
        if head.startswith(b"PAR1"):
            return typed_cells(open_source(path, reading.files))
        if head.startswith((b"PK", b"\x1f\x8b")):  # packed: how much is in it is seen only once it is unpacked
            return None
        source = open_source(path, reading.files)
        if source.kind != "csv" or source.content is not None:
            return None
    except (OSError, ValueError, UnveilError):
        return None  # reading says what is wrong
    lines = head.splitlines()
    width = lines[0].decode("utf-8", "replace").count(source.dialect.separator) + 1
    return width * max(1, round(path.stat().st_size * len(lines) / len(head)) - 1)
