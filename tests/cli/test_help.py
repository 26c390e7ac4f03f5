"""Help: a dozen options by default, one line each, and every option and command of earlier versions still works."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from unveil.cli import COMMANDS, main
from unveil.cli.help import RENAMED, GroupedCommand, GroupedOption
from unveil.questions import QUESTIONS, question
from unveil.questions.settings import GROUPS, Setting

OLD_OPTIONS = json.loads((Path(__file__).parent / "old_options.json").read_text(encoding="utf-8"))
HELPS = {
    **{name: home.command.split() for name, home in QUESTIONS.items()},
    **{name: [name] for name in COMMANDS if name not in {home.command for home in QUESTIONS.values()}},
}


def command_at(words: list[str]) -> click.Command:
    command: click.Command = main
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


@pytest.mark.parametrize("words", HELPS.values(), ids=HELPS)
def test_default_help_shows_at_most_a_dozen_options_of_one_line_each(words: list[str]) -> None:
    command = command_at(words)
    shown = [each for each in command.params if isinstance(each, GroupedOption) and each.by_default and not each.hidden]
    assert len([each for each in shown if each.name != "help_all"]) <= 12
    for each in command.params:
        if isinstance(each, GroupedOption) and not each.hidden:
            assert each.help
            assert len(each.help) <= 60, each.help
            assert each.group in GROUPS
    text = CliRunner().invoke(main, [*words, "--help"], terminal_width=80).stdout
    assert len(text.splitlines()) <= 40
    assert all(len(line) <= 100 for line in text.splitlines())


def test_the_help_of_an_audit_fits_on_a_screen_and_all_of_it_on_two() -> None:
    assert len(CliRunner().invoke(main, ["audit", "--help"], terminal_width=80).stdout.splitlines()) <= 34
    everything = CliRunner().invoke(main, ["audit", "--help-all"], terminal_width=80).stdout
    assert len(everything.splitlines()) <= 85
    assert "--generator" in everything


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_shown_setting_is_in_the_whole_help_and_hidden_ones_are_not(name: str) -> None:
    asked = question(name)
    run = CliRunner().invoke(main, [*asked.command, "--help-all"])
    text = run.stdout if run.exit_code == 0 else CliRunner().invoke(main, [*asked.command, "--help"]).stdout
    words = set(text.replace("...", " ").split())
    options = [each for each in asked.on("command line") if each.option and each.name != asked.sample_of]
    assert [each.option for each in options if (each.option in words) != each.is_shown] == []
    assert [each.alias for each in options if each.alias and each.alias in words] == []


@pytest.mark.parametrize("each", [each for name in QUESTIONS for each in question(name).settings])
def test_a_label_is_short_and_a_group_is_known(each: Setting) -> None:
    assert len(each.option_help) <= 60 or not each.is_shown or each.only == "page"
    assert len(each.label) <= 60
    assert each.heading in GROUPS


@pytest.mark.parametrize(("command", "options"), OLD_OPTIONS.items(), ids=OLD_OPTIONS)
def test_every_option_of_version_0_2_still_works(command: str, options: list[str]) -> None:
    words = command.split()
    params = command_at([RENAMED.get(words[0], words[0]), *words[1:]]).params
    known = {option for each in params for option in each.opts} | {"--help", "-h"}
    assert [option for option in options if option not in known] == []


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_command_runs_under_its_new_name_and_says_so(old: str, new: str) -> None:
    run, renamed = (CliRunner().invoke(main, [name, "--help"]) for name in (old, new))
    assert (run.exit_code, run.stdout) == (0, renamed.stdout)
    assert run.stderr == f"unveil: {old!r} was renamed to {new!r}\n"


def test_a_renamed_command_states_its_new_name_in_the_report(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["candidates", "--sample", "--quiet", "--html", str(tmp_path / "page.html")])
    assert run.exit_code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "unveil candidates" not in page


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_list_of_limits_fits_on_a_screen(name: str) -> None:
    if "limits" in {each.name for each in question(name).settings}:
        run = CliRunner().invoke(main, [*question(name).command, "--limit", "help"], terminal_width=80)
        assert run.exit_code == 0
        assert len(run.stdout.splitlines()) <= 40
        assert all(len(line) <= 80 for line in run.stdout.splitlines())


TABLE = "age;town\n31;Ulm\n42;Bonn\n31;Ulm\n"


@pytest.mark.parametrize(
    "options", [["--read", "separator=semicolon,header=yes"], ["--separator", "semicolon", "--header", "yes"]]
)
def test_a_key_of_read_is_the_option_that_it_replaces(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    run = CliRunner().invoke(main, ["columns", str(tmp_path / "table.csv"), "--json", *options])
    assert run.exit_code == 0, run.output
    assert '"age"' in run.stdout


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("sep=comma", "Available: separator, decimal, encoding, header"),
        ("separator", "is not KEY=VALUE"),
        ("separator=dot", "Available: detect, comma"),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_what_is_available(written: str, sentence: str) -> None:
    run = CliRunner().invoke(main, ["columns", "table.csv", "--read", written])
    assert run.exit_code == 2
    assert "Invalid value for '--read'" in run.stderr
    assert sentence in run.stderr


def test_sections_of_a_settings_file_hold_what_has_no_option(tmp_path: Path) -> None:
    (tmp_path / "tuned.toml").write_text('[tuning]\nmixing = "subjects"\nnorm = "literal"\n', encoding="utf-8")
    request = _request("unlinkability", ["--config", str(tmp_path / "tuned.toml"), "t.csv", "g.csv"])
    assert (request.values["mixing"], request.values["norm"]) == ("others", "literal")
    (tmp_path / "signed.toml").write_text(
        '[sign_off]\npurpose = "research"\nreview = "2030-01-31"\n[sign_off.technique]\nage = "banded"\n'
        "[tuning]\npredicates = 60\nneighbors = 3\n",
        encoding="utf-8",
    )
    request = _request("audit", ["--config", str(tmp_path / "signed.toml"), "a.csv", "b.csv", "--guesses", "70"])
    assert (request.values["context"], request.values["techniques"]) == (("purpose=research",), ("age=banded",))
    assert (request.values["predicates"], request.values["neighbors"], request.values["review"]) == (
        70,
        3,
        "2030-01-31",
    )


def test_an_unknown_key_of_a_section_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("[tuning]\nneighbor = 3\n", encoding="utf-8")
    run = CliRunner().invoke(main, ["audit", "a.csv", "b.csv", "--config", str(tmp_path / "wrong.toml")])
    assert run.exit_code == 2
    assert "Unknown key 'neighbor' of [tuning]" in run.stderr
    assert "Did you mean 'neighbors'?" in run.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--method", "suppression:k=3", "--method", "shuffle"],
        ["--first", "suppression:k=3", "--protect", "shuffle"],
        ["--first", "suppression:k=3", "--method", "shuffle"],
    ],
)
def test_several_methods_are_applied_in_their_order(words: list[str]) -> None:
    values = _request("protect", ["people.csv", *words]).values
    assert (values["first"], values["method"]) == (("suppression:k=3",), "shuffle")


def _request(name: str, words: list[str]):  # type: ignore[no-untyped-def]
    from unveil.cli.question import told_by

    command = command_at(list(question(name).command))
    assert isinstance(command, GroupedCommand)
    with command.make_context(name, list(words)) as context:
        shared = {"as_json", "html", "csv", "figures", "quiet", "verbose", "report_full"}
        given = {key: value for key, value in context.params.items() if key not in shared}
        return told_by(question(name), given)


def test_help_of_a_real_process_is_one_screen() -> None:
    run = subprocess.run([sys.executable, "-m", "unveil", "--help"], capture_output=True, text=True, check=True)
    assert len(run.stdout.splitlines()) <= 40
    assert [group for group in ("Audit:", "Protect:", "Attacks and metrics:", "More:") if group not in run.stdout] == []
