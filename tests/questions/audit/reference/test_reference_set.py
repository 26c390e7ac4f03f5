"""The population file as reference set of membership scores: without the people of the audit."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.questions.audit.reference.made_up import people, released
from unveil.data.table import Table
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.reference.population import reference_set

WHOLE = people(1, 700)
ORIGINAL, CONTROL, OTHERS = WHOLE[:120], WHOLE[120:300], WHOLE[300:]
REGISTER = WHOLE.sample(fraction=1.0, shuffle=True, seed=3)
PLAIN: dict[str, Any] = {"release_type": "synthetic", "attacks": ["membership"], "sensitive": "none"}


def rest_of(tables: list[list[int]], register: list[int]) -> Counter[int]:
    made = [Table.from_frame({"x": each, "y": [0] * len(each)}) for each in (*tables, register)]
    found, why = reference_set(made[:-1], made[-1], ["x", "y"], identifier=None, rng=np.random.default_rng(0))
    assert (found is None) == bool(why)
    return Counter() if found is None else Counter(found.series("x").to_list())


@given(st.data())
def test_each_person_of_the_audit_is_left_out_once(data: Any) -> None:
    values = st.lists(st.integers(0, 4), min_size=1, max_size=8)
    one, other, more = (data.draw(values) for _ in range(3))
    register = [*one, *other, *more, *range(100, 160)]
    found = rest_of([one, other], data.draw(st.permutations(register)))
    assert found == Counter(register) - Counter(one) - Counter(other)
    # It does not matter who is in the data.
    assert found == rest_of([other, one], register)
    # A sample that lacks people of the audit loses those who equal them.
    assert rest_of([one, other], [*more, *range(100, 160)]) == Counter([*more, *range(100, 160)]) - Counter(
        [*one, *other]
    )


def of(register: pl.DataFrame, *, drop: bool = True, **settings: Any) -> AuditResult:
    tables = [ORIGINAL, released(ORIGINAL, 5, copied=0.1), CONTROL, register]
    original, release, control, population = (each.drop("id", strict=False) if drop else each for each in tables)
    return audit(original, release, control, population=population, **PLAIN, **settings)


def reference_people(answer: AuditResult) -> int:
    assert answer.findings.population is not None
    return answer.findings.population.reference_people


def measured(answer: AuditResult) -> Any:
    return next(each.separation for each in answer.findings.releases[0].findings if each.separation is not None)


@pytest.mark.parametrize("settings", [{}, {"drop": False, "identifiers": ["id"]}], ids=str)
def test_the_people_of_a_register_besides_those_of_the_audit_are_the_reference_set(settings: Any) -> None:
    answer = of(REGISTER, **settings)
    assert reference_people(answer) == measured(answer).population == OTHERS.height
    assert answer.findings.control_rows == CONTROL.height
    assert f"{OTHERS.height} people of the population file are the reference set" in answer.to_html()
    assert "of its people are the reference set of membership scores" in answer.to_html()
    # The order of its rows plays no part.
    again = of(REGISTER.reverse(), **settings)
    assert measured(again).area == measured(answer).area


def test_without_population_file_the_control_group_provides_the_reference_set() -> None:
    release = released(ORIGINAL, 5, copied=0.1)
    answer = audit(ORIGINAL.drop("id"), release, CONTROL.drop("id"), **PLAIN)
    assert measured(answer).population == CONTROL.height // 3


def test_a_file_without_all_columns_or_with_few_people_is_no_reference_set() -> None:
    lacking = of(REGISTER.drop("job"))
    assert reference_people(lacking) == 0
    assert measured(lacking).population == CONTROL.height // 3
    said = "The population file is not the reference set of membership scores: it"
    assert f"{said} lacks 'job'." in " ".join(lacking.findings.notes)
    few = of(WHOLE[:330])
    assert reference_people(few) == 0
    assert f"{said} has only 30 rows of other people." in few.findings.notes


def test_a_control_group_of_the_file_provides_the_reference_set() -> None:
    release = released(ORIGINAL, 5, copied=0.1)
    answer = audit(ORIGINAL, release, population=REGISTER, identifiers=["id"], **PLAIN)
    assert answer.findings.control_rows == 580
    assert reference_people(answer) == 0


def test_a_register_may_hold_values_that_the_original_lacks() -> None:
    # 0 and 1 alone are truth values, beside a 2 they are not.
    tables = [each.drop("id", strict=False) for each in (ORIGINAL, released(ORIGINAL, 5, copied=0.1), CONTROL)]
    original, release, control = (
        each.with_columns(flag=pl.Series([str(place % 2) for place in range(each.height)])) for each in tables
    )
    others = OTHERS.drop("id").with_columns(flag=pl.Series([str(place % 3) for place in range(400)]))
    answer = audit(original, release, control, population=pl.concat([original, control, others]), **PLAIN)
    assert measured(answer).population == reference_people(answer) >= 0.9 * OTHERS.height
