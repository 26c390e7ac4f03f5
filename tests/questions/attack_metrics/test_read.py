"""What the files of a question about candidates hold, and what is refused."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.data.refusals import MARKER, refusal
from unveil.data import samples
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.guesses.candidates import TOLERANCE
from unveil.metrics.candidates.matches import matches
from unveil.questions.attack_metrics.read import CandidatesInputs, read, read_candidates, read_truth
from unveil.questions.attack_metrics.settings import CandidatesSettings
from unveil.report.progress import silent


def ask(guess: Path, truth: Path | None = None, **settings: Any) -> CandidatesInputs:
    return read(guess, truth, CandidatesSettings(**settings), progress=silent)


def test_targets_are_those_of_both_files(tmp_path: Path) -> None:
    (tmp_path / "guess.csv").write_text("target,candidate,probability\nb,x,1\na,y,1\n")
    (tmp_path / "truth.csv").write_text("target,candidate\nd,x\na,y\nc,\nb,new\n")
    inputs = ask(tmp_path / "guess.csv", tmp_path / "truth.csv")
    assert inputs.guess.targets is not None
    assert inputs.truth is not None
    assert inputs.guess.targets.tolist() == ["a", "b", "d", "c"]
    assert inputs.guess.attempted.tolist() == [True, True, False, False]
    assert inputs.truth.tolist() == [1, 2, 0, -1]
    found = matches(inputs.guess, inputs.truth)
    assert (found.targets, found.attempted, found.nobody, found.correct) == (4, 2, 1, 1)
    assert found.not_considered == 1


def test_scores_are_normalized_only_when_asked(tmp_path: Path, approved: Approved) -> None:
    path = tmp_path / "guess.csv"
    path.write_text("target,candidate,probability\na,x,30\na,y,10\nb,x,0\n")
    with pytest.raises(InputError, match="set normalize"):
        ask(path)
    inputs = ask(path, normalize=True)
    assert inputs.guess.probability.tolist() == [0.75, 0.25]
    approved(inputs.notes)


def test_unmatched_targets_are_refused_or_dropped(tmp_path: Path) -> None:
    guess, truth = tmp_path / "guess.csv", tmp_path / "truth.csv"
    guess.write_text("target,candidate,probability\na,x,1\nb,x,0.5\nc,x,1\nb,y,0.5\n")
    truth.write_text("target,candidate\na,x\nz,x\n")
    with pytest.raises(InputError, match=r"lacks 2 of the 3 targets of .*row 2 .*drop_unmatched"):
        ask(guess, truth)
    inputs = ask(guess, truth, drop_unmatched=True)
    assert (inputs.guess.target_count, inputs.guess.attempted.sum()) == (2, 1)
    assert "2 of the 3 targets" in inputs.notes[0]
    truth.write_text("target,candidate\nz,x\n")
    for drop in (False, True):
        with pytest.raises(InputError, match="names no target"):
            ask(guess, truth, drop_unmatched=drop)


HEAD = "target,candidate,probability\n"


def save(folder: Path, text: str, name: str = "guess.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_rows_come_as_they_are(tmp_path: Path) -> None:
    path = save(tmp_path, HEAD + "b,01, 0.25\na,x,1e0\nb,1,.75\n")
    frame = read_candidates(path)
    assert frame.schema == {"target": pl.String, "candidate": pl.String, "probability": pl.Float64}
    assert frame.rows() == [("b", "01", 0.25), ("a", "x", 1.0), ("b", "1", 0.75)]


def test_columns_can_have_other_names_and_others_are_not_read(tmp_path: Path) -> None:
    path = save(tmp_path, "p,record,note,person\n1,a,hello,x\n")
    frame = read_candidates(path, target="record", candidate="person", probability="p")
    assert frame.rows() == [("a", "x", 1.0)]


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.String])
def test_parquet_gives_the_same(tmp_path: Path, dtype: type[pl.DataType]) -> None:
    path = tmp_path / "guess.parquet"
    columns = {"target": [7, 7], "candidate": ["x", "y"], "probability": [0.1, 0.9]}
    pl.DataFrame(columns).with_columns(pl.col("probability").cast(dtype)).write_parquet(path)
    assert read_candidates(path).rows() == [("7", "x", 0.1), ("7", "y", 0.9)]


@pytest.mark.parametrize("cell", [MARKER, "nan", "inf", "-inf", "NaN", "0x1", "1/2", "١"])
def test_what_is_no_number_is_refused_with_its_row(tmp_path: Path, cell: str) -> None:
    path = save(tmp_path, f"{HEAD}{MARKER},x,1\nb,{MARKER},{cell}\n")
    message = refusal(lambda: read_candidates(path))
    assert "guess.csv" in message
    assert "'probability'" in message
    assert "must hold a number such as 0.25, but does not in row 2" in message


def test_a_nan_of_parquet_is_an_empty_cell(tmp_path: Path) -> None:
    path = tmp_path / "guess.parquet"
    pl.DataFrame({"target": ["a", "b"], "candidate": ["x", "x"], "probability": [1.0, float("nan")]}).write_parquet(
        path
    )
    assert "have a value in every row, but does not in row 2" in refusal(lambda: read_candidates(path))


@pytest.mark.parametrize("tolerance", [1e-6, None])
def test_a_negative_number_is_refused_with_its_row_also_as_a_score(tmp_path: Path, tolerance: float | None) -> None:
    path = save(tmp_path, f"{HEAD}a,x,1.5\na,{MARKER},-0.5\n")
    message = refusal(lambda: read_candidates(path, tolerance=tolerance))
    assert "must hold numbers of at least 0, but does not in row 2" in message


def test_a_candidate_twice_is_refused_with_both_rows(tmp_path: Path) -> None:
    path = save(tmp_path, f"{HEAD}a,{MARKER},0.5\nb,{MARKER},1\na,x,0.25\na,{MARKER},0.25\n")
    message = refusal(lambda: read_candidates(path))
    assert "another target and candidate, but row 4 has that of row 1" in message


def test_two_columns_are_not_confused_when_looking_for_repeats(tmp_path: Path) -> None:
    path = save(tmp_path, HEAD + "a,bc,1\nab,c,1\nabc,a,1\na b,c,1\n")
    assert read_candidates(path).height == 4


@pytest.mark.parametrize("cell", ["0.4999", "0.50001", "0", "1"])
def test_sums_other_than_1_are_refused_with_the_first_row_and_the_cure(tmp_path: Path, cell: str) -> None:
    path = save(tmp_path, f"{HEAD}a,x,1\n{MARKER},x,0.5\nc,x,1\n{MARKER},{MARKER},{cell}\nd,x,0.25\n")
    message = refusal(lambda: read_candidates(path))
    assert "of 2 of 4 targets do not sum to 1, the first in row 2" in message
    assert "set normalize" in message
    assert "nothing but 0" not in message
    assert read_candidates(path, tolerance=None).height == 5
    assert "'guess.csv'" in message.replace(str(tmp_path) + "/", "")


def test_a_target_with_nothing_but_0_is_refused_with_what_normalize_makes_of_it(tmp_path: Path) -> None:
    path = save(tmp_path, HEAD + "a,x,0\na,y,0\nb,x,1\n")
    assert "a target with nothing but 0, as 1 here, then counts as not attempted" in refusal(
        lambda: read_candidates(path)
    )


@pytest.mark.parametrize("entries", [1, 3, 100])
@pytest.mark.parametrize("rest", [-3e-4, -3e-6, -2.4e-6, -1e-6, 0.0, 1e-6, 2.4e-6, 3e-6, 6e-5])
def test_sums_that_rounding_left_off_are_fine_as_far_as_they_are_for_candidates(
    tmp_path: Path, entries: int, rest: float
) -> None:
    values = [(1 + rest) / entries] * entries
    path = save(tmp_path, HEAD + "".join(f"a,{k},{value!r}\n" for k, value in enumerate(values)))
    fine = True
    try:
        Candidates.from_matrix([values])
    except InputError:
        fine = False
        assert "set normalize" in refusal(lambda: read_candidates(path, tolerance=TOLERANCE))
    assert not fine or read_candidates(path, tolerance=TOLERANCE).height == entries
    assert fine or rest


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        ("", "empty"),
        (HEAD, "header only"),
        ("target,candidate,prob\na,x,1\n", "--probability"),
        ("subject,candidate,probability\na,x,1\n", "--target"),
        (HEAD + f",{MARKER},1\n", "column 'target'"),
        (HEAD + f"{MARKER},,1\n", "column 'candidate'"),
        (HEAD + f"{MARKER},x,\n", "column 'probability'"),
        (HEAD + f"{MARKER},x\n", "2 fields"),
    ],
)
def test_a_file_that_is_no_guess_is_refused(tmp_path: Path, text: str, naming: str) -> None:
    path = save(tmp_path, text)
    assert naming in refusal(lambda: read_candidates(path))


# --- truth ------------------------------------------------------------------------------------------------------------


def test_an_empty_candidate_is_nobody(tmp_path: Path) -> None:
    path = save(tmp_path, 'record,person\na,x\nb,\nc,""\n')
    assert read_truth(path, target="record", candidate="person").rows() == [("a", "x"), ("b", None), ("c", None)]


@pytest.mark.parametrize("again", ["x", "y", ""])
def test_a_target_twice_is_refused_with_both_rows(tmp_path: Path, again: str) -> None:
    path = save(tmp_path, f"target,candidate\n{MARKER},x\nb,x\n{MARKER},{again}\n")
    assert "another target, but row 3 has that of row 1" in refusal(lambda: read_truth(path))


def test_a_truth_without_the_name_of_a_target_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path, f"target,candidate\n,{MARKER}\n")
    assert "column 'target'" in refusal(lambda: read_truth(path))


# --- the example ------------------------------------------------------------------------------------------------------


def person(record: int, step: int = 0) -> str:
    return f"person-{(7 * record + 5 * step) % 31 or 31:02d}"


def test_the_example_is_made_by_the_rule_that_is_written_beside_it() -> None:
    guess = read_candidates(samples.path("candidates_guess.csv"))
    truth = dict(read_truth(samples.path("candidates_truth.csv")).iter_rows())
    assert truth == {f"record-{k:02d}": None if k == 25 else person(k) for k in range(1, 31)}
    kinds: Counter[str] = Counter()
    for k in range(1, 26):
        rows = guess.filter(pl.col("target") == f"record-{k:02d}")
        belief = dict(zip(rows["candidate"], rows["probability"], strict=True))
        assert set(belief) == {person(k, step) for step in range(1 if k == 24 else 0, 6)}
        best = [name for name, p in belief.items() if p == max(belief.values())]
        right = "right" if person(k) in best else "wrong"
        kinds[f"{'sure' if max(belief.values()) == 0.9 else 'unsure'} {right} {len(best)}"] += k not in (24, 25)
    assert +kinds == {
        "sure right 1": 8, "sure wrong 1": 3, "unsure right 1": 5, "unsure wrong 1": 3,
        "unsure right 2": 2, "unsure right 4": 2,
    }  # fmt: skip
    assert guess["target"].n_unique() == 25
