"""What an audit will take is said before it begins, from sizes that are read off the heads of files."""

import gzip
from math import prod
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.data.files.test_column_store import on_unix
from tests.questions.audit.example import CONTROL, MASKED, ORIGINAL, ask
from unveil.errors import InputError
from unveil.questions.audit import projection, run
from unveil.questions.audit.answer import audit
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.inputs import PreparedAudit, prepare
from unveil.questions.audit.projection import (
    BASE,
    COLUMNS,
    PER_CELL,
    ROWS,
    SECONDS,
    STORED_BASE,
    STORED_PER_CELL,
    cells_of,
    memory_of,
    part_seconds,
)
from unveil.questions.audit.read import AuditFiles
from unveil.questions.audit.settings import MEASURES, RunSettings
from unveil.questions.reading import TableReading
from unveil.work.memory import NeedsMemoryError


def test_every_part_of_an_audit_was_measured() -> None:
    # Child tables have rows of their own, so the size of the main table does not tell how long attacks on them take.
    on_one_table = {name for name, attack in ATTACKS.items() if not attack.needs_children}
    assert set(SECONDS) == {*on_one_table, *MEASURES, "reading", "unseen", "weigh", "judging"}


@pytest.mark.parametrize("part", ["membership", "memory", "record_linkage"])
def test_projected_is_what_was_measured_and_powers_between(part: str) -> None:
    # What takes less than a millisecond is taken for one.
    measured = [max(each, 1e-3) for each in SECONDS[part]]
    assert part_seconds(part, ROWS[1], COLUMNS) == pytest.approx(measured[1])
    for place in (0, 2):
        assert part_seconds(part, ROWS[place], COLUMNS) == pytest.approx(SECONDS[part][place])
    between = part_seconds(part, int((ROWS[0] * ROWS[1]) ** 0.5), COLUMNS)
    assert between == pytest.approx((measured[0] * measured[1]) ** 0.5, rel=1e-3)
    beyond = part_seconds(part, 10 * ROWS[2], COLUMNS)
    assert beyond == pytest.approx(10 * SECONDS[part][2])
    assert part_seconds(part, ROWS[0] // 10, 2 * COLUMNS) == pytest.approx(SECONDS[part][0] / 5)


def test_a_part_that_was_never_measured_takes_no_time() -> None:
    assert part_seconds("mine", 10**6, 15) == 0


def test_processes_hold_all_tables_each() -> None:
    assert memory_of(1000, RunSettings()) == BASE + 1000 * PER_CELL
    assert memory_of(1000, RunSettings(workers=3)) == 4 * memory_of(1000, RunSettings())
    assert memory_of(1000, RunSettings(cluster="tcp://a:1")) == memory_of(1000, RunSettings())
    assert memory_of(1000, RunSettings(workers=3), stored=True) == 4 * (STORED_BASE + 1000 * STORED_PER_CELL)


def test_cells_are_counted_by_the_head_of_a_file(tmp_path: Path) -> None:
    frame = pl.concat([ORIGINAL] * 300)  # more than what is looked at
    frame.write_csv(tmp_path / "a.csv")
    frame.write_csv(tmp_path / "b.csv", separator=";")
    frame.write_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.csv.gz").write_bytes(b"\x1f\x8bpacked")
    (tmp_path / "e.ndjson").write_text('{"a": 1}\n')
    found = {path.name: cells_of(path, TableReading()) for path in tmp_path.iterdir()}
    assert found["c.parquet"] == prod(frame.shape)
    assert [found["a.csv"], found["b.csv"]] == [pytest.approx(prod(frame.shape), rel=0.02)] * 2
    assert [found["d.csv.gz"], found["e.ndjson"], cells_of(tmp_path / "none.csv", TableReading())] == [None] * 3


@pytest.fixture
def files(tmp_path: Path) -> tuple[Any, ...]:
    for name, frame in (("original", ORIGINAL), ("released", MASKED)):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path / "original.parquet", [tmp_path / "released.parquet"]


CELLS = 2 * prod(ORIGINAL.shape)


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the tables of each audit that is prepared are on disk."""
    seen: list[bool] = []

    def noted(*given: Any, **more: Any) -> PreparedAudit:
        made = prepare(*given, **more)
        tables = [each for part in made.releases for each in (part.release.original, part.release.released)]
        assert len({table.store is None for table in (made.original, *tables)}) == 1
        seen.append(made.original.store is not None)
        return made

    monkeypatch.setattr(run, "prepare", noted)
    return seen


@on_unix
def test_files_that_take_too_much_memory_are_worked_on_from_disk_or_not_read(
    files: tuple[Any, ...], stores: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    enough, least = (memory_of(CELLS, RunSettings(), stored=stored) for stored in (False, True))
    assert enough > least
    answers = [
        audit(*files, attacks=["copies"], memory=memory, say=said.append).to_json()
        for memory in (enough, enough - 1, least)
    ]
    assert len(set(answers)) == 1
    assert stores == [False, True, True]
    assert [sentence[:38] for sentence in said] == ["The tables are worked on from disk, in"] * 2
    assert said[0].endswith("the audit is projected to take 0.88 GiB, and may take 0.88 GiB.")
    monkeypatch.setattr(AuditFiles, "read", lambda *_, **__: pytest.fail("it was read"))
    match = r"^this audit, from disk, is projected to take .* leave out columns, audit a sample"
    with pytest.raises(NeedsMemoryError, match=match):
        audit(*files, attacks=["copies"], memory=least - 1)
    with pytest.raises(NeedsMemoryError, match=r"and may take 1\.91e-06 MiB"):
        audit(*files, attacks=["copies"], memory=2)


def test_where_there_is_no_store_too_much_memory_is_refused(
    files: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "can_map", lambda: False)
    monkeypatch.setattr(AuditFiles, "read", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(NeedsMemoryError, match=r"^this audit is projected to take "):
        audit(*files, attacks=["copies"], memory=memory_of(CELLS, RunSettings()) - 1)


@on_unix
def test_unless_told_what_nobody_uses_is_the_bound(
    files: tuple[Any, ...], stores: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    for available in (2 * BASE, BASE):
        monkeypatch.setattr(projection, "available_memory", lambda available=available: available)
        audit(*files, attacks=["copies"], say=said.append)
    assert stores == [False, True]
    assert len(said) == 1
    monkeypatch.setattr(projection, "available_memory", lambda: 0)
    audit(*files, attacks=["copies"])  # nobody forbade it
    assert stores[-1]


@on_unix
def test_a_packed_file_goes_to_the_disk_when_it_is_read(tmp_path: Path, stores: list[bool]) -> None:
    for name, frame in (("original", ORIGINAL), ("released", MASKED)):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    told: tuple[Any, ...] = (tmp_path / "original.csv.gz", [tmp_path / "released.csv.gz"])
    said: list[str] = []
    enough = memory_of(CELLS, RunSettings())
    found = audit(*told, attacks=["copies"], memory=enough - 1, say=said.append)
    assert found.to_json() == audit(*told, attacks=["copies"], memory=enough).to_json()
    assert stores == [True, False]
    assert len(said) == 1


def test_frames_that_take_too_much_memory_are_not_attacked() -> None:
    match = r"projected to take 0\.\d+ GiB of memory, and may take 100 MiB\. .* tables in files are worked on from disk"
    with pytest.raises(NeedsMemoryError, match=match):
        ask(ORIGINAL, MASKED, attacks=["copies"], memory=100 * 2**20)


def test_a_long_audit_is_announced_and_a_short_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    ask(ORIGINAL, MASKED, CONTROL, attacks=["copies"], say=said.append)
    assert said == []
    monkeypatch.setattr(projection, "LONG", 0.0)
    ask(ORIGINAL, MASKED, CONTROL, attacks=["copies"], threads=1, say=said.append)
    (sentence,) = said
    assert sentence.startswith("An audit of 120 rows and 4 columns: about 0.")
    assert sentence.endswith(" s, and up to 0.88 GiB of memory.")


def test_an_audit_beyond_the_memory_of_the_machine_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(projection, "physical_memory", lambda: 2**20)
    ask(ORIGINAL, MASKED, attacks=["copies"], say=said.append)
    assert said[0].endswith("which is more than this machine has: it may be stopped by the system.")


def test_more_releases_and_changes_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds: list[float] = []

    def noted(each: float) -> str:
        seconds.append(each)
        return ""

    monkeypatch.setattr(projection, "LONG", 0.0)
    monkeypatch.setattr(projection, "duration", noted)
    for releases, suggest in ((1, 0), (3, 0), (1, 2)):
        tables = {f"r{number}": MASKED for number in range(releases)}
        ask(ORIGINAL, tables, attacks=["copies"], suggest=suggest)
    assert seconds[1] == pytest.approx(3 * seconds[0])
    assert seconds[2] == pytest.approx(3 * seconds[0])


@pytest.mark.parametrize("more", [{"resume": "kept"}, {"memory": 10**10}])
def test_a_generator_has_folders_and_limits_of_its_own(more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="resume and memory need existing tables"):
        ask(ORIGINAL, generator=lambda frame, _: frame, **more)
