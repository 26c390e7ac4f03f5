"""Shuffling: the same rows in another order, without the columns that identify people."""

from tests.protections.tables import applied, people, truth_of
from unveil.protections import Shuffle


def test_the_rows_are_the_same_in_the_order_of_the_truth() -> None:
    original = people()
    release = applied(Shuffle(), original)
    assert release.released.frame.equals(original.frame.drop("person_id")[truth_of(release)])


def test_what_was_left_out_is_said() -> None:
    release = applied(Shuffle(), people())
    assert any("person_id" in note for note in release.notes)
    assert release.name == "shuffled"
