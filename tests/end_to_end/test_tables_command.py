"""``unveil tables`` from files on disk to what a person or a machine reads; what may leave the house holds no count."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import unveil
from tests.approved.sentences import Approved
from tests.end_to_end.commands import MARKER, Command
from unveil._kernels.counts.solver import Budget
from unveil.attacks.counts import solve_counts
from unveil.data.counts.tabulate import tabulate, with_small_hidden
from unveil.questions.tables import run as run_module

COMMAND = Command("tables")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse
#: A count that stands nowhere in the table, and follows from it: 4000 - 1000 - 2963.
SECRET = 37


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("secret.csv").write_text("ward,count\nNorth,*\nSouth,1000\nWest,2963\nTotal,4000\n")
    Path("wards.csv").write_text("ward,f,m,Total\nNorth,20,*,23\nSouth,8,17,25\nTotal,28,20,48\n")
    Path("safe.csv").write_text("ward,f,m,Total\nNorth,*,*,23\nSouth,*,*,25\nTotal,28,20,48\n")
    Path("shown.csv").write_text("ward,f,m\nNorth,20,3\nSouth,18,17\n")
    return tmp_path


def test_what_a_person_reads(approved: Approved) -> None:
    run = ask("wards.csv", "--wide", "sex")
    assert run.exit_code == 0, run.output
    assert run.stdout.startswith("1 of 1 suppressed cell can be recovered exactly.\n")
    approved(run.stdout)
    everything = ask("wards.csv", "--wide", "sex", "--verbose").stdout
    assert re.search(r"\(North\) − \(North, f\) = 23 − 20 = 3|\(m\) − \(South, m\) = 20 − 17 = 3", everything)


def test_nothing_found_is_said_without_promising_too_much() -> None:
    run = ask("safe.csv", "--wide", "sex")
    assert run.stdout.startswith("No suppressed cell can be recovered exactly; the narrowest interval has ")


def test_json_has_figures_and_no_count_that_was_worked_out() -> None:
    found = answer("secret.csv", "--minimum", "50")
    assert found["schema"] == "unveil.tables/2"
    assert found["results"]["recovered"] == found["results"]["small_cells_recovered"] == 1
    assert str(SECRET) not in json.dumps(found)
    assert found["baselines"]["margins"] == 0


def test_the_edition_to_pass_on_holds_no_count_and_the_internal_one_says_that_it_does() -> None:
    run = ask("secret.csv", "--minimum", "50", "--html", "r.html", "--shareable", "s.html", "--cells", "c.csv")
    assert run.exit_code == 0, run.output
    internal, shared = Path("r.html").read_text(), Path("s.html").read_text()
    assert "Internal – do not share" in internal
    assert f">{SECRET}<" in internal
    text = re.sub(r"<style.*?</style>|<script.*?</script>", "", shared, flags=re.DOTALL)
    assert not re.search(rf"\b{SECRET}\b", text)
    assert pl.read_csv("c.csv").row(0, named=True)["low"] == SECRET


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("wards.csv", "--limit", "small_cells_recovered=0"), 3),
        (("wards.csv", "--limit", "small_cells_recovered=1"), 0),
        (("wards.csv", "--profile", "cell-5"), 3),
        (("safe.csv", "--profile", "cell-11"), 0),
        (("safe.csv", "--profile", "cell-11", "--minimum", "11"), 0),
        (("shown.csv", "--profile", "cell-11"), 3),
        (("shown.csv", "--limit", "small_cells_shown=0"), 3),
        (("safe.csv", "--limit", "recovered_rate=0"), 0),
        (("safe.csv", "--limit", "recovered=0", "--work", "1"), 5),
        (("safe.csv", "--profile", "cell-5", "--work", "1"), 5),
    ],
)
def test_limits_and_profiles_decide_the_exit_code(options: tuple[str, ...], code: int) -> None:
    run = ask(*options, "--wide", "sex")
    assert run.exit_code == code, run.output


def test_a_file_holds_settings_and_options_win_over_it() -> None:
    Path("there").mkdir()
    Path("there/districts.csv").write_text("child,parent\nNorth,All wards\nSouth,All wards\n")
    Path("there/wards.csv").write_text("ward,f,m,Total\nNorth,20,§,23\nSouth,8,17,25\nAll wards,28,20,48\n")
    Path("there/tables.toml").write_text(
        'tables = ["wards.csv"]\nwide = "sex"\nmin_cell = 3\n[suppressed]\n"§" = "1..4"\n[hierarchy]\n'
        'ward = "districts.csv"\n[limits]\nsmall_cells_recovered = 0\n'
    )
    run = ask("--config", "there/tables.toml", "--json")
    assert (run.exit_code, json.loads(run.stdout)["results"]["small_cells_recovered"]) == (
        0,
        0,
    )  # 3 is not small below 3
    assert ask("--config", "there/tables.toml", "--minimum", "4").exit_code == 3
    assert ask("--config", "there/tables.toml", "--minimum", "4", "--limit", "small_cells_recovered=1").exit_code == 0


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        ("minimun = 5", ("Unknown key 'minimun'", "min_cell")),
        ('min_cell = "5"', ("'min_cell'", "is not a whole number")),
        ("[limits]\nsmal = 0", ("Unknown limit 'smal'",)),
        ('rounding = "x"', ("--rounding",)),
        ('intervals = "c.csv"', ("Unknown key 'intervals'",)),
        ('hierarchy = "h.csv"', ("'hierarchy'", "is not a table")),
    ],
)
def test_a_file_of_settings_that_cannot_be_used_is_refused(content: str, naming: tuple[str, ...]) -> None:
    Path("tables.toml").write_text(content)
    refuse("wards.csv", "--config", "tables.toml", naming=naming)


def test_a_profile_says_which_rule_is_broken(approved: Approved) -> None:
    said = ask("wards.csv", "--wide", "sex", "--profile", "cell-5", "--quiet").stderr
    approved(said)


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert ask("safe.csv", "--json").stdout == ask("safe.csv", "--json").stdout


@pytest.mark.parametrize(
    ("content", "options", "naming"),
    [
        ("ward,count\nN,5\nS,7\nTotal,13\n", (), ("contradict each other", "(N) = 5 in row 1", "rounded")),
        ("ward,count\nN,5\nS,x7\n", (), ("bad.csv", "row 2", "TEXT=RANGE")),
        ("ward,count\nN,-\nS,7\n", (), ("unambiguous symbols", "row 1")),
        ("ward,count\nN,5\nN,7\n", (), ("row 2 has the codes of row 1",)),
        ("ward,count\nN,5\n", ("--hidden", "*"), ("--suppressed", "TEXT=RANGE")),
        ("ward,count\nN,5\n", ("--round", "x"), ("--round", "3:random")),
        ("ward,count\nN,5\n", ("--round", "5", "--noise", "2"), ("exclude each other",)),
        ("ward,count\nN,5\n", ("--population", "a"), ("EARLIER<LATER",)),
        ("ward,count\nN,5\n", ("--profile", "cell-11", "--minimum", "7"), ("sets the minimum to 11",)),
        ("ward,count\nN,5\n", ("--profile", "cell-11", "--minimum", "5"), ("--min-cell", "sets the minimum to 11")),
        ("ward,count\nN,3\n", ("--round", "5"), ("rounding base 5", "row 1")),
        ("ward;count\nN;1.204\nS;17\n", (), ("a point before three digits", "row 1", "without them")),
    ],
)
def test_bad_input_is_refused(content: str, options: tuple[str, ...], naming: tuple[str, ...]) -> None:
    Path("bad.csv").write_text(content)
    refuse("bad.csv", *options, naming=naming)


def test_records_behind_the_tables_are_held_against_every_range() -> None:
    people = pl.DataFrame({"ward": ["N"] * 12 + ["S"] * 9, "sex": ["f"] * 10 + ["m"] * 11, "name": [MARKER] * 21})
    with_small_hidden(tabulate(people, ["ward", "sex"]), 5).write_csv("made.csv")
    people.write_csv("people.csv")
    assert answer("made.csv", "--truth", "people.csv")["truth"]
    people.head(19).write_csv("others.csv")
    refuse("made.csv", "--truth", "others.csv", naming=("not made from these records",))


def test_a_rule_that_the_records_contradict_is_left_out() -> None:
    # 7 stands behind the symbol of N, which nobody can see: 3 and 7 would be 4 and 6 as well as small ones.
    people = pl.DataFrame({"ward": ["N"] * 6 + ["S"] * 1 + ["W"] * 9})
    people.write_csv("people.csv")
    Path("t.csv").write_text("ward,count\nN,*\nS,*\nW,9\nTotal,16\n")
    found = answer("t.csv", "--truth", "people.csv")
    assert [each["excluded_by_truth"] for each in found["readings"]] == [False, True, False]
    assert found["reading"] == "zeros"  # 1 to 6: that larger counts are hidden too is no secret


def test_from_python_and_as_picture() -> None:
    given = unveil.tables({"ward": ["N", "S", "Total"], "count": ["*", "7", "9"]}, min_cell=3)
    assert given.findings.figures.people == 2
    assert given.plot().size == 1
    assert given.to_polars()["low"].to_list() == [2]
    with pytest.raises(unveil.InputError, match="cell-11"):
        unveil.tables({"ward": ["N"], "count": ["1"]}, profile="cell-1")


def test_codes_that_a_spreadsheet_would_run_are_neutral_in_derived_files_and_warned_of_in_repaired_ones(
    approved: Approved,
) -> None:
    Path("evil.csv").write_text("ward,sex,count\n=1+1,f,20\n=1+1,m,*\n=1+1,Total,23\nSouth,f,8\nSouth,m,17\n")
    assert ask("evil.csv", "--cells", "cells.csv").exit_code == 0
    assert pl.read_csv("cells.csv")["ward"].to_list() == ["Total", "'=1+1"]
    Path("all.csv").write_text("ward,f,m\n=1+1,20,3\nSouth,18,17\n")
    run = ask("all.csv", "--wide", "sex", "--repair", "repaired.csv")
    approved(run.stderr)
    assert "=1+1" in pl.read_csv("repaired.csv")["ward"].to_list()
    assert answer("repaired.csv", "--minimum", "5")["results"]["small_cells_recovered"] == 0


def sparse(kinds: int = 5) -> pl.DataFrame:
    """Return twelve counts over many variables, nearly each with codes of its own, and no total."""
    sides = (5, 12, 5, 12, 11)[:kinds]
    codes = {f"c{at}": [f"{'abcde'[at]}{(7 * row + at) % side}" for row in range(12)] for at, side in enumerate(sides)}
    return pl.DataFrame({"count": ["*", "7", "12", "*", "3", "20"] * 2, **codes})


def test_a_few_counts_over_many_variables_are_settled_with_little_work() -> None:
    sparse().write_parquet("sparse.parquet")
    found = unveil.tables("sparse.parquet").findings
    assert found.is_finished
    assert found.figures.undecided == 0
    assert found.work < 100_000


def test_all_that_is_asked_shares_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Budget] = []

    class Watched(Budget):
        def __init__(self, left: int, **more: Any) -> None:
            super().__init__(left, **more)
            if self.source is None:
                made.append(self)

    for module in (run_module, solve_counts, solve_counts):
        monkeypatch.setattr(module, "Budget", Watched)
    cube = sparse(4).with_columns(pl.lit("30").alias("count"))
    total = pl.DataFrame({name: ["400" if name == "count" else "Total"] for name in cube.columns})
    pl.concat([cube, total]).write_csv("total.csv")
    Path("more.csv").write_text("c0,count\na0,*\na1,70\nTotal,400\n")
    found = unveil.tables(["total.csv", "more.csv"], solver_steps=2_000).findings
    assert len(made) == 1
    assert not found.is_finished
    assert found.figures.undecided > 0
    # A walk or a program may pass its end by what it takes to begin.
    assert made[0].spent < 20_000
