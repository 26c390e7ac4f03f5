"""Set cracks: pseudonyms matched to an item of the right category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._figure import figure
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.metrics.matchings._random_matchings import Attack, EstimatedValue, RandomMatching, random_matching

Labels = Sequence[Any] | Mapping[Any, Any]


EXPECTED = "Expected number of items that get a pseudonym of the category."
BY_CHANCE = "The same if every matching were equally likely: `size ** 2 / n` if all items have a pseudonym."


@dataclass(frozen=True, kw_only=True)
class Category:
    """Set cracks of one category.

    Attributes
    ----------
    name, size
        The group, and how many items it has.
    expected
        How many of them are expected to get a pseudonym that belongs to the group.
    by_chance
        How many would if every matching were equally likely: ``size ** 2 / n`` where each item has a pseudonym.
    items_cracked
        How many are expected to get their own pseudonym.
    """

    name: str = figure("Name of the category.")
    size: int = figure("Number of items.", name="items")
    expected: EstimatedValue = figure(EXPECTED)
    by_chance: float = figure(BY_CHANCE)
    items_cracked: EstimatedValue = figure("Expected number of items that get their own pseudonym.")


@dataclass(frozen=True, kw_only=True, eq=False)
class SetCracks:
    """Set cracks of all categories.

    Attributes
    ----------
    categories
        Every group, by name.
    expected
        How many items are expected to get a pseudonym of their group; never fewer than the expected cracks.
    by_chance
        How many would if every matching were equally likely.
    probability, probability_error
        Of each item, the chance of that, and its standard error (0 where exact).
    """

    expected: EstimatedValue = figure(EXPECTED)
    by_chance: float = figure(BY_CHANCE)
    categories: tuple[Category, ...] = figure("Results per category.", name="groups")
    probability: FloatArray
    probability_error: FloatArray


def set_cracks(guess: Attack, truth: Any, *, groups: Labels, rng: np.random.Generator) -> SetCracks:
    """Return the expected set cracks, overall and per category.

    Parameters
    ----------
    guess, truth
        As for :func:`~unveil.metrics.matchings.cracks.cracks`.
    groups
        One group per item in their order, or a mapping from item name (or number from 0) to group.
    rng
        Used only where pairs must be sampled.

    Examples
    --------
    >>> from unveil.guesses.matching import Matching
    >>> found = set_cracks(Matching([[1, 1], [1, 1]]), [0, 1], groups=["a", "a"], rng=np.random.default_rng(1))
    >>> found.expected.value
    2.0
    """
    return by_groups(random_matching(guess, truth, rng=rng), labels_of(guess, groups))


def by_groups(random_matching: RandomMatching, labels: NDArray[np.str_]) -> SetCracks:
    """Return the set cracks of a solved matching and item categories."""
    names, group = np.unique(labels, return_inverse=True)
    of_token = np.full(random_matching.edges.n, -1)  # the group of each pseudonym's item, none for pseudonyms without
    paired = np.flatnonzero(random_matching.truth >= 0)
    of_token[random_matching.truth[paired]] = group[paired]
    row = random_matching.edges.row
    inside = random_matching.real & (
        group[np.minimum(row, random_matching.n - 1)] == of_token[random_matching.edges.column]
    )
    chance = np.bincount(row[inside], random_matching.marginal[inside], random_matching.n).astype(np.float64)
    drawn = random_matching.drawn[: random_matching.n]
    # A chance that was sampled as 0 or 1 is not sure: as one further sample of each kind would have it.
    likely = (
        (chance * random_matching.effective + 1) / (random_matching.effective + 2)
        if random_matching.sampled
        else chance
    )
    alone = (
        np.sqrt(likely * (1 - likely) / random_matching.effective)
        if random_matching.sampled
        else np.zeros(random_matching.n)
    )
    error = np.where(drawn, alone, 0.0)
    size, pseudonyms = np.bincount(group), np.bincount(group[paired], minlength=names.size)
    # With pairs drawn evenly each of n items gets each of m pseudonyms equally often.
    by_chance = (
        size
        * pseudonyms
        * (
            float(random_matching.marginal[random_matching.real].sum())
            / random_matching.n
            / random_matching.pseudonym_count
        )
    )
    sums = [np.bincount(group, part, names.size) for part in (chance, random_matching.probability)]
    variances = [_variance(part, drawn, group, names.size) for part in (chance, random_matching.probability)]
    categories = tuple(
        Category(
            name=str(name),
            size=int(size[k]),
            expected=_total(random_matching, sums[0][k], variances[0][k]),
            by_chance=float(by_chance[k]),
            items_cracked=_total(random_matching, sums[1][k], variances[1][k]),
        )
        for k, name in enumerate(names)
    )
    for array in (chance, error):
        array.flags.writeable = False
    return SetCracks(
        categories=categories,
        expected=_total(random_matching, chance.sum(), variances[0].sum()),
        by_chance=float(by_chance.sum()),
        probability=chance,
        probability_error=error,
    )


def _variance(chance: FloatArray, drawn: BoolArray, group: IntArray, count: int) -> FloatArray:
    return np.bincount(group, np.where(drawn, np.maximum(chance * (1 - chance), 0.0), 0.0), count).astype(np.float64)


def _total(random_matching: RandomMatching, value: float, variance: float) -> EstimatedValue:
    return random_matching.figure(
        float(value), random_matching.togetherness * sqrt(float(variance) / random_matching.effective)
    )


def labels_of(guess: Attack, groups: Labels) -> NDArray[np.str_]:
    """Return each item's category as text; raise InputError on missing ones."""
    n = guess.n
    if isinstance(groups, Mapping):
        keys = list(range(n)) if guess.items is None else list(guess.items)
        have = {str(key): label for key, label in groups.items()}
        strange = len(have.keys() - {str(key) for key in keys})
        if strange:
            raise InputError(
                f"groups has {strange} of {len(have)} names that are not items of the attack. Check "
                "the spelling, and that both files match"
            )
        listed = [have.get(str(key)) for key in keys]
    else:
        listed = list(groups)
        if len(listed) != n or isinstance(groups, str):
            raise InputError(f"groups has {len(listed)} values for {n} items. Pass one per item")
    lacking = [k for k, label in enumerate(listed) if label is None or label != label]
    if lacking:
        raise InputError(
            f"item {lacking[0] + 1} (counted from 1) has no group; such items: "
            f"{len(lacking)}. Give each one a group, its own name if it is alone"
        )
    return np.array([str(label) for label in listed])
