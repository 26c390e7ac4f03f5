"""``unveil audit`` for somebody who signs: published limits and exit codes, the sheet, and what changed."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.end_to_end.audit_people import people
from tests.end_to_end.commands import MARKER, Command
from unveil.questions.audit.decision.findings import Lack
from unveil.questions.audit.decision.templates import NEXT


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with an original, releases that keep and break a limit, and a control table."""
    monkeypatch.chdir(tmp_path)
    original = people(80, 1)
    original.write_csv("people.csv")
    original.sample(fraction=1.0, shuffle=True, seed=1).write_csv("masked.csv")
    pl.DataFrame({"age": [40] * 60, "sex": ["f", "m"] * 30}).write_csv("coarse.csv")
    people(90, 2).write_csv("synthetic.csv")
    people(70, 3).write_csv("others.csv")
    return tmp_path


COMMAND = Command("audit")
ask, answer = COMMAND.ask, COMMAND.answer
FEW = ("--attacks", "disclosure,copies")


def page_of(*arguments: str) -> str:
    run = ask(*arguments, "--html", "report.html", "--quiet")
    assert run.exit_code in (0, 3, 5), run.output
    return Path("report.html").read_text()


def plain(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


# --- published limits -------------------------------------------------------------------------------------------------


def test_a_profile_that_fails_ends_with_3_and_leads_every_output() -> None:
    arguments = ("people.csv", "masked.csv", "--kind", "masked", *FEW, "--known", "age,sex", "--profile", "cell-5")
    run = ask(*arguments)
    assert run.exit_code == 3
    headline = run.stdout.splitlines()[0]
    assert headline.startswith("Fail (high risk): ")
    assert "threshold 20 points" in run.stdout.splitlines()[1]
    machine = ask(*arguments, "--json")
    found = json.loads(machine.stdout)
    decision = found["decision"]
    assert (machine.exit_code, decision["exit"], decision["decision"]) == (3, 3, "fail")
    assert (decision["headline"], machine.stderr.strip()) == (headline, headline)
    assert decision["threshold"] == {"value": 0.2, "source": "custom among data custodians", "limits": {}}
    assert found["profile"]["profile"] == "cell-5"
    # What fails is not a question of what is accepted.
    assert ask(*arguments, "--accept-inconclusive", "--quiet").exit_code == 3
    page = page_of(*arguments)
    assert headline in plain(page.partition("<h1")[2].partition("</h1>")[0])
    assert ">Fail<" in page
    assert "threshold 20 points (custom among data custodians" in plain(page)


@pytest.mark.parametrize(
    ("arguments", "lacks"),
    [
        (("coarse.csv", "--kind", "masked", "--known", "age,sex"), "control"),
        (("coarse.csv", "--control", "others.csv", "--sensitive", "none", "--known", "age,sex"), "type"),
        (("coarse.csv", "--kind", "masked", "--control", "others.csv", "--known", "age,sex"), "sensitive"),
        (("coarse.csv", "--kind", "masked", "--control", "others.csv", "--sensitive", "none"), "quasi-identifiers"),
    ],
)
def test_a_profile_that_cannot_be_tested_ends_with_5_and_names_what_is_missing(
    arguments: tuple[str, ...], lacks: Lack
) -> None:
    settings = ("people.csv", *arguments, "--profile", "ema", "--targets", "30", "--guesses", "20")
    run = ask(*settings, "--json")
    assert run.exit_code == 5, run.output
    decision = json.loads(run.stdout)["decision"]
    assert (decision["decision"], decision["exit"]) == ("inconclusive", 5)
    assert lacks in decision["releases"][0]["lacks"]
    assert NEXT[lacks] in decision["next"]
    assert run.stderr.strip() == decision["headline"]
    accepted = ask(*settings, "--json", "--accept-inconclusive")
    assert accepted.exit_code == 0
    assert accepted.stdout == run.stdout


def test_without_a_threshold_nothing_passes_or_fails() -> None:
    decision = answer("people.csv", "masked.csv", "--kind", "masked", *FEW)["decision"]
    assert (decision["threshold"], decision["decision"], decision["exit"]) == (None, "none", 0)
    assert ">Fail<" not in page_of("people.csv", "masked.csv", *FEW)


# --- limits of one's own ----------------------------------------------------------------------------------------------


CONTROL = ("--control", "others.csv")


@pytest.mark.parametrize(
    ("arguments", "limit", "code"),
    [
        (("--attacks", "disclosure"), "disclosure.highest_risk=0.2", 3),
        (("--attacks", "disclosure"), "disclosure.highest_risk=1", 0),
        (("--attacks", "disclosure"), "disclosure.k_anonymity=2", 3),
        (("--attacks", "disclosure"), "disclosure.k_anonymity=1", 0),
        (("--attacks", "disclosure", "--kind", "masked", "--known", "sex"), "max_risk=0.2", 0),
        (("--attacks", "disclosure", "--kind", "masked", "--known", "age,sex"), "max_risk=0.2", 3),
        (("--attacks", "disclosure", "--kind", "masked"), "max_risk=0.2", 5),
        (("--attacks", "utility"), "utility.loss=0.5", 0),
        (("--attacks", "singling_out", "--guesses", "40", *CONTROL), "singling_out=0.05", 3),
        (("--attacks", "inference", "--sensitive", "ill", *CONTROL), "inference=0.05", 3),
        (("--attacks", "inference", "--sensitive", "ill"), "inference=0.05", 5),
        (("--attacks", "membership", *CONTROL), "membership=0.05", 3),
        (("--attacks", "copies", *CONTROL), "copies.normalized=0.3", 3),
        (("--attacks", "copies", *CONTROL), "copies=1", 0),
        (("--attacks", "copies", *CONTROL), "worst=0.05", 3),
    ],
)
def test_limits_on_single_effects_decide(arguments: tuple[str, ...], limit: str, code: int) -> None:
    run = ask("people.csv", "masked.csv", *arguments, "--limit", limit, "--json")
    assert run.exit_code == code, run.output
    decision = json.loads(run.stdout)["decision"]
    name, _, bound = limit.partition("=")
    assert decision["threshold"] == {"value": None, "source": None, "limits": {name: float(bound)}}
    assert decision["decision"] == {0: "pass", 3: "fail", 5: "inconclusive"}[code]
    assert run.stderr.strip() == ("" if code == 0 else decision["headline"])


def test_both_ways_to_set_limits_count() -> None:
    settings = ("people.csv", "coarse.csv", "--kind", "masked", *FEW, "--known", "age,sex", "--profile", "ema")
    run = ask(*settings, "--limit", "disclosure.average_risk=0", "--quiet")
    assert run.exit_code == 3
    assert "the limit on disclosure.average_risk is not met" in run.stderr
    # What the profile needs is missing still.
    assert ask(*settings, "--limit", "disclosure.average_risk=1", "--quiet").exit_code == 5


# --- what changed -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [(), ("--profile", "cell-3")])
def test_the_same_audit_again_changed_nothing(profile: tuple[str, ...], folder: Path) -> None:
    arguments = (
        "people.csv", "masked.csv", "--control", "others.csv", "--kind", "masked", "--targets", "20", "--by", "sex",
        "--attacks", "linkability,inference,disclosure,utility", *profile,
    )  # fmt: skip
    (folder / "before.json").write_text(ask(*arguments, "--json").stdout)
    again = json.loads(ask(*arguments, "--compare", "before.json", "--json").stdout)
    changes = again["changes"]
    assert (changes["new"], changes["gone"], changes["differences"]) == ([], [], [])
    assert {each["direction"] for each in changes["values"]} <= {"same", "no measurable change"}
    assert {"linkability", "inference", "disclosure", "utility"} == {each["attack"] for each in changes["values"]}
    assert page_of(*arguments, "--compare", "before.json")


def test_a_better_release_is_seen_to_be_better(folder: Path) -> None:
    settings = ("--control", "others.csv", "--sensitive", "ill", "--attacks", "attribute_disclosure,disclosure")
    (folder / "before.json").write_text(ask("people.csv", "masked.csv", *settings, "--json").stdout)
    found = answer("people.csv", "synthetic.csv", *settings, "--compare", "before.json", "--seed", "7")
    by_figure = {(each["attack"], each["value"]): each["direction"] for each in found["changes"]["values"]}
    assert by_figure["attribute_disclosure", "attack_rate"] == "measurably lower"
    assert {each["what"] for each in found["changes"]["differences"]} >= {"releases", "seed"}


# --- the sheet --------------------------------------------------------------------------------------------------------


def test_the_sheet_has_all_that_is_signed() -> None:
    run = ask(
        "people.csv", "masked.csv", "--control", "others.csv", "--sensitive", "ill", "--kind", "masked",
        "--scenario", "neighbour=age,sex", "--targets", "20", "--guesses", "40", "--technique", "age=in bands",
        "--technique", "town=top=coded", "--review", "May 2030", "--profile", "ema", "--seed", "11",
        "--sheet", "sheet.html", "--quiet",
    )  # fmt: skip
    assert run.exit_code in (3, 5), run.output
    document = Path("sheet.html").read_text()
    sheet = plain(document)
    for said in (
        "evidence for a decision on this release", "not a legal determination of anonymity", "Singling out",
        "Linkability", "Inference",
        "Results before and after Original data masked.csv", "people.csv", "others.csv", "in bands", "top=coded",
        "not stated",
        "neighbour", "seed 11", "to be reviewed by May 2030", "unveil audit people.csv masked.csv", "Utility loss",
        "evidence for the decision of the controller", "Decision: release, change or do not release",
    ):  # fmt: skip
        assert said in sheet, said
    assert len(re.findall(r"\b[0-9a-f]{64}\b", sheet)) == 3
    assert MARKER not in document


def test_what_stands_in_a_file_of_settings_counts(folder: Path) -> None:
    (folder / "audit.toml").write_text(
        """
        original = "people.csv"
        released = "masked.csv"
        release_type = "masked"
        attacks = ["disclosure", "inference"]
        profile = "cell-3"
        review = "2031"
        group_by = "sex"
        sensitive = "ill"
        predicates = 10
        tolerance = 0.1
        min_cell = 20
        population_size = 900
        [techniques]
        age = "rounded"
        [context]
        recipient = "two universities"
        """
    )
    run = ask(
        "--config", "audit.toml", "--json", "--html", "r.html", "--context", "means=a voters' roll", "--sheet", "s.html"
    )
    found = json.loads(run.stdout)
    assert (run.exit_code, found["profile"]["profile"], found["group_by"], found["min_cell"]) == (
        5,
        "cell-3",
        "sex",
        20,
    )
    assert found["techniques"] == {"age": "rounded"}
    assert found["context"] == {"recipient": "two universities", "means": "a voters' roll"}
    sheet = plain((folder / "s.html").read_text())
    assert "Recipient (safe people) two universities" in sheet
    assert "disclosure.k_anonymity" in (folder / "r.html").read_text()
    assert MARKER not in sheet
    assert "Unknown field 'reader'" in ask("--config", "audit.toml", "--context", "reader=me").stderr
    assert "20" in found["releases"][0]["disclosure"]["below"]
    assert any(each["population"] == 900 for each in found["releases"][0]["disclosure"]["population"])
    assert "to be reviewed by 2031" in (folder / "r.html").read_text()
    over = ask("--config", "audit.toml", "--profile", "cell-20", "--technique", "age=top coded", "--json")
    assert json.loads(over.stdout)["profile"]["profile"] == "cell-20"
    assert json.loads(over.stdout)["techniques"] == {"age": "top coded"}


def test_the_figures_before_are_those_of_the_original() -> None:
    found: Any = answer("people.csv", "coarse.csv", "--attacks", "linkability,disclosure,before", "--neighbours", "2")
    assert found["before"]["name"] == "unprotected original"
    assert found["before"]["disclosure"]["k_anonymity"] < found["releases"][0]["disclosure"]["k_anonymity"]
    assert [each["attack"] for each in found["before"]["attacks"]] == ["linkability", "linkability"]


def test_weights_and_households_are_in_the_report(folder: Path) -> None:
    for name in ("people", "masked"):
        frame = pl.read_csv(f"{name}.csv").with_columns(
            heavy=pl.lit(12.5), home=pl.Series([row // 2 for row in range(80)])
        )
        frame.write_csv(f"{name}.csv")
    arguments = ("people.csv", "masked.csv", "--attacks", "disclosure", "--weight", "heavy", "--household", "home")
    found = answer(*arguments)["releases"][0]["disclosure"]
    assert {each["method"]: each["population"] for each in found["population"]}["weights"] == 1000
    assert (found["household"]["households"], found["household"]["largest"]) == (40, 2)
    assert set(found["columns"]) == {"age", "sex", "town", "ill"}
