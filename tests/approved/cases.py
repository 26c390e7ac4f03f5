"""The calls whose whole output is approved, and the files that they read."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from unveil.studies import Study, run_study

#: What is called, by case. ``{study}`` and ``{plan}`` stand for what `write_inputs` made.
CASES: dict[str, str] = {
    "audit-sample": "audit --targets 60 --guesses 60",
    "audit-threshold": "audit --targets 60 --guesses 60 --threshold 0.09",
    "audit-inconclusive": "audit people.csv fresh.csv --control others.csv --release-type synthetic --sensitive income "
    "--targets 60 --guesses 60 --threshold 0.09",
    "audit-pass": "audit people.csv fresh.csv --control others.csv --release-type synthetic --sensitive income "
    "--targets 60 --guesses 60 --threshold 0.5",
    "audit-releases-threshold": "audit people.csv fresh.csv copies.csv --control others.csv --release-type synthetic "
    "--sensitive income --targets 60 --guesses 60 --threshold 0.5",
    "audit-without-control": "audit people.csv noisy.csv --kind masked --targets 60 --guesses 60",
    "audit-releases": "audit people.csv noisy.csv copies.csv --control others.csv --sensitive income --targets 60 "
    "--guesses 60 --limit linkability=0.2",
    "audit-coarse": "audit people.csv coarse.csv --control others.csv --kind masked --sensitive income --targets 60 "
    "--guesses 60 --profile cell-5 --minimum-cell 5 --verbose",
    "audit-people": "audit visits.csv visits-released.csv --control visits-others.csv --id person --targets 40 "
    "--guesses 40 --attacks linkability,copies,singling_out,membership",
    "audit-tables": "audit patients.csv patients-released.csv --control patients-others.csv --id person "
    "--table visits=visits.csv:visits-released.csv:visits-others.csv --time visits=days --sensitive ward --targets 40 "
    "--guesses 40 --release-type synthetic --verbose",
    "protect-sample": "protect --protect rank-swapping:p=10 --attacks linkability,copies --targets 60",
    "protect-steps": "protect people.csv --first suppression:k=3 --protect rank-swapping:p=10 --control others.csv "
    "--attacks linkability,inference --targets 60 --limit linkability=0.1",
    "plan-sample": "plan --sample",
    "plan-limit": "plan --people 1000 --control 500 --threshold 0.05 --attackers 4 --limit plan.pass_chance=0.8",
    "split-sample": "split --example",
    "split-file": "split visits.csv --id person --share 1/2 --out released-part.csv --write-control control.csv "
    "--limit split.control_people=20",
    "columns-sample": "columns",
    "columns-file": "columns people.csv --kinds zip=category --limit uncertain_columns=0",
    "partition-sample": "unlinkability --sample",
    "partition-bold": "unlinkability --sample bold --limit breached_share=0.9",
    "partition-view": "unlinkability truth.csv guess.csv=2/3 other.csv=1/3 --mixing others --alpha 1/3 --subject B",
    "partition-others": "unlinkability truth.csv guess.csv --guessing sizes --beta 0.8 --overall-alpha 1/2",
    "candidates-sample": "attack-metrics --sample",
    "candidates-without-truth": "attack-metrics beliefs.csv --limit entropy=1",
    "candidates-files": "attack-metrics beliefs.csv --truth who.csv --limit adversary_overall_success=0.9",
    "matching-sample": "matching",
    "matching-without-truth": "matching matrix.csv",
    "matching-files": "matching matrix.csv --truth pairs.csv --limit cracked_share.high=0.1",
    "reidentify-sample": "reidentify",
    "reidentify-release": "reidentify keyed.csv masked.csv --id key --protect additive-noise:scale=0.2 --known "
    "age,income --attack bayes --attack nearest --pairs 20 --limit attack_rate.high=0.1",
    "reidentify-refuted": "reidentify keyed.csv keyed-noisy.csv --id key --protect additive-noise:scale=0.2 --known "
    "age,income --attack bayes",
    "tables-sample": "tables",
    "tables-rounded": "tables rounded.csv --round 5:random --limit recovered_rate=0",
    "anonymize-sample": "protect-graph --protect k-degree:k=5",
    "anonymize-file": "protect-graph edges.csv --protect switch:share=0.1 --limit edge_difference=0.01",
    "graph-sample": "graph --protect k-degree:k=5 --attack ns",
    "graph-file": "graph edges.csv --attack kl --seed-pairs 5 --overlap 0.8 --repeat 2 "
    "--limit adversary_overall_success=0.1",
    "link-sample": "link --sample --draws 500",
    "link-file": "link wave1.csv wave2.csv --person id --learned --draws 500 --limit linked=0.2",
    "refused-link": "link wave1.csv --person id",
    "study-report": "study report {study}",
    "study-report-all": "study report {study} --metric entropy --metric min_entropy",
    "grade-metrics": "grade-metrics {study}",
    "grade-metrics-limit": "grade-metrics {study} --of means --limit share_monotonic_best_suite=0.99",
    "study-run": "study run {plan} --out again --workers 0",
    "refused-file": "audit people.csv nowhere.csv",
    "refused-option": "unlinkability truth.csv guess.csv --alpha 2",
    "refused-columns": "attack-metrics truth.csv",
}

PLAN = """
name = "little"
seed = 1
protections = ["id-removal"]
attacks = ["KL"]
[[data]]
name = "generated"
kind = "graph"
source = "sample:generated-graph"
[axes]
seed_pairs = [5, 20, 50]
[fixed]
overlap = 0.85
[replications]
number = 2
"""


def write_inputs(home: Path) -> dict[str, str]:
    """Write all files that the cases read; return what stands for those that are named by their folder."""
    rng = np.random.default_rng(11)
    people, others = _people(rng, 300), _people(rng, 150)
    _write(home / "people.csv", people)
    _write(home / "others.csv", others)
    _write(home / "copies.csv", [people[0], *(people[1 + row] for row in rng.permutation(300))])
    noisy = [people[0], *([row[0] + int(rng.integers(-2, 3)), *row[1:]] for row in people[1:])]
    _write(home / "noisy.csv", noisy)
    for name, rows in (("keyed", people), ("keyed-noisy", noisy)):
        _write(
            home / f"{name}.csv", [["key", *rows[0]], *([f"k{place}", *row] for place, row in enumerate(rows[1:61]))]
        )
    ages, incomes = (np.array([row[place] for row in people[1:61]], float) for place in (0, 4))
    masked = [column + rng.normal(0, 0.2 * column.std(ddof=1), 60) for column in (ages, incomes)]
    _write(
        home / "masked.csv", [["key", "age", "income"], *zip((f"k{row}" for row in range(60)), *masked, strict=True)]
    )
    coarse = [[f"{row[0] // 10 * 10}-{row[0] // 10 * 10 + 9}", row[1], row[2], "*", row[4]] for row in people[1:]]
    _write(home / "coarse.csv", [people[0], *coarse])
    for name, first in (("visits", 0), ("visits-others", 60), ("visits-released", 120)):
        _write(home / f"{name}.csv", _visits(rng, first))
    _write(home / "truth.csv", [["item", "cluster"], *zip(range(12), "AAABBBBCCDDD", strict=True)])
    _write(home / "guess.csv", [["item", "cluster"], *zip(range(12), "ppqqprrrsstt", strict=True)])
    _write(home / "other.csv", [["item", "cluster"], *zip(range(12), "ppppqqqqrrrr", strict=True)])
    beliefs = [[f"t{target}", f"c{target + step}", (0.5, 0.3, 0.2)[step]] for target in range(20) for step in range(3)]
    _write(home / "beliefs.csv", [["target", "candidate", "probability"], *beliefs])
    _write(
        home / "who.csv", [["target", "candidate"], *([f"t{place}", f"c{place + place % 4}"] for place in range(22))]
    )
    matrix = np.triu(np.ones((6, 6), int), -1)
    _write(home / "matrix.csv", [["", *"uvwxyz"], *([f"e{row}", *matrix[row].tolist()] for row in range(6))])
    _write(home / "pairs.csv", [["item", "pseudonym"], *([f"e{row}", "uvwxyz"[row]] for row in range(6))])
    counts: list[list[Any]] = [
        ["ward", "age", "count"],
        ["a", "young", 5],
        ["a", "old", 10],
        ["a", "all", 20],
        ["b", "young", 0],
    ]
    counts += [["b", "old", 5], ["b", "all", 5], ["all", "young", 5], ["all", "old", 20], ["all", "all", 25]]
    _write(home / "rounded.csv", counts)
    edges = {tuple(sorted(map(int, rng.choice(60, 2, replace=False)))) for _ in range(180)}
    _write(home / "edges.csv", [["source", "target"], *sorted(edges)])
    # Drawn last, so that the other tables stay as they are.
    _write(home / "fresh.csv", _people(rng, 300))
    waves = _waves(rng, 60)
    for name, rows in zip(("wave1", "wave2"), waves, strict=True):
        _write(home / f"{name}.csv", rows)
    for name, first in (("patients", 0), ("patients-others", 60), ("patients-released", 120)):
        _write(home / f"{name}.csv", _patients(rng, first))
    (home / "plan.toml").write_text(PLAN, encoding="utf-8")
    run_study(Study.read(home / "plan.toml"), home / "study", workers=0)
    return {"study": "study", "plan": "plan.toml"}


def _people(rng: np.random.Generator, rows: int) -> list[list[Any]]:
    made: list[list[Any]] = [["age", "sex", "region", "zip", "income"]]
    for _ in range(rows):
        age, sex = int(rng.integers(18, 90)), "fm"[rng.integers(2)]
        income = round(float(rng.lognormal(10 + age / 100, 0.4)), -2)
        region = ("north", "south", "east", "west")[rng.integers(4)]
        made.append([age, sex, region, 10000 + int(rng.integers(50)), income])
    return made


def _waves(rng: np.random.Generator, people: int) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return two waves of a panel; a person mostly keeps town and job."""
    first = [
        [f"p{each}", f"t{rng.integers(25)}", f"j{rng.integers(25)}", "fm"[rng.integers(2)]] for each in range(people)
    ]
    second = [[*row[:2], row[2] if rng.random() < 0.8 else f"j{rng.integers(25)}", row[3]] for row in first]
    head = ["id", "town", "job", "sex"]
    return [head, *first], [head, *(second[place] for place in rng.permutation(people))]


def _visits(rng: np.random.Generator, first: int) -> list[list[Any]]:
    made: list[list[Any]] = [["person", "born", "ward", "days", "cost"]]
    for person in range(first, first + 60):
        born = int(rng.integers(1930, 2000))
        visits = rng.integers([0, 1, 100], [4, 30, 999], (int(rng.integers(1, 4)), 3)).tolist()
        made += [[person, born, "abcd"[ward], days, cost] for ward, days, cost in visits]
    return made


def _patients(rng: np.random.Generator, first: int) -> list[list[Any]]:
    """Return the people of visits; of the last ones the release has no row, so that their visits have no person."""
    made: list[list[Any]] = [["person", "sex", "town"]]
    made += [[person, "fm"[rng.integers(2)], f"t{rng.integers(8)}"] for person in range(first, first + 60)]
    return made[:-3] if first == 120 else made


def _write(path: Path, rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
