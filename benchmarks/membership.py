"""Membership: ten scores and their combination beside published attacks, on releases of Adult that are made here.

    UNVEIL_DATA=... python -m benchmarks.membership [--without fnlwgt] [--seed 1]

Needs the Adult files below the folder that UNVEIL_DATA names, and scikit-learn for trees. DOMIAS needs torch and is in
an environment of its own, run by ``.venv-bench-domias/bin/python`` or the Python that UNVEIL_DOMIAS names. Attacks see
the same release and the same population, and are measured on the same people; ours learned from others.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmarks.linkability import ROOT, folder
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.table.membership_scores import SCORES, LearnedCombination, score_people
from unveil.data.table import Table
from unveil.metrics.trials.membership import area_under_curve, called_at, pointed_out
from unveil.metrics.trials.risk import Rate

#: So many people are in the data and in each release; so many show the population; so many of each kind are scored.
PEOPLE, POPULATION, SCORED = 4_000, 4_000, 2_000
LEVELS = (0.001, 0.01, 0.05)
#: What the package of DOMIAS has, in the order of the table.
PEERS = ("GAN-Leaks", "GAN-Leaks calibrated", "MC", "LOGAN", "DOMIAS, kernels")


class Split(NamedTuple):
    """The people of one benchmark: in the data, not in it but like them, the population, and those who are scored."""

    people: pl.DataFrame
    fresh: pl.DataFrame
    population: pl.DataFrame
    members: pl.DataFrame
    outsiders: pl.DataFrame


def split(adult: Path, without: str | None, rng: np.random.Generator) -> Split:
    """Return people drawn by lot; the members who are scored are half of those in the data."""
    parts = [pl.read_csv(adult / f"{name}.csv.gz", infer_schema_length=None) for name in ("train", "control")]
    everybody = pl.concat(parts, how="vertical_relaxed")
    if without:
        everybody = everybody.drop(without)
    sizes = np.cumsum([PEOPLE, PEOPLE, POPULATION, SCORED])
    rows = np.split(rng.permutation(everybody.height)[: sizes[-1]], sizes[:-1])
    people, fresh, population, outsiders = (everybody[each] for each in rows)
    return Split(people, fresh, population, people[:SCORED], outsiders)


def fresh(people: Split, _: np.random.Generator) -> pl.DataFrame:
    """Return other people: nothing of anybody in the data."""
    return people.fresh


def verbatim(people: Split, rng: np.random.Generator) -> pl.DataFrame:
    """Return 5 % of the people as they are, and others."""
    few = PEOPLE // 20
    return pl.concat([people.people[rng.permutation(PEOPLE)[:few]], people.fresh[few:]])


def near_copies(people: Split, rng: np.random.Generator) -> pl.DataFrame:
    """Return 10 % of the people with each number moved by a fiftieth of its deviation and one category drawn anew."""
    few = PEOPLE // 10
    copied = people.people[rng.permutation(PEOPLE)[:few]]
    categories = [name for name, kind in copied.schema.items() if not kind.is_numeric()]
    anew = rng.integers(0, len(categories), few)
    columns = []
    for name, cells in ((name, copied[name]) for name in copied.columns):
        if name in categories:
            drawn = people.people[name][rng.integers(0, PEOPLE, few)]
            columns.append(pl.select(pl.when(pl.Series(anew == categories.index(name))).then(drawn).otherwise(cells)))
        else:
            columns.append(pl.DataFrame({name: _moved(cells, 0.02 * _deviation(people.people[name]), rng)}))
    moved = pl.DataFrame({name: each.to_series() for name, each in zip(copied.columns, columns, strict=True)})
    return pl.concat([moved, people.fresh[few:]])


def trees(people: Split, rng: np.random.Generator, *, leaf: int = 5) -> pl.DataFrame:
    """Return rows drawn column by column from the leaves of trees grown on the columns before (synthpop's way)."""
    return draw_from_trees(people.people, rng, leaf=leaf)


def draw_from_trees(source: pl.DataFrame, rng: np.random.Generator, *, leaf: int) -> pl.DataFrame:
    """Return as many rows as the source has, drawn column by column from the leaves of trees."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    rows = source.height
    codes = np.column_stack([source[name].rank("dense").to_numpy() for name in source.columns]).astype(float)
    whose = np.empty((rows, source.width), np.int64)
    whose[:, 0] = rng.integers(0, rows, rows)
    for place, name in enumerate(source.columns[1:], 1):
        kind = DecisionTreeRegressor if source[name].dtype.is_numeric() else DecisionTreeClassifier
        tree = kind(min_samples_leaf=leaf, random_state=0).fit(codes[:, :place], codes[:, place])
        made = np.take_along_axis(codes[:, :place], whose[:, :place], axis=0)
        theirs, wanted = rows_by_leaf(tree.apply(codes[:, :place])), rows_by_leaf(tree.apply(made))
        for each, here in wanted.items():
            whose[here, place] = rng.choice(theirs[each], here.size)
    return pl.DataFrame({name: source[name][whose[:, place]] for place, name in enumerate(source.columns)})


def rows_by_leaf(leaf: IntArray) -> dict[int, IntArray]:
    """Return the rows of each leaf, both in ascending order.

    >>> {leaf: rows.tolist() for leaf, rows in rows_by_leaf(np.array([4, 2, 4])).items()}
    {2: [1], 4: [0, 2]}
    """
    order = np.argsort(leaf, kind="stable")
    leaves, first = np.unique(leaf[order], return_index=True)
    return dict(zip(leaves.tolist(), np.split(order, first[1:]), strict=True))


def kernel(people: Split, rng: np.random.Generator) -> pl.DataFrame:
    """Return people drawn with replacement, numbers moved by a fifth of a deviation, a fifth of categories anew."""
    source, rows = people.people, rng.integers(0, PEOPLE, PEOPLE)
    columns = {}
    for name in source.columns:
        cells = source[name][rows]
        if source[name].dtype.is_numeric():
            columns[name] = _moved(cells, 0.2 * _deviation(source[name]), rng)
        else:
            other = source[name][rng.integers(0, PEOPLE, PEOPLE)]
            anew = pl.Series(rng.random(PEOPLE) < 0.2)
            columns[name] = pl.select(pl.when(anew).then(other).otherwise(cells)).to_series()
    return pl.DataFrame(columns)


def copula(people: Split, rng: np.random.Generator) -> pl.DataFrame:
    """Return what a Gaussian copula with the margins of the people draws."""
    from unveil.protections import GaussianCopula

    return GaussianCopula().apply(table(people.people), rng=rng).released.frame


def _moved(cells: pl.Series, deviation: float, rng: np.random.Generator) -> pl.Series:
    return pl.Series(np.rint(cells.to_numpy() + rng.normal(0, deviation, cells.len())).astype(np.int64))


def _deviation(cells: pl.Series) -> float:
    return float(cells.to_numpy().std())


RELEASES: Mapping[str, Callable[[Split, np.random.Generator], pl.DataFrame]] = {
    "fresh people": fresh,
    "5 % verbatim": verbatim,
    "near-copies of 10 %": near_copies,
    "trees, leaves of 5": trees,
    "kernel": kernel,
    "copula": copula,
}


def table(frame: pl.DataFrame) -> Table:
    """Return the frame with what is a number told."""
    kinds: dict[str, Any] = {name: "number" if kind.is_numeric() else "category" for name, kind in frame.schema.items()}
    return Table.from_frame(frame, kinds=kinds)


class Scored(NamedTuple):
    """Scores by name of the measured members and outsiders, and the CPU seconds of all of them together."""

    members: dict[str, FloatArray]
    outsiders: dict[str, FloatArray]
    seconds: float


def ours(people: Split, released: pl.DataFrame, learning: IntArray, measuring: IntArray) -> Scored:
    """Return the ten scores and their combination, learned from some people and taken of the others."""
    tables = [table(each) for each in (people.population, released, people.members, people.outsiders)]
    start = process_time()
    members, outsiders = score_people(
        released=tables[1],
        population=tables[0],
        people=tables[2:],
        columns=tables[1].column_names,
        rng=np.random.default_rng(1),
    )
    taught = [{name: score[learning] for name, score in each.items()} for each in (members, outsiders)]
    weighed = LearnedCombination.learned(*taught)
    found = [{name: score[measuring] for name, score in each.items()} for each in (members, outsiders)]
    for each in found:
        each["combined"] = weighed({name: each[name] for name in SCORES})
    return Scored(found[0], found[1], process_time() - start)


def theirs(people: Split, released: pl.DataFrame, measuring: IntArray) -> Scored | None:
    """Return the scores of the attacks in the package of DOMIAS, of the same people; None without it."""
    python = Path(os.environ.get("UNVEIL_DOMIAS", ROOT / ".venv-bench-domias" / "bin" / "python"))
    if not python.exists():
        return None
    with TemporaryDirectory() as home:
        parts = {"released": released, "population": people.population}
        parts |= {"members": people.members[measuring], "outsiders": people.outsiders[measuring]}
        for name, frame in parts.items():
            frame.write_csv(Path(home) / f"{name}.csv")
        command = [str(python), "-W", "ignore", str(Path(__file__).parent / "domias_peer.py"), home]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    scores = {name: np.array(answer["scores"][name]) for name in PEERS if name in answer["scores"]}
    members, outsiders = ({name: score[part] for name, score in scores.items()} for part in _halves(measuring.size))
    return Scored(members, outsiders, float(answer["seconds"]))


def _halves(size: int) -> tuple[slice, slice]:
    return slice(None, size), slice(size, None)


def lines(without: str | None, seed: int) -> Iterator[dict[str, Any]]:
    """Yield what each attack reaches on each release."""
    adult = folder()
    if adult is None:
        print("UNVEIL_DATA names no folder with adult/train.csv.gz: membership is left out\n")
        return
    people = split(adult, without, np.random.default_rng([seed, 0]))
    lot = np.random.default_rng([seed, 1]).permutation(SCORED)
    learning, measuring = np.sort(lot[: SCORED // 3]), np.sort(lot[SCORED // 3 :])
    for place, (name, make) in enumerate(RELEASES.items()):
        released = make(people, np.random.default_rng([seed, 2, place]))
        mine, peers = ours(people, released, learning, measuring), theirs(people, released, measuring)
        for who, scored in {"unveil": mine, **({"domias 0.0.5": peers} if peers else {})}.items():
            for score in scored.members:
                both = scored.members[score], scored.outsiders[score]
                yield {
                    "release": name,
                    "who": who,
                    "attack": score,
                    "area": area_under_curve(*both),
                    "called": [called_at(*both, level) for level in LEVELS],
                    "named": float(pointed_out(*both).mean()),
                    "seconds": scored.seconds,
                }


def report(without: str | None = None, seed: int = 1) -> None:
    """Print what each attack reaches, with the time that all of one package took together."""
    print("| release | who | attack | area (95 %) | at 0.1 / 1 / 5 % | named with 5 % error | CPU seconds of all |")
    print("|---|---|---|---|---|---:|---:|")
    for line in lines(without, seed):
        rates = " / ".join(_short(rate) for rate in line["called"])
        area: Rate = line["area"]
        print(
            f"| {line['release']} | {line['who']} | {line['attack']} | {area.value:.3f} ({area.low:.3f} to "
            f"{area.high:.3f}) | {rates} | {line['named']:.3f} | {line['seconds']:.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", metavar="COLUMN", help="leave this column out of all tables")
    parser.add_argument("--seed", type=int, default=1)
    report(**vars(parser.parse_args()))


def _short(rate: Rate) -> str:
    return f"{rate.value:.3f}" if rate.defined else "–"


if __name__ == "__main__":
    main()
