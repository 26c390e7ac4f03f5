"""The question about attacked graphs, asked of objects and of files: repetitions, seeds, intervals, bad input."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.candidate_strategies import Case, cases
from tests.graph_attackers import Blind, Idle, OnlyHalf, Told, graph_made_elsewhere, unknown
from tests.graph_strategies import erdos_renyi, heavy_tail
from unveil.attacks.graph.adaptive_deanonymization import AdaptiveDeanonymization
from unveil.attacks.graph.narayanan_shmatikov import NarayananShmatikov
from unveil.data.graph import Graph
from unveil.data.graph.files import write_edges, write_truth
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics import METRICS, all_metrics
from unveil.protections import IdRemoval
from unveil.questions.graph.answer import graph
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.graph.measurements import averaged
from unveil.questions.graph.view import meanings, summary_table
from unveil.questions.result import Result
from unveil.report.text import percent

NAMES = [name for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual]
SMALL = heavy_tail(80, 4, 3)
NS = NarayananShmatikov()


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def told(answer: Result[GraphFindings]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.to_json(seed=7))
    return found


# --- one repetition ---------------------------------------------------------------------------------------------------


def test_figures_are_those_of_the_guess_without_the_seeds() -> None:
    release = IdRemoval().apply(SMALL, rng=rng())
    knowledge = draw_knowledge(release, seed_pairs=12, rng=rng(2))
    guess = NS.run(released=release.released, knowledge=knowledge, rng=rng(3))
    answer = graph_made_elsewhere(
        release.released, knowledge.auxiliary, knowledge.seeds, release.truth, Told(scores=dense(guess)), rng=rng()
    )
    kept = [node for node in range(80) if node not in set(knowledge.seeds[:, 0].tolist())]
    wanted = all_metrics(Candidates.from_scores(dense(guess)[kept]), release.truth[kept])
    assert [each.metric.name for each in answer.findings.metrics] == NAMES
    assert [each.mean for each in answer.findings.metrics] == pytest.approx([each.mean for each in wanted], nan_ok=True)
    found = answer.findings
    assert found.repetitions[0].matches.targets == found.guess.target_count == found.truth.size == 68
    assert answer.findings.repetitions[0].seeds == 12


def dense(guess: Candidates) -> np.ndarray[Any, np.dtype[np.float64]]:
    matrix = np.zeros((guess.target_count, int(guess.candidate.max()) + 1))
    matrix[np.repeat(np.arange(guess.target_count), guess.considered), guess.candidate] = guess.probability
    return matrix


@settings(max_examples=22)
@given(cases(), st.randoms(use_true_random=False))
def test_some_targets_keep_what_is_believed_of_them(case: Case, random: Any) -> None:
    chosen = np.array(random.sample(range(len(case.targets)), random.randint(1, len(case.targets))))
    part = case.guess.only(chosen)
    assert part.target_count == chosen.size
    for place, target in enumerate(chosen.tolist()):
        here, there = slice(*part.start[place : place + 2]), slice(*case.guess.start[target : target + 2])
        assert part.candidate[here].tolist() == case.guess.candidate[there].tolist()
        assert part.probability[here].tolist() == case.guess.probability[there].tolist()
        assert part.attempted[place] == case.guess.attempted[target]


def test_a_graph_that_is_known_whole_is_found_whole() -> None:
    answer = graph(SMALL, None, NS, edge_overlap=1.0, seed_pairs=20, rng=rng())
    found = answer.findings.repetitions[0].matches
    assert answer.findings.protect == "id-removal"
    assert found.correct / found.targets > 0.9
    assert answer.findings.cut_offs[0].entropy == pytest.approx(answer.findings.metric("entropy").mean)
    assert answer.findings.cut_offs[2].entropy == pytest.approx(answer.findings.metric("quantiles_on_entropy").mean)


def test_one_repetition_has_no_interval_and_says_so() -> None:
    answer = graph(SMALL, "id-removal", NS, seed_pairs=10, rng=rng())
    assert all(math.isnan(each.low) and math.isnan(each.high) for each in answer.findings.metrics)
    assert any("One repetition has no CI" in note for note in answer.findings.notes)
    found = told(answer)
    assert {row["low"] for row in found["metrics"]} == {None}
    assert found["repeats"] == 1
    assert (found["graph"], found["protect"], found["attack"]) == (
        {"nodes": 80, "edges": SMALL.edges},
        "id-removal",
        "narayanan-shmatikov",
    )
    assert (found["seed_pairs"], found["edge_overlap"], found["scope"], found["seed"]) == (10, 0.85, "local", 7)
    assert (found["targets"], found["without_original"]) == (70, 0)


def test_cut_offs_are_those_of_the_definition() -> None:
    scores = rng(5).random((20, 20)) ** 12
    answer = graph_made_elsewhere(
        erdos_renyi(20, 0.3, 1), erdos_renyi(20, 0.3, 2), [[0, 0]], range(20), Told(scores=scores), rng=rng()
    )
    rows = (scores / scores.sum(axis=1, keepdims=True))[1:]
    for cut, least in zip(answer.findings.cut_offs, (0.0, 1e-4, 1e-3, 1e-2), strict=True):
        bits = [-sum(p * math.log2(p) for p in row if p >= least and p > 0) for row in rows.tolist()]
        every = [p for row in rows.tolist() for p in row if p > 0]
        small = [p for p in every if p < least]
        assert cut.least == least
        assert cut.entropy == pytest.approx(sum(bits) / 19)
        assert (cut.low, cut.high) == pytest.approx(tuple(np.quantile(bits, [0.05, 0.95])))
        assert cut.candidates_left_out == pytest.approx(len(small) / len(every))
        assert cut.probability_left_out == pytest.approx(sum(small) / 19)
    assert answer.findings.truth_counts.sum() == 19


def test_nodes_are_in_the_order_of_their_connections_whatever_their_numbers() -> None:
    first = graph_made_elsewhere(SMALL, SMALL, [[0, 0], [1, 1]], range(80), Blind(), rng=rng())
    nodes = first.findings.nodes
    assert (np.diff(nodes.degree) <= 0).all()
    assert nodes.right.sum() == first.findings.repetitions[0].matches.correct
    scores = rng(3).random((80, 80))
    order = rng(4).permutation(80)
    plain, mixed = (
        graph_made_elsewhere(g, SMALL, [[int(s), 0]], t, Told(scores=m), rng=rng()).findings.nodes
        for g, s, t, m in (
            (SMALL, 0, np.arange(80), scores),
            (SMALL.relabelled(order), order[0], np.argsort(order), scores[np.argsort(order)]),
        )
    )
    for one, other in zip(vars(plain).values(), vars(mixed).values(), strict=True):
        np.testing.assert_array_equal(one, other)


# --- repetitions ------------------------------------------------------------------------------------------------------


def test_intervals_are_those_of_student() -> None:
    from scipy import stats

    values = [3.0, 4.0, 4.5, 7.0]
    found = averaged(METRICS["entropy"], values, [""] * 4)
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert (found.mean, found.low, found.high) == pytest.approx((np.mean(values), low, high))
    cut = averaged(METRICS["adversary_success_rate"], [0.0, 1.0], ["", ""])
    assert (cut.low, cut.high) == (0.0, 1.0)
    part = averaged(METRICS["entropy"], [1.0, math.nan], ["", "80 not attempted"])
    assert (part.mean, part.undefined, part.why) == (1.0, 1, "80 not attempted")
    assert math.isnan(part.low)


def test_intervals_hold_the_mean_of_many_in_19_of_20_cases() -> None:
    draws = rng(8).normal(2.0, 0.3, (2000, 5))
    found = [averaged(METRICS["entropy"], row, [""] * 5) for row in draws.tolist()]
    same = averaged(METRICS["entropy"], [0.1, 0.1, 0.1], ["", "", ""])
    assert (same.low, same.mean, same.high, same.agree) == (0.1, 0.1, 0.1, True)
    assert not found[0].agree
    assert 0.935 < np.mean([each.low <= 2.0 <= each.high for each in found]) < 0.965


def test_each_repetition_has_a_release_and_knowledge_of_its_own_and_the_first_stay_the_same() -> None:
    few, many = (told(graph(SMALL, "switch:share=0.2", NS, seed_pairs=9, repeats=r, rng=rng())) for r in (2, 4))
    assert many["repetitions"][:2] == few["repetitions"]
    assert len({row["attempted"] for row in many["repetitions"]} | {row["correct"] for row in many["repetitions"]}) > 2
    attempted = [row["attempted"] for row in many["repetitions"]]
    assert many["attempted"] == pytest.approx(np.mean(attempted))
    leaked = next(row for row in many["metrics"] if row["name"] == "amount_of_leaked_information")
    assert leaked["mean"] == pytest.approx(many["correct"])
    assert leaked["low"] <= leaked["mean"] <= leaked["high"]


def test_release_and_knowledge_do_not_depend_on_the_attack() -> None:
    met: list[tuple[bytes, bytes, bytes]] = []

    class Watches(Blind):
        def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
            met.append((released.keys.tobytes(), knowledge.auxiliary.keys.tobytes(), knowledge.seeds.tobytes()))
            rng.random(len(met))
            return super().run(released=released, knowledge=knowledge, rng=rng)

    for _ in range(2):
        graph(SMALL, "switch:share=0.2", Watches(), seed_pairs=5, repeats=2, rng=rng())
    assert met[:2] == met[2:]
    assert met[0] != met[1]


@pytest.mark.unwatched
def test_blind_guessing_finds_what_random_guessing_is_said_to_find() -> None:
    answer = graph(erdos_renyi(12, 0.4, 1), "id-removal", Blind(), seed_pairs=4, repeats=200, rng=rng())
    expected = 8 * (1 / 8)
    assert {each.at_random for each in answer.findings.repetitions} == {expected}
    leaked = answer.findings.metric("amount_of_leaked_information")
    assert leaked.values.mean() == pytest.approx(expected, abs=4 * leaked.values.std() / 200**0.5)


def test_estimates_and_notes_that_differ_are_said() -> None:
    estimating = AdaptiveDeanonymization(exact_up_to=20, pivots=15)
    answer = graph(SMALL, "id-removal", estimating, seed_pairs=9, rng=rng())
    assert any(
        note.startswith("How central nodes are was estimated from 15 of up to 80 nodes")
        for note in answer.findings.notes
    )
    exact = graph(SMALL, "id-removal", AdaptiveDeanonymization(), seed_pairs=9, rng=rng())
    assert not any("estimated" in note for note in exact.findings.notes)

    class Talks(IdRemoval):
        def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
            return replace(super().apply(original, rng=rng), notes=(f"drew {rng.random()}",))

    many = graph(SMALL, Talks(), Blind(), seed_pairs=9, repeats=3, rng=rng()).findings.notes
    assert [note[:5] for note in many] == ["drew ", "Notes"]


def test_pseudo_nodes_are_counted_apart() -> None:
    answer = graph(SMALL, "graph-anon:k=4", Blind(), seed_pairs=10, rng=rng())
    one = answer.findings.repetitions[0]
    assert one.released_nodes > 80
    assert one.matches.nobody == one.released_nodes - 80
    assert one.matches.targets == one.released_nodes - 10
    assert answer.findings.nodes.degree.size == 70
    assert one.at_random == 70 / 70


def test_an_adversary_who_attempts_nothing_is_an_answer() -> None:
    answer = graph(SMALL, None, Idle(), seed_pairs=10, repeats=2, rng=rng())
    found = told(answer)
    assert (found["attempted"], found["correct"], found["correct_by_random_mapping"]) == (0, 0, 0)
    entropy = next(row for row in found["metrics"] if row["name"] == "entropy")
    assert (entropy["mean"], entropy["undefined"]) == (None, 2)
    assert found["entropy_cut_offs"][0]["entropy"] is None
    html = answer.to_html()
    assert "nan" not in html.split("</style>")[1]


# --- limits -----------------------------------------------------------------------------------------------------------


def test_limits_watch_means_and_the_upper_ends_of_success() -> None:
    answer = graph(SMALL, None, NS, seed_pairs=10, repeats=3, rng=rng())
    quantities = answer.quantities
    assert list(quantities) == list(meanings())
    assert list(quantities)[: len(NAMES)] == NAMES
    for each in answer.findings.metrics:
        assert quantities[each.metric.name].value == each.mean
        assert quantities[each.metric.name].more_is_worse == (each.metric.more_means == "less private")
    assert (
        quantities["adversary_overall_success_high"].value == answer.findings.metric("adversary_overall_success").high
    )
    assert quantities["adversary_success_rate_high"].more_is_worse
    assert "target" not in " ".join(meanings().values())


# --- made elsewhere ---------------------------------------------------------------------------------------------------


def test_seeds_can_be_drawn_from_the_truth() -> None:
    truth = np.arange(80)
    truth[:5] = -1
    truth[5] = 300
    seen: list[np.ndarray[Any, Any]] = []

    class Watches(Blind):
        def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
            seen.append(knowledge.seeds)
            return super().run(released=released, knowledge=knowledge, rng=rng)

    answer = graph_made_elsewhere(SMALL, SMALL, 7, truth, Watches(), repeats=2, rng=rng())
    assert [len(pairs) for pairs in seen] == [7, 7]
    assert seen[0].tolist() != seen[1].tolist()
    assert all((pairs[:, 0] == pairs[:, 1]).all() and pairs.min() > 5 for pairs in seen)
    one = answer.findings.repetitions[0]
    assert (one.matches.nobody, one.matches.targets) == (5, 73)
    # 68 stand for somebody, one of them for somebody who is not in the auxiliary graph.
    assert one.at_random == pytest.approx(67 / 73)
    assert any(note.startswith("5 of 80 released nodes stand for no original node") for note in answer.findings.notes)


def test_wrong_seeds_and_repetitions_without_other_knowledge_are_said() -> None:
    answer = graph_made_elsewhere(SMALL, SMALL, [[0, 1], [2, 2]], range(80), Blind(), repeats=2, rng=rng())
    assert any(note.startswith("1 of 2 seed pairs contradicts the truth") for note in answer.findings.notes)
    assert any("are given, so" in note for note in answer.findings.notes)
    assert told(answer)["graph"] is None
    assert "made elsewhere" in answer.to_html()


def test_nodes_of_which_the_truth_says_nothing_are_in_no_figure() -> None:
    scores = np.eye(80) + 0.01
    pairs = [[0, 0], [1, 1], [2, 3], [3, 2]]
    part = np.where((np.arange(80) % 4 == 0) | (np.arange(80) == 3), np.arange(80), -2)
    answer = graph_made_elsewhere(SMALL, SMALL, pairs, part, Told(scores=scores), rng=rng())
    one = answer.findings.repetitions[0]
    # Of the 76 nodes in no pair the truth is known of 19; all are found, as they are with the whole truth.
    assert (one.matches.targets, one.matches.attempted, one.matches.correct, one.unknown) == (19, 19, 19, 57)
    assert answer.findings.metric("adversary_success_rate").mean == 1
    assert (told(answer)["truth_unknown"], told(answer)["without_original"]) == (57, 0)
    assert any(
        note.startswith("The true match of 59 of 80 released nodes is unknown") for note in answer.findings.notes
    )
    # Only the pair of node 3 is known to be wrong.
    assert any(note.startswith("1 of 4 seed pairs contradicts the truth") for note in answer.findings.notes)
    html = answer.to_html()
    assert "no result counts them" in html


def test_repetitions_without_an_attempt_have_no_rate() -> None:
    class Sometimes(Blind):
        def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
            idle = knowledge.seeds[0, 0] % 2 == 0
            attack: Any = Idle() if idle else Blind()
            guess: Candidates = attack.run(released=released, knowledge=knowledge, rng=rng)
            return guess

    answer = graph_made_elsewhere(SMALL, SMALL, 9, range(80), Sometimes(), repeats=9, rng=np.random.default_rng(3))
    tried = [each for each in answer.findings.repetitions if each.matches.attempted]
    assert 1 < len(tried) < 9
    rate = answer.findings.metric("adversary_success_rate")
    assert rate.mean == pytest.approx(np.mean([each.matches.correct / each.matches.attempted for each in tried]))
    assert (rate.undefined, rate.why) == (9 - len(tried), "no target was attempted")
    precision = next(row for row in summary_table(answer.findings).rows if "precision" in row[0])
    chance = float(np.mean([each.at_random / each.matches.attempted for each in tried]))
    assert precision[-1] == percent(chance)


def test_what_was_never_attempted_has_neither_rate_nor_upper_ends() -> None:
    quantities = graph(SMALL, None, Idle(), seed_pairs=10, repeats=3, rng=rng()).quantities
    names = ("adversary_success_rate", "adversary_success_rate_high", "adversary_overall_success_high")
    assert all(math.isnan(quantities[name].value) for name in names)
    assert not any(quantities[name].exceeded_when_undefined for name in names)
    assert quantities["adversary_overall_success"].value == 0


TRUTH = list(range(80))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: graph(SMALL, None, NS, seed_pairs=0, rng=rng()), "starts from seed pairs, but there are none"),
        (lambda: graph(SMALL, None, NS, seed_pairs=80, rng=rng()), "All 80 released nodes"),
        (lambda: graph(SMALL, None, NS, seed_pairs=[[0, 0]], rng=rng()), "Given seed pairs need a given release"),
        (lambda: graph(SMALL, None, NS, seed_pairs="pairs.csv", rng=rng()), "Given seed pairs need a given release"),
        (lambda: graph(SMALL, None, NS, seed_pairs=81, rng=rng()), "Ask for fewer pairs"),
        (lambda: graph(SMALL, None, OnlyHalf(), rng=rng()), "one target for each of the 80 released nodes"),
        (lambda: graph(SMALL, "mondrian", NS, rng=rng()), "is for a table"),
        (lambda: graph(SMALL, None, "record-linkage", rng=rng()), "is on a table"),
        (
            lambda: graph(Graph.from_edges([], [], nodes=3), None, NS, seed_pairs=1, rng=rng()),
            "the auxiliary graph has none",
        ),
        (lambda: elsewhere(truth=TRUTH[:-1]), "one auxiliary node for each of the 80 released nodes"),
        (lambda: elsewhere(truth=[0, *TRUTH[:-1]]), "each at most once"),
        (lambda: elsewhere(truth=[-3, *TRUTH[1:]]), "each at most once"),
        (lambda: elsewhere(truth=[0, *[-2] * 79]), "no released node outside the seed pairs"),
        (lambda: elsewhere(truth=[0.5] * 80), "Pass whole numbers"),
        (lambda: elsewhere(seeds=[[80, 0]]), "nodes outside the 80 released"),
        (lambda: elsewhere(seeds=[[0, 80]]), "one of the 80 nodes of the auxiliary graph"),
        (lambda: elsewhere(seeds=[[0, 0], [0, 1]]), "each released node may be in one seed pair"),
        (lambda: elsewhere(seeds=[0, 1, 2]), "rows of two numbers"),
        (lambda: elsewhere(seeds=[]), "starts from seed pairs, but there are none"),
        (lambda: elsewhere(seeds=81), "only 80 released nodes"),
    ],
)
def test_what_cannot_be_attacked_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def elsewhere(*, seeds: Any = ((0, 0),), truth: Any = TRUTH) -> Result[GraphFindings]:
    return graph_made_elsewhere(SMALL, SMALL, seeds, truth, NS, rng=rng())


@pytest.mark.parametrize(
    "small",
    [
        Graph.from_edges([0], [1]),
        Graph.from_edges([0, 0, 0], [1, 2, 3]),
        erdos_renyi(5, 1.0, 0),
        Graph.from_edges([0, 2], [1, 3], nodes=6),
    ],
    ids=["an edge", "a star", "complete", "disconnected"],
)
def test_tiny_graphs_are_answered(small: Graph) -> None:
    for attack in (NS, Blind()):
        answer = graph(small, None, attack, seed_pairs=1, edge_overlap=1.0, repeats=2, rng=rng())
        assert answer.findings.repetitions[0].matches.targets == small.nodes - 1
        assert "<svg" in answer.to_html()


# --- files ------------------------------------------------------------------------------------------------------------


def test_files_give_what_objects_give(tmp_path: Path) -> None:
    release = IdRemoval().apply(SMALL, rng=rng())
    knowledge = draw_knowledge(release, seed_pairs=9, rng=rng(2))
    write_edges(tmp_path / "released.csv", release.released)
    write_edges(tmp_path / "auxiliary.csv", knowledge.auxiliary)
    write_truth(tmp_path / "truth.csv", release)
    pairs = "".join(f"{one},{other}\n" for one, other in knowledge.seeds.tolist())
    (tmp_path / "seeds.csv").write_text(f"released,original\n{pairs}")
    released, auxiliary, seeds, truth = (
        tmp_path / f"{name}.csv" for name in ("released", "auxiliary", "seeds", "truth")
    )
    from_files = graph_made_elsewhere(released, auxiliary, seeds, truth, rng=rng())
    objects = graph_made_elsewhere(release.released, knowledge.auxiliary, knowledge.seeds, release.truth, rng=rng())
    assert {**told(from_files), "notes": []} == {**told(objects), "notes": []}
    drawn = graph_made_elsewhere(released, auxiliary, 9, truth, rng=rng())
    assert drawn.findings.repetitions[0].seeds == 9


def test_people_whom_the_auxiliary_graph_lacks_cannot_be_found(tmp_path: Path) -> None:
    released, auxiliary, truth = (tmp_path / f"{name}.csv" for name in ("released", "auxiliary", "truth"))
    released.write_text("source,target\nr1,r2\nr2,r3\nr3,r4\n")
    auxiliary.write_text("source,target\nAda,Bob\nBob,Cy\n")
    truth.write_text("released,original\nr1,Ada\nr2,Bob\nr3,Cy\nr4,Dee\n")
    answer = graph_made_elsewhere(released, auxiliary, 1, truth, rng=rng())
    assert any(note.startswith("1 of 4 original nodes in") for note in answer.findings.notes)
    one = answer.findings.repetitions[0]
    assert (one.auxiliary_nodes, one.matches.somebody) == (3, 3)
    assert one.at_random <= 2 / 2
    truth.write_text("released,original\nr1,1\nr2,2\n")
    with pytest.raises(InputError, match="names no node"):
        graph_made_elsewhere(released, auxiliary, 1, truth, rng=rng())


def test_a_slip_is_said_before_a_file_is_read() -> None:
    slips: list[tuple[Any, ...]] = [
        (graph, "missing.csv", "nothing-like-it"),
        (graph, "missing.csv", None, "nothing-like-it"),
        (graph_made_elsewhere, "missing.csv", "missing.csv", 1, "missing.csv", "nothing"),
    ]
    for ask, *arguments in slips:
        with pytest.raises(InputError, match=r"there is no (protection|attack)"):
            ask(*arguments, rng=rng())


def test_progress_goes_forward_to_the_end() -> None:
    steps: list[tuple[str, float]] = []
    graph(SMALL, None, Blind(), repeats=2, rng=rng(), progress=lambda step, share: steps.append((step, share)))
    assert [step for step, _ in steps] == ["protecting", "attacking", "measuring"] * 2
    assert [share for _, share in steps] == sorted(share for _, share in steps)
    assert 0 <= steps[0][1] < steps[-1][1] <= 1


def test_stub_knows_who_is_unknown() -> None:
    knowledge = GraphKnowledge(SMALL, np.array([[3, 4]]))
    released, auxiliary = unknown(SMALL, knowledge)
    assert 3 not in released
    assert 4 not in auxiliary


def test_who_was_not_heard_of_is_not_found_and_naming_somebody_there_is_a_false_alarm() -> None:
    answer = graph(SMALL, "id-removal", "kl", seed_pairs=20, edge_overlap=1, node_overlap=0.5, repeats=2, rng=rng())
    found = answer.findings
    half = SMALL.nodes // 2
    assert [each.auxiliary_nodes for each in found.repetitions] == [half, half]
    assert [each.matches.nobody for each in found.repetitions] == [half, half]
    assert [each.matches.targets for each in found.repetitions] == [SMALL.nodes - 20] * 2
    # Counted by hand in the first repetition: nobody, and an attempt all the same.
    absent = found.truth == -1
    told = json.loads(answer.to_json())
    assert (absent.sum(), told["node_overlap"]) == (half, 0.5)
    attempts = [each.matches.nobody_attempted for each in found.repetitions]
    assert attempts[0] == (found.guess.attempted & absent).sum() > 0
    assert told["false_alarms"] == pytest.approx(sum(attempts) / (2 * half))
    assert f"{half} of {SMALL.nodes} original nodes are missing" in found.notes[0]
    assert "attacker knows 100% of the edges among 50% of the nodes" in answer.page().facts
    assert re.search(r"attempted \(8\.[78]\d?%, false alarms\)", answer.to_html())
    everybody = json.loads(graph(SMALL, "id-removal", "kl", seed_pairs=20, rng=rng()).to_json())
    assert (everybody["node_overlap"], everybody["false_alarms"]) == (1.0, None)


# ---- calibrated -----------------------------------------------------------------------------------------------------


def test_calibrated_figures_stand_beside_the_same_raw_ones() -> None:
    people = heavy_tail(300, 4, 3)
    plain = graph(people, calibrate="none", repeats=2, rng=rng())
    learned = graph(people, calibrate="simulate", repeats=2, rng=rng())
    assert plain.findings.calibrated is None
    assert told(plain)["calibration"] is None
    found = learned.findings.calibrated
    assert found is not None
    for one, other in zip(plain.findings.metrics, learned.findings.metrics, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    assert [each.metric.name for each in found.metrics] == NAMES
    for name in ("adversary_success_rate", "adversary_overall_success", "incorrectly_classified"):
        assert found.metric(name).mean == learned.findings.metric(name).mean
    raw = learned.findings.metric("expected_calibration_error").mean
    assert found.metric("expected_calibration_error").mean < raw
    attempts = sum(each.matches.attempted for each in learned.findings.repetitions)
    assert found.raw.size.sum() == found.learned.size.sum() == attempts
    written = told(learned)["calibration"]
    assert (written["how"], [each["name"] for each in written["metrics"]]) == ("simulate", NAMES)
    assert learned.to_polars()["calibrated_mean"].len() == len(NAMES)
    confidence = next(each for each in learned.page().sections if each.heading == "Confidence")
    error = found.metric("expected_calibration_error").mean
    assert f"{percent(raw)} for raw scores and {percent(error)} after calibration" in confidence.lead


def test_a_release_made_elsewhere_is_calibrated_by_seeds_alone() -> None:
    known = heavy_tail(120, 4, 3)
    pairs = [[k, k] for k in range(20)]
    answer = graph_made_elsewhere(known, known, pairs, range(120), calibrate="seeds", rng=rng())
    assert answer.findings.calibrated is not None
    assert answer.findings.calibrated.labels <= 20
    with pytest.raises(InputError, match="needs a protection"):
        graph_made_elsewhere(known, known, pairs, range(120), calibrate="simulate", rng=rng())


def test_beside_what_is_found_stands_the_most_that_any_attack_finds() -> None:
    # A middle with four leaves, and one of them known: the middle, and one of the three others.
    star = Graph.from_edges([0] * 4, range(1, 5))
    answer = graph_made_elsewhere(star, star, [[1, 1]], [0, 1, 2, 3, -1], "mf", rng=np.random.default_rng(1))
    found = json.loads(answer.to_json())
    # Who stands for nobody looks like the others, and is no node that could be found.
    assert found["max_expected_correct"] == pytest.approx(1 + 2 / 3)
    assert found["deanonymizability_bound"] == pytest.approx((1 + 2 / 3) / 3)
    assert found["share_of_bound"] == pytest.approx(found["correct"] / (1 + 2 / 3))
    assert found["repetitions"][0]["max_expected_correct"] == pytest.approx(1 + 2 / 3)


def test_an_auxiliary_graph_of_others_is_said_on_top_of_the_page() -> None:
    release, foreign = IdRemoval().apply(heavy_tail(200, 5, 1), rng=rng()), heavy_tail(200, 5, 2)
    said = "The posterior is unreliable: the auxiliary graph does not resemble the released graph."
    truth = rng(3).permutation(200)
    for attack in ("mf", "ns"):
        answer = graph_made_elsewhere(release.released, foreign, 10, truth, attack, rng=rng())
        assert answer.findings.metric("adversary_overall_success").mean < 0.05
        assert told(answer)["resemblance"]["doubtful"] is True
        assert said in answer.to_html().split("<h2")[0]
        assert answer.to_html().count(said) == 1
    true = draw_knowledge(release, seed_pairs=10, rng=rng())
    answer = graph_made_elsewhere(release.released, true.auxiliary, true.seeds, release.truth, "ns", rng=rng())
    assert told(answer)["resemblance"]["doubtful"] is False
    assert said not in answer.to_html()
    assert told(graph(SMALL, None, "ns", seed_pairs=10, rng=rng()))["resemblance"] is None
    assert told(graph(SMALL, None, "mf", seed_pairs=10, rng=rng()))["resemblance"]["doubtful"] is False


def test_what_a_long_attack_takes_is_said_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    for attack in ("mf", "mf:candidates=5", "refine", "ns"):
        graph(SMALL, None, attack, rng=rng(), say=said.append)
    assert said == []
    monkeypatch.setattr("unveil.questions.graph.run._LONG", -1.0)
    for attack in ("mf", "mf:candidates=5", "refine", "ns"):
        graph(SMALL, None, attack, rng=rng(), repeats=2, say=said.append)
    assert len(said) == 3
    assert all("CPU seconds and 0.0 GB" in each for each in said)
