"""Record linkage trusts the nearest original rows alike, whatever the order of rows."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.records import Distance, Rows, nearest, rows_of_people, table
from unveil.attacks import ATTACKS, RecordLinkage
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics import adversary_success_rate, all_metrics


def link(original: Rows, released: Rows, attack: RecordLinkage, seed: int = 1) -> Candidates:
    rng = np.random.default_rng(seed)
    return attack.run(released=table(released, "released"), knowledge=Knowledge(table(original, "original")), rng=rng)


def found(guess: Candidates) -> list[dict[int, float]]:
    """The candidates of each target with their probabilities."""
    return [
        dict(zip(guess.candidate[a:b].tolist(), guess.probability[a:b].tolist(), strict=True))
        for a, b in pairwise(guess.start.tolist())
    ]


@given(rows_of_people, rows_of_people, st.integers(1, 7))
def test_the_nearest_and_their_ties_are_the_candidates(original: Rows, released: Rows, k: int) -> None:
    k = min(k, len(original))
    distance = Distance(original, released)
    expected = []
    for row in released:
        near = nearest([distance(row, other) for other in original], k)
        expected.append(dict.fromkeys(near, pytest.approx(1 / len(near), abs=1e-15)))
    assert found(link(original, released, RecordLinkage(neighbours=k))) == expected


@given(rows_of_people, rows_of_people, st.data())
def test_the_order_of_rows_plays_no_part(original: Rows, released: Rows, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(original))))
    attack = RecordLinkage(neighbours=min(2, len(original)))
    plain, mixed = (found(link(rows, released, attack)) for rows in (original, [original[i] for i in order]))
    assert plain == [{order[candidate]: share for candidate, share in one.items()} for one in mixed]
    assert plain[::-1] == found(link(original, released[::-1], attack))


def test_only_the_columns_told_are_compared() -> None:
    original: Rows = [(20, 1.5, "Ulm"), (30, 1.9, "Bonn")]
    assert found(link(original, [(20, 1.9, "Bonn")], RecordLinkage(columns=("age",)))) == [{0: 1.0}]
    assert found(link(original, [(20, 1.9, "Bonn")], RecordLinkage())) == [{1: 1.0}]


def test_what_is_not_known_to_the_adversary_is_left_out_unless_told() -> None:
    frame = pl.DataFrame({"age": [20, 30], "illness": ["flu", "gout"], "key": ["u1", "u2"]})
    original = Table.from_frame(frame, roles={"illness": "sensitive", "key": "identifier"}, name="original")
    released = Table.from_frame(frame.with_columns(pl.Series("illness", ["gout", "flu"])), name="released")
    rng = np.random.default_rng(1)
    guess = RecordLinkage().run(released=released, knowledge=Knowledge(original), rng=rng)
    assert found(guess) == [{0: 1.0}, {1: 1.0}]
    told = RecordLinkage(columns=("illness",)).run(released=released, knowledge=Knowledge(original), rng=rng)
    assert found(told) == [{1: 1.0}, {0: 1.0}]
    nothing = Table.from_frame(frame.select("key"), roles={"key": "identifier"}, name="original")
    with pytest.raises(InputError, match="the original and the released share no quasi-identifier: every shared"):
        RecordLinkage().run(released=released, knowledge=Knowledge(nothing), rng=rng)


def test_all_candidate_metrics_apply() -> None:
    people: Rows = [(20, 1.5, "Ulm"), (20, 1.5, "Ulm"), (25, 1.9, "Bonn")]
    guess = link(people, people, RecordLinkage())
    assert adversary_success_rate(guess, [0, 1, 2]) == pytest.approx(2 / 3)
    values = {one.metric.name: one.mean for one in all_metrics(guess, [0, 1, 2])}
    assert values["anonymity_set_size"] == pytest.approx(5 / 3)


def test_columns_that_tell_nothing_make_everybody_a_candidate() -> None:
    people: Rows = [(20, 1.5, "Ulm")] * 5
    guess = link(people, people, RecordLinkage())
    assert adversary_success_rate(guess, range(5)) == pytest.approx(1 / 5)


def drawn(guess: Candidates) -> list[int]:
    assert guess.targets is not None
    return list(guess.targets.tolist())


def test_some_rows_are_drawn_by_content() -> None:
    released: Rows = [(20 + i // 3, None, "Ulm") for i in range(12)]
    attack = RecordLinkage(targets=4)
    plain, mixed = link(released, released, attack), link(released, released[::-1], attack)
    assert len(set(drawn(plain))) == 4
    assert sorted(released[i][0] for i in drawn(plain)) == sorted(released[::-1][i][0] for i in drawn(mixed))
    everybody = link(released, released, RecordLinkage(targets=12))
    assert everybody.targets is None
    assert [found(everybody)[i] for i in drawn(plain)] == found(plain)
    assert drawn(link(released, released, attack, seed=2)) != drawn(plain)


def test_a_large_table_gives_what_a_small_one_does() -> None:
    """Above a million pairs rows are searched for instead of compared one by one."""
    rng = np.random.default_rng(7)
    rows: Rows = list(
        zip(
            rng.integers(20, 90, 1500).tolist(),
            rng.choice([1.5, 1.6, 1.7, 1.9], 1500).tolist(),
            rng.choice(["Ulm", "Bonn"], 1500).tolist(),
            strict=True,
        )
    )
    released = [(min(age + 1, 89), height, town) for age, height, town in rows]
    guess = found(link(rows, released, RecordLinkage(neighbours=3)))
    distance = Distance(rows, released)
    spans = [distance.span(0), distance.span(1)]
    for target in (0, 700, 1499):
        age, height, town = released[target]
        apart = [
            abs(age - a) / spans[0] + abs(round(10 * height) - round(10 * h)) / (10 * spans[1]) + (town != t)
            for a, h, t in rows
        ]
        assert set(guess[target]) == nearest(apart, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"neighbours": 0}, "neighbours must be a whole number of at least 1, but is 0"),
        ({"neighbours": 1.5}, "neighbours must be a whole number"),
        ({"neighbours": True}, "neighbours must be a whole number"),
        ({"targets": 0}, "targets must be a whole number of at least 1, but is 0"),
        ({"columns": ()}, "columns is empty"),
        ({"columns": "age"}, "columns is empty"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RecordLinkage(**settings)  # type: ignore[arg-type]


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(InputError, match=r"column 'aeg' is not in the original.*Did you mean 'age'"):
        link([(20, 1.5, "Ulm")], [(20, 1.5, "Ulm")], RecordLinkage(columns=("aeg",)))


def test_there_are_no_more_neighbours_than_rows() -> None:
    with pytest.raises(InputError, match="neighbours is 3, but there are 2 original rows"):
        link([(20, 1.5, "Ulm")] * 2, [(20, 1.5, "Ulm")], RecordLinkage(neighbours=3))


def test_it_is_listed() -> None:
    facts = ATTACKS["record-linkage"]
    assert (facts.make.__name__, facts.on, facts.leaves) == ("RecordLinkage", "table", "Candidates")
    assert facts.settings == ("columns=none", "neighbours=1", "targets=none")
