"""Random streams and names depend on what they should depend on, and on nothing else."""

from typing import Any

from unveil.studies.scenario import DataSet, Scenario, number_text, rng, short_hash, slug


def test_a_stream_depends_on_every_part_and_on_how_they_are_cut() -> None:
    parts: list[tuple[Any, ...]] = [
        (1, "a", 0),
        (2, "a", 0),
        (1, "b", 0),
        (1, "a", 1),
        (1, "a", "0"),
        (1, "a0"),
        (1, "a", 0, 0),
    ]
    drawn = [int(rng(*each).integers(2**62)) for each in parts]
    assert len(set(drawn)) == len(parts)
    assert int(rng(1, "a", 0).integers(2**62)) == drawn[0]


def test_the_stream_is_the_same_on_every_machine() -> None:
    assert rng(1, "release", "mail", "id-removal", 0).integers(10**6, size=3).tolist() == [451721, 254439, 542802]


def test_file_names_are_readable_and_short() -> None:
    data = DataSet("mail / 2", "graph", "mail.txt")
    scenario = Scenario(
        data, "k-degree:k=5", "own.attacks:Very" + "Long" * 40, "overlap", 0.85, (("seed_pairs", 50.0),)
    )
    name = scenario.file_name
    assert name.startswith("mail-2-k-degree-k-5-own.attacks-VeryLong")
    assert name.endswith(".result")
    assert len(name) <= 60 + 1 + 16 + len(".result")
    assert scenario.strength == "overlap=0.85 | seed_pairs=50"


def test_small_helpers() -> None:
    assert [number_text(value) for value in (5, 0.1, 1e3, 0.30000000000000004)] == [
        "5",
        "0.1",
        "1000",
        "0.30000000000000004",
    ]
    assert slug("..", "a b") == "a-b"
    assert short_hash("ab", "c") != short_hash("a", "bc")
