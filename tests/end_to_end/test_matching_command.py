"""``unveil matching`` from files on disk to what a person or a machine reads, and every kind of bad input."""

import json
from math import factorial, log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

from tests.end_to_end.commands import MARKER, Command
from unveil.data import samples

# The hospital unit: 18 matchings with 29 cracks among them.
CRACKS = [4, 6, 3, 4, 0, 1]
ENTRIES = ("Flu", "Viral Fever", "Cold", "Asthma", "Tuberculosis")
HOSPITAL = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
TRUE = [2, 3, 4, 0, 1]

COMMAND = Command("matching")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse


def named(kind: str, number: int) -> str:
    return f"{MARKER}-{kind}{number}"


def save_matrix(path: str, rows: list[list[Any]]) -> None:
    """Write a matrix whose names all hold the marker."""
    head = ["item", *(named("t", k) for k in range(len(rows[0])))]
    lines = [[named("e", k), *map(str, row)] for k, row in enumerate(rows)]
    Path(path).write_text("".join(",".join(line) + "\n" for line in [head, *lines]))


def save_truth(path: str, pairs: list[tuple[str, str]]) -> None:
    Path(path).write_text("item,pseudonym\n" + "".join(f"{item},{pseudonym}\n" for item, pseudonym in pairs))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a matrix, its truth, and groups."""
    monkeypatch.chdir(tmp_path)
    save_matrix("matrix.csv", HOSPITAL)
    save_truth("truth.csv", [(named("e", k), named("t", pseudonym)) for k, pseudonym in enumerate(TRUE)])
    save_truth("numbers.csv", [(str(k + 1), str(pseudonym + 1)) for k, pseudonym in enumerate(TRUE)])
    groups = "".join(f"{named('e', k)},{MARKER}-{'ab'[k > 1]}\n" for k in range(5))
    Path("groups.csv").write_text(f"item,group\n{groups}")
    return tmp_path


BOTH = ("matrix.csv", "--truth", "truth.csv")


# --- what comes out ---------------------------------------------------------------------------------------------------


def test_json_has_the_promised_fields_and_the_numbers_of_the_thesis() -> None:
    found = answer("--seed", "4")
    assert found["schema"] == "unveil.matching/2"
    assert (found["n"], found["seed"], found["limits"], found["notes"], found["groups"]) == (5, 4, [], [], None)
    assert found["permanent"]["log"] == pytest.approx(log(18))
    assert (found["permanent"]["exact"], found["permanent"]["method"]) == ("18", "subsets")
    assert found["d"] == pytest.approx(log(18) / log(factorial(5)))
    # The thesis prints 28/18, which is a slip: its own 18 matchings have 29 cracks.
    assert found["expected_cracks"]["value"] == pytest.approx(29 / 18)
    assert found["expected_cracks"]["error"] < 1e-12
    assert (found["expected_cracks"]["method"], found["expected_cracks"]["kind"]) == ("subsets", "exact")
    assert found["cracked_share"]["value"] == pytest.approx(29 / 90)
    assert [chance * 18 for chance in found["crack_distribution"]] == pytest.approx(CRACKS)
    assert [row["name"] for row in found["items"]] == list(ENTRIES)
    assert [row["pseudonym"] for row in found["items"]] == ["x", "y", "z", "u", "v"]
    assert [row["crack_probability"] * 18 for row in found["items"]] == pytest.approx([5, 6, 4, 8, 6])
    assert {each["probability"]: each["at_least"] for each in found["quantiles"]}[0.05] == 5


def test_the_example_can_be_given_as_files_and_as_a_matrix() -> None:
    words = [
        word
        for name in ("ranges", "transactions", "truth")
        for word in (f"--{name}", str(samples.path(f"matching_{name}.csv")))
    ]
    assert answer(*words) == answer() == answer("--sample")
    found = answer(*BOTH)
    assert found["expected_cracks"]["value"] == pytest.approx(29 / 18)
    assert [row["name"] for row in found["items"]] == [named("e", k) for k in range(5)]


def test_a_doubly_stochastic_matrix_has_its_heuristic_beside_the_metric() -> None:
    truth = str(samples.path("matching_truth.csv"))
    found = answer(str(samples.path("matching_matrix.csv")), "--truth", truth)
    assert found["expected_cracks"]["value"] == pytest.approx(204860909 / 152023904)
    assert found["heuristic"] == pytest.approx(33 / 25)
    assert found["matched_bias"] < 0


def test_every_kind_of_file_gives_the_same_answer() -> None:
    matrix = np.array(HOSPITAL, float)
    np.save("m.npy", matrix)
    np.savez("m.npz", matrix=matrix)
    sp.save_npz("s.npz", sp.csr_array(matrix))
    scipy.io.mmwrite("m.mtx", sp.coo_array(matrix))
    Path("plain.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in HOSPITAL))
    found = [answer(name, "--truth", "numbers.csv") for name in ("m.npy", "m.npz", "s.npz", "m.mtx", "plain.csv")]
    assert all(each == found[0] for each in found)
    assert [(row["name"], row["pseudonym"]) for row in found[0]["items"]][:2] == [("1", "3"), ("2", "4")]
    assert found[0]["crack_distribution"] == answer(*BOTH)["crack_distribution"]
    pl.read_csv("truth.csv").write_parquet("truth.parquet")
    assert answer("matrix.csv", "--truth", "truth.parquet") == answer(*BOTH)


def test_frequencies_stand_for_transactions() -> None:
    Path("seen.csv").write_text("pseudonym,frequency\nz,80%\nu,20%\nv,30%\nx,40%\ny,60%\n")
    ranges, truth = (str(samples.path(f"matching_{name}.csv")) for name in ("ranges", "truth"))
    found = answer("--ranges", ranges, "--frequencies", "seen.csv", "--truth", truth)
    assert {row["name"]: row["pseudonym"] for row in found["items"]} == dict(zip(ENTRIES, "xyzuv", strict=True))
    assert found["expected_cracks"]["value"] == pytest.approx(29 / 18)


def test_matchings_and_networks_are_attacks_too() -> None:
    Path("matchings.csv").write_text("Flu,Cold,probability\nu,v,0.25\nv,u,0.75\n")
    save_truth("two.csv", [("Flu", "u"), ("Cold", "v")])
    found = answer("--matchings", "matchings.csv", "--truth", "two.csv")
    assert found["crack_distribution"] == [0.75, 0, 0.25]
    assert (found["heuristic"], found["permanent"]["log"]) == (None, None)
    assert "holds 2 matchings" in ask("--matchings", "matchings.csv", "--truth", "two.csv", "--verbose").stdout
    network, truth = str(samples.path("matching_dataflow.csv")), str(samples.path("matching_truth.csv"))
    # By all 120 orders in fractions.
    assert answer("--dataflow", network, "--truth", truth)["expected_cracks"]["value"] == pytest.approx(7 / 6)


def test_groups_count_a_token_of_the_right_group() -> None:
    found = answer(*BOTH, "--groups", "groups.csv")
    groups = {each["name"]: each for each in found["groups"]["groups"]}
    assert {name: each["items"] for name, each in groups.items()} == {f"{MARKER}-a": 2, f"{MARKER}-b": 3}
    whole = sum(each["expected"]["value"] for each in groups.values())
    assert found["groups"]["expected"]["value"] == pytest.approx(whole)
    assert whole > found["expected_cracks"]["value"]
    assert found["groups"]["by_chance"] == pytest.approx((4 + 9) / 5)
    run = ask(*BOTH, "--groups", "groups.csv", "--limit", "group_found_share=0.1", "--html", "report.html")
    assert run.exit_code == 3
    assert "Groups resolved" in Path("report.html").read_text()


def test_text_has_headline_figures_methods_and_the_entries_most_at_risk() -> None:
    run = ask("--html", "report.html", "--top", "2")
    assert (run.exit_code, run.stderr) == (0, "")
    rows = {line.split("  ")[0]: line.split() for line in run.stdout.splitlines()}
    assert rows["Expected resolved pseudonyms"][3:] == ["1.611", "of", "5", "1", "exact"]
    assert rows["Degree of anonymity d"][4] == "0.604"
    assert rows["Possible matchings"][2] == "18"
    everything = ask("--top", "2", "--verbose").stdout
    assert "Asthma" in everything
    assert "Flu" not in everything
    assert "\x1b" not in run.stdout
    assert run.stdout.endswith("The report is in report.html\n")


def test_the_page_names_entries_but_no_token_and_says_whom_it_is_for() -> None:
    assert ask(*BOTH, "--html", "first.html", "--quiet").output == ""
    assert ask(*BOTH, "--html", "second.html", "--json").exit_code == 0
    text = Path("first.html").read_text()
    assert text == Path("second.html").read_text()
    assert all(named("e", k) in text for k in range(5))
    assert not any(named("t", k) in text for k in range(5))


def test_names_that_are_markup_or_control_characters_stay_text() -> None:
    Path("odd.csv").write_text('item,u,v\n"<b>x</b>\x1b[2J",1,1\n"$, ""quoted""",1,1\n')
    Path("odd-truth.csv").write_text('item,pseudonym\n"<b>x</b>\x1b[2J",u\n"$, ""quoted""",v\n')
    run = ask("odd.csv", "--truth", "odd-truth.csv", "--html", "report.html")
    assert run.exit_code == 0
    assert "\x1b" not in run.stdout
    text = Path("report.html").read_text()
    assert "<b>x" not in text
    assert "\x1b" not in text


def test_a_large_matrix_is_sampled_and_says_so() -> None:
    rng = np.random.default_rng(1)
    np.save("large.npy", np.exp(rng.standard_normal((40, 40))) + 30 * np.eye(40))
    save_truth("same.csv", [(str(k), str(k)) for k in range(1, 41)])
    found = answer("large.npy", "--truth", "same.csv")
    figure = found["expected_cracks"]
    assert (figure["method"], figure["kind"]) == ("worm", "sampled")
    assert 0 < figure["error"] < 0.02 * figure["value"]
    assert 0.9 < figure["r_hat"] < 1.05
    assert found == answer("large.npy", "--truth", "same.csv")
    share, high = (
        limit["value"]
        for limit in answer("large.npy", "--truth", "same.csv", "--limit", "cracked_share=1",
                            "--limit", "cracked_share.high=1")["limits"]
    )  # fmt: skip
    assert high == pytest.approx(share + 2 * figure["error"] / 40)
    text = ask("large.npy", "--truth", "same.csv").stdout
    assert "95% CI" in text
    assert "±" in text
    assert "R-hat" in ask("large.npy", "--truth", "same.csv", "--verbose").stdout


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        ("cracked_share=0.3", "fail: cracked_share is 0.322222, the limit is 0.3\n"),
        ("cracked_share=0.33", ""),
        ("cracked_share.high=0.3", "fail: cracked_share.high is 0.322222, the limit is 0.3\n"),
        ("d=0.7", "fail: d is 0.603734, it must be at least 0.7\n"),
        ("d=0.6", ""),
        ("d.low=0.7", "fail: d.low is 0.603734, it must be at least 0.7\n"),
        ("cracks_q95=4", "fail: cracks_q95 is 5, the limit is 4\n"),
        ("cracks_q95.high=5", ""),
        ("highest_crack_probability=0.4", "fail: highest_crack_probability is 0.444444, the limit is 0.4\n"),
    ],
)
def test_a_limit_holds_from_the_side_that_is_worse(limit: str, line: str) -> None:
    run = ask(*BOTH, "--limit", limit, "--json", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (3 if line else 0, line)
    (checked,) = json.loads(run.stdout)["limits"]
    assert checked["exceeded"] == bool(line)


def test_an_attack_without_a_truth_is_answered() -> None:
    found = answer("matrix.csv")
    assert found["schema"] == "unveil.matching-without-truth/2"
    assert (found["permanent"]["exact"], found["flat"]) == ("18", True)
    text = ask("matrix.csv", "--limit", "d=0.9").stdout
    assert "18 matchings remain possible" in text


def test_a_file_with_more_entries_than_tokens_is_answered() -> None:
    save_matrix("rect.csv", [row[:4] for row in HOSPITAL])
    save_truth(
        "some.csv", [(named("e", k), named("t", pseudonym)) for k, pseudonym in enumerate(TRUE) if pseudonym < 4]
    )
    found = answer("rect.csv", "--truth", "some.csv")
    assert (found["n"], found["pseudonyms"], found["pairs"], found["permanent"]["exact"]) == (5, 4, 4, "22")
    assert answer("rect.csv", "--pairs", "3")["permanent"]["exact"] == "74"


def test_sets_and_further_releases_reach_the_answer() -> None:
    Path("sets.csv").write_text("set,item\nlung," + named("e", 3) + "\nlung," + named("e", 4) + "\n")
    found = answer(*BOTH, "--sets", "sets.csv", "--also", "matrix.csv", "--also", "matrix.csv")
    assert found["sets"]["sets"][0]["found"]["value"] == pytest.approx(2 / 3)
    assert [each["name"] for each in found["releases"]] == ["matrix.csv"] * 3
    assert found["expected_cracks"]["value"] == pytest.approx(29 / 18)  # the same once more tells nothing new


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "naming"),
    [
        ([[1, 0], [1, 0], [1, 0]], ("only 1 of 2 items", "at once")),
        ([[1, -1], [1, 1]], ("at least 0", "row 1, column 2", "negative")),
        ([[1, "nan"], [1, 1]], ("row 1, column 2",)),
        ([[1, MARKER], [1, 1]], ("row 1, column 2",)),
        ([[1, 0, 0], [1, 0, 0], [1, 1, 1]], ("perfect matching", "2 rows (1, 2", "only 1 column")),
        ([[0, 0], [0, 0]], ("perfect matching",)),
    ],
)
def test_a_matrix_that_cannot_be_matched_is_refused(rows: list[list[Any]], naming: tuple[str, ...]) -> None:
    save_matrix("bad.csv", rows)
    refuse("bad.csv", "--truth", "truth.csv", naming=("bad.csv", *naming))


@pytest.mark.parametrize("content", ["", f"item,{MARKER}\n"])
def test_an_empty_file_is_refused(content: str) -> None:
    Path("bad.csv").write_text(content)
    refuse("bad.csv", "--truth", "truth.csv", naming=("bad.csv", "empty"))


E, T = named("e", 0), named("t", 0)


@pytest.mark.parametrize(
    ("pairs", "naming"),
    [
        ([(E, T), (named("e", 1), T)], ("row 2", "row 1", "pseudonym")),
        ([(E, T), (E, named("t", 1))], ("row 2", "row 1", "item")),
        ([(E, T)], ("5 items", "lacks the pseudonym of 4")),
        ([(E, T), (f"{MARKER}-nobody", named("t", 1))], ("'item'", "row 2")),
        ([(E, f"{MARKER}-nothing")], ("'pseudonym'", "row 1")),
        ([(E, "")], ("'pseudonym'", "row 1")),
    ],
)
def test_a_truth_that_is_not_one_to_one_is_refused(pairs: list[tuple[str, str]], naming: tuple[str, ...]) -> None:
    save_truth("bad.csv", pairs)
    refuse("matrix.csv", "--truth", "bad.csv", naming=("bad.csv", *naming))


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        (f"item,group\n{E},{MARKER}\n", ("5 items", "lacks the group of 4")),
        (f"item,group\n{MARKER},{MARKER}\n", ("'item'", "row 1")),
        (f"item,group\n{E},{MARKER}\n{E},x\n", ("row 2", "row 1")),
        (f"item,group\n{E},\n", ("'group'", "row 1")),
        (f"item,kind\n{E},{MARKER}\n", ("'group'",)),
    ],
)
def test_groups_that_do_not_fit_are_refused(content: str, naming: tuple[str, ...]) -> None:
    Path("bad.csv").write_text(content)
    refuse(*BOTH, "--groups", "bad.csv", naming=("bad.csv", *naming))


@pytest.mark.parametrize(
    ("ranges", "frequencies", "naming"),
    [
        ("a,10,20\nb,10,20\n", "u,50\nv,60\n", ("same unit",)),
        ("a,10,20\nb,10,20\n", "u,15\nv,60\n", ("perfect matching", "2 rows")),
        ("a,10,20\nb,10,20\n", "u,15\nv,50\nw,60\n", ("only 1 of 2 items", "at once")),
        ("a,20,10\nb,10,20\n", "u,15\nv,15\n", ("'low'", "row 1")),
        ("a,10,20\nb,10,20\n", f"u,15\nv,{MARKER}\n", ("'frequency'", "row 2")),
    ],
)
def test_ranges_that_do_not_fit_are_refused(ranges: str, frequencies: str, naming: tuple[str, ...]) -> None:
    Path("ranges.csv").write_text(f"item,low,high\n{ranges}")
    Path("seen.csv").write_text(f"pseudonym,frequency\n{frequencies}")
    refuse("--ranges", "ranges.csv", "--frequencies", "seen.csv", "--truth", "truth.csv", naming=naming)


def test_probabilities_that_do_not_sum_to_1_are_refused() -> None:
    Path("matchings.csv").write_text("Flu,Cold,probability\nu,v,0.25\nv,u,0.5\n")
    refuse("--matchings", "matchings.csv", "--truth", "truth.csv", naming=("matchings.csv", "sum to 0.75", "not 1"))


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        (("matrix.csv", "--sets", "sets.csv"), ("--sets", "--truth")),
        (("matrix.csv", "--limit", "cracked_share=0.1"), ("cracked_share", "--truth")),
        ((*BOTH, "--limit", "believed_share=0.1"), ("believed_share", "cracked_share")),
        ((*BOTH, "--limit", "set_found=0.1"), ("--sets",)),
        ((*BOTH, "--pairs", "9"), ("matrix.csv", "pairs is 9")),
        ((*BOTH, "--precision", "0"), ("--rel-error", "0.0001")),
        (("--matchings", "m.csv", "--pairs", "2"), ("--matched", "--matchings")),
        (("--truth", "truth.csv"), ("MATRIX", "--frequency-ranges")),
        (("matrix.csv", "--truth", "truth.csv", "--sample"), ("--example",)),
        ((*BOTH, "--ranges", "r.csv"), ("MATRIX", "--frequency-ranges")),
        ((*BOTH, "--matchings", "m.csv"), ("MATRIX", "--matchings")),
        (("--ranges", "r.csv", "--truth", "truth.csv"), ("--transactions", "--frequencies")),
        (("--ranges", "r.csv", "--truth", "t.csv", "--transactions", "a", "--frequencies", "b"), ("only one of",)),
        ((*BOTH, "--transactions", "x.csv"), ("--frequency-ranges",)),
        ((*BOTH, "--limit", "group_found_share=0.5"), ("--equivalent",)),
        ((*BOTH, "--limit", "cracked=0.5"), ("'cracked'",)),
        (("missing.csv", "--truth", "truth.csv"), ("missing.csv",)),
        (("matrix.csv", "--truth", "missing.csv"), ("missing.csv",)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(arguments: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse(*arguments, naming=naming)


# --- input that is odd but has an answer ------------------------------------------------------------------------------


def test_a_single_entry_is_cracked_and_the_page_says_why() -> None:
    save_matrix("one.csv", [[0.3]])
    save_truth("one-truth.csv", [(E, T)])
    found = answer("one.csv", "--truth", "one-truth.csv")
    assert (found["expected_cracks"]["value"], found["d"], found["crack_distribution"]) == (1, 0, [0, 1])
    run = ask("one.csv", "--truth", "one-truth.csv", "--html", "report.html")
    assert run.exit_code == 0


def test_a_truth_of_probability_0_is_an_answer_with_a_sentence() -> None:
    save_matrix("wrong.csv", [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    save_truth("three.csv", [(named("e", k), named("t", k)) for k in range(3)])
    found = answer("wrong.csv", "--truth", "three.csv")
    assert found["crack_distribution"] == [0, 1, 0, 0]
    assert "rules out the truth" in found["notes"][0]
    save_matrix("all-wrong.csv", [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    run = ask("all-wrong.csv", "--truth", "three.csv", "--html", "report.html")
    assert run.exit_code == 0
    assert "rules out the truth" in Path("report.html").read_text()


def test_weights_like_1e_300_keep_their_proportions() -> None:
    save_matrix("tiny.csv", [["1e-300", "3e-300"], ["1e-300", "1e-300"]])
    save_truth("two.csv", [(named("e", k), named("t", k)) for k in range(2)])
    found = answer("tiny.csv", "--truth", "two.csv")
    assert found["expected_cracks"]["value"] == pytest.approx(2 * 0.25)
    assert found["permanent"]["log"] == pytest.approx(log(4) - 600 * log(10))
    assert ask("tiny.csv", "--truth", "two.csv", "--html", "report.html").exit_code == 0


def test_the_order_of_rows_does_not_matter() -> None:
    head, *rows = Path("truth.csv").read_text().splitlines()
    Path("turned.csv").write_text("\n".join([head, *reversed(rows)]) + "\n")
    assert answer("matrix.csv", "--truth", "turned.csv") == answer(*BOTH)
