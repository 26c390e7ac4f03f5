"""The first screen of an audit: the clearest figure of each question, the safest release, and figures that add up."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.approved.sentences import Approved
from tests.questions.audit.parts.test_utility import FEWER, SAME, TORN
from tests.questions.audit.test_view import (
    CLEAR,
    COPIES,
    HIT,
    LEFT_OUT,
    MISSED,
    NOTHING,
    ORDER,
    UNUSUAL,
    audit,
    judged,
    release,
    verdict,
    without_control,
)
from unveil.metrics.trials.risk import Risk, clopper_pearson, excess
from unveil.questions.audit.findings import Audit, AuditVerdict
from unveil.questions.audit.limit_outcome import LimitOutcome, headline, held, word_of
from unveil.questions.audit.overview import MOST_RELEASES, answers, next_steps, risk_against_loss, safest
from unveil.questions.audit.verdict import said_of
from unveil.questions.audit.words import excess_text
from unveil.report.blocks import AnswerCell, Answers, brief_table
from unveil.report.editions import people
from unveil.report.judgement import ReleaseOutcome


def cell(shown: Answers, question: str, column: int = 0) -> AnswerCell:
    return next(row for row in shown.rows if row.question == question).answers[column]


def test_each_question_has_its_clearest_figure_and_a_mark() -> None:
    found = audit(release(CLEAR, NOTHING, COPIES, ORDER, LEFT_OUT), verdict=verdict(judged(HIT, copies=UNUSUAL)))
    shown = answers(found, None)
    linked = cell(shown, "Which records belong together?")
    assert (linked.mark, linked.value, linked.beside) == ("proved", "31% (27–35%)", "others 4.0%, chance 2.0%")
    assert linked.brief == "31% / 4.0%"
    # Nobody proved the rate of copies, but four people are beyond coincidence.
    copied = cell(shown, "Is anybody copied?")
    assert (copied.mark, copied.by) == ("proved", "4 beyond coincidence")
    assert cell(shown, "Were they in it?") == AnswerCell(mark="not tested", beside="not asked for (--attacks)")
    assert cell(shown, "Who is it?").by == "row order"
    assert shown.ends == (("Verdict", ("Gives people away",)),)


def test_what_the_verdict_proves_of_a_group_is_shown_where_no_adversary_is_proved() -> None:
    group = replace(HIT, attack="copies", group="region: north", adversary="")
    found = audit(release(NOTHING, COPIES), verdict=verdict(judged(MISSED, group)))
    copied = cell(answers(found, None), "Is anybody copied?")
    assert (copied.mark, copied.by, copied.value) == ("proved", "Exact copies (region: north)", "31% (27–35%)")
    assert cell(answers(found, None), "Which records belong together?").mark == "not proved"


def test_without_a_control_rates_are_shown_and_called_not_tested(approved: Approved) -> None:
    bare = replace(without_control(CLEAR), proved=False, p_adjusted=math.nan)
    found = audit(release(bare), control=False, verdict=AuditVerdict(releases=(judged(),)))
    linked = cell(answers(found, None), "Which records belong together?")
    approved((linked.mark, linked.beside))


def three(**outcomes: bool) -> Audit:
    """Return an audit of releases that lost nothing, something and more; True gives people away."""
    utilities = dict(zip(outcomes, (SAME, FEWER, TORN), strict=False))
    releases = [
        release(CLEAR if bad else NOTHING, name=name, utility=utilities[name]) for name, bad in outcomes.items()
    ]
    judgements = [judged(HIT if bad else MISSED, name=name) for name, bad in outcomes.items()]
    return audit(*releases, verdict=verdict(*judgements))


def test_the_safest_is_the_one_with_nothing_proved_that_lost_least(approved: Approved) -> None:
    approved(safest(three(a=True, b=False, c=True), None))
    lost_least = "c" if TORN.loss < FEWER.loss else "b"
    assert safest(three(a=True, b=False, c=False), None).startswith(
        f"Safest that is still useful: '{lost_least}'; of the 2 that have nothing proved against them it loses least ("
    )
    approved(safest(three(a=True, b=True), None))
    assert safest(three(a=False), None) == ""
    unmeasured = audit(release(NOTHING, name="a"), release(CLEAR, name="b"))
    both = replace(unmeasured, verdict=verdict(judged(MISSED, name="a"), judged(HIT, name="b")))
    approved(safest(both, None))


@pytest.mark.parametrize(
    ("outcomes", "said", "word"),
    [
        (
            ("kept", "kept", "kept"),
            "By the figures tested all 3 releases of 700 people keep L.",
            "3 of 3 keep the limit",
        ),
        (
            ("exceeded", "kept", "not_shown"),
            "Of 3 releases of 700 people by the figures tested only 'b' keeps L; 'a' exceeds it; for 'c' neither was "
            "shown.",
            "1 of 3 keeps the limit",
        ),
        (
            ("exceeded", "exceeded", "not_shown"),
            "None of 3 releases of 700 people is shown to keep L: 'a' and 'b' exceed it; for 'c' neither was shown.",
            "None of 3 keeps the limit",
        ),
    ],
)
def test_the_answer_to_a_limit_names_each_release(outcomes: tuple[ReleaseOutcome, ...], said: str, word: str) -> None:
    found = three(a=True, b=False, c=False)
    limit = LimitOutcome(
        limit="L", outcome=outcomes[0], releases=dict(zip("abc", outcomes, strict=True)), reasons=("Why.",)
    )
    assert (headline(found, limit), word_of(limit)) == (said, word)
    steps = " ".join(next_steps(found, said_of(found), limit))
    kept = [name for name, outcome in limit.releases.items() if outcome == "kept"]
    assert ("may go out" in steps) == bool(kept)
    for name in kept:
        assert repr(name) in steps.partition(" may go out")[0]
    verdicts = answers(found, limit).ends[0][1]
    assert [text.startswith("Limit kept") for text in verdicts] == [outcome == "kept" for outcome in outcomes]


def test_limits_on_figures_are_answered_for_each_release(approved: Approved) -> None:
    found = three(a=True, b=False)
    linked = {
        "quantity": "linkability.attack_rate",
        "limit": 0.1,
        "value": 0.312,
        "exceeded": True,
        "low": 0.27,
        "high": 0.36,
    }
    limit = held(found, [linked], None)
    assert limit is not None
    # The rates of this audit have no tries, so that only the ends they were given count.
    assert limit.releases == {"a": "exceeded", "b": "kept"}
    approved(limit.reasons)
    assert held(found, [], None) is None


def test_many_releases_are_cut_without_losing_one_that_may_go_out(approved: Approved) -> None:
    names = [f"r{at}" for at in range(MOST_RELEASES + 3)]
    releases = [release(NOTHING if at == 8 else CLEAR, name=name) for at, name in enumerate(names)]
    judgements = [judged(MISSED if at == 8 else HIT, name=name) for at, name in enumerate(names)]
    shown = answers(audit(*releases, verdict=verdict(*judgements)), None)
    assert shown.columns[0] == "r8"
    assert len(shown.columns) == MOST_RELEASES
    approved(shown.note)
    table = brief_table(shown)
    assert table.rows[0] == ("r8", "nothing")
    assert table.rows[1] == ("r0", "which records belong together")


def test_risk_stands_against_loss() -> None:
    chart = risk_against_loss(three(a=True, b=False))
    assert chart is not None
    points = [(series.name, float(series.x[0]), float(series.y[0])) for series in chart.series]
    assert points == [("a", SAME.loss, 0.283), ("b", FEWER.loss, 0.0)]
    assert risk_against_loss(three(a=True)) is None


def test_a_few_people_are_hidden_in_the_headline_of_the_shareable_edition(approved: Approved) -> None:
    few = said_of(replace(audit(release(CLEAR), verdict=verdict(judged(HIT))), rows=7)).headline
    approved(few)
    assert type(few) is type(people(7))


@settings(deadline=None)
@given(st.integers(12, 900), st.integers(12, 900), st.floats(0, 1), st.floats(0, 0.85))
def test_whoever_computes_the_excess_from_what_is_shown_finds_what_is_shown(
    members: int, others: int, inside: float, outside: float
) -> None:
    rates = clopper_pearson(round(inside * members), members), clopper_pearson(round(outside * others), others)
    risk = Risk(attack_rate=rates[0], naive_rate=rates[1], control_rate=rates[1], excess_over_control=excess(*rates))
    said = re.fullmatch(
        r"([<>]?-?[\d.]+)% \(.*\) of what was left: \(([<>]?[\d.]+)% − ([<>]?[\d.]+)%\) / \(100% − \3%\)",
        excess_text(risk),
    )
    assert said is not None, excess_text(risk)
    if any(text.startswith(("<", ">")) for text in said.groups()):
        return
    added, a, c = (float(text) for text in said.groups())
    unit = 10.0 ** -len(said[1].partition(".")[2])
    assert abs(100 * (a - c) / (100 - c) - added) <= 1.01 * unit
