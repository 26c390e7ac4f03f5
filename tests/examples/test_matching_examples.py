"""The figures of the thesis on matchings: the numbers behind each picture are those of the definition."""

import csv
import doctest
import importlib
import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest

from tests._kernels.matching.examples import FIGURE_2_4_B, FIGURE_2_4_C, FLAT, SUPPORT, TRUTH, UNEVEN
from tests.approved.sentences import Approved
from tests.examples.scripts import run_script, start_script
from tests.oracles import matchings as oracle
from unveil.guesses.matching import Matching
from unveil.metrics.matchings.cracks import cracks
from unveil.metrics.matchings.flatness import nmape

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "matchings"
NAMES = ("figure_2_4", "figure_4_1", "figure_4_2", "nmape_conjecture")

Rows = list[dict[str, Any]]
Written = tuple[Rows, str]


def run(name: str, folder: Path, *arguments: str) -> Written:
    """Run a script and return the numbers that it wrote, and what it said."""
    said = run_script(FOLDER / f"{name}.py", folder, *arguments)
    return table(folder / f"{name}.csv"), said


def table(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as lines:
        return [{key: number(cell) for key, cell in line.items()} for line in csv.DictReader(lines)]


def number(cell: str) -> float | str | None:
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell


def fractions(matrix: Any) -> list[list[Fraction]]:
    return [[Fraction(cell) for cell in row] for row in np.asarray(matrix).tolist()]


def oracle_nmape(matrix: Any) -> Fraction:
    """Return NMAPE by definition, for a matrix of fractions."""
    n, marginal = len(matrix), oracle.marginals(matrix)
    errors = [abs(sum(matrix[i][j] - marginal[i][j] for i, j in enumerate(truth))) for truth in permutations(range(n))]
    return 100 * sum(errors, Fraction(0)) / len(errors) / n


def module(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a script as a module, whose neighbours are found as when it is run."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module(name)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_there_and_small(name: str) -> None:
    assert 0 < (FOLDER / f"{name}.png").stat().st_size < 150_000
    assert f"({name}.png)" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["matching_figures", *NAMES])
def test_examples_in_docstrings_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctest.testmod(module(name, monkeypatch)).failed == 0


def test_the_page_of_errata_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "research" / "thesis-errata.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 10
    assert named <= there
    assert all((ROOT / path).is_file() for path in re.findall(r"`(tests/[\w/]+\.py)`", page))


# --- Figure 2.4 -------------------------------------------------------------------------------------------------------


def graphs_by_definition(n: int) -> list[tuple[int, Fraction]]:
    """Return the permanent and expected cracks of every graph on ``n`` items that contains the truth."""
    free = [(i, j) for i in range(n) for j in range(n) if i != j]
    points = []
    for bits in product((0, 1), repeat=len(free)):
        matrix = np.eye(n, dtype=int)
        for (i, j), bit in zip(free, bits, strict=True):
            matrix[i, j] = bit
        found = [
            sum(i == j for i, j in enumerate(columns))
            for columns in permutations(range(n))
            if all(matrix[i, j] for i, j in enumerate(columns))
        ]
        points.append((len(found), Fraction(sum(found), len(found))))
    return points


def test_figure_2_4_counts_the_graphs_at_each_point(tmp_path: Path) -> None:
    rows, said = run("figure_2_4", tmp_path, "--small")
    counted = Counter(graphs_by_definition(4))
    drawn = {
        (int(row["permanent"]), Fraction(int(row["cracks_of_all_matchings"]), int(row["permanent"]))): row["graphs"]
        for row in rows
    }
    assert drawn == counted
    assert all(
        row["expected_cracks"] == pytest.approx(row["cracks_of_all_matchings"] / row["permanent"]) for row in rows
    )
    assert f"graphs 4096  distinct points {len(counted)}" in said


def test_figure_2_4_says_how_often_the_metrics_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("figure_2_4", monkeypatch)
    graphs = graphs_by_definition(3)
    cases: Counter[str] = Counter()
    for a, (permanent, expected) in enumerate(graphs):
        for other, cracked in graphs[:a] + graphs[a + 1 :]:
            if permanent == other or expected == cracked:
                both = permanent == other and expected == cracked
                one = "only_permanent_ties" if permanent == other else "only_cracks_tie"
                cases["both_tie" if both else one] += 1
            else:
                cases["agree" if (permanent > other) == (expected < cracked) else "disagree"] += 1
    shares = script.agreement(script.all_points(3))._asdict()
    assert shares == pytest.approx({name: cases[name] / (64 * 63) for name in shares}, abs=1e-12)


def test_figure_2_4_in_full_is_what_the_page_says(tmp_path: Path) -> None:
    rows, said = run("figure_2_4", tmp_path)
    assert rows == table(FOLDER / "figure_2_4.csv")
    assert (len(rows), sum(row["graphs"] for row in rows)) == (397, 2**20)
    assert "permanent 5 expected cracks from 1.8000 to 3.4000" in said
    assert "widest disagreement <4, 1.75> and <30, 1.8>" in said
    shares = {name: float(share) for name, share in re.findall(r"pairs (\w+) ([\d.]+)", said)}
    assert [round(100 * share, 1) for share in shares.values()] == [86.5, 7.1, 4.0, 0.9, 1.5]
    for name, fraction in (
        ("hospital permanent 18", "29/18"),
        ("2.4 (b) permanent 4", "7/4"),
        ("(c) permanent 7", "21/7"),
    ):
        assert f"{name} expected cracks {fraction}\n" in said
    assert [row["permanent"] for row in rows if row["expected_cracks"] <= 1] == [120]
    sizes = sorted((row["graphs"] for row in rows), reverse=True)
    assert (sizes[0], sizes[-1]) == (59830, 1)
    assert sum(sizes[:27]) < 2**19 <= sum(sizes[:28])


def test_figure_2_4_has_the_printed_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("figure_2_4", monkeypatch)
    assert [list(row) for row in script.MATRIX_B] == FIGURE_2_4_B
    assert [list(row) for row in script.MATRIX_C] == FIGURE_2_4_C


# --- Figures 3.3, 3.4 and 4.1 -----------------------------------------------------------------------------------------


def test_m1_as_printed_is_no_matching() -> None:
    printed = ["u", "z", "u", "x", "v"]
    assert len(set(printed)) < len(printed)
    # Whatever M1 was meant to be, Flu is u or v in no matching of positive weight.
    assert not [columns for columns in oracle.weights(FLAT) if columns[0] in (0, 1)]


def test_printed_fractions_are_roundings() -> None:
    total, weight = oracle.permanent(UNEVEN), oracle.weights(UNEVEN)
    assert total.limit_denominator(5361) == Fraction(326, 5361) != total
    for columns, printed in (
        ((2, 4, 3, 1, 0), Fraction(252, 991)),
        ((3, 2, 1, 0, 4), Fraction(815, 12277)),
        ((4, 3, 2, 0, 1), Fraction(79, 421189)),
    ):
        assert (weight[columns] / total).limit_denominator(printed.denominator) == printed != weight[columns] / total


def test_the_printed_metric_of_q_is_that_of_exchanged_tokens() -> None:
    # u→x, v→y, x→z, y→u, z→v, as numbers of columns: the exchange under which the printed M3 to M5 are right.
    exchange = [2, 3, 4, 0, 1]
    exchanged = [exchange[pseudonym] for pseudonym in TRUTH]
    assert exchanged == [4, 0, 1, 2, 3]
    found = oracle.expected_cracks(UNEVEN, exchanged)
    assert found == Fraction(95577825, 304047808)
    assert found.limit_denominator(4355) == Fraction(1369, 4355)
    assert UNEVEN[1][exchanged[1]] == 0
    assert oracle.expected_cracks(SUPPORT, exchanged) == Fraction(8, 9)
    assert oracle.expected_cracks(SUPPORT, TRUTH) == Fraction(13, 9)


@pytest.fixture(scope="module")
def figure_4_1(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return run("figure_4_1", tmp_path_factory.mktemp("figure_4_1"), "--small")


def test_figure_4_1_has_metric_and_heuristic_of_every_truth(figure_4_1: Written) -> None:
    rows, _ = figure_4_1
    marginal, weight, total = oracle.marginals(UNEVEN), oracle.weights(UNEVEN), oracle.permanent(UNEVEN)
    assert len({row["truth"] for row in rows}) == 120
    for row in rows:
        truth = tuple("uvxyz".index(pseudonym) for pseudonym in row["truth"].split())
        assert row["metric"] == pytest.approx(float(sum(marginal[i][j] for i, j in enumerate(truth))), rel=1e-9)
        assert row["heuristic"] == pytest.approx(float(sum(UNEVEN[i][j] for i, j in enumerate(truth))), rel=1e-9)
        assert row["chance"] == pytest.approx(float(weight.get(truth, Fraction(0)) / total), rel=1e-9)
        assert row["possible"] == ("true" if truth in weight else "false")
    metric = [row["metric"] for row in rows]
    assert all(a <= b + 1e-9 for a, b in pairwise(metric))
    assert rows == table(FOLDER / "figure_4_1.csv")


def test_figure_4_1_says_what_the_page_says(figure_4_1: Written, approved: Approved) -> None:
    rows, said = figure_4_1
    for name, kinds in (("all", ("true", "false")), ("possible", ("true",)), ("impossible", ("false",))):
        errors = [abs(row["heuristic"] - row["metric"]) for row in rows if row["possible"] in kinds]
        assert f"NMAPE over {name} truths {100 * mean(errors) / 5:.4f} %" in said
    approved(said)
    assert "stated truth Ψ 1.347557  H 1.320000" in said
    found = cracks(Matching(np.array(UNEVEN, float)), TRUTH, rng=np.random.default_rng(1))
    drawn = [sum(r["chance"] * r[name] for r in rows) for name in ("metric", "heuristic")]
    assert found.matched_bias.value == pytest.approx(drawn[1] / drawn[0] - 1, rel=1e-8)
    assert f"Ψ {drawn[0]:.6f}  H {drawn[1]:.6f}  matched bias {found.matched_bias.value:.6f}" in said
    approved(said)
    low = sum(r["chance"] for r in rows if r["heuristic"] < r["metric"])
    assert f"truths that H understates have chance {low:.6f}" in said


# --- Figure 4.2 -------------------------------------------------------------------------------------------------------


def test_figure_4_2_summarizes_what_the_definition_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = run("figure_4_2", tmp_path, "--small", "--seed", "7")
    script = module("figure_4_2", monkeypatch)
    assert [row["generator"] for row in rows] == list(script.GENERATORS)
    rng = np.random.default_rng(1)
    for row in rows:
        matrices = script.drawn(row["generator"], 200, 7)
        errors = np.array([nmape(matrix, rng=rng).value for matrix in matrices])
        worst = int(errors.argmax())
        biases = [cracks(Matching(each), range(5), rng=rng).matched_bias.value for each in matrices[:200:4]]
        assert row["matrices"] == 200
        assert row["nmape_mean"] == pytest.approx(errors.mean(), rel=1e-7)
        assert row["nmape_max"] == pytest.approx(errors[worst], rel=1e-7)
        assert row["share_above_6"] == (errors > 6).mean()
        assert row["permanent_of_max"] == pytest.approx(float(oracle.permanent(fractions(matrices[worst]))), rel=1e-8)
        assert row["nmape_max"] == pytest.approx(float(oracle_nmape(fractions(matrices[worst]))), rel=1e-8)
        every = script.matched_bias(matrices, script.matched(matrices).marginal)
        assert every[:200:4] == pytest.approx(np.array(biases), rel=1e-6, abs=1e-9)
        ends = [row[f"matched_bias_{name}"] for name in ("low", "high", "max", "mean")]
        assert ends == pytest.approx([*100 * np.quantile(every, [0.05, 0.95, 1.0]), 100 * every.mean()], rel=1e-8)


def test_every_generator_draws_doubly_stochastic_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("figure_4_2", monkeypatch)
    for name in script.GENERATORS:
        matrices = script.drawn(name, 100, 3)
        assert matrices.min() >= 0
        np.testing.assert_allclose(matrices.sum(axis=1), 1, atol=1e-10)
        np.testing.assert_allclose(matrices.sum(axis=2), 1, atol=1e-10)
        # A matrix drawn twice would count twice.
        assert len(np.unique(matrices.round(9), axis=0)) == 100


def test_the_walk_reaches_all_matrices_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    # With two items a doubly stochastic matrix is one number, and all alike is uniform between 0 and 1.
    from scipy.stats import kstest

    script = module("figure_4_2", monkeypatch)
    corner = script.uniform_walk(1000, 2, np.random.default_rng(5))[:, 0, 0]
    assert kstest(corner, "uniform").pvalue > 0.01


def test_the_largest_error_depends_on_the_generator() -> None:
    rows = {row["generator"]: row for row in table(FOLDER / "figure_4_2.csv")}
    assert {row["matrices"] for row in rows.values()} == {30_000}
    largest = [round(row["nmape_max"], 2) for row in rows.values()]
    assert largest == [3.95, 5.36, 6.08, 7.16, 5.34]  # printed: within 6 %
    assert [round(row["rank_correlation"], 2) for row in rows.values()] == [0.81, 0.88, 0.67, -0.17, 0.89]
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name, row in rows.items():
        bias = "{:.1f} % ({:.1f} to {:.1f})".format(*(row[f"matched_bias_{end}"] for end in ("mean", "low", "high")))
        line = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        assert f"| {row['nmape_mean']:.2f} % | {row['nmape_max']:.2f} % |" in line
        assert line.endswith(f"| {row['rank_correlation']:+.2f} | {bias} |".replace("-", "−"))


# --- the conjecture ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def conjecture(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return run("nmape_conjecture", tmp_path_factory.mktemp("nmape_conjecture"), "--small", "--seed", "1")


def worst(rows: Rows, what: str) -> dict[int, float]:
    return {int(row["n"]): row["nmape"] for row in rows if row["what"] == what}


def test_searches_find_less_with_three_entries_than_with_four(conjecture: Written) -> None:
    rows, _ = conjecture
    found = worst(rows, "worst found")
    assert found[2] == pytest.approx(15.014155, abs=1e-5)
    assert found[3] == pytest.approx(8.6255, abs=5e-5)
    assert found[4] > worst(rows, "ring, stay 2/3")[4] == pytest.approx(1400 / 153, rel=1e-9)
    assert found[3] < 1400 / 153 < found[2]
    # The best of a grid is another way to the same maximum, from below.
    assert found[3] - 0.01 < worst(rows, "worst in steps of 1/14")[3] < found[3]


def test_the_worst_matrices_are_as_bad_as_said(conjecture: Written) -> None:
    for row in conjecture[0] + table(FOLDER / "nmape_conjecture.csv"):
        if row["what"] == "worst found":
            n = int(row["n"])
            cells = np.array([float(cell) for cell in row["matrix"].split()]).reshape(n, n)
            np.testing.assert_allclose([cells.sum(axis=0), cells.sum(axis=1)], 1, atol=1e-5)
            assert row["nmape"] == pytest.approx(float(oracle_nmape(fractions(cells))), abs=1e-3)


def test_no_error_is_above_the_bound(conjecture: Written) -> None:
    rows, said = conjecture
    bound = worst(rows, "bound")
    assert bound[4] == pytest.approx(100 * np.sqrt(2 / 12), rel=1e-9)
    for row in rows:
        assert row["nmape"] <= bound[int(row["n"])] + 1e-9
    assert bound[16] < 1400 / 153 < bound[15]
    assert "from n = 16 on" in said


def test_rings_are_those_of_the_closed_form(conjecture: Written) -> None:
    rows, _ = conjecture
    for row in rows:
        n = int(row["n"])
        if row["what"] == "worst ring" and n < 6:
            below, here, above = (
                float(oracle_nmape(two_way(n, Fraction(row["stay"] + by)))) for by in (-0.001, 0, 0.001)
            )
            assert row["nmape"] == pytest.approx(here, rel=1e-8)
            assert here > max(below, above)
        if row["what"] == "ring, stay 0.55":
            assert row["metric_share"] == pytest.approx(1 / (1 + (9 / 11) ** n), rel=1e-8)
            assert row["heuristic_share"] == pytest.approx(0.55)
    last = rows[-1]
    assert last["n"] == 100
    # The difference of two numbers that are nearly Poisson with mean 1, 0.45 each.
    assert last["nmape"] == pytest.approx(0.45 * 1.04756, abs=4 * last["standard_error"])


def two_way(n: int, stay: Fraction) -> list[list[Fraction]]:
    after = [(i + 1) % n for i in range(n)]
    return [[stay if j == i else 1 - stay if j == after[i] else Fraction(0) for j in range(n)] for i in range(n)]


def test_the_page_has_the_numbers_of_the_full_search() -> None:
    rows = table(FOLDER / "nmape_conjecture.csv")
    found, rings = worst(rows, "worst found"), worst(rows, "worst ring")
    assert [round(found[n], 4) for n in (2, 3, 4, 5)] == [15.0142, 8.6255, 9.1503, 7.1615]
    assert [round(rings[n], 3) for n in range(2, 9)] == [15.014, 7.569, 9.150, 7.162, 6.428, 5.701, 5.136]
    assert all(rings[n] <= found[n] + 1e-6 for n in found)
    assert round(worst(rows, "worst in steps of 1/60")[3], 4) == 8.6249


def test_a_seed_decides_every_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("figure_4_2", monkeypatch)
    for name in script.GENERATORS:
        first, again, other = (script.drawn(name, 20, seed) for seed in (7, 7, 8))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


def test_a_seed_is_a_whole_number(tmp_path: Path, approved: Approved) -> None:
    done = start_script(FOLDER / "figure_4_2.py", tmp_path, "--seed", "-1")
    assert done.returncode == 2
    approved(done.stderr)
