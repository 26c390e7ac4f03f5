"""Small random beliefs with exact masses, alone and compatible with one probability."""

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from tests.oracles.beliefs import Masses
from unveil.guesses.mass_function import MassFunction


def sets(n: int) -> st.SearchStrategy[frozenset[int]]:
    return st.integers(1, 2**n - 1).map(lambda mask: frozenset(k for k in range(n) if mask >> k & 1))


def masses(n: int, *, most: int = 5) -> st.SearchStrategy[Masses]:
    """Return masses in whole parts of a small number."""

    def share(weights: dict[frozenset[int], int]) -> Masses:
        return {one: Fraction(weight, sum(weights.values())) for one, weight in weights.items()}

    return st.dictionaries(sets(n), st.integers(1, 5), min_size=1, max_size=most).map(share)


@st.composite
def several(draw: st.DrawFn, *, most_elements: int = 5, most_inputs: int = 3) -> tuple[int, list[Masses]]:
    n = draw(st.integers(1, most_elements))
    return n, [draw(masses(n)) for _ in range(draw(st.integers(1, most_inputs)))]


@st.composite
def compatible(draw: st.DrawFn, *, most_elements: int = 4, most_inputs: int = 3) -> tuple[list[Fraction], list[Masses]]:
    """Return a probability and beliefs that are compatible with it: each unit of it lies in some set around it."""
    n = draw(st.integers(1, most_elements))
    units = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6))
    probability = [Fraction(units.count(x), len(units)) for x in range(n)]
    found = []
    for _ in range(draw(st.integers(1, most_inputs))):
        m: Masses = {}
        for x in units:
            around = draw(sets(n)) | {x}
            m[around] = m.get(around, Fraction(0)) + Fraction(1, len(units))
        found.append(m)
    return probability, found


def made(n: int, m: Masses) -> MassFunction:
    return MassFunction.from_sets(n, [(sorted(one, reverse=True), float(mass)) for one, mass in m.items()])


def all_made(n: int, many: Sequence[Masses]) -> list[MassFunction]:
    return [made(n, m) for m in many]


def as_masses(found: MassFunction) -> Masses:
    return {frozenset(one.tolist()): float(mass) for one, mass in zip(found.sets, found.mass, strict=True)}


def renamed(m: Masses, names: Sequence[int]) -> Masses:
    return {frozenset(names[x] for x in one): mass for one, mass in m.items()}
