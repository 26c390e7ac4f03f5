"""The figures of the partition paper: the numbers behind each picture are those of the definition."""

import csv
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.examples.scripts import run_script, start_script
from tests.oracles import unlinkability as paper
from tests.oracles.unlinkability_result import Overall
from tests.oracles.unlinkability_result import unlinkability as oracle
from unveil import Partition
from unveil.data.samples import path
from unveil.metrics.partitions.guessing import growing_partition, uniform_partition, walk_from

FOLDER = Path(__file__).parents[2] / "examples" / "partitions"
ALPHAS = ("0", "1/3", "1/2", "2/3", "1")


class Row(NamedTuple):
    x: float
    y: float
    undefined: float


Numbers = dict[tuple[str, str], list[Row]]


def run(name: str, folder: Path, *arguments: str) -> Numbers:
    """Run a script, and return the numbers behind its picture by panel and curve."""
    run_script(FOLDER / f"{name}.py", folder, "--numbers", *arguments)
    found: Numbers = {}
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            row = Row(float(line["x"]), float(line["y"]), float(line["undefined"]))
            found.setdefault((line["panel"], line["curve"]), []).append(row)
    return found


def overall_of(truth: Partition, guess: Partition, alpha: str) -> Overall:
    """Return the overall figures by definition."""
    share = [Fraction(alpha)] * truth.cluster_count
    threshold = [Fraction(4, 5)] * truth.cluster_count
    return oracle(truth.codes.tolist(), [(guess.codes.tolist(), Fraction(1))], alpha=share, beta=threshold).overall


def slope_of(overall: Overall, beta: str) -> float:
    return paper.risk_slope(overall.points, overall.alpha, Fraction(beta))


def mean_and_undefined(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if not math.isnan(value)]
    return mean(known) if known else math.nan, 1 - len(known) / len(values)


def assert_mean(row: Row, values: Sequence[float]) -> None:
    assert (row.y, row.undefined) == pytest.approx(mean_and_undefined(values), nan_ok=True)


def at(numbers: Numbers, panel: str, curve: str, x: float) -> Row:
    return next(row for row in numbers[panel, curve] if row.x == x)


def sample(name: str) -> Partition:
    with path(f"partition_{name}.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return Partition.from_labels([row["cluster"] for row in rows], items=[row["item"] for row in rows])


@pytest.fixture(scope="module")
def figure_4(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    return run("figure_4", tmp_path_factory.mktemp("figure_4"))


@pytest.mark.parametrize(("name", "beta", "printed"), [("careful", 0.9, 0.2320), ("bold", 0.7, 0.3503)])
def test_figure_4_has_the_risk_slopes_that_the_paper_prints(
    figure_4: Numbers, name: str, beta: float, printed: float
) -> None:
    (row,) = figure_4[f"{name} stars", "risk slope"]
    assert row.x == beta
    assert row.y == pytest.approx(printed, abs=5e-5)


@pytest.mark.parametrize("name", ["careful", "bold"])
def test_figure_4_draws_the_graphs_of_the_definition(figure_4: Numbers, name: str) -> None:
    truth, guess = sample("truth"), sample(f"guess_{name}")
    for alpha in ALPHAS:
        overall = overall_of(truth, guess.aligned_to(truth), alpha)
        if alpha != "1/2":
            for place, word in enumerate(["linked", "mixed"]):
                drawn = [row.y for row in figure_4[f"{name} overall", f"{word}, α = {alpha}"]]
                assert drawn == pytest.approx([float(point[place]) for point in overall.points])
        slopes = figure_4[f"{name} slope", f"α = {alpha}"]
        assert len(slopes) == 100
        for row in slopes:
            assert row.y == pytest.approx(slope_of(overall, str(row.x)), nan_ok=True)
            assert row.undefined == math.isnan(row.y)


def test_figure_4_is_quick_with_fewer_points_of_the_same_curves(figure_4: Numbers, tmp_path: Path) -> None:
    quick = run("figure_4", tmp_path, "--quick")
    assert quick.keys() == figure_4.keys()
    for key, rows in quick.items():
        assert len(rows) == (20 if key[0].endswith("slope") else len(figure_4[key]))
        for row in rows:
            assert row.y == pytest.approx(at(figure_4, *key, row.x).y, nan_ok=True)


@pytest.fixture(scope="module")
def figure_5(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    return run("figure_5", tmp_path_factory.mktemp("figure_5"), "--quick", "--runs", "12", "--seed", "7")


def entropy(labels: Sequence[object]) -> float:
    return -sum(k / len(labels) * math.log2(k / len(labels)) for k in Counter(labels).values())


def variation_of_information(truth: Partition, guess: Partition) -> float:
    a, b = truth.codes.tolist(), guess.codes.tolist()
    return 2 * entropy(list(zip(a, b, strict=True))) - entropy(a) - entropy(b)


def transfer_distance(truth: Partition, guess: Partition) -> int:
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((truth.cluster_count, guess.cluster_count), dtype=np.int64)
    np.add.at(shared, (truth.codes, guess.codes), 1)
    return truth.n - int(shared[linear_sum_assignment(shared, maximize=True)].sum())


@pytest.mark.parametrize("n", [10, 40])
def test_figure_5_averages_what_the_definition_gives(figure_5: Numbers, n: int) -> None:
    rng = np.random.default_rng([7, n])
    pairs = [(uniform_partition(n, rng=rng), uniform_partition(n, rng=rng)) for _ in range(12)]
    for alpha in ("1/3", "2/3"):
        overalls = [overall_of(*pair, alpha) for pair in pairs]
        for beta in ("0.7", "0.8"):
            row = at(figure_5, "slope", f"Δ, α = {alpha}, β = {beta}", n)
            assert_mean(row, [slope_of(overall, beta) for overall in overalls])
    voi = [variation_of_information(*pair) / math.log2(n) for pair in pairs]
    assert_mean(at(figure_5, "distance", "variation of information / log₂ n", n), voi)
    mtd = [transfer_distance(*pair) / (n - 1) for pair in pairs]
    assert_mean(at(figure_5, "distance", "minimal transfer distance / (n − 1)", n), mtd)


def test_figure_5_shows_how_many_runs_a_mean_leaves_out(figure_5: Numbers) -> None:
    curve = figure_5["slope", "Δ, α = 1/3, β = 0.7"]
    assert [row.x for row in curve] == [10, 40, 100]
    assert curve[0].undefined > curve[-1].undefined == 0


def test_a_seed_decides_every_number(tmp_path: Path, figure_5: Numbers) -> None:
    again = run("figure_5", tmp_path / "again", "--quick", "--runs", "12", "--seed", "7")
    other = run("figure_5", tmp_path / "other", "--quick", "--runs", "12", "--seed", "8")
    assert repr(again) == repr(figure_5)
    assert repr(other) != repr(figure_5)


@pytest.fixture(scope="module")
def figure_6(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    return run("figure_6", tmp_path_factory.mktemp("figure_6"), "--quick", "--runs", "3", "--seed", "5")


def test_figure_6_plots_walks_as_defined(figure_6: Numbers) -> None:
    rng = np.random.default_rng(5)
    truth = uniform_partition(200, rng=rng)
    walks = [walk_from(truth, steps, rng=rng) for steps in (10, 10, 10, 40, 40, 40, 100, 100, 100, 200, 200, 200)]
    distances = [variation_of_information(truth, guess) for guess in walks]
    for panel, curve, alpha, beta in [
        ("a", "truth: uniformly random", "3/4", "0.8"),
        ("b", "α = 1/4", "1/4", "0.8"),
        ("c", "β = 0.95", "3/4", "0.95"),
    ]:
        drawn = figure_6[panel, curve]
        assert [row.x for row in drawn] == pytest.approx(distances)
        slopes = [slope_of(overall_of(truth, guess, alpha), beta) for guess in walks]
        assert [row.y for row in drawn] == pytest.approx(slopes, nan_ok=True)
        assert_mean(at(figure_6, f"{panel} by length", curve, 100), slopes[6:9])


def test_figure_6_starts_where_everybody_is_breached(figure_6: Numbers) -> None:
    for curve in ("truth: uniformly random", "truth: one cluster"):
        shares = {row.x: row.undefined for row in figure_6["a by length", curve]}
        assert shares[10] == 1
        assert shares[100] == shares[200] == shares[400] == shares[800] == 0


@pytest.fixture(scope="module")
def figure_7(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    return run("figure_7", tmp_path_factory.mktemp("figure_7"), "--quick", "--runs", "15", "--seed", "3")


@pytest.mark.parametrize(("index", "kind"), [(0, "uniform"), (1, "non-uniform")])
def test_figure_7_averages_what_the_definition_gives(figure_7: Numbers, index: int, kind: str) -> None:
    generator = (uniform_partition, growing_partition)[index]
    for n in (10, 50):
        rng = np.random.default_rng([3, index, n])
        pairs = [(generator(n, rng=rng), generator(n, rng=rng)) for _ in range(15)]
        for alpha in ("0", "2/3"):
            overalls = [overall_of(*pair, alpha) for pair in pairs]
            curve = f"α = {alpha}"
            assert_mean(at(figure_7, f"{kind} miss", curve, n), [float(overall.miss) for overall in overalls])
            assert_mean(at(figure_7, f"{kind} include", curve, n), [float(overall.include) for overall in overalls])
            errors = [float(overall.normalized_error) for overall in overalls]
            assert_mean(at(figure_7, f"{kind} error", curve, n), errors)
            assert_mean(at(figure_7, f"{kind} slope", curve, n), [overall.risk_slope for overall in overalls])
            if n == 50:
                for row in figure_7[f"{kind} slope by beta", curve]:
                    assert_mean(row, [slope_of(overall, str(row.x)) for overall in overalls])


def test_figure_7_tells_the_two_experiments_apart(figure_7: Numbers) -> None:
    """Few large clusters start with less linked than many small ones, and depend less on alpha."""
    start = {kind: at(figure_7, f"{kind} linked0", "α = 1/2", 50).y for kind in ("uniform", "non-uniform")}
    assert start["uniform"] < 0.6 < start["non-uniform"]
    spread = {
        kind: at(figure_7, f"{kind} slope", "α = 1", 50).y - at(figure_7, f"{kind} slope", "α = 0", 50).y
        for kind in ("uniform", "non-uniform")
    }
    assert spread["uniform"] < spread["non-uniform"]


def test_no_run_is_no_experiment(tmp_path: Path, approved: Approved) -> None:
    done = start_script(FOLDER / "figure_5.py", tmp_path, "--runs", "0")
    assert done.returncode == 2
    approved(done.stderr)
