"""Records with a known truth: what links them, and how many people it links."""

import numpy as np
import polars as pl


def visits(
    people: int = 40, *, records: int = 6, linked: float = 1.0, seed: int = 1, places: int = 400, days: int = 14
) -> pl.DataFrame:
    """Return two weeks of visits; a share of people visits three places of their own, the others anywhere."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        own = rng.choice(places, 3, replace=False)
        is_linked = person < round(linked * people)
        for place in range(2 * records):
            day = (place % 2) * days / 2 + float(rng.uniform(0, days / 2 - 0.1))
            stop = int(rng.choice(own)) if is_linked else int(rng.integers(places))
            rows.append((f"c{person}", round(day, 3), f"s{stop}"))
    return pl.DataFrame(rows, schema=["card", "day", "stop"], orient="row")


def panel(people: int = 40, *, seed: int = 2) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return two waves of the same people, in another order, with values that hardly change."""
    rng = np.random.default_rng(seed)
    first = pl.DataFrame(
        {
            "id": [f"p{each}" for each in range(people)],
            "town": rng.choice([f"t{each}" for each in range(20)], people),
            "job": rng.choice([f"j{each}" for each in range(20)], people),
            "sex": rng.choice(["f", "m"], people),
        }
    )
    second = first.with_columns(
        pl.Series("job", [job if rng.random() < 0.9 else "j0" for job in first["job"].to_list()])
    )
    return first, second[rng.permutation(people)]
