"""The answers to the samples inside unveil, as JSON; ``python -m tests.golden.answers_of_samples`` writes them anew.

They change only with a change that is meant, which the changelog then says.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from unveil.cli import main
from unveil.study import Study, run_study

FOLDER = Path(__file__).parent / "answers"
#: What is asked; of the audit so few people are attacked that it takes a few seconds.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "audit": ("audit", "--targets", "60", "--guesses", "60"),
    "partition": ("partition", "--sample"),
    "partition_bold": ("partition", "--sample", "bold", "--limit", "breached_share=0.9"),
    "candidates": ("candidates", "--sample"),
    "matching": ("matching",),
    "tables": ("tables",),
    "reidentify": ("reidentify",),
    "anonymize": ("anonymize", "--protect", "k-degree:k=5"),
    "graph": ("graph", "--protect", "k-degree:k=5", "--attack", "ns"),
    "study": ("study", "report", "{study}"),
    "grades": ("grade-metrics", "{study}"),
}
STUDY = """
name = "little"
seed = 1
protections = ["id-removal"]
attacks = ["KL"]
[[data]]
name = "generated"
kind = "graph"
source = "sample:generated-graph"
[axes]
seed_pairs = [5, 20, 50]
[fixed]
overlap = 0.85
[replications]
number = 2
"""
#: What tells of this run and not of the answer.
_OF_THE_RUN = ("version", "seconds", "spent", "folder", "date")


def make_study(home: Path) -> Path:
    """Return the folder of a study that takes a moment."""
    plan = home / "study.toml"
    plan.write_text(STUDY, encoding="utf-8")
    run_study(Study.read(plan), home / "study", workers=0)
    return home / "study"


def answer_of(name: str, study: Path) -> Any:
    """Return the answer to a question as data, floats to 12 digits."""
    words = [word.format(study=study) for word in QUESTIONS[name]]
    seed = [] if "study" in words else ["--seed", "3"]
    run = CliRunner().invoke(main, [*words, *seed, "--json"])
    assert run.exit_code == 0, run.output
    return _to_12_digits(json.loads(run.stdout.replace(str(study), "study")))


def _to_12_digits(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _to_12_digits(each) for key, each in value.items() if key not in _OF_THE_RUN}
    if isinstance(value, list):
        return [_to_12_digits(each) for each in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        of_study = make_study(Path(home))
        for question in QUESTIONS:
            text = json.dumps(answer_of(question, of_study), indent=1, ensure_ascii=False)
            (FOLDER / f"{question}.json").write_text(text + "\n", encoding="utf-8")
