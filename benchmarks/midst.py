"""Membership in releases of diffusion models: ten scores, siblings and boosting on the MIDST challenge.

    UNVEIL_DATA=... python -m benchmarks.midst --cv [--cache DIR] [--models 6]
    UNVEIL_DATA=... python -m benchmarks.midst --dev [--cache DIR]

Needs the MIDST files below the folder that UNVEIL_DATA names, and scikit-learn. ``--cv`` is a cross-validation over the
train models: 1,200 random members and non-members and 200 challenge points of each. Learners never see people of the
models on which they are measured. ``--dev`` teaches by all train models and looks at the dev models: do that once.
Intervals are from a bootstrap over models and points. ``--cache`` keeps distances and scores of the people. The second
set is `benchmarks.midst_second`.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl
from scipy.spatial import KDTree
from scipy.special import ndtri

from unveil._kernels.learners.boosting import Growth, boosted_scores
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks.table.membership_scores import SCORES, combine, score_people
from unveil.attacks.table.sibling_calibration import calibrate
from unveil.data.table import Table

CATEGORIES = ("trans_type", "operation", "k_symbol", "bank")
NUMBERS = ("trans_date", "amount", "balance", "account")
COLUMNS = (*NUMBERS, *CATEGORIES)
RANKS = (1, 3, 10)
TRAIN = range(1, 31)
#: Random members, and as many non-members, of each train model; people who show the population to the ten scores.
RANDOM, POPULATION = 600, 20_000
SIBLINGS = (1, 3, 10, 44)
FOLDS, DRAWS = 5, 400
HEAD = "| scores | learner | TPR at 10% FPR | TPR at 1% FPR | AUC | TPR at 10% FPR, challenge points |"
#: Added to a distance before its logarithm; that of people whose categories a release does not have.
FLOOR, NO_ROW = 1e-4, 10.0
BOOSTING = {
    "max_iter": 250,
    "learning_rate": 0.04,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 200,
    "l2_regularization": 10.0,
    "max_features": 0.4,
    "early_stopping": False,
}


@dataclass(frozen=True, eq=False)
class Points:
    """People who are scored: of which model, whether members, from the challenge, and which models saw them."""

    rows: pl.DataFrame
    model: IntArray
    member: BoolArray
    challenge: BoolArray
    seen: BoolArray

    def some(self, kept: BoolArray) -> "Points":
        """Return some of the people."""
        parts = self.model[kept], self.member[kept], self.challenge[kept], self.seen[kept]
        return Points(self.rows.filter(kept), *parts)


def releases(folder: Path) -> dict[int, pl.DataFrame]:
    """Return the release of each model."""
    files = sorted([*folder.glob("train-*.parquet"), *folder.glob("dev-*.parquet")])
    return {int(file.stem.split("-")[1]): pl.read_parquet(file).select(COLUMNS) for file in files}


def points(folder: Path, split: str, numbers: Sequence[int], rng: np.random.Generator) -> tuple[Points, pl.DataFrame]:
    """Return challenge points, random people of train models, and all transactions with the models that saw them."""
    everybody = pl.read_parquet(folder / "transactions.parquet")
    challenge = pl.read_parquet(folder / "challenge.parquet").filter(pl.col("split") == split)
    known = challenge.select(pl.col("trans_id").cast(pl.UInt32), "model", "member").join(
        everybody.select("trans_id", "trained_on"), on="trans_id", how="left", maintain_order="left"
    )
    parts = [challenge.select(COLUMNS)]
    model, member = [challenge["model"].to_numpy().astype(np.int64)], [challenge["member"].to_numpy() == 1]
    seen = [sees(known["trained_on"], numbers)]
    if split == "train":
        of_all = sees(everybody["trained_on"], numbers)
        for each in TRAIN:
            saw = of_all[:, numbers.index(each)]
            drawn = np.concatenate(
                [rng.choice(np.flatnonzero(saw == is_in), RANDOM, replace=False) for is_in in (True, False)]
            )
            parts.append(everybody[drawn].select(COLUMNS))
            model.append(np.full(drawn.size, each))
            member.append(saw[drawn])
            seen.append(of_all[drawn])
    rows = pl.concat([part.cast(pl.Float64) for part in parts])
    found = Points(
        rows,
        np.concatenate(model),
        np.concatenate(member),
        np.arange(rows.height) < challenge.height,
        np.concatenate(seen),
    )
    return found, everybody


def sees(trained_on: pl.Series, numbers: Sequence[int]) -> BoolArray:
    """Return which models saw each transaction; nothing is known of dev models."""
    lists = trained_on.to_frame("models").with_row_index("row").explode("models").drop_nulls()
    seen = np.zeros((trained_on.len(), len(numbers)), bool)
    place = {number: at for at, number in enumerate(numbers)}
    seen[lists["row"].to_numpy(), [place[each] for each in lists["models"].to_list()]] = True
    return seen


# Three scalings of numbers, made from the people who are scored and used for all releases.


def scalings(people: pl.DataFrame) -> dict[str, tuple[Callable[[pl.DataFrame], FloatArray], float]]:
    """Return how the numbers of a table are scaled, and the norm of their distances, by name."""
    numbers = people.select(NUMBERS).to_numpy()
    ascending, low, high = np.sort(numbers, axis=0), numbers.min(axis=0), numbers.max(axis=0)

    def normal(table: pl.DataFrame) -> FloatArray:
        columns = []
        for column, place in zip(table.select(NUMBERS).to_numpy().T, ascending.T, strict=True):
            values, first = np.unique(place, return_index=True)
            middle = (first + np.append(first[1:], place.size)) / 2 / place.size
            share = np.interp(column, values, middle)
            columns.append(ndtri(np.clip(share, 1e-4, 1 - 1e-4)))
        return np.column_stack(columns)

    def logs(table: pl.DataFrame) -> FloatArray:
        raw = table.select(NUMBERS).to_numpy().astype(np.float64)
        raw[:, 1:] = np.sign(raw[:, 1:]) * np.log1p(np.abs(raw[:, 1:]))
        return raw / spread

    spread = np.ones(len(NUMBERS))
    spread = logs(people).std(axis=0)
    return {
        "normal": (normal, 2.0),
        "log": (logs, 2.0),
        "range": (lambda table: (table.select(NUMBERS).to_numpy() - low) / (high - low), 1.0),
    }


def log_distances(
    released: Mapping[int, pl.DataFrame],
    people: pl.DataFrame,
    scale: Callable[[pl.DataFrame], FloatArray],
    norm: float,
) -> FloatArray:
    """Return minus the log distances to the 1st, 3rd and 10th nearest row with equal categories.

    The result has the shape (people, models, ranks).
    """
    wanted = scale(people)
    own = groups(people)
    found = np.full((people.height, len(released), len(RANKS)), -np.log(NO_ROW))
    for place, table in enumerate(released.values()):
        rows, theirs = scale(table), groups(table)
        for key, members in own.items():
            near = theirs.get(key)
            if near is None:
                continue
            ranks = [min(rank, near.size) for rank in RANKS]
            distance = KDTree(rows[near]).query(wanted[members], ranks, p=norm)[0]
            found[members, place] = -np.log(distance + FLOOR)
    return found


def groups(table: pl.DataFrame) -> dict[tuple[int, ...], IntArray]:
    """Return the rows of each combination of categories."""
    codes = table.select(pl.col(CATEGORIES).cast(pl.Int64)).to_numpy()
    kinds, number = np.unique(codes, axis=0, return_inverse=True)
    order = np.argsort(number.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(number.reshape(-1)))[:-1]
    return dict(zip(map(tuple, kinds.tolist()), np.split(order, ends), strict=True))


def ten_scores(
    released: Mapping[int, pl.DataFrame], people: Points, everybody: pl.DataFrame, rng: np.random.Generator
) -> FloatArray:
    """Return the ten scores of each person against the own release."""
    kinds = {**dict.fromkeys(NUMBERS, "number"), **dict.fromkeys(CATEGORIES, "category")}

    def table(frame: pl.DataFrame) -> Table:
        cast = frame.select(pl.col(NUMBERS).cast(pl.Float64), pl.col(CATEGORIES).cast(pl.Int64).cast(pl.String))
        return Table.from_frame(cast, kinds=kinds)

    found = np.empty((people.model.size, len(SCORES)))
    for model in np.unique(people.model).tolist():
        mine = people.model == model
        rows = people.rows.filter(mine)
        # Nobody who is scored shows the population.
        others = everybody.filter(~pl.col("trained_on").list.contains(model))
        others = (
            others.sample(min(POPULATION, others.height), seed=int(rng.integers(2**31)))
            .select(pl.col(COLUMNS).cast(pl.Float64))
            .join(rows, on=COLUMNS, how="anti")
        )
        (scores,) = score_people(
            released=table(released[model]), population=table(others), people=[table(rows)], columns=COLUMNS, rng=rng
        )
        found[mine] = np.column_stack([scores[name] for name in SCORES])
    return found


def sibling_features(near: Sequence[FloatArray], people: Points, numbers: Sequence[int], siblings: int) -> FloatArray:
    """Return difference, z, -log p and sibling mean of each scaling and rank."""
    place = np.array([numbers.index(each) for each in people.model.tolist()])
    row = np.arange(place.size)
    seen = people.seen.copy()
    seen[row, place] = True
    columns = []
    for distances in near:
        for rank in range(len(RANKS)):
            own = distances[row, place, rank].astype(np.float64)
            # The same siblings for every scaling and rank.
            found = calibrate(
                own, distances[:, :, rank], seen=seen, number=siblings, rng=np.random.default_rng(siblings)
            )
            columns += [found.difference, np.nan_to_num(found.z), -np.log(found.p), own - found.difference]
    return np.column_stack(columns)


# Learners: each returns the score of the people who are measured.
Learner = Callable[[FloatArray, BoolArray, FloatArray], FloatArray]


def logistic(inside: FloatArray, member: BoolArray, measured: FloatArray) -> FloatArray:
    """Return the score of the product's combination: places among non-members, and a logistic regression."""
    return combine(inside[member], inside[~member]).score(measured)


def boosting(inside: FloatArray, member: BoolArray, measured: FloatArray) -> FloatArray:
    """Return the sum of two seeds of scikit-learn's boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    made = [HistGradientBoostingClassifier(**BOOSTING, random_state=seed).fit(inside, member) for seed in (0, 1)]
    return np.asarray(sum(each.decision_function(measured) for each in made))


def own_boosting(inside: FloatArray, member: BoolArray, measured: FloatArray) -> FloatArray:
    """Return the score of the product's boosting on 255 bins."""
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, 256)[1:-1])) for column in inside.T]

    def bins(values: FloatArray) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
        return np.array([np.searchsorted(edge, column) for edge, column in zip(edges, values.T, strict=True)], np.uint8)

    growth = Growth(rounds=BOOSTING["max_iter"], leaves=BOOSTING["max_leaf_nodes"], rate=BOOSTING["learning_rate"])  # type: ignore[arg-type]
    scores = boosted_scores(
        bins(inside), np.zeros(inside.shape[1], bool), member.astype(np.int64), bins(measured), growth
    )
    return scores[:, 1] - scores[:, 0]


def cross_validated(learner: Learner, table: FloatArray, people: Points) -> FloatArray:
    """Return the score of each person by a learner that saw other models only."""
    models = np.unique(people.model)
    fold = np.random.default_rng(0).permutation(models.size) % FOLDS
    scores = np.empty(people.model.size)
    for each in range(FOLDS):
        out = np.isin(people.model, models[fold == each])
        scores[out] = learner(table[~out], people.member[~out], table[out])
    return scores


def curve(scores: FloatArray, member: BoolArray, weight: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the TPR and the FPR behind each different score, highest first; people may be weighted."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    weight = np.ones(scores.size) if weight is None else weight
    inside, outside = (np.cumsum((weight * some)[order])[ends] for some in (member, ~member))
    return inside / inside[-1], outside / outside[-1]


def measures(inside: FloatArray, outside: FloatArray) -> tuple[float, float, float]:
    """Return the official score (largest TPR with an FPR below 10 %), TPR at 1 % FPR, and AUC.

    >>> measures(*curve(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False])))
    (0.5, 0.5, 0.875)
    """
    low, more = (float(inside[outside < level].max(initial=0.0)) for level in (0.01, 0.1))
    area = np.trapezoid(np.append(0.0, inside), np.append(0.0, outside))
    return more, low, float(area)


def drawn_weights(model: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return how often each person is drawn: models with replacement, and people of each with replacement."""
    rows = [np.flatnonzero(model == each) for each in np.unique(model)]
    weight = np.zeros(model.size)
    for each in rng.integers(0, len(rows), len(rows)):
        some = rows[each]
        weight[some] += np.bincount(rng.integers(0, some.size, some.size), minlength=some.size)
    return weight


def with_intervals(scores: FloatArray, people: Points) -> list[str]:
    """Return the three measures with intervals over models and points."""
    rng = np.random.default_rng(1)
    # Sorted once: equal orders in all draws.
    order = np.argsort(-scores, kind="stable")
    scores, member, model = scores[order], people.member[order], people.model[order]
    drawn = [measures(*curve(scores, member, drawn_weights(model, rng))) for _ in range(DRAWS)]
    ends = np.quantile(drawn, [0.025, 0.975], axis=0).T
    values = measures(*curve(scores, member))
    return [f"{value:.3f} ({low:.3f}-{high:.3f})" for value, (low, high) in zip(values, ends, strict=True)]


def line(name: str, scores: FloatArray, people: Points) -> str:
    """Return the measures on all points, and the official score on challenge points alone."""
    only = people.challenge
    alone = with_intervals(scores[only], people.some(only))[0]
    return f"| {name} | {' | '.join(with_intervals(scores, people))} | {alone} |"


def prepared(
    folder: Path, split: str, cache: Path | None, models: int | None
) -> tuple[Points, list[FloatArray], FloatArray, list[int]]:
    """Return the people, their distances to all releases in each scaling, and their ten scores."""
    released = releases(folder)
    numbers = list(released)
    people, everybody = points(folder, split, numbers, np.random.default_rng(0))
    if models is not None:
        people = people.some(np.isin(people.model, np.unique(people.model)[:models]))
    file = None if cache is None else cache / f"midst-{split}-{models or 'all'}.npz"
    if file is not None and file.exists():
        kept = np.load(file)
        return people, [kept[name] for name in ("normal", "log", "range")], kept["ten"], numbers
    near = {}
    for name, (scale, norm) in scalings(
        everybody.select(pl.col(COLUMNS).cast(pl.Float64)).sample(50_000, seed=0)
    ).items():
        start = perf_counter()
        near[name] = log_distances(released, people.rows, scale, norm)
        print(
            f"{name}: {people.model.size:,} people, {len(released)} releases, {perf_counter() - start:.0f} s",
            flush=True,
        )
    start = perf_counter()
    ten = ten_scores(released, people, everybody, np.random.default_rng(2))
    print(f"ten scores in {perf_counter() - start:.0f} s", flush=True)
    if file is not None:
        np.savez(file, allow_pickle=False, ten=ten, **near)
    return people, list(near.values()), ten, numbers


def compare(people: Points, near: Sequence[FloatArray], ten: FloatArray, numbers: Sequence[int]) -> None:
    """Print the cross-validation."""
    models = np.unique(people.model).size
    print(f"{people.model.size:,} people of {models} models, {FOLDS} folds of models; intervals over models")
    print(HEAD)
    print("|---|---|---|---|---|---|")
    place = np.array([numbers.index(each) for each in people.model.tolist()])
    own = near[0][np.arange(place.size), place, 0].astype(np.float64)
    print(line("own distance, one scaling | none", own, people), flush=True)
    by_number = {each: sibling_features(near, people, numbers, each) for each in numbers_of_siblings(people, numbers)}
    for number, table in by_number.items():
        print(line(f"difference, {number} siblings, one scaling | none", table[:, 0], people), flush=True)
    print(line("ten | logistic", cross_validated(logistic, ten, people), people), flush=True)
    print(line("ten | boosting", cross_validated(boosting, ten, people), people), flush=True)
    for number, table in by_number.items():
        print(
            line(f"distances, {number} siblings | logistic", cross_validated(logistic, table, people), people),
            flush=True,
        )
    siblings, most = list(by_number.items())[-1]
    print(
        line(f"distances, {siblings} siblings | boosting", cross_validated(boosting, most, people), people), flush=True
    )
    both = np.column_stack([ten, most])
    print(line(f"ten + {siblings} siblings | logistic", cross_validated(logistic, both, people), people), flush=True)
    print(line(f"ten + {siblings} siblings | boosting", cross_validated(boosting, both, people), people), flush=True)
    print(
        line(f"ten + {siblings} siblings | own boosting", cross_validated(own_boosting, both, people), people),
        flush=True,
    )


def numbers_of_siblings(people: Points, numbers: Sequence[int]) -> list[int]:
    """Return the numbers of siblings to compare: no more than did not see the person who was seen most."""
    own = np.array([numbers.index(each) for each in people.model.tolist()])
    seen = people.seen.copy()
    seen[np.arange(own.size), own] = True
    most = int((~seen).sum(axis=1).min())
    return [min(each, most) for each in SIBLINGS]


def main() -> None:
    """Run the cross-validation, or look at the dev models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cv", action="store_true", help="cross-validation over the train models")
    parser.add_argument("--dev", action="store_true", help="teach by all train models and measure on dev, once")
    parser.add_argument("--cache", type=Path, help="folder for distances and scores")
    parser.add_argument("--models", type=int, help="only the first models of train")
    asked = parser.parse_args()
    folder = Path(os.environ["UNVEIL_DATA"]) / "midst"
    if asked.cv:
        compare(*prepared(folder, "train", asked.cache, asked.models))
    if asked.dev:
        people, near, ten, numbers = prepared(folder, "train", asked.cache, None)
        measured, far, scores, _ = prepared(folder, "dev", asked.cache, None)
        siblings = min(numbers_of_siblings(each, numbers)[-1] for each in (people, measured))
        inside, outside = (
            np.column_stack([own, sibling_features(each, who, numbers, siblings)])
            for own, each, who in ((ten, near, people), (scores, far, measured))
        )
        print(HEAD)
        for name, learner in (("boosting", boosting), ("own boosting", own_boosting)):
            print(line(f"dev: ten + {siblings} siblings | {name}", learner(inside, people.member, outside), measured))


if __name__ == "__main__":
    main()
