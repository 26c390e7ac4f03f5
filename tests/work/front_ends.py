"""The front ends of the engine that keep results in a folder: each runs there, and goes on where a run ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.questions.audit.example import asked, write_files
from tests.studies.small import small_study
from tests.studies.test_generator_runs import GIVEN, IDENTITY, planned
from unveil.protections.generators import generator_from
from unveil.studies.generator_runs import make_runs
from unveil.studies.run import run_study


class FrontEnd(NamedTuple):
    """A run on the files of a home, in a folder, by so many workers; and the part of the folder that holds results.

    ``run`` also takes the ``cluster`` and the ``progress`` of the front end.
    """

    run: Callable[..., object]
    part: str

    def files(self, folder: Path) -> dict[str, bytes]:
        """Return the results by name, with the values of nodes that a study keeps next to them."""
        paths = [path for part in (self.part, "nodes") for path in folder.glob(f"{part}/*")]
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _audit(home: Path, folder: Path, workers: int, **more: Any) -> object:
    return asked(home, attacks=("linkability", "copies", "before"), resume=folder, workers=workers, **more)


def _study(home: Path, folder: Path, workers: int, **more: Any) -> object:
    return run_study(small_study(home), folder, resume=True, workers=workers, **more)


def _generator(_home: Path, folder: Path, workers: int, **more: Any) -> object:
    generator = generator_from("shuffle")
    return make_runs(generator, GIVEN, planned(5), folder=folder, identity=IDENTITY, workers=workers, **more)


FRONT_ENDS = {
    "audit": FrontEnd(_audit, "results"),
    "study": FrontEnd(_study, "results"),
    "generator": FrontEnd(_generator, "runs"),
}


def write_home(home: Path) -> Path:
    """Write the files that all front ends read."""
    return write_files(home)
