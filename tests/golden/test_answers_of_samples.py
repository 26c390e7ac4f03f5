"""The samples inside unveil have the answers that they always had."""

import json
from pathlib import Path

import pytest

from tests.golden.answers_of_samples import FOLDER, QUESTIONS, answer_of, make_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("study"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_the_one_it_was(question: str, study: Path) -> None:
    known = json.loads((FOLDER / f"{question}.json").read_text(encoding="utf-8"))
    assert answer_of(question, study) == known
