"""Small example study for the commands on studies."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unveil.studies.plan import Axis, DataSet, Replications, Study
from unveil.studies.run import run_study

PLAN = Study(
    name="example",
    seed=1,
    data=(DataSet("generated", "graph", "sample:generated-graph"),),
    protections=("id-removal", "switch:share=0.2"),
    attacks=("NS", "YG"),
    axes=(Axis("seed_pairs", (10, 30, 60)),),
    replications=Replications(number=6),
)


@contextmanager
def example_folders(progress: Callable[[str, float], None]) -> Iterator[list[Path]]:
    """Yield the example's result folder (in a list), removed afterwards."""

    def move(done: int, total: int, left: float) -> None:  # noqa: ARG001
        progress(f"computing the example ({done} of {total} scenarios)", done / total)

    with tempfile.TemporaryDirectory(prefix="unveil-study-") as home:
        folder = Path(home) / "example"
        progress("computing the example", 0.0)
        run_study(PLAN, folder, workers=0, progress=move)
        yield [folder]
