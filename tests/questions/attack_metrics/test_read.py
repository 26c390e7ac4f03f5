"""What the files of a question about candidates hold, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from tests.approved.sentences import Approved
from unveil.errors import InputError
from unveil.metrics.candidates.matches import matches
from unveil.questions.attack_metrics.read import CandidatesInputs, read
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


def test_scores_are_normalised_only_when_asked(tmp_path: Path, approved: Approved) -> None:
    path = tmp_path / "guess.csv"
    path.write_text("target,candidate,probability\na,x,30\na,y,10\nb,x,0\n")
    with pytest.raises(InputError, match="--normalise"):
        ask(path)
    inputs = ask(path, normalise=True)
    assert inputs.guess.probability.tolist() == [0.75, 0.25]
    approved(inputs.notes)


def test_unmatched_targets_are_refused_or_dropped(tmp_path: Path) -> None:
    guess, truth = tmp_path / "guess.csv", tmp_path / "truth.csv"
    guess.write_text("target,candidate,probability\na,x,1\nb,x,0.5\nc,x,1\nb,y,0.5\n")
    truth.write_text("target,candidate\na,x\nz,x\n")
    with pytest.raises(InputError, match=r"lacks 2 of the 3 targets of .*row 2 .*--drop-unmatched"):
        ask(guess, truth)
    inputs = ask(guess, truth, drop_unmatched=True)
    assert (inputs.guess.target_count, inputs.guess.attempted.sum()) == (2, 1)
    assert "2 of the 3 targets" in inputs.notes[0]
    truth.write_text("target,candidate\nz,x\n")
    for drop in (False, True):
        with pytest.raises(InputError, match="names none of them"):
            ask(guess, truth, drop_unmatched=drop)
