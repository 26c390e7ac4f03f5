"""How often do limits of effect sizes miss the truth, and how biased is the effect of the worst attacker?

    python -m benchmarks.effect_coverage [--draws 2000] [--part false_pass|rates|membership|...]

People are drawn from known distributions, so that the true effect is known. Every setting prints in how many draws the
upper limit lies below the truth (nominal 5 %), and the lower limit above it (nominal 2.5 % for one effect), with
Clopper and Pearson's intervals. Where the true effect is a threshold, such an upper limit is a false pass; for hits
without ties its probability is summed over all outcomes. All draws follow from one seed and the name of the setting.
"""

import argparse
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isnan

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import polars as pl
from scipy.special import ndtr

from unveil._kernels.neighbours.density import chance_of_highest
from unveil._kernels.types import FloatArray
from unveil.guesses.trials import Attempts
from unveil.metrics.trials.risk import clopper_pearson
from unveil.metrics.verdict.effects import (
    EffectSize,
    mean_correlation,
    membership_pair,
    risk_difference,
    shrunk_estimate,
    singling_out_pair,
    worst_effect,
)
from unveil.metrics.verdict.plan import pass_chance
from unveil.metrics.verdict.pool import Pool
from unveil.metrics.verdict.singling_out import singling_out
from unveil.questions.audit.answer import audit

SEED = 48
SIZES = ((300, 300), (600, 200), (1000, 250), (1000, 1000), (2000, 500), (2000, 2000))
EFFECTS = (0.0, 0.05, 0.09, 0.33)
FAMILY = 20
#: Success rates on the control group.
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.65)


@dataclass(frozen=True)
class People:
    """A distribution of people's chances: its mean, and how people are drawn from it."""

    mean: float
    draw: Callable[[int, np.random.Generator], FloatArray]

    def members(self, number: int, effect: float, rng: np.random.Generator) -> FloatArray:
        """Return chances of people of whom some are hit surely, so that the mean rises by the effect."""
        is_hit = rng.random(number) < effect / (1 - self.mean)
        return np.where(is_hit, 1.0, self.draw(number, rng))


def hits(rate: float) -> People:
    return People(rate, lambda number, rng: (rng.random(number) < rate).astype(np.float64))


def ties(share: float, largest: int) -> People:
    """Return people of whom a share tie with 0 to ``largest - 1`` others."""
    mean = share * float(np.mean(1 / np.arange(1, largest + 1)))
    return People(
        mean,
        lambda number, rng: np.where(rng.random(number) < share, 1 / rng.integers(1, largest + 1, number), 0.0),
    )


def alike(chance: float, rare: float) -> People:
    """Return people who have one chance, but for a rare few who are hit surely."""
    return People(chance + rare * (1 - chance), lambda number, rng: np.where(rng.random(number) < rare, 1.0, chance))


def rows(most: int) -> People:
    """Return people with 1 to ``most`` rows that depend on one another; a person counts by their mean."""

    def draw(number: int, rng: np.random.Generator) -> FloatArray:
        each = rng.integers(1, most + 1, number)
        means: FloatArray = rng.binomial(each, rng.beta(0.5, 2.0, number)) / each
        return means

    return People(0.2, draw)


PEOPLE = {
    "hits, control rate 0.5 %": hits(0.005),
    "hits, control rate 5 %": hits(0.05),
    "hits, control rate 30 %": hits(0.3),
    "hits, control rate 60 %": hits(0.6),
    "ties of 1 to 10": ties(0.8, 10),
    "ties of 1 to 40": ties(1.0, 40),
    "alike, 0.2 % hit": alike(0.2, 0.002),
    "alike, 1 % hit": alike(0.05, 0.01),
    "1 to 5 rows a person": rows(5),
}


class Misses:
    """A count of draws in which limits miss the truth."""

    def __init__(self) -> None:
        self.draws = self.upper = self.lower = 0

    def add(self, effect: EffectSize, truth: float) -> None:
        """Count one draw."""
        self.draws += 1
        self.upper += effect.high < truth - 1e-12
        self.lower += effect.low > truth + 1e-12

    def __str__(self) -> str:
        return f"{_share(self.upper, self.draws)} | {_share(self.lower, self.draws)}"


def _share(count: int, draws: int) -> str:
    rate = clopper_pearson(count, draws)
    return f"{count} of {draws} ({100 * rate.value:.1f} %, {100 * rate.low:.1f}–{100 * rate.high:.1f})"


def generator(*words: object) -> np.random.Generator:
    """Return the generator of one setting."""
    return np.random.default_rng([SEED, zlib.crc32(repr(words).encode())])


def of_rates(name: str, sizes: tuple[int, int], effect: float, draws: int) -> tuple[Misses, Misses]:
    """Return how often limits miss, of one effect and of one in a family of 20."""
    people, rng = PEOPLE[name], generator(name, sizes, effect)
    alone, family = Misses(), Misses()
    for _ in range(draws):
        attack = Attempts.from_chances(people.members(sizes[0], effect, rng))
        control = Attempts.from_chances(people.draw(sizes[1], rng))
        alone.add(risk_difference(attack, control), effect)
        family.add(risk_difference(attack, control, effects=FAMILY), effect)
    return alone, family


def of_membership(shift: float, is_rounded: bool, sizes: tuple[int, int], draws: int) -> Misses:
    """Return how often limits miss the effect at the cutoff; a third of the control group sets it."""
    rng, misses = generator("membership", shift, is_rounded, sizes), Misses()

    def scores(number: int, mean: float) -> FloatArray:
        drawn = rng.normal(mean, 1, number)
        return np.round(2 * drawn) / 2 if is_rounded else drawn

    for _ in range(draws):
        calibration = scores(sizes[1] // 3, 0.0)
        true, false = (_called(mean, calibration, is_rounded) for mean in (shift, 0.0))
        control = scores(sizes[1] - calibration.size, 0.0)
        misses.add(membership_pair(scores(sizes[0], shift), control, calibration).effect(), true - false)
    return misses


def _called(mean: float, calibration: FloatArray, is_rounded: bool) -> float:
    """Return the probability that somebody with this mean score is called a member."""
    if is_rounded:
        points = np.arange(-8.0, 12.0, 0.5)
        edges = np.append(points - 0.25, 12.0)
    else:
        edges = np.concatenate([[-8.0], np.sort(calibration), [12.0]])
        points = (edges[1:] + edges[:-1]) / 2
    return float(np.diff(ndtr(edges - mean)) @ chance_of_highest(points, calibration, Fraction(1, 20)))


def of_singling_out(leak: float, sizes: tuple[int, int], draws: int, predicates: int = 200) -> Misses:
    """Return how often limits miss, with predicates on three of six columns; a share of members is released."""
    rng, misses = generator("singling out", leak, sizes), Misses()
    population = np.minimum(rng.geometric(0.25, (20_000, 6)), 12)
    members, people = sizes[0], sum(sizes)
    pool = Pool(is_member=np.arange(people) < members, contents=np.arange(people))
    for _ in range(draws):
        table = population[rng.integers(0, len(population), people)]
        fits, truth = [], []
        for is_leak in rng.random(predicates) < leak:
            row = table[rng.integers(0, members)] if is_leak else population[rng.integers(0, len(population))]
            columns = rng.choice(6, 3, replace=False)
            fits.append(np.flatnonzero((table[:, columns] == row[columns]).all(axis=1)))
            p = float((population[:, columns] == row[columns]).all(axis=1).mean())
            alone = (1 - p) ** (members - 1)
            truth.append((1 - members * p) * alone if is_leak else 0.0)
        starts = np.cumsum([0, *map(len, fits)])
        rate = singling_out(pool, starts, np.concatenate(fits), rng=rng)
        misses.add(singling_out_pair(rate).effect(), float(np.mean(truth)))
    return misses


def of_memorization(leak: float, sizes: tuple[int, int], draws: int) -> tuple[Misses, str]:
    """Return how often limits miss in whole attacks on a secret, and what else was seen.

    Of the release a share is members, the rest is other people. Without a leak the true effect is 0; with one it is
    the mean of the differences on the part that is measured for the test, which nobody who is measured was chosen on.
    """
    rng, misses = generator("memorization", leak, sizes), Misses()
    effects, measured, found = [], [], 0
    for _ in range(draws):
        members, others = (_patients(sizes[0], rng) for _ in range(2))
        copied = round(leak * sizes[0])
        released = pl.concat([members.head(copied), others.head(sizes[0] - copied)])
        released = released.sample(fraction=1, shuffle=True, seed=int(rng.integers(2**31)))
        control = _patients(sizes[1], rng)
        answer = audit(members, released, control, attacks=["memory"], sensitive=["ill"], threads=1, rng=rng)
        (effect,) = (each for each in answer.findings.verdict.releases[0].effects if each.sensitive == "ill")
        risk = next(each.risk for each in answer.findings.releases[0].findings if not isnan(each.p))
        effects.append(effect.excess)
        measured.append(risk.attack_rate.value - risk.control_rate.value)
        found += effect.is_significant
    truth = float(np.mean(measured)) if leak else 0.0
    for each in effects:
        misses.add(each, truth)
    values, widths = [each.value for each in effects], [each.high - each.value for each in effects]
    seen = truth, np.mean(values), np.std(measured), np.std(values), np.mean(widths)
    return misses, " | ".join([*(f"{100 * each:.1f}" for each in seen), _share(found, draws)])


def _patients(number: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return people whose illness depends on two of six columns."""
    age, region = rng.integers(18, 90, number), rng.integers(0, 8, number)
    is_ill = rng.random(number) < 0.15 + 0.4 * (age > 60) + 0.15 * (region == 2)
    return pl.DataFrame(
        {
            "age": age,
            "region": region.astype(str),
            "income": rng.lognormal(10, 0.6, number).round(-2),
            "sex": rng.choice(["f", "m"], number),
            "rooms": rng.poisson(3, number),
            "job": np.minimum(rng.geometric(0.2, number), 15).astype(str),
            "ill": np.where(is_ill, rng.choice(["gout", "flu"], number), "none"),
        }
    )


#: True effects of attackers, as shares of the largest one.
PATTERNS: dict[str, Callable[[int], FloatArray]] = {
    "all equal": np.ones,
    "one leaks": lambda attackers: np.eye(1, attackers)[0],
    "evenly spaced": lambda attackers: np.linspace(1, 0, attackers),
}


@dataclass(frozen=True)
class Bias:
    """The mean of the worst attacker's estimates, as they are and shrunk, and misses of its limits."""

    raw: float
    shrunk: float
    misses: Misses


def of_worst(
    attackers: int, correlation: float, pattern: str, effect: float, sizes: tuple[int, int], draws: int
) -> Bias:
    """Return the bias of the worst attacker, at a control rate of 20 %."""
    rng = generator("worst", attackers, correlation, pattern, effect, sizes)
    truth, rate = effect * PATTERNS[pattern](attackers), 0.2

    def people(number: int, excess: FloatArray) -> FloatArray:
        # Two attackers share their luck with the chance of the correlation.
        is_common = rng.random((number, attackers)) < correlation**0.5
        luck = np.where(is_common, rng.random((number, 1)), rng.random((number, attackers)))
        return (luck < rate + excess).astype(np.float64)

    raw, shrunk, misses = [], [], Misses()
    for _ in range(draws):
        attack, control = people(sizes[0], truth), people(sizes[1], 0 * truth)
        every = [
            risk_difference(Attempts.from_chances(one), Attempts.from_chances(other), effects=attackers)
            for one, other in zip(attack.T, control.T, strict=True)
        ]
        worst = worst_effect(every)
        misses.add(worst, effect)
        raw.append(worst.value - effect)
        shrunk.append(shrunk_estimate(every, correlation=mean_correlation(attack, control)) - effect)
    return Bias(float(np.mean(raw)), float(np.mean(shrunk)), misses)


def lines_of_false_pass(_: int) -> Iterator[str]:
    yield "People | effect = threshold | false pass: least, greatest | at a control rate of"
    for sizes, effect in product(SIZES, EFFECTS[1:]):
        chances = [pass_chance(sizes, (rate + effect, rate), effect) for rate in RATES]
        worst = RATES[int(np.argmax(chances))]
        yield f"{sizes[0]}/{sizes[1]} | {effect:g} | {min(chances):.2%}, {max(chances):.2%} | {worst:g}"


def lines_of_rates(draws: int) -> Iterator[str]:
    yield f"Chances | people | effect | upper limit misses | lower limit misses | lower limit of {FAMILY}"
    for name, sizes, effect in product(PEOPLE, SIZES, EFFECTS):
        alone, family = of_rates(name, sizes, effect, draws)
        yield f"{name} | {sizes[0]}/{sizes[1]} | {effect:g} | {alone} | {_share(family.lower, draws)}"


def lines_of_membership(draws: int) -> Iterator[str]:
    yield "Shift of members' scores | people | upper limit misses | lower limit misses"
    for shift, is_rounded, sizes in product((0.0, 0.3, 1.0, 2.0), (False, True), SIZES):
        misses = of_membership(shift, is_rounded, sizes, draws)
        yield f"{shift:g}{' rounded' if is_rounded else ''} | {sizes[0]}/{sizes[1]} | {misses}"


def lines_of_singling_out(draws: int) -> Iterator[str]:
    yield "Predicates about members | people | predicates | upper limit misses | lower limit misses"
    for leak, sizes, predicates in product((0.0, 0.2, 0.6), ((300, 300), (300, 600), (600, 200)), (200, 1000)):
        misses = of_singling_out(leak, sizes, draws, predicates)
        yield f"{leak:.0%} | {sizes[0]}/{sizes[1]} | {predicates} | {misses}"


def lines_of_memorization(draws: int) -> Iterator[str]:
    yield (
        "Members released | people | upper limit misses | lower limit misses | true effect | mean effect | "
        "standard deviation on the measured part | with all people | upper limit above effect | significant"
    )
    for leak, sizes in product((0.0, 0.1, 0.5), ((300, 300), (500, 200))):
        misses, seen = of_memorization(leak, sizes, draws)
        yield f"{leak:.0%} | {sizes[0]}/{sizes[1]} | {misses} | {seen}"


def lines_of_worst(draws: int) -> Iterator[str]:
    yield "Attackers | correlation | effects | largest | bias | bias of the shrunk estimate | upper | lower misses"
    settings = product((1, 5, 20), (0.0, 0.3), PATTERNS, (0.05, 0.1, 0.3))
    for attackers, correlation, pattern, effect in settings:
        if attackers > 1 or (correlation, pattern) == (0.0, "all equal"):
            bias = of_worst(attackers, correlation, pattern, effect, (500, 500), draws)
            yield (
                f"{attackers} | {correlation:g} | {pattern} | {effect:g} | {100 * bias.raw:+.2f} | "
                f"{100 * bias.shrunk:+.2f} | {bias.misses}"
            )


PARTS = {
    "false_pass": lines_of_false_pass,
    "rates": lines_of_rates,
    "membership": lines_of_membership,
    "singling_out": lines_of_singling_out,
    "memorization": lines_of_memorization,
    "worst": lines_of_worst,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--part", choices=PARTS, action="append")
    arguments = parser.parse_args()
    for part in arguments.part or PARTS:
        for line in PARTS[part](arguments.draws):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
