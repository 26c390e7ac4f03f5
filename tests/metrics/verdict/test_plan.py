"""What an audit can show is what simulated audits do show."""

import math

import numpy as np
import pytest

from tests.oracles import effects as oracle
from tests.oracles import verdict
from unveil._kernels.types import BoolArray
from unveil.errors import InputError
from unveil.guesses.trials import Attempts
from unveil.metrics.verdict.effects import risk_difference
from unveil.metrics.verdict.family import LEVEL, FigureToJudge, judge
from unveil.metrics.verdict.plan import _not_found, people_to_pass, plan
from unveil.metrics.verdict.pool import Pool


@pytest.mark.parametrize(
    ("people", "control", "rate", "threshold"),
    [(40, 25, 0.1, 0.2), (30, 60, 0.5, 0.3), (50, 50, 0.02, 0.09), (25, 25, 0.0, 0.09), (20, 20, 1.0, 0.1)],
)
def test_one_attacker_is_summed_over_all_hits(people: int, control: int, rate: float, threshold: float) -> None:
    chance = plan(people, control, threshold, attackers=1, baseline=rate).pass_chance
    assert chance == pytest.approx(oracle.pass_chance(people, control, rate, threshold), abs=1e-9)


def latent(people: int, attackers: int, correlation: float, rate: float, rng: np.random.Generator) -> BoolArray:
    """Return hits of people under attackers, from normal numbers with one correlation."""
    from scipy.special import ndtri

    common = rng.normal(size=(people, 1))
    own = rng.normal(size=(people, attackers))
    hits: BoolArray = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own < ndtri(rate)
    return hits


@pytest.mark.unwatched
@pytest.mark.parametrize(("people", "rate", "correlation"), [(500, 0.5, 0.0), (500, 0.2, 0.3), (1000, 0.5, 0.3)])
def test_several_attackers_pass_as_often_as_in_simulations(people: int, rate: float, correlation: float) -> None:
    rng, draws, passed, products = np.random.default_rng(3), 600, 0, []
    for _ in range(draws):
        tables = [latent(people, 10, correlation, rate, rng) for _ in range(2)]
        products.append(np.atleast_2d(np.corrcoef(tables[0].T))[np.triu_indices(10, 1)].mean())
        inside, outside = ([Attempts.from_chances(column) for column in each.T] for each in tables)
        passed += all(risk_difference(*pair).high <= 0.09 for pair in zip(inside, outside, strict=True))
    of_hits = max(float(np.mean(products)), 0.0)
    expected = plan(people, people, 0.09, baseline=rate, correlation=of_hits).pass_chance
    assert passed / draws == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / draws) + 0.01)


def test_published_chances_of_passing() -> None:
    """Ten attackers whose latent correlation is 0.3, which leaves 0.19 and 0.16 between hits of 50 and 20 %."""
    for people, rate, correlation, printed in ((1000, 0.5, 0.19, 0.94), (500, 0.5, 0.19, 0.42), (500, 0.2, 0.16, 0.77)):
        chance = plan(people, people, 0.09, baseline=rate, correlation=correlation).pass_chance
        assert chance == pytest.approx(printed, abs=0.02)


def test_published_numbers_of_people() -> None:
    """410 and 860 at a control rate of one half, 170 and 330 at a tenth; simulated power 82 to 86 %."""
    for rate, attackers, printed in ((0.5, 1, 410), (0.5, 10, 860), (0.1, 1, 170), (0.1, 10, 330)):
        people = people_to_pass(rate, 0.09, attackers=attackers)
        assert people == pytest.approx(printed, abs=5)
        assert 0.81 <= plan(people, people, 0.09, attackers=attackers, baseline=rate).pass_chance <= 0.87
    assert people_to_pass(0.5, 0.09, variance=0.025) == people_to_pass(0.5, 0.09) - math.floor(0.9 * (412 - 30))


def test_the_score_test_is_near_the_exact_one() -> None:
    """What it finds has a hypergeometric p of at most the level, and one hit more than that p needs is enough."""
    sizes, level = (60, 40), LEVEL / 5
    not_found = _not_found(sizes, 2.3656)  # the normal quantile of 1 - 0.009
    for others in (0, 1, 3, 8, 20):
        fewest = next(hits for hits in range(61) if not not_found(hits, others))
        exact = next(hits for hits in range(61) if verdict.hypergeometric_p(hits, others, *sizes) <= level)
        assert exact <= fewest <= exact + 1


@pytest.mark.unwatched
@pytest.mark.parametrize(("people", "control", "rate"), [(400, 400, 0.05), (400, 200, 0.3)])
def test_the_smallest_leak_is_found_by_whole_families(people: int, control: int, rate: float) -> None:
    """Five attackers, one of whom profits from the leak, judged as an audit does."""
    effect = plan(people, control, 0.09, attackers=5, baseline=rate).smallest_found
    rng, draws, found = np.random.default_rng(8), 150, 0
    pool = Pool(is_member=np.arange(people + control) < people, contents=np.arange(people + control))
    for _ in range(draws):
        scores = rng.random((5, people + control)) < rate
        scores[0, :people] = rng.random(people) < rate + effect
        figures = [
            FigureToJudge(name=str(number), statistic=each, tries=people, control_tries=control)
            for number, each in enumerate(scores)
        ]
        found += judge(figures, {"people": pool}, rng=rng, draws=999).judgements[0].found
    assert 0.71 <= found / draws <= 0.95


def test_more_people_show_more() -> None:
    plans = [plan(people, people, 0.09, attackers=5, baseline=0.3) for people in (100, 300, 1000, 3000)]
    chances, leaks = ([getattr(each, name) for each in plans] for name in ("pass_chance", "smallest_found"))
    assert chances == sorted(chances)
    assert leaks == sorted(leaks, reverse=True)
    assert plans[0].people_needed == plans[-1].people_needed
    assert math.isnan(plan(20, 20, 0.09, baseline=0.99).smallest_found)


def test_sizes_and_shares_are_checked() -> None:
    for arguments, settings, message in (
        ((10, 300, 0.09), {}, "people is 10; nothing is tested below 20"),
        ((300, 19, 0.09), {}, "control is 19; nothing is tested below 20"),
        ((300, 300, 0.0), {}, "threshold must"),
        ((300, 300, 9), {}, "Write 9% as 0.09"),
        ((300, 300, 0.09), {"attackers": 0}, "attackers must"),
        ((300, 300, 0.09), {"baseline": 1.5}, "baseline must"),
        ((300, 300, 0.09), {"correlation": 1.0}, "correlation must"),
    ):
        with pytest.raises(InputError, match=message):
            plan(*arguments, **settings)
