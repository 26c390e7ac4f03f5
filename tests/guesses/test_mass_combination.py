"""Every rule of combination beside its definition over all subsets, and whether it is acceptable (Definition 27)."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.guesses.belief_cases import all_made, as_masses, compatible, made, renamed, several
from tests.oracles import beliefs as oracle
from unveil._kernels.mass.flow import largest_flow
from unveil._kernels.mass.masses import combine_pairs, join_pairs
from unveil.errors import InputError
from unveil.guesses.mass_combination import COMBINATIONS, allocate, combine, conflict
from unveil.guesses.mass_function import MassFunction

ACCEPTABLE = [name for name, facts in COMBINATIONS.items() if facts.acceptable]
CLASSICAL: dict[str, Callable[[Any, int], oracle.Masses | None]] = {
    "dempster": oracle.dempster,
    "yager": oracle.yager,
    "dubois_prade": oracle.dubois_prade,
    "pcr5": oracle.pcr5,
    "disjunctive": oracle.disjunctive,
    "mean": oracle.mean,
    "cautious": oracle.cautious,
}
HALF = Fraction(1, 2)
A, B, AB, BC, ABC = (frozenset(one) for one in ({0}, {1}, {0, 1}, {1, 2}, {0, 1, 2}))


def test_the_list() -> None:
    assert set(ACCEPTABLE) == {"support_conditioning", "min_nonspecificity", "pick_min"}
    assert set(COMBINATIONS) == {*ACCEPTABLE, *CLASSICAL, "conjunctive", "informed"}
    assert COMBINATIONS["informed"].acceptable_for == "the given probability"
    for facts in COMBINATIONS.values():
        assert facts.summary.startswith("Return ")
        assert facts.source


@pytest.mark.parametrize("rule", CLASSICAL)
@settings(max_examples=22)
@given(several(most_elements=4))
def test_classical_rules_follow_their_definition(rule: str, case: tuple[int, list[oracle.Masses]]) -> None:
    n, many = case
    wanted = CLASSICAL[rule](many, n)
    if wanted is None:
        with pytest.raises(InputError, match="undefined"):
            combine(all_made(n, many), rule)
    else:
        found = combine(all_made(n, many), rule)
        assert found.same_as(made(n, wanted), within=1e-11)


@settings(max_examples=24)
@given(several(most_elements=4))
def test_the_conjunctive_rule_and_conflict(case: tuple[int, list[oracle.Masses]]) -> None:
    n, many = case
    wanted = oracle.unnormalized(many, n)
    lost = wanted.get(oracle.EMPTY, 0)
    assert conflict(all_made(n, many)) == pytest.approx(float(lost), abs=1e-12)
    if lost:
        with pytest.raises(InputError, match="on the empty set"):
            combine(all_made(n, many), "conjunctive")
    else:
        assert combine(all_made(n, many), "conjunctive").same_as(made(n, wanted))


@settings(max_examples=24)
@given(several())
def test_support_conditioning_and_pick_min(case: tuple[int, list[oracle.Masses]]) -> None:
    n, many = case
    inputs = all_made(n, many)
    picked = combine(inputs, "pick_min")
    assert any(picked is one for one in inputs)
    assert picked.nonspecificity() <= min(map(oracle.nonspecificity, many)) + 1e-12
    wanted = oracle.support_conditioning(many, n)
    if wanted is None:
        with pytest.raises(InputError, match="no probability is compatible with all"):
            combine(inputs)
    else:
        found = combine(inputs)
        shared = oracle.intersection([frozenset.union(*m) for m in many])
        assert any(found.same_as(made(n, oracle.conditioned(m, shared) or {})) for m in many)
        assert found.nonspecificity() == pytest.approx(oracle.nonspecificity(wanted), abs=1e-12)


@settings(max_examples=24)
@given(several(most_elements=4))
def test_the_least_nonspecificity_is_that_of_the_programme_over_all_subsets(
    case: tuple[int, list[oracle.Masses]],
) -> None:
    n, many = case
    wanted = oracle.least_nonspecificity(many, n)
    if wanted is None:
        with pytest.raises(InputError, match="no probability is compatible with all"):
            combine(all_made(n, many), "min_nonspecificity")
        return
    found = combine(all_made(n, many), "min_nonspecificity")
    assert found.nonspecificity() == pytest.approx(wanted, abs=1e-8)
    for event in oracle.subsets(n)[1:]:
        assert found.belief(event) <= (oracle.least_probability(many, n, event) or 0) + 1e-9


@pytest.mark.parametrize("rule", [*ACCEPTABLE, "informed"])
@settings(max_examples=22)
@given(compatible())
def test_acceptable_rules_are(rule: str, case: tuple[list[Fraction], list[oracle.Masses]]) -> None:
    probability, many = case
    n = len(probability)
    assert all(oracle.excess(m, probability) <= 0 for m in many)
    known = [float(p) for p in probability] if rule == "informed" else None
    found = combine(all_made(n, many), rule, probability=known)
    assert oracle.excess(as_masses(found), [float(p) for p in probability]) <= 1e-9
    assert found.nonspecificity() <= min(map(oracle.nonspecificity, many)) + 1e-9


# A probability and beliefs compatible with it that each of the other rules gets wrong.
WRONG: dict[str, tuple[list[Fraction], list[oracle.Masses]]] = {
    **dict.fromkeys(
        ("conjunctive", "dempster", "yager", "dubois_prade", "pcr5"),
        ([HALF, HALF], [{A: HALF, AB: HALF}, {A: HALF, AB: HALF}]),
    ),
    "disjunctive": ([HALF, HALF], [{A: HALF, AB: HALF}, {A: HALF, AB: HALF}]),
    "mean": ([Fraction(1), Fraction(0)], [{A: Fraction(1)}, {AB: Fraction(1)}]),
    "cautious": ([HALF, Fraction(0), HALF], [{AB: HALF, ABC: HALF}, {BC: HALF, ABC: HALF}]),
}


@pytest.mark.parametrize("rule", [name for name, facts in COMBINATIONS.items() if facts.acceptable_for == "none"])
def test_the_other_rules_are_not_acceptable(rule: str) -> None:
    probability, many = WRONG[rule]
    assert all(oracle.excess(m, probability) <= 0 for m in many)
    found = combine(all_made(len(probability), many), rule)
    incompatible = oracle.excess(as_masses(found), [float(p) for p in probability]) > 0.1
    vaguer = found.nonspecificity() > min(map(oracle.nonspecificity, many)) + 0.1
    assert incompatible or vaguer
    assert vaguer == (rule in ("disjunctive", "mean"))


@pytest.mark.parametrize("rule", COMBINATIONS)
@settings(max_examples=22)
@given(compatible(), st.randoms())
def test_the_order_of_elements_does_not_matter(
    rule: str, case: tuple[list[Fraction], list[oracle.Masses]], lots: Any
) -> None:
    probability, many = case
    n = len(probability)
    names = list(range(n))
    lots.shuffle(names)
    moved = [0.0] * n
    for x, p in enumerate(probability):
        moved[names[x]] = float(p)
    informed = rule == "informed"
    try:
        here = combine(all_made(n, many), rule, probability=[float(p) for p in probability] if informed else None)
    except InputError:
        assume(False)
    there = combine(all_made(n, [renamed(m, names) for m in many]), rule, probability=moved if informed else None)
    assert there.same_as(made(n, renamed(as_masses(here), names)), within=1e-7)


@pytest.mark.parametrize("rule", COMBINATIONS)
def test_one_input_alone_says_what_it_says(rule: str) -> None:
    only = MassFunction.from_sets(3, {(0, 1): 0.25, (0, 1, 2): 0.75})
    probability = [0.5, 0.25, 0.25] if rule == "informed" else None
    assert combine([only], rule, probability=probability).same_as(only, within=1e-11)


def test_informed_is_the_formula_where_there_is_one_way_to_share_out() -> None:
    # {a} and {ab} against P = (1/2, 1/2): {ab} must give all to b. The other input is the vacuous one.
    one, all_ = made(2, {A: HALF, AB: HALF}), MassFunction.vacuous(2)
    assert combine([one, all_], "informed", probability=[0.5, 0.5]).same_as(one)
    # Twice the same input: a meets a on a, and ab meets ab on ab.
    assert combine([one, one, one], "informed", probability=[0.5, 0.5]).same_as(one)
    # a: {a} from one side and {ab} from the other.
    other = made(2, {B: HALF, AB: HALF})
    assert as_masses(combine([one, other], "informed", probability=[0.5, 0.5])) == {A: 0.5, B: 0.5}


def test_informed_refuses_what_is_not_compatible() -> None:
    one = made(2, {A: HALF, AB: HALF})
    with pytest.raises(
        InputError, match=r"input 1 \(counted from 0\) is incompatible with the probability: the belief"
    ):
        combine([MassFunction.vacuous(2), one], "informed", probability=[0.25, 0.75])
    with pytest.raises(InputError, match=r"probabilities sum to 0\.75, not 1"):
        combine([one], "informed", probability=[0.25, 0.5])
    with pytest.raises(InputError, match="needs the true probability"):
        combine([one], "informed")
    with pytest.raises(InputError, match="no other rule takes it"):
        combine([one], "mean", probability=[0.5, 0.5])


def test_min_nonspecificity_is_better_and_has_a_limit() -> None:
    first = made(3, {AB: HALF, ABC: HALF})
    second = made(3, {BC: HALF, ABC: HALF})
    # P(c) <= 1/2 and P(a) <= 1/2 leave (1/2, 0, 1/2): only ab, bc and abc can be believed in at all.
    found = combine([first, second], "min_nonspecificity")
    assert found.same_as(made(3, {AB: HALF, BC: HALF}))
    assert found.nonspecificity() < combine([first, second]).nonspecificity()
    wide = MassFunction.from_probability(12, np.full(12, 1 / 12))
    with pytest.raises(InputError, match=r"min_nonspecificity solves a program over the 2\*\*12 unions of 12 atoms"):
        combine([wide, wide], "min_nonspecificity")
    narrow = MassFunction.from_probability(4, np.full(4, 1 / 4))
    with pytest.raises(
        InputError, match=r"min_nonspecificity solves a program over the 2\*\*4 unions of 4 atoms, above"
    ):
        combine([narrow, narrow], "min_nonspecificity", most_atoms=3)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_elements_does_not_matter_where_many_beliefs_are_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, units = 6, rng.integers(0, 6, 5).tolist()
    many: list[oracle.Masses] = [{}, {}]
    for m in many:
        for x in units:
            around = frozenset([x, *np.flatnonzero(rng.random(n) < 0.4).tolist()])
            m[around] = m.get(around, 0) + Fraction(1, len(units))
    names = rng.permutation(n).tolist()
    here = combine(all_made(n, many), "min_nonspecificity")
    there = combine(all_made(n, [renamed(m, names) for m in many]), "min_nonspecificity")
    assert there.same_as(made(n, renamed(as_masses(here), names)), within=1e-7)


def test_a_contradiction_that_only_the_programme_sees() -> None:
    # Every focal set meets what both hold possible, but the first believes in a more than the second allows.
    many = [{A: Fraction(3, 4), ABC: Fraction(1, 4)}, {BC: HALF, ABC: HALF}]
    with pytest.raises(InputError, match="no probability is compatible with all inputs, so at least one input is"):
        combine(all_made(3, many), "min_nonspecificity")


def test_a_result_has_no_more_atoms_than_it_needs() -> None:
    one, other = MassFunction.from_set(6, [0, 1, 2, 3]), MassFunction.from_sets(6, {(1, 2, 5): 0.5, (2, 1, 4): 0.5})
    found = combine([one, other], "dempster")
    assert [block.tolist() for block in found.atoms()] == [[1, 2]]
    assert found.support.tolist() == [1, 2]
    assert found.on_atoms().tolist() == [0, 1]
    two = combine([MassFunction.vacuous(6), other], "dempster")
    assert [block.tolist() for block in two.atoms()] == [[1, 2], [4], [5]]
    assert two.support.tolist() == [1, 2, 4, 5]


@pytest.mark.parametrize("rule", ["dempster", "yager", "dubois_prade", "pcr5"])
def test_products_that_vanish_are_no_focal_sets(rule: str) -> None:
    # Only two masses of 1e-200 meet on {b}: their product is below the smallest number there is.
    one, other = ({part: 1e-200, ABC: 1.0} for part in (AB, BC))
    found = combine(all_made(3, [one, other]), rule)
    assert set(as_masses(found)) == {AB, BC, ABC}


def test_total_conflict() -> None:
    here, there = MassFunction.from_set(3, [0]), MassFunction.from_set(3, [1, 2])
    with pytest.raises(InputError, match=r"Dempster's rule is undefined: .*total conflict"):
        combine([here, there], "dempster")
    for rule in ("support_conditioning", "min_nonspecificity"):
        with pytest.raises(InputError, match="no probability is compatible with all inputs, so at least one input is"):
            combine([here, there], rule)
    assert conflict([here, there]) == 1
    assert as_masses(combine([here, there], "yager")) == {ABC: 1.0}
    assert as_masses(combine([here, there], "dubois_prade")) == {ABC: 1.0}
    assert as_masses(combine([here, there], "pcr5")) == {A: 0.5, BC: 0.5}


def test_bad_input() -> None:
    with pytest.raises(InputError, match="at least one mass function"):
        combine([])
    with pytest.raises(InputError, match=r"sizes are \[2, 3\]"):
        combine([MassFunction.vacuous(2), MassFunction.vacuous(3)])
    with pytest.raises(InputError, match="Unknown rule 'demster'"):
        combine([MassFunction.vacuous(2)], "demster")
    many = MassFunction.from_probability(10_000, np.full(10_000, 1e-4))
    with pytest.raises(InputError, match="this rule combines 100,000,000 tuples of focal sets, above the maximum of"):
        combine([many, many], "pcr5")
    with pytest.raises(InputError, match="focal sets times atoms"):
        combine([MassFunction.from_probability(40_000, np.full(40_000, 1 / 40_000))] * 2, "dempster")
    with pytest.raises(InputError, match="at most 22 atoms"):
        combine([MassFunction.from_sets(30, [(range(30), 0.4), *(([k], 0.02) for k in range(30))])] * 2, "cautious")


@settings(max_examples=24)
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_all_ways_to_intersect_agree(atoms: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # As many pairs as make a transform pay, the same ones sorted, and as Python integers.
    one, other = (np.sort(rng.choice(2**atoms - 1, 2 ** (atoms - 1), replace=False) + 1) for _ in range(2))
    masses = [rng.dirichlet(np.ones(part.size)) for part in (one, other)]
    copies = 4 * atoms
    many, heavy = np.repeat(one, copies), np.repeat(masses[0] / copies, copies)
    wanted = join_pairs(one, masses[0], other, masses[1], np.bitwise_and)
    for found in (
        combine_pairs(one, masses[0], other, masses[1], atoms),
        combine_pairs(many, heavy, np.repeat(other, 4), np.repeat(masses[1] / 4, 4), atoms),
        join_pairs(one.astype(object), masses[0], other.astype(object), masses[1], np.bitwise_and),
    ):
        assert found[0].tolist() == wanted[0].tolist()
        assert found[1] == pytest.approx(wanted[1], abs=1e-14)


@pytest.mark.unwatched
@pytest.mark.parametrize("rule", ["dempster", "yager", "dubois_prade", "pcr5", "disjunctive", "mean"])
@pytest.mark.parametrize("size", [40, 63, 64, 100])
def test_wide_frames(rule: str, size: int) -> None:
    rng = np.random.default_rng(size)
    many: list[oracle.Masses] = [
        {frozenset(np.flatnonzero(row).tolist()): Fraction(1, 90) for row in rng.random((90, size)) < 0.1}
        for _ in range(2)
    ]
    many = [{one: mass / sum(m.values()) for one, mass in m.items() if one} for m in many]
    many = [{one: mass / sum(m.values()) for one, mass in m.items()} for m in many]
    assert all_made(size, many)[0].partition.count == size
    wanted = CLASSICAL[rule](many, size)
    assert wanted is not None
    assert combine(all_made(size, many), rule).same_as(made(size, wanted), within=1e-12)


@settings(max_examples=24)
@given(compatible(most_inputs=1), st.data())
def test_masses_are_shared_out_to_the_probability(
    case: tuple[list[Fraction], list[oracle.Masses]], data: st.DataObject
) -> None:
    probability, (m,) = case
    start = np.concatenate([[0], np.cumsum([len(one) for one in m])])
    atom = np.concatenate([sorted(one) for one in m])
    mass, chance = np.array([float(w) for w in m.values()]), np.array([float(p) for p in probability])
    shares, flow = allocate(start, atom, mass, chance)
    assert flow.missing <= 1e-12
    assert np.add.reduceat(shares, start[:-1]) == pytest.approx(mass, abs=1e-10)
    assert np.bincount(atom, shares, chance.size) == pytest.approx(chance, abs=1e-10)


def test_a_large_flow_is_the_compiled_one_and_finds_the_planted_shortfall() -> None:
    rng = np.random.default_rng(3)
    rows, columns = 300, 200
    edges = [np.flatnonzero(rng.random(columns) < 0.5) for _ in range(rows)]
    # The last thirty rows reach only ten columns, whose demand they exceed.
    edges[-30:] = [rng.choice(10, 5, replace=False) for _ in range(30)]
    supply, demand = np.full(rows, 1 / rows), np.full(columns, 0.95 / 190)
    demand[:10] = 0.005
    start = np.concatenate([[0], np.cumsum([one.size for one in edges])])
    flow = largest_flow(start, np.concatenate(edges), supply, demand)
    assert start[-1] > 10_000
    assert flow.missing == pytest.approx(0.1 - 0.05, abs=1e-9)
    assert np.flatnonzero(flow.reached).tolist() == list(range(270, 300))


def test_a_function_of_ones_own_is_a_rule() -> None:
    first, second = MassFunction.from_set(3, [0, 1]), MassFunction.from_set(3, [1])
    assert combine([first, second], lambda masses: masses[-1]) is second
    assert combine([first, second], "unveil.guesses.mass_combination:pick_min").same_as(second)
    with pytest.raises(InputError, match="cannot be imported"):
        combine([first, second], "no.such.module:rule")
    with pytest.raises(InputError, match="must be a function"):
        combine([first, second], "unveil.guesses.mass_combination:no_rule")
    with pytest.raises(InputError, match="must return a MassFunction on the frame of the inputs"):
        combine([first, second], lambda masses: len(masses))  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match="which has 3 elements, but returned one on 4"):
        combine([first, second], lambda _: MassFunction.from_set(4, [0]))
    with pytest.raises(InputError, match="gets the masses only, and no probability"):
        combine([first, second], lambda masses: masses[0], probability=[1.0, 0.0, 0.0])


@pytest.mark.parametrize("rule", [3, None, ["dempster"]])
def test_what_is_no_rule_says_what_is_one(rule: Any) -> None:
    with pytest.raises(InputError, match="Use one of conjunctive, dempster, yager, dubois_prade, pcr5"):
        combine([MassFunction.from_set(3, [0, 1])], rule)
