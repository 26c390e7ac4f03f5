"""Make rows from noisy counts of neighbouring columns, with an epsilon that is known by proof; plain Python.

    python noisy_margins.py people.csv made.csv values.json --epsilon 1 [--rows 10000] [--seed 1] [--fault]

``values.json`` lists for each column the values that it may have, as {"sex": ["f", "m"], "degree": [...]}, at least two
columns. It must be known without looking at people, as from a code book: values that only somebody in the data has
would give them away. Columns that it does not name are left out, and a cell that is not listed counts as empty.

Of d columns, d - 1 tables of two neighbours are counted. One person more or less changes one count in each by 1: with
Laplace noise of scale (d - 1) / epsilon in every count all of them together are epsilon-private (adding or removing one
person), and so are rows drawn from them. Their number is told, and is not that of the people. ``--fault`` halves the
noise, a mistake that nobody sees in the rows: the true epsilon is then twice the claimed one.
"""

import argparse
import csv
import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

Margin = list[list[float]]


def noisy_margin(
    pairs: Counter[tuple[str, str]], values: Sequence[Sequence[str]], scale: float, rng: random.Random
) -> Margin:
    """Return the counts of two columns with noise, a line for each value of the first; none is below 0."""

    def laplace() -> float:
        return rng.expovariate(1 / scale) - rng.expovariate(1 / scale)

    return [[max(0.0, pairs[one, two] + laplace()) for two in values[1]] for one in values[0]]


def made_rows(margins: Sequence[Margin], rows: int, rng: random.Random) -> list[list[int]]:
    """Return rows as places in the lists of values: the first column by its margin, each other by the one before."""
    made = [drawn([sum(line) for line in margins[0]], rows, rng)]
    for margin in margins:
        waiting = {value: iter(drawn(margin[value], count, rng)) for value, count in Counter(made[-1]).items()}
        made.append([next(waiting[value]) for value in made[-1]])
    return [list(row) for row in zip(*made, strict=True)]


def drawn(weights: Sequence[float], number: int, rng: random.Random) -> list[int]:
    """Return places drawn by their weights, or by lot where all are 0."""
    return rng.choices(range(len(weights)), weights if sum(weights) > 0 else None, k=number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("people", "made", "values"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--fault", action="store_true", help="half of the noise")
    told = parser.parse_args()
    rng = random.Random(told.seed)  # noqa: S311
    listed = {name: ["", *map(str, values)] for name, values in json.loads(told.values.read_text("utf-8")).items()}
    if len(listed) < 2 or told.epsilon <= 0:
        parser.error("epsilon must be above 0, and the file of values must name at least two columns. Correct them")
    with told.people.open(encoding="utf-8", newline="") as lines:
        people = [
            {name: row[name] if row[name] in listed[name] else "" for name in listed} for row in csv.DictReader(lines)
        ]
    scale = (len(listed) - 1) / told.epsilon / (2 if told.fault else 1)
    margins = [
        noisy_margin(Counter((row[one], row[two]) for row in people), (listed[one], listed[two]), scale, rng)
        for one, two in pairwise(listed)
    ]
    with told.made.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(listed)
        columns = list(listed.values())
        writer.writerows(
            [columns[at][place] for at, place in enumerate(row)] for row in made_rows(margins, told.rows, rng)
        )


if __name__ == "__main__":
    main()
