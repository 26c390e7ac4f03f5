"""Every question of the page gives the report that the command line writes, byte for byte, and the same refusals."""

import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from unveil.cli import COMMANDS, main
from unveil.data import samples
from unveil.errors import InputError
from unveil.questions import QUESTIONS
from unveil.questions import question as asked_for
from unveil.questions.request import SettingError
from unveil.questions.values import value_of
from unveil.report.progress import silent
from unveil.studies import Replications
from unveil.studies import example as example_study
from unveil.web import NamedFile, pages
from unveil.web.command import CONFIG, command
from unveil.web.questions import ServedAnswer, answer, check, field_of, going_on

SHORT = replace(example_study.PLAN, replications=Replications(number=3))
QUICK = {"targets": "20", "attacks": ["disclosure"]}
AUDIT = {
    "age": {"name": "age", "role": "known", "suggested": "known", "kind": "number", "guessed": "number"},
    "vote": {"name": "vote", "role": "sensitive", "suggested": "known", "kind": "category", "guessed": "category"},
}


class Desk:
    """A folder with files under their own names, for the command line, and copies under none, for the page."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.private = home / "private-folder"
        self.private.mkdir()

    def give(self, name: str, content: str | Path) -> NamedFile:
        path = self.home / name
        if isinstance(content, Path):
            shutil.copy(content, path)
        else:
            path.write_text(content, encoding="utf-8")
        copy = self.private / f"{secrets.token_hex(16)}{''.join(path.suffixes)}"
        shutil.copy(path, copy)
        return NamedFile(path=copy, name=name)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


def as_the_command_line(
    question: str, files: Mapping[str, Any], settings: Mapping[str, Any], home: Path
) -> ServedAnswer:
    """Ask on the page and on the command line, and check that both say the same."""
    form = asked_for(question)
    assert check(form, files, settings) == {}
    found = answer(question, files, settings)
    names = {
        name: [each.name for each in (given if isinstance(given, list) else [given])] for name, given in files.items()
    }
    written = command(form, names, settings)
    if written.config:
        (home / CONFIG).write_text(written.config, encoding="utf-8")
    assert "private-folder" not in written.line
    # The command stands in the report of an audit as it was typed, so that nothing may be added to it.
    more = [] if question in ("audit", "protect") else ["--json"]
    run = CliRunner().invoke(main, [*written.words, *more])
    assert run.exit_code in (0, 3, 5), run.output
    assert found.html == (home / "report.html").read_text(encoding="utf-8")
    told = run if more else CliRunner().invoke(main, [*written.words[:-2], "--json"])
    assert json.loads(found.json) == json.loads(told.stdout)
    assert "private-folder" not in found.html
    assert "private-folder" not in found.json
    assert found.headline
    assert found.tone in {"good", "warning", "bad", "neutral"}
    return found


def people(rows: int = 60) -> str:
    return pl.read_csv(samples.path("anes96.csv")).head(rows).write_csv()


@pytest.mark.parametrize(
    ("question", "settings"),
    [
        ("unlinkability", {}),
        ("unlinkability", {"adversary": "bold", "alpha": "1/3", "overall_beta": "0.5"}),
        ("attack_metrics", {"metrics": ["entropy", "min_entropy"]}),
        ("matching", {"limits": [{"quantity": "cracked_share.high", "limit": "0.1"}]}),
        ("graph", {"method": {"name": "switch", "settings": {"share": "0.2"}}, "repeats": 2, "seed": 3}),
        ("reidentify", {"seed": 2}),
        (
            "tables",
            {
                "profile": "cell-11",
                "min_cell": "5",
                "suppressed": "*=1..",
                "limits": [{"quantity": "approximate", "limit": "9"}],
            },
        ),
        ("protect_graph", {"method": {"name": "switch", "settings": {"share": "0.2"}}, "seed": "1"}),
    ],
)
def test_the_sample_is_that_of_the_command_line(desk: Desk, question: str, settings: dict[str, Any]) -> None:
    as_the_command_line(question, {}, {"sample": True, **settings}, desk.home)


def test_an_audit_of_files_is_that_of_the_command_line(desk: Desk) -> None:
    files = {
        "original": desk.give("people, all.csv", people()),
        "released": [desk.give("-masked.csv", people()), desk.give("other.csv", people(50))],
        "control": desk.give("control.csv", pl.read_csv(samples.path("anes96.csv")).tail(40).write_csv()),
    }
    settings = {
        **QUICK,
        "release_type": ["masked", "masked"],
        "columns": [AUDIT["age"], AUDIT["vote"]],
        "scenarios": [{"name": "a neighbour", "columns": ["age", "income"]}],
        "limits": [{"quantity": "linkability", "limit": "0.25"}],
        "attacks": ["linkability", "disclosure"],
        "profile": "cell-5",
        "review": "2031-05-01",
        "missing": "?, NA",
        "group_by": "vote",
        "seed": "7",
    }
    found = as_the_command_line("audit", files, settings, desk.home)
    assert [each["role"] for each in json.loads(found.json)["original"]["columns"] if each["name"] == "vote"] == [
        "sensitive"
    ]


def test_releases_of_two_kinds_and_changed_kinds_of_columns_need_a_file_of_settings(desk: Desk) -> None:
    files = {
        "original": desk.give("people.csv", people()),
        "released": [desk.give("masked.csv", people()), desk.give("made up.csv", people())],
    }
    party = {"name": "party", "role": "known", "suggested": "known", "kind": "category", "guessed": "number"}
    levels = {**party, "name": "vote", "kind": "ordered", "guessed": "category", "levels": "clinton, dole"}
    read = pl.read_csv(samples.path("anes96.csv"))["vote"].unique().to_list()
    levels["levels"] = ", ".join(read)
    settings = {**QUICK, "release_type": ["masked", "synthetic"], "columns": [party, levels]}
    found = as_the_command_line("audit", files, settings, desk.home)
    kinds = {each["name"]: each["type"] for each in json.loads(found.json)["original"]["columns"]}
    assert (kinds["party"], kinds["vote"]) == ("category", "ordered")
    assert [each["type"] for each in json.loads(found.json)["releases"]] == ["masked", "synthetic"]


def test_a_shareable_edition_is_that_of_the_command_line(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # The key of the digests is drawn anew each time, and the page, where nobody could keep it, gives no digest.
    monkeypatch.setattr("unveil.data.files.digest.new_key", lambda: None)
    files = {"original": desk.give("people.csv", people()), "released": [desk.give("masked.csv", people())]}
    found = as_the_command_line("audit", files, {**QUICK, "edition": "shareable"}, desk.home)
    assert "Redacted" in found.html


def test_columns_that_are_left_out_and_supposed_identifiers_that_are_none(desk: Desk) -> None:
    numbered = pl.read_csv(samples.path("anes96.csv")).head(60).with_row_index("number").write_csv()
    files = {"original": desk.give("people.csv", numbered), "released": [desk.give("masked.csv", people())]}
    columns = [
        {"name": "number", "role": "identifier", "suggested": "identifier", "kind": "number", "guessed": "number"},
        AUDIT["age"],
        {**AUDIT["age"], "name": "income"},
        {**AUDIT["age"], "name": "education", "role": "ignored"},
    ]
    found = as_the_command_line("audit", files, {**QUICK, "columns": columns}, desk.home)
    roles = {each["name"]: each["role"] for each in json.loads(found.json)["original"]["columns"]}
    assert (roles["number"], roles["age"], roles["education"], roles["party"]) == (
        "identifier",
        "known",
        "ignored",
        "ignored",
    )


def test_partitions_with_probabilities_and_policies(desk: Desk) -> None:
    truth = samples.path("partition_truth.csv")
    subject = pl.read_csv(truth)["cluster"][0]
    files = {
        "truth": desk.give("truth.csv", truth),
        "guesses": [
            desk.give("careful.csv", samples.path("partition_guess_careful.csv")),
            desk.give("bold.csv", samples.path("partition_guess_bold.csv")),
        ],
        "policy": desk.give("policy.csv", f"subject,beta\n{subject},0.5\n"),
    }
    settings = {"probabilities": ["0.7", "3/10"], "beta": "0.9", "contamination_desirable": True}
    as_the_command_line("unlinkability", files, settings, desk.home)


def test_records_are_linked_as_on_the_command_line(desk: Desk) -> None:
    files = {"tables": [desk.give("visits.csv", samples.path("visits.csv"))]}
    asked = {"person": "card", "time": "time", "lifetime": "7d, 14d", "draws": "100"}
    limits = [{"quantity": "records_linked", "limit": "0.2"}]
    as_the_command_line("link", files, {**asked, "limits": limits}, desk.home)
    # The form sends the default of each field as it shows it.
    shown = {"points": str(asked_for("link").setting("points").default)}
    assert answer("link", files, {**asked, **shown}).html


def test_candidates_and_matchings_of_files(desk: Desk) -> None:
    guess = desk.give("guess.csv", samples.path("candidates_guess.csv"))
    truth = desk.give("truth.csv", samples.path("candidates_truth.csv"))
    as_the_command_line("attack_metrics", {"guess": guess, "truth": truth}, {"normalize": True}, desk.home)
    matrix = desk.give("matrix.csv", samples.path("matching_matrix.csv"))
    tokens = desk.give("tokens.csv", samples.path("matching_truth.csv"))
    as_the_command_line("matching", {"matrix": matrix, "truth": tokens}, {}, desk.home)


def test_graphs_protected_here_and_made_elsewhere(desk: Desk) -> None:
    edges = "source,target\n" + "".join(f"p{i},p{(i * 7 + j) % 40}\n" for i in range(40) for j in (1, 3, 5))
    file = desk.give("friends.csv", edges)
    found = as_the_command_line("graph", {"edges": file}, {"seed_pairs": "5"}, desk.home)
    assert file.path.stem not in found.html
    truth = desk.give("truth.csv", "released,original\n" + "".join(f"p{i},p{i}\n" for i in range(40)) + "p1000,\n")
    settings = {"seed_pairs": "5", "attack": {"name": "yartseva-grossglauser", "settings": {"theta": "3"}}}
    with pytest.raises(SettingError, match=r"'truth\.csv'") as refused:
        answer("graph", {"edges": file, "auxiliary": file, "truth": truth}, settings)
    assert refused.value.field == "truth"
    truth = desk.give("truth.csv", "released,original\n" + "".join(f"p{i},p{i}\n" for i in range(40)))
    pairs = desk.give("pairs.csv", "released,original\n" + "".join(f"p{i},p{i}\n" for i in range(6)))
    files = {"edges": file, "auxiliary": desk.give("known.csv", edges), "truth": truth, "pairs": pairs}
    as_the_command_line("graph", files, {k: v for k, v in settings.items() if k == "attack"}, desk.home)


def test_a_study_and_its_grades(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example_study, "PLAN", SHORT)
    with example_study.example_folders(silent) as (folder,):
        as_the_command_line("study", {}, {"folder": str(folder), "metrics": "entropy"}, desk.home)
        settings = {"folder": f"{folder}\n", "details": "entropy", "strict": True}
        as_the_command_line("grades", {}, settings, desk.home)


def test_a_masked_table_is_attacked_as_on_the_command_line(desk: Desk) -> None:
    original = desk.give("people.csv", people())
    settings = {
        "method": {"name": "rank-swapping", "settings": {"p": "10"}},
        "attacks": "intersection\nintersection:p=5",
        "quasi_identifiers": "age, income",
    }
    as_the_command_line("reidentify", {"original": original}, settings, desk.home)
    rows = "released,original\n" + "".join(f"{row},{row}\n" for row in range(1, 61))
    files = {
        "original": original,
        "released": desk.give("masked.csv", people()),
        "truth": desk.give("truth.csv", rows),
    }
    as_the_command_line("reidentify", files, {"attacks": "nearest"}, desk.home)


def test_a_table_is_protected_step_by_step_as_on_the_command_line(desk: Desk) -> None:
    files = {"original": desk.give("people.csv", people(100))}
    quick = {"attacks": ["linkability", "utility"], "columns": [AUDIT["age"], AUDIT["vote"]], "seed": "4"}
    settings = {**quick, "method": {"name": "rank-swapping", "settings": {"p": "10"}}}
    found = as_the_command_line("protect", files, settings, desk.home)
    told = json.loads(found.json)
    assert [each["name"] for each in told["releases"]] == ["as it is", "rank-swapping:p=10"]
    assert (told["original"]["rows"], told["control"]["rows"]) == (80, 20)
    # Whoever has the seed undoes the release.
    assert "--seed" not in found.html
    made = {name: pl.read_csv(content) for name, content in found.outputs.items()}
    assert {name: frame.height for name, frame in made.items()} == {"released.csv": 80, "control.csv": 20}
    # Going on, what was done joins what was done before, and each step is audited.
    further = {**going_on(asked_for("protect"), settings), "method": {"name": "generalization", "settings": {}}}
    steps = as_the_command_line("protect", files, further, desk.home)
    names = ["as it is", "1 rank-swapping:p=10", "2 generalization"]
    assert [each["name"] for each in json.loads(steps.json)["releases"]] == names
    decided = json.loads(steps.json)["decision"]
    assert steps.headline == decided["headline"]
    assert decided["level"] == decided["releases"][-1]["level"]


def test_a_release_that_is_made_is_taken_away_and_its_secret_seed_told_nowhere(desk: Desk) -> None:
    edges = desk.give("friends.csv", "source,target\n" + "".join(f"p{i},p{(i * 7 + 1) % 30}\n" for i in range(30)))
    found = answer("protect_graph", {"edges": edges}, {"seed": "77123"})
    assert list(found.outputs) == ["truth.csv", "released.csv"]
    assert found.outputs["truth.csv"].startswith(b"released,original\n")
    assert found.outputs["released.csv"].startswith(b"source,target\n")
    assert "77123" not in found.html
    limits = [{"quantity": "edge_difference", "limit": "-1"}]
    assert answer("protect_graph", {"edges": edges}, {"limits": limits}).outputs == {}


def test_a_study_is_run_and_no_class_of_its_own_is_loaded(desk: Desk) -> None:
    plan = desk.give("plan.toml", SHORT.to_toml())
    out = desk.home / "results"
    found = answer("study_run", {"file": plan}, {"out": str(out), "workers": "0"})
    assert json.loads(found.json)["scenarios"]["fine"] == 12
    # Of 1,000 nodes 60 are seeds.
    assert "of 940 targets at full strength" in found.headline
    asked = asked_for("study_run")
    assert command(asked, {"file": ["plan.toml"]}, {"out": str(out), "workers": "0"}).words == (
        *("study", "run", "plan.toml", "--out", str(out), "--run", "workers=0"),
    )
    own = desk.give("own.toml", replace(SHORT, protections=("antigravity:Fly",)).to_toml())
    with pytest.raises(InputError, match="the module 'antigravity' is code"):
        answer("study_run", {"file": own}, {"out": str(desk.home / "more")})
    hidden = desk.give("hidden.toml", replace(SHORT, attacks=("refine:attack=antigravity:Fly",)).to_toml())
    with pytest.raises(InputError, match="the module 'antigravity' is code"):
        answer("study_run", {"file": hidden}, {"out": str(desk.home / "more")})
    with pytest.raises(InputError, match="the module 'antigravity' is code"):
        value_of(asked_for("graph").setting("attack"), "refine:attack=antigravity:Fly", asked_for("graph"))
    assert not (desk.home / "more").exists()


def test_no_question_is_missing_on_the_page() -> None:
    """Whatever the command line asks, the page asks too: a form, an example, and an answer to it."""
    from unveil.cli.study import study

    commands = {name for name in COMMANDS if name not in ("study", "verify", "serve", "warm-up", "schema", "list")}
    commands |= {f"study {name}" for name in study.commands if name not in ("status", "summary")}
    assert {home.command for home in QUESTIONS.values()} == commands
    shown = pages.home()
    for name in QUESTIONS:
        asked = asked_for(name)
        assert asked.title in shown
        assert all(f'id="f-{each.name}"' in pages.question(asked) for each in asked.on("page") if not each.beside)
        assert check(asked, {}, {"sample": True}) == {}


@pytest.mark.parametrize("question", ["study_run", "study", "grades"])
def test_the_example_of_a_study_is_computed_and_gone(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(example_study, "PLAN", SHORT)
    steps: list[str] = []
    found = answer(question, {}, {"sample": True}, lambda step, _: steps.append(step))
    assert found.headline
    assert any(step.startswith("computing the example (12 of 12") for step in steps)
    assert str(tmp_path) not in found.html + found.json
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("question", "files", "settings", "field", "words"),
    [
        ("unlinkability", {"truth": "item,group\n1,a\n", "guesses": "item,cluster\n1,a\n"}, {}, "truth", "'cluster'"),
        ("attack_metrics", {"guess": "target,candidate,probability\na,b,2\n"}, {}, "guess", "'guess.csv'"),
        ("study", {}, {"folder": "relative/folder"}, "folder", "not a full path"),
        ("study", {}, {"folder": "/nowhere/at/all"}, "folder", "/nowhere/at/all"),
        ("study", {}, {"folder": "~nobody-of-this-name/x"}, "folder", "not a full path"),
        ("audit", {"original": "a,b\n1,2\n2,3\n3,1\n", "released": "c\n1\n2\n"}, {}, "", "in common"),
        ("audit", {"original": "a,b\n", "released": "a,b\n1,2\n"}, {}, "original", "'original.csv'"),
        (
            "audit",
            {"original": "a,b\n1,2\n2,3\n3,1\n", "released": "a,b\n1,2\n"},
            {"scenarios": [{"name": "x", "columns": ["zzz"]}]},
            "scenarios",
            "'zzz'",
        ),
        (
            "audit",
            {"original": "a,b\n1,2\n2,3\n3,1\n", "released": "a,b\n1,2\n"},
            {"targets": "none at all"},
            "targets",
            "'none at all'",
        ),
    ],
)
def test_what_the_library_refuses_is_said_at_its_field_and_without_the_private_folder(
    desk: Desk, question: str, files: dict[str, str], settings: dict[str, Any], field: str, words: str
) -> None:
    given = {name: desk.give(f"{name}.csv", content) for name, content in files.items()}
    with pytest.raises(SettingError) as refused:
        answer(question, given, settings)
    assert words in str(refused.value)
    assert "private-folder" not in str(refused.value)
    assert refused.value.field == field
    assert field_of(refused.value, asked_for(question)) == field


def test_an_error_about_nothing_in_particular_is_about_the_whole_form() -> None:
    assert field_of(InputError("there is no luck today. Try tomorrow"), asked_for("audit")) == ""
    assert field_of(InputError("no column can be known. Name some: quasi_identifiers"), asked_for("audit")) == "columns"
    assert field_of(InputError("this needs the truth. Add --truth FILE"), asked_for("attack_metrics")) == "truth"


def test_progress_is_told_in_words() -> None:
    steps: list[tuple[str, float]] = []
    answer("matching", {}, {"sample": True}, lambda step, share: steps.append((step, share)))
    assert len({step for step, _ in steps}) >= 2
    assert all(0 <= share <= 1 for _, share in steps)
