"""Wrong siblings, people and population files are refused in one sentence with cause and fix."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.questions.audit.reference.made_up import people, released, siblings
from unveil.errors import InputError
from unveil.questions.audit.answer import audit

ORIGINAL = people(1)
RELEASE = released(ORIGINAL, 2)
SIBLINGS, BEHIND = siblings(3)
PLAIN: dict[str, Any] = {"release_type": "synthetic", "attacks": ["copies"], "identifiers": ["id"]}

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "columns": (
        {"sibling": [SIBLINGS[0].drop("age", "sex")]},
        "Sibling 'sibling 1' lacks the columns age, sex. All siblings must have the columns of the release",
    ),
    "the release": (
        {"sibling": [SIBLINGS[0], RELEASE.reverse()]}, "Sibling 'sibling 2' and the release hold the same rows",
    ),
    "twice": (
        {"sibling": [SIBLINGS[0], SIBLINGS[0].reverse()]}, "Siblings 'sibling 1' and 'sibling 2' hold the same rows",
    ),
    "the original": ({"sibling": [SIBLINGS[0], ORIGINAL]}, "Sibling 'sibling 2' holds the rows of the original"),
    "rows": (
        {"sibling": [SIBLINGS[0].head(100)]},
        "Sibling 'sibling 1' has 100 rows and the release 120. Distances depend on the number of rows",
    ),
    "number of people files": (
        {"sibling": SIBLINGS, "sibling_people": BEHIND[:2]},
        "3 siblings but 2 files of their people. Pass one for each, in the same order",
    ),
    "people without siblings": ({"sibling_people": BEHIND[:1]}, "0 siblings but 1 file of their people"),
    "the original as people": (
        {"sibling": SIBLINGS, "sibling_people": [*BEHIND[:2], ORIGINAL]},
        "The people file 'people of sibling 3' is the original. Pass the people behind each sibling",
    ),
    "people twice": (
        {"sibling": SIBLINGS, "sibling_people": [*BEHIND[:2], BEHIND[1]]},
        "People files 'people of sibling 2' and 'people of sibling 3' hold the same rows",
    ),
    "columns of people": (
        {"sibling": SIBLINGS, "sibling_people": [*BEHIND[:2], BEHIND[2].drop("age")]},
        "The people of sibling 'sibling 3' lack the column age",
    ),
    "generator": (
        {"sibling": SIBLINGS, "generator": "gaussian-copula"},
        "A generator makes its own releases. Leave out siblings and population, or the generator",
    ),
    "population is the original": (
        {"population": ORIGINAL.reverse()},
        "'population' is the original: every person would be compared with themselves",
    ),
    "no common column": (
        {"population": pl.DataFrame({"weight": range(300)})},
        "The population file 'population' shares no column with the release",
    ),
    "quasi-identifiers": (
        {"population": people(7).drop("age"), "quasi_identifiers": ["age", "sex"]},
        "lacks the quasi-identifiers age. Add them",
    ),
    "no register": (
        {"population": people(7), "population_is": "register", "quasi_identifiers": ["job"], "release_type": "masked"},
        r"\d+ class(es)? of the release ha(s|ve) fewer people in 'population' than in the release",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_refused(case: str) -> None:
    settings, sentence = WRONG[case]
    given = {**PLAIN, **settings}
    release = None if "generator" in given else RELEASE
    with pytest.raises(InputError) as caught:
        audit(ORIGINAL, release, **({**given, "release_type": None} if release is None else given))
    assert re.match(
        rf".*{sentence}" if case in ("no register", "quasi-identifiers") else re.escape(sentence), str(caught.value)
    )


def test_several_releases_have_no_siblings() -> None:
    with pytest.raises(InputError, match=r"settings as one release, but there are 2 releases. Audit each release by"):
        audit(ORIGINAL, [RELEASE, SIBLINGS[2]], **PLAIN, sibling=SIBLINGS[:2])
    with pytest.raises(InputError, match=r"A population file can be compared with one release, but there are 2"):
        audit(ORIGINAL, [RELEASE, SIBLINGS[2]], **PLAIN, population=people(7))


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "siblings"
    folder.mkdir()
    with pytest.raises(InputError, match="holds no file"):
        audit(ORIGINAL, RELEASE, **PLAIN, sibling=str(folder))
    for place, each in enumerate(SIBLINGS):
        each.write_csv(folder / f"{place}.csv")
    (folder / ".hidden").write_text("no table")
    ORIGINAL.write_csv(tmp_path / "people.csv")
    RELEASE.write_csv(tmp_path / "release.csv")
    paths = tmp_path / "people.csv", tmp_path / "release.csv"
    by_files = audit(*paths, **PLAIN, sibling=folder)
    original, release = map(pl.read_csv, paths)
    frames = [pl.read_csv(folder / f"{place}.csv") for place in range(3)]
    by_frames = audit(original, release, **PLAIN, sibling=frames)
    assert by_files.findings.siblings == by_frames.findings.siblings
