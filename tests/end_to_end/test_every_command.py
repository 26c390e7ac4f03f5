"""What holds for the command of every question; whole outputs are compared in ``tests/approved``."""

import json

import pytest

from tests.end_to_end.shared_calls import CALLS, Calls
from unveil.questions import schema_names


@pytest.mark.parametrize("name", [name for name in CALLS if name != "study_run"])
def test_json_alone_is_printed_and_names_its_schema_first(calls: Calls, name: str) -> None:
    run = calls.run(name, "--json")
    assert run.exit_code in (0, 3, 5), run.output
    first, schema = next(iter(json.loads(run.stdout).items()))
    assert first == "schema"
    assert schema in schema_names().values()


@pytest.mark.parametrize("name", [name for name in CALLS if ".csv" in CALLS[name]])
def test_a_report_never_replaces_an_input(calls: Calls, name: str) -> None:
    assert calls.inputs(name)
    for path in calls.inputs(name):
        before = path.read_bytes()
        run = calls.run(name, "--html", str(path))
        assert (run.exit_code, run.stdout) == (2, "")
        assert "is an input" in run.stderr
        assert path.read_bytes() == before
