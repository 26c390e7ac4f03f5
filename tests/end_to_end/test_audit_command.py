"""``unveil audit`` from files on disk to what a person or a machine reads, and every kind of bad input."""

import hashlib
import html
import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from tests.approved.sentences import Approved
from tests.end_to_end.commands import MARKER, Command
from unveil.cli import main

DECISION_FIELDS = {
    "level", "at_most", "decision", "exit", "headline", "subline", "next", "people", "control_people", "control",
    "basis", "threshold", "partial", "not_run", "recommended", "releases",
}  # fmt: skip
RELEASE_FIELDS = {
    "name", "type", "type_source", "level", "at_least", "at_most", "decision", "cause", "lacks", "worst_excess",
    "highest", "utility_loss", "risks", "effects", "individuals", "is_reference",
}  # fmt: skip
EFFECT_FIELDS = {
    "attack", "attacker", "sensitive", "attack_rate", "baseline", "baseline_kind", "attempts", "control_attempts",
    "excess", "uncorrected", "normalized_excess", "p_adjusted", "by", "auc", "counted", "blocks_pass",
    "why_not_tested", "level", "threshold", "convention", "status", "people_needed",
}  # fmt: skip
TEST_FIELDS = {"alpha", "tests", "permutations", "min_detectable_copies", "control", "releases"}
CONTROL_FIELDS = {"outcome", "p_same", "largest_difference", "column", "p_overlap", "overlap_estimate", "p_near"} | {
    "clustering"
}
JUDGED_FIELDS = {
    "attack", "attacker", "sensitive", "group", "attempts", "control_attempts", "attack_rate", "control_rate",
    "normalized_excess", "p", "p_adjusted", "significant", "why",
}  # fmt: skip
ATTACK_FIELDS = {
    "attack", "scenario", "targets", "neighbors", "attack_rate", "baseline", "control_rate", "normalized_excess",
    "successes",
}  # fmt: skip


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    towns = [f"{MARKER}-{town}" for town in ("a", "b", "c", "d")]
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(towns, rows),
            "income": rng.integers(10, 90, rows),
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with an original, two releases and a control table."""
    monkeypatch.chdir(tmp_path)
    original = people(80, 1)
    original.write_csv("people.csv")
    original.sample(fraction=1.0, shuffle=True, seed=1).write_csv("masked.csv")
    people(90, 2).write_csv("synthetic.csv")
    people(60, 3).write_csv("others.csv")
    return tmp_path


COMMAND = Command("audit")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse


def attacks_of(found: Any, attack: str, release: int = 0) -> list[Any]:
    return [each for each in found["releases"][release]["attacks"] if each["attack"] == attack]


LINK = ("--link", "age,sex:income,town")


# --- what comes out ---------------------------------------------------------------------------------------------------


def test_json_has_the_promised_fields() -> None:
    found = answer("people.csv", "masked.csv", "synthetic.csv", "--control", "others.csv", "--seed", "4", *LINK)
    assert next(iter(found)) == "schema"
    assert found["schema"] == "unveil.audit/4"
    assert found["decision"].keys() == DECISION_FIELDS
    for release in found["decision"]["releases"]:
        assert release.keys() == RELEASE_FIELDS
        assert len(release["risks"]) == 4
        for effect in release["effects"]:
            assert effect.keys() == EFFECT_FIELDS
            assert effect["excess"].keys() == {"value", "low", "high"}
    tests = found["tests"]
    assert tests.keys() == TEST_FIELDS
    assert tests["control"].keys() == CONTROL_FIELDS
    for release in tests["releases"]:
        assert release.keys() == {"name", "p", "tests", "copies"}
        assert release["copies"].keys() == {"exact_copies", "expected", "control_rate", "unmistakable", "groups"}
        for figure in release["tests"]:
            assert figure.keys() == JUDGED_FIELDS
    assert found["original"]["rows"] == 80
    assert [column["name"] for column in found["original"]["columns"]] == ["age", "sex", "town", "income"]
    assert len(found["original"]["sha256"]) == 64
    assert [(each["name"], each["rows"], each["type"]) for each in found["releases"]] == [
        ("masked.csv", 80, "masked"),
        ("synthetic.csv", 90, None),
    ]
    for release in found["releases"]:
        for attack in release["attacks"]:
            assert attack.keys() >= ATTACK_FIELDS
            for figure in ("attack_rate", "baseline", "control_rate", "normalized_excess"):
                assert attack[figure].keys() == {"value", "low", "high"}
            assert attack["successes"].keys() == {"expected", "low", "high"}
    assert (found["decision"]["threshold"], found["decision"]["exit"], found["seed"]) == (None, 0, 4)
    assert found["version"]


def test_a_shuffled_original_is_found_out_and_a_foreign_table_is_not() -> None:
    found = answer("people.csv", "masked.csv", "synthetic.csv", "--control", "others.csv", "--neighbours", "1", *LINK)
    masked, foreign = (attacks_of(found, "linkability", at)[0] for at in (0, 1))
    assert masked["normalized_excess"]["low"] > 0.5
    assert foreign["normalized_excess"]["low"] < 0.05
    assert attacks_of(found, "copies", 0)[0]["attack_rate"]["value"] == 1
    run = ask("people.csv", "masked.csv", "synthetic.csv", "--control", "others.csv", "--neighbours", "1", *LINK)
    said = "High risk in masked.csv; lowest: synthetic.csv (excess at most "
    assert run.stdout.startswith(said)
    assert [each["level"] for each in found["decision"]["releases"]] == ["high", "inconclusive"]
    assert found["decision"]["headline"].startswith(said)
    assert MARKER not in run.stdout


def test_the_first_screen_is_the_decision_its_numbers_the_next_steps_and_four_risks() -> None:
    settings = ("people.csv", "masked.csv", "--control", "others.csv", "--kind", "masked", "--sensitive", "income")
    run = ask(*settings, "--threshold", "0.09")
    decision = json.loads(ask(*settings, "--threshold", "0.09", "--json").stdout)["decision"]
    assert (run.exit_code, decision["decision"], decision["exit"]) == (3, "fail", 3)
    headline, subline, *rest = run.stdout.splitlines()
    assert (headline, subline) == (decision["headline"], decision["subline"])
    assert headline.startswith("Fail (high risk): ")
    assert "excess 100 points (at least " in subline
    assert "threshold 9 points" in subline
    steps = [line.removeprefix("→ ") for line in rest if line.startswith("→ ")]
    assert len(steps) == len(decision["next"]) > 0
    lines = run.stdout.splitlines()
    rows = ("Singling out and re-identification", "Linkability", "Inference", "Membership")
    assert [any(line.startswith(row) for line in lines) for row in rows] == [True] * 4
    assert "Original data: 80 people. Control group: 60 people." in " ".join(run.stdout.split())


def test_the_example_needs_no_files() -> None:
    settings = ("--attacks", "linkability,copies", "--scenario", "neighbour=age,education", "--neighbours", "3")
    found = answer(*settings)
    assert found["original"]["rows"] == 700
    assert [each["name"] for each in found["releases"]] == ["shuffled", "rank-swapped", "gaussian-copula"]
    assert [each["type"] for each in found["releases"]] == ["masked", "masked", "synthetic"]
    excess = [attacks_of(found, "linkability", at)[0]["normalized_excess"]["value"] for at in range(3)]
    assert excess == sorted(excess, reverse=True)
    assert found == answer("--sample", *settings)
    assert "Built-in example" in ask("--sample", *settings).stdout


def test_scenarios_are_named_with_their_columns_and_reason() -> None:
    found = answer("people.csv", "masked.csv", "--scenario", "neighbour=age,sex", "--link", "age:town")
    named, linked = attacks_of(found, "linkability")
    assert (named["scenario"], linked["scenario"]) == ("neighbour", "age | town")
    assert named["attacker"]["second"] == ["town", "income"]
    assert (linked["attacker"]["first"], linked["attacker"]["second"]) == (["age"], ["town"])
    assert named["attacker"]["reason"]


def test_by_default_divisions_of_the_columns_are_tried_in_turn() -> None:
    found = answer("people.csv", "masked.csv", "--neighbours", "2", "--targets", "30")
    *splits, mean = attacks_of(found, "linkability")
    assert sorted(each["scenario"] for each in splits) == [f"column split {number}" for number in range(1, 8)]
    assert mean["scenario"] == "mean of all 7 splits"
    assert {each["targets"] for each in splits} == {30}
    assert found["releases"][0]["column_importance"][0]["loss"] > 0


def test_settings_come_from_a_file_and_options_win_over_it(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "audit.toml").write_text(
        """
        original = "../people.csv"
        control = "../others.csv"
        sensitive = "income"
        attacks = ["linkability"]
        neighbors = 3
        targets = "all"
        missing = ["?"]
        seed = 9

        [[release]]
        file = "../masked.csv"
        name = "what we publish"
        release_type = "masked"

        [[scenario]]
        name = "neighbour"
        columns = ["age", "sex"]
        reason = "people next door know that"

        [kinds]
        age = "ordered"

        [limits]
        linkability = 1
        """
    )
    found = answer("--config", "deep/audit.toml")
    (release,) = found["releases"]
    assert (release["name"], release["type"]) == ("what we publish", "masked")
    (attack,) = release["attacks"]
    assert (attack["neighbors"], attack["targets"], attack["scenario"]) == (3, 80, "neighbour")
    assert attack["attacker"]["reason"] == "people next door know that"
    assert attack["attacker"]["second"] == ["town"]
    assert found["seed"] == 9
    assert found["original"]["columns"][0]["type"] == "ordered"
    assert found["decision"]["threshold"] == {"value": None, "source": None, "limits": {"linkability": 1.0}}
    assert found["decision"]["decision"] == "pass"
    over = answer("--config", "deep/audit.toml", "--neighbours", "2", "--seed", "1", "--link", "age:sex")
    (attack,) = over["releases"][0]["attacks"]
    assert (attack["neighbors"], attack["scenario"], over["seed"]) == (2, "age | sex", 1)


def test_roles_and_missing_values_are_told(folder: Path) -> None:
    for name in ("people", "masked"):
        frame = pl.read_csv(f"{name}.csv").with_columns(pl.col("age").cast(pl.String).replace("33", "?"))
        frame.with_columns(card=pl.Series([f"c{at}" for at in range(80)])).write_csv(f"{name}.csv")
    found = answer(
        "people.csv", "masked.csv", "--missing", "?", "--sensitive", "town,income", "--id", "card", *LINK[:0]
    )
    roles = {column["name"]: (column["type"], column["role"]) for column in found["original"]["columns"]}
    assert roles == {
        "age": ("number", "known"), "sex": ("category", "known"), "town": ("category", "sensitive"),
        "income": ("number", "sensitive"), "card": ("text", "identifier"),
    }  # fmt: skip
    assert any("still has the identifier 'card'" in note for note in found["notes"])


def test_parquet_and_compressed_files_give_the_same_answer(folder: Path) -> None:
    import gzip

    pl.read_csv("people.csv").write_parquet("people.parquet")
    (folder / "masked.csv.gz").write_bytes(gzip.compress((folder / "masked.csv").read_bytes()))
    plain = answer("people.csv", "masked.csv", *LINK)
    other = answer("people.parquet", "masked.csv.gz", *LINK)
    assert other["releases"][0]["attacks"] == plain["releases"][0]["attacks"]


def test_the_old_option_for_the_rules_of_anonymeter_names_where_they_are() -> None:
    run = ask("people.csv", "masked.csv", "--compatibility", "anonymeter")
    assert run.exit_code == 2
    assert "unveil.anonymeter" in run.stderr
    assert run.stderr.count("\n") == 1


def test_the_page_is_whole_private_and_states_its_day_only_on_the_sheet(folder: Path) -> None:
    settings = ("people.csv", "masked.csv", "--control", "others.csv", "--targets", "20", "--html", "report.html")
    assert ask(*settings, "--quiet").output == ""
    text = (folder / "report.html").read_text()
    assert text.rstrip().endswith("</html>")
    assert ask(*settings, "--quiet").output == ""
    assert text == (folder / "report.html").read_text()
    assert f"run on {date.today().isoformat()}" in text
    words = text.replace('<span class="option">', "").replace("</span>", "")
    assert "unveil audit people.csv masked.csv --control others.csv --targets 20" in words
    assert MARKER not in text
    assert "town" in text


def test_no_output_holds_a_cell(folder: Path) -> None:
    run = ask("people.csv", "masked.csv", "--kind", "masked", "--targets", "20", "--html", "report.html", "--json")
    assert MARKER not in run.output
    assert MARKER not in (folder / "report.html").read_text()


def test_the_hash_is_that_of_the_whole_file(folder: Path) -> None:
    found = answer("people.csv", "masked.csv", "--control", "others.csv", "--targets", "20")
    files = {name: (folder / f"{name}.csv").read_bytes() for name in ("people", "masked", "others")}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert found["original"]["sha256"] == hashes["people"]
    assert found["releases"][0]["sha256"] == hashes["masked"]
    assert found["control"]["sha256"] == hashes["others"]


def test_the_example_is_no_whole_file_and_has_no_hash() -> None:
    found = answer("--attacks", "copies")
    assert found["original"]["sha256"] is None
    assert found["control"]["sha256"] is None


def test_records_are_shown_on_the_page_only_and_only_when_asked_for(folder: Path) -> None:
    settings = ("people.csv", "masked.csv", "--control", "others.csv", "--targets", "20")
    plain = ask(*settings, "--html", "plain.html", "--json")
    shown = ask(*settings, "--html", "shown.html", "--json", "--show-records")
    assert (shown.exit_code, shown.output) == (0, plain.output)
    assert MARKER not in ask(*settings, "--html", "again.html", "--show-records").output
    assert MARKER not in (folder / "plain.html").read_text()
    page = (folder / "shown.html").read_text()
    assert page.count(f">{MARKER}-") == 20
    assert "do not share it" in page
    assert "do not share it" not in (folder / "plain.html").read_text()
    distinct = people(80, 1).n_unique()
    assert f"{distinct - 20} more records are not shown. 80 people have" in page
    refused = ask(*settings, "--show-records")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--html" in refused.stderr


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_limit_decides_the_exit_code() -> None:
    settings = ("people.csv", "masked.csv", "synthetic.csv", "--control", "others.csv", "--neighbours", "1", *LINK)
    run = ask(*settings, "--limit", "linkability=0.05", "--json")
    decision = json.loads(run.stdout)["decision"]
    assert (run.exit_code, decision["exit"]) == (3, 3)
    assert run.stderr.strip() == decision["headline"]
    assert decision["threshold"]["limits"] == {"linkability": 0.05}
    held = [each for release in decision["releases"] for each in release["effects"] if each["status"]]
    assert {(each["attack"], each["threshold"], each["status"]) for each in held} == {
        ("linkability", 0.05, "fail"),
        ("linkability", 0.05, "inconclusive"),
    }
    assert all((each["excess"]["low"] > 0.05) == (each["status"] == "fail") for each in held)
    kept = ask(*settings, "--limit", "linkability=1", "--quiet")
    assert (kept.exit_code, kept.output) == (0, "")
    # What fails is not a question of what is accepted.
    assert ask(*settings, "--limit", "linkability=0.05", "--accept-inconclusive", "--quiet").exit_code == 3
    near = ask("people.csv", "masked.csv", "--limit", "closest_record.median=0.01", "--quiet", *LINK)
    assert (near.exit_code, "the limit on closest_record.median is not met" in near.stderr) == (3, True)


@pytest.mark.parametrize(
    "limit", [("--limit", "linkability=0.05"), ("--limit", "linkability=0.05", "--limit", "utility.loss=1")]
)
def test_a_limit_that_needs_a_control_group_is_inconclusive_without_one(limit: tuple[str, ...]) -> None:
    run = ask("people.csv", "synthetic.csv", *limit)
    assert run.exit_code == 5
    assert "control group" in run.stdout.splitlines()[0]
    assert "→ Hold a random fifth of the people out (at least 200)" in run.stdout
    assert ask("people.csv", "synthetic.csv", *limit, "--accept-inconclusive", "--quiet").exit_code == 0


def test_limits_are_listed_on_the_page(folder: Path) -> None:
    settings = ("people.csv", "masked.csv", "--control", "others.csv", *LINK, "--quiet", "--html")
    limits = ("--limit", "copies=0.5", "--limit", "closest_record.median=0")
    assert ask(*settings, "with.html", *limits).exit_code == 3
    words = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", (folder / "with.html").read_text())))
    assert re.search(r"Fail \(high risk\): .*80 people's records are released unchanged", words)
    assert "--limit copies=0.5 --limit closest_record.median=0" in words
    assert ask(*settings, "without.html").exit_code == 0
    assert "Fail" not in (folder / "without.html").read_text().partition("<h1")[2].partition("</h1>")[0]


def test_limit_help_names_the_quantities() -> None:
    run = ask("--limit", "help")
    assert run.exit_code == 0
    for name in ("linkability", "copies.normalized", "worst", "max_risk", "closest_record.median"):
        assert name in run.stdout


# --- bad input --------------------------------------------------------------------------------------------------------


def test_a_limit_that_could_never_be_exceeded_is_refused() -> None:
    limit = ("--limit", "linkability=0.05")
    refuse(
        "people.csv", "masked.csv", "--control", "others.csv", "--attacks", "copies", *limit, naming=("--attacks",)
    )  # fmt: skip
    refuse("people.csv", "masked.csv", "--limit", "linkabilty=1", naming=("Did you mean 'linkability'",))
    for old in ("linkability.attack_rate", "linkability.excess_over_control.high"):
        refuse("people.csv", "masked.csv", "--limit", f"{old}=1", naming=("linkability",))


def test_old_names_of_options_and_limits_still_work() -> None:
    settings = ("people.csv", "masked.csv", "--control", "others.csv", "--known", "age,sex", "--kind", "masked")
    old = ask(*settings, "--limit", "linkability.excess_over_control=0.05", "--accept-undecided", "--json")
    new = ask(
        *settings[:4], "--quasi-identifiers", "age,sex", "--release-type", "masked",
        "--limit", "linkability.normalized=0.05", "--accept-inconclusive", "--json",
    )  # fmt: skip
    assert (old.exit_code, old.stdout) == (new.exit_code, new.stdout)


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        (f"name,street\n{MARKER},{MARKER}\n", ("none in common",)),
        ("", ("empty",)),
        ("age,sex,town,income\n", ("header",)),
        (f"age,sex,town,income\n1,f,{MARKER},1\n2,f,{MARKER},1\n3,f,{MARKER},1\n4,f,{MARKER},1\n5,f\n", ("row 5",)),
        (f"age,sex,town,income\ninf,f,{MARKER},1\n2.5,f,{MARKER},1\n", ("'age'", "infinite", "row 1")),
        (f"age,age,town,income\n1,f,{MARKER},1\n", ("different names", "columns 1 and 2")),
        (f'age,sex,town,income\n1,"f,{MARKER},1\n', ()),
    ],
)
@pytest.mark.parametrize("which", ["original", "released", "control"])
def test_a_file_that_cannot_be_used_is_refused(content: str, naming: tuple[str, ...], which: str, folder: Path) -> None:
    (folder / "bad.csv").write_text(content)
    files = {"original": "people.csv", "released": "masked.csv", "control": "others.csv"} | {which: "bad.csv"}
    refuse(files["original"], files["released"], "--control", files["control"], naming=naming)


@pytest.mark.parametrize("which", ["released", "control"])
def test_words_in_the_place_of_numbers_are_refused(which: str, folder: Path) -> None:
    (folder / "bad.csv").write_text(f"age,sex,town,income\n{MARKER},f,{MARKER},10\n{MARKER},m,{MARKER},20\n")
    files = {"released": "masked.csv", "control": "others.csv"} | {which: "bad.csv"}
    naming = ("'age'", "holds numbers in the original", "100 %")
    refuse("people.csv", files["released"], "--control", files["control"], naming=naming)
    # Where the original holds words, numbers are words too: it leads, and what is odd about them is said first.
    run = ask("bad.csv", "masked.csv")
    few, odd, *_ = run.stdout.splitlines()
    assert few.startswith("There are only 2 people: too few ")
    assert odd.startswith("No released value of 'age' of masked.csv occurs in the original")
    assert MARKER not in run.stdout


@pytest.mark.parametrize(
    ("separator", "decimal", "encoding", "words"),
    [(";", ",", "cp1252", "semicolons, decimal commas"), ("\t", ".", "utf-16", "tabs"), ("|", ".", "utf-8", "bars")],
)
def test_a_file_as_others_write_it_gives_the_same_answer_and_says_how_it_was_read(
    separator: str, decimal: str, encoding: str, words: str, folder: Path
) -> None:
    table = pl.read_csv("masked.csv").with_columns(pay=pl.col("income") + 0.25, town=pl.lit("Zürich"))
    table.write_csv("plain.csv")
    written = table.write_csv(separator=separator)
    (folder / "other.csv").write_bytes(written.replace(".", decimal).encode(encoding))
    pl.read_csv("people.csv").with_columns(pay=pl.col("income") + 0.25, town=pl.lit("Zürich")).write_csv("all.csv")
    plain, other = (
        answer("all.csv", name, "--attacks", "copies")["releases"][0] for name in ("plain.csv", "other.csv")
    )
    assert plain["attacks"] == other["attacks"]
    said = ask("all.csv", "other.csv", "--attacks", "copies").stdout
    assert "other.csv: read with" in said
    assert words in said


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        (("people.csv",), ("RELEASED",)),
        (("--control", "others.csv"), ("ORIGINAL",)),
        (("people.csv", "masked.csv", "--sample"), ("--example takes no files", "'people.csv'")),
        (("people.csv", "missing.csv"), ("missing.csv",)),
        (("people.csv", "masked.csv", "masked.csv"), ("given twice",)),
        (("people.csv", "masked.csv", "--neighbours", "81"), ("81", "80")),
        (("people.csv", "masked.csv", "--neighbours", "0"), ("--neighbors",)),
        (("people.csv", "masked.csv", "--targets", "none"), ("'all'",)),
        (("people.csv", "masked.csv", "--targets", "0"), ("at least 1",)),
        (("people.csv", "masked.csv", "--link", "age,sex:sex,income"), ("'sex' is in both groups",)),
        (("people.csv", "masked.csv", "--link", "age"), ("COLUMN:COLUMN",)),
        (("people.csv", "masked.csv", "--scenario", "age,sex"), ("NAME=COLUMN",)),
        (("people.csv", "masked.csv", "--scenario", "n=agee"), ("Did you mean 'age'",)),
        (("people.csv", "masked.csv", "--scenario", "n=age", "--scenario", "n=sex"), ("two are called 'n'",)),
        (("people.csv", "masked.csv", "--sensitive", "incme"), ("Did you mean 'income'",)),
        (("people.csv", "masked.csv", "--attacks", "linkabilty"), ("Did you mean 'linkability'",)),
        (("people.csv", "masked.csv", "--kind", "anonymous"), ("--release-type",)),
        (("people.csv", "masked.csv", "--id", "age", "--known", "age"), ("'age'", "one role")),
        (("people.csv", "masked.csv", "--config", "missing.toml"), ("missing.toml",)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(arguments: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse(*arguments, naming=naming)


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        ("original = [", ("TOML",)),
        ("orginal = 'x'", ("Did you mean 'original'",)),
        ("neighbors = 'ten'", ("'neighbors'", "whole number")),
        ("neighbors = true", ("'neighbors'", "whole number")),
        ("[[scenario]]\nname = 'x'", ("[[scenario]]", "columns")),
        ("[[release]]\nname = 'x'", ("[[release]]", "file")),
        ("[limits]\nlinkability.attack_rate = 'much'", ("is not a number",)),
        ("[limits]\nlinkability.attack_rat = 1", ("Did you mean",)),
        ("targets = 'some'", ("'all'",)),
    ],
)
def test_settings_that_cannot_be_used_are_refused(content: str, naming: tuple[str, ...], folder: Path) -> None:
    (folder / "bad.toml").write_text(content)
    refuse("people.csv", "masked.csv", "--config", "bad.toml", naming=naming)


# --- input that is odd but has an answer ------------------------------------------------------------------------------


def test_a_control_that_is_the_original_is_refused(approved: Approved) -> None:
    run = ask("people.csv", "masked.csv", "--control", "people.csv", *LINK)
    assert run.exit_code == 2
    approved(run.stderr)


def test_a_release_that_is_the_original_is_all_copies() -> None:
    found = answer("people.csv", "people.csv", "--control", "others.csv", *LINK)
    assert attacks_of(found, "copies")[0]["attack_rate"]["value"] == 1
    assert attacks_of(found, "row_order")[0]["attack_rate"]["low"] > 0.5


def test_one_person_has_an_answer(folder: Path) -> None:
    people(1, 5).write_csv("one.csv")
    found = answer("one.csv", "masked.csv")
    assert attacks_of(found, "linkability")[0]["targets"] == 1
    refuse("people.csv", "one.csv", "--neighbours", "10", naming=("neighbours", "1 or less"))
    alone = answer("people.csv", "one.csv")
    assert attacks_of(alone, "linkability")[0]["baseline"]["value"] == 1


def test_one_column_cannot_be_linked_but_has_other_figures(folder: Path) -> None:
    for name in ("people", "masked"):
        pl.read_csv(f"{name}.csv").select("age").write_csv(f"{name}1.csv")
    refuse("people1.csv", "masked1.csv", naming=("only one column ('age')", "other attacks"))
    found = answer("people1.csv", "masked1.csv", "--attacks", "copies,closest_record")
    assert attacks_of(found, "copies")[0]["attack_rate"]["value"] == 1


def test_rows_that_are_all_equal_or_all_missing_give_no_excess(folder: Path) -> None:
    pl.DataFrame({"a": ["x"] * 30, "b": [7] * 30}).write_csv("equal.csv")
    pl.DataFrame({"a": ["x"] * 20, "b": [7] * 20}).write_csv("alike.csv")
    (folder / "empty.csv").write_text("a,b\n" + ",\n" * 30)
    (folder / "void.csv").write_text("a,b\n" + ",\n" * 20)
    for one, other in (("equal.csv", "alike.csv"), ("empty.csv", "void.csv")):
        found = answer(one, other, "--control", other, "--neighbours", "2", "--html", "report.html")
        worst = attacks_of(found, "linkability")[0]
        assert worst["attack_rate"]["value"] == pytest.approx(worst["baseline"]["value"])
        assert worst["normalized_excess"]["value"] == pytest.approx(0, abs=1e-12)


def test_more_targets_than_rows_attack_everybody() -> None:
    found = answer("people.csv", "masked.csv", "--targets", "999", *LINK)
    assert attacks_of(found, "linkability")[0]["targets"] == 80
    assert any("there are no 999" in note for note in found["notes"])
    everybody = answer("people.csv", "masked.csv", "--targets", "all", *LINK)
    assert everybody["releases"] == found["releases"]


def test_a_byte_order_mark_does_no_harm(folder: Path) -> None:
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (folder / "masked.csv").read_bytes())
    plain, marked = answer("people.csv", "masked.csv", *LINK), answer("people.csv", "bom.csv", *LINK)
    assert marked["releases"][0]["attacks"] == plain["releases"][0]["attacks"]


STRANGE = [
    "<script>alert(1)</script>",
    "=1+1",
    'quo"te',
    "com,ma",
    "new\nline",
    "{{ 7 * 7 }}",
    "[bold]x[/bold]",
    "\x1b[31m",
]


def test_strange_names_and_values_are_harmless(folder: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: rng.choice(STRANGE, 40) for name in STRANGE})
    frame.write_csv("a.csv")
    frame.sample(fraction=1.0, shuffle=True, seed=1).write_csv("b.csv")
    # A name that is also a cell below it looks like data.
    run = ask("a.csv", "b.csv", "--targets", "10", "--html", "report.html", "--header", "yes")
    assert (run.exit_code, run.stderr) == (0, "")
    assert "\x1b" not in run.stdout
    page = (folder / "report.html").read_text()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    quoted = answer("a.csv", "b.csv", "--link", '"com,ma":=1+1', "--header", "yes")
    assert attacks_of(quoted, "linkability")[0]["attacker"]["first"] == ["com,ma"]


# --- the real program -------------------------------------------------------------------------------------------------


def test_help_loads_nothing_heavy_and_comes_first() -> None:
    script = (
        "import sys\nfrom unveil.cli import main\n"
        "try: main(['audit', '--help'])\nexcept SystemExit as end: print('code', end.code)\n"
        "print([name for name in ('numpy', 'polars', 'rich', 'numba', 'jinja2') if name in sys.modules])\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("code 0\n[]\n")
    commands = CliRunner().invoke(main, ["--help"]).stdout.partition("Audit:")[2]
    assert commands.split()[0] == "audit"
