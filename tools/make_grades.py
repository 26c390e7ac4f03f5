"""Write the grades that come with unveil, from the stored results of studies.

    .venv/bin/python tools/make_grades.py

Grades on graphs need the studies of 100 replications: five replications decide too little. A ground with a study that
is not stored keeps its grades, and this says so. ``--from FOLDER`` takes the studies of another folder.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from unveil.grades.releases import grade_releases
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.scores import Reading, Scores
from unveil.grades.shipped_grades import Ground, as_shipped
from unveil.studies import Results

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "unveil" / "grades" / "shipped.json"
STORED = ROOT / "studies" / "results"
#: The studies behind the grades of each ground.
STUDIES: Mapping[Ground, Sequence[str]] = {
    "graphs": tuple(f"paper-100-{name}" for name in ("manufacturing", "dnc", "irvine", "pgp", "dblp")),
    "tables": ("table",),
    "releases": ("atlas",),
}


def grades_of(ground: Ground, paths: Sequence[Path], *, metrics: Sequence[str] | None = None) -> dict[str, object]:
    """Return the grades from finished studies as they are written into the package; ``metrics`` takes some of them."""
    studies = [Results.read(path) for path in paths]
    for study in studies:
        if study.missing or study.damaged:
            sys.exit(f"{study.study.name} is not finished: resume it first")
    if ground == "releases":
        return asdict(grade_releases(studies[0], rng=np.random.default_rng(0)).to_shipped())
    values = ReplicatedMetrics.of(*studies).only(metrics=metrics)
    return as_shipped(Reading.of(Scores.of(values)), tuple(study.study.name for study in studies))


def main(arguments: Sequence[str] | None = None) -> None:
    """Grade the stored studies, and write the grades into the package."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="stored", type=Path, default=STORED, help="folder with the stored results")
    parser.add_argument("--out", type=Path, default=TARGET, help="the file of grades")
    given = parser.parse_args(arguments)
    written = json.loads(TARGET.read_text(encoding="utf-8"))
    for ground, names in STUDIES.items():
        paths = [given.stored / f"{name}.parquet" for name in names]
        lacking = [path.stem for path in paths if not path.is_file()]
        if lacking:
            print(f"{ground}: kept as they are, since {', '.join(lacking)} is not stored")
        else:
            written[ground] = grades_of(ground, paths)
    given.out.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
