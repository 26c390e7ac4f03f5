"""Mass functions beside their definitions over all subsets, their canonical form, large frames, and what is refused."""

from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guesses.belief_cases import as_masses, made, masses, several
from tests.oracles import beliefs as oracle
from unveil.errors import InputError
from unveil.guesses.mass_function import MassFunction


@given(several(most_inputs=1), st.data())
def test_belief_plausibility_commonality_of_every_event(
    case: tuple[int, list[oracle.Masses]], data: st.DataObject
) -> None:
    n, (m,) = case
    found = made(n, m)
    for event in oracle.subsets(n):
        assert found.belief(event) == pytest.approx(float(oracle.belief(m, event)), abs=1e-12)
        assert found.plausibility(event) == pytest.approx(float(oracle.plausibility(m, event)), abs=1e-12)
        assert found.commonality(event) == pytest.approx(float(oracle.commonality(m, event)), abs=1e-12)


@given(several(most_inputs=1))
def test_pignistic_entropy_and_nonspecificity(case: tuple[int, list[oracle.Masses]]) -> None:
    n, (m,) = case
    found = made(n, m)
    bets = [float(oracle.pignistic(m, x)) for x in range(n)]
    elements, probability = found.pignistic()
    assert elements.tolist() == [x for x in range(n) if bets[x] > 0]
    assert probability == pytest.approx([bet for bet in bets if bet > 0], abs=1e-12)
    assert found.pignistic_entropy() == pytest.approx(-sum(p * log(p) for p in bets if p > 0), abs=1e-12)
    assert found.nonspecificity() == pytest.approx(oracle.nonspecificity(m), abs=1e-12)
    assert found.support.tolist() == elements.tolist()


@given(several(most_inputs=1))
def test_moebius_both_ways(case: tuple[int, list[oracle.Masses]]) -> None:
    n, (m,) = case
    found = made(n, m)
    blocks = found.atoms()
    # The atoms are the blocks of elements that lie in the same focal sets.
    patterns = {x: tuple(x in one for one in m) for x in range(n)}
    assert sorted(x for block in blocks for x in block.tolist()) == [x for x in range(n) if any(patterns[x])]
    assert len(blocks) == len({pattern for pattern in patterns.values() if any(pattern)})
    ask: dict[Any, Any] = {
        "belief": oracle.belief,
        "plausibility": oracle.plausibility,
        "commonality": oracle.commonality,
    }
    for what, answer in ask.items():
        values = found.on_atoms(what)
        for mask in range(2 ** len(blocks)):
            event = frozenset(x for k, block in enumerate(blocks) if mask >> k & 1 for x in block.tolist())
            assert values[mask] == pytest.approx(float(answer(m, event)), abs=1e-12)
        assert MassFunction.from_atoms(n, blocks, values, what).same_as(found)
    assert MassFunction.from_atoms(n, blocks, found.on_atoms("mass"), "mass").same_as(found)


@given(several(most_inputs=1), st.data())
def test_conditioning(case: tuple[int, list[oracle.Masses]], data: st.DataObject) -> None:
    n, (m,) = case
    event = data.draw(st.sampled_from(oracle.subsets(n)))
    wanted = oracle.conditioned(m, event)
    if wanted is None:
        with pytest.raises(InputError, match="is on sets disjoint from the event: either the event is"):
            made(n, m).conditioned(event)
    else:
        assert made(n, m).conditioned(event).same_as(made(n, wanted))
    kept = oracle.dempster([m, {event: Fraction(1)}], n) if event else None
    if kept is None:
        with pytest.raises(InputError, match=r"is on sets disjoint from the event.*Correct one of them$"):
            made(n, m).conditioned(event, conflict="normalize")
    else:
        assert made(n, m).conditioned(event, conflict="normalize").same_as(made(n, kept))


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), masses(n, most=8))), st.randoms())
def test_the_form_is_canonical(case: tuple[int, oracle.Masses], lots: Any) -> None:
    n, m = case
    pairs = [(list(one), float(mass)) for one, mass in m.items()]
    halves = [(one, mass / 2) for one, mass in pairs] * 2
    for _, part in enumerate(halves):
        lots.shuffle(part[0])
    lots.shuffle(halves)
    found, again = MassFunction.from_sets(n, pairs), MassFunction.from_sets(n, [*halves, ([0], 0.0)])
    numbers = [sum(2**x for x in one.tolist()) for one in found.sets]
    assert numbers == sorted(set(numbers))
    assert found.same_as(again)
    assert all(one.tolist() == sorted(set(one.tolist())) for one in again.sets)
    assert found.mass.sum() == pytest.approx(1, abs=1e-15)


def test_transfer() -> None:
    m = MassFunction.from_sets(5, {(0, 1, 2): 0.5, (3, 4): 0.5})
    moved = m.transferred([2, 1, 0], [1], 0.125)
    assert as_masses(moved) == {frozenset({1}): 0.125, frozenset({0, 1, 2}): 0.375, frozenset({3, 4}): 0.5}
    assert as_masses(m.transferred([3, 4], [3], 0.5)) == {frozenset({0, 1, 2}): 0.5, frozenset({3}): 0.5}
    with pytest.raises(InputError, match="mass can only move to a nonempty subset of its set"):
        m.transferred([0, 1, 2], [3], 0.1)
    with pytest.raises(InputError, match=r"the mass to move is outside 0 to 0\.5, the mass of the set"):
        m.transferred([0, 1, 2], [1], 0.6)
    with pytest.raises(InputError, match="the mass to move is outside 0 to 0, the mass of the set"):
        m.transferred([0, 1], [1], 0.1)


def test_makers() -> None:
    assert MassFunction.from_set(5, [3, 1, 3]).same_as(MassFunction(5, [[1, 3]], [1]))
    assert MassFunction.from_probability(3, [0.25, 0, 0.75]).same_as(MassFunction(3, [[0], [2]], [0.25, 0.75]))
    assert MassFunction.from_probability(2, (0.25, 0.75)).same_as(MassFunction(2, [[0], [1]], [0.25, 0.75]))
    assert MassFunction.from_probability(9, ([7, 2], [1, 0])).sets[0].tolist() == [7]
    assert MassFunction.vacuous(2).belief([0]) == 0
    assert not MassFunction.vacuous(2).same_as(MassFunction.vacuous(3))
    assert repr(MassFunction.from_probability(2, [0.5, 0.5])) == "MassFunction(2 focal sets on 2 elements)"


def test_nothing_can_be_changed() -> None:
    given_set = np.array([0, 1])
    m = MassFunction(3, [given_set], [1.0])
    given_set[0] = 2
    assert m.sets[0].tolist() == [0, 1]
    for array in (m.mass, m.sets[0], m.rows.element):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("sets", "mass", "message"),
    [
        ([[0], [1]], [0.5, 0.4], r"masses sum to 0\.9, not 1"),
        ([[0], [1]], [1.5, -0.5], "1 masses are negative or not numbers"),
        ([[0], [1]], [float("nan"), 1], "1 masses are negative or not numbers"),
        ([[0], []], [0.5, 0.5], "1 of the sets are empty, and the empty set can have no mass"),
        ([[0, 3]], [1], "1 elements are outside the frame of 3, which has numbers 0 to 2"),
        ([[-1, 1]], [1], "outside"),
        ([[0.5]], [1], "the elements of a set must be whole numbers, but some are not"),
        ([["a"]], [1], "the elements of a set must be whole numbers, but some are not"),
        ([[0]], [0.5, 0.5], "2 masses for 1 sets"),
        ([], [], "no set has a mass"),
    ],
)
def test_bad_masses_are_refused(sets: Any, mass: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MassFunction(3, sets, mass)


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        ([0.5, 0.5], "2 probabilities for 3 elements"),
        ([0.5, 0.5, 0.5], r"probabilities sum to 1\.5, not 1"),
        ([1.5, -0.5, 0], "at least 0"),
        (([0, 0], [0.5, 0.5]), "some elements have two probabilities"),
        (([0, 3], [0.5, 0.5]), "outside"),
        (([0, 1], [0.5, 0.6]), "sum to 1"),
    ],
)
def test_what_is_no_distribution_is_refused(probability: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MassFunction.from_probability(3, probability)


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "3"])
def test_a_frame_has_elements(size: Any) -> None:
    with pytest.raises(InputError, match="size of a frame must be a whole number"):
        MassFunction.from_set(size, [0])


def test_values_that_no_masses_lead_to_are_refused() -> None:
    # Bel(a) + Bel(b) > Bel(ab): not even superadditive.
    with pytest.raises(
        InputError, match="the values are not a belief of a mass function: masses are at least 0, 0 for"
    ):
        MassFunction.from_atoms(2, [[0], [1]], [0, 0.75, 0.75, 1])
    with pytest.raises(InputError, match="one value for each of the"):
        MassFunction.from_atoms(2, [[0], [1]], [0, 1])
    with pytest.raises(InputError, match="two atoms"):
        MassFunction.from_atoms(2, [[0], [0]], [0, 0, 0, 1])
    with pytest.raises(InputError, match="the table of all unions is limited to 22 atoms, but there are 30"):
        MassFunction.from_probability(30, np.full(30, 1 / 30)).on_atoms()


def test_masses_that_were_rounded_are_made_exact() -> None:
    m = MassFunction.from_sets(3, {(0,): 0.333333, (1,): 0.333333, (2,): 0.333333})
    assert m.mass == pytest.approx([1 / 3] * 3, abs=1e-15)


@settings(max_examples=20)
@given(st.integers(64, 200), st.integers(0, 2**32))
def test_more_atoms_than_a_word_has_bits(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    focal = [np.flatnonzero(row) for row in rng.random((n, n)) < 0.5]
    focal = [one if one.size else np.array([0]) for one in focal]
    m = MassFunction(n, focal, np.full(n, 1 / n))
    assert m.masks.dtype == (object if m.partition.count > 63 else np.int64)
    again = MassFunction.of_masks(n, m.masks, m.mass, m.partition)
    assert again.same_as(m)
    assert [sum(1 << x for x in one.tolist()) for one in m.sets] == sorted(
        {sum(1 << x for x in f.tolist()) for f in focal}
    )


def test_atoms_of_very_many_focal_sets() -> None:
    # So many sets take another way to the same atoms: two elements are apart if some set holds just one of them.
    rng = np.random.default_rng(1)
    focal = [np.append(rng.choice(40, 3, replace=False), 40 + rng.integers(0, 20)) for _ in range(1_500)]
    focal = [np.append(one, [60, 61]) if 3 in one else one for one in focal]
    m = MassFunction(70, focal, np.full(1_500, 1 / 1_500))
    members = {x: frozenset(k for k, one in enumerate(focal) if x in one) for x in range(70)}
    blocks: dict[frozenset[int], list[int]] = {}
    for x, rows in members.items():
        blocks.setdefault(rows, []).append(x)
    blocks.pop(frozenset(), None)
    assert [block.tolist() for block in m.atoms()] == sorted(blocks.values(), key=max)
    assert [3, 60, 61] in blocks.values()
    assert m.mass.size > 1_240


def test_large_frames_with_few_focal_sets() -> None:
    size = 100_000
    m = MassFunction.from_sets(size, [(np.arange(60_000), 0.5), (np.arange(40_000, size), 0.25), ([7], 0.25)])
    assert [block.size for block in m.atoms()] == [1, 39_999, 20_000, 40_000]
    assert m.belief(range(60_000)) == 0.75
    assert m.nonspecificity() == pytest.approx(0.75 * log(60_000), rel=1e-12)
    assert m.pignistic()[1].sum() == pytest.approx(1, abs=1e-12)
    bayes = MassFunction.from_probability(size, np.full(size, 1 / size))
    assert bayes.nonspecificity() == 0
    assert bayes.belief([3, 5]) == pytest.approx(2 / size)
    assert bayes.conditioned(range(10), conflict="normalize").mass == pytest.approx(np.full(10, 0.1))
