"""Row order: hits where rows kept their place, exactly chance where they did not."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.records import Distance, Row, Rows, rows_of_people, table
from unveil.attacks import ATTACKS, RowOrder
from unveil.attacks.table import row_order
from unveil.attacks.table.row_order import RowOrderTest
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.trials import Trials

PEOPLE: Rows = [(20, 1.5, "Ulm"), (22, 1.6, "Ulm"), (26, None, "Bonn"), (26, 1.9, None), (None, 1.5, "Köln")]
CHANGED: Rows = [(21, 1.5, "Ulm"), (22, 1.5, "Ulm"), (25, None, "Bonn"), (25, 1.7, None), (None, 1.6, "Köln")]


def run(original: Rows, released: Rows, attack: RowOrder, seed: int = 1) -> Trials:
    rng = np.random.default_rng(seed)
    return attack.run(released=table(released, "released"), knowledge=Knowledge(table(original, "original")), rng=rng)


def order_test(original: Rows, released: Rows, *, permutations: int = 999, targets: int | None = None) -> RowOrderTest:
    return RowOrder(targets=targets).test(
        released=table(released, "released"),
        knowledge=Knowledge(table(original, "original")),
        rng=np.random.default_rng(1),
        permutations=permutations,
    )


def distances(original: Rows, released: Rows) -> list[list[Fraction]]:
    distance = Distance(original, released)
    return [[distance(row, other) for other in original] for row in released]


def hit(apart: list[Fraction], own: int, k: int) -> bool:
    """Return whether fewer than k rows are nearer than the own one."""
    return sum(other < apart[own] for other in apart) < k


pairs = rows_of_people.flatmap(
    lambda rows: st.tuples(st.just(rows), rows_of_people.map(lambda more: (more * len(rows))[: len(rows)]))
)


@settings(max_examples=22)
@given(pairs, st.integers(1, 7))
def test_a_hit_is_the_own_row_among_the_nearest(tables: tuple[Rows, Rows], k: int) -> None:
    apart = distances(*tables)
    k = min(k, len(apart))
    trials = run(*tables, RowOrder(neighbours=k))
    assert trials.attack.chances is not None
    assert trials.attack.chances.tolist() == [hit(row, place, k) for place, row in enumerate(apart)]
    assert trials.control is None


@settings(max_examples=22)
@given(pairs, st.integers(1, 7))
def test_guessing_hits_as_often_as_any_pair_does(tables: tuple[Rows, Rows], k: int) -> None:
    apart = distances(*tables)
    size = len(apart)
    k = min(k, size)
    every = sum((Fraction(hit(row, place, k)) for row in apart for place in range(size)), Fraction(0)) / size
    assert run(*tables, RowOrder(neighbours=k)).naive.expected == pytest.approx(float(every), rel=1e-12)


@pytest.mark.unwatched
@pytest.mark.parametrize("k", [1, 2])
def test_over_all_orders_the_attack_is_as_good_as_guessing(k: int) -> None:
    results = [run(PEOPLE[:4], list(order), RowOrder(neighbours=k)) for order in permutations(CHANGED[:4])]
    assert np.mean([trials.attack.expected for trials in results]) == pytest.approx(results[0].naive.expected)
    assert results[0].attack.expected > results[0].naive.expected


def test_equal_rows_are_no_leak() -> None:
    trials = run([PEOPLE[0]] * 6, [PEOPLE[0]] * 6, RowOrder())
    assert (trials.attack.expected, trials.naive.expected) == (6, 6)
    assert order_test([PEOPLE[0]] * 6, [PEOPLE[0]] * 6).p_value == 1


def test_a_copy_in_the_same_order_hits_everywhere_however_many_rows_are_equal() -> None:
    rows = [PEOPLE[0]] * 30 + [PEOPLE[1]] * 10
    trials = run(rows, rows, RowOrder())
    assert trials.attack.expected == trials.attack.tries == 40
    assert trials.naive.expected == pytest.approx((30 * 30 + 10 * 10) / 40)


@given(pairs)
def test_mean_distances_are_those_of_the_pairs(tables: tuple[Rows, Rows]) -> None:
    apart = distances(*tables)
    size = len(apart)
    found = order_test(*tables, permutations=1)
    assert found.rows == size
    assert found.distance == pytest.approx(float(sum(apart[i][i] for i in range(size)) / size), abs=1e-12)
    assert found.by_chance == pytest.approx(float(sum(map(sum, apart)) / size**2), abs=1e-12)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (1, 0, 2, 4, 3), (4, 3, 0, 1, 2), (2, 4, 1, 0, 3)])
def test_the_p_value_is_the_share_of_pairings_that_are_as_near(order: tuple[int, ...]) -> None:
    released = [CHANGED[i] for i in order]
    apart = distances(PEOPLE, released)
    sums = [sum((apart[i][j] for i, j in enumerate(paired)), Fraction(0)) for paired in permutations(range(5))]
    exact = sum(one <= sums[0] for one in sums) / len(sums)
    found = order_test(PEOPLE, released, permutations=4000)
    assert found.p_value == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 4000) ** 0.5 + 1 / 4000)


def many(size: int) -> Rows:
    rng = np.random.default_rng(3)
    return list(
        zip(rng.integers(20, 90, size).tolist(), [1.5] * size, rng.choice(["a", "b"], size).tolist(), strict=True)
    )


def test_a_kept_order_is_found_and_a_shuffled_one_is_not() -> None:
    original = many(300)
    masked: list[Row] = [(min(age + 1, 89), height, town) for age, height, town in original]
    kept = run(original, masked, RowOrder(neighbours=5))
    assert kept.attack.expected > 20 * kept.naive.expected
    assert order_test(original, masked).p_value == 0.001
    shuffled = [masked[i] for i in np.random.default_rng(5).permutation(300)]
    lost = run(original, shuffled, RowOrder(neighbours=5))
    assert lost.attack.expected < 3 * lost.naive.expected
    assert order_test(original, shuffled).p_value > 0.05


def test_some_rows_are_drawn_and_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    original = many(60)
    every, some = run(original, original, RowOrder(targets=None)), run(original, original, RowOrder(targets=20))
    assert (every.attack.tries, some.attack.tries, some.naive.tries) == (60, 20, 20)
    assert order_test(original, original, targets=20).rows == 20
    monkeypatch.setattr(row_order, "_PAIRS", 200)
    pieces = run(original, original, RowOrder(targets=None))
    assert pieces.attack.chances is not None
    np.testing.assert_array_equal(pieces.attack.chances, every.attack.chances)


def test_the_test_looks_at_so_many_rows_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_order, "_TESTED", 40)
    assert order_test(many(60), many(60)).rows == 40
    assert order_test(many(60), many(60)).p_value == 0.001


def test_the_same_seed_gives_the_same_answer() -> None:
    original = many(60)
    one, two = (run(original, original[::-1], RowOrder(targets=20)) for _ in range(2))
    assert one.notes == two.notes
    np.testing.assert_array_equal(one.attack.chances, two.attack.chances)


def test_tables_of_different_length_have_no_common_order() -> None:
    with pytest.raises(InputError, match="the released has 4 rows and the original 5"):
        run(PEOPLE, CHANGED[:4], RowOrder())


@pytest.mark.parametrize("wrong", [{"neighbours": 0}, {"targets": -1}, {"columns": ()}])
def test_settings_are_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"must be a whole number of at least 1|columns is empty"):
        RowOrder(**wrong)  # type: ignore[arg-type]


def test_at_least_one_pairing_is_drawn() -> None:
    with pytest.raises(InputError, match="must be a whole number of at least 1"):
        order_test(PEOPLE, CHANGED, permutations=0)


def test_it_is_listed() -> None:
    facts = ATTACKS["row-order"]
    assert (facts.make.__name__, facts.on, facts.leaves) == ("RowOrder", "table", "Trials")
