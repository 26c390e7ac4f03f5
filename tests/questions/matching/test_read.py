"""What the files of a question about matchings hold."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unveil.errors import InputError
from unveil.guesses import Matching
from unveil.questions.matching.answer import matching
from unveil.questions.matching.read import read_groups


def test_groups_are_read_by_name_in_any_order(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("group,item\nviral,Cold\nother,Flu\n")
    guess = Matching([[1, 1], [1, 1]], items=["Flu", "Cold"])  # type: ignore[arg-type]
    assert read_groups(file, guess) == ("other", "viral")


def written(path: Path, rows: Any, header: str = "") -> Path:
    lines = [header] if header else []
    path.write_text("\n".join([*lines, *(",".join(str(cell) for cell in row) for row in rows)]) + "\n")
    return path


def survey(people: int) -> tuple[str, list[list[int]]]:
    """Return a header and rows of answers: an age, a sex, and seven answers from 1 to 5."""
    rng = np.random.default_rng(people)
    answers = [rng.integers(low, high, people) for low, high in [(18, 90), (1, 3), *[(1, 6)] * 7]]
    return ",".join(["age", "sex", *(f"q{k}" for k in range(7))]), np.stack(answers, axis=1).tolist()


@pytest.mark.parametrize("people", [40, 1200])
@pytest.mark.parametrize("with_header", [True, False])
def test_a_table_of_people_and_their_answers_is_no_matrix_of_beliefs(
    tmp_path: Path, people: int, with_header: bool
) -> None:
    header, rows = survey(people)
    file = written(tmp_path / "survey.csv", rows, header if with_header else "")
    with pytest.raises(
        InputError, match=f"{people:,} rows, 9 columns and numbers above 1.*'unveil audit'.*pseudonym: 9"
    ):
        matching(file)
    transposed = written(tmp_path / "turned.csv", zip(*rows, strict=True))
    with pytest.raises(InputError, match=f"9 rows, {people:,} columns"):
        matching(transposed)


@pytest.mark.parametrize(
    ("rows", "pairs"),
    [
        ([[1, 0], [0, 1], [1, 1], [1, 1], [1, 1], [1, 1], [0, 1], [1, 0]], 2),  # 0/1, far from square
        ([[0.5, 0.5], [0.1, 0.9], [1, 0], [0.3, 0.7], [0.2, 0.8], [0.6, 0.4], [1, 0]], 2),  # probabilities
        ([[2, 5, 1], [4, 1, 3], [1, 1, 7], [3, 2, 2], [1, 4, 1]], 3),  # weights, not far from square
        ([[2, 5], [4, 1]], 2),
        ([[1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]], None),  # weights, with the number of pairs given
    ],
)
def test_matrices_of_beliefs_of_any_shape_are_taken(tmp_path: Path, rows: Any, pairs: int | None) -> None:
    file = written(tmp_path / "matrix.csv", rows)
    found = matching(file, matched=None if pairs else 2).findings.ambiguity
    assert (found.n, found.pseudonym_count, found.pairs) == (len(rows), len(rows[0]), pairs or 2)


def test_a_truth_with_more_pairs_than_were_given_is_refused(tmp_path: Path) -> None:
    matrix = written(tmp_path / "matrix.csv", [["A", 1, 1, 1], ["B", 1, 1, 1], ["C", 1, 1, 1]], "item,u,v,w")
    truth = written(tmp_path / "truth.csv", [["A", "u"], ["B", "v"], ["C", "w"]], "item,pseudonym")
    with pytest.raises(InputError, match=r"has 3 pairs.*but pairs is 2\. Set pairs to 3"):
        matching(matrix, truth=truth, matched=2)
    fewer = written(tmp_path / "fewer.csv", [["A", "u"], ["B", "v"]], "item,pseudonym")
    assert matching(matrix, truth=fewer, matched=2).findings.cracks.pairs == 2
