"""Search for the matrices on which the heuristic does worst, and test the conjecture that its error falls with size.

The thesis supposes that the largest NMAPE falls with every further item. It does not: with four items there is a
matrix that is worse than the worst we find with three. In the long run it does fall, by a bound that can be proved.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matching_figures import (
    Floats,
    matched,
    nmape,
    options,
    ring,
    save_picture,
    seed_of,
    write_numbers,
)

from unveil.guesses.matching import Matching
from unveil.metrics.matchings.cracks import cracks
from unveil.metrics.matchings.flatness import nmape as measured_nmape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: How many searches run side by side for how many steps, by number of items.
SEARCHES = {2: (20, 500), 3: (100, 3000), 4: (100, 3000), 5: (100, 3000)}
SMALL_SEARCHES = {2: (10, 300), 3: (30, 1500), 4: (30, 1000)}
RINGS = range(2, 9)
#: All matrices of three items in steps of one part in so many are tried besides.
GRID = 60
# Chosen because the worst matrix that searches find lies near multiples of 1 / 14, so that few points come close to it.
SMALL_GRID = 14
#: A ring that the adversary slightly prefers one way, and how many items it has.
STAY = 0.55
LONG_RINGS = (2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100)


def bound(n: int) -> float:
    """Return what NMAPE cannot exceed with ``n`` items, in percent: 100 √(2 / (n (n − 1))).

    H − Ψ of a random truth is a sum of one cell per row of P − M, where M has the marginals. Both are doubly
    stochastic, so that its mean is 0 and its variance |P − M|² / (n − 1); and no row of P − M has a square above 2.
    """
    return 100 * float(np.sqrt(2 / (n * (n - 1))))


def started(count: int, n: int, rng: np.random.Generator) -> Floats:
    """Return mixtures of four random permutation matrices, to start searches from."""
    share = rng.dirichlet(np.ones(4), count)
    result = np.zeros((count, n, n))
    for part in range(4):
        columns = rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)
        result[np.arange(count)[:, None], np.arange(n), columns] += share[:, part, None]
    return result


def blended(matrices: Floats, size: Floats, rng: np.random.Generator) -> Floats:
    """Return the matrices moved towards or away from a random permutation matrix, at most until an item is 0."""
    count, n = matrices.shape[:2]
    target = np.zeros_like(matrices)
    columns = rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)
    target[np.arange(count)[:, None], np.arange(n), columns] = 1.0
    least = np.where(target > 0, matrices, 1.0).min(axis=(1, 2))
    away = least / np.maximum(1 - least, 1e-9)
    step = np.clip(rng.normal(size=count) * size, -away, 0.9)
    # Now and then an item is emptied: the worst matrices have many zeros.
    step = np.where(rng.random(count) < 0.1, -np.minimum(away, 0.9), step)
    return np.asarray(matrices + step[:, None, None] * (target - matrices))


def exchanged(matrices: Floats, size: Floats, rng: np.random.Generator) -> Floats:
    """Return the matrices with weight exchanged around a random square of two rows and two columns."""
    count, n = matrices.shape[:2]
    every = np.arange(count)
    (a, b), (c, d) = (rng.random((count, n)).argsort(axis=1)[:, :2].T for _ in range(2))
    most = np.minimum(matrices[every, a, d], matrices[every, b, c])
    step = np.where(rng.random(count) < 0.1, most, np.minimum(np.abs(rng.normal(size=count)) * size, most))
    result = matrices.copy()
    for row, column, sign in ((a, c, 1), (b, d, 1), (a, d, -1), (b, c, -1)):
        result[every, row, column] += sign * step
    return result


def search(n: int, count: int, steps: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """Return the worst matrix that searches uphill have found, and its NMAPE."""
    here = started(count, n, rng)
    height = nmape(matched(here).error, n)
    size = np.full(count, 0.3)
    for step in range(steps):
        if step % 200 == 0:
            # Large steps again, though smaller ones from time to time, so that no search is stuck in a corner.
            size = np.maximum(size, 0.3 * 0.5 ** (step // 200 % 8))
        blend = rng.random(count) < 0.5
        moved = np.where(blend[:, None, None], blended(here, size, rng), exchanged(here, size, rng))
        there = np.maximum(moved, 0.0)
        found = nmape(matched(there).error, n)
        better = found > height
        here[better], height[better] = there[better], found[better]
        size = np.clip(np.where(better, 1.5 * size, 0.97 * size), 1e-6, 0.5)
    best = int(height.argmax())
    return here[best], float(height[best])


def grid(steps: int) -> Floats:
    """Return every doubly stochastic matrix of three items whose cells are whole multiples of 1 / ``steps``.

    >>> len(grid(1)), len(grid(2))
    (6, 21)
    """
    a, b, c, d = (axis.ravel() for axis in np.indices((steps + 1,) * 4, np.int16))
    cells = np.stack([a, b, steps - a - b, c, d, steps - c - d, steps - a - c, steps - b - d, a + b + c + d - steps])
    return np.asarray(cells[:, cells.min(axis=0) >= 0].T.reshape(-1, 3, 3) / steps)


def worst_ring(n: int) -> tuple[float, float]:
    """Return the chance to stay that makes a ring worst, and its NMAPE."""
    from scipy.optimize import minimize_scalar

    def error(stay: float) -> float:
        return float(nmape(matched(ring(n, stay)[None]).error, n)[0])

    found = minimize_scalar(lambda stay: -error(stay), bounds=(0.5, 0.95), method="bounded", options={"xatol": 1e-7})
    return float(found.x), error(float(found.x))


def long_ring(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return how many items of a ring are cracked where all stay, what the heuristic says, and its small NMAPE."""
    guess = Matching(ring(n, STAY))
    found, average = cracks(guess, np.arange(n), rng=rng), measured_nmape(guess, rng=rng)
    return {
        "what": f"ring, stay {STAY}",
        "n": n,
        "nmape": average.value,
        "standard_error": average.error if average.kind == "sampled" else 0.0,
        "metric_share": found.expected_cracks.value / n,
        "heuristic_share": found.heuristic.value / n,
    }


def measure(small: bool, seed: int) -> list[dict[str, Any]]:
    """Return all numbers: the counterexample, worst rings, what searches found, the bound, and long rings."""
    rows: list[dict[str, Any]] = []
    counterexample = float(nmape(matched(ring(4, 2 / 3)[None]).error, 4)[0])
    rows.append({"what": "ring, stay 2/3", "n": 4, "nmape": counterexample})
    for n, (count, steps) in (SMALL_SEARCHES if small else SEARCHES).items():
        matrix, height = search(n, count, steps, np.random.default_rng([seed, n]))
        cells = " ".join(f"{cell:.6f}" for cell in matrix.ravel())
        rows.append({"what": "worst found", "n": n, "nmape": height, "matrix": cells})
    steps = SMALL_GRID if small else GRID
    rows.append({"what": f"worst in steps of 1/{steps}", "n": 3, "nmape": nmape(matched(grid(steps)).error, 3).max()})
    for n in RINGS[:5] if small else RINGS:
        stay, height = worst_ring(n)
        rows.append({"what": "worst ring", "n": n, "nmape": height, "stay": stay})
    rows += [{"what": "bound", "n": n, "nmape": bound(n)} for n in range(2, 101)]
    rng = np.random.default_rng([seed, 0])
    rows += [long_ring(n, rng) for n in LONG_RINGS]
    return rows


def draw(rows: Sequence[dict[str, Any]]) -> "Figure":
    """Return the worst error by size under its bound, and beside it what a small error hides."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    looks = {"bound": ("-", "0.5"), "worst ring": ("s--", "C0"), "worst found": ("o-", "crimson")}
    for what, (style, colour) in looks.items():
        some = [(row["n"], row["nmape"]) for row in rows if row["what"] == what and row["n"] <= 20]
        label = "proved bound" if what == "bound" else what
        left.plot(*zip(*some, strict=True), style, color=colour, label=label, markersize=5)
    left.axhline(1400 / 153, color="0.6", linewidth=0.8, linestyle=":")
    left.text(8.3, 1400 / 153, "1400/153: a ring of 4", va="bottom", fontsize=9)
    left.set(title="The worst matrix of each size", xlabel="items n", ylabel="NMAPE in %", ylim=(0, 30))
    left.set_xticks(range(2, 21, 2))
    left.legend()
    long = [row for row in rows if "metric_share" in row]
    sizes = [row["n"] for row in long]
    right.plot(sizes, [100 * row["metric_share"] for row in long], "o-", color="0.1", label="metric Ψ")
    right.plot(sizes, [100 * row["heuristic_share"] for row in long], "s-", color="C0", label="heuristic H")
    right.plot(sizes, [row["nmape"] for row in long], "^-", color="crimson", label="NMAPE")
    right.set(title=f"Rings that stay with chance {STAY}, where all stay", xlabel="items n", ylabel="% of n")
    right.set(ylim=(0, 104))
    right.legend(loc=(0.72, 0.22))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, print and draw."""
    parser = options("Test the conjecture on NMAPE.", small="fewer and shorter searches, up to four items")
    parser.add_argument("--seed", type=seed_of, default=1, help="the same seed gives the same numbers")
    chosen = parser.parse_args(arguments)
    rows = measure(chosen.small, chosen.seed)
    for row in rows:
        if row["what"] != "bound":
            rest = "  ".join(f"{name} {row[name]:.6f}" for name in ("stay", "metric_share") if name in row)
            print(f"{row['what']:<22} n = {row['n']:>3}  NMAPE {row['nmape']:.6f} %  {rest}".rstrip())
    first = next(n for n in range(2, 101) if bound(n) < 1400 / 153)
    print(f"bound below the ring of 4 from n = {first} on: {bound(first):.4f} %")
    write_numbers(rows, "nmape_conjecture", chosen.out)
    save_picture(draw(rows), "nmape_conjecture", chosen.out)


if __name__ == "__main__":
    main()
