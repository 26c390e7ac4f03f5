"""What to do without a control group: one table for help, report, and Python."""

import re

from click.testing import CliRunner

from tests.questions.audit.reference.made_up import people, released
from unveil.cli import main
from unveil.questions.audit.answer import audit
from unveil.questions.audit.reference.control_options import CONTROL_OPTIONS, option_lines
from unveil.questions.audit.settings import QUESTION

ORIGINAL = people(1)
RELEASE = released(ORIGINAL, 2)


def test_every_option_is_a_setting() -> None:
    options = {each.name: each.option for each in QUESTION.settings}
    for each in CONTROL_OPTIONS:
        arguments = each.arguments("people.csv", "release.csv")
        for name, _ in each.settings:
            assert options[name] in arguments


def test_the_command_line_names_the_files() -> None:
    runner = CliRunner()
    shown = runner.invoke(main, ["audit", "my people.csv", "release.csv", "--help-control"])
    assert shown.exit_code == 0
    assert shown.output.splitlines() == list(option_lines(["my people.csv", "release.csv"]))
    assert "  unveil audit 'my people.csv' release.csv --control FILE" in shown.output.splitlines()
    assert "unveil audit ORIGINAL RELEASED --control FILE" in runner.invoke(main, ["audit", "--help-control"]).output


def test_an_audit_without_a_control_group_shows_them() -> None:
    plain = audit(ORIGINAL, RELEASE, attacks=["copies"], release_type="synthetic", identifiers=["id"])
    assert [each[0] for each in plain.control_options] == [each.have for each in CONTROL_OPTIONS]
    html = plain.to_html()
    assert all(each.have in html for each in CONTROL_OPTIONS)
    assert "unveil audit ORIGINAL RELEASED --control FILE" in re.sub("<[^>]*>", "", html)
    controlled = audit(ORIGINAL, RELEASE, people(3), attacks=["copies"], release_type="synthetic", identifiers=["id"])
    assert controlled.control_options == ()
    assert "Ways to a control group" not in controlled.to_html()
