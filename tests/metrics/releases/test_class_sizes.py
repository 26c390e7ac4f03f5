"""Class sizes in people: the definition by brute force, with several rows per person."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import disclosure as oracle
from tests.oracles import truthful
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.releases.class_sizes import SMALL, class_sizes

rows = st.lists(st.tuples(st.integers(20, 22), st.sampled_from("ab")), min_size=1, max_size=30)


def table(people: list[tuple[int, str]]) -> Table:
    return Table.from_frame(
        pl.DataFrame(people, schema=["age", "sex"], orient="row"), kinds={"age": "category", "sex": "category"}
    )


@given(rows, st.data())
def test_rows_are_people_unless_some_have_several(people: list[tuple[int, str]], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(people))
    found = class_sizes(Release(table(people), table([*mixed]), kind="masked"), ["age", "sex"])
    sizes = oracle.class_sizes(people)
    assert found.smallest == min(sizes)
    assert found.average_risk == pytest.approx(np.mean([1 / size for size in sizes]))
    assert found.people_below == {k: sum(size < k for size in sizes) for k in SMALL}


@given(rows, st.data())
def test_people_of_a_class_own_its_rows(people: list[tuple[int, str]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(people))))
    person = data.draw(st.lists(st.integers(0, 9), min_size=len(people), max_size=len(people)))
    known = [at if data.draw(st.booleans()) else -1 for at in order]
    released = [people[at] for at in order]
    release = Release(table(people), table(released), kind="masked")
    found = class_sizes(release, ["age", "sex"], person=np.array(person), truth=np.array(known))
    classes = oracle.people_in_classes(released, [-1 if at < 0 else person[at] for at in known])
    sizes = [len(each) for each in classes]
    assert found.smallest == min(sizes)
    assert found.average_risk == pytest.approx(np.mean([1 / size for size in sizes]))
    assert found.people_below == {k: len(set().union(*(each for each in classes if len(each) < k))) for k in SMALL}
    # Without matches everybody with a compatible row may be in the class.
    found = class_sizes(release, ["age", "sex"], person=np.array(person))
    sets = [tuple(frozenset({value}) for value in row) for row in released]
    fits = [{who for who, row in zip(person, people, strict=True) if truthful.compatible(one, row)} for one in sets]
    assert found.smallest == min(len(each) for each in fits)
    assert found.people_below == {k: len(set().union(*(each for each in fits if len(each) < k))) for k in SMALL}
