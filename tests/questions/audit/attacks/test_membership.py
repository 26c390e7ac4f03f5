"""Membership in an audit: who is called a member follows from everybody together, and without control nobody is."""

from typing import Any

import numpy as np
import pytest

from tests.oracles.membership import called_members
from tests.questions.audit.leaks import CONTROL, LEAK, ORIGINAL, ask, found, people
from unveil.metrics.trials.risk import clopper_pearson


@pytest.mark.parametrize("leak", [True, False])
def test_those_nearest_to_the_release_are_called_members(leak: bool) -> None:
    released = LEAK if leak else people(50, 9)
    answer = ask(ORIGINAL, released, CONTROL, attacks=["membership"])
    *nearest, _ = found(answer)
    for finding, method in zip(nearest, ("distance", "density"), strict=True):
        chances = called_members(ORIGINAL, CONTROL, released, method, 0.05)
        inside, outside = chances[: ORIGINAL.height], chances[ORIGINAL.height :]
        assert finding.risk.attack_rate.value == pytest.approx(inside.mean())
        assert finding.risk.control_rate == pytest.approx(clopper_pearson(outside.sum(), outside.size), abs=1e-9)
        assert finding.risk.naive_rate.value == pytest.approx(0.05)
        assert inside.sum() + outside.sum() == pytest.approx(0.05 * chances.size)
        assert finding.proved == leak


def test_every_share_and_the_mean_rank_are_in_the_family() -> None:
    (release,) = ask(ORIGINAL, LEAK, CONTROL, attacks=["membership"], group_by="sex").findings.verdict.releases
    judged = {(each.adversary, each.group) for each in release.findings}
    everybody = {"DCR score", "DCR score, 1% flagged", "DCR score, 20% flagged"}
    everybody |= {"density-ratio score", "density-ratio score, 1% flagged", "density-ratio score, AUC"}
    fixed = "DCR-difference score"
    everybody |= {fixed, *(f"{fixed}, {which}" for which in ("1% flagged", "20% flagged", "AUC"))}
    assert {name for name, group in judged if not group} == everybody
    assert {name for name, group in judged if group} == {"density-ratio score", fixed}
    rank = next(each for each in release.findings if each.adversary.endswith("AUC"))
    assert not rank.attack_rate.defined
    assert rank.p == pytest.approx(1 / 10_001)


def test_without_control_membership_says_why_there_is_none() -> None:
    (finding,) = found(ask(ORIGINAL, LEAK, attacks=["membership"]))
    assert (finding.targets, finding.risk.attack_rate.defined) == (0, False)
    assert "needs a control group" in finding.remark
    small = found(ask(ORIGINAL, LEAK, CONTROL.head(15), attacks=["membership"]))
    assert [each.risk.attack_rate.defined for each in small] == [True, True]
    assert not any(each.risk.excess_over_control.defined or each.proved for each in small)
    assert {each.why_not_judged for each in small} == {"the control group is too small"}
    assert np.isnan(small[0].p)


@pytest.mark.parametrize("least", [100, 134])
def test_trees_are_decided_once_by_all_who_are_learned_from(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from unveil.attacks.table.membership_scores import LearnedCombination

    used = []
    learned = LearnedCombination.learned

    def noted(members: Any, outsiders: Any, *, trees: bool = False) -> LearnedCombination:
        used.append((len(members["nearest"]), trees))
        return learned(members, outsiders, trees=trees)

    monkeypatch.setattr("unveil.attacks.table.membership.TREES_FROM", least)
    monkeypatch.setattr(LearnedCombination, "learned", noted)
    answer = ask(people(400, 1), people(400, 2), people(400, 3), attacks=["membership"])
    # 133 members teach; those who set the threshold learn from four fifths of them, and in the same way.
    assert used[0] == (133, least == 100)
    assert [trees for _, trees in used] == [least == 100] * 6
    assert {size for size, _ in used[1:]} == {106, 107}
    assert [each.separation.learned_from[0] for each in found(answer) if each.separation is not None] == [133]
