"""The folder of a study: nothing is mixed, nothing damaged is believed, one run at a time."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.studies.small import first, looked_at, small_study
from unveil.errors import InputError
from unveil.studies import Results, Store, Study
from unveil.studies.scenario_run import run_scenario
from unveil.work.lock import running
from unveil.work.seal import DiskError, Seal, seal_of, user_key, write_bytes


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return looked_at(small_study(tmp_path))


def filled(study: Study, out: Path) -> None:
    with Store(out, study):
        for scenario in study.scenarios():
            run_scenario(study, scenario, out, key=user_key())


def test_what_is_there_and_whole_is_done(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with Store(out, study) as store:
        assert store.done() == set()
        outcome = run_scenario(study, first(study), out, key=user_key())
        assert store.done() == {outcome.file}
        assert Results.read(out).frame.height == 3
        assert running(out) is not None
    assert running(out) is None
    assert running(tmp_path) is None
    assert Study.read(out / "study.toml").identity() == study.identity()


def test_every_damaged_byte_is_seen(study: Study, tmp_path: Path) -> None:
    filled(study, tmp_path / "out")
    path = tmp_path / "out" / "results" / first(study).file_name
    content = path.read_bytes()
    assert seal_of(content) == Seal(path.name, study.data[0].digest, "fine")
    for place in range(0, len(content), 37):
        changed = bytearray(content)
        changed[place] ^= 1
        assert seal_of(bytes(changed)) is None
    for size in (0, 1, len(content) // 2, len(content) - 1):
        assert seal_of(content[:size]) is None
    assert seal_of(content + b"\0") is None


def test_damaged_files_are_moved_out_of_the_way(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    filled(study, out)
    names = [scenario.file_name for scenario in study.scenarios()]
    results = out / "results"
    whole = (results / names[0]).read_bytes()
    (results / names[0]).write_bytes(whole[:-100])
    (results / names[1]).write_bytes(whole)  # fine, but the file of another scenario
    (results / names[2]).write_bytes(b"")
    (results / ".unveil-draft.tmp").write_bytes(b"half")
    with Store(out, study) as store:
        assert store.done() == {names[3]}
        assert sorted(store.set_aside) == sorted(names[:3])
        assert {path.name for path in (out / "damaged").iterdir()} == {f"{name}.1" for name in names[:3]}
        assert [path.name for path in results.iterdir()] == [names[3]]
        (results / names[0]).write_bytes(b"again")
        assert store.done() == {names[3]}
        assert (out / "damaged" / f"{names[0]}.2").read_bytes() == b"again"


def test_results_for_other_data_are_not_believed(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    filled(study, out)
    other = replace(study, data=(replace(study.data[0], digest="0" * 64),))
    with pytest.raises(InputError, match="holds results for another file of the data 'small': its bytes have changed"):
        Store(out, other).__enter__()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 9}, "holds results with the seed 3, and this is 9: they are not mixed. Choose another folder"),
        ({"releases": 2}, "holds the results of another study .'small'., which differs in its data, protections"),
        ({"metrics": ()}, "holds the results of another study"),
    ],
)
def test_a_folder_of_another_study_is_refused(
    study: Study, tmp_path: Path, changes: dict[str, int], message: str
) -> None:
    out = tmp_path / "out"
    filled(study, out)
    with pytest.raises(InputError, match=message):
        Store(out, replace(study, **changes)).__enter__()  # type: ignore[arg-type]
    # The refusal frees the folder.
    with Store(out, study):
        pass


def test_a_folder_with_results_needs_resume(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Store(out, study, resume=False):
        pass
    with Store(out, study, resume=False):  # nothing was computed yet
        run_scenario(study, first(study), out, key=user_key())
    with pytest.raises(InputError, match=r"already holds results of this study\. Resume it"):
        Store(out, study, resume=False).__enter__()


def test_labels_and_places_of_the_data_are_brought_up_to_date(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    filled(study, out)
    before = {path.name: path.read_bytes() for path in [*(out / "results").iterdir(), out / "manifest.json"]}
    written = (out / "study.toml").stat().st_mtime_ns
    with Store(out, study):
        assert (out / "study.toml").stat().st_mtime_ns == written  # nothing to write
    moved = Path(study.data[0].source).rename(tmp_path / "moved.csv")
    labelled = replace(study, data=(replace(study.data[0], type="communication", source=str(moved)),))
    with Store(out, labelled) as store:
        assert len(store.done()) == len(study.scenarios())
    results = Results.read(out)
    assert (results.study.data[0].type, results.study.data[0].source) == ("communication", str(moved))
    assert len(results.fine) == len(study.scenarios())
    assert {path.name: path.read_bytes() for path in [*(out / "results").iterdir(), out / "manifest.json"]} == before
    # A refused study changes nothing, and a file that is gone is written again.
    with pytest.raises(InputError, match="holds results with the seed"):
        Store(out, replace(study, seed=9)).__enter__()
    assert Results.read(out).study == results.study
    (out / "study.toml").unlink()
    with Store(out, labelled):
        assert Results.read(out).study == results.study


def test_a_folder_with_other_files_is_refused(study: Study, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letters.txt").touch()
    with pytest.raises(InputError, match="must be empty or hold that study"):
        Store(tmp_path / "out", study).__enter__()
    assert running(tmp_path / "out") is None
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letters.txt"]


WRONG_DATA: tuple[Any, ...] = (1, [[]], {"small": []}, {"small": 1})
FORGED = [json.dumps({"identity": "", "version": "", "seed": 1, "data": data}) for data in WRONG_DATA]


@pytest.mark.parametrize("content", ["", "{", "[]", "[" * 100_000, '{"identity": 1}', *FORGED])
def test_a_damaged_manifest_is_refused(study: Study, tmp_path: Path, content: str) -> None:
    filled(study, tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text(content)
    with pytest.raises(InputError, match=r"manifest\.json in .* is damaged"):
        Store(tmp_path / "out", study).__enter__()


def test_a_run_killed_while_it_claimed_the_folder_does_no_harm(study: Study, tmp_path: Path) -> None:
    filled(study, tmp_path / "out")
    (tmp_path / "out" / "manifest.json").unlink()
    for folder in ("results", "nodes", "releases"):
        for path in (tmp_path / "out" / folder).iterdir():
            path.unlink()
        (tmp_path / "out" / folder).rmdir()
    with Store(tmp_path / "out", study) as store:
        assert store.done() == set()


def test_a_file_cannot_take_the_place_of_the_folder(study: Study, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="must be a folder, but something else is there"):
        Store(tmp_path / "file", study).__enter__()


def test_a_draft_that_cannot_be_finished_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DiskError, match=r"cannot be written \(No space left on device\). Earlier results are kept"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
