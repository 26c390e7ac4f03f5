"""What an audit will take is said before it begins, from sizes that are read off the heads of files."""

from math import prod
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.ask.audit.example import CONTROL, MASKED, ORIGINAL, ask
from unveil.ask.audit import projection
from unveil.ask.audit.answer import audit_files
from unveil.ask.audit.attacks import ATTACKS
from unveil.ask.audit.checked import MEASURES
from unveil.ask.audit.projection import BASE, COLUMNS, PER_CELL, ROWS, SECONDS, cells_of, memory_of, part_seconds
from unveil.ask.audit.read import AuditFiles
from unveil.ask.audit.runner import RunSettings
from unveil.ask.reading import TableReading
from unveil.errors import InputError
from unveil.study.memory import NeedsMemoryError


def test_every_part_of_an_audit_was_measured() -> None:
    assert set(SECONDS) == {*ATTACKS, *MEASURES, "reading", "unseen", "weigh", "judging"}


@pytest.mark.parametrize("part", ["membership", "memory", "record_linkage"])
def test_projected_is_what_was_measured_and_powers_between(part: str) -> None:
    # What takes less than a millisecond is taken for one.
    measured = [max(each, 1e-3) for each in SECONDS[part]]
    assert [part_seconds(part, rows, COLUMNS) for rows in ROWS[1:]] == pytest.approx(measured[1:])
    assert part_seconds(part, ROWS[0], COLUMNS) == pytest.approx(SECONDS[part][0])
    between = part_seconds(part, int((ROWS[0] * ROWS[1]) ** 0.5), COLUMNS)
    assert between == pytest.approx((measured[0] * measured[1]) ** 0.5, rel=1e-3)
    beyond = part_seconds(part, 10 * ROWS[2], COLUMNS)
    assert beyond == pytest.approx(measured[2] ** 2 / measured[1])
    assert part_seconds(part, ROWS[0] // 10, 2 * COLUMNS) == pytest.approx(SECONDS[part][0] / 5)


def test_a_part_that_was_never_measured_takes_no_time() -> None:
    assert part_seconds("mine", 10**6, 15) == 0


def test_processes_hold_all_tables_each() -> None:
    assert memory_of(1000, RunSettings()) == BASE + 1000 * PER_CELL
    assert memory_of(1000, RunSettings(workers=3)) == 4 * memory_of(1000, RunSettings())
    assert memory_of(1000, RunSettings(cluster="tcp://a:1")) == memory_of(1000, RunSettings())


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


def test_files_that_take_too_much_memory_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, frame in (("original", ORIGINAL), ("released", MASKED)):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    files: tuple[Any, ...] = (tmp_path / "original.parquet", [tmp_path / "released.parquet"])
    allowed = memory_of(2 * prod(ORIGINAL.shape), RunSettings())
    assert audit_files(*files, attacks=["copies"], memory=allowed).findings.rows == ORIGINAL.height
    monkeypatch.setattr(AuditFiles, "read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(NeedsMemoryError, match=r"this audit is projected to take .* leave out columns, audit a sample"):
        audit_files(*files, attacks=["copies"], memory=allowed - 1)


def test_frames_that_take_too_much_memory_are_not_attacked() -> None:
    with pytest.raises(NeedsMemoryError, match=r"projected to take 0\.88 GiB of memory, and may take 100 MiB"):
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
    with pytest.raises(InputError, match="resume and memory are for tables that are there"):
        ask(ORIGINAL, generator=lambda frame, _: frame, **more)
