"""The examples on the atlas: a release of one's own is placed, controlled releases are made, the page is written."""

import json
import re
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from examples.atlas import atlas_page, controlled, paths, place
from tests.approved.sentences import Approved
from tests.studies.given import people
from unveil.studies import Results, Study, run_study

ROOT = Path(__file__).parents[2]
AUDIT = "audit:guesses=20,without=before,memory,membership,inference,attribute_disclosure"


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Run a small atlas of made-up releases, and a small study with controls and without."""
    home = tmp_path_factory.mktemp("atlas")
    original = people(80)
    original.write_csv(home / "people.csv")
    people(80, seed=9).write_csv(home / "others.csv")
    rows = []
    for number, (technique, epsilon) in enumerate([("noise", "1"), ("noise", "10"), ("noise", "5"), ("copy", "")]):
        released = original.sample(fraction=1.0, shuffle=True) if technique == "copy" else people(80, seed=number + 2)
        released.write_csv(home / f"{number}.csv")
        rows.append({"file": f"{number}.csv", "original": "people", "technique": technique, "epsilon": epsilon})
    found = []
    for name, told in (
        ("atlas", rows),
        (
            "controlled",
            [
                {**row, "name": f"{row['technique']} {how}", "control": "others.csv" if how == "with" else ""}
                for row in rows[2:]
                for how in ("with", "without")
            ],
        ),
    ):
        pl.DataFrame(told).write_csv(home / f"{name}.csv")
        (home / f"{name}.toml").write_text(
            f'name = "{name}"\nseed = 1\nattacks = [{json.dumps(AUDIT)}]\n[[original]]\nname = "people"\n'
            f'source = "people.csv"\n[index]\nsource = "{name}.csv"\n'
        )
        run_study(Study.read(home / f"{name}.toml"), home / f"{name}-out", workers=0)
        found.append(home / f"{name}-out")
    return found[0], found[1]


def test_a_release_of_ones_own_is_placed(
    studies: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], approved: Approved
) -> None:
    people(80).write_csv(tmp_path / "people.csv")
    people(80).sample(fraction=1.0, shuffle=True, seed=4).write_csv(tmp_path / "released.csv")
    told = ["place.py", str(tmp_path / "people.csv"), str(tmp_path / "released.csv"), "--atlas", str(studies[0])]
    with patch.object(sys, "argv", told):
        place.main()
    said = capsys.readouterr().out
    # It is the original itself: nothing is lost, and nobody is safer than it is dangerous.
    assert re.search(r"it is safer than \d+% of 4 releases that others made", said)
    approved(said)
    with (
        patch.object(sys, "argv", [*told, "--like", "nothing"]),
        pytest.raises(SystemExit, match="no release by nothing"),
    ):
        place.main()


def test_ties_count_half_in_a_place() -> None:
    assert place.share_above(0.2, [0.1, 0.2, 0.3, float("nan")]) == 0.5
    assert np.isnan(place.share_above(0.2, []))


def test_the_page_is_written_from_the_results(studies: tuple[Path, Path], tmp_path: Path) -> None:
    told = ["atlas_page.py", "--atlas", str(studies[0]), "--controlled", str(studies[1]), "--out", str(tmp_path)]
    with patch.object(sys, "argv", told):
        atlas_page.main()
    text = (tmp_path / "atlas.md").read_text(encoding="utf-8")
    assert " of 4 releases " in text
    assert "| noise | 10 | 1 |" in text
    assert "| `linkability.attack_rate` |" in text
    assert (tmp_path / "images" / "atlas" / "epsilon.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_each_way_of_three_releases_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    names = controlled.FEATURES["demographic-focused"].split()
    some = pl.DataFrame({name: rng.integers(1, 9, 1_400).astype(str) for name in names})
    for name, value in {"PEOPLE": 100, "SIBLINGS": 4, "REGISTER": 200, "METHODS": {"shuffle": "synthetic"}}.items():
        monkeypatch.setattr(paths, name, value)
    some.write_csv(tmp_path / "people.csv")
    with patch.object(sys, "argv", ["paths.py", str(tmp_path / "people.csv"), str(tmp_path / "out.csv")]):
        paths.main()
    made = pl.read_csv(tmp_path / "out.csv")
    kept = pl.read_csv(ROOT / "studies" / "results" / "atlas-paths.csv")
    assert made.columns == kept.columns
    assert kept.height == 3 * made.height
    assert made["path"].to_list() == kept["path"].to_list()[: made.height]
    # Rows of the people themselves: every comparison with other people fails them.
    decided = dict(zip(made["path"], made["decision"], strict=True))
    assert decided["people held out at random"] == decided["program, 8 runs"] == "fail"
    assert decided["no other files"] == "fail"


def test_controlled_releases_have_two_halves_and_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    some = pl.DataFrame({name: rng.integers(1, 4, 60).astype(str) for name in ("AGEP", "SEX", "MSP", "PUMA", "EDU")})
    monkeypatch.setattr(controlled, "METHODS", ("shuffle", "cart:leaf=5", "noisy-chain:epsilon=1", "pram:keep=0.8"))
    controlled.write(some, tmp_path)
    index = pl.read_csv(tmp_path / "index.csv")
    assert index.height == 3 * 4 * 2
    for features in controlled.FEATURES:
        files = [tmp_path / features / f"{name}.csv" for name in ("original", "control", "shuffle")]
        *halves, made = (pl.read_csv(file, infer_schema=False) for file in files)
        wanted = some.select(halves[0].columns)
        assert sorted(pl.concat(halves).rows()) == sorted(wanted.rows())
        assert sorted(made.rows()) == sorted(halves[0].rows())


@pytest.mark.parametrize("name", ["atlas", "atlas-controlled"])
def test_what_is_kept_is_whole_and_small(name: str) -> None:
    path = ROOT / "studies" / "results" / f"{name}.parquet"
    kept = Results.read(path)
    assert kept.failed == kept.missing == kept.damaged == ()
    assert path.stat().st_size < 2_000_000
    assert kept.study.name == name


def test_the_page_of_the_guide_is_the_one_that_the_script_writes(tmp_path: Path) -> None:
    with patch.object(sys, "argv", ["atlas_page.py", "--out", str(tmp_path)]):
        atlas_page.main()
    written = (tmp_path / "atlas.md").read_text(encoding="utf-8")
    assert written == (ROOT / "docs" / "research" / "atlas.md").read_text(encoding="utf-8")
    assert "178 releases" in written
