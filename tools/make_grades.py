"""Write the grades that come with unveil, from the folders of finished studies.

python tools/make_grades.py --graphs small --tables table --releases atlas

Grades of a ground that is not named stay as they are.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from unveil.grades.grades import grade
from unveil.grades.releases import grade_releases
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.shipped_grades import ShippedGrades, as_shipped
from unveil.studies import Results

TARGET = Path(__file__).resolve().parent.parent / "src" / "unveil" / "grades" / "shipped.json"


def graded_releases(study: Results) -> ShippedGrades:
    """Return how well each figure of an audit orders the releases of a finished study."""
    if study.missing or study.damaged:
        raise SystemExit(f"{study.study.name} is not finished: resume it first")
    return grade_releases(study, rng=np.random.default_rng(0)).to_shipped()


def main() -> None:
    """Grade the studies, and write the grades into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    for ground in ("graphs", "tables"):
        parser.add_argument(f"--{ground}", nargs="+", default=[], metavar="DIR", help=f"studies of attacks on {ground}")
    parser.add_argument("--releases", metavar="DIR", help="the study of releases that others made")
    told = vars(parser.parse_args())
    written = json.loads(TARGET.read_text(encoding="utf-8"))
    releases = told.pop("releases")
    if releases is not None:
        written["releases"] = asdict(graded_releases(Results.read(releases)))
    for ground, folders in told.items():
        if not folders:
            continue
        studies = [Results.read(folder) for folder in folders]
        for study in studies:
            if study.missing or study.damaged:
                raise SystemExit(f"{study.study.name} is not finished: resume it first")
        grades = grade(ReplicatedMetrics.of(*studies), rng=np.random.default_rng(0))
        written[ground] = as_shipped(grades, tuple(study.study.name for study in studies))
    TARGET.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
