"""Audits of people with several rows: false alarms, leaks found, and AUC and TPR at 1% FPR of each view.

    python -m benchmarks.people [--harmless 200] [--leaks 20] [--views 5] [--accounts 2] [--speed 1000]

Patients and their visits are made up. A release is a fresh sample of the same process, in which a share of people is
replaced by people of the data. ``--accounts`` divides the public accounts below the folder that UNVEIL_DATA names by
chance into original, control group, and release.
"""

import argparse
import os
import resource
from collections.abc import Mapping
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np
import polars as pl

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.child_tables import ChildRelease, ChildTable
from unveil.data.table.release import Release
from unveil.metrics.trials.risk import clopper_pearson
from unveil.questions.audit.answer import audit
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit

if TYPE_CHECKING:
    from unveil.data.table.kinds import DeclaredKind

#: What of a leaked person is released: all, the parent row, the child rows, one of them, their order alone, or, with
#: the parts of all people shuffled, the link between parent row and child rows.
Leak = Literal["all", "parent", "rows", "row", "order", "link"]
TYPES, WARDS = 6, 8


class People(NamedTuple):
    """Patients, and their visits sorted by patient and time."""

    parents: pl.DataFrame
    visits: pl.DataFrame


def draw_people(number: int, rng: np.random.Generator, visits: float = 10.0) -> People:
    """Return patients with visits: types follow a Markov chain, and habits differ between patients."""
    age = rng.integers(18, 90, number)
    parents = pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], number),
            "region": rng.choice(["north", "south", "east", "west"], number, p=[0.4, 0.3, 0.2, 0.1]),
            "income": np.round(np.exp(rng.normal(7.5, 0.5, number))).astype(int),
            "illness": rng.choice(list("abcdefgh"), number),
        }
    )
    size = rng.poisson(visits * rng.gamma(4, 0.25, number))
    rate, habit = rng.gamma(2, 10, number), rng.integers(0, TYPES, number)
    cost, ward = rng.normal(5, 0.6, number), rng.integers(0, WARDS, number)
    person = np.repeat(np.arange(number), size)
    gap = 1 + rng.exponential(rate[person]).astype(int)
    kind = rng.integers(0, TYPES, person.size)
    first = np.concatenate([[True], person[1:] != person[:-1]])[: person.size]
    for row in range(person.size):
        if not first[row] and rng.random() < 0.6:
            kind[row] = (kind[row - 1] + (rng.random() < 0.5)) % TYPES
        elif rng.random() < 0.3:
            kind[row] = habit[person[row]]
    return People(
        parents,
        pl.DataFrame(
            {
                "person": person,
                "day": _days(person, gap, rng),
                "type": kind.astype(str),
                "ward": np.where(
                    rng.random(person.size) < 0.5, ward[person], rng.integers(0, WARDS, person.size)
                ).astype(str),
                "cost": np.round(np.exp(rng.normal(cost[person], 0.5)), 1),
            }
        ),
    )


def _days(person: IntArray, gap: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the day of each row, from a random first day."""
    total = np.cumsum(gap)
    start = np.searchsorted(person, person)
    days: IntArray = total - total[start] + rng.integers(0, 365, int(person.max(initial=0)) + 1)[person]
    return days


def leaked(
    people: People, fresh: People, share: float, leak: Leak, rng: np.random.Generator, noise: float = 0.0
) -> People:
    """Return fresh people of whom a share is replaced by people of the data.

    ``noise`` is the share of cells of these people that are drawn from others.
    """
    if leak == "link":
        return _shuffled(people, share, rng)
    people = _noisy(people, noise, rng) if noise else people
    number = fresh.parents.height
    places = rng.choice(number, round(share * number), replace=False)
    sources = rng.choice(people.parents.height, places.size, replace=False)
    parents, visits = fresh.parents, fresh.visits
    if leak in ("all", "parent"):
        take = np.arange(number)
        both = pl.concat([parents, people.parents])
        take[places] = number + sources
        parents = both[take]
    if leak in ("all", "rows", "order"):
        moved = people.visits.filter(pl.col("person").is_in(sources)).with_columns(
            pl.col("person").replace_strict(sources, places, return_dtype=pl.Int64)
        )
        if leak == "order":
            moved = _order_alone(moved, fresh, rng)
        kept = visits.filter(~pl.col("person").is_in(places))
        visits = pl.concat([kept, moved.select(kept.columns)]).sort("person", "day", maintain_order=True)
    if leak == "row":
        own = people.visits.filter(pl.col("person").is_in(sources)).sample(
            fraction=1.0, shuffle=True, seed=int(rng.integers(2**31))
        )
        one = own.unique("person", keep="first", maintain_order=True)
        hosts = rng.integers(0, number, one.height)
        visits = pl.concat([visits, one.with_columns(pl.Series("person", hosts)).select(visits.columns)])
        visits = visits.sort("person", "day", maintain_order=True)
    return People(parents, visits)


def _noisy(people: People, noise: float, rng: np.random.Generator) -> People:
    """Return the people with a share of cells drawn from others; whose each row is and its day stay."""

    def mixed(frame: pl.DataFrame) -> pl.DataFrame:
        names = [name for name in frame.columns if name not in ("person", "day")]
        masks = [pl.Series(rng.random(frame.height) < noise) for _ in names]
        drawn = [frame[name].gather(rng.integers(0, frame.height, frame.height)) for name in names]
        return frame.with_columns(
            new.zip_with(mask, frame[name]).alias(name) for name, mask, new in zip(names, masks, drawn, strict=True)
        )

    return People(mixed(people.parents), mixed(people.visits))


def _shuffled(people: People, share: float, rng: np.random.Generator) -> People:
    """Return the parent rows and the histories of the data, of which a share still belong together."""
    number = people.parents.height
    order, place = rng.permutation(number), np.arange(number)
    apart = rng.permutation(number)[: number - round(share * number)]
    place[apart] = np.roll(apart, 1)
    parents = people.parents[order]
    new = np.argsort(order)[place]
    moved = people.visits.with_columns(pl.Series("person", new[people.visits["person"].to_numpy()]))
    return People(parents, moved.sort("person", "day", maintain_order=True))


def _order_alone(moved: pl.DataFrame, fresh: People, rng: np.random.Generator) -> pl.DataFrame:
    """Return the histories with other wards, costs, and first days: types in order and gaps remain."""
    drawn = fresh.visits[rng.integers(0, fresh.visits.height, moved.height)]
    shift = rng.integers(-300, 300, fresh.parents.height)
    return moved.with_columns(
        drawn["ward"], drawn["cost"], (pl.col("day") + pl.Series(shift[moved["person"].to_numpy()])).alias("day")
    )


def release_of(original: People, released: People, control: People) -> Release:
    """Return the release of people with their rows; text is read as categories, numbers as numbers."""

    def table(frame: pl.DataFrame, name: str) -> Table:
        kinds = {each: "category" if kind == pl.String else "number" for each, kind in frame.schema.items()}
        return Table.from_frame(frame, name=name, kinds=cast("dict[str, DeclaredKind]", kinds))

    def child(people: People) -> ChildTable:
        rows = table(people.visits.drop("person"), "visits")
        person = people.visits["person"].to_numpy().astype(np.int64)
        return ChildTable("visits", rows, person, people.parents.height, "day")

    return Release(
        table(original.parents, "original"),
        table(released.parents, "released"),
        table(control.parents, "control"),
        kind="synthetic",
        children=(ChildRelease.of(child(original), child(released), child(control)),),
    )


#: The test that names each leak: the attack, and the end of the attacker's name.
NAMED: Mapping[Leak, tuple[str, str]] = {
    "all": ("history_membership", "all views"),
    "parent": ("history_membership", "parent row"),
    "rows": ("history_membership", "set of rows"),
    "row": ("history_membership", "closest row"),
    "order": ("history_membership", "order of rows"),
    "link": ("history_linkability", "people | visits, own history"),
}


def findings(release: Release, seed: int) -> Audit:
    """Return the findings of the attacks on people with several rows."""
    attacks = [name for name, attack in ATTACKS.items() if attack.needs_children]
    rng = np.random.default_rng(seed)
    return audit(release.original, release, release.control, attacks=attacks, threads=1, rng=rng).findings


def is_named(found: Audit, leak: Leak) -> bool:
    """Return whether the leak is found by its own test."""
    attack, view = NAMED[leak]
    tests = found.verdict.releases[0].findings
    return any(each.proved and each.attack == attack and each.adversary.startswith(_full(view)) for each in tests)


def _full(view: str) -> tuple[str, ...]:
    return (view, f"visits, {view}")


def made_up(number: int, share: float, leak: Leak, seed: int, noise: float = 0.0) -> Release:
    """Return a release of made-up people; without a leak it is a fresh sample of the same process."""
    rng = np.random.default_rng([seed, number])
    original, control, fresh = (draw_people(number, rng) for _ in range(3))
    return release_of(original, leaked(original, fresh, share, leak, rng, noise) if share else fresh, control)


def interval(hits: int, runs: int) -> str:
    """Return a count with its 95% Clopper-Pearson interval."""
    rate = clopper_pearson(hits, runs)
    return f"{hits} of {runs} ({100 * rate.low:.1f}% to {100 * rate.high:.1f}%)"


def false_alarms(runs: int, number: int) -> None:
    """Print how often a harmless release is flagged."""
    hits = 0
    for seed in range(runs):
        found = findings(made_up(number, 0.0, "all", 10_000 + seed), seed)
        hits += any(each.proved for each in found.verdict.releases[0].findings)
        if seed % 20 == 19:
            print(f"    {hits} of {seed + 1}", flush=True)
    print(f"harmless, {number} people: {interval(hits, runs)} flagged", flush=True)


def power(runs: int, number: int, share: float) -> None:
    """Print how often each leak is found by its own test."""
    for leak in NAMED:
        hits = sum(is_named(findings(made_up(number, share, leak, 20_000 + seed), seed), leak) for seed in range(runs))
        print(f"leak {leak}, {share:.0%} of {number} people: {interval(hits, runs)} found and named", flush=True)


def separation(runs: int, number: int, share: float, noise: float) -> None:
    """Print the mean AUC and TPR at 1% FPR of each view."""
    for leak in ("all", "parent", "rows", "row", "order"):
        values: dict[str, list[tuple[float, float]]] = {}
        for seed in range(runs):
            for each in findings(made_up(number, share, leak, 30_000 + seed, noise), seed).releases[0].findings:
                if each.attack == "history_membership" and each.scenario is not None:
                    pair = each.figures["auc"], each.figures["tpr_at_1_percent_fpr"]
                    values.setdefault(each.scenario.name, []).append(pair)
        print(f"leak {leak}, {share:.0%} of {number} people, {noise:.0%} of cells changed, mean of {runs}", flush=True)
        for view, pairs in values.items():
            auc, tpr = np.mean(pairs, axis=0)
            print(f"    {view:<24} AUC {auc:.3f}  TPR at 1% FPR {tpr:.3f}", flush=True)


def speed(number: int, visits: float, targets: int | None) -> None:
    """Print the time and the memory of all attacks on many people."""
    rng = np.random.default_rng(number)
    original, control, fresh = (draw_people(number, rng, visits) for _ in range(3))
    release = release_of(original, fresh, control)
    started = process_time()
    attacks = [name for name, attack in ATTACKS.items() if attack.needs_children]
    rng, attacked = np.random.default_rng(1), "auto" if targets is None else targets
    audit(release.original, release, release.control, attacks=attacks, targets=attacked, threads=1, rng=rng)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = release.children[0].release.released.rows
    seconds = process_time() - started
    print(f"{number:,} people, {rows:,} released rows: {seconds:.0f} s CPU, {used:.1f} GB", flush=True)


def accounts(folder: Path) -> pl.DataFrame:
    """Return the public transactions with their accounts, numbered from 0, in time order."""
    frame = pl.read_parquet(folder / "midst" / "transactions.parquet")
    codes = [pl.col(name).cast(pl.String) for name in ("trans_type", "operation", "k_symbol", "bank")]
    frame = frame.select(
        (pl.col("account_id").rank("dense") - 1).cast(pl.Int64).alias("person"),
        pl.col("trans_date").cast(pl.Int64).alias("day"),
        *codes,
        pl.col("amount").round(0),
        pl.col("balance").round(0),
    )
    return frame.sort("person", "day", *frame.columns[2:])


def _of_accounts(frame: pl.DataFrame, chosen: IntArray) -> People:
    """Return some accounts; their parent row is the most frequent bank and the first year."""
    place = {each: number for number, each in enumerate(chosen.tolist())}
    rows = frame.filter(pl.col("person").is_in(list(place)))
    rows = rows.with_columns(pl.col("person").replace_strict(place, return_dtype=pl.Int64))
    rows = rows.sort("person", "day", maintain_order=True)
    parents = rows.group_by("person").agg(
        pl.col("bank").drop_nulls().mode().sort().first().fill_null("none"),
        (pl.col("day").min() // 365).alias("first_year"),
    )
    return People(parents.sort("person").drop("person"), rows)


def transactions(folder: Path, runs: int, share: float) -> None:
    """Print what is found on public accounts, of which a share is released."""
    frame = accounts(folder)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        thirds = np.array_split(rng.permutation(frame["person"].n_unique()), 3)
        original, control, fresh = (_of_accounts(frame, each) for each in thirds)
        released = leaked(original, fresh, share, "all", rng) if share else fresh
        started = process_time()
        found = findings(release_of(original, released, control), seed)
        proved = sum(each.proved for each in found.verdict.releases[0].findings)
        seconds = process_time() - started
        print(f"accounts, {share:.0%} released, seed {seed}: {proved} significant tests, {seconds:.0f} s", flush=True)
        _print_views(found)


def _print_views(found: Audit) -> None:
    for each in found.releases[0].findings:
        if each.attack == "history_membership" and each.scenario is not None:
            auc, tpr = each.figures["auc"], each.figures["tpr_at_1_percent_fpr"]
            print(f"    {each.scenario.name:<24} AUC {auc:.3f}  TPR at 1% FPR {tpr:.3f}", flush=True)


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--harmless", type=int, default=0, help="harmless releases to test")
    parser.add_argument("--leaks", type=int, default=0, help="releases with each leak")
    parser.add_argument("--views", type=int, default=0, help="releases for AUC and TPR of each view")
    parser.add_argument("--accounts", type=int, default=0, help="divisions of public accounts")
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--speed", type=int, default=0, help="people of one large release")
    parser.add_argument("--rows", type=float, default=20.0, help="rows of each person of a large release")
    parser.add_argument("--targets", type=int, help="targets of each table of a large release")
    asked = parser.parse_args()
    if asked.harmless:
        false_alarms(asked.harmless, asked.people)
    if asked.leaks:
        power(asked.leaks, asked.people, asked.share)
    if asked.views:
        separation(asked.views, asked.people, asked.share, asked.noise)
    if asked.accounts:
        transactions(Path(os.environ["UNVEIL_DATA"]), asked.accounts, asked.share)
    if asked.speed:
        speed(asked.speed, asked.rows, asked.targets)


if __name__ == "__main__":
    main()
