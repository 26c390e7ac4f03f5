"""``unveil audit`` for somebody who signs: published limits and exit codes, the sheet, and what changed."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.audit_people import people
from tests.end_to_end.commands import MARKER, Command


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
    assert run.exit_code in (0, 3), run.output
    return Path("report.html").read_text()


def plain(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


# --- published limits -------------------------------------------------------------------------------------------------


def test_a_profile_that_is_exceeded_ends_with_3_and_leads_every_output() -> None:
    arguments = ("people.csv", "masked.csv", "--kind", "masked", *FEW, "--profile", "cell-5")
    run = ask(*arguments)
    assert run.exit_code == 3
    assert run.stdout.startswith("The limit of 5 people by custom among data custodians is exceeded: the highest")
    assert run.stderr.startswith("The limit of 5 people by custom among data custodians is exceeded")
    assert run.stderr.count("\n") == 1
    machine = ask(*arguments, "--json")
    found = json.loads(machine.stdout)
    profile = found["profile"]
    assert (machine.exit_code, profile["outcome"], profile["profile"]) == (3, "exceeded", "cell-5")
    assert found["verdict"]["exit"] == "exceeded"
    # What is exceeded is no question of what is accepted.
    assert ask(*arguments, "--accept-undecided", "--quiet").exit_code == 3
    assert profile["headline"] == run.stderr.strip()
    page = page_of(*arguments)
    assert profile["headline"].split(":")[0] in plain(page.partition("<h1")[2].partition("</h1>")[0])
    assert ">Limit exceeded<" in page


def test_a_profile_that_is_kept_ends_with_0_and_one_that_cannot_be_judged_with_3(approved: Approved) -> None:
    kept = ask("people.csv", "coarse.csv", "--kind", "masked", *FEW, "--profile", "ema", "--json")
    assert (kept.exit_code, kept.stderr) == (0, "")
    found = json.loads(kept.stdout)
    assert (found["profile"]["outcome"], found["verdict"]["exit"]) == ("kept", "kept")
    # Nobody said what kind of release it is; synthetic data need people outside; the figure itself was left out.
    for arguments, why in (
        (("people.csv", "coarse.csv", *FEW), "masked or synthetic (--kind)"),
        (("people.csv", "synthetic.csv", "--kind", "synthetic", *FEW), "--control"),
        (("people.csv", "coarse.csv", "--kind", "masked", "--attacks", "copies"), "was not measured"),
    ):
        open_ = ask(*arguments, "--profile", "ema", "--json")
        assert open_.exit_code == 3
        approved(open_.stderr)
        assert why in open_.stderr
        found = json.loads(open_.stdout)
        assert (found["profile"]["outcome"], found["verdict"]["exit"]) == ("not_shown", "not_shown")
        accepted = ask(*arguments, "--profile", "ema", "--json", "--accept-undecided")
        assert (accepted.exit_code, accepted.stderr) == (0, open_.stderr)


def test_without_a_profile_no_limit_applies() -> None:
    found = answer("people.csv", "masked.csv", "--kind", "masked", *FEW)
    assert (found["profile"], found["verdict"]["exit"]) == (None, None)
    page = page_of("people.csv", "masked.csv", *FEW)
    assert ">Limit exceeded<" not in page


# --- limits of one's own ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "limit", "code"),
    [
        (("--attacks", "disclosure"), "disclosure.highest_risk=0.2", 3),
        (("--attacks", "disclosure"), "disclosure.highest_risk=1", 0),
        (("--attacks", "disclosure"), "disclosure.k_anonymity=2", 3),
        (("--attacks", "disclosure"), "disclosure.k_anonymity=1", 0),
        (("--attacks", "utility"), "utility.loss=0.5", 0),
        (("--attacks", "singling_out", "--guesses", "20"), "singling_out.attack_rate.low=0.5", 3),
        (("--attacks", "inference", "--by", "sex"), "inference.worst_group.high=0.5", 3),
        (("--attacks", "membership", "--control", "others.csv"), "membership.excess_over_control.high=0.05", 3),
    ],
)
def test_new_figures_can_be_limited(arguments: tuple[str, ...], limit: str, code: int) -> None:
    run = ask("people.csv", "masked.csv", *arguments, "--limit", limit, "--json")
    assert run.exit_code == code, run.output
    (checked,) = json.loads(run.stdout)["limits"]
    assert (checked["quantity"], checked["exceeded"]) == (limit.partition("=")[0], code == 3)
    assert run.stderr.startswith("limit exceeded: ") == (code == 3)


def test_both_ways_to_set_limits_count() -> None:
    settings = ("people.csv", "coarse.csv", "--kind", "masked", *FEW, "--profile", "ema")
    run = ask(*settings, "--limit", "disclosure.average_risk=0", "--quiet")
    assert run.exit_code == 3
    assert run.stderr.startswith("limit exceeded: disclosure.average_risk")
    assert ask(*settings, "--limit", "disclosure.average_risk=1", "--quiet").exit_code == 0


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
    assert {each["direction"] for each in changes["figures"]} <= {"same", "no measurable change"}
    assert {"linkability", "inference", "disclosure", "utility"} == {each["attack"] for each in changes["figures"]}
    assert page_of(*arguments, "--compare", "before.json")


def test_a_better_release_is_seen_to_be_better(folder: Path) -> None:
    settings = ("--control", "others.csv", "--sensitive", "ill", "--attacks", "attribute_disclosure,disclosure")
    (folder / "before.json").write_text(ask("people.csv", "masked.csv", *settings, "--json").stdout)
    found = answer("people.csv", "synthetic.csv", *settings, "--compare", "before.json", "--seed", "7")
    by_figure = {(each["attack"], each["figure"]): each["direction"] for each in found["changes"]["figures"]}
    assert by_figure["attribute_disclosure", "attack_rate"] == "measurably lower"
    assert {each["what"] for each in found["changes"]["differences"]} >= {"releases", "seed"}


# --- the sheet --------------------------------------------------------------------------------------------------------


def test_the_sheet_has_all_that_is_signed() -> None:
    page = page_of(
        "people.csv", "masked.csv", "--control", "others.csv", "--sensitive", "ill", "--kind", "masked",
        "--scenario", "neighbour=age,sex", "--targets", "20", "--guesses", "40", "--technique", "age=in bands",
        "--technique", "town=top=coded", "--review", "May 2030", "--profile", "ema", "--seed", "11",
    )  # fmt: skip
    sheet = plain(page.partition('class="sheet"')[2].partition("</details>")[0])
    for said in (
        "Evidence for a decision on this release; no finding of anonymity", "Singling out", "Linkability", "Inference",
        "Before: the original", "After: masked.csv", "people.csv", "others.csv", "in bands", "top=coded", "not stated",
        "neighbour", "seed 11", "to be reviewed by May 2030", "unveil audit people.csv masked.csv", "Not tested",
        "evidence for the decision of the controller", "Decision: release, change or do not release",
    ):  # fmt: skip
        assert said in sheet, said
    assert len(re.findall(r"\b[0-9a-f]{64}\b", sheet)) == 3
    assert "Not tested: " not in sheet
    assert MARKER not in page


def test_what_stands_in_a_file_of_settings_counts(folder: Path) -> None:
    (folder / "audit.toml").write_text(
        """
        original = "people.csv"
        released = "masked.csv"
        kind = "masked"
        attacks = ["disclosure", "inference"]
        profile = "cell-3"
        review = "2031"
        by = "sex"
        sensitive = "ill"
        guesses = 10
        tolerance = 0.1
        minimum_cell = 20
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
    assert (run.exit_code, found["profile"]["profile"], found["by"], found["minimum_cell"]) == (3, "cell-3", "sex", 20)
    assert found["techniques"] == {"age": "rounded"}
    assert found["context"] == {"recipient": "two universities", "means": "a voters' roll"}
    sheet = plain((folder / "s.html").read_text())
    assert "Recipient (safe people) two universities" in sheet
    assert "disclosure.k_anonymity" in sheet
    assert MARKER not in sheet
    assert "has no 'reader'" in ask("--config", "audit.toml", "--context", "reader=me").stderr
    assert "20" in found["releases"][0]["disclosure"]["below"]
    assert any(each["population"] == 900 for each in found["releases"][0]["disclosure"]["population"])
    assert "to be reviewed by 2031" in (folder / "r.html").read_text()
    over = ask("--config", "audit.toml", "--profile", "cell-20", "--technique", "age=top coded", "--json")
    assert json.loads(over.stdout)["profile"]["profile"] == "cell-20"
    assert json.loads(over.stdout)["techniques"] == {"age": "top coded"}


def test_the_figures_before_are_those_of_the_original() -> None:
    found: Any = answer("people.csv", "coarse.csv", "--attacks", "linkability,disclosure,before", "--neighbours", "2")
    assert found["before"]["name"] == "the original itself"
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
