import tempfile
from pathlib import Path
from typing import Any, NamedTuple


class PlannedRun(NamedTuple):
    number: int
    seed: int
    rows: Any


def make_runs(generator, given, runs, *, folder=None, workers=1, cluster=None, progress=None):
    with tempfile.TemporaryDirectory() as home:
        return [generator.make(given, each.rows, seed=each.seed, folder=Path(home)) for each in runs]
