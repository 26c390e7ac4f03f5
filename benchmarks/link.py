"""How long does linking take, and what does it find? Generated visits, a generated panel, and bank transactions.

    python -m benchmarks.link                        all cases that need no data
    UNVEIL_DATA=... python -m benchmarks.link transactions

CPU seconds are those of this process, after one run on little data that loads and compiles.
"""

import argparse
import os
import resource
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl

from benchmarks.link_null import visits
from unveil._kernels.types import IntArray
from unveil.attacks import AgglomeratedProfiles, ChainedProfiles, LinkedProfiles, ProfileMatching
from unveil.attacks.link.learned_weights import split_people
from unveil.attacks.link.two_periods import PeriodMatch
from unveil.data.histories import History, HistoryColumn, ReleasedHistory
from unveil.data.table import Table
from unveil.guesses.partition import Partition
from unveil.metrics.partitions.linked_records import linked_records
from unveil.metrics.releases.unicity import points_of, unicity_of, unicity_surface
from unveil.metrics.verdict.exchanged_people import LinkStatistic, LogRank, RightLinks, exchange_tests


def panel(people: int, numbers: int, values: int, rng: np.random.Generator) -> History:
    """Return two waves with one record each: correlated numbers, and columns of eight values."""
    loads = rng.normal(size=(4, numbers))
    base = rng.normal(size=(people, 4)) @ loads + rng.normal(size=(people, numbers))
    groups = rng.integers(0, 8, (people, values))
    frames = []
    for wave in range(2):
        noise = rng.normal(size=(people, 4)) @ loads + rng.normal(size=(people, numbers))
        now = 0.8**0.5 * base + 0.2**0.5 * noise + wave
        kept = np.where(rng.random((people, values)) < 0.8, groups, rng.integers(0, 8, (people, values)))
        frame: dict[str, Any] = {"id": np.arange(people), "wave": np.full(people, wave)}
        frame |= {f"x{k}": now[:, k] for k in range(numbers)}
        frame |= {f"c{k}": [f"v{each}" for each in kept[:, k]] for k in range(values)}
        frames.append(pl.DataFrame(frame))
    return History.from_table(Table.from_frame(pl.concat(frames)), person="id", period="wave")


def large(people: int, records: int, rng: np.random.Generator) -> tuple[ReleasedHistory, IntArray, IntArray, IntArray]:
    """Return two periods of visits to 40,000 places, the partners, and person and place of each record."""
    places, total = 40_000, people * records
    person = np.repeat(np.arange(people), records)
    period = np.tile(np.repeat([0, 1], records // 2), people)
    popular = np.cumsum(np.arange(1, places + 1) ** -0.8)
    popular /= popular[-1]
    own = np.searchsorted(popular, rng.random((people, 3)))
    home = own[person, rng.integers(0, 3, total)]
    place = np.where(rng.random(total) < 0.7, home, np.searchsorted(popular, rng.random(total))).astype(np.int32)
    hour = rng.integers(0, 24, total).astype(np.int32)
    names = [rng.permutation(people) for _ in range(2)]
    partners = np.empty(people, np.int64)
    partners[names[1]] = names[0]
    item = np.where(period == 0, names[0][person], people + names[1][person])
    columns = (HistoryColumn("place", codes=place), HistoryColumn("hour", codes=hour))
    released = ReleasedHistory(columns=columns, item=item, period=np.repeat([0, 1], people), periods=("1", "2"))
    return released, partners, person, place.astype(np.int64)


def told(what: str, began: float, *facts: str) -> None:
    """Print one line: seconds, memory, and what was found."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:44} {process_time() - began:7.2f} CPU s {memory:7.0f} MB  {'; '.join(facts)}", flush=True)


def described(match: PeriodMatch, truth: IntArray) -> str:
    """Return what was claimed, and what came true."""
    both = truth >= 0
    linked = ((match.partner == truth) & both).sum() / both.sum()
    if match.is_blocked:
        return f"linked {linked:.3f}"
    first = match.probability.argmax(axis=0) == truth
    claimed = match.probability.max(axis=0).mean()
    return f"linked {linked:.3f}, first guess {first[both].mean():.3f}, claimed {claimed:.3f}, true {first.mean():.3f}"


def two_periods(rng: np.random.Generator) -> None:
    """Match 1,500 people by 15 columns, without truth and learned."""
    history = panel(1_500, 10, 5, rng)
    for name, overlap in (("1,500 people, 15 columns", None), ("the same, everyone in both", 1.0)):
        began = process_time()
        match = ProfileMatching(overlap=overlap).match(history.released, rng=rng)
        told(name, began, described(match, history.partners()))
    began = process_time()
    statistics: dict[str, LinkStatistic] = {
        "links": RightLinks(match.earlier, match.later, match.partner),
        "log rank": LogRank.of(match.earlier, match.later, np.asarray(match.scores)),
    }
    tests = exchange_tests(statistics, history.item_person, history.released.period, rng=rng)
    told("exact test, 2,000 exchanges", began, *(f"{each.name} p {each.p:.4f}" for each in tests))
    split = split_people(history, rng=rng)
    for name, attack in (("without truth", ProfileMatching()), ("learned", ProfileMatching(learn="other people"))):
        began = process_time()
        match = attack.match(split.attacked.released, split.known, rng=rng)
        told(f"750 of them, {name}", began, described(match, split.attacked.partners()))


def scale(rng: np.random.Generator) -> None:
    """Measure a million records of 100,000 people."""
    began = process_time()
    released, partners, person, place = large(100_000, 10, rng)
    told("making 1,000,000 records of 100,000 people", began)
    began = process_time()
    found = unicity_of(person, place, (1, 2, 4), rng=rng)
    told("unicity, 2,000 people", began, *(f"p={each.points_known} {each.unicity:.3f}" for each in found))
    began = process_time()
    match = ProfileMatching().match(released, rng=rng)
    told("two periods, candidate pairs", began, described(match, partners))


def lifetimes(rng: np.random.Generator) -> None:
    """Link all records of 150 people by lifetime of the pseudonym."""
    attacks = (ChainedProfiles(), AgglomeratedProfiles(), LinkedProfiles())
    for lifetime in ("1d", "2d", "4d", "7d", "14d"):
        history = visits(150, 28, lifetime, np.random.default_rng(0))
        truth = Partition.from_labels(history.item_person)
        for attack in attacks:
            began = process_time()
            name = f"{lifetime}, {type(attack).__name__}"
            if history.released.items > 5_000 and isinstance(attack, AgglomeratedProfiles):
                continue
            guess = attack.run(released=history.released, rng=rng)
            found = linked_records(guess, truth, weights=history.sizes)
            told(
                name,
                began,
                f"linked {found.records_linked:.3f} ± {found.records_linked_error:.3f}",
                f"own share {found.own_share:.3f}",
                f"alone {found.linked_alone:.3f}",
                f"80 % linked {(found.linked >= 0.8).mean():.2f}",
            )


def transactions(rng: np.random.Generator) -> None:
    """Link the accounts of real bank transactions over two halves of their time."""
    folder = os.environ.get("UNVEIL_DATA")
    if not folder:
        print("transactions: needs UNVEIL_DATA, the folder of the data")
        return
    frame = pl.read_parquet(Path(folder) / "midst" / "transactions.parquet")
    frame = frame.filter(pl.col("trans_date") >= pl.col("trans_date").max() - 728)
    names = ["account_id", "trans_date", "trans_type", "operation", "amount", "balance", "k_symbol", "bank", "account"]
    kinds = dict.fromkeys(("trans_type", "operation", "k_symbol", "bank", "account"), "category")
    table = Table.from_frame(frame.select(names), name="transactions", kinds=kinds)
    began = process_time()
    whole = History.from_table(table, person="account_id", time="trans_date", lifetime="52w")
    told("reading", began, f"{whole.people} accounts, {whole.person.size} records, {len(whole.periods)} periods")
    for people in (1_000, whole.people):
        history = whole.of_people(np.sort(rng.choice(whole.people, people, replace=False)))
        for columns in ([each.name for each in history.compared], ["trans_type", "operation", "k_symbol", "amount"]):
            began = process_time()
            match = ProfileMatching(periods=history.periods[:2]).match(history.released.only(columns), rng=rng)
            told(f"{people} accounts, {len(columns)} columns", began, described(match, history.partners()))
    began = process_time()
    cells = unicity_surface(whole, "amount", times=["1d", "1w", "4w"], steps=["", "100", "1000"], known=(2,), rng=rng)
    told(
        "unicity surface", began, *(f"{each.time}/{each.step or 'exact'} {each.unicity.unicity:.3f}" for each in cells)
    )
    began = process_time()
    (found,) = unicity_of(whole.person, points_of(whole, {"time": "1d", "amount": ""}), (4,), rng=rng)
    told("four points, day and amount", began, f"{found.unicity:.3f}, by chance {found.by_chance:.3f}")


CASES: dict[str, Callable[[np.random.Generator], None]] = {
    "two_periods": two_periods,
    "lifetimes": lifetimes,
    "scale": scale,
    "transactions": transactions,
}


def main() -> None:
    """Run the cases named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    settings = parser.parse_args()
    warm = np.random.default_rng(1)
    ProfileMatching().match(panel(200, 3, 3, warm).released, rng=warm)
    LinkedProfiles().run(released=visits(40, 14, "7d", warm).released, rng=warm)
    for case in settings.cases or CASES:
        CASES[case](np.random.default_rng(0))


if __name__ == "__main__":
    main()
