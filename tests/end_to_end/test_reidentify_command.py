"""``unveil reidentify`` from files on disk to what a person or a machine reads, and every kind of bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.end_to_end.commands import MARKER, Command
from unveil.data.table import Table
from unveil.protections.table.rank_swapping import RankSwapping

N = 60
COMMAND = Command("reidentify")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse
PROTECT = ("people.csv", "--protect", "rank-swapping:p=10")
OUTSIDE = ("people.csv", "masked.csv", "--truth", "truth.csv")


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """Return people, a release of them that was made elsewhere, and whose each row is."""
    people = pl.DataFrame(
        {
            "who": [f"{MARKER}-{k:02}" for k in range(N)],
            "age": [20 + 9 * k % 67 for k in range(N)],
            "income": [11 * k % 71 for k in range(N)],
            "town": [f"{MARKER}{'xyz'[k % 3]}" for k in range(N)],
        }
    )
    table = Table.from_frame(people.drop("who"), name="original")
    made = RankSwapping(columns=("age", "income"), p=10).apply(table, rng=np.random.default_rng(1))
    truth = np.asarray(made.truth)
    masked = made.released.frame.with_columns(people["who"].gather(truth))
    rows = pl.DataFrame({"released": np.arange(1, N + 1), "original": truth + 1})
    named = {"people.csv": people, "masked.csv": masked, "truth.csv": rows.reverse()}
    return {name: frame.write_csv() for name, frame in named.items()}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


# --- what comes out ---------------------------------------------------------------------------------------------------


def test_json_has_the_promised_fields() -> None:
    found = answer(*PROTECT, "--attack", "intersection", "--attack", "intersection:p=5", "--seed", "4")
    assert found["schema"] == "unveil.reidentify/2"
    assert (found["records"], found["protect"]) == (N, "rank-swapping:p=10")
    assert (found["seed"], found["limits"], found["version"]) == (4, [], found["version"])
    right, wrong = found["attacks"]
    fields = {"attack", "valid", "attack_rate", "nonspecificity", "confusion", "witness"}
    assert fields <= right.keys()
    assert (right["attack"], right["valid"]["record_level"], right["witness"]) == ("intersection:p=10", 1, None)
    assert (wrong["attack"], wrong["valid"]["record_level"] < 1) == ("intersection:p=5", True)
    assert wrong["witness"].count(".") >= 1
    assert 0 <= right["attack_rate"]["low"] <= right["attack_rate"]["value"] <= right["attack_rate"]["high"] <= 1
    assert right["nonspecificity"]["after"] < right["nonspecificity"]["before"] == pytest.approx(np.log(N))
    assert MARKER not in json.dumps(found)


def test_text_page_and_json_say_the_same() -> None:
    run = ask(*PROTECT, "--attack", "intersection", "--attack", "nearest", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.startswith("intersection:p=10 re-identifies ")
    everything = ask(*PROTECT, "--attack", "intersection", "--attack", "nearest", "--verbose").stdout
    assert "Released record" in everything
    assert "\x1b" not in run.stdout
    found = answer(*PROTECT, "--attack", "intersection", "--attack", "nearest")
    page = Path("report.html").read_text()
    for attacked in found["attacks"]:
        rate = f"{attacked['attack_rate']['value']:.1%}"
        assert rate in run.stdout
        assert rate in page
    assert MARKER not in run.output + page


def test_without_files_the_example_is_attacked() -> None:
    run = ask("--html", "report.html")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.startswith("Built-in example: 120 people of an election study, with swapped ranks.")
    again = ask("--sample", "--attack", "intersection", "--known", "news,age", "--json")
    assert json.loads(again.stdout)["known"] == ["news", "age"]


@pytest.mark.parametrize("by", [("--truth", "truth.csv"), ("--id", "who")])
def test_a_release_made_elsewhere_by_a_declared_method(by: tuple[str, str]) -> None:
    declared = ("people.csv", "masked.csv", *by, "--attack", "nearest", "--known", "age,income", "--protect")
    found = answer(*declared, "rankSwap(P=10,TopPercent=0,BottomPercent=0)")
    assert (found["declared"], found["cannot_have_made_it"]) == (True, [])
    assert found["attacks"][0]["valid"]["counts"]["record_level"]["invalid"] > 0
    other = answer(*declared, "rank-swapping:p=2")
    assert "moved beyond the window" in other["cannot_have_made_it"][0]
    assert MARKER not in json.dumps(other["cannot_have_made_it"])
    assert other["attacks"][0]["valid"]["counts"]["record_level"]["valid"] is None


@pytest.mark.parametrize(
    ("method", "shown"),
    [
        ("addNoise(noise=2)", "the 60 records together refute it"),
        ("rank-swapping:p=2", "of 60 records refute it"),
    ],
)
def test_a_declared_method_that_the_file_refutes_is_an_answer(method: str, shown: str) -> None:
    """The file was swapped within 10% of the ranks: a report says that the declared method cannot have made it."""
    options = ("--known", "age,income", "--protect", method, "--attack", "bayes", "--attack", "intersection:p=10")
    run = ask(*OUTSIDE, *options)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.startswith(f"The release cannot come from the declared masking {method}: ")
    assert shown in run.stdout
    alone = ask(*OUTSIDE, *options[:6], "--limit", "attack_rate=0.5")
    assert alone.exit_code == 5  # no attack was run, which is no pass
    assert MARKER not in run.output + alone.output


def test_the_known_columns_are_learnt_in_the_order_named() -> None:
    found = answer(*PROTECT, "--attack", "intersection", "--known", "income,age")
    steps = found["attacks"][0]["nonspecificity"]["steps"]
    assert [step["column"] for step in steps] == [None, "income", "age"]
    assert found["known"] == ["income", "age"]


def test_a_release_made_elsewhere_by_row_numbers_or_by_a_column() -> None:
    found = answer(*OUTSIDE, "--attack", "nearest", "--known", "age,income")
    (attacked,) = found["attacks"]
    assert (found["protect"], attacked["valid"]["record_level"], attacked["valid"]["file_level"]) == (None, None, None)
    assert "not known" in attacked["valid"]["why"]["record_level"]
    assert attacked["attack_rate"]["value"] > 0.2
    named = answer("people.csv", "masked.csv", "--id", "who", "--attack", "nearest", "--known", "age,income")
    assert named["attacks"] == found["attacks"]
    whole = answer("people.csv", "masked.csv", "--id", "who", "--attack", "nearest")
    assert "who" not in whole["known"]


def test_parquet_gives_the_same_answer() -> None:
    for name in ("people", "masked", "truth"):
        pl.read_csv(f"{name}.csv").write_parquet(f"{name}.parquet")
    options = ("--attack", "intersection:p=10", "--attack", "nearest", "--known", "age,income")
    assert answer("people.parquet", "masked.parquet", "--truth", "truth.parquet", *options) == answer(
        *OUTSIDE, *options
    )


def test_a_class_of_ones_own_can_attack(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "my_attacks.py").write_text(
        "from unveil.guesses.beliefs import Beliefs\n"
        "from unveil.guesses.mass_function import MassFunction\n"
        "class Ignorant:\n"
        "    def run(self, *, released, knowledge, rng):\n"
        "        size = knowledge.records.rows\n"
        "        return Beliefs(size, (MassFunction.vacuous(size),) * released.rows)\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    (attacked,) = answer(*PROTECT, "--attack", "my_attacks:Ignorant")["attacks"]
    assert (attacked["attack"], attacked["valid"]["record_level"]) == ("my_attacks:Ignorant", 1)
    assert attacked["attack_rate"]["value"] == pytest.approx(1 / N)


def test_rows_of_nobody_can_be_told(folder: Path) -> None:
    rows = pl.read_csv("truth.csv").with_columns(pl.when(pl.col("released") > 30).then(pl.col("original")))
    rows.write_csv("some.csv")
    found = answer("people.csv", "masked.csv", "--truth", "some.csv", "--attack", "nearest", "--known", "age,income")
    assert found["records"] == N


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", ["attack_rate", "attack_rate.high"])
def test_limits_hold_for_the_attack_that_hits_most(quantity: str) -> None:
    options = (*PROTECT, "--attack", "intersection", "--attack", "nearest")
    found = answer(*options)
    key = "value" if quantity == "attack_rate" else "high"
    worst = max(attacked["attack_rate"][key] for attacked in found["attacks"])
    run = ask(*options, "--limit", f"{quantity}=0", "--json", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (3, f"fail: {quantity} is {worst:.6g}, the limit is 0\n")
    assert json.loads(run.stdout)["limits"][0]["value"] == worst
    assert ask(*options, "--limit", f"{quantity}=1", "--quiet").output == ""


def test_help_lists_the_quantities_and_names_the_options() -> None:
    listed = ask("--limit", "help").stdout
    assert "attack_rate" in listed
    assert "attack_rate.high" in listed
    assert "--method" in ask("--help").stdout


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        (("people.csv",), ("RELEASED", "--method")),
        (("people.csv", "masked.csv", "--protect", "shuffle", "--attack", "nearest"), ("--truth", "--id")),
        (("people.csv", "masked.csv", "--attack", "nearest"), ("--truth", "--id")),
        ((*OUTSIDE, "--id", "who", "--attack", "nearest"), ("--truth", "--id")),
        ((*PROTECT, "--truth", "truth.csv", "--attack", "nearest"), ("--truth", "RELEASED")),
        (PROTECT, ("--attack", "unveil list attacks")),
        (("--truth", "truth.csv"), ("ORIGINAL",)),
        ((*PROTECT, "--attack", "nearest", "--sample"), ("--example",)),
        ((*PROTECT, "--attack", "nearst"), ("'nearst'", "'nearest'")),
        ((*PROTECT, "--attack", "rank-intersection"), ("'intersection'",)),
        ((*PROTECT, "--attack", "linkability"), ("returns Trials",)),
        ((*PROTECT, "--attack", "intersection:p=0"), ("above 0",)),
        ((*PROTECT, "--attack", "intersection:p=200"), ("at most 100",)),
        ((*PROTECT, "--attack", "intersection:q=2"), ("'q'",)),
        ((*PROTECT, "--attack", "nearest", "--attack", "nearest"), ("twice",)),
        ((*PROTECT, "--attack", "nearest", "--known", "wage"), ("'wage'",)),
        ((*PROTECT, "--attack", "nearest", "--known", ","), ("--quasi-identifiers",)),
        ((*PROTECT, "--attack", "nearest", "--known", "age,age"), ("a column twice",)),
        ((*PROTECT, "--attack", "nearest:k=61"), ("61", "60")),
        ((*PROTECT, "--attack", "intersection:columns=town", "--known", "age,town"), ("'town'", "order")),
        (("people.csv", "--protect", "rank-swapping:p=0", "--attack", "nearest"), ("above 0",)),
        (("people.csv", "--protect", "gaussian-copula", "--attack", "nearest"), ("without an original",)),
        (("people.csv", "--protect", "magic", "--attack", "nearest"), ("'magic'",)),
        ((*OUTSIDE, "--attack", "bayes"), ("no mechanism",)),
        ((*OUTSIDE, "--attack", "intersection"), ("p is missing",)),
        (("missing.csv", "--protect", "shuffle", "--attack", "nearest"), ("missing.csv",)),
        (("people.csv", "masked.csv", "--id", "nobody", "--attack", "nearest"), ("'nobody'",)),
        (("people.csv", "masked.csv", "--id", "town", "--attack", "nearest"), ("people.csv", "town")),
        ((*PROTECT, "--attack", "nearest", "--limit", "hits=1"), ("hits",)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(arguments: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse(*arguments, naming=naming)


@pytest.mark.parametrize(
    ("change", "naming"),
    [
        ("1,2\n1,3\n", ("row 2", "released")),
        ("1,2\n2,2\n", ("row 2", "original")),
        ("1,0\n", ("'original'", "from 1 to 60", "row 1")),
        ("61,1\n", ("'released'", "from 1 to 60", "row 1")),
        (f"1,{MARKER}\n", ("'original'", "row 1")),
        ("1.5,2\n", ("'released'", "row 1")),
        (",2\n", ("'released'", "row 1")),
        ("1,2\n", ("lacks 59",)),
    ],
)
def test_a_truth_that_is_none_is_refused(change: str, naming: tuple[str, ...]) -> None:
    Path("bad.csv").write_text(f"released,original\n{change}")
    refuse("people.csv", "masked.csv", "--truth", "bad.csv", "--attack", "nearest", naming=("bad.csv", *naming))


def test_a_truth_without_its_columns_is_refused() -> None:
    Path("bad.csv").write_text(f"target,candidate\n{MARKER},1\n")
    refuse("people.csv", "masked.csv", "--truth", "bad.csv", "--attack", "nearest", naming=("bad.csv", "'released'"))


def test_names_of_people_must_be_in_both_files(folder: Path) -> None:
    people = pl.read_csv("people.csv")
    people.head(N - 1).write_csv("fewer.csv")
    refuse("fewer.csv", "masked.csv", "--id", "who", "--attack", "nearest", naming=("'who'", "masked.csv", "row"))
    pl.concat([people, people.head(1)]).write_csv("twice.csv")
    refuse("twice.csv", "masked.csv", "--id", "who", "--attack", "nearest", naming=("twice.csv", "row 61", "row 1"))


# --- input that is odd but has an answer ------------------------------------------------------------------------------


def odd_tables() -> dict[str, Any]:
    names = ['a "quoted", name', "2nd $ column", "naïve\tcolumn"]
    rows = {names[0]: [3.5, None, 7.25, 1.0, 9.5, 2.5, 4.5, 8.0], names[1]: ["x", "y", None, "x", "y", "z", "x", "y"]}
    return {
        "odd names and missing values": pl.DataFrame({**rows, names[2]: [1, 2, 3, 4, 5, 1, 2, 3]}),
        "a constant column and ties": pl.DataFrame({"a": [1] * 8, "b": [1, 1, 2, 2, 3, 3, 4, 4]}),
        "an empty column": pl.DataFrame({"a": pl.Series([None] * 8, dtype=pl.String), "b": [5, 1, 9, 2, 7, 3, 8, 4]}),
        "dates": pl.DataFrame({"day": [f"2020-0{k}-11" for k in (1, 3, 2, 5, 4, 7, 6, 9)], "letter": list("abcaabca")}),
        "one row": pl.DataFrame({"a": [3.5], "b": ["x"]}),
    }


@pytest.mark.parametrize("name", odd_tables())
def test_odd_tables_have_an_answer(name: str) -> None:
    frame = odd_tables()[name]
    frame.write_csv("odd.csv")
    run = ask("odd.csv", "--protect", "rank-swapping:p=30", "--attack", "bayes", "--attack", "nearest", "--json")
    assert (run.exit_code, run.stderr) == (0, ""), run.output
    found = json.loads(run.stdout)
    assert found["attacks"][0]["valid"]["record_level"] == 1
    assert found["records"] == frame.height
