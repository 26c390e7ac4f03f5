"""Linking in a study of releases: its numbers are those of the question, and releases are compared by them."""

from pathlib import Path

import numpy as np
import pytest

import unveil
from tests.questions.link.planted import visits
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.questions.link.study_scenario import LinkedRecords
from unveil.questions.study.answer import study_report
from unveil.studies import Results, Study, run_study
from unveil.studies.existing_release import ExistingTables

ASK = LinkedRecords(person="card", time="day", lifetime="7d", draws=200)


def test_the_numbers_are_those_of_the_question() -> None:
    table = Table.from_frame(visits(30))
    found = ASK.measure(ExistingTables("made", table, table, None, None), rng=np.random.default_rng(3))
    own = unveil.link(table, person="card", time="day", lifetime="7d", draws=200, rng=np.random.default_rng(3)).findings
    assert set(found) == set(ASK.columns)
    assert found["records_linked"] == own.linked_people.records_linked.value
    assert found["linked.excess.low"] == next(each for each in own.verdict.effects if each.name == "linked").excess.low
    assert found["unicity.1"] == own.unicity[0].unicity.unicity


def test_a_study_compares_releases(tmp_path: Path) -> None:
    visits(30).write_csv(tmp_path / "visits.csv")
    visits(30, linked=0.0).write_csv(tmp_path / "safer.csv")
    path = tmp_path / "study.toml"
    path.write_text(
        'name = "lifetimes"\nseed = 1\nattacks = ["link:person=card,time=day,lifetime=7d,draws=200"]\n'
        '[[original]]\nname = "visits"\nsource = "visits.csv"\n'
        '[[release]]\nfile = "visits.csv"\noriginal = "visits"\n'
        '[[release]]\nfile = "safer.csv"\noriginal = "visits"\n',
        encoding="utf-8",
    )
    run_study(Study.read(path), tmp_path / "results")
    frame = Results.read(tmp_path / "results").frame
    linked = dict(zip(frame["data"].to_list(), frame["linked.excess"].to_list(), strict=True))
    assert linked["visits"] > 0.8 > 0.2 > linked["safer"]
    with pytest.raises(InputError, match="The report needs audits"):
        study_report(tmp_path / "results")


def test_a_scenario_without_its_person_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'name = "x"\nseed = 1\nattacks = ["link:time=day"]\n[[original]]\nname = "v"\nsource = "v.csv"\n'
        '[[release]]\nfile = "v.csv"\noriginal = "v"\n',
        encoding="utf-8",
    )
    visits(5).write_csv(tmp_path / "v.csv")
    with pytest.raises(InputError, match="person"):
        Study.read(path)
