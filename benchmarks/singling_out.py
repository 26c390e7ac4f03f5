"""Singling out: 500 guesses about three columns each beside anonymeter, from the release to the hits on the control.

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
from benchmarks.timing import Row, least
from unveil.anonymeter import SinglingOutEvaluator
from unveil.attacks.table.singling_out import SinglingOut
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge
from unveil.guesses.trials import Trials

SIZE, GUESSES = 3, 500


def single_out(attack: SinglingOut, tables: Sequence[Table]) -> Trials:
    original, released, control = tables
    return attack.run(released=released, knowledge=Knowledge(original, control), rng=np.random.default_rng(1))


def rows() -> Iterator[Row]:
    """Yield 500 guesses about three columns beside anonymeter, counting alone, and guesses about one column."""
    adult = folder()
    if adult is None:
        print("UNVEIL_DATA names no folder with adult/train.csv.gz: singling out is left out\n")
        return
    frames = [pl.read_csv(path) for path in paths(adult)]
    tables = agree(*map(Table.from_frame, frames))
    attack = SinglingOut(size=SIZE, guesses=GUESSES)
    single_out(attack, tables)  # the compiler is warm
    case = f"{GUESSES} guesses about {SIZE} columns, and control"
    mine = least(lambda: single_out(attack, tables))
    yield Row(case, "unveil", mine, 1.0)
    peer = anonymeter(adult)
    if peer is not None:
        yield from _beside(peer, frames, case, mine)
    predicates = attack.guess(tables[1], rng=np.random.default_rng(1))
    counting = least(lambda: predicates.counts(tables[0]))
    yield Row(f"{GUESSES} given guesses counted in {tables[0].rows:,} rows", "unveil", counting, 1.0)
    univariate = least(lambda: single_out(SinglingOut(exact_numbers=True), tables))
    yield Row(f"{GUESSES} guesses about one column, and control", "unveil", univariate, 1.0)


def _beside(peer: dict[str, Any], frames: Sequence[pl.DataFrame], case: str, mine: float) -> Iterator[Row]:
    """Yield anonymeter's time, and ours in its own way with the hits and the risk compared.

    Both see the cells as they are: a table would take the question marks of Adult for missing values.
    """
    seconds = float(peer["seconds"])
    yield Row(case, "anonymeter", seconds, seconds / mine)
    original, released, control = frames

    def run() -> SinglingOutEvaluator:
        return SinglingOutEvaluator(original, released, GUESSES, SIZE, control, seed=0).evaluate()

    evaluator = run()
    risk = evaluator.risk()
    same = evaluator.results().n_success == peer["hits"] and np.allclose([risk.value, *risk.ci], peer["risk"])
    alike = least(run)
    hits = "identical hits and risk" if same else "DIFFERENT HITS OR RISK"
    yield Row(case, f"unveil as anonymeter ({hits}; {seconds / alike:.0f}x less than it)", alike, alike / mine)


def anonymeter(adult: Path) -> dict[str, Any] | None:
    """Return anonymeter's CPU time, hits and risk for the same settings; None without it."""
    python = Path(os.environ.get("UNVEIL_ANONYMETER", ROOT / ".venv-bench-anonymeter" / "bin" / "python"))
    if not python.exists():
        print(f"There is no {python}: anonymeter is left out\n")
        return None
    original, released, control = map(str, paths(adult))
    script = str(Path(__file__).parent / "anonymeter_singling_out_peer.py")
    command = [str(python), "-W", "ignore", script, original, released, "--control", control]
    command += ["--size", str(SIZE), "--guesses", str(GUESSES), "--seed", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
