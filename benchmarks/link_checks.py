"""What linking finds where people skip a period, numbers repeat, or pseudonyms change at their own time.

Each check runs over several seeds:

    python -m benchmarks.link_checks
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Callable

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")

import numpy as np
import polars as pl

from benchmarks.link_null import panel, visits
from unveil.attacks import AgglomeratedProfiles, ChainedProfiles, LinkedProfiles
from unveil.attacks.link._profiles import profiles_of
from unveil.attacks.link._training import PeriodPair, train
from unveil.attacks.link.two_periods import PeriodMatch, ProfileMatching, matched
from unveil.data.histories import GAP, History
from unveil.data.table import Table
from unveil.guesses.partition import Partition
from unveil.metrics.partitions.linked_records import linked_records
from unveil.metrics.verdict.exchanged_people import expected_links, link_effect


def share_linked(match: PeriodMatch, history: History) -> float:
    """Return the share of people in both periods who are linked."""
    truth = history.partners()
    return float((match.partner == truth)[truth >= 0].mean())


def described(values: list[float]) -> str:
    """Return mean and standard error over seeds."""
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.3f}"


def overlap(seeds: int) -> None:
    """Measure people who are in one period only: the estimated share, and links above 1/2."""
    print("overlap: 300 people, each absent from each of two waves with a probability")
    for absent in (0.0, 0.2, 0.35, 0.5):
        rows = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            whole = panel(300, 2, rng)
            items = rng.random(whole.released.items) >= absent
            history = whole.of_records(items[whole.pseudonym])
            truth = history.partners()
            found = []
            for share in (None, 1.0):
                match = ProfileMatching(overlap=share).match(history.released, rng=rng)
                best = np.asarray(match.probability).max(axis=0)
                right = np.asarray(match.probability).argmax(axis=0) == truth
                sure = best > 0.5
                found += [share_linked(match, history), sure.mean(), right[sure].mean(), best.mean(), right.mean()]
                if share is None:
                    found.append(match.share)
            rows.append([(truth >= 0).sum() / min(np.shape(match.scores)), *found])
        names = ["true share", "linked", "above 1/2", "of these right", "claimed", "came true", "estimated share"]
        names += ["(all in both) linked", "above 1/2", "of these right", "claimed", "came true"]
        means = np.mean(rows, axis=0)
        print(f"  absent {absent}: " + ", ".join(f"{n} {v:.3f}" for n, v in zip(names, means, strict=True)), flush=True)


def both_ways(history: History, rng: np.random.Generator, **changes: bool) -> tuple[float, float]:
    """Return the share linked as the attack is, and with profiles changed."""
    ones, others = history.released.items_of(0), history.released.items_of(1)
    found = []
    for settings in ({}, changes):
        profiles = profiles_of(history.released, **settings)
        training = train(profiles, [PeriodPair(ones, others)], rng=rng)
        found.append(share_linked(matched(profiles, training, ones, others, share=None, rng=rng), history))
    return found[0], found[1]


def activity(seeds: int) -> None:
    """Compare with and without the number of records, where people differ in it, and where not."""
    for name, spread in (("people differ (log sd 0.7)", 0.7), ("people do not differ", 0.0)):
        found = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            rate = 12 * np.exp(spread * rng.normal(size=150))
            rows: dict[str, list[object]] = {"who": [], "week": [], "place": []}
            own = rng.integers(0, 60, (150, 4))
            for who in range(150):
                for week in range(2):
                    for _ in range(max(1, rng.poisson(rate[who]))):
                        at = own[who, rng.integers(4)] if rng.random() < 0.3 else rng.integers(60)
                        for key, value in zip(rows, (who, week, f"p{at}"), strict=True):
                            rows[key].append(value)
            history = History.from_table(Table.from_frame(pl.DataFrame(rows)), person="who", period="week")
            found.append(both_ways(history, rng, activity=False))
        used, unused = zip(*found, strict=True)
        print(f"activity, {name}: with {described(list(used))}, without {described(list(unused))}", flush=True)


def exact_numbers(seeds: int) -> None:
    """Compare with and without numbers as values, where people repeat them exactly."""
    for repeats in (0.0, 0.3):
        found = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            rows: dict[str, list[object]] = {"who": [], "month": [], "amount": []}
            usual = np.round(np.exp(rng.normal(4, 0.5, 150)), 2)
            for who in range(150):
                for month in range(2):
                    for _ in range(8):
                        amount = usual[who] if rng.random() < repeats else round(float(np.exp(rng.normal(4, 0.5))), 2)
                        for key, value in zip(rows, (who, month, amount), strict=True):
                            rows[key].append(value)
            history = History.from_table(Table.from_frame(pl.DataFrame(rows)), person="who", period="month")
            found.append(both_ways(history, rng, exact=False))
        used, unused = zip(*found, strict=True)
        print(f"exact numbers, {repeats:.0%} repeated: with {described(list(used))}, without {described(list(unused))}")


def unequal_visits(people: int, days: int, rng: np.random.Generator) -> Table:
    """Return visits of people with habits of their own, and pseudonyms of their own time.

    A pseudonym ``own`` lives five to nine days, and changes at a moment of the person's own.
    """
    rows: dict[str, list[object]] = {"who": [], "day": [], "place": [], "own": []}
    popular = 1 / np.arange(1, 401)
    popular /= popular.sum()
    for who in range(people):
        number = rng.poisson(days * 3 * np.exp(0.4 * rng.normal() - 0.08))
        moments = np.sort(rng.random(number) * days)
        usual, other = (rng.choice(400, size, p=popular) for size in (6, number))
        place = np.where(rng.random(number) < 0.4, usual[rng.integers(0, 6, number)], other)
        changes = np.cumsum(rng.uniform(5, 9, 2 * days)) - rng.uniform(0, 7)
        rows["who"] += [who] * number
        rows["day"] += moments.tolist()
        rows["place"] += [f"p{each}" for each in place]
        rows["own"] += [f"{who}:{each}" for each in np.searchsorted(changes, moments)]
    return Table.from_frame(pl.DataFrame(rows))


def own_time(seeds: int) -> None:
    """Compare pseudonyms that all change at once with those that change at a person's own time."""
    found = defaultdict(list)
    for seed in range(seeds):
        table = unequal_visits(100, 28, np.random.default_rng(seed))
        once = History.from_table(table, person="who", time="day", lifetime="7d", columns=["place"])
        own = History.from_table(table, person="who", time="day", pseudonym="own")
        cases: dict[str, tuple[AgglomeratedProfiles | ChainedProfiles | LinkedProfiles, History, list[str]]] = {
            "all at once, chained": (ChainedProfiles(), once, ["place"]),
            "all at once, chained and agglomerated": (LinkedProfiles(), once, ["place"]),
            "own time, agglomerated without gaps": (AgglomeratedProfiles(), own, ["place"]),
            "own time, chained by gaps alone": (ChainedProfiles(), own, [GAP]),
            "own time, chained by place and gaps": (ChainedProfiles(), own, ["place", GAP]),
            "own time, chained and agglomerated": (LinkedProfiles(), own, ["place", GAP]),
        }
        for name, (attack, history, columns) in cases.items():
            guess = attack.run(released=history.released.only(columns), rng=np.random.default_rng(seed))
            truth = Partition.from_labels(history.item_person)
            result = linked_records(guess, truth, weights=history.sizes)
            found[name].append((result.records_linked, result.own_share, result.linked_alone))
    for name, rows in found.items():
        linked, share, alone = (list(each) for each in zip(*rows, strict=True))
        print(
            f"own time, {name}: records linked {described(linked)}, own share {described(share)}, pseudonym alone "
            f"{described(alone)}",
            flush=True,
        )


def coverage(seeds: int) -> None:
    """Count how often the limits of linked minus chance hold the mean over data sets."""
    for name, days in (
        ("2 days against 2", 4),
        ("3 days against 3", 6),
        ("4 days against 4", 8),
        ("7 days against 7", 14),
    ):
        effects = []
        for seed in range(8 * seeds):
            rng = np.random.default_rng(seed)
            history = visits(100, days, f"{days // 2}d", rng)
            history = history.of_periods(0, 1)
            match = ProfileMatching(rounds=2).match(history.released, rng=rng)
            truth = history.partners()
            groups = np.zeros(match.earlier.size, int), np.zeros(match.later.size, int)
            chance = expected_links(match.partner, truth, *groups)
            right = int(((match.partner == truth) & (truth >= 0)).sum())
            effects.append(link_effect(right, int((truth >= 0).sum()), chance))
        value = np.array([each.value for each in effects])
        low, high = (np.array([getattr(each, side) for each in effects]) for side in ("low", "high"))
        mean = value.mean()
        print(
            f"coverage, {name}: mean effect {mean:.3f}, sd {value.std():.3f}, mean half width "
            f"{((high - low) / 2).mean():.3f}, lower limit above the mean {np.mean(low > mean):.3f} (nominal 0.025), "
            f"upper below {np.mean(high < mean):.3f} (nominal 0.05), {value.size} data sets",
            flush=True,
        )


CASES: dict[str, Callable[[int], None]] = {
    "overlap": overlap,
    "activity": activity,
    "exact_numbers": exact_numbers,
    "own_time": own_time,
    "coverage": coverage,
}


def main() -> None:
    """Run the checks named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--seeds", type=int, default=20)
    settings = parser.parse_args()
    for case in settings.cases:
        CASES[case](settings.seeds)


if __name__ == "__main__":
    main()
