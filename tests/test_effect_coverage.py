"""Limits of effect sizes miss the truth as rarely as they promise, on draws of the benchmark."""

import pytest
from scipy.stats import binom

from benchmarks import effect_coverage
from unveil.metrics.verdict import effects

DRAWS = 400


def at_most(share: float) -> float:
    """Return the number of draws that this share exceeds with a probability of 1 in 10,000."""
    return float(binom.ppf(0.9999, DRAWS, share))


@pytest.mark.unwatched
@pytest.mark.parametrize(
    "name", ["hits, control rate 30 %", "ties of 1 to 10", "alike, 1 % hit", "1 to 5 rows a person"]
)
@pytest.mark.parametrize("effect", [0.0, 0.09])
def test_limits_cover_effects_of_rates(name: str, effect: float) -> None:
    alone, family = effect_coverage.of_rates(name, (400, 200), effect, DRAWS)
    assert alone.upper <= at_most(0.06)
    assert alone.lower <= at_most(0.03)
    assert family.lower <= at_most(0.002)


@pytest.mark.unwatched
def test_rare_hits_need_people_who_were_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = "alike, 0.2 % hit", (250, 1000), 0.01, DRAWS
    alone, _ = effect_coverage.of_rates(*setting)
    assert alone.upper <= at_most(0.06)
    monkeypatch.setattr(effects, "UNSEEN", 1e-9)
    alone, _ = effect_coverage.of_rates(*setting)
    assert alone.upper > at_most(0.06)


@pytest.mark.unwatched
def test_limits_cover_effects_of_membership_and_singling_out() -> None:
    for misses in (
        effect_coverage.of_membership(1.0, True, (300, 300), DRAWS),
        effect_coverage.of_singling_out(0.3, (200, 200), 60),
    ):
        assert misses.upper <= at_most(0.06)
        assert misses.lower <= at_most(0.03)


@pytest.mark.unwatched
def test_the_worst_attacker_is_overestimated_less_after_shrinking() -> None:
    equal = effect_coverage.of_worst(20, 0.3, "all equal", 0.1, (300, 300), 60)
    assert equal.raw > 0.02
    assert abs(equal.shrunk) < equal.raw / 2
    one = effect_coverage.of_worst(20, 0.3, "one leaks", 0.3, (300, 300), 60)
    assert abs(one.shrunk) < 0.02
    for bias in (equal, one):
        assert bias.misses.upper <= at_most(0.05)
        assert bias.misses.lower <= at_most(0.03)
