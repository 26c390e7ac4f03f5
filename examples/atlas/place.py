"""Audit a release of one's own, and say where it stands among releases that others made.

    python examples/atlas/place.py people.csv released.csv
    python examples/atlas/place.py people.csv released.csv --atlas studies/results/atlas.parquet --like mst

Other people and other columns make other figures: how far linking gets depends on how many columns there are and how
unusual people are in them. So this says where figures stand, and no more.
"""

import argparse
from math import isnan
from pathlib import Path

import numpy as np

from unveil import Table
from unveil.grades.releases import GradedRelease, releases_of
from unveil.questions.audit.study_scenario import WholeAudit
from unveil.studies import Results
from unveil.studies.audit_columns import LINKED, LOSS, RISK
from unveil.studies.existing_release import ExistingTables

ATLAS = Path(__file__).resolve().parents[2] / "studies" / "results" / "atlas.parquet"


def numbers_of(people: Path, released: Path, control: Path | None, dictionary: Path | None) -> dict[str, float]:
    """Return what an audit of one's own release finds, by the names that the atlas has for it."""
    original = Table.read(people, name="original", dictionary=dictionary, elsewhere=True)
    made = Table.read(released, name="release", elsewhere=True)
    outside = None
    if control is not None:
        outside = Table.read(control, name="control", dictionary=dictionary, elsewhere=True)
    tables = ExistingTables("release", original, made, outside, None)
    return WholeAudit().measure(tables, rng=np.random.default_rng(0))


def share_above(value: float, others: list[float]) -> float:
    """Return the share of others that are above a value, equal ones counting half; NaN without any."""
    known = [each for each in others if not isnan(each)]
    if isnan(value) or not known:
        return float("nan")
    return sum(0.5 if each == value else float(each > value) for each in known) / len(known)


def placed(own: dict[str, float], atlas: tuple[GradedRelease, ...], among: str) -> list[str]:
    """Return where the release stands, in sentences."""
    safer, kept = (share_above(own[name], [each.figures[name] for each in atlas]) for name in (LINKED, LOSS))
    said = [
        f"By how often records of one person are linked ({own[LINKED]:.0%}) it is safer than {safer:.0%} of {among}.",
        f"By what was lost ({own[LOSS]:.0%}) it is more useful than {kept:.0%} of them, and less useful than "
        f"{1 - kept:.0%}.",
    ]
    better = sum(each.figures[LINKED] < own[LINKED] and each.figures[LOSS] < own[LOSS] for each in atlas)
    said.append(f"{better} of {len(atlas)} are both safer and more useful.")
    low, risk = own[f"{RISK}.low"], own[RISK]
    if not isnan(low) and low > 0:
        said.append(f"Beyond what anybody reaches without the data: {risk:.0%} (at least {low:.0%}).")
    else:
        said.append("Nothing was found that nobody could reach without the data.")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("people", type=Path)
    parser.add_argument("released", type=Path)
    parser.add_argument("--control", type=Path)
    parser.add_argument("--dictionary", type=Path)
    parser.add_argument("--atlas", type=Path, default=ATLAS, help="the folder of the study, or its summary")
    parser.add_argument("--like", help="only releases of this technique")
    told = parser.parse_args()
    atlas = releases_of(Results.read(told.atlas))
    among = f"{len(atlas)} releases that others made"
    if told.like:
        atlas = tuple(each for each in atlas if each.technique == told.like)
        among = f"{len(atlas)} releases by {told.like}"
    if not atlas:
        raise SystemExit(f"the atlas has no release by {told.like}. Leave out --like, or name another technique")
    for sentence in placed(numbers_of(told.people, told.released, told.control, told.dictionary), atlas, among):
        print(sentence)


if __name__ == "__main__":
    main()
