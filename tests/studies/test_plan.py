"""A study as a file and as an object: what it computes, and everything that it refuses."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.studies.small import GUESS, small_study
from unveil.errors import InputError
from unveil.studies import Axis, DataSet, Replications, Study
from unveil.studies.sources import digest_of, graph_of, path_of, table_of

TEXT = """
name = "try"
seed = 4
protections = ["id-removal", "switch:share=0.1"]
attacks = ["tests.studies.own:Guess", "tests.studies.own:Guess:among=2"]
metrics = ["entropy"]
releases = 2

[[data]]
name = "small"
kind = "graph"
source = "graphs/small.csv"

[[data]]
name = "sample"
kind = "graph"
source = "sample:generated-graph"

[axes]
seed_pairs = [5, 10]
overlap = [0.5, 0.75, 1]

[fixed]
seed_pairs = 7

[replications]
relative_error = 0.05
cap = 200
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_study_is_read_from_a_file(tmp_path: Path) -> None:
    study = Study.read(written(tmp_path, TEXT))
    assert study.name == "try"
    assert study.data[0] == DataSet("small", "graph", str(tmp_path / "graphs" / "small.csv"))
    assert study.data[1].source == "sample:generated-graph"
    assert study.axes == (Axis("seed_pairs", (5.0, 10.0)), Axis("overlap", (0.5, 0.75, 1.0)))
    assert study.fixed_levels() == {"seed_pairs": 7.0, "overlap": 0.85}
    assert study.replications == Replications(relative_error=0.05, cap=200)
    scenarios = study.scenarios()
    assert len(scenarios) == 2 * 2 * 2 * 5
    assert scenarios[0].key == "small | id-removal | tests.studies.own:Guess | seed_pairs=5 | overlap=0.85"
    assert scenarios[2].key == "small | id-removal | tests.studies.own:Guess | overlap=0.5 | seed_pairs=7"
    assert scenarios[2].levels == {"overlap": 0.5, "seed_pairs": 7.0}
    assert len({scenario.key for scenario in scenarios}) == len({each.file_name for each in scenarios}) == 40
    assert scenarios == study.scenarios()


def test_a_study_can_be_written_and_read_again(tmp_path: Path) -> None:
    study = Study.read(written(tmp_path, TEXT))
    again = Study.read(written(tmp_path, study.to_toml()))
    assert again == study
    fixed = replace(study, replications=Replications(number=5), name='a "name"\x7f\nof two lines', fixed={}, metrics=())
    assert Study.read(written(tmp_path, fixed.to_toml())) == fixed
    people = Study(
        name="t",
        seed=0,
        data=(DataSet("people", "table", "sample:anes96", known=("age", "news")),),
        protections=("shuffle",),
        attacks=("record-linkage",),
        axes=(Axis("known_columns", (1, 2)),),
        replications=Replications(number=2),
    )
    assert Study.read(written(tmp_path, people.to_toml())) == people
    assert people.fixed_levels() == {"known_share": 1.0}


def test_directions_and_weights_may_be_dropped_in_a_study_file(tmp_path: Path) -> None:
    study = Study.read(written(tmp_path, TEXT))
    told = replace(study, data=(replace(study.data[0], undirected=True, unweighted=True),))
    text = told.to_toml()
    assert "undirected = true\nunweighted = true\n" in text
    assert Study.read(written(tmp_path, text)).data[0].undirected
    with pytest.raises(InputError, match=r"'undirected' of .* must be true or false"):
        Study.read(written(tmp_path, text.replace("undirected = true", "undirected = 1")))


def test_a_type_is_a_label_on_which_nothing_depends(tmp_path: Path) -> None:
    study = Study.read(written(tmp_path, TEXT))
    assert [each.type for each in study.data] == ["", ""]
    text = TEXT.replace('name = "sample"', 'name = "sample"\ntype = "a \\"made\\" one"')
    labelled = Study.read(written(tmp_path, text))
    assert [each.type for each in labelled.data] == ["", 'a "made" one']
    assert Study.read(written(tmp_path, labelled.to_toml())) == labelled
    assert labelled.identity() == study.identity()
    assert [each.file_name for each in labelled.scenarios()] == [each.file_name for each in study.scenarios()]
    with pytest.raises(InputError, match=r"'type' of .*data.* number 2 of the study .* must be a text, but is not"):
        Study.read(written(tmp_path, TEXT.replace('name = "sample"', 'name = "sample"\ntype = 3')))


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 5},
        {"replications": Replications(number=4)},
        {"metrics": ()},
        {"releases": 2},
        {"attacks": (GUESS, "tests.studies.own:Guess:among=2")},
        {"fixed": {"overlap": 0.5}},
        {"name": "other"},
    ],
)
def test_the_identity_changes_with_what_numbers_depend_on(tmp_path: Path, changes: dict[str, Any]) -> None:
    study = small_study(tmp_path)
    assert small_study(tmp_path).identity() == study.identity()
    assert small_study(tmp_path, **changes).identity() != study.identity()


def test_another_seed_or_version_has_other_files_and_another_place_of_the_data_has_not(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    names = {scenario.file_name for scenario in study.scenarios()}
    assert names.isdisjoint(scenario.file_name for scenario in replace(study, seed=9).scenarios())
    assert names.isdisjoint(scenario.file_name for scenario in study.scenarios(version="0.0.0"))
    assert study.identity(version="0.0.0") != study.identity()
    moved = replace(study, data=(replace(study.data[0], source="elsewhere.csv"),))
    assert {scenario.file_name for scenario in moved.scenarios()} == names
    assert moved.identity() == study.identity()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 4", "sed = 4", "has no key 'sed'. Did you mean 'seed'? Rename it, or leave it out"),
        ("seed = 4", "", "must have the key 'seed', but has not"),
        ("seed = 4", "seed = -4", "seed of a study must be a whole number of at least 0, but is -4"),
        ("seed = 4", "seed = true", "'seed' of the study"),
        ("seed = 4", "seed = ", "must be TOML, but is not"),
        ('source = "graphs', 'sorce = "graphs', "[[data]] number 1 of the study"),
        ("cap = 200", "capp = 200", "has no key 'capp'. Did you mean 'cap'?"),
        ("cap = 200", "cap = 0", "cap of replications must be a whole number of at least 1, but is 0"),
        ("relative_error = 0.05", "number = 0", "number of replications must be a whole number of at least 1"),
        ("relative_error = 0.05", "", "must be a number or end at a relative_error, one of the two"),
        ("relative_error = 0.05", "number = 4\nrelative_error = 0.05", "one of the two"),
        (
            "relative_error = 0.05",
            "relative_error = 5",
            "relative_error must lie between 0 and 1, both excluded, but is 5",
        ),
        (
            "seed_pairs = [5, 10]",
            "seed_pairs = [10, 5]",
            "levels of the axis 'seed_pairs' must increase, but are 10, 5",
        ),
        ("seed_pairs = [5, 10]", "seed_pairs = [5, 5]", "must increase"),
        ("seed_pairs = [5, 10]", "seed_pairs = []", "must have at least one level"),
        ("seed_pairs = [5, 10]", "seed_pairs = 5", "must be a list of levels"),
        ("seed_pairs = [5, 10]", "seed_pairs = [5.5]", "must be whole numbers from 0, but one is 5.5"),
        ("seed_pairs = [5, 10]", "seed_pair = [5]", "Did you mean 'seed_pairs'?"),
        ("0.75, 1]", "0.75, 2]", "axis 'overlap' must be numbers from 0 to 1, but one is 2"),
        ("seed_pairs = 7", "seed_pairs = nan", "must be whole numbers from 0, but one is nan"),
        ("seed_pairs = 7", "known_share = 1", "a study of graphs has the axes seed_pairs, overlap"),
        ('protections = ["id-removal", "switch:share=0.1"]', "protections = []", "its protections are empty"),
        ("switch:share=0.1", "id-removal", "must be different, but 'id-removal' is there twice"),
        ("switch:share=0.1", "swich", "Did you mean 'switch'?"),
        ("switch:share=0.1", "shuffle", "the protection 'shuffle' is for a table"),
        ("switch:share=0.1", "tests.studies.own:NotAnything", "must be a class with the method 'apply'"),
        ("switch:share=0.1", "tests.studies.own:Guess", "must be a class with the method 'apply'"),
        ("switch:share=0.1", "tests.studies.gone:Guess", "cannot be imported"),
        ("tests.studies.own:Guess:among=2", "tests.studies.own:NotAnything", "must be a class with the method 'run'"),
        ("tests.studies.own:Guess:among=2", "record-linkage", "is on a table, not on a graph"),
        ('["entropy"]', '["entropi"]', "Did you mean 'entropy'?"),
        ('["entropy"]', '["k_anonymity"]', "no metric of candidates called 'k_anonymity'"),
        ('["entropy"]', '"entropy"', "'metrics' of the study"),
        ("releases = 2", "releases = 0", "releases of a study must be a whole number of at least 1"),
        ('name = "sample"', 'name = "small"', "'small' is there twice"),
        ('"sample"\nkind = "graph"', '"sample"\nkind = "table"', "must be all graphs or all tables"),
        ('"small"\nkind = "graph"', '"small"\nkind = "gaph"', "must be graph or table, but is 'gaph'"),
        ('kind = "graph"\nsource = "graphs', 'known = ["a"]\nkind = "graph"\nsource = "g', "has no quasi-identifiers"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=re.escape(message)):
        Study.read(written(tmp_path, TEXT.replace(old, new)))


@pytest.mark.parametrize("what", ["data", "attacks", "axes"])
def test_an_empty_grid_is_refused(tmp_path: Path, what: str) -> None:
    with pytest.raises(InputError, match=f"must have something to compute, but its {what} are empty"):
        small_study(tmp_path, **{what: ()})


def test_a_study_of_tables_refuses_what_leaves_no_truth_or_no_candidates(tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "data": (DataSet("people", "table", "sample:anes96"),),
        "protections": ("shuffle",),
        "attacks": ("record-linkage",),
        "axes": (Axis("known_columns", (1,)),),
    }
    small_study(tmp_path, **told).check()
    with pytest.raises(InputError, match="makes synthetic rows"):
        small_study(tmp_path, **{**told, "protections": ("gaussian-copula",)}).check()
    with pytest.raises(InputError, match="returns Trials, but this needs Candidates or Beliefs"):
        small_study(tmp_path, **{**told, "attacks": ("row-order",)}).check()


def test_a_study_of_trials_refuses_what_has_no_meaning_there(tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "data": (DataSet("people", "table", "sample:anes96"),),
        "protections": ("shuffle",),
        "attacks": ("linkability:neighbours=1", "singling-out"),
        "axes": (Axis("known_columns", (2,)), Axis("leaked_share", (0, 0.5))),
        "metrics": (),
    }
    small_study(tmp_path, **told).check()
    for changes, message in (
        ({"attacks": ("linkability", "record-linkage")}, "must all leave trials or all leave candidates"),
        ({"attacks": ("record-linkage",)}, "leaked_share is for attacks that leave trials"),
        ({"axes": (Axis("known_share", (0.5, 1)),)}, "known_share must be 1"),
        ({"fixed": {"known_share": 0.5}}, "known_share must be 1"),
        ({"metrics": ("entropy",)}, "there is no metric of trials called 'entropy'"),
        ({"attacks": ("linkability:first=age",)}, "'first' twice"),
        ({"attacks": ("inference",)}, "needs the setting 'secret'"),
    ):
        with pytest.raises(InputError, match=message):
            small_study(tmp_path, **{**told, **changes}).check()


def test_a_file_that_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        Study.read(tmp_path / "gone.toml")
    with pytest.raises(InputError, match="is a folder"):
        Study.read(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="must be text in UTF-8"):
        Study.read(tmp_path / "bytes.toml")
    with pytest.raises(InputError, match="must be a table of keys"):
        Study.read(
            written(
                tmp_path,
                TEXT.replace('[[data]]\nname = "small"\nkind = "graph"\nsource = "graphs/small.csv"', "")
                .replace("seed = 4", "seed = 4\ndata = [1]")
                .replace('[[data]]\nname = "sample"\nkind = "graph"\nsource = "sample:generated-graph"', ""),
            )
        )


def test_data_lie_where_the_source_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study(tmp_path)
    (data,) = study.data
    monkeypatch.setenv("SOME_FOLDER", str(tmp_path))
    for source in ("$SOME_FOLDER/small.csv", "${SOME_FOLDER}/small.csv"):
        elsewhere = replace(data, source=source)
        assert path_of(elsewhere) == tmp_path / "small.csv"
        assert digest_of(elsewhere) == digest_of(data)
        assert graph_of(elsewhere).nodes == 40
    assert graph_of(data) is graph_of(data)
    monkeypatch.delenv("SOME_FOLDER")
    with pytest.raises(InputError, match="needs the variable SOME_FOLDER of the environment, which is not set"):
        graph_of(replace(data, source="$SOME_FOLDER/small.csv"))
    with pytest.raises(InputError, match="of the data 'small' does not exist"):
        digest_of(replace(data, source=str(tmp_path / "gone.csv")))
    with pytest.raises(InputError, match="of the data 'small' does not exist"):
        graph_of(replace(data, source=str(tmp_path / "gone.csv")))
    with pytest.raises(InputError, match="is a folder"):
        digest_of(replace(data, source=str(tmp_path)))
    with pytest.raises(InputError, match="Did you mean 'sample:generated-graph'"):
        path_of(replace(data, source="sample:generated"))
    monkeypatch.chdir(tmp_path)
    near = replace(study, data=(replace(data, source="small.csv"),))
    assert near.at_absolute_paths().data == study.data


def test_a_file_that_changed_is_not_read(tmp_path: Path) -> None:
    (data,) = small_study(tmp_path).data
    noted = replace(data, digest=digest_of(data))
    assert graph_of(noted).edges > 0
    with Path(data.source).open("a") as stream:
        stream.write("0,39\n")
    with pytest.raises(InputError, match="changed after the study began"):
        graph_of(noted)


def test_known_columns_of_a_table_are_those_that_were_named() -> None:
    sample = DataSet("people", "table", "sample:anes96")
    assert next(c.name for c in table_of(sample).columns if c.role == "known") == "age"
    named = table_of(replace(sample, known=("news", "party")))
    assert [c.name for c in named.columns if c.role == "known"] == ["news", "party"]
    with pytest.raises(InputError, match="column 'new' is not in"):
        table_of(replace(sample, known=("new",)))
