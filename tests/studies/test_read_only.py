"""Results that somebody else hands over: reading, reporting and grading them runs no code and opens no other file."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data.files.test_column_store import on_unix
from tests.studies.given import index, study_file
from tests.studies.small import small_study
from unveil.errors import InputError
from unveil.questions.grade_metrics.answer import grade_metrics
from unveil.questions.study.answer import study_report
from unveil.questions.study.status import study_status
from unveil.studies import Results, Study, releases, run_study
from unveil.studies.plan import Replications

CODE = "from tests.studies.own import CountRows, Guess\n"


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that can be imported, and the folder that it lies in."""
    (tmp_path / "planted.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("planted", None)


def forget() -> None:
    assert sys.modules.pop("planted").Guess


@pytest.mark.parametrize("attack", ["planted:Guess", "refine:attack=planted:Guess"])
def test_grading_does_not_import_what_a_study_names(planted: Path, attack: str) -> None:
    out = planted / "out"
    run_study(small_study(planted, attacks=(attack,), replications=Replications(number=2)), out, workers=0)
    forget()
    study_report(out)
    grade_metrics(out)
    assert "planted" not in sys.modules


def test_reading_given_releases_does_not_import_what_a_study_names(planted: Path) -> None:
    index(planted)
    out, small = planted / "out", planted / "small.parquet"
    run_study(Study.read(study_file(planted, attacks='["planted:CountRows"]')), out, workers=0)
    forget()
    small.write_bytes(Results.read(out).to_summary())
    for each in (out, small):
        results = Results.read(each)
        assert results.metrics == ("original", "released", "control", "lot")
        assert results.frame["released"].to_list() == [30, 60, 60]
        with pytest.raises(InputError, match="needs audits of the releases, but this study ran 'planted:CountRows'"):
            study_report(each)
    for file in (out / "results").iterdir():
        file.unlink()
    assert Results.read(out).metrics == ()
    assert "planted" not in sys.modules


def test_the_study_beside_results_names_no_index(tmp_path: Path) -> None:
    index(tmp_path)
    out = tmp_path / "out"
    run_study(Study.read(study_file(tmp_path)), out, workers=0)
    told = study_file(tmp_path).read_text().replace('"made/', f'"{tmp_path}/made/')
    (out / "study.toml").write_text(told)
    with pytest.raises(InputError, match=r"must list its releases, but has an \[index\]"):
        Results.read(out)
    with pytest.raises(InputError, match="the study in a summary must list its releases"):
        Study.from_toml(told)


@on_unix
def test_a_release_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    out, study = tmp_path / "out", small_study(tmp_path)
    run_study(study, out, workers=0)
    for release in (out / "releases").iterdir():
        release.rename(tmp_path / release.name)
        release.symlink_to(tmp_path / release.name)
    for result in (out / "results").iterdir():
        result.unlink()
    releases._loaded.cache_clear()
    run_study(study, out, resume=True, workers=0)
    assert not any(release.is_symlink() for release in (out / "releases").iterdir())


@on_unix
def test_times_behind_a_link_are_not_read(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_study(small_study(tmp_path), out, workers=0)
    assert study_status(out).seconds > 0
    (out / "times.jsonl").rename(tmp_path / "times.jsonl")
    (out / "times.jsonl").symlink_to(tmp_path / "times.jsonl")
    assert study_status(out).seconds == 0
