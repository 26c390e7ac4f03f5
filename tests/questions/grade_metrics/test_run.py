"""What limits what grades say: notes on missing levels, few replications, and studies with little in common."""

from dataclasses import replace

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.grades.planted import planted
from tests.questions.grade_metrics.test_view import changed, findings
from unveil.questions.grade_metrics.findings import GradesFindings
from unveil.questions.grade_metrics.run import notes_of
from unveil.studies import Axis, DataSet
from unveil.studies.results import Counts


@pytest.fixture(scope="module")
def found() -> GradesFindings:
    return findings()


def test_notes_name_what_is_missing(found: GradesFindings, approved: Approved) -> None:
    counts = Counts(total=64, fine=60, failed=1, damaged=1, missing=2)
    values = planted()
    numbers = np.array(values.values)
    numbers[0, :, 1] = np.nan
    numbers[2, 0, 3] = np.nan
    gone = findings(changed(values, numbers), counts=counts)
    text = "\n".join(gone.notes)
    approved(text)
    assert all("lacks levels" not in note for note in found.notes)


@pytest.mark.parametrize(
    ("replications", "said"),
    [
        (1, "one replication only, which no test can compare"),
        (3, "significant at 0.05, so no score can exceed 0.833. Run at least"),
        (4, "only large changes are significant"),
        (5, ""),
    ],
)
def test_few_replications_are_named_with_what_they_can_show(replications: int, said: str) -> None:
    values = planted()
    few = findings(changed(values, values.values[..., :replications]))
    text = "\n".join(few.notes)
    assert (said in text) if said else "replications" not in text
    scores = few.grades.scores.monotonicity.score
    if replications == 3:
        assert np.nanmax(scores) == pytest.approx(5 / 6)


def test_studies_that_have_little_in_common_say_so(found: GradesFindings, approved: Approved) -> None:
    one = replace(found.studies[0], digests={"mail": "a", "roads": "b"})
    same, other = replace(one, digests={"mail": "a"}), replace(one, digests={"mail": "c"})
    assert notes_of(found.grades, (one, same)) == notes_of(found.grades, (one,))
    approved(notes_of(found.grades, (one, other))[0])
    data = DataSet("people", "table", "x", known=("age", "town"))
    table = replace(one.study, data=(data,), attacks=("nearest",), axes=(Axis("known_columns", (1, 2)),), fixed={})
    assert "on graphs and on tables" in notes_of(found.grades, (one, replace(one, study=table, digests={})))[0]


def test_running_studies_say_so(found: GradesFindings) -> None:
    running = replace(found.studies[0], running=True)
    assert "is being computed now" in notes_of(found.grades, (running,))[0]
