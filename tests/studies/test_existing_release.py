"""Releases that were made already: their index, their tables, who was not released, and runs over them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.studies.given import COUNT, index, people, study_file
from tests.studies.small import files
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.studies import Results, Study, run_study
from unveil.studies.existing_release import divided, tables_of

ROOT = Path(__file__).parents[2]


def test_an_index_names_releases_with_their_labels(tmp_path: Path) -> None:
    index(tmp_path)
    study = Study.read(study_file(tmp_path))
    assert [each.name for each in study.data] == ["part", "one", "two"]
    part, one, _ = (each.given for each in study.data)
    assert part is not None
    assert one is not None
    assert (part.control, part.made, one.control, one.made) == ("rest", "masked", "", "")
    assert (one.label("technique"), one.label("epsilon"), one.label("nothing")) == ("noise", "1", "")
    assert dict(part.labels) == {"technique": "part", "features": "all"}
    assert Path(study.data[0].source) == tmp_path / "made" / "part.csv"


def test_a_study_of_releases_is_written_and_read_again(tmp_path: Path) -> None:
    index(tmp_path)
    study = Study.read(study_file(tmp_path))
    assert Study.from_toml(study.to_toml()) == study
    assert Study.from_toml(study.to_toml()).identity() == study.identity()


def test_one_release_has_the_same_file_in_every_study(tmp_path: Path) -> None:
    index(tmp_path)
    run_study(Study.read(study_file(tmp_path)), tmp_path / "all", workers=0)
    alone = tmp_path / "alone.toml"
    alone.write_text(
        f'name = "alone"\nseed = 1\nattacks = ["{COUNT}"]\n[[original]]\nname = "people"\nsource = "people.csv"\n'
        '[[release]]\nname = "two"\nfile = "made/two.csv"\noriginal = "people"\nepsilon = 10\n'
    )
    run_study(Study.read(alone), tmp_path / "one", workers=0)
    own, every = files(tmp_path / "one"), files(tmp_path / "all")
    assert len(own) == 1
    assert own.items() <= every.items()


@pytest.mark.parametrize(
    ("columns", "more", "said"),
    [
        ({"file": ["part.csv", "gone.csv", "two.csv"]}, "", r"gone\.csv' of the data 'gone' does not exist"),
        ({"file": ["part.csv", "", "two.csv"]}, "", r"line 3 of the index .*index\.csv' names no file\. Fill it in"),
        (
            {"original": ["people", "peopel", "people"]},
            "",
            r"'one' of .* is of the original 'peopel'.* Did you mean 'people'\?",
        ),
        ({"made": ["masked", "mask", ""]}, "", "must be made masked or synthetic, but made is 'mask'"),
        ({}, '\n[[where]]\ntechnic = "part"\nmade = "masked"\n', "names the column 'technic', which the index has not"),
        (
            {},
            '\n[[where]]\ntechnique = "part"\n',
            r"number 2 .* must name a column of the index .* and what holds then",
        ),
        ({"file": ["one.csv", "one.csv", "two.csv"]}, "", "must be different, but 'one' is there twice"),
    ],
)
def test_mistakes_get_a_sentence(tmp_path: Path, columns: dict[str, list[str]], more: str, said: str) -> None:
    index(tmp_path, **columns)
    with pytest.raises(InputError, match=said):
        run_study(Study.read(study_file(tmp_path, more=more)), tmp_path / "out", workers=0)


def test_an_index_without_the_column_of_files_is_refused(tmp_path: Path) -> None:
    path = index(tmp_path)
    pl.read_csv(path).rename({"file": "files"}).write_csv(path)
    with pytest.raises(InputError, match=r"must have the column 'file', but has not\. Did you mean 'files'\?"):
        Study.read(study_file(tmp_path))


def test_a_study_without_releases_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    path.write_text('name = "none"\nseed = 1\n[[original]]\nname = "a"\nsource = "a.csv"\n')
    with pytest.raises(InputError, match="must name at least one release"):
        Study.read(path)


def test_what_is_asked_must_be_there(tmp_path: Path) -> None:
    index(tmp_path)
    with pytest.raises(InputError, match="there is no scenario 'audti'"):
        Study.read(study_file(tmp_path, attacks='["audti"]'))


def test_the_rest_is_everybody_who_is_not_released(tmp_path: Path) -> None:
    index(tmp_path)
    tables = tables_of(Study.read(study_file(tmp_path)).data[0])
    assert tables.control is not None
    assert tables.made == "masked"
    both = pl.concat([tables.original.frame, tables.control.frame]).rows()
    assert sorted(both) == sorted(Table.from_frame(people()).frame.rows())
    assert sorted(tables.original.frame.rows()) == sorted(Table.from_frame(people()[::2]).frame.rows())


def test_equal_people_are_divided_by_how_often_they_are_released() -> None:
    original = Table.from_frame(pl.DataFrame({"a": [1, 2, 2, 2, 3], "b": [1, 1, 1, 1, 1]}), name="original")
    released = Table.from_frame(pl.DataFrame({"b": [1, 1], "a": [2, 2]}), name="release")
    members, others = divided(original, released, name="some")
    assert original.frame["a"].to_numpy()[members].tolist() == [2, 2]
    assert sorted(original.frame["a"].to_numpy()[others].tolist()) == [1, 2, 3]


@pytest.mark.parametrize("rows", [[2, 2, 2, 2], [1, 4]])
def test_a_release_that_is_no_part_of_the_original_has_no_rest(rows: list[int]) -> None:
    original = Table.from_frame(pl.DataFrame({"a": [1, 2, 2, 2, 3], "b": [1, 1, 1, 1, 1]}), name="original")
    released = Table.from_frame(pl.DataFrame({"a": rows, "b": [1] * len(rows)}), name="release")
    with pytest.raises(InputError, match=f"must be a row of its original, but 1 of {len(rows)} are not"):
        divided(original, released, name="some")


def test_a_release_is_audited_by_the_columns_that_it_holds(tmp_path: Path) -> None:
    index(tmp_path)
    tables = tables_of(Study.read(study_file(tmp_path)).data[1])
    assert tables.original.column_names == ("age", "town", "pay")
    assert tables.control is None


def test_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    index(tmp_path)
    study = Study.read(study_file(tmp_path))
    out = tmp_path / "out"
    run_study(study, out, workers=0)
    people(seed=9).write_csv(tmp_path / "people.csv")
    with pytest.raises(InputError, match="holds results for another file of the data 'part'"):
        run_study(study, out, workers=0, resume=True)


def test_what_fails_is_a_row_and_stops_nothing(tmp_path: Path) -> None:
    index(tmp_path)
    study = Study.read(study_file(tmp_path, attacks=f'["{COUNT}:fails_on=one"]'))
    summary = run_study(study, tmp_path / "out", workers=0)
    assert (summary.done, summary.failed) == (3, 1)
    results = Results.read(tmp_path / "out")
    assert results.errors["error"].to_list() == ["this one cannot be measured. Leave it out"]
    assert results.frame["released"].to_list() == [30.0, 60.0]
    assert results.frame["control"].to_list() == [30.0, None]
    assert results.frame["correct"].to_list() == [None, None]


def test_two_workers_write_the_same_bytes_as_none(tmp_path: Path) -> None:
    index(tmp_path)
    study = Study.read(study_file(tmp_path))
    run_study(study, tmp_path / "none", workers=0)
    run_study(study, tmp_path / "two", workers=2)
    assert files(tmp_path / "none") == files(tmp_path / "two")
    assert len(files(tmp_path / "none")) == 3


def test_a_run_that_was_killed_is_resumed_to_the_same_bytes(tmp_path: Path) -> None:
    index(tmp_path)
    path = study_file(tmp_path, attacks=f'["{COUNT}:slow=0.3"]')
    run_study(Study.read(path), tmp_path / "clean", workers=0)
    out = tmp_path / "out"
    program = (
        "import sys; from unveil.studies import Study, run_study\n"
        "run_study(Study.read(sys.argv[1]), sys.argv[2], workers=0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    started = subprocess.Popen([sys.executable, "-c", program, str(path), str(out)], env=environment)
    for _ in range(600):
        if list((out / "results").glob("*.result")):
            break
        time.sleep(0.05)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert 1 <= len(list((out / "results").glob("*.result"))) < 3
    summary = run_study(Study.read(path), out, workers=0, resume=True)
    assert summary.reused >= 1
    assert summary.done + summary.reused == 3
    assert files(out) == files(tmp_path / "clean")


def test_a_summary_keeps_every_number_and_no_folder(tmp_path: Path) -> None:
    index(tmp_path)
    run_study(Study.read(study_file(tmp_path)), tmp_path / "out", workers=0)
    results = Results.read(tmp_path / "out")
    path = tmp_path / "given.parquet"
    path.write_bytes(results.to_summary())
    kept = Results.read(path)
    assert kept.frame.select("data", *results.metrics).equals(results.frame.select("data", *results.metrics))
    given = kept.study.data[0].given
    assert given is not None
    assert (kept.study.data[0].source, given.original) == ("part.csv", "people.csv")
    assert str(tmp_path).encode() not in path.read_bytes()


def test_numbers_hang_on_the_seed_and_the_release_alone(tmp_path: Path) -> None:
    index(tmp_path)
    study = Study.read(study_file(tmp_path))
    lots = []
    for name, seed in (("one", 1), ("other", 2)):
        path = study_file(tmp_path)
        path.write_text(path.read_text().replace("seed = 1", f"seed = {seed}"))
        run_study(Study.read(path), tmp_path / name, workers=0)
        lots.append(Results.read(tmp_path / name).frame["lot"].to_numpy())
    assert study.seed == 1
    assert np.unique(np.concatenate(lots)).size == 6
