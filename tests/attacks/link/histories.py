"""Generated histories: visits of people to places of their own, and a panel of correlated numbers."""

import numpy as np

from unveil.data.histories import History
from unveil.data.table import Table


def visits(
    people: int = 60, days: int = 28, *, share: float = 0.6, lifetime: str = "7d", seed: int = 0, names: bool = True
) -> History:
    """Return visits, of which a share is to six places of a person's own."""
    rng = np.random.default_rng(seed)
    person, day = np.repeat(np.arange(people), 3 * days), np.tile(np.repeat(np.arange(days), 3), people)
    popular = 1 / np.arange(1, 201)
    popular /= popular.sum()
    own = np.array([rng.choice(200, 6, replace=False, p=popular) for _ in range(people)])
    at = np.where(rng.random(person.size) < share, own[person, rng.integers(0, 6, person.size)], 0)
    at = np.where(at > 0, at, rng.choice(200, person.size, p=popular))
    order = rng.permutation(person.size) if names else np.arange(person.size)
    frame = {
        "card": [f"card {each}" for each in person[order]],
        "day": (day + rng.integers(8, 20, person.size) / 24)[order].tolist(),
        "place": [f"place {each}" for each in at[order]],
    }
    return History.from_table(Table.from_frame(frame), person="card", time="day", lifetime=lifetime)


def panel(people: int = 150, *, keep: float = 0.9, absent: float = 0.0, seed: int = 0, waves: int = 2) -> History:
    """Return waves with one record per person: three correlated numbers and two columns of values.

    ``keep`` is the correlation of two waves, ``absent`` the share of people missing from each wave.
    """
    rng = np.random.default_rng(seed)
    common, own = rng.normal(size=(people, 1)), rng.normal(size=(people, 3))
    group, job = rng.integers(0, 3, people), rng.integers(0, 12, people)
    rows: dict[str, list[object]] = {name: [] for name in ("who", "wave", "x", "y", "z", "group", "job")}
    for wave in range(waves):
        there = np.flatnonzero(rng.random(people) >= absent)
        base = (common + own)[there]
        numbers = keep**0.5 * base + (1 - keep) ** 0.5 * 1.4 * rng.normal(size=base.shape) + wave
        moved = np.where(rng.random(there.size) < keep, job[there], rng.integers(0, 12, there.size))
        for place in rng.permutation(there.size):
            values = (f"p{there[place]}", wave, *numbers[place], f"g{group[there[place]]}", f"j{moved[place]}")
            for name, value in zip(rows, values, strict=True):
                rows[name].append(value)
    return History.from_table(Table.from_frame(rows), person="who", period="wave")
