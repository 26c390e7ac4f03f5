"""Bad input of an audit: one sentence, exit code 2, nothing written, no cell; and odd input that has an answer."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.audit_people import people
from tests.end_to_end.commands import MARKER, Command


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with an original, a release and a control table."""
    monkeypatch.chdir(tmp_path)
    original = people(80, 1)
    original.write_csv("people.csv")
    original.sample(fraction=1.0, shuffle=True, seed=1).write_csv("masked.csv")
    people(70, 3).write_csv("others.csv")
    return tmp_path


COMMAND = Command("audit")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse
FILES = ("people.csv", "masked.csv")


def add(**columns: Any) -> None:
    """Add columns to the original and the release: the same to both, or a pair of lists."""
    for place, name in enumerate(FILES):
        frame = pl.read_csv(name)
        told = {key: value[place] if isinstance(value, tuple) else value for key, value in columns.items()}
        frame.with_columns(**{key: pl.Series(key, value) for key, value in told.items()}).write_csv(name)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        (("--sensitive", "ill", "--known", "age,ill"), ("'ill'", "quasi-identifiers and sensitive", "one role")),
        (("--sensitive", "ill", "--weight", "ill"), ("'ill'", "one role")),
        (("--weight", "age", "--household", "age"), ("'age'", "one role")),
        (("--sensitive", "ill", "--scenario", "n=age,ill"), ("'ill'", "sensitive")),
        (("--by", "twon"), ("'twon'", "Did you mean 'town'")),
        (("--weight", "wieght"), ("'wieght'",)),
        (("--household", "hme"), ("'hme'",)),
        (("--profile", "emma"), ("'emma'", "Did you mean 'ema'")),
        (("--profile", "strict"), ("'strict'", "health-canada")),
        (("--profile", ""), ("profile",)),
        (("--sensitive", ""), ("'--sensitive'", "empty")),
        (("--id", ","), ("'--id'", "it names none")),
        (("--known", " , "), ("'--quasi-identifiers'", "it names none")),
        (("--attacks", ""), ("'--attacks'", "empty")),
        (("--attacks", ","), ("'--attacks'", "it names none")),
        (("--targets", ""), ("'--targets'", "empty")),
        (("--review", ""), ("'--review'", "empty")),
        (("--review", "2024-02-30"), ("'2024-02-30'", "not in the calendar")),
        (("--review", "2027-13-01"), ("'2027-13-01'", "not in the calendar")),
        (("--population-size", "9" * 400), ("--population-size", "400")),
        (("--compare", "/dev/zero"), ("/dev/zero", "device")),
        (("--config", "/dev/zero"), ("/dev/zero", "device")),
        (("--control", "x" * 300), ("cannot be read",)),
        (("--technique", "age"), ("--technique", "COLUMN=TEXT")),
        (("--technique", "=rounded"), ("COLUMN=TEXT",)),
        (("--technique", "age="), ("COLUMN=TEXT",)),
        (("--technique", "agee=rounded"), ("'agee'", "Did you mean 'age'")),
        (("--minimum-cell", "1"), ("--min-cell", "2")),
        (("--minimum-cell", "few"), ("--min-cell",)),
        (("--guesses", "0"), ("--predicates",)),
        (("--tolerance", "-0.1"), ("--tolerance",)),
        (("--tolerance", "1.5"), ("olerance", "1")),
        (("--population-size", "0"), ("--population-size",)),
        (("--population-size", "79", "--attacks", "disclosure"), ("80", "79")),
        (("--attacks", "singling-ou"), ("Did you mean 'singling_out'",)),
        (("--attacks", "disclosures"), ("Did you mean 'disclosure'",)),
        (("--limit", "membership.attack_rate=0.1"), ("membership=0.1",)),
        (("--limit", "inference.excess_over_control.high=0.1"), ("Did you mean 'inference'",)),
        (("--limit", "inference.worst_group.high=0.5"), ("Did you mean 'inference'",)),
        (("--threshold", "1.5"), ("--threshold", "1")),
        (("--threshold", "-0.1"), ("--threshold",)),
        (("--threshold", "much"), ("--threshold",)),
        (("--threshold", "0.1", "--profile", "ema"), ("threshold", "profile")),
        (("--release-type", "anonymous"), ("--release-type",)),
        (("--limit", "disclosure.highest_risk=0.2", "--attacks", "utility"), ("--attacks",)),
        (("--limit", "disclosure.highest_rsk=0.2"), ("Did you mean 'disclosure.highest_risk'",)),
        (("--limit", "copies.worst_group=0.2", "--by", "sex"), ("Unknown limit",)),
    ],
)
def test_settings_that_make_no_sense_are_refused(arguments: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse(*FILES, *arguments, naming=naming)


@pytest.mark.parametrize(("weight", "why"), [(-2.5, "negative"), (None, "missing"), (0.0, "0"), ("much", "numbers")])
@pytest.mark.parametrize("which", ["release", "original"])
def test_weights_that_are_none_are_refused_with_column_and_row(weight: Any, why: str, which: str) -> None:
    good: list[Any] = [3.5] * 80
    bad: list[Any] = [3.5] * 40 + [weight] + [3.5] * 39
    if isinstance(weight, str):
        good, bad = ["3.5"] * 80, ["3.5"] * 40 + [MARKER] + ["3.5"] * 39
    add(stands_for=(bad, good) if which == "original" else (good, bad))
    parts = "disclosure" if which == "release" else "disclosure,before"
    text = refuse(*FILES, "--weight", "stands_for", "--attacks", parts, naming=("'stands_for'",))
    if not isinstance(weight, str):
        assert "row 41" in text
        assert why in text
    assert "-2.5" not in text
    assert "the the" not in text


def test_a_weight_that_the_release_lacks_is_refused() -> None:
    people(80, 1).with_columns(heavy=pl.lit(2.0)).write_csv("people.csv")
    refuse(*FILES, "--weight", "heavy", "--attacks", "disclosure", naming=("'heavy'", "masked.csv"))


@pytest.mark.parametrize("parts", ["inference", "attribute_disclosure", "inference,copies,disclosure"])
@pytest.mark.parametrize("cells", [[MARKER] * 80, [None] * 80])
def test_a_sensitive_column_that_is_the_same_for_everybody_is_refused(parts: str, cells: list[Any]) -> None:
    add(flat=cells)
    refuse(*FILES, "--sensitive", "flat", "--attacks", parts, naming=("'flat'",))


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        (f'{{"schema": "unveil.audit/99", "x": "{MARKER}"}}', ("before.json", "unveil.audit/99", "unveil.audit/2")),
        ('{"schema": "unveil.unlinkability/2"}', ("before.json", "another command")),
        (f'{{"name": "{MARKER}"}}', ("before.json", "not from unveil")),
        (f"[1, 2, {MARKER}", ("before.json", "JSON")),
        ("", ("before.json", "JSON")),
        (f"age,sex\n{MARKER},f\n", ("before.json", "JSON")),
        ('{"schema": "unveil.audit/2"}', ("before.json", "lacks its releases")),
        ('{"schema": "unveil.audit/2", "releases": [{"name": "x", "attacks": 3}]}', ("before.json",)),
    ],
)
def test_what_is_no_earlier_audit_is_refused(content: str, naming: tuple[str, ...], folder: Path) -> None:
    (folder / "before.json").write_text(content)
    refuse(*FILES, "--attacks", "copies", "--compare", "before.json", naming=naming)


def test_an_earlier_audit_that_is_not_there_is_refused() -> None:
    refuse(*FILES, "--compare", "nowhere.json", naming=("nowhere.json",))


@pytest.mark.parametrize(
    "content",
    ["profile = 'emma'", "min_cell = 1", "tolerance = -1", "predicates = 'many'", "by = 3", "techniques = 'age'"],
)
def test_a_file_of_settings_is_held_to_the_same(content: str, folder: Path) -> None:
    (folder / "bad.toml").write_text(content)
    refuse(*FILES, "--attacks", "copies", "--config", "bad.toml", naming=(content.split(" ")[0],))


def test_no_report_replaces_an_input_or_the_other_report(folder: Path, approved: Approved) -> None:
    (folder / "before.json").write_text(ask(*FILES, "--attacks", "copies", "--json").stdout)
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    for name in (*FILES, "before.json"):
        run = ask(*FILES, "--attacks", "copies", "--compare", "before.json", "--shareable", name)
        assert (run.exit_code, run.stdout) == (2, "")
        assert "input" in run.stderr
    same = ask(*FILES, "--attacks", "copies", "--html", "one.html", "--shareable", f"{folder}/one.html")
    assert (same.exit_code, same.stdout) == (2, "")
    approved(same.stderr)
    assert {path: path.read_bytes() for path in folder.iterdir()} == kept


def test_a_shareable_report_that_cannot_be_written_is_refused_before_anything_runs() -> None:
    for target in ("nowhere/s.html", "."):
        refuse(*FILES, "--shareable", target, naming=("--redacted",))


# --- odd input that has an answer -------------------------------------------------------------------------------------


def strange(names: tuple[str, ...], rows: int, seed: int) -> pl.DataFrame:
    """Return columns of these names, each of another kind, and two plain ones."""
    rng = np.random.default_rng(seed)
    kinds = (rng.choice(list("xyz"), rows), rng.integers(0, 50, rows), rng.random(rows), rng.random(rows) < 0.5)
    return pl.DataFrame(
        {
            "p": rng.choice(list("abcd"), rows),
            "r": rng.choice(list("uv"), rows),
            **{name: kinds[place % 4] for place, name in enumerate(names)},
        }
    )


@pytest.mark.parametrize(
    "names",
    [('quo"te', "new\nline", "$", "$1"), ("^x", "ünï→", "\u200b", "7"), ("{{ 7 * 7 }}", "a'b, c", "{}", "x" * 300)],
)
def test_any_name_of_a_column_works_in_every_part(names: tuple[str, ...], folder: Path) -> None:
    for file, rows, seed in (("people.csv", 60, 1), ("masked.csv", 60, 2), ("others.csv", 66, 3)):
        strange(names, rows, seed).write_csv(file)
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    arguments = (*FILES, "--control", "others.csv", "--kind", "masked", "--by", names[0], "--sensitive", "r")
    more = ("--targets", "20", "--guesses", "20", "--link", f"p:{quoted[1]}", "--technique", f"{names[0]}=as it was")
    roles = ("--known", ",".join(["p", *quoted]), "--profile", "cell-3", "--shareable", "s.html", "--html", "i.html")
    run = ask(*arguments, *more, *roles, "--json")
    assert run.exit_code in (3, 5), run.output
    assert json.loads(run.stdout)["group_by"] == names[0]
    assert json.loads(run.stdout)["decision"]["exit"] == run.exit_code
    assert (folder / "s.html").exists()


@pytest.mark.parametrize("name", ["*", "^p.*$"])
def test_a_name_that_stands_for_other_columns_is_refused(name: str) -> None:
    strange((name,), 30, 1).write_csv("odd.csv")
    refuse("odd.csv", "odd.csv", "--attacks", "copies", naming=("column 3", "Rename it"))


def without_values(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(gone=pl.lit(None, pl.String))


@pytest.mark.parametrize("control", [(), ("--control", "others.csv")])
@pytest.mark.parametrize("tables", ["all null column", "one person", "one released row", "one row each", "two columns"])
def test_small_and_empty_tables_have_an_answer(tables: str, control: tuple[str, ...], folder: Path) -> None:
    frames = {name: pl.read_csv(f"{name}.csv") for name in ("people", "masked", "others")}
    few = {"one person": ["people"], "one released row": ["masked"], "one row each": ["people", "masked", "others"]}
    for name, frame in frames.items():
        shown = without_values(frame) if tables == "all null column" else frame
        shown = shown.head(1) if name in few.get(tables, ()) else shown
        (shown.select("age", "sex") if tables == "two columns" else shown).write_csv(f"{name}.csv")
    arguments = (*FILES, *control, "--neighbours", "1", "--targets", "20", "--guesses", "20", "--kind", "masked")
    run = ask(*arguments, "--by", "sex", "--profile", "ema", "--html", "i.html", "--shareable", "s.html", "--json")
    decision = json.loads(run.stdout)["decision"]
    assert run.exit_code == decision["exit"]
    assert decision["decision"] in ("fail", "inconclusive")
    assert (decision["level"] == "inconclusive") == (
        decision["decision"] == "inconclusive"
    ) or tables == "all null column"
    assert json.loads(run.stdout)["releases"][0]["disclosure"] is not None
    assert MARKER not in (folder / "i.html").read_text() + (folder / "s.html").read_text() + run.output


@pytest.mark.parametrize("parts", ["disclosure", "utility", "before", "before,singling_out", "attribute-disclosure"])
def test_any_part_can_be_asked_for_alone(parts: str) -> None:
    run = ask(*FILES, "--attacks", parts, "--guesses", "20", "--html", "i.html", "--shareable", "s.html")
    assert (run.exit_code, run.stderr) == (0, "")
    assert "Nothing could be measured" not in run.stdout
    assert "nan" not in run.stdout.split()


def test_a_scenario_may_know_all_that_can_be_known_to_guess_what_is_sensitive() -> None:
    found = answer(
        *FILES, "--sensitive", "ill", "--scenario", "friend=age,sex,town", "--attacks", "inference,attribute_disclosure"
    )
    assert [each["scenario"] for each in found["releases"][0]["attacks"]] == ["friend", "friend"]
    assert found["releases"][0]["attacks"][0]["attacker"]["first"] == ["age", "sex", "town"]


def test_a_sensitive_column_that_is_not_released_is_said_to_be_so(folder: Path) -> None:
    pl.read_csv("masked.csv").drop("ill").write_csv("masked.csv")
    found = answer(*FILES, "--sensitive", "ill", "--attacks", "inference", "--targets", "20")
    (attack,) = found["releases"][0]["attacks"]
    assert (attack["attack_rate"]["value"], attack["sensitive"]) == (None, "ill")
    run = ask(*FILES, "--sensitive", "ill", "--attacks", "inference", "--targets", "20", "--verbose")
    assert "'ill'" in run.stdout


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        ("a = " + "[" * 100_000, ("deep",)),
        ("[limits]\n" + ".".join(["a"] * 3_000) + " = 1\n", ("deep",)),
        ("targets = " + "9" * 5_000 + "\n", ("hundreds of digits",)),
        ("[limits]\n'copies.attack_rate' = " + "9" * 400 + "\n", ("hundreds of digits",)),
        ('original = "' + "x" * 300 + '"\nreleased = "masked.csv"\n', ("cannot be read",)),
        ('original = "a\\u0000b"\nreleased = "masked.csv"\n', ("cannot be read",)),
        ('original = "/dev/zero"\nreleased = "masked.csv"\n', ("device",)),
        ('review = "2024-02-30"\noriginal = "people.csv"\nreleased = "masked.csv"\n', ("not in the calendar",)),
    ],
    ids=range(8),
)
def test_settings_that_cannot_be_used_are_refused(text: str, naming: tuple[str, ...]) -> None:
    Path("settings.toml").write_text(text, encoding="utf-8")
    refuse("--config", "settings.toml", naming=naming)


def test_files_whose_names_are_not_utf_8_are_audited() -> None:
    names = [os.fsdecode(name) for name in (b"caf\xe9.csv", b"masqu\xe9.csv", b"r\xe9.html", b"p\xe9.html")]
    Path("people.csv").rename(names[0])
    Path("masked.csv").rename(names[1])
    run = ask(*names[:2], "--attacks", "copies", "--html", names[2], "--shareable", names[3], "--json")
    assert (run.exit_code, run.stderr) == (0, "")
    assert json.loads(run.stdout)["original"]["rows"] == 80
    assert all(Path(name).is_file() for name in names)


@pytest.mark.parametrize("name", ["x" * 300, "/dev/full", "people.csv"])
def test_a_report_that_cannot_be_written_leaves_everything_as_it_was(name: str) -> None:
    before = Path("people.csv").read_bytes()
    run = ask(*FILES, "--attacks", "copies", "--html", name)
    assert (run.exit_code, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert Path("people.csv").read_bytes() == before
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["masked.csv", "others.csv", "people.csv"]
