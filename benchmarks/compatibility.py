"""Whether guesses are valid: Definition 7 by flow beside a general linear program, and Definition 14 on groups."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, side_by_side
from unveil.metrics.beliefs._belief_flow import worst_set
from unveil.metrics.beliefs._coupling import RecordGroups, decide, program

Floats = NDArray[np.float64]
Belief = tuple[tuple[NDArray[np.int64], ...], Floats, NDArray[np.int64], Floats, int]


def belief(focal: int, records: int, largest: int, rng: np.random.Generator) -> Belief:
    """Return random focal sets with masses, and a probability that is an allocation of them."""
    sets = tuple(np.sort(rng.choice(records, rng.integers(largest // 2, largest), replace=False)) for _ in range(focal))
    mass = rng.dirichlet(np.ones(focal))
    probability = np.zeros(records)
    for one, height in zip(sets, mass, strict=True):
        probability[one] += height / one.size
    return sets, mass, np.arange(records), probability / probability.sum(), records


def by_program(sets: tuple[NDArray[np.int64], ...], mass: Floats, _: object, probability: Floats, size: int) -> None:
    """Allocate each mass to the elements of its set with a general solver: one variable per set and element."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    member = np.concatenate(sets)
    owner = np.repeat(np.arange(mass.size), [one.size for one in sets])
    row, column = np.concatenate([owner, mass.size + member]), np.tile(np.arange(member.size), 2)
    sums = coo_array((np.ones(row.size), (row, column)), shape=(mass.size + size, member.size)).tocsr()
    found = linprog(np.zeros(member.size), A_eq=sums, b_eq=np.concatenate([mass, probability]), method="highs")
    if found.status not in (0, 2):
        raise RuntimeError(found.message)


def levels(records: int, count: int, true: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return a truth on a few records and a guess of so many levels, so that nothing simple decides."""
    guess = rng.integers(1, count + 1, records).astype(float)
    truth = np.zeros(records)
    truth[np.argsort(guess, kind="stable")[:true]] = 1 / true
    return truth, guess / guess.sum()


def different(records: int, seed: int) -> tuple[Floats, Floats]:
    """Return a truth and a misplaced, sharper guess, in which no two records have the same chances."""
    place = np.random.default_rng(seed).normal(size=records)
    truth, guess = np.exp(-(place**2) / 0.1), np.exp(-((place - 0.1) ** 2) / 0.04)
    return truth / truth.sum(), guess / guess.sum()


def judge_belief(case: Belief) -> None:
    worst_set(*case)


def judge_probability(truth: Floats, guess: Floats) -> None:
    decide(truth, guess, 1_000)


def one_by_one(truth: Floats, guess: Floats) -> None:
    """Solve the program with every record a group of its own."""
    program(RecordGroups(np.ones(truth.size), truth, guess, np.arange(truth.size)))


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(1)
    judge_belief(belief(20, 100, 20, rng))  # scipy is imported
    for case, who, one in (
        ("Definition 7, 1,000 focal sets x 10,000 records", "unveil, flow", belief(1_000, 10_000, 650, rng)),
        ("Definition 7, 5 focal sets x 1,000,000 records", "unveil, unions", belief(5, 1_000_000, 1_000_000, rng)),
    ):
        yield from side_by_side(case, {who: partial(judge_belief, one)}, repeat=3)
    small = belief(100, 1_000, 65, rng)
    tasks = {"unveil, flow": partial(judge_belief, small), "scipy linprog": partial(by_program, *small)}
    yield from side_by_side("Definition 7, 100 focal sets x 1,000 records", tasks, repeat=2)
    many = levels(100_000, 10, 5, rng)
    ours = {"unveil, groups": partial(judge_probability, *many)}
    yield from side_by_side("Definition 14, 100,000 records, 10 levels", ours, repeat=3)
    few = levels(1_000, 10, 5, rng)
    tasks = {"unveil, groups": partial(judge_probability, *few), "one group per record": partial(one_by_one, *few)}
    yield from side_by_side("Definition 14, 1,000 records, 10 levels", tasks, repeat=2)
    for records in (150, 5_000):
        far_apart = different(records, 1)
        tasks = {"unveil, what each keeps": partial(judge_probability, *far_apart)}
        if records == 150:
            tasks["one group per record"] = partial(one_by_one, *far_apart)
        yield from side_by_side(f"Definition 14, {records:,} records of all different chances", tasks, repeat=2)
