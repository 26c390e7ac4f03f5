"""An audit as an assertion decides as the command line does, and says why."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unveil
from unveil.errors import InputError

rng = np.random.default_rng(3)
EVERYBODY = pl.DataFrame({"age": rng.permutation(400) + 18.5, "income": rng.permutation(400) * 7.25})
PEOPLE, OTHERS = EVERYBODY[:200], EVERYBODY[200:]
LINKED: dict[str, Any] = {"attacks": ["linkability"], "neighbours": 1}


def test_a_limit_that_is_exceeded_is_named_with_the_headline_and_the_report_is_kept(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    with pytest.raises(AssertionError) as failed:
        unveil.assert_release_ok(
            PEOPLE, PEOPLE, {"linkability.attack_rate": 0.5}, OTHERS, report=report, kind="masked", **LINKED
        )
    first, *rest = str(failed.value).splitlines()
    assert first.startswith("the release does not keep its limits. The release gives")
    assert [line.partition(" is ")[0] for line in rest] == ["limit exceeded: linkability.attack_rate"]
    assert "linkability.attack_rate" in report.read_text(encoding="utf-8")


def test_a_limit_that_is_kept_returns_the_answer() -> None:
    answer = unveil.assert_release_ok(PEOPLE, PEOPLE, {"linkability.attack_rate": 1.0}, OTHERS, **LINKED)
    assert answer.quantities["linkability.attack_rate"].value == 1.0


def test_what_is_not_shown_is_no_pass_unless_that_is_accepted() -> None:
    limits = {"linkability.excess_over_control": 0.5}  # without a control it is undefined
    with pytest.raises(AssertionError, match=r"limit not checked: linkability\.excess_over_control is undefined here"):
        unveil.assert_release_ok(PEOPLE, PEOPLE, limits, **LINKED)
    assert unveil.assert_release_ok(PEOPLE, PEOPLE, limits, accept_undecided=True, **LINKED)


def test_published_limits_go_by_their_name() -> None:
    with pytest.raises(AssertionError, match=r"the release does not keep its limits\."):
        unveil.assert_release_ok(PEOPLE, PEOPLE, "ema", OTHERS, kind="masked", attacks=["disclosure"])


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"linkability.attack_rat": 1.0}, r"there is no figure 'linkability\.attack_rat' .* Did you mean"),
        ({"x": 1.0}, r"there is no figure 'x' .*'unveil audit --limit help' lists them"),
        ("emo", "ema"),
    ],
)
def test_names_that_are_none_are_refused_before_anything_runs(limits: dict[str, float] | str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        unveil.assert_release_ok(None, None, limits)
