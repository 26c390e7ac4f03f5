"""``unveil unlinkability`` from files on disk to what a person or a machine reads, and every kind of bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.commands import MARKER, Command
from unveil.data import samples

TRUTH = {"a": "Alice", "b": "Alice", "c": "Alice", "d": "Bob", "e": "Bob", "f": "Carol"}
GUESS = {"a": "1", "b": "1", "c": "2", "d": "2", "e": "3", "f": "3"}

PER_SUBJECT = {
    "subject", "size", "related", "miss", "include", "error", "normalized_error", "linked0", "mixed0", "breached",
    "merges", "risk_slope",
}  # fmt: skip
OVERALL = {
    "miss", "include", "kind", "normalized_error", "linked", "mixed", "risk_slope", "breached_subjects",
}  # fmt: skip
DISTANCES = {
    "voi", "voi_normalized", "rand", "adjusted_rand", "bcubed_precision", "bcubed_recall", "mtd", "mtd_normalized",
}  # fmt: skip


def save(path: Path, clusters: dict[str, str], *, names: str = "item,cluster") -> Path:
    """Write a partition whose items and clusters all hold the marker."""
    rows = "".join(f"{MARKER}-{item},{MARKER}-{cluster}\n" for item, cluster in clusters.items())
    path.write_text(f"{names}\n{rows}")
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a truth and a guess."""
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "truth.csv", TRUTH)
    save(tmp_path / "guess.csv", GUESS)
    return tmp_path


COMMAND = Command("unlinkability")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse


def of_subject(found: Any, name: str) -> Any:
    return next(row for row in found["per_subject"] if row["subject"] == name)


# --- what comes out ---------------------------------------------------------------------------------------------------


def test_json_has_the_promised_fields() -> None:
    found = answer("truth.csv", "guess.csv", "--seed", "4")
    assert found["schema"] == "unveil.unlinkability/2"
    assert (found["n"], found["subjects"], found["alpha"], found["beta"]) == (6, 3, 0.5, 0.8)
    assert (found["seed"], found["limits"]) == (4, [])
    assert found["overall"].keys() >= OVERALL
    assert found["distances"].keys() == DISTANCES
    assert all(row.keys() >= PER_SUBJECT for row in found["per_subject"])
    assert [row["subject"] for row in found["per_subject"]] == [f"{MARKER}-{who}" for who in ("Alice", "Bob", "Carol")]


def test_the_careful_example_gives_the_numbers_of_the_paper() -> None:
    found = answer("--sample")
    assert (found["n"], found["alpha"], found["beta"]) == (24, 0.5, 0.9)
    assert (found["overall"]["miss"], found["overall"]["include"], found["overall"]["kind"]) == (12, 4, "conservative")
    assert of_subject(found, "stars")["risk_slope"] == pytest.approx(0.23197, abs=5e-6)
    assert answer("--sample", "careful") == found


def test_the_bold_example_gives_the_numbers_of_the_paper() -> None:
    found = answer("--sample", "bold", "--beta", "0.7")
    assert (found["overall"]["miss"], found["overall"]["include"], found["overall"]["kind"]) == (7, 15, "liberal")
    assert of_subject(found, "stars")["risk_slope"] == pytest.approx(0.35028, abs=5e-6)


def sample_files() -> tuple[str, str, str]:
    names = ("partition_truth.csv", "partition_guess_careful.csv", "partition_guess_bold.csv")
    truth, careful, bold = (str(samples.path(name)) for name in names)
    return truth, careful, bold


def test_the_example_can_be_given_as_files_too() -> None:
    truth, careful, _ = sample_files()
    assert answer(truth, careful, "--beta", "9/10") == answer("--sample")


def test_several_guesses_are_averaged_with_their_probabilities() -> None:
    truth, careful, bold = sample_files()
    sure = answer(truth, f"{careful}=1/4", f"{bold}=0.75")
    assert sure["overall"]["miss"] == pytest.approx(12 / 4 + 7 * 3 / 4)
    assert sure["overall"]["include"] == pytest.approx(4 / 4 + 15 * 3 / 4)
    assert sure["notes"] == []


def test_several_guesses_without_probabilities_count_alike_and_a_note_says_so() -> None:
    truth, careful, bold = sample_files()
    alike = answer(truth, careful, bold)
    assert alike["overall"]["miss"] == pytest.approx((12 + 7) / 2)
    assert alike["overall"]["kind"] == "neutral"
    assert len(alike["notes"]) == 1
    given = answer(truth, f"{careful}=1/2", f"{bold}=1/2")
    assert {**alike, "notes": []} == given
    assert f"Note: {alike['notes'][0]}" in ask(truth, careful, bold).stdout


def test_a_policy_holds_for_the_subjects_it_names(folder: Path) -> None:
    truth, _, bold = sample_files()
    (folder / "policy.csv").write_text("subject,beta\nstars,0.7\n")
    found = answer(truth, bold, "--beta", "0.9", "--policy", "policy.csv")
    assert of_subject(found, "stars")["risk_slope"] == pytest.approx(0.35028, abs=5e-6)
    assert of_subject(found, "circles") == of_subject(answer(truth, bold, "--beta", "0.9"), "circles")


def test_weights_of_1_change_nothing_and_weights_of_0_hide_a_subject(folder: Path) -> None:
    truth, careful, _ = sample_files()
    items = pl.read_csv(truth)
    items.select("item", pl.lit(1).alias("weight")).write_csv(folder / "ones.csv")
    assert answer(truth, careful, "--weights", "ones.csv") == answer(truth, careful)
    stars = items.filter(pl.col("cluster") == "stars")
    stars.select("item", pl.lit(0).alias("weight")).write_csv(folder / "zeros.csv")
    assert of_subject(answer(truth, careful, "--weights", "zeros.csv"), "stars")["linked0"] == 1


def test_settings_reach_the_measure() -> None:
    plain = answer("--sample")
    assert answer("--sample", "--alpha", "1")["alpha"] == 1
    assert answer("--sample", "--overall-alpha", "1/4", "--overall-beta", "3/4")["beta"] == 0.75
    turned = answer("--sample", "--contamination-desirable")
    for row, other in zip(plain["per_subject"], turned["per_subject"], strict=True):
        assert other["mixed0"] == pytest.approx(1 - row["mixed0"])
    breached = answer("--sample", "--beta", "0.1", "--at-breach", "limit")
    assert all(row["breached"] and row["risk_slope"] >= 0.5 for row in breached["per_subject"])
    assert answer("--sample", "--norm", "literal")["overall"]["miss"] == 12


def test_columns_can_have_other_names(folder: Path) -> None:
    save(folder / "t.csv", TRUTH, names="thing,owner")
    save(folder / "g.csv", GUESS, names="thing,owner")
    assert answer("t.csv", "g.csv", "--item", "thing", "--cluster", "owner") == answer("truth.csv", "guess.csv")


def test_parquet_gives_the_same_answer(folder: Path) -> None:
    pl.read_csv(folder / "truth.csv").write_parquet(folder / "truth.parquet")
    pl.read_csv(folder / "guess.csv").write_parquet(folder / "guess.parquet")
    assert answer("truth.parquet", "guess.parquet") == answer("truth.csv", "guess.csv")


def test_text_has_the_headline_the_results_and_on_request_the_subjects() -> None:
    run = ask("--sample", "bold", "--beta", "0.6", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (0, "")
    assert "3 of 4 subjects" in run.stdout
    assert ["7"] in [line.split()[5:6] for line in run.stdout.splitlines() if line.startswith("Miss errors")]
    assert len(run.stdout.splitlines()) <= 20
    everything = ask("--sample", "bold", "--beta", "0.6", "--verbose").stdout
    assert all(name in everything for name in ("triangles", "squares", "circles", "stars"))
    assert "Try also: unveil unlinkability" in run.stdout
    assert "Seed 0" in run.stdout
    assert run.stdout.endswith("The report is in report.html\n")
    assert "\x1b" not in run.stdout
    top = ask("--sample", "bold", "--beta", "0.6", "--top", "1", "--verbose").stdout
    assert "3 more subjects" in top
    assert "stars" not in top


def test_the_page_is_whole_and_does_not_depend_on_the_day(folder: Path) -> None:
    assert ask("truth.csv", "guess.csv", "--html", "first.html", "--quiet").output == ""
    assert ask("truth.csv", "guess.csv", "--html", "second.html", "--json").exit_code == 0
    text = (folder / "first.html").read_text()
    assert text.rstrip().endswith("</html>")
    assert text == (folder / "second.html").read_text()


# --- limits -----------------------------------------------------------------------------------------------------------


def test_limits_decide_the_exit_code_and_outputs_are_still_written(folder: Path) -> None:
    run = ask("--sample", "bold", "--beta", "0.6", "--limit", "breached_share=0.5", "--json", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (3, "fail: breached_share is 0.75, the limit is 0.5\n")
    limit = {"quantity": "breached_share", "limit": 0.5, "value": 0.75, "exceeded": True}
    assert json.loads(run.stdout)["limits"] == [limit]
    assert (folder / "report.html").exists()
    assert ask("--sample", "bold", "--beta", "0.6", "--limit", "breached_share=0.75").exit_code == 0


@pytest.mark.parametrize("at_breach", ["nan", "limit"])
def test_a_breach_exceeds_every_limit_of_the_risk_slope(at_breach: str) -> None:
    run = ask("--sample", "--beta", "0.1", "--limit", "risk_slope=1", "--json", "--at-breach", at_breach)
    assert run.exit_code == 3
    assert run.stderr.startswith("fail: risk_slope is undefined because it is already breached")
    assert json.loads(run.stdout)["limits"] == [
        {"quantity": "risk_slope", "limit": 1.0, "value": None, "exceeded": True}
    ]


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        ("", ("empty",)),
        ("item,cluster\n", ("header",)),
        (f"item,group\n{MARKER},{MARKER}\n", ("'cluster'", "'group'", "--cluster")),
        (f"{MARKER}\n", ()),
        (f"item,cluster,cluster\n{MARKER},{MARKER},{MARKER}1\n", ("columns 2 and 3",)),
        (f"item,cluster\n{MARKER},{MARKER}1\n{MARKER}2,{MARKER}\n{MARKER},{MARKER}2\n", ("1", "3")),
        (f"item,cluster\n{MARKER},{MARKER}\n{MARKER}2,\n", ("'cluster'", "row 2")),
        (f"item,cluster\n,{MARKER}\n", ("'item'", "row 1")),
        (f"item,cluster\n{MARKER},{MARKER},{MARKER}\n", ()),
        (f'item,cluster\n"{MARKER},{MARKER}\n', ()),
    ],
)
@pytest.mark.parametrize("which", ["truth", "guess"])
def test_a_file_that_is_no_partition_is_refused(
    content: str, naming: tuple[str, ...], which: str, folder: Path
) -> None:
    (folder / "bad.csv").write_text(content)
    files = ("bad.csv", "guess.csv") if which == "truth" else ("truth.csv", "bad.csv")
    refuse(*files, naming=("bad.csv", *naming))


@pytest.mark.parametrize("content", [bytes(range(256)) * 20, b"PK\x03\x04" + b"\x00" * 99, b"PAR1", b"\x1f\x8bxxxx"])
def test_a_binary_file_is_refused(content: bytes, folder: Path) -> None:
    (folder / "bad.csv").write_bytes(content)
    refuse("truth.csv", "bad.csv", naming=("bad.csv",))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_parquet_file_is_refused(share: float, folder: Path) -> None:
    pl.read_csv(folder / "guess.csv").write_parquet(folder / "bad.parquet")
    whole = (folder / "bad.parquet").read_bytes()
    (folder / "bad.parquet").write_bytes(whole[: int(len(whole) * share)])
    refuse("truth.csv", "bad.parquet", naming=("bad.parquet",))


def test_a_missing_file_or_a_folder_is_refused() -> None:
    refuse("truth.csv", "missing.csv", naming=("missing.csv",))
    refuse("missing.csv", "guess.csv", naming=("missing.csv",))
    refuse("truth.csv", ".", naming=("folder",))
    refuse("truth.csv", "x" * 5000)
    refuse("truth.csv", "guess.csv", "--policy", "missing.csv", naming=("missing.csv",))
    refuse("truth.csv", "guess.csv", "--weights", "missing.csv", naming=("missing.csv",))


def test_items_in_one_file_only_are_counted_and_can_be_dropped(folder: Path) -> None:
    save(folder / "other.csv", {**{item: GUESS[item] for item in "abcd"}, "x": "1"})
    refuse("truth.csv", "other.csv", naming=("2", "drop unmatched items"))
    found = answer("truth.csv", "other.csv", "--drop-unmatched")
    assert (found["n"], found["subjects"], len(found["notes"])) == (4, 2, 1)
    save(folder / "foreign.csv", {"x": "1", "y": "2"})
    refuse("truth.csv", "foreign.csv", "--drop-unmatched", naming=("none",))


@pytest.mark.parametrize(
    ("guesses", "naming"),
    [
        (("guess.csv=0.5", "guess.csv=0.4"), ("sum to 0.9",)),
        (("guess.csv=0.5", "guess.csv"), ("1 of 2", "all", "none")),
        (("guess.csv=0", "guess.csv=1"), ("above 0",)),
        (("guess.csv=-1", "guess.csv=2"), ("GUESS", "must be in [0, 1]")),
        (("guess.csv=0.5",), ("sum to 0.5",)),
    ],
)
def test_probabilities_must_be_whole(guesses: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse("truth.csv", *guesses, naming=naming)


@pytest.mark.parametrize("option", ["--alpha", "--beta", "--overall-alpha", "--overall-beta"])
@pytest.mark.parametrize("value", ["-0.1", "1.01", "3/2", "half", "nan", ""])
def test_a_share_outside_0_to_1_is_refused_by_the_name_of_its_option(option: str, value: str) -> None:
    refuse("truth.csv", "guess.csv", option, value, naming=(option,))


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        (f"item,weight\n{MARKER}-a,0.5\n{MARKER}-b,1.5\n", ("'weight'", "row 2")),
        (f"item,weight\n{MARKER}-a,-0.5\n", ("'weight'", "row 1")),
        (f"item,weight\n{MARKER}-a,{MARKER}\n", ("'weight'", "row 1")),
        (f"item,weight\n{MARKER}-a,1\n{MARKER}-unknown,1\n", ("'item'", "row 2")),
        (f"subject,item,weight\n{MARKER}-unknown,{MARKER}-a,1\n", ("'subject'", "row 1")),
        (f"item\n{MARKER}-a\n", ("'weight'",)),
    ],
)
def test_weights_that_cannot_be_used_are_refused(content: str, naming: tuple[str, ...], folder: Path) -> None:
    (folder / "weights.csv").write_text(content)
    refuse("truth.csv", "guess.csv", "--weights", "weights.csv", naming=("weights.csv", *naming))


@pytest.mark.parametrize(
    ("content", "naming"),
    [
        (f"subject,alpha\n{MARKER}-Alice,2\n", ("'alpha'", "row 1")),
        (f"subject,beta\n{MARKER}-Alice,0.5\n{MARKER}-Bob,{MARKER}\n", ("'beta'", "row 2")),
        (f"subject,contamination_desirable\n{MARKER}-Alice,{MARKER}\n", ("'contamination_desirable'", "row 1")),
        (f"subject,beta\n{MARKER}-unknown,0.5\n", ("'subject'", "row 1")),
        ("alpha,beta\n1,1\n", ("'subject'",)),
    ],
)
def test_a_policy_that_cannot_be_used_is_refused(content: str, naming: tuple[str, ...], folder: Path) -> None:
    (folder / "policy.csv").write_text(content)
    refuse("truth.csv", "guess.csv", "--policy", "policy.csv", naming=("policy.csv", *naming))


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        ((), ("TRUTH", "GUESS", "--example")),
        (("truth.csv",), ("GUESS",)),
        (("truth.csv", "--sample"), ("--example",)),
        (("--sample", "timid"), ("careful", "bold")),
        (("truth.csv", "guess.csv", "--top", "-1"), ("--top",)),
        (("truth.csv", "guess.csv", "--norm", "x"), ("--norm",)),
        (("truth.csv", "guess.csv", "--betta", "1"), ("--beta",)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(arguments: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse(*arguments, naming=naming)


# --- input that is odd but has an answer ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "guess"),
    [
        ({"a": "1"}, {"a": "2"}),
        (dict.fromkeys("abcd", "one"), dict.fromkeys("abcd", "one")),
        (dict.fromkeys("abcd", "one"), {each: each for each in "abcd"}),
        ({each: each for each in "abcd"}, dict.fromkeys("abcd", "one")),
        ({each: each for each in "abcd"}, {each: each for each in "abcd"}),
    ],
)
def test_the_smallest_and_the_most_extreme_partitions_have_an_answer(
    truth: dict[str, str], guess: dict[str, str], folder: Path
) -> None:
    save(folder / "t.csv", truth)
    save(folder / "g.csv", guess)
    found = answer("t.csv", "g.csv")
    assert found["n"] == len(truth)
    assert found["subjects"] == len(set(truth.values()))
    run = ask("t.csv", "g.csv", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (0, "")
    assert (folder / "report.html").exists()


STRANGE = [
    'quo"te', "com,ma", "new\nline", "tab\t", "naïve Zoë 北京 😀", "<script>alert(1)</script>", "[bold]x[/bold]",
    "\x1b[31mred", "{{ 7 * 7 }}", "=1+1", "01", "1", "NULL", " ", "&amp;", "-", "\u202egnirts", "x" * 300,
    "a" + "\u0301", "\u00e1",
]  # fmt: skip


def test_strange_names_are_kept_in_json_and_harmless_elsewhere(folder: Path) -> None:
    items = [str(number) for number in range(2 * len(STRANGE))]
    pl.DataFrame({"item": items, "cluster": STRANGE * 2}).write_csv(folder / "t.csv")
    pl.DataFrame({"item": items, "cluster": sorted(STRANGE * 2)}).write_csv(folder / "g.csv")
    found = answer("t.csv", "g.csv")
    assert {row["subject"] for row in found["per_subject"]} == set(STRANGE)
    run = ask("t.csv", "g.csv", "--html", "report.html", "--top", "100", "--verbose")
    assert (run.exit_code, run.stderr) == (0, "")
    assert "[bold]x[/bold]" in run.stdout
    assert not set("\x1b\u202e\t") & set(run.stdout)
    page = (folder / "report.html").read_text()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


# --- the real program -------------------------------------------------------------------------------------------------

PROGRAM = (sys.executable, "-c", "from unveil.cli import main; main()", "unlinkability")


def test_in_a_pipe_there_are_no_control_codes_and_no_progress_bar() -> None:
    run = subprocess.run([*PROGRAM, "truth.csv", "guess.csv"], capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"\x1b" not in run.stdout
    assert b"\r" not in run.stdout


def test_json_is_utf_8_on_a_terminal_that_is_not(folder: Path) -> None:
    save(folder / "t.csv", {"a": "Zoë", "b": "北京"})
    save(folder / "g.csv", {"a": "1", "b": "1"})
    poor = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run([*PROGRAM, "t.csv", "g.csv", "--json"], capture_output=True, check=False, env=poor)
    assert (run.returncode, run.stderr) == (0, b"")
    subjects = {row["subject"] for row in json.loads(run.stdout.decode("utf-8"))["per_subject"]}
    assert subjects == {f"{MARKER}-Zoë", f"{MARKER}-北京"}
    text = subprocess.run([*PROGRAM, "t.csv", "g.csv", "--verbose"], capture_output=True, check=False, env=poor)
    assert (text.returncode, text.stderr) == (0, b"")
    assert rb"\u5317" in text.stdout


def test_a_full_disk_behind_the_output_is_one_message() -> None:
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run([*PROGRAM, "truth.csv", "guess.csv"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 2
    assert run.stderr.startswith(b"unveil: ")
    assert run.stderr.count(b"\n") == 1


def test_a_person_at_a_terminal_gets_colours_and_a_clean_end() -> None:
    import pty

    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        run = subprocess.Popen([*PROGRAM, "truth.csv", "guess.csv"], stdin=theirs, stdout=theirs, stderr=theirs,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "80"})  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while piece := screen.read(65536):
                shown += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        assert run.wait() == 0
    assert b"\x1b[" in shown
    assert b"Risk slope of the average subject" in shown
    assert b"Traceback" not in shown


# --- any subject, other guessers, and what comes next -----------------------------------------------------------------


def test_any_subject_is_in_json() -> None:
    told = answer("--sample", "--subject", "stars")["subject"]
    assert (told["subject"], told["risk_slope"]) == ("stars", pytest.approx(0.23197, abs=5e-6))
    assert told["linked"] == pytest.approx([0.5, 5 / 6, 1])


def test_with_the_papers_order_the_forecast_of_the_stars_is_the_number_of_the_paper() -> None:
    told = answer("--sample", "--subject", "stars", "--linkage", "cheapest", "--split", "0")["subject"]["forecast"]
    for name in ("risk_slope", "risk_slope_low", "risk_slope_high"):
        assert told[name] == pytest.approx(0.23197, abs=5e-6)


def test_guessing_goes_by_sizes_or_by_what_was_held_before() -> None:
    truth, careful, bold = sample_files()
    assert answer(truth, careful, "--guessing", "sizes")["random_guessing"]["guesser"] == "sizes"
    prior = answer(truth, careful, "--prior", f"{bold}=3/4", "--prior", f"{careful}=1/4")["random_guessing"]
    assert (prior["guesser"], prior["draws"]) == ("prior", 2)
    assert prior["miss"] == pytest.approx(7 * 3 / 4 + 12 / 4)
    said = ask(truth, careful, "--prior", bold).stdout
    assert "The attacker's prior" in said
    assert "random guessing" not in said.lower()


def test_rates_between_clusters_decide_what_is_merged_next(folder: Path) -> None:
    rows = f"{MARKER}-1,{MARKER}-2,0.5\n{MARKER}-2,{MARKER}-3,1/4\n"
    (folder / "links.csv").write_text(f"cluster,other,rate\n{rows}")
    found = answer("truth.csv", "guess.csv", "--links", "links.csv", "--split", "0", "--mixing", "others")
    assert found["forecast"]["linkage"] == "given"
    # Two of Alice's items are in cluster 1 and one in 2, and nothing else can be merged.
    assert found["subject"]["forecast"]["risk_slope_low"] == found["subject"]["forecast"]["risk_slope_high"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (f"{MARKER}-1,{MARKER}-9,0.5\n", "1 of 1 values of column 'other' are not"),
        (f"{MARKER}-1,{MARKER}-2,much\n", "column 'rate' of 'links.csv' must hold a number from 0 up"),
        (f"{MARKER}-1,{MARKER}-2,-1\n", "must hold a number from 0 up"),
        (f"{MARKER}-1,{MARKER}-1,1\n", "name another cluster"),
        (f"{MARKER}-1,{MARKER}-2,1\n{MARKER}-2,{MARKER}-1,1\n", "does not in row 2"),
    ],
)
def test_bad_rates_are_refused(folder: Path, rows: str, words: str) -> None:
    (folder / "links.csv").write_text(f"cluster,other,rate\n{rows}")
    assert words in refuse("truth.csv", "guess.csv", "--links", "links.csv")


def test_a_subject_that_is_nobody_and_odds_below_0_are_refused(approved: Approved) -> None:
    approved(refuse("truth.csv", "guess.csv", "--subject", f"{MARKER}-Eve"))
    assert "the minimum is 0" in refuse("truth.csv", "guess.csv", "--split", "-1")
    assert "1 of 2 priors have a probability" in refuse(
        "truth.csv", "guess.csv", "--prior", "guess.csv=0.5", "--prior", "truth.csv"
    )
