"""What every question shares, seen through a question that is as small as can be."""

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.approved.sentences import Approved
from unveil.cli import main
from unveil.cli.question import command_of
from unveil.questions.request import Request, Response
from unveil.questions.settings import LimitSettings, Question, SeedSettings, Setting
from unveil.report.limits import CheckedLimit, Quantity, check_limits, parse_number

NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class SmallAnswer:
    """Figures that are fine, of one kind each, and two that are undefined: because of a breach, and without harm."""

    quantities: Mapping[str, Quantity]

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        return (
            json.dumps({"limits": [{**limit, "value": str(limit["value"])} for limit in limits], "seed": seed}) + "\n"
        )

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        listed = "".join(f"<li>{limit['quantity']} {limit['exceeded']}</li>" for limit in limits)
        return f"<p>seed {seed}</p>{listed}"


def quantity(name: str, value: float, breached: bool, *, more_is_worse: bool = True) -> Quantity:
    return Quantity(
        name=name,
        value=value,
        meaning=f"what {name} means",
        exceeded_when_undefined=breached,
        more_is_worse=more_is_worse,
    )


ANSWER = SmallAnswer(
    quantities={
        each.name: each
        for each in (
            quantity("share", 0.75, False),
            quantity("slope", NAN, True),
            quantity("spread", NAN, False),
            quantity("doubt", 1.5, False, more_is_worse=False),
        )
    }
)


class SmallQuestion(Question):
    """A question of one file, whose figures are those of the answer."""

    def meanings(self) -> Mapping[str, str]:
        return {name: each.meaning for name, each in ANSWER.quantities.items()}


class SmallHome:
    """The entry of the small question."""

    summary = "Ask whether it is small."

    question = SmallQuestion(
        name="small",
        command=("unlinkability",),
        title="Small",
        lead="Is it small?",
        about="It is.",
        tries=("unveil unlinkability x",),
        settings=(
            Setting(name="file", label="A file", kind="file", required=True, is_bare=True),
            *LimitSettings.table(),
            *SeedSettings.table(),
        ),
    )

    @staticmethod
    def answer(told: Request) -> Response:
        drawn = f"the answer for {told.required_path('file')} is {told.rng.integers(1000)}"
        return Response(answer=ANSWER, brief=lambda: [drawn])  # type: ignore[arg-type]


def ask(*arguments: str, home: type = SmallHome) -> Result:
    """Return what the real group makes of the small question."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unveil.cli.question.QUESTIONS", {"small": home})
        patch.setattr(type(main), "get_command", lambda *_: command_of("small"))
        return CliRunner().invoke(main, ["unlinkability", *arguments])


def test_text_shows_the_answer_and_the_seed() -> None:
    run = ask("x")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.startswith("the answer for x is ")
    assert "Seed 0:" in run.stdout


def test_the_seed_decides() -> None:
    assert ask("x", "--seed", "7").stdout == ask("x", "--seed", "7").stdout
    assert ask("x", "--seed", "7").stdout.splitlines()[0] != ask("x", "--seed", "8").stdout.splitlines()[0]
    assert ask("x", "--seed", "-1").exit_code == 2


def test_json_is_the_only_output() -> None:
    run = ask("x", "--json", "--seed", "3", "--limit", "share=0.75")
    assert (run.exit_code, run.stderr) == (0, "")
    limit = {"quantity": "share", "limit": 0.75, "value": "0.75", "exceeded": False}
    assert json.loads(run.stdout) == {"limits": [limit], "seed": 3}


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run = ask("x", "--quiet", "--html", str(page), "--seed", "5")
    assert (run.exit_code, run.output) == (0, "")
    assert page.read_text() == "<p>seed 5</p>"


def test_quiet_json_is_still_printed() -> None:
    assert ask("x", "--quiet", "--json").stdout == ask("x", "--json").stdout


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        ("share=0.5", "fail: share is 0.75, the limit is 0.5\n"),
        ("share=1/2", "fail: share is 0.75, the limit is 0.5\n"),
        ("share=-1e3", "fail: share is 0.75, the limit is -1000\n"),
        ("doubt=2", "fail: doubt is 1.5, it must be at least 2\n"),
        ("slope=1", "fail: slope is undefined because it is already breached, the limit is 1\n"),
        ("slope=1e300", "fail: slope is undefined because it is already breached, the limit is 1e+300\n"),
    ],
)
def test_an_exceeded_limit_is_named_and_gives_code_3(limit: str, line: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run = ask("x", "--limit", limit, "--html", str(page))
    assert (run.exit_code, run.stderr) == (3, line)
    assert f"The report is in {page}\n" in run.stdout
    assert page.exists()
    quiet = ask("x", "--limit", limit, "--quiet")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (3, "", line)


def test_every_exceeded_limit_has_its_line_and_json_has_all() -> None:
    run = ask("x", "--json", "--limit", "share=0.1", "--limit", "share=0.9", "--limit", "slope=0.1")
    assert run.exit_code == 3
    assert [line.split(" is ")[0] for line in run.stderr.splitlines()] == [
        "fail: share",
        "fail: slope",
    ]
    assert [limit["exceeded"] for limit in json.loads(run.stdout)["limits"]] == [True, False, True]


def test_undefined_without_harm_is_no_pass(approved: Approved) -> None:
    run = ask("x", "--json", "--limit", "spread=0", "--limit", "share=0.75")
    assert run.exit_code == 5
    # A limit that is exceeded decides, whatever stays open.
    assert ask("x", "--limit", "spread=0", "--limit", "share=0.1").exit_code == 3
    approved((run.exit_code, run.stderr))
    assert [limit["exceeded"] for limit in json.loads(run.stdout)["limits"]] == [None, False]


def test_a_value_that_equals_its_limit_is_fine() -> None:
    tenth = {"share": replace(ANSWER.quantities["share"], value=0.1)}
    assert check_limits(tenth, (("share", float(parse_number("0.1") or 0)),)) == [
        CheckedLimit(quantity="share", limit=0.1, value=0.1, exceeded=False)
    ]


@pytest.mark.parametrize(("limit", "exceeded"), [(1.4, False), (1.5, False), (1.6, True), (-1.0, False)])
def test_where_more_is_better_less_exceeds(limit: float, exceeded: bool) -> None:
    checked = check_limits(ANSWER.quantities, (("doubt", limit),))
    assert [(each.exceeded, bool(each.message)) for each in checked] == [(exceeded, exceeded)]
    assert ask("x", "--limit", f"doubt={limit}").exit_code == (3 if exceeded else 0)


def test_undefined_where_more_is_better_is_no_pass(approved: Approved) -> None:
    unknown = {"doubt": replace(ANSWER.quantities["doubt"], value=NAN)}
    checked = check_limits(unknown, (("doubt", 1.0),))
    approved([(each.exceeded, each.message) for each in checked])


@pytest.mark.parametrize(
    ("limit", "line", "codes"),
    [
        ("rate=0.2", "", (0, 0)),
        ("rate=0.15", "", (0, 0)),
        ("rate=0.01", "fail: rate is at least 0.03, the limit is 0.01\n", (3, 3)),
        ("rate=0.08", "inconclusive: the limit is 0.08, and rate lies between 0.03 and 0.15\n", (5, 0)),
    ],
)
def test_a_value_that_is_not_settled_fails_or_passes_by_its_range(
    limit: str, line: str, codes: tuple[int, int]
) -> None:
    class Home(SmallHome):
        question = replace(
            SmallHome.question,
            settings=(
                *SmallHome.question.settings,
                Setting(name="accept_inconclusive", label="", kind="switch", default=False),
            ),
        )

        @staticmethod
        def answer(_: Request) -> Response:
            rate = replace(quantity("rate", 0.03, False), high=0.15)
            return Response(answer=SmallAnswer(quantities={"rate": rate}), brief=list)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SmallQuestion, "meanings", lambda _: {"rate": ""})
        runs = [ask("x", "--limit", limit, "--quiet", *more, home=Home) for more in ((), ("--accept-inconclusive",))]
    assert [(run.exit_code, run.stderr) for run in runs] == [(code, line) for code in codes]


def test_limit_help_lists_the_quantities_and_needs_no_file() -> None:
    run = ask("--limit", "help")
    assert (run.exit_code, run.stderr) == (0, "")
    assert [line.split() for line in run.stdout.splitlines()] == [
        [name, "what", name, "means"] for name in ANSWER.quantities
    ]


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("shar=1", "Unknown limit 'shar'. Did you mean 'share'?"),
        ("zzz=1", "Unknown limit 'zzz'. Available: share, slope, spread, doubt."),
        ("=1", "Unknown limit ''. Available: share, slope, spread, doubt."),
        ("share", "The limit on share is not a number. Write share=0.5."),
        ("share=", "The limit on share is not a number. Write share=0.5."),
        ("share=much", "The limit on share is not a number. Write share=0.5."),
        ("share=nan", "The limit on share is not a number. Write share=0.5."),
        ("share=inf", "The limit on share is not a number. Write share=0.5."),
        ("share=1/0", "The limit on share is not a number. Write share=0.5."),
        ("share=1e999", "The limit on share is not a number. Write share=0.5."),
        ("share=1e999999999", "The limit on share is not a number. Write share=0.5."),
        ("share=" + "9" * 101, "The limit on share is not a number. Write share=0.5."),
    ],
)
def test_an_unusable_limit_is_bad_input(limit: str, message: str) -> None:
    run = ask("x", "--limit", limit)
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr == f"unveil: Invalid value for '--limit': {message} See 'unveil unlinkability --help'\n"


@pytest.mark.parametrize("where", ["missing/page.html", ".", "x" * 300, "file/page.html", "loop"])
def test_an_unusable_page_is_refused_before_the_question_is_asked(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setattr(SmallHome, "answer", lambda _: pytest.fail("the question was asked"))
    run = ask("x", "--html", where)
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.startswith("unveil: Invalid value for '--html': ")
    assert run.stderr.count("\n") == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "loop"]


def test_a_page_that_may_not_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approved: Approved
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    run = ask("x", "--html", str(tmp_path / "page.html"))
    assert run.exit_code == 2
    approved(run.stderr)


def test_a_page_that_fails_to_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    run = ask("x", "--html", str(page))
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.startswith("unveil: ")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert page.read_text() == "old"


def test_a_page_may_go_to_a_device() -> None:
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)  # noqa: PTH116
    assert ask("x", "--html", os.devnull).exit_code == 0
