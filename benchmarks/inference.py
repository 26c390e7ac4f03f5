"""Inference of each column of Adult from all others beside anonymeter: as many targets, and the control.

Needs the Adult files below the folder that UNVEIL_DATA names. anonymeter needs an older numpy and runs in its own
environment, by ``.venv-bench-anonymeter/bin/python`` or the Python that UNVEIL_ANONYMETER names.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.linkability import ROOT, folder, paths
from benchmarks.timing import Row, as_markdown, least, peak_memory
from unveil.anonymeter import InferenceEvaluator
from unveil.attacks.table.attribute_disclosure import AttributeDisclosure
from unveil.attacks.table.inference import Inference
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge

TARGETS = 2_000


def rows(secrets: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield 2,000 targets and as many of the control for each column, and all targets that there are for one."""
    adult = folder()
    if adult is None:
        print("UNVEIL_DATA names no folder with adult/train.csv.gz: inference is left out\n")
        return
    frames = [pl.read_csv(path) for path in paths(adult)]
    original, released, control = agree(*map(Table.from_frame, frames))
    knowledge = Knowledge(original, control)
    secrets = secrets or original.column_names
    theirs = anonymeter(adult, secrets)
    for secret in secrets:
        known = tuple(name for name in original.column_names if name != secret)
        case = f"{secret}, {TARGETS:,} targets and control"
        mine = _seconds(Inference(secret=secret, known=known, targets=TARGETS), released, knowledge)
        yield Row(case, "unveil", mine, 1.0)
        if theirs is not None:
            yield from _beside(theirs[secret], secret, known, frames, mine)
    whole = Inference(secret=secrets[-1], known=known, targets=None)
    every = _seconds(whole, released, knowledge)
    yield Row(f"{secrets[-1]}, all {original.rows + control.rows:,} people", "unveil", every, 1.0)
    exact = AttributeDisclosure(secret=secrets[-1], known=known[:4], targets=None)
    matched = _seconds(exact, released, knowledge)
    yield Row(f"{secrets[-1]}, all {original.rows + control.rows:,} people", "unveil, exact matches", matched, 1.0)


def _seconds(attack: Any, released: Table, knowledge: Knowledge) -> float:
    """Return the least CPU time of five runs, the compiler being warm."""
    attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(1))
    return least(lambda: attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(1)))


def _beside(
    peer: dict[str, Any], secret: str, known: tuple[str, ...], frames: Sequence[pl.DataFrame], mine: float
) -> Iterator[Row]:
    """Yield anonymeter's time, and ours in its own way with the verdicts compared.

    Both see the cells as they are: a table would take the question marks of Adult for missing values.
    """
    case, seconds = f"{secret}, {TARGETS:,} targets and control", float(peer["seconds"])
    yield Row(case, "anonymeter", seconds, seconds / mine)
    original, released, control = frames

    def run() -> InferenceEvaluator:
        np.random.seed(0)  # noqa: NPY002 (the package draws from the old generator)
        return InferenceEvaluator(original, released, known, secret, None, TARGETS, control).evaluate()

    right = [np.flatnonzero(each).tolist() for each in run()._right]
    same = right == [peer["attack"], peer["control"]]
    alike = least(run)
    verdicts = "identical verdicts" if same else "DIFFERENT VERDICTS"
    yield Row(case, f"unveil as anonymeter ({verdicts}; {seconds / alike:.0f}x less than it)", alike, alike / mine)


def anonymeter(adult: Path, secrets: Sequence[str]) -> dict[str, Any] | None:
    """Return anonymeter's CPU time and verdicts for each secret, compiled beforehand; None without it."""
    python = Path(os.environ.get("UNVEIL_ANONYMETER", ROOT / ".venv-bench-anonymeter" / "bin" / "python"))
    if not python.exists():
        print(f"There is no {python}: anonymeter is left out\n")
        return None
    script = str(Path(__file__).parent / "anonymeter_inference_peer.py")
    command = [str(python), "-W", "ignore", script, *map(str, paths(adult)), "--targets", str(TARGETS)]
    done = subprocess.run([*command, "--secrets", *secrets], capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main() -> None:
    found = list(rows())
    print(as_markdown(found))
    worst = min((row for row in found if row.who == "anonymeter"), key=lambda row: row.ratio, default=None)
    if worst is not None:
        print(f"\nThe least gain: {worst.case}, {worst.ratio:.0f} times less CPU than anonymeter")
    print(f"Peak memory: {peak_memory()} MB")


if __name__ == "__main__":
    main()
