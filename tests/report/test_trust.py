"""Marks of trust: the same in words, tables and JSON, whatever the grades are."""

from collections.abc import Mapping
from typing import get_args

import pytest

from tests.approved.sentences import Approved
from unveil.grades.shipped_grades import Ground, ShippedGrade, ShippedGrades, shipped_grades
from unveil.grades.verdict import Verdict
from unveil.report.trust import GROUNDS, MARKS, mark, trust_note, trust_of, where_from

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
    assert set(MARKS) == set(get_args(Verdict))
    assert len(set(MARKS.values())) == len(MARKS)
    assert max(map(len, MARKS.values())) <= 4  # two of them, and a stroke, have room in a terminal
    # Figures of audits are graded on releases, metrics of candidates on the others.
    assert get_args(Ground) == (*GROUNDS, "releases")


@pytest.mark.usefixtures("grades")
def test_verdicts_are_told_by_ground() -> None:
    assert trust_of("b") == {"graphs": "use", "tables": "with care"}
    assert trust_of("c") == {"graphs": "do not rank by it", "tables": "no grade"}
    assert trust_of("c", ["graphs"]) == {"graphs": "do not rank by it"}
    assert trust_of("mine") == {"graphs": None, "tables": None}


@pytest.mark.usefixtures("grades")
def test_a_mark_is_one_word_where_grounds_agree_and_else_one_for_each() -> None:
    assert [mark(name, "graphs", "tables") for name in ("a", "b", "c", "mine")] == ["use", "use/care", "no/–", "–"]
    assert [mark("b", ground) for ground in GROUNDS] == ["use", "care"]


@pytest.mark.usefixtures("grades")
def test_it_is_said_where_the_marks_come_from(approved: Approved) -> None:
    approved(where_from())
    assert where_from(["tables"]).startswith("Metrics were graded in 1 case of attacks on tables: whether")
    assert where_from() in trust_note()
    assert all(f"{word} (" in trust_note() for word in MARKS.values())
    assert "graphs and tables differ" in trust_note()
    assert "differ" not in trust_note(["graphs"])


def test_the_grades_of_the_package_are_the_ones_shown() -> None:
    for name in shipped_grades()["graphs"].metrics:
        verdicts = {ground: shipped_grades()[ground].metrics[name].verdict for ground in GROUNDS}
        assert trust_of(name) == verdicts
        assert {ground: mark(name, ground) for ground in GROUNDS} == {
            ground: MARKS[verdict] for ground, verdict in verdicts.items()
        }
