"""Hierarchies are read as they are written, and refused where somebody would fit no label."""

from pathlib import Path

import polars as pl
import pytest

from tests.data.refusals import MARKER, refusal
from unveil.data.table import Hierarchy, Table


@pytest.mark.parametrize("sign", [";", ",", "\t"])
def test_a_file_is_read_line_by_line(sign: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    lines = [("nurse", "health", "*"), ("doctor", "health", "*"), ("cook", "Kitchen", "*")]
    path.write_text("\n".join(sign.join(line) for line in lines) + "\n\n", encoding="utf-8")
    found = Hierarchy.read(path)
    assert found.below("health") == frozenset({"nurse", "doctor"})
    assert found.below("kitchen") == frozenset({"cook"})
    assert found.below("*") == frozenset({"nurse", "doctor", "cook"})
    assert found.below("nurse") is None


@pytest.mark.parametrize(
    "lines",
    [[("a", "b", "a")], [("a", "b", "c"), ("d", "c", "b")], [("a", "b"), ("b", "c"), ("c", "a")]],
)
def test_a_label_above_itself_is_refused(lines: list[tuple[str, ...]]) -> None:
    assert "must not contain a cycle" in refusal(lambda: Hierarchy(tuple(lines), name="jobs"))


def test_labels_may_repeat_from_column_to_column() -> None:
    assert Hierarchy((("a", "a", "b", "b"), ("c", "c", "b"))).below("b") == frozenset({"a", "c"})


def test_a_line_without_a_label_is_refused() -> None:
    assert "line 2 does not" in refusal(lambda: Hierarchy((("a", "b"), ("c",))))
    assert "line 1 does not" in refusal(lambda: Hierarchy(()))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_system(end: str, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_bytes(end.join(("nurse;health", "cook;kitchen", "")).encode())
    assert Hierarchy.read(tmp_path / "jobs.csv").lines == (("nurse", "health"), ("cook", "kitchen"))


def test_a_carriage_return_within_a_line_ends_it(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_bytes(f"{MARKER}\rx;any\nnorth;any\n".encode())
    assert "line 1 does not. Write value;level" in refusal(lambda: Hierarchy.read(tmp_path / "jobs.csv"))


def test_a_quote_that_is_not_closed_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(f'a;b\nc;"{MARKER * 30_000}\n', encoding="utf-8")
    assert "but line 2 has a longer one" in refusal(lambda: Hierarchy.read(tmp_path / "jobs.csv"))


def test_every_value_must_be_there() -> None:
    people = Table.from_frame(pl.DataFrame({"job": ["cook", "Nurse", MARKER, "nurse", MARKER]}), name="original")
    jobs = Hierarchy((("nurse", "health"), ("cook", "kitchen"), ("pilot", "air")), name="hierarchy 'jobs.csv'")
    message = refusal(lambda: people.with_readings(hierarchies={"job": jobs}))
    assert "lacks 1 of them, the first in row 3" in message
    assert "'jobs.csv'" in message
    told = people.take([0, 1, 3]).with_readings(hierarchies={"job": jobs}, exact=("job",)).column("job")
    assert (told.hierarchy, told.exact) == (jobs, True)
    assert "column 'jbo' is not in the original" in refusal(lambda: people.with_readings(exact=("jbo",)))
