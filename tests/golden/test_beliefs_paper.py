"""What "A formalization of re-identification in terms of compatible probabilities" says about belief functions.

Every definition, example and proposition that concerns mass functions; where the text is wrong, what holds instead.
Compatibility (Definition 7) is checked over all subsets here, by the definition.
"""

from fractions import Fraction
from itertools import combinations
from math import log, log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guesses.belief_cases import all_made, as_masses, compatible, made, several
from tests.oracles import beliefs as oracle
from unveil.data.table import Table
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_combination import combine
from unveil.guesses.mass_function import MassFunction
from unveil.protections.table.generalization import Generalization

Case = tuple[int, list[oracle.Masses]]
Compatible = tuple[list[Fraction], list[oracle.Masses]]


def is_compatible(m: MassFunction, probability: list[float]) -> bool:
    return bool(oracle.excess(as_masses(m), probability) <= 1e-9)


@given(several(most_inputs=1, most_elements=4), st.data())
def test_definition_1_what_a_belief_function_satisfies(case: Case, data: st.DataObject) -> None:
    n, (m,) = case
    bel = made(n, m).belief
    events = oracle.subsets(n)
    assert (bel([]), bel(range(n))) == (0, 1)
    one, other = data.draw(st.sampled_from(events)), data.draw(st.sampled_from(events))
    assert bel(one) <= bel(one | other) + 1e-12
    three = [one, other, data.draw(st.sampled_from(events))]
    bound = 0.0
    for k in (1, 2, 3):
        bound += (-1) ** (k + 1) * sum(bel(oracle.intersection(some)) for some in combinations(three, k))
    assert bel(frozenset.union(*three)) >= bound - 1e-12


@given(several(most_inputs=1, most_elements=4))
def test_proposition_3_beliefs_and_masses_lead_to_each_other(case: Case) -> None:
    n, (m,) = case
    found = made(n, m)
    back = oracle.masses_from_belief({event: found.belief(event) for event in oracle.subsets(n)}, n)
    assert back == pytest.approx({event: float(m.get(event, 0)) for event in oracle.subsets(n)}, abs=1e-12)
    assert MassFunction.from_atoms(n, found.atoms(), found.on_atoms("belief")).same_as(found)


def test_section_2_a_probability_is_a_belief_function_and_ignorance_is_another_than_equal_support() -> None:
    fair, ignorant = MassFunction.from_probability(4, [0.25] * 4), MassFunction.vacuous(4)
    assert [fair.belief(event) for event in ([0], [0, 2])] == [0.25, 0.5]
    assert fair.plausibility([0, 2]) == 0.5
    assert [ignorant.belief(event) for event in ([0], [0, 1, 2], range(4))] == [0, 0, 1]
    # With probabilities alone the two are the same.
    assert fair.pignistic()[1] == pytest.approx(ignorant.pignistic()[1])
    assert fair.nonspecificity() == 0
    assert ignorant.nonspecificity() == pytest.approx(log(4), abs=1e-15)


def test_section_2_2_two_groups_of_three() -> None:
    people = Table.from_frame(pl.DataFrame({"V1": [18, 16, 19, 22, 24, 24]}), kinds={"V1": "number"})
    release = Generalization(k=3, cells=True).apply(people, rng=np.random.default_rng(1))
    shown = release.released.frame["V1"].to_list()
    assert sorted(shown) == ["[16, 19]"] * 3 + ["[22, 24]"] * 3  # the paper widens them to [15,19] and [20,25]


def test_definition_4_pignistic_probability() -> None:
    m = MassFunction.from_sets(4, {(0,): 0.25, (0, 1): 0.25, (0, 1, 2): 0.5})
    assert m.pignistic()[0].tolist() == [0, 1, 2]
    assert m.pignistic()[1] == pytest.approx([0.25 + 0.125 + 0.5 / 3, 0.125 + 0.5 / 3, 0.5 / 3])


# Examples 8 to 11: records with two attributes, each generalised so that three records look alike in it.
ATTRIBUTES = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0]])


def candidate_set(target: int, attributes: list[int]) -> list[int]:
    alike = (ATTRIBUTES[:, attributes] == ATTRIBUTES[target, attributes]).all(axis=1)
    return np.flatnonzero(alike).tolist()


def truth(target: int) -> list[float]:
    known = candidate_set(target, [0, 1])
    return [1 / len(known) if x in known else 0.0 for x in range(6)]


@pytest.mark.parametrize("target", range(6))
@pytest.mark.parametrize("attributes", [[0], [1], [0, 1]])
def test_examples_8_to_15_and_proposition_12_candidate_sets_are_valid(target: int, attributes: list[int]) -> None:
    known = candidate_set(target, attributes)
    guess = MassFunction.from_set(6, known)
    for event in oracle.subsets(6):
        assert guess.belief(event) == (1 if set(known) <= event else 0)
    assert is_compatible(guess, truth(target))
    elements, bets = guess.pignistic()
    assert elements.tolist() == known
    assert bets == pytest.approx([1 / len(known)] * len(known))
    # Example 15: at most the truth within the true candidate set, at least the truth outside of it.
    inside = np.isin(elements, candidate_set(target, [0, 1]))
    assert (bets[inside] <= np.array(truth(target))[elements[inside]] + 1e-15).all()
    assert (bets[~inside] > 0).all()


def test_erratum_example_9_the_true_probability_is_not_above_the_guess_everywhere() -> None:
    # Printed: "therefore P(x|y) ≥ r(y, a)[i] for all x". Outside of the true candidate set P is 0 and r is not.
    bets = MassFunction.from_set(6, candidate_set(0, [0])).pignistic()
    assert any(bet > truth(0)[x] for x, bet in zip(*bets, strict=True))


def test_definition_10_equal_records_get_equal_beliefs() -> None:
    each = tuple(MassFunction.from_set(6, candidate_set(target, [0, 1])) for target in range(6))
    codes = (ATTRIBUTES @ [2, 1]).astype(np.int64)
    assert Beliefs(6, each, codes).nonspecificity() == pytest.approx(np.log([2, 2, 1, 2, 2, 1]))
    with pytest.raises(ValueError, match="Definition 10"):
        Beliefs(6, (MassFunction.from_set(6, [0]), MassFunction.from_set(6, [1]), *each[2:]), codes)


@pytest.mark.parametrize("more", [[], [3], [2, 3, 4, 5]])
def test_lemma_13_a_set_that_misses_a_candidate_is_not_valid(more: list[int]) -> None:
    known = candidate_set(0, [0, 1])
    guess = MassFunction.from_set(6, {*known, *more} - {known[0]})
    assert not is_compatible(guess, truth(0))
    assert guess.belief(guess.support) - sum(truth(0)[x] for x in guess.support) == 1 / len(known)


@given(compatible(most_inputs=1))
def test_proposition_16_what_is_possible_is_held_possible(case: Compatible) -> None:
    probability, (m,) = case
    held = set(made(len(probability), m).pignistic()[0].tolist())
    assert {x for x, p in enumerate(probability) if p > 0} <= held


@given(several(most_inputs=1))
def test_lemma_17_and_proposition_18_when_the_truth_is_certain(case: Case) -> None:
    n, (m,) = case
    guess = made(n, m)
    certain = [1.0] + [0.0] * (n - 1)
    # Lemma 17, "if": compatible with certainty of x0 means that every focal set holds x0.
    assert is_compatible(guess, certain) == all(0 in one for one in m)
    if is_compatible(guess, certain):
        # Proposition 18, up to ties: x0 has the largest pignistic probability, perhaps not alone.
        elements, bets = guess.pignistic()
        assert bets[elements.tolist().index(0)] >= bets.max() - 1e-12


def test_erratum_lemma_17_only_if_and_proposition_18_ties() -> None:
    sure = MassFunction.from_set(3, [0])
    assert is_compatible(sure, [1.0, 0, 0])
    # Printed: m(A) = 0 only if A misses x0. But {x0, x1} holds x0 and has no mass.
    assert frozenset({0, 1}) not in as_masses(sure)
    # Printed: the most likely guess is x0. Here x1 is as likely.
    assert MassFunction.from_set(3, [0, 1]).pignistic()[1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_proposition_19_the_best_guess_may_be_impossible(k: int) -> None:
    # Needs A ≠ X, which the text forgets: x0 = k is the record outside of A.
    size = k + 1
    guess = MassFunction.from_sets(size, {(x, k): 1 / k for x in range(k)})
    assert is_compatible(guess, [1 / k] * k + [0.0])
    assert guess.pignistic()[1] == pytest.approx([1 / k / 2] * k + [1 / 2])
    for event in oracle.subsets(size):
        expected = len(event & set(range(k))) / k if k in event else 0
        assert guess.belief(event) == pytest.approx(expected, abs=1e-12)


def test_example_21_with_its_errata() -> None:
    # y := x - α e_β (printed: +): from y = 000 the record was 000 (α = 0) or one of 100, 010, 001 (α = 1).
    guess = MassFunction.from_sets(4, {(0, x): 1 / 3 for x in (1, 2, 3)})
    elements, bets = guess.pignistic()
    assert elements[bets.argmax()] == 0
    # "if α is known to be zero, x0 is impossible" holds for α known to be one.
    assert is_compatible(guess, [0, 1 / 3, 1 / 3, 1 / 3])
    assert guess.conditioned([1, 2, 3]).same_as(MassFunction.from_probability(4, [0, 1 / 3, 1 / 3, 1 / 3]))


def test_example_23_transfer_that_lowers_entropy() -> None:
    part = 0.07692307
    before = MassFunction.from_sets(8, {tuple(range(5)): part * 5, tuple(range(8)): part * 8})
    assert before.pignistic()[1] == pytest.approx([0.15384614] * 5 + [0.07692307] * 3, abs=5e-8)
    after = before.transferred(range(8), [0, 1], 0.038461544 * 8)
    assert before.pignistic_entropy() == pytest.approx(2.0317592186, abs=5e-11)
    assert before.pignistic_entropy() == pytest.approx(2.0317593, abs=1e-7)
    exact = MassFunction.from_sets(8, {tuple(range(5)): 5 / 13, tuple(range(8)): 8 / 13})
    exact = exact.transferred(range(8), [0, 1], 4 / 13)
    assert after.same_as(exact, within=5e-8)
    assert exact.pignistic_entropy() == pytest.approx(1.8300098963, abs=5e-11)
    # Printed P_Bel'(x1) = .15384617 is the transferred mass alone; with what x1 had before it is 7/26.
    bets = exact.pignistic()[1]
    assert bets == pytest.approx([7 / 26] * 2 + [3 / 26] * 3 + [1 / 26] * 3, abs=1e-12)
    assert exact.nonspecificity() < before.nonspecificity()
    # Printed: P_Bel majorizes P_Bel'. It is the other way round, as the lower entropy of P_Bel' says.
    assert majorizes(bets, before.pignistic()[1])


def test_example_24_transfer_that_raises_entropy() -> None:
    part = 0.08333332
    before = MassFunction.from_sets(10, {tuple(range(10)): part * 10, (0, 1): part * 2})
    assert before.same_as(MassFunction.from_sets(10, {tuple(range(10)): 5 / 6, (0, 1): 1 / 6}))
    after = before.transferred(range(10), range(2, 10), 5 / 6)
    assert [one.tolist() for one in after.sets] == [[0, 1], list(range(2, 10))]
    assert before.pignistic()[1] == pytest.approx([0.16666664] * 2 + [0.08333332] * 8, abs=5e-8)
    assert after.pignistic()[1] == pytest.approx([0.08333332] * 2 + [0.10416665] * 8, abs=5e-8)
    assert before.pignistic_entropy() == pytest.approx(2.2538575896, abs=5e-11)
    assert after.pignistic_entropy() == pytest.approx(2.2989536904, abs=5e-11)
    # The printed 2.2538579 and 2.2989538 come from masses that do not sum to 1.
    assert before.pignistic_entropy() == pytest.approx(2.2538579, abs=4e-7)
    assert after.pignistic_entropy() == pytest.approx(2.2989538, abs=4e-7)
    assert after.nonspecificity() < before.nonspecificity()
    assert majorizes(before.pignistic()[1], after.pignistic()[1])


def majorizes(one: np.ndarray, other: np.ndarray) -> bool:
    tops = [np.cumsum(np.sort(part)[::-1]) for part in (one, other)]
    return bool((tops[0] >= tops[1] - 1e-12).all())


def test_erratum_definition_22_lacks_its_minus_sign() -> None:
    assert MassFunction.vacuous(8).pignistic_entropy() == pytest.approx(log(8), abs=1e-15)


def test_definition_25_nonspecificity() -> None:
    m = MassFunction.from_sets(8, {(0,): 0.5, (0, 1): 0.25, tuple(range(8)): 0.25})
    assert m.nonspecificity() / log(2) == pytest.approx(0.25 * 1 + 0.25 * log2(8), abs=1e-12)


@given(several(most_inputs=1), st.data())
def test_proposition_26_transfer_never_raises_nonspecificity(case: Case, data: st.DataObject) -> None:
    n, (m,) = case
    larger = data.draw(st.sampled_from(sorted(m, key=sorted)))
    smaller = data.draw(st.sets(st.sampled_from(sorted(larger)), min_size=1))
    amount = data.draw(st.floats(0, float(m[larger])))
    before = made(n, m)
    after = before.transferred(larger, smaller, amount)
    change = amount * (log(len(smaller)) - log(len(larger)))
    assert after.nonspecificity() - before.nonspecificity() == pytest.approx(change, abs=1e-9)


def test_transfer_does_not_keep_compatibility() -> None:
    before = MassFunction.vacuous(2)
    assert is_compatible(before, [0.5, 0.5])
    assert not is_compatible(before.transferred([0, 1], [0], 0.75), [0.5, 0.5])


@given(compatible(most_inputs=1), st.data())
def test_section_4_3_conditioning_on_what_is_certain_is_acceptable(case: Compatible, data: st.DataObject) -> None:
    probability, (m,) = case
    n, possible = len(probability), {x for x, p in enumerate(probability) if p > 0}
    event = possible | data.draw(st.sets(st.integers(0, n - 1)))
    before = made(n, m)
    after = before.conditioned(event)
    assert is_compatible(after, [float(p) for p in probability])
    assert after.nonspecificity() <= before.nonspecificity() + 1e-12
    assert combine([before, MassFunction.from_set(n, event)]).nonspecificity() <= after.nonspecificity() + 1e-12


def test_definition_27_dempsters_rule_is_not_acceptable_even_without_conflict() -> None:
    m = MassFunction.from_sets(2, {(0,): 0.5, (0, 1): 0.5})
    assert is_compatible(m, [0.5, 0.5])
    found = combine([m, m], "dempster")
    assert found.belief([0]) == 0.75
    assert not is_compatible(found, [0.5, 0.5])


@pytest.mark.parametrize("rule", ["support_conditioning", "pick_min", "min_nonspecificity"])
@settings(max_examples=24)
@given(compatible(most_elements=3))
def test_definition_28_and_proposition_29_more_information_never_hurts(rule: str, case: Compatible) -> None:
    probability, many = case
    chances = [float(p) for p in probability]
    now, *rest = all_made(len(probability), many)
    for one in rest:
        before, now = now, combine([now, one], rule)
        assert is_compatible(now, chances)
        assert now.nonspecificity() <= before.nonspecificity() + 1e-9
        if before.nonspecificity() < 1e-12:
            # Once it is a probability it is the true one, and stays.
            assert before.same_as(MassFunction.from_probability(len(chances), chances), within=1e-8)
            assert now.same_as(before, within=1e-8)


def test_proposition_29_combining_need_not_reach_the_truth() -> None:
    # The text before it says that the result "will converge to be the true probability": not if nothing is said.
    nothing = MassFunction.vacuous(3)
    assert combine([nothing] * 5, "min_nonspecificity").same_as(nothing)


def test_combining_two_at_a_time_is_not_combining_at_once() -> None:
    # min_nonspecificity is not associative: the envelope of all three is lost when two become one belief.
    many = [
        MassFunction.from_sets(4, {(0, 1): 0.5, (0, 1, 2, 3): 0.5}),
        MassFunction.from_sets(4, {(1, 2): 0.5, (0, 1, 2, 3): 0.5}),
        MassFunction.from_sets(4, {(0, 3): 0.5, (0, 1, 2, 3): 0.5}),
    ]
    at_once = combine(many, "min_nonspecificity")
    pairwise = combine([combine(many[:2], "min_nonspecificity"), many[2]], "min_nonspecificity")
    assert at_once.nonspecificity() <= pairwise.nonspecificity() + 1e-12
