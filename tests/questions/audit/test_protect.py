"""A table before and after protection: who is kept apart, what each step makes, and which figures count."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.questions.audit.example import ORIGINAL, people
from unveil.cli import main
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections import protection_from
from unveil.questions.audit.protect import kept_apart, protect, protected


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 60), min_size=60, max_size=120), st.integers(0, 2**32 - 1))
def test_a_fifth_of_the_people_is_kept_apart_with_all_their_rows(persons: list[int], seed: int) -> None:
    table = Table.from_frame(pl.DataFrame({"who": persons, "row": range(len(persons))}))
    everybody = set(persons)
    if len(everybody) < 20:
        with pytest.raises(InputError, match=r"at least 20 are needed. Add a control group"):
            kept_apart(table, ("who",), rng=np.random.default_rng(seed))
        return
    inside, outside = kept_apart(table, ("who",), rng=np.random.default_rng(seed))
    one, other = (set(each.frame["who"]) for each in (inside, outside))
    assert one | other == everybody
    assert not one & other
    assert len(other) == len(everybody) // 5
    assert sorted([*inside.frame["row"], *outside.frame["row"]]) == list(range(len(persons)))
    assert outside.name == "control"


def test_each_step_is_made_of_the_last_one_and_knows_whose_each_row_is() -> None:
    table = Table.from_frame(ORIGINAL)
    steps = [(text, protection_from(text)) for text in ("generalization:columns=age,k=8", "shuffle", "gaussian-copula")]
    before, coarse, moved, made = protected(table, steps, rng=np.random.default_rng(2))
    assert [each.kind for each in (before, coarse, moved, made)] == ["masked", "masked", "masked", "synthetic"]
    assert made.truth is None
    for each in (before, coarse, moved):
        assert each.truth is not None
        # Income was never changed, so it tells whose row each is.
        assert each.released.frame["income"].to_list() == ORIGINAL["income"][each.truth.tolist()].to_list()
    assert sorted(coarse.released.frame["age"]) == sorted(moved.released.frame["age"])
    assert coarse.released.frame["age"].n_unique() < ORIGINAL["age"].n_unique()


def test_a_table_is_protected_in_python_as_on_the_command_line(tmp_path: Path) -> None:
    ORIGINAL.write_csv(tmp_path / "people.csv")
    settings: dict[str, Any] = {
        "method": "rank-swapping:p=20",
        "first": "shuffle",
        "attacks": "linkability",
        "seed": 1,
    }
    answers = [protect(given, **settings) for given in (ORIGINAL, tmp_path / "people.csv")]
    one, other = (each.released.frame for each in answers)
    assert one.equals(other)
    assert answers[0].control is not None
    assert (one.height, answers[0].control.rows) == (96, 24)
    assert [each.name for each in answers[0].releases] == ["as it is", "1 shuffle", "2 rank-swapping:p=20"]
    arguments = ["--first", "shuffle", "--protect", settings["method"], "--attacks", "copies", "--seed", "1"]
    out = tmp_path / "released.csv"
    run = CliRunner().invoke(main, ["protect", str(tmp_path / "people.csv"), *arguments, "--quiet", "--out", str(out)])
    assert run.exit_code == 0, run.output
    assert out.read_text(encoding="utf-8") == one.write_csv()


def test_limits_are_about_the_protected_table_and_not_about_what_it_was(tmp_path: Path) -> None:
    people(120, 1).write_csv(tmp_path / "people.csv")
    people(60, 2).write_csv(tmp_path / "others.csv")
    out = tmp_path / "released.csv"

    def ask(limit: str) -> tuple[int, dict[str, Any]]:
        run = CliRunner().invoke(
            main,
            ["protect", str(tmp_path / "people.csv"), "--control", str(tmp_path / "others.csv"), "--attacks",
             "disclosure", "--protect", "mondrian:k=12", "--seed", "1", "--limit", f"disclosure.k_anonymity={limit}",
             "--out", str(out), "--json"],
        )  # fmt: skip
        return run.exit_code, json.loads(run.stdout)

    # As it is, people are unique; k-anonymous by 12 the protected one is not by 40.
    assert ask("40")[0] == 3
    assert not out.exists()
    code, told = ask("12")
    assert code == 0
    decided = told["decision"]
    assert (decided["decision"], decided["threshold"]["limits"]) == ("pass", {"disclosure.k_anonymity": 12})
    assert pl.read_csv(out).height == 120
    assert told["original"]["rows"] == 120


def test_the_terminal_shows_each_attack_before_and_after_in_few_lines(tmp_path: Path) -> None:
    people(100, 1).write_csv(tmp_path / "people.csv")
    given = [str(tmp_path / "people.csv"), "--attacks", "linkability,membership,utility", "--seed", "2"]
    run = CliRunner().invoke(main, ["protect", *given, "--protect", "gaussian-copula"])
    assert run.exit_code == 0, run.output
    (heads,) = (line for line in run.stdout.splitlines() if line.split()[1:] == ["as", "it", "is", "gaussian-copula"])
    (linked,) = (line for line in run.stdout.splitlines() if line.startswith("Linkability "))
    before, after = linked[heads.index("as") : heads.index("gaussian")], linked[heads.index("gaussian") :]
    assert before.startswith("● high")
    assert "high" not in after
    assert len(run.stdout.splitlines()) <= 30


def test_cells_that_a_spreadsheet_would_run_are_warned_of_and_written_as_they_are(tmp_path: Path) -> None:
    table = people(120, 1).with_columns(pl.Series("note", ["=HYPERLINK(1)", "fine"] * 60))
    table.write_csv(tmp_path / "people.csv")
    files = {name: tmp_path / f"{name}.csv" for name in ("out", "others")}
    run = CliRunner().invoke(
        main,
        ["protect", str(tmp_path / "people.csv"), "--attacks", "disclosure", "--protect", "rank-swapping:p=20",
         "--seed", "1", "--html", str(tmp_path / "r.html"), "--out", str(files["out"]), "--others",
         str(files["others"])],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    for path in files.values():
        assert f"A spreadsheet would run cells of {path} as formulas, in the column 'note'" in run.stderr
        assert set(pl.read_csv(path)["note"]) == {"=HYPERLINK(1)", "fine"}
    assert "HYPERLINK" not in run.stderr
