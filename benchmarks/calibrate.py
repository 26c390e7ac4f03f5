"""How often are harmless releases accused, and planted leaks found? ``make calibrate`` runs this, or goes on with it.

Each audit is one line of a results file, known by its case and its seed, so that a run may be stopped and started
again, and several runs may share the work by their seeds. People are drawn from one large table: those in the data,
those of the control, and, because a harmless release is made without looking at the data, a third lot, who are
released, or to whom a generator is fitted. ``JUDGES`` says how an audit is judged: by figures of this file, by a whole
audit, or by the command line on files, kinds of columns being guessed; each returns what one line holds.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import polars as pl
from scipy.special import bdtr

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.permutations import agreeing_cells
from unveil._kernels.verdict.tree import equal_parts, tree_of_columns
from unveil.metrics.trials.risk import clopper_pearson, excess
from unveil.metrics.verdict.family import LEVEL, FigureToJudge, OwnDraws, judge, singling_out_statistic
from unveil.metrics.verdict.pool import Pool

Line = dict[str, object]
Tables = tuple[IntArray, IntArray, IntArray]
GUESSES = 300
#: Columns with which some 2 % of strangers equal somebody among 1,000 people.
ADULT = (
    "age",
    "type_employer",
    "education",
    "marital",
    "occupation",
    "relationship",
    "race",
    "sex",
    "hr_per_week",
    "income",
)
ACS = ("AGEP", "SEX", "RAC1P", "PUMA", "EDU", "PINCP_DECILE", "INDP_CAT", "MSP", "NOC", "OWN_RENT")


@dataclass(frozen=True)
class Case:
    """So many people in the data and in the control, how the release is made, and the share of them who leak into it.

    ``made`` of a third lot, who are strangers to both: these people as they are ("fresh"), each column drawn apart
    ("columns"), or by a tree of columns ("tree"); ``fitted`` to the people in the data it is no longer harmless.
    ``moved`` columns of those who leak are moved by one step, up or down by lot.
    """

    members: int
    others: int
    leaked: float = 0.0
    moved: int = 0
    made: Literal["fresh", "columns", "tree"] = "fresh"
    fitted: bool = False

    @property
    def name(self) -> str:
        """How its lines are known."""
        made = "" if self.made == "fresh" else f" {self.made}{' of the data' if self.fitted else ''}"
        return f"{self.members}/{self.others} leaked {self.leaked:g} moved {self.moved}{made}"


@dataclass(frozen=True)
class Coded:
    """A table as codes at [row, column] that keep the order of values, with these values and which are numbers."""

    names: tuple[str, ...]
    codes: IntArray
    values: tuple[pl.Series, ...]
    numbers: BoolArray

    def frame(self, codes: IntArray) -> pl.DataFrame:
        """Return rows of codes as they were read; a code beyond the last value is the last."""
        columns = zip(self.values, codes.T, strict=True)
        return pl.DataFrame([values[np.clip(column, 0, len(values) - 1).tolist()] for values, column in columns])


HARMLESS = tuple(Case(*sizes) for sizes in ((300, 300), (400, 130), (600, 200), (1000, 60), (1000, 1000)))
PLANTED = tuple(Case(600, 600, leaked, moved) for leaked, moved in ((0.02, 0), (0.03, 0), (0.1, 2)))
SMALL = (Case(200, 200), Case(300, 100), Case(200, 200, 0.05), Case(200, 200, 0.1))
#: Files that nobody made for this: harmless ones of several sizes, generators apart.
FILES = (
    *(Case(300, 300, made=made) for made in ("fresh", "columns", "tree")),
    Case(600, 200),
    Case(1000, 1000),
    Case(2000, 500),
    *(Case(300, 300, made=made, fitted=True) for made in ("columns", "tree")),
    *PLANTED,
)


def adult(folder: Path) -> Coded:
    """Return ten columns of Adult."""
    parts = [
        pl.read_csv(folder / "adult" / f"{name}.csv.gz", infer_schema_length=None) for name in ("train", "control")
    ]
    return coded(pl.concat(parts, how="vertical_relaxed"), ADULT)


def acs(folder: Path) -> Coded:
    """Return ten columns of census records of the United States."""
    return coded(pl.read_csv(folder / "acs" / "national2019.csv.gz", infer_schema_length=None), ACS)


def sample(_: Path) -> Coded:
    """Return the columns of the sample inside the package."""
    from unveil.data import samples

    return coded(pl.read_csv(Path(samples.__file__).parent / "anes96.csv"))


def coded(frame: pl.DataFrame, names: Sequence[str] = ()) -> Coded:
    """Return the codes of these columns, or of all."""
    columns = [frame[name] for name in names or frame.columns]
    values = tuple(column.unique().sort() for column in columns)
    # A missing value is the lowest.
    ranks = [column.rank("dense").cast(pl.Int64) - int(not column.null_count()) for column in columns]
    codes = [column.fill_null(0).to_numpy() for column in ranks]
    numbers = np.array([column.dtype.is_numeric() for column in columns])
    return Coded(tuple(column.name for column in columns), np.column_stack(codes), values, numbers)


def generated(people: IntArray, numbers: BoolArray, made: str, rng: np.random.Generator) -> IntArray:
    """Return as many rows as a generator fitted to these people makes of them."""
    if made == "fresh":
        return people.copy()
    rows, columns = people.shape
    levels = (people + 1).astype(np.int32)
    levels[:, numbers] = np.column_stack([equal_parts(column) for column in levels[:, numbers].T])
    parent = tree_of_columns(levels) if made == "tree" else np.full(columns, -1)
    #: The person each cell is taken from: somebody who is like the row in the column that this one depends on.
    whose = np.full((rows, columns), -1)
    waiting = list(range(columns))
    while waiting:
        column = next(each for each in waiting if parent[each] not in waiting)
        waiting.remove(column)
        if parent[column] < 0:
            whose[:, column] = rng.integers(0, rows, rows)
            continue
        level = levels[:, parent[column]]
        wanted = level[whose[:, parent[column]]]
        for each in np.unique(wanted):
            here = np.flatnonzero(wanted == each)
            whose[here, column] = rng.choice(np.flatnonzero(level == each), here.size)
    return np.take_along_axis(people, whose, axis=0)


def drawn(table: IntArray, numbers: BoolArray, case: Case, rng: np.random.Generator) -> Tables:
    """Return original, control and released rows."""
    rows = rng.permutation(len(table))[: 2 * case.members + case.others]
    original, control, strangers = np.split(table[rows], [case.members, case.members + case.others])
    released = generated(original if case.fitted else strangers, numbers, case.made, rng)
    copied = rng.permutation(case.members)[: round(case.leaked * case.members)]
    released[: copied.size] = original[copied]
    for column in rng.permutation(np.flatnonzero(numbers))[: case.moved]:
        released[: copied.size, column] += rng.choice([-1, 1], copied.size)
    return original, control, released[rng.permutation(case.members)]


def distances(one: IntArray, other: IntArray, numbers: BoolArray, span: FloatArray) -> FloatArray:
    """Return at [row, other row] the sum over columns of the difference, 1 being the most."""
    far = np.zeros((len(one), len(other)))
    for column, is_number in enumerate(numbers):
        off = one[:, column, None] - other[None, :, column]
        far += np.abs(off) / span[column] if is_number else off != 0
    return far.round(9)


def lowest(values: FloatArray, part: float) -> FloatArray:
    """Return who is among this share of people with the lowest values, ties sharing what is left equally."""
    places = part * values.size
    edge = np.sort(values)[max(int(np.ceil(places)) - 1, 0)]
    below, ties = values < edge, values == edge
    return np.asarray(below + ties * (places - below.sum()) / ties.sum(), np.float64)


def scores(pool: IntArray, released: IntArray, numbers: BoolArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield what each attack scores on each person of the pool, from the release and the whole pool alone."""
    everything = np.concatenate([pool, released])
    span = np.maximum(np.ptp(everything, axis=0), 1).astype(np.float64)
    near = distances(pool, released, numbers, span).min(axis=1)
    within = distances(pool, pool, numbers, span)
    np.fill_diagonal(within, np.inf)
    beside = within.min(axis=1)
    yield "copies", (near == 0) * 1.0
    yield "copies_alone", ((near == 0) & (beside > 0)) * 1.0
    density = ((near + 0.02) / (beside + 0.02)).round(9)
    for part in (0.01, 0.05, 0.2):
        yield f"distance {part}", lowest(near, part)
        yield f"density {part}", lowest(density, part)
    yield "density rank", 1 - np.searchsorted(np.sort(density), density) / density.size
    columns = np.arange(numbers.size)
    for secret in range(3):
        known = columns != secret
        far = distances(pool[:, known], released[:, known], numbers[known], span[known])
        nearest = far == far.min(axis=1, keepdims=True)
        right = nearest & (pool[:, secret, None] == released[None, :, secret])
        yield f"inference {secret}", right.sum(axis=1) / nearest.sum(axis=1)
    for split in (columns % 2 == 0, columns < numbers.size // 2):
        halves = [distances(pool[:, by], released[:, by], numbers[by], span[by]) for by in (split, ~split)]
        nearest, also = (far == far.min(axis=1, keepdims=True) for far in halves)
        yield f"linkability {split.nonzero()[0].tolist()}", (nearest & also).any(axis=1) * 1.0


def fitted(pool: IntArray, released: IntArray, width: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return whom guesses of so many cells of released rows fit: where each begins, and the rows of the pool."""
    fits = []
    for row in released[rng.integers(0, len(released), GUESSES)]:
        by = rng.choice(pool.shape[1], width, replace=False)
        fits.append(np.flatnonzero((pool[:, by] == row[by]).all(axis=1)))
    return np.cumsum([0, *map(len, fits)]), np.concatenate(fits)


def by_kernels(tables: Tables, table: Coded, seed: int) -> Line:
    """Judge by the figures of this file and the family of the library."""
    original, control, released = tables
    rng = np.random.default_rng([seed, 1])
    people = np.concatenate([original, control])
    pool = Pool(
        is_member=np.arange(len(people)) < len(original),
        contents=np.unique(people, axis=0, return_inverse=True)[1].ravel(),
    )
    figures = [
        FigureToJudge(name=name, statistic=score, tries=len(original), control_tries=len(control))
        for name, score in scores(people, released, table.numbers)
    ]
    for width in (2, 3, 4):
        statistic = singling_out_statistic(pool, *fitted(people, released, width, rng))
        figures.append(
            FigureToJudge(name=f"singling_out {width}", statistic=statistic, tries=GUESSES, control_tries=GUESSES)
        )
    order = OwnDraws(partial(agreeing_cells, original, released, {}))
    figures.append(FigureToJudge(name="row_order", statistic=order, tries=len(original)))
    family = judge(figures, {"people": pool}, rng=rng, draws=999)
    return {
        "figures": family.judged,
        "least_p": min(one.p for one in family.judgements),
        "least_adjusted": min(one.adjusted for one in family.judgements),
        "found": [one.name for one in family.found],
    }


def by_audit(tables: Tables, table: Coded, seed: int) -> Line:
    """Judge by a whole audit that is told the kinds of columns; unmistakable copies are what it says of them."""
    from benchmarks.audit_decision import decision

    original, control, released = map(table.frame, tables)
    told = {name: "number" if number else "category" for name, number in zip(table.names, table.numbers, strict=True)}
    decided = decision(original, released, control, seed=seed, kinds=told, quasi_identifiers=list(told))
    return _line(json.loads(decided.answer.to_json()))


def by_command(tables: Tables, table: Coded, seed: int) -> Line:
    """Judge by the command line, as anybody would ask it about three files.

    It is called inside this process, and without what bears on no verdict: both change nothing but the time.
    """
    from click.testing import CliRunner

    from unveil.cli import main as command
    from unveil.questions.audit.attacks import ATTACKS

    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.csv" for name in ("original", "control", "released")]
        for file, codes in zip(files, tables, strict=True):
            table.frame(codes).write_csv(file)
        asked = ["audit", str(files[0]), str(files[2]), "--control", str(files[1]), "--release-type", "synthetic"]
        asked += ["--threshold", "0.09", "--attacks", ",".join(ATTACKS), "--seed", str(seed), "--json"]
        answered = CliRunner().invoke(command, asked, catch_exceptions=False)
        return _line(json.loads(answered.stdout))


def _line(said: dict[str, Any]) -> Line:
    """Return what is kept of an audit in JSON."""
    verdict, decision = said["tests"], said["decision"]
    (release,) = verdict["releases"]
    judged = [each for each in release["tests"] if each["p"] is not None]
    found = [each for each in judged if each["p_adjusted"] <= LEVEL]
    effects = [each["normalized_excess"]["value"] for each in found if each["normalized_excess"]]
    return {
        "level": decision["level"],
        "decision": decision["decision"],
        "figures": verdict["tests"],
        "least_p": min((each["p"] for each in judged), default=1.0),
        "least_adjusted": min((each["p_adjusted"] for each in judged), default=1.0),
        "found": [" ".join(each[key] or "" for key in ("attack", "attacker", "sensitive", "group")) for each in found],
        "effect": max((each for each in effects if each is not None), default=None),
        "control": verdict["control"]["outcome"],
        "unmistakable": (release["copies"] or {}).get("unmistakable", 0),
    }


JUDGES: dict[str, Callable[[Tables, Coded, int], Line]] = {
    "kernels": by_kernels,
    "audit": by_audit,
    "command": by_command,
}
TABLES: dict[str, tuple[Callable[[Path], Coded], tuple[Case, ...]]] = {
    "adult": (adult, HARMLESS + PLANTED),
    "acs": (acs, FILES),
    "sample": (sample, SMALL),
}


def summary(lines: list[Line]) -> str:
    """Return how many audits of each case were accused, by which rule, as a table."""
    rows = [
        "| table, case | audits | any figure at 5 % | Bonferroni at 5 % | min-p at 5 % | at 4.5 % | or copies | "
        "95 % interval | levels | decisions |",
        "|---|---:|---:|---:|---:|---:|---:|---|---|---|",
    ]
    for name in dict.fromkeys(str(line["case"]) for line in lines):
        case = [line for line in lines if line["case"] == name]
        p, adjusted, figures = (
            np.array([line[key] for line in case]) for key in ("least_p", "least_adjusted", "figures")
        )
        copies = np.array([bool(line.get("unmistakable")) for line in case])
        found = adjusted <= LEVEL
        rules = (p <= 0.05, p * figures <= 0.05, adjusted <= 0.05, found, found | copies)
        accused = clopper_pearson(int(rules[-1].sum()), len(case))
        cells = " | ".join(str(int(rule.sum())) for rule in rules)
        counted = " | ".join(counts_of(case, key) for key in ("level", "decision"))
        rows.append(f"| {name} | {len(case)} | {cells} | {accused.low:.1%} to {accused.high:.1%} | {counted} |")
    return "\n".join(rows)


def counts_of(lines: Sequence[Line], key: str) -> str:
    """Return how many lines have each value, the most frequent first; lines without one do not count.

    >>> counts_of([{"level": "low"}, {"level": "high"}, {"level": "low"}, {}], "level")
    'low 2, high 1'
    """
    values = Counter(str(line[key]) for line in lines if line.get(key) is not None)
    return ", ".join(f"{value} {number}" for value, number in values.most_common())


def coverage(members: int, others: int, step: float = 0.0125) -> tuple[float, float]:
    """Return the least probability that the interval of the excess holds it, and the greatest that it lies above.

    Over all outcomes, for control rates and excesses on a grid from 0 to 0.95; outcomes without an excess do not count.
    """
    attack, control = ([clopper_pearson(hits, tries) for hits in range(tries + 1)] for tries in (members, others))
    found = [[excess(one, other) for other in control[:-1]] for one in attack]
    low, high = (np.array([[getattr(each, end) for each in row] for row in found]) for end in ("low", "high"))
    least, most = 1.0, 0.0
    for rate, truth in product(np.arange(0, 0.95 + step / 2, step), repeat=2):
        outside = binomial(others, rate)[:-1]
        likely = binomial(members, 1 - (1 - truth) * (1 - rate))
        held, above = (low - 1e-12 <= truth) & (truth <= high + 1e-12), low - 1e-12 > truth
        least = min(least, float(likely @ held @ outside / outside.sum()))
        most = max(most, float(likely @ above @ outside / outside.sum()))
    return least, most


def binomial(tries: int, rate: float) -> FloatArray:
    """Return the probability of each number of hits."""
    hits = np.arange(tries + 1)
    return np.diff(bdtr(hits, tries, rate), prepend=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=TABLES, default="sample")
    parser.add_argument("--judge", choices=JUDGES, default="kernels")
    parser.add_argument("--case", default="", metavar="TEXT", help="only cases whose name holds this")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 100), metavar=("FIRST", "BEYOND"))
    parser.add_argument("--results", type=Path, default=Path("unveil-calibration.jsonl"))
    parser.add_argument(
        "--coverage", type=int, nargs=2, metavar=("MEMBERS", "OTHERS"), help="of the excess, nothing else"
    )
    told = parser.parse_args()
    if told.coverage:
        print("least coverage {:.4f}, wholly above the truth at most {:.4f}".format(*coverage(*told.coverage)))
        return
    read, cases = TABLES[told.table]
    if told.table != "sample" and "UNVEIL_DATA" not in os.environ:
        parser.error("set UNVEIL_DATA to the folder that holds adult/, or take --table sample")
    table = read(Path(os.environ.get("UNVEIL_DATA", ".")))
    lines = [json.loads(line) for line in told.results.read_text().splitlines()] if told.results.exists() else []
    done = {(line["case"], line["seed"]) for line in lines}
    with told.results.open("a") as results:
        for seed in range(*told.seeds):
            for place, case in enumerate(cases):
                key = f"{told.table} by {told.judge} {case.name}"
                if (key, seed) in done or told.case not in case.name:
                    continue
                tables = drawn(table.codes, table.numbers, case, np.random.default_rng([seed, 0, place]))
                line = {"case": key, "seed": seed, **JUDGES[told.judge](tables, table, seed)}
                lines.append(line)
                results.write(json.dumps(line) + "\n")
                results.flush()
    print(summary(lines))


if __name__ == "__main__":
    main()
