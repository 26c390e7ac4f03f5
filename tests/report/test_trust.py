"""Marks of trust: the same in words, tables and JSON, whatever the grades are."""

from collections.abc import Mapping
from typing import get_args

import pytest

from tests.approved.sentences import Approved
from unveil.grades.shipped_grades import Ground, ShippedGrade, ShippedGrades, shipped_grades
from unveil.grades.verdict import Verdict
from unveil.report.trust import GROUNDS, NOT_GRADED, RELIABILITY, mark, trust_note, trust_of, where_from

GRADED = {"a": ("use", "use"), "b": ("use", "with care"), "c": ("do not rank by it", "no grade")}


def planted() -> Mapping[Ground, ShippedGrades]:
    """Return grades of three metrics that differ between graphs and tables, after 40 cases and 1."""

    def of(at: int, cases: int) -> ShippedGrades:
        scores = dict.fromkeys(("monotonicity", "low", "high", "evenness", "shared_range"), 0.5)
        metrics = {
            name: ShippedGrade(verdict=verdicts[at], reason=f"because of {verdicts[at]}", **scores)
            for name, verdicts in GRADED.items()
        }
        return ShippedGrades(studies=("one",), cases=cases, metrics=metrics)

    return {"graphs": of(0, 1040), "tables": of(1, 1)}


@pytest.fixture
def grades(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.report.trust.shipped_grades", planted)


def test_every_verdict_has_a_mark_of_its_own_and_all_grounds_are_told() -> None:
    assert set(RELIABILITY) == {*get_args(Verdict), None}
    assert len(set(RELIABILITY.values())) == len(RELIABILITY)
    # Figures of audits are graded on releases, metrics of candidates on the others.
    assert get_args(Ground) == (*GROUNDS, "releases")


@pytest.mark.usefixtures("grades")
def test_verdicts_are_told_by_ground() -> None:
    assert trust_of("b") == {"graphs": "reliable", "tables": "limited"}
    assert trust_of("c") == {"graphs": "unreliable", "tables": "not graded"}
    assert trust_of("c", ["graphs"]) == {"graphs": "unreliable"}
    assert trust_of("mine") == {"graphs": None, "tables": None}


@pytest.mark.usefixtures("grades")
def test_a_mark_is_one_word_where_grounds_agree_and_else_one_for_each() -> None:
    marks = [mark(name, "graphs", "tables") for name in ("a", "b", "c", "mine")]
    assert marks == ["reliable", "reliable/limited", "unreliable/–", "–"]
    assert [mark("b", ground) for ground in GROUNDS] == ["reliable", "limited"]


@pytest.mark.usefixtures("grades")
def test_it_is_said_where_the_marks_come_from(approved: Approved) -> None:
    approved(where_from())
    assert where_from(["tables"]).startswith("Metrics were graded in 1 case of attacks on tables: whether")
    assert where_from() in trust_note()
    assert all(f"{word} (" in trust_note() for word in ("reliable", "limited", "unreliable"))
    assert "graphs and tables differ" in trust_note()
    assert "differ" not in trust_note(["graphs"])


def test_the_grades_of_the_package_are_the_ones_shown() -> None:
    for name in shipped_grades()["graphs"].metrics:
        verdicts = {ground: shipped_grades()[ground].metrics[name].verdict for ground in GROUNDS}
        assert trust_of(name) == {ground: RELIABILITY[verdict] for ground, verdict in verdicts.items()}
        assert {ground: mark(name, ground) for ground in GROUNDS} == {
            ground: NOT_GRADED if verdict == "no grade" else RELIABILITY[verdict]
            for ground, verdict in verdicts.items()
        }
