"""Child tables of an audit: what is joined, what is refused, and what is reported."""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from tests.questions.audit.children.made_up import (
    CONTROL,
    CONTROL_VISITS,
    FRESH_VISITS,
    KEY,
    ORIGINAL,
    RELEASE,
    RELEASED_VISITS,
    VISITS,
    write_files,
)
from unveil.cli import main
from unveil.data.files.column_store import ColumnStore
from unveil.errors import InputError
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.children.settings import ChildSource, child_in_file, read_children
from unveil.questions.audit.inputs import prepare
from unveil.questions.audit.read import AuditFiles
from unveil.questions.audit.runner import AuditJob, identity_of
from unveil.questions.audit.settings import AuditSettings

FAST: dict[str, Any] = {"attacks": ["closest_record"], "release_type": "synthetic", "identifiers": [KEY]}
TABLES = {"visits": (VISITS, RELEASED_VISITS, CONTROL_VISITS)}


def asked(**changes: Any) -> AuditResult:
    return audit(ORIGINAL, RELEASE, CONTROL, **{**FAST, "tables": TABLES, **changes})


def test_one_row_per_person_has_summaries_and_the_release_has_the_rows() -> None:
    result = asked(sensitive=["diagnosis"])
    roles = {each.name: each.role for each in result.findings.columns}
    assert roles == {
        KEY: "identifier",
        **dict.fromkeys(["age", "sex", "region", "visits: number of rows", "visits: first date"], "known"),
        "visits: mean gap of date in days": "known",
        "visits: most frequent diagnosis": "sensitive",
        "visits: mean cost": "known",
    }
    (child,) = result.prepared[0].release.children
    assert (child.name, child.time) == ("visits", "date")
    assert child.release.original.rows == VISITS.height
    assert [each.role for each in child.release.original.columns] == ["known", "sensitive", "known"]
    assert KEY not in result.prepared[0].release.released.column_names
    assert result.findings.rows == result.findings.people == ORIGINAL.height
    tables = result.findings.tables
    assert tables is not None
    assert (tables.has_parent, tables.shared_keys, tables.tables[0].people) == (True, 0, ORIGINAL.height)
    assert not any("left out" in each and KEY in each for each in result.findings.notes)


def test_new_keys_and_another_order_change_no_finding() -> None:
    keys = {key: f"k{at * 31 % 1009}" for at, key in enumerate(RELEASE[KEY])}
    shuffled = RELEASED_VISITS.with_columns(pl.col(KEY).replace(keys)).sample(fraction=1.0, shuffle=True, seed=9)
    anew = audit(
        ORIGINAL, RELEASE.with_columns(pl.col(KEY).replace(keys)), CONTROL,
        **{**FAST, "attacks": [], "tables": {"visits": (VISITS, shuffled, CONTROL_VISITS)}},
    )  # fmt: skip
    assert anew.to_json() == asked(attacks=[]).to_json()


def test_child_tables_alone_are_people_too() -> None:
    result = audit(None, tables=TABLES, **FAST)
    assert result.findings.people == VISITS[KEY].n_unique()
    assert [each.name for each in result.findings.columns][1] == "visits: number of rows"
    single = audit(VISITS, RELEASED_VISITS, CONTROL_VISITS, **FAST)
    assert single.findings.tables is not None
    assert [each.name for each in single.findings.tables.tables] == ["records"]
    assert single.findings.releases[0].rows == RELEASED_VISITS[KEY].n_unique()
    # Without the key in the release nobody knows whose a released row is.
    rows = audit(VISITS, RELEASED_VISITS.drop(KEY), CONTROL_VISITS, **FAST)
    assert rows.findings.tables is None
    assert rows.findings.releases[0].rows == RELEASED_VISITS.height


def test_broken_keys_of_a_release_are_reported() -> None:
    broken = pl.concat([RELEASED_VISITS, RELEASED_VISITS.head(3).with_columns(pl.Series(KEY, ["x", "y", None]))])
    result = asked(tables={"visits": (VISITS, broken, CONTROL_VISITS)})
    assert result.findings.tables is not None
    found = result.findings.tables.tables[0]
    assert (found.orphans, found.empty_keys, found.released_rows) == (2, 1, broken.height)
    assert len(tuple(result.findings.tables.problems())) == 2


def test_keys_of_people_in_a_release_are_counted_and_match_masked_rows() -> None:
    masked = audit(
        ORIGINAL, ORIGINAL.reverse(), tables={"visits": (VISITS, VISITS.reverse())},
        **{**FAST, "release_type": "masked", "attacks": ["record_linkage"]},
    )  # fmt: skip
    assert masked.findings.tables is not None
    assert masked.findings.tables.shared_keys == ORIGINAL.height
    truth = masked.prepared[0].truth
    assert truth is not None
    assert truth.tolist() == list(range(ORIGINAL.height))[::-1]
    synthetic = audit(ORIGINAL, ORIGINAL.reverse(), tables={"visits": (VISITS, VISITS.reverse())}, **FAST)
    assert synthetic.prepared[0].truth is None
    assert KEY not in synthetic.prepared[0].release.released.column_names


def test_settings_of_child_columns_reach_their_summaries() -> None:
    result = asked(quasi_identifiers=["age", "cost"], group_by="diagnosis", scenarios={"bill": ["cost"]})
    assert result.prepared[0].known == ("age", "visits: mean cost")
    assert result.findings.by == "visits: most frequent diagnosis"
    roles = {each.name: each.role for each in result.prepared[0].release.children[0].release.original.columns}
    assert roles == {"date": "ignored", "diagnosis": "ignored", "cost": "known"}


def test_tables_in_files_give_the_same(tmp_path: Path) -> None:
    home = write_files(tmp_path)
    text = f"visits={home / 'visits.csv'}:{home / 'synthetic-visits.csv'}:{home / 'control-visits.csv'}"
    paths = audit(home / "patients.csv", home / "synthetic.csv", home / "control.csv", tables=[text], **FAST)
    frames = asked()
    assert [each.findings for each in paths.findings.releases] == [each.findings for each in frames.findings.releases]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no key": ({"identifiers": []}, "Child tables need the person key"),
    "a single control group": (
        {"tables": {"visits": (VISITS, RELEASED_VISITS)}}, "but 'visits' has none. The control group needs all",
    ),
    "time": ({"times": {"visits": "day"}}, "column 'day' is not in the table 'visits' of the original"),
    "time of no table": ({"times": {"drugs": "day"}}, "A time column is given for 'drugs', which is not a child table"),
    "siblings": ({"sibling": [RELEASE]}, "siblings, population and suggest need a single table"),
    "suggest": ({"suggest": 2}, "siblings, population and suggest need a single table"),
    "generator": ({"generator": "gaussian-copula"}, "A generator makes a single table"),
    "one table": ({"tables": {"visits": (VISITS,)}}, "The child table 'visits' is not given as its tables"),
    "name": ({"tables": {"a,b": (VISITS, VISITS)}}, "A child table has no name, or a name with a comma"),
    "only a key": (
        {"tables": {"visits": (VISITS.select(KEY), RELEASED_VISITS, CONTROL_VISITS)}},
        "The table 'visits' has no column besides the person key",
    ),
    "other columns": (
        {"tables": {"visits": (VISITS, RELEASED_VISITS.select(KEY, other="date"), CONTROL_VISITS)}},
        "must have columns of the same name, but have none in common",
    ),
    "orphans": (
        {"tables": {"visits": (pl.concat([VISITS, CONTROL_VISITS]), RELEASED_VISITS, CONTROL_VISITS)}},
        f"{CONTROL_VISITS.height} rows of the table 'visits' of the original without a person",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_child_tables_are_refused(case: str) -> None:
    changes, sentence = WRONG[case]
    with pytest.raises(InputError, match=sentence):
        asked(**changes)


def test_a_control_group_without_children_is_refused() -> None:
    with pytest.raises(InputError, match="but the people table has none"):
        audit(ORIGINAL, RELEASE, tables=TABLES, **FAST)
    with pytest.raises(InputError, match="given without its release"):
        audit(ORIGINAL, tables=TABLES, **FAST)
    with pytest.raises(InputError, match="without a people table"):
        audit(None, None, CONTROL, tables=TABLES, **FAST)
    with pytest.raises(InputError, match="belong to one released table"):
        audit(ORIGINAL, [RELEASE, RELEASE.reverse()], CONTROL, tables=TABLES, **FAST)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("visits", "is not written as NAME=ORIGINAL:RELEASED"),
        ("visits=a.csv", "is not written as NAME=ORIGINAL:RELEASED"),
        ("visits=a.csv::c.csv", "is not written as NAME=ORIGINAL:RELEASED"),
        (r"visits=C:\a.csv:b.csv", "contain colons, which also separate them"),
        (r"visits=a.csv:D:/b.csv", "contain colons, which also separate them"),
        ("visits=https://a.org/a.csv:b.csv", "contain colons, which also separate them"),
        ("visits=a:b:c:d", "contain colons, which also separate them"),
        ("=a.csv:b.csv", "A child table has no name"),
        ("visits=a.csv:a.csv", "The child table 'visits' names one file twice"),
    ],
)
def test_texts_that_name_no_tables_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_children([text])


def test_names_and_files_are_given_once() -> None:
    with pytest.raises(InputError, match="Two child tables are called 'visits'"):
        read_children(["visits=a:b", "visits=c:d"])
    with pytest.raises(InputError, match="'visits' and 'drugs' name the same file"):
        read_children(["visits=a:b", "drugs=c:a"])


def test_a_settings_file_names_child_tables(tmp_path: Path) -> None:
    read = child_in_file({"name": "visits", "original": "a.csv", "released": "b.csv", "id": "nr"}, tmp_path, "'x'")
    assert (read.name, read.original, read.control, read.key) == ("visits", tmp_path / "a.csv", None, "nr")
    for wrong, sentence in (
        ({"name": "visits", "original": "a.csv"}, "is not valid"),
        ({"name": "drugs", "original": "a", "released": "b", "parent": "visits"}, "unveil audits two levels"),
    ):
        with pytest.raises(InputError, match=sentence):
            child_in_file(wrong, tmp_path, "'x'")


def test_the_key_of_a_child_table_may_have_another_name() -> None:
    renamed = [each.rename({KEY: "nr"}) for each in (VISITS, RELEASED_VISITS, CONTROL_VISITS)]
    source = ChildSource(name="visits", original=renamed[0], released=renamed[1], control=renamed[2], key="nr")
    anew = audit(ORIGINAL, RELEASE, CONTROL, **{**FAST, "tables": [source]})
    assert [each.findings for each in anew.findings.releases] == [each.findings for each in asked().findings.releases]


def test_a_child_table_is_not_the_people_table(tmp_path: Path) -> None:
    home = write_files(tmp_path)
    text = f"visits={home / 'visits.csv'}:{home / 'synthetic.csv'}"
    with pytest.raises(InputError, match="is the people table itself"):
        audit(home / "patients.csv", home / "synthetic.csv", tables=[text], **FAST)


def test_another_process_prepares_the_same_people(tmp_path: Path) -> None:
    home = write_files(tmp_path)
    settings = AuditSettings(**FAST, tables=("visits=visits.csv:synthetic-visits.csv:control-visits.csv",))
    sources = tuple(each._each(lambda path: home / path) for each in settings.tables)
    files = AuditFiles(
        original=home / "patients.csv",
        released=(home / "synthetic.csv",),
        control=home / "control.csv",
        children=sources,
        key=KEY,
    )
    tables = files.read()
    assert len(tables.digests) == len(files.paths) == 6
    job = AuditJob.of(files, tables, settings, np.random.default_rng(1))
    assert job.is_readable
    here = prepare(*tables, settings=settings, rng=np.random.default_rng(1))
    assert identity_of(deepcopy(job).prepared()) == identity_of(here)
    stored = prepare(*files.read(store=ColumnStore()), settings=settings, rng=np.random.default_rng(1))
    assert stored.releases[0].release.children[0].release.original.store is not None
    rows = [list(each.releases[0].release.children[0].release.original.frame.rows()) for each in (here, stored)]
    assert rows[0] == rows[1]
    changed = RELEASED_VISITS.with_columns(pl.col("cost") + 1)
    changed.write_csv(home / "synthetic-visits.csv")
    with pytest.raises(InputError, match="differs on a worker"):
        job.prepared()
    other = identity_of(prepare(*files.read(), settings=settings, rng=np.random.default_rng(1)))
    assert {name for name, digest in identity_of(here).items() if digest != other[name]} == {"tables", "releases"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("patients.csv synthetic.csv {visits}", "needs the person key, a column of every table. Add --id COLS"),
        ("patients.csv synthetic.csv synthetic.csv {visits} --id patient", "belongs to one release"),
        ("patients.csv synthetic.csv {visits} --id patient --suggest 2", "--suggest N needs a single table"),
        ("--example {visits} --id patient", "needs your files, and the example has its own"),
        ("patients.csv {visits} --id patient", "The release is missing"),
        ("patients.csv synthetic.csv --table visits=visits.csv --id patient", "A child table is not written as"),
    ],
)
def test_wrong_commands_are_refused(
    arguments: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_files(tmp_path))
    words = arguments.format(visits="--table visits=visits.csv:synthetic-visits.csv").split()
    run = CliRunner().invoke(main, ["audit", *words])
    assert run.exit_code == 2
    assert sentence in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_command_of_child_tables_alone_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_files(tmp_path))
    words = "--table visits=visits.csv:synthetic-visits.csv --id patient --attacks closest_record --json"
    run = CliRunner().invoke(main, ["audit", *words.split()])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["tables"]["has_parent"] is False


def test_a_mapping_may_name_another_person_key() -> None:
    (found,) = read_children({"visits": {"original": "a.csv", "released": "b.csv", "id": "visitor"}})
    assert (found.key, found.released, found.control) == ("visitor", "b.csv", None)


@pytest.mark.parametrize(("rows", "is_copied"), [(RELEASED_VISITS, True), (FRESH_VISITS, False)])
def test_sentences_on_copied_histories_count_people_and_no_rows(rows: pl.DataFrame, is_copied: bool) -> None:
    """No row of the people is copied, so none can be removed."""
    found = audit(
        ORIGINAL,
        RELEASE,
        CONTROL,
        tables={"visits": (VISITS, rows, CONTROL_VISITS)},
        identifiers=KEY,
        attacks=["copies", "history_copies"],
    ).page()
    assert ("records of 4" in found.headline) == is_copied
    assert not any(step.startswith("Remove the") for step in found.next_steps)
