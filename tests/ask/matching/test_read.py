"""What the files of a question about matchings hold."""

from pathlib import Path

from unveil.ask.matching.read import read_groups
from unveil.guess import Matching


def test_groups_are_read_by_name_in_any_order(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("group,entry\nviral,Cold\nother,Flu\n")
    guess = Matching([[1, 1], [1, 1]], entries=["Flu", "Cold"])  # type: ignore[arg-type]
    assert read_groups(file, guess) == ("other", "viral")
