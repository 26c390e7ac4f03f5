"""What unveil asks of splink and how it reads the answer, with a small stand-in: the library itself is an extra."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.oracles.linkers import found
from unveil.attacks.table import splink_linkage
from unveil.attacks.table.splink_linkage import SplinkLinkage
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, MissingExtraError

RNG = np.random.default_rng(1)
BLOCKS = (("name; DROP TABLE",), ("age", "name; DROP TABLE"))


class Splink:
    """Notes what it is asked, and says that pairs of equal names weigh 3 bits, others 1."""

    def __init__(self, *, released_left: bool = True) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.frames: dict[str, pl.DataFrame] = {}
        self.released_left = released_left

    def block_on(self, *columns: str) -> tuple[str, ...]:
        return columns

    def SettingsCreator(self, **settings: Any) -> dict[str, Any]:  # noqa: N802
        self.settings = settings
        return settings

    def connect(self, *, config: dict[str, str]) -> dict[str, str]:
        return config

    def DuckDBAPI(self, *, connection: dict[str, str]) -> "Splink":  # noqa: N802
        assert connection == {"temp_directory": ""}, "records must not be put on the disk"
        return self

    def register(self, table: Any, *, dataset_display_name: str) -> str:
        self.frames[dataset_display_name] = pl.DataFrame(table)
        return dataset_display_name

    def Linker(self, tables: list[str], settings: dict[str, Any], log_level: int) -> Any:  # noqa: ARG002, N802
        def note(what: str) -> Any:
            return lambda *given, **named: self.asked.append((what, (given, named)))

        training = SimpleNamespace(
            estimate_u_using_random_sampling=note("u"), estimate_parameters_using_expectation_maximisation=note("m")
        )
        return SimpleNamespace(training=training, inference=SimpleNamespace(predict=self.predict))

    def predict(self, **_: Any) -> Any:
        sides = list(self.frames.items()) if self.released_left else list(self.frames.items())[::-1]
        (left, one), (right, other) = sides
        pairs = one.join(other, how="cross", suffix="_r")
        answer = pairs.select(
            pl.lit(left).alias("source_dataset_l"),
            pl.lit(right).alias("source_dataset_r"),
            pl.col("unique_id").alias("unique_id_l"),
            pl.col("unique_id_r"),
            pl.when(pl.col("c0").eq_missing(pl.col("c0_r"))).then(3.0).otherwise(1.0).alias("match_weight"),
        )
        return SimpleNamespace(as_pyarrow_table=answer.to_arrow)


def people(names: list[str | None], ages: list[int], name: str) -> Table:
    frame = pl.DataFrame({"name; DROP TABLE": names, "age": ages, "old": [True] * len(ages)})
    return Table.from_frame(frame, name=name, roles=dict.fromkeys(frame.columns, "known"))


def linked(splink: Splink, monkeypatch: pytest.MonkeyPatch, attack: SplinkLinkage) -> list[dict[int, float]]:
    monkeypatch.setattr(splink_linkage, "need", lambda _, **__: splink)
    original, released = (
        people(["Ulm", "Ann", None], [10, 20, 30], "original"),
        people(["Ann", None], [20, 30], "released"),
    )
    return found(attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1)))


@pytest.mark.parametrize("released_left", [True, False])
def test_the_answer_is_normalized_for_each_released_row(released_left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    splink = Splink(released_left=released_left)
    low, high = pytest.approx(1 / 6), pytest.approx(4 / 6)
    assert linked(splink, monkeypatch, SplinkLinkage(blocks=BLOCKS)) == [
        {0: low, 1: high, 2: low},
        {0: low, 1: low, 2: high},
    ]
    assert linked(Splink(), monkeypatch, SplinkLinkage(blocks=BLOCKS, least=0.5)) == [{1: 1.0}, {2: 1.0}]


def test_what_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    splink = Splink()
    linked(splink, monkeypatch, SplinkLinkage(blocks=BLOCKS, random_pairs=1000, steps=(0.5,)))
    settings = splink.settings
    assert settings["link_type"] == "link_only"
    assert settings["probability_two_random_records_match"] == pytest.approx(1 / 3)
    assert settings["blocking_rules_to_generate_predictions"] == [("c0",), ("c1", "c0")]
    conditions = [[level["sql_condition"] for level in one["comparison_levels"]] for one in settings["comparisons"]]
    assert conditions == [
        [
            '"c0_l" IS NULL OR "c0_r" IS NULL',
            '"c0_l" = "c0_r"',
            'jaro_winkler_similarity("c0_l", "c0_r") >= 0.92',
            'jaro_winkler_similarity("c0_l", "c0_r") >= 0.8',
            "ELSE",
        ],
        ['"c1_l" IS NULL OR "c1_r" IS NULL', '"c1_l" = "c1_r"', conditions[1][2], "ELSE"],
        ['"c2_l" IS NULL OR "c2_r" IS NULL', '"c2_l" = "c2_r"', "ELSE"],
    ]
    start, least = conditions[1][2].split(" <= ")
    assert start == 'abs("c1_l" - "c1_r")'
    assert float(least) == pytest.approx(0.5 * float(np.std([10, 20, 30])))
    assert [one["comparison_levels"][0]["is_null_level"] for one in settings["comparisons"]] == [True] * 3
    assert "DROP" not in str(settings)
    assert [what for what, _ in splink.asked] == ["u", "m", "m"]
    assert splink.asked[0][1][1]["max_pairs"] == 1000
    assert [given for _, (given, _) in splink.asked[1:]] == [(("c0",),), (("c1", "c0"),)]
    assert all(named == {"fix_u_probabilities": True} for _, (_, named) in splink.asked[1:])


def test_the_order_of_rows_plays_no_part_in_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    splink, other = Splink(), Splink()
    original = people(["Ulm", "Ann", "Bea"], [10, 20, 30], "original")
    for one, order in ((splink, [0, 1, 2]), (other, [2, 0, 1])):
        monkeypatch.setattr(splink_linkage, "need", lambda _, one=one, **__: one)
        known = Knowledge(original.take(order))
        SplinkLinkage(blocks=BLOCKS).run(released=original.take(order), knowledge=known, rng=np.random.default_rng(1))
    assert all(splink.frames[name].equals(other.frames[name]) for name in splink.frames)
    assert splink.asked == other.asked


def test_settings_are_checked() -> None:
    with pytest.raises(InputError, match="splink needs at least one block"):
        SplinkLinkage(blocks=())
    with pytest.raises(InputError, match="similarities must be from 0 to 1"):
        SplinkLinkage(blocks=BLOCKS, similarities=(1.5,))
    with pytest.raises(InputError, match="random_pairs must be a whole number of at least 1"):
        SplinkLinkage(blocks=BLOCKS, random_pairs=0)


def test_an_unknown_block_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="a block names column 'town', which is not compared"):
        linked(Splink(), monkeypatch, SplinkLinkage(blocks=(("town",),)))


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "splink", None)
    one = people(["Ann"], [20], "original")
    with pytest.raises(MissingExtraError, match=r"pip install 'unveil\[linkage\]'"):
        SplinkLinkage(blocks=BLOCKS).run(released=one, knowledge=Knowledge(one), rng=RNG)
