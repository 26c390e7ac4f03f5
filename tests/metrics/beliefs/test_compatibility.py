"""Whether a guess is valid: Definition 7 against all subsets, the paper's examples with their errata, the findings."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles import compatibility as oracle
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction
from unveil.metrics._listing import METRICS
from unveil.metrics.beliefs import _belief_flow
from unveil.metrics.beliefs._belief_flow import signatures, worst_set
from unveil.metrics.beliefs.compatibility import compatibility, compatible_belief, compatible_probability, valid_guesses

Floats = NDArray[np.float64]
Case = tuple[oracle.Masses, list[Fraction]]


def elements(event: int) -> NDArray[np.int64]:
    return np.array([x for x in range(event.bit_length()) if event >> x & 1], np.int64)


def mass_function(masses: oracle.Masses, size: int) -> MassFunction:
    return MassFunction.from_sets(size, [(elements(one).tolist(), float(mass)) for one, mass in masses.items()])


def as_event(found: NDArray[np.int64]) -> int:
    return sum(1 << int(x) for x in found)


@st.composite
def cases(draw: st.DrawFn, *, nested: bool = False, largest: int = 6) -> Case:
    """Return masses and a probability, in half of the cases an allocation of the masses: then they just fit."""
    size = draw(st.integers(1, largest))
    some = st.integers(1, 2**size - 1)
    sets = draw(st.sets(some, min_size=1, max_size=9))
    if nested:
        kept: list[int] = []
        for one in sorted(sets, key=lambda event: -event.bit_count()):
            if all(one & ~other == 0 or one & other == 0 for other in kept):
                kept.append(one)
        sets = set(kept)
    heights = draw(st.lists(st.integers(1, 6), min_size=len(sets), max_size=len(sets)))
    masses = {one: Fraction(height, sum(heights)) for one, height in zip(sorted(sets), heights, strict=True)}
    probability = [Fraction(0)] * size
    if draw(st.booleans()):
        for one, mass in masses.items():
            probability[draw(st.sampled_from(elements(one).tolist()))] += mass
    else:
        counts = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(any))
        probability = [Fraction(count, sum(counts)) for count in counts]
    return masses, probability


def check(case: Case) -> str:
    """Check the finding against all subsets, and return the way that was taken."""
    masses, probability = case
    found = compatible_belief(mass_function(masses, len(probability)), [float(p) for p in probability])
    excess = oracle.greatest_excess(masses, probability)
    assert found.valid is (excess == 0)
    assert found.excess == pytest.approx(float(excess), abs=1e-9)
    if not found.valid:
        event = as_event(found.witness)
        assert oracle.belief(masses, event) - oracle.total(probability, event) == excess
        assert found.claimed == pytest.approx(float(oracle.belief(masses, event)))
        assert found.possible == pytest.approx(float(oracle.total(probability, event)))
    return found.method


@settings(deadline=None, max_examples=22)
@given(cases())
def test_the_verdict_and_the_witness_are_those_of_all_subsets(case: Case) -> None:
    assert check(case) in ("one focal set", "disjoint focal sets", "unions of focal sets")


@settings(deadline=None, max_examples=24)
@given(cases())
def test_so_they_are_by_flow(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_belief_flow, "MOST_UNIONS", 1)
        patch.setattr(_belief_flow, "_of_nested", lambda *_: None)
        patch.setattr(_belief_flow, "_of_disjoint", lambda *_: None)
        assert check(case) in ("one focal set", "flow")


@settings(deadline=None, max_examples=24)
@given(cases(nested=True))
def test_so_they_are_for_nested_sets(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_belief_flow, "MOST_UNIONS", 1)
        assert check(case) in ("one focal set", "disjoint focal sets", "nested focal sets")


@pytest.mark.parametrize("spread", [10, 100_000])  # on a frame as large as the sets, and on a much larger one
@pytest.mark.parametrize("valid", [True, False])
def test_many_overlapping_sets_go_by_flow(valid: bool, spread: int) -> None:
    rng = np.random.default_rng(4)
    sets = [np.sort(rng.choice(40, 6, replace=False)) for _ in range(90)]
    mass = rng.dirichlet(np.ones(90))
    probability = np.zeros(40)
    for one, height in zip(sets, mass, strict=True):
        probability[one] += height * rng.dirichlet(np.ones(6))
    if not valid:
        probability *= 0.7
        probability[0] += 0.3  # more than the mass of all sets that hold it
    place = np.arange(40) * (spread // 10)
    found = worst_set([place[one] for one in sets], mass, place, probability, 4 * spread)
    assert found.method == "flow"
    assert (found.excess > 1e-9) is not valid
    if not valid:
        inside = np.isin(place, found.elements)
        assert found.probability == pytest.approx(probability[inside].sum())
        assert found.belief == pytest.approx(sum(m for one, m in zip(sets, mass, strict=True) if inside[one].all()))


def test_a_chain_of_many_sets_needs_no_flow() -> None:
    sets = [np.arange(k) for k in range(1, 31)]
    mass = np.full(30, 1 / 30)
    found = worst_set(sets, mass, np.arange(30), np.full(30, 1 / 30), 30)
    assert (found.method, found.excess) == ("nested focal sets", 0.0)
    # All probability on the last element: the chain up to the one before it is believed to 29 / 30.
    found = worst_set(sets, mass, np.array([29]), np.ones(1), 30)
    assert found.elements.tolist() == list(range(29))
    assert found.excess == pytest.approx(29 / 30)


# ---- the paper ------------------------------------------------------------------------------------------------------

ATTRIBUTES = np.array([[0, 0, 1, 1, 1, 0], [0, 1, 0, 0, 1, 1], [1, 1, 0, 1, 0, 0]])


def candidates_by(attributes: list[int], record: int) -> NDArray[np.int64]:
    table = ATTRIBUTES[attributes]
    return np.flatnonzero((table == table[:, [record]]).all(axis=0))


def test_example_8_to_15_candidate_sets_on_fewer_attributes_are_valid() -> None:
    """Proposition 12 and Example 15: supersets of the true set, as a belief and as its pignistic."""
    for record in range(6):
        true = candidates_by([0, 1, 2], record)
        truth = (true, np.full(true.size, 1 / true.size))
        for attributes in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
            wider = candidates_by(attributes, record)
            mass = MassFunction.from_set(6, wider)
            assert compatible_belief(mass, truth).valid
            assert compatible_probability(mass.pignistic(), truth, 6).valid


def test_example_9_the_true_probability_is_not_above_the_guess_everywhere() -> None:
    """The example says that P is at least r for all records; that is false for a candidate that is not a true one."""
    true, wider = candidates_by([0, 1, 2], 2), candidates_by([0], 2)
    outside = np.setdiff1d(wider, true)
    assert outside.size
    probability, guess = np.isin(np.arange(6), true) / true.size, np.isin(np.arange(6), wider) / wider.size
    assert (probability[outside] < guess[outside]).all()
    assert compatible_probability(guess, probability, 6).valid


def test_lemma_13_a_candidate_set_that_misses_a_true_record_is_not_valid() -> None:
    found = compatible_belief(MassFunction.from_set(6, [0, 1, 4]), ([0, 1, 2], [1 / 3] * 3))
    assert (found.valid, found.method) == (False, "one focal set")
    assert found.possible == pytest.approx(2 / 3)
    assert found.why == (
        "The belief that the record is one of 3 (numbers 1, 2, 5, counted from 1) is 1, but its probability "
        "is 0.666667: the guess is incompatible with the record-level truth."
    )


def test_proposition_16_a_true_record_may_not_be_ruled_out() -> None:
    found = compatible_probability([0.5, 0, 0.5], [0.5, 0.25, 0.25], 3, level="file")
    assert found.valid is False
    assert found.why == (
        "The guess excludes that the record is number 2 (counted from 1), of probability 0.25: the guess is "
        "incompatible with the file-level truth."
    )


def test_lemma_17_holds_one_way_only() -> None:
    """All focal sets hold the certain record; but not every set that holds it has a mass, as the lemma says."""
    certain = [1.0, 0.0, 0.0]
    assert compatible_belief(MassFunction.from_sets(3, {(0,): 0.5, (0, 2): 0.5}), certain).valid
    assert not compatible_belief(MassFunction.from_sets(3, {(0, 1): 0.9, (1, 2): 0.1}), certain).valid
    only = MassFunction.from_set(3, [0])  # its mass of {0, 1} is 0, though that set holds the record
    assert compatible_belief(only, certain).valid


def test_proposition_18_holds_up_to_ties() -> None:
    certain = [1.0, 0.0, 0.0]
    assert compatible_probability([0.4, 0.4, 0.2], certain, 3).valid  # number 1 is a most likely guess as well
    found = compatible_probability([0.3, 0.4, 0.3], certain, 3)
    assert found.valid is False
    assert found.why.startswith(
        "The record is number 1 (counted from 1) for certain, but number 2 has a higher probability"
    )


@pytest.mark.parametrize("k", [2, 3, 5])
def test_proposition_19_needs_a_record_outside_of_the_true_ones(k: int) -> None:
    """With A = X there is no record outside, and a guess that favours one record by as much is not compatible."""
    truth = [1 / k] * k + [0.0]
    mass = MassFunction.from_sets(k + 1, {(x, k): 1 / k for x in range(k)})
    assert compatible_belief(mass, truth).valid
    records, guess = mass.pignistic()
    assert guess[-1] == pytest.approx(0.5)
    assert compatible_probability((records, guess), truth, k + 1).valid
    inside = [(1 - 0.9) / (k - 1)] * (k - 1) + [0.9]
    assert compatible_probability(inside, [1 / k] * k, k).valid is False


def test_example_21_with_its_errata() -> None:
    """y = x - alpha e_beta, and alpha known to be 1: x0 = y itself is impossible, and the likeliest guess."""
    truth = [0.0, 1 / 3, 1 / 3, 1 / 3]
    mass = MassFunction.from_sets(4, {(0, 1): 1 / 3, (0, 2): 1 / 3, (0, 3): 1 / 3})
    assert compatible_belief(mass, truth).valid
    records, guess = mass.pignistic()
    assert int(records[np.argmax(guess)]) == 0
    assert compatible_probability((records, guess), truth, 4).valid
    # As printed, y = x + alpha e_beta, the other three records cannot become y: only x0 can.
    assert compatible_belief(mass, [1.0, 0.0, 0.0, 0.0]).valid
    assert compatible_probability((records, guess), [1.0, 0.0, 0.0, 0.0], 4).valid


def test_where_py_dempster_shafer_is_wrong() -> None:
    found = compatible_belief(MassFunction.from_sets(4, {(0, 1): 0.6, (2, 3): 0.4}), [0.1, 0.1, 0.4, 0.4])
    assert (found.valid, found.witness.tolist()) == (False, [0, 1])
    assert [found.claimed, found.possible] == pytest.approx([0.6, 0.2])


def test_the_relation_is_neither_symmetric_nor_transitive() -> None:
    certain, half, third = [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]
    assert compatible_probability(half, certain, 3).valid
    assert compatible_probability(certain, half, 3).valid is False
    assert compatible_probability(third, half, 3).valid
    assert compatible_probability(third, certain, 3).valid is False


# ---- all targets ----------------------------------------------------------------------------------------------------

TRUTH = Candidates.from_matrix([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0]])


def test_probabilities_of_several_targets() -> None:
    guess = Candidates.from_scores([[1, 1, 2], [2, 1, 1], [1, 2, 7], [0, 0, 0]])
    found = compatibility(guess, TRUTH)
    np.testing.assert_array_equal(found.verdicts, [1, 0, 1, np.nan])
    assert (found.valid, found.invalid, found.undecided, found.definition) == (2, 1, 0, 14)
    assert found.share == pytest.approx(2 / 3)
    assert found.worst == 1
    assert found.findings[3].method == "not attempted"
    assert found.sentence == (
        "2 of 3 guesses (66.7%) are compatible with the record-level truth. The worst is target 2 (counted from "
        "1): The record is number 3 (counted from 1) for certain, but number 1 has a higher probability: the guess is "
        "incompatible with the record-level truth."
    )
    assert valid_guesses(guess, TRUTH) == found.share


def test_beliefs_of_several_targets() -> None:
    sets = ([0, 1], [0, 1], [0, 1, 2], [1])
    found = compatibility(Beliefs(3, tuple(MassFunction.from_set(3, one) for one in sets)), TRUTH, level="file")
    assert found.verdicts.tolist() == [1, 0, 1, 1]
    assert (found.definition, found.level, found.worst) == (7, "file", 1)
    assert "dishonest" not in found.sentence
    assert found.sentence.endswith("the guess is incompatible with the file-level truth.")


def test_the_worst_is_the_one_that_claims_most() -> None:
    guess = Candidates.from_matrix([[0.0, 0.2, 0.8], [0.3, 0.3, 0.4]])
    found = compatibility(guess, Candidates.from_matrix([[0.1, 0.9, 0.0], [1.0, 0.0, 0.0]]))
    excess = [each.excess for each in found.findings]
    assert found.invalid == 2
    assert found.worst == int(np.argmax(excess))


def test_what_has_no_verdict_is_counted_apart() -> None:
    guess = Candidates.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    truth = Candidates.from_scores([[1, 0], [0, 0]])
    found = compatibility(guess, truth)
    assert (found.valid, found.undecided, found.between) == (1, 1, (0.5, 1.0))
    assert np.isnan(found.share)
    assert np.isnan(valid_guesses(guess, truth))
    assert found.sentence == (
        "1 of 2 guesses (50.0% to 100.0%) are compatible with the record-level truth; 0 are not, and 1 are unknown."
    )
    nothing = compatibility(Candidates.from_scores([[1, 0]]), Candidates.from_scores([[0, 0]]), level="file")
    assert np.isnan(nothing.share)
    assert (nothing.worst, nothing.sentence) == (
        None,
        "No guess could be compared with the file-level truth: no file-level truth.",
    )
    idle = compatibility(Candidates.from_scores([[0, 0]]), Candidates.from_scores([[1, 0]]))
    assert idle.sentence == "No guess could be compared with the record-level truth: no target was attempted."


def test_beyond_the_cap_a_target_is_undecided() -> None:
    truth, guess = Candidates.from_matrix([[0.9, 0.1, 0.0]]), Candidates.from_matrix([[0.1, 0.1, 0.8]])
    assert compatibility(guess, truth).invalid == 1
    found = compatibility(guess, truth, at_most=1)
    assert (found.undecided, found.findings[0].valid) == (1, None)
    assert found.findings[0].why.startswith("Compatibility with the record-level truth is unknown")


def test_many_elements_are_not_all_printed() -> None:
    found = compatible_belief(MassFunction.from_set(9, range(8)), [0.0] * 8 + [1.0])
    assert "one of 8 (numbers 1, 2, 3, 4, 5 and 3 more, counted from 1)" in found.why


def test_the_metric_is_listed() -> None:
    listed = METRICS["valid_guesses"]
    assert (listed.category, listed.per, listed.needs_truth) == ("validity", "release", True)
    assert set(listed.on.split(" | ")) == {"Beliefs", "Candidates"}
    assert listed.formula.startswith("``#valid")
    assert listed.undefined.startswith("NaN if guesses are not settled")


def test_bad_input_is_refused() -> None:
    mass = MassFunction.vacuous(2)
    with pytest.raises(InputError, match=r"probabilities sum to 0\.9, not 1"):
        compatible_belief(mass, [0.5, 0.4])
    with pytest.raises(InputError, match="1 elements are outside the frame of 2, which has numbers 0 to 1"):
        compatible_probability(([0, 2], [0.5, 0.5]), [1.0, 0.0], 2)
    with pytest.raises(InputError, match="Unknown level 'table'"):
        compatible_belief(mass, [0.5, 0.5], level="table")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the guess has 1 targets and the truth 4"):
        compatibility(Candidates.from_matrix([[1.0]]), TRUTH)
    with pytest.raises(InputError, match="truth names candidate number 2"):
        compatibility(Beliefs(2, (mass,) * 4), TRUTH)
    named = [Candidates.from_table(["t", "t"], names, [0.5, 0.5]) for names in (["a", "b"], ["a", "c"])]
    with pytest.raises(InputError, match="name the candidates differently"):
        compatibility(*named)


def test_unions_are_tried_up_to_twelve_sets() -> None:
    chain = [np.array([low, high]) for low, high in pairwise(range(13))]
    found = worst_set(chain, np.full(12, 1 / 12), np.arange(13), np.full(13, 1 / 13), 13)
    assert found.method == "unions of focal sets"
    longer = [np.array([low, high]) for low, high in pairwise(range(14))]
    assert worst_set(longer, np.full(13, 1 / 13), np.arange(14), np.full(14, 1 / 14), 14).method == "flow"


def test_a_signature_holds_62_sets() -> None:
    one = (np.array([0]),)
    assert signatures(one * 62, 2).tolist() == [2**62 - 1, 0]
    with pytest.raises(ValueError, match="at most 62 sets"):
        signatures(one * 63, 2)
