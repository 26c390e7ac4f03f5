"""The comparison of suppression rules: its figures are those that its page states, and follow from the tables."""

import csv
from pathlib import Path

from tests.examples.scripts import run_script

FOLDER = Path(__file__).parents[2] / "examples" / "counts"


def test_rules_of_suppression_are_those_of_the_page(tmp_path: Path) -> None:
    run_script(FOLDER / "suppression_rules.py", tmp_path)
    made, kept = ((where / "suppression_rules.csv").read_text(encoding="utf-8") for where in (tmp_path, FOLDER))
    assert made == kept
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for row in csv.DictReader(kept.splitlines()):
        assert f"| {row['rule']} | {row['suppressed']} | {row['recovered']} | {row['approximate']} |" in page
