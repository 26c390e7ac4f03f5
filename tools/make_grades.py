"""Write the grades that come with unveil, from the folders of finished studies.

python tools/make_grades.py --graphs small --tables table
"""

import argparse
import json
from pathlib import Path

import numpy as np

from unveil.grade.grades import grade
from unveil.grade.replicated import Replicated
from unveil.grade.shipped import as_shipped
from unveil.study import Results

TARGET = Path(__file__).resolve().parent.parent / "src" / "unveil" / "grade" / "shipped.json"


def main() -> None:
    """Grade the studies, and write the grades into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    for ground in ("graphs", "tables"):
        parser.add_argument(
            f"--{ground}", nargs="+", required=True, metavar="DIR", help=f"studies of attacks on {ground}"
        )
    written = {}
    for ground, folders in vars(parser.parse_args()).items():
        studies = [Results.read(folder) for folder in folders]
        for study in studies:
            if study.missing or study.damaged:
                raise SystemExit(f"{study.study.name} is not finished: resume it first")
        grades = grade(Replicated.of(*studies), rng=np.random.default_rng(0))
        written[ground] = as_shipped(grades, tuple(study.study.name for study in studies))
    TARGET.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
