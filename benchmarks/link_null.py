"""How often does the exact test of links flag people who cannot be linked, and find planted ones?

Each run is a line of a results file, known by its design, planted share and seed, so that a run may be stopped and
started again. Persons are exchanged within periods except for the planted share, so that nobody else can be linked.

    nice -n 19 python -m benchmarks.link_null --out link-null.jsonl
"""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")

import numpy as np
import polars as pl

from unveil._kernels.types import IntArray
from unveil.attacks import LinkedProfiles, ProfileMatching
from unveil.attacks.link.learned_weights import split_people
from unveil.attacks.link.two_periods import PeriodMatch
from unveil.data.histories import History
from unveil.data.table import Table
from unveil.metrics.trials.risk import clopper_pearson
from unveil.metrics.verdict.exchanged_people import LinkStatistic, LogRank, RightLinks, RightPairs, exchange_tests

LEVEL = 0.045
DRAWS = 199
PEOPLE = 150


def panel(people: int, waves: int, rng: np.random.Generator) -> History:
    """Return waves of six correlated numbers and four columns of values, which link most people."""
    common, own = rng.normal(size=(people, 2)) @ rng.normal(size=(2, 6)), rng.normal(size=(people, 6))
    groups = rng.integers(0, [3, 5, 8, 12], (people, 4))
    frames = []
    for wave in range(waves):
        numbers = common + own + 0.5 * rng.normal(size=(people, 6)) + wave
        stays = rng.random((people, 4)) < 0.9
        values = np.where(stays, groups, rng.integers(0, [3, 5, 8, 12], (people, 4)))
        frame: dict[str, Any] = {"who": np.arange(people), "wave": np.full(people, wave)}
        frame |= {f"number {k}": numbers[:, k] for k in range(6)}
        frame |= {f"value {k}": [f"v{each}" for each in values[:, k]] for k in range(4)}
        frames.append(pl.DataFrame(frame))
    return History.from_table(Table.from_frame(pl.concat(frames)), person="who", period="wave")


def visits(people: int, days: int, lifetime: str, rng: np.random.Generator) -> History:
    """Return three visits a day, 60 % of them to six places of a person's own."""
    places = 400
    person, day = np.repeat(np.arange(people), 3 * days), np.tile(np.repeat(np.arange(days), 3), people)
    popular = 1 / np.arange(1, places + 1)
    popular /= popular.sum()
    own = np.array([rng.choice(places, 6, replace=False, p=popular) for _ in range(people)])
    home = own[person, rng.integers(0, 6, person.size)]
    place = np.where(rng.random(person.size) < 0.6, home, rng.choice(places, person.size, p=popular))
    hour = rng.integers(8, 20, person.size)
    frame = {"who": person, "day": day + hour / 24, "place": [f"p{each}" for each in place], "hour": hour}
    table = Table.from_frame(pl.DataFrame(frame))
    return History.from_table(table, person="who", time="day", lifetime=lifetime)


def planted(history: History, share: float, rng: np.random.Generator) -> History:
    """Return the history with persons exchanged, except for a share of them."""
    keep = rng.permutation(history.people)[: round(share * history.people)]
    # People who keep their items are strata of their own.
    stratum = np.where(np.isin(history.item_person, keep), history.item_person + 1, 0)
    return history.exchanged(stratum, rng=rng)


def of_match(match: PeriodMatch, name: str) -> dict[str, LinkStatistic]:
    """Return both statistics of two periods."""
    if not isinstance(match.scores, np.ndarray):
        return {f"{name} links": RightLinks(match.earlier, match.later, match.partner)}
    return {
        f"{name} links": RightLinks(match.earlier, match.later, match.partner),
        f"{name} log rank": LogRank.of(match.earlier, match.later, match.scores),
    }


Attacked = tuple[dict[str, LinkStatistic], IntArray, IntArray]


def two_waves(share: float, rng: np.random.Generator) -> Attacked:
    """Return two waves of a panel, matched without truth."""
    history = planted(panel(PEOPLE, 2, rng), share, rng)
    match = ProfileMatching().match(history.released, rng=rng)
    return of_match(match, "panel"), history.item_person, history.released.period


def two_weeks(share: float, rng: np.random.Generator) -> Attacked:
    """Return two weeks of visits, matched without truth."""
    history = planted(visits(PEOPLE, 14, "7d", rng), share, rng)
    match = ProfileMatching().match(history.released, rng=rng)
    return of_match(match, "visits"), history.item_person, history.released.period


def learned(share: float, rng: np.random.Generator) -> Attacked:
    """Return two waves, matched with weights learned on other people, as planted as these."""
    split = split_people(planted(panel(2 * PEOPLE, 2, rng), share, rng), rng=rng)
    history = split.attacked
    attacks = {"learned": ProfileMatching(learn="other people"), "untaught": ProfileMatching()}
    statistics: dict[str, LinkStatistic] = {}
    for name, attack in attacks.items():
        statistics |= of_match(attack.match(history.released, split.known, rng=rng), name)
    return statistics, history.item_person, history.released.period


def four_weeks(share: float, rng: np.random.Generator) -> Attacked:
    """Return four weeks of visits, linked by chains and agglomeration."""
    history = planted(visits(80, 28, "7d", rng), share, rng)
    guess = LinkedProfiles().run(released=history.released, rng=rng)
    return {"pairs": RightPairs.of(guess)}, history.item_person, history.released.period


DESIGNS: dict[str, Callable[[float, np.random.Generator], Attacked]] = {
    "panel": two_waves,
    "visits": two_weeks,
    "learned": learned,
    "clusters": four_weeks,
}


def run(design: str, share: float, seed: int) -> dict[str, object]:
    """Return one run: p and adjusted p of each statistic."""
    rng = np.random.default_rng([seed, round(1000 * share), list(DESIGNS).index(design)])
    statistics, person, period = DESIGNS[design](share, rng)
    tests = exchange_tests(statistics, person, period, draws=DRAWS, rng=rng)
    found = {each.name: [each.seen, each.p, each.adjusted_p] for each in tests}
    return {"design": design, "share": share, "seed": seed, "tests": found}


def tasks(nulls: int, power: int) -> Iterator[tuple[str, float, int]]:
    """Yield all runs: by seed, so that a stopped run has some of each."""
    for seed in range(max(nulls, power)):
        for design in DESIGNS:
            for share, runs in ((0.0, nulls), (0.03, power), (0.1, power)):
                if seed < runs:
                    yield design, share, seed


def summary(lines: list[dict[str, object]]) -> str:
    """Return a table: how often each statistic, and either, is significant."""
    rows = defaultdict(list)
    for line in lines:
        tests: dict[str, list[float]] = line["tests"]  # type: ignore[assignment]
        for name, (_, p, _) in tests.items():
            rows[line["design"], line["share"], name].append(p)
        rows[line["design"], line["share"], "any (adjusted)"].append(min(each[2] for each in tests.values()))
    table = [f"{'design':10} {'planted':>7} {'statistic':20} {'runs':>5} {'flagged':>8}  95% interval"]
    for (design, share, name), values in sorted(rows.items(), key=str):
        hits, runs = sum(each <= LEVEL for each in values), len(values)
        rate = clopper_pearson(hits, runs)
        limits = f"({rate.low:.3f} to {rate.high:.3f})"
        table.append(f"{design:10} {share:7} {name:20} {runs:5} {hits:8}  {rate.value:.3f} {limits}")
    return "\n".join(table)


def main() -> None:
    """Run what is missing, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("link-null.jsonl"))
    parser.add_argument("--nulls", type=int, default=200)
    parser.add_argument("--power", type=int, default=60)
    parser.add_argument("--only-summary", action="store_true")
    settings = parser.parse_args()
    lines = [json.loads(each) for each in settings.out.read_text().splitlines()] if settings.out.exists() else []
    done = {(each["design"], each["share"], each["seed"]) for each in lines}
    if not settings.only_summary:
        with settings.out.open("a") as file:
            for task in tasks(settings.nulls, settings.power):
                if task not in done:
                    lines.append(run(*task))
                    file.write(json.dumps(lines[-1]) + "\n")
                    file.flush()
    print(summary(lines))


if __name__ == "__main__":
    main()
