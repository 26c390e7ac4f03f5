"""Memory is told beforehand."""

from pathlib import Path

import pytest

from tests.graph_strategies import erdos_renyi
from tests.studies.small import small_study
from unveil.data.samples import audit_sample
from unveil.studies.releases import bytes_of, release_of
from unveil.work import memory
from unveil.work.memory import (
    NeedsMemoryError,
    check_memory,
    check_reading,
    graph_bytes,
    physical_memory,
    table_bytes,
)


def test_a_graph_needs_more_with_more_nodes_and_edges() -> None:
    base = graph_bytes(1000, 5000)
    assert graph_bytes(2000, 5000) > base
    assert graph_bytes(1000, 9000) > base
    one, other = erdos_renyi(30, 0.3, 1), erdos_renyi(50, 0.3, 1)
    assert bytes_of(one, other) == graph_bytes(50, one.edges + other.edges)
    people = audit_sample()[0]
    assert bytes_of(people, people) == table_bytes(700, len(people.columns))


def test_what_a_protection_makes_can_be_too_large_for_an_attack(tmp_path: Path) -> None:
    study = small_study(tmp_path, protections=("tests.studies.own:Swollen:nodes=100000",))
    (data,) = study.data
    limit = graph_bytes(40, 1000)
    with pytest.raises(
        NeedsMemoryError, match=r"an attack on 'tests\.studies\.own:Swollen:nodes=100000' of 'small' is"
    ):
        release_of(study, data, study.protections[0], 0, tmp_path, memory=limit)
    assert release_of(study, data, "id-removal", 0, tmp_path, memory=limit).released.nodes == 40


def test_what_needs_too_much_is_refused(tmp_path: Path) -> None:
    check_memory(10, None, "it")
    check_memory(10, 10, "it")
    with pytest.raises(NeedsMemoryError, match=r"it is projected to take 2 GiB of memory, and may take 1 MiB\. Allow"):
        check_memory(2 * 2**30, 2**20, "it")
    (tmp_path / "file").write_bytes(b"0" * 1000)
    check_reading(tmp_path / "file", 50_000, "it")
    check_reading(tmp_path / "gone", 1, "it")
    with pytest.raises(NeedsMemoryError, match="reading it"):
        check_reading(tmp_path / "file", 49_999, "it")


def test_the_memory_of_this_machine_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert physical_memory() > 2**26
    monkeypatch.delattr("os.sysconf")
    assert physical_memory() > 2**60


@pytest.mark.parametrize(
    ("free", "allowed", "wanted"),
    [
        ("MemTotal: 9 kB\nMemAvailable:      5 kB\n", "max\n", 5 * 1024),
        ("MemAvailable: 5 kB\n", "3000\n", 3000),
        ("MemAvailable: 5 kB\n", "9000\n", 5 * 1024),
        ("MemTotal: 9 kB\n", "", 10**6),
        (None, None, 10**6),
    ],
)
def test_memory_that_is_free_and_allowed_is_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: str | None, allowed: str | None, wanted: int
) -> None:
    for name, text in (("free", free), ("allowed", allowed)):
        if text is not None:
            (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "_FREE", tmp_path / "free")
    monkeypatch.setattr(memory, "_ALLOWED", (tmp_path / "allowed",))
    monkeypatch.setattr(memory, "physical_memory", lambda: 10**6)
    assert memory.available_memory() == wanted
