"""Attacks of an audit give the figures of the attacks themselves, find planted leaks, and find nothing elsewhere."""

from collections.abc import Callable
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl
import pytest

from unveil.ask.audit.answer import AuditAnswer, audit
from unveil.ask.audit.findings import Finding
from unveil.ask.audit.people import draw_people
from unveil.ask.audit.verdict import is_proved
from unveil.attack.table.attribute_disclosure import AttributeDisclosure
from unveil.attack.table.inference import Inference
from unveil.attack.table.membership import Membership
from unveil.attack.table.singling_out import SinglingOut
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guess.trials import Trials
from unveil.measure.trials.risk import risk

SEED = 5
ILL = "ill"
GUESSES: dict[str, Callable[..., Any]] = {"inference": Inference, "attribute_disclosure": AttributeDisclosure}


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return made-up people whose illness nobody can know from the rest."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, rows)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["north", "south", "east", "west"], rows, p=[0.5, 0.3, 0.13, 0.07]),
            "income": age * 30 + rng.integers(0, 900, rows),
            "ill": rng.choice(["flu", "gout", "none"], rows),
        }
    )


ORIGINAL, CONTROL = people(120, 1), people(90, 2)
LEAK, FOREIGN = ORIGINAL.sample(fraction=1.0, shuffle=True, seed=3), people(110, 4)


def ask(*given: Any, seed: int = SEED, **settings: Any) -> AuditAnswer:
    return audit(*given, rng=np.random.default_rng(seed), **settings)


def found(answer: AuditAnswer, attack: str | None = None) -> list[Finding]:
    (release,) = answer.findings.releases
    return list(release.findings if attack is None else release.of(attack))


@cache
def tables(leak: bool = False) -> tuple[Table, Table, Table]:
    frames = (ORIGINAL, LEAK if leak else FOREIGN, CONTROL)
    original, released, control = agree(*(Table.from_frame(each) for each in frames))
    return original, released, control


def run(attack: Any, *, leak: bool = False, rng: np.random.Generator | None = None) -> Trials:
    """Return the trials of an attack on everybody."""
    original, released, control = tables(leak)
    knowledge = Knowledge(original, control)
    trials: Trials = attack.run(released=released, knowledge=knowledge, rng=rng or np.random.default_rng(0))
    return trials


def generator(part: str) -> np.random.Generator:
    """Return the randomness of one attack, which no other attack has a part in."""
    seed = np.random.default_rng(SEED).integers(2**63, size=3)[2]
    return np.random.default_rng([int(seed), crc32(part.encode())])


# --- the figures are those of the attacks -----------------------------------------------------------------------------


@pytest.mark.parametrize("leak", [True, False])
def test_singling_out_is_that_of_the_attack_on_everybody(leak: bool) -> None:
    answer = ask(ORIGINAL, LEAK if leak else FOREIGN, CONTROL, attacks=["singling_out"], guesses=60, targets=10)
    one, several = found(answer)
    rng = generator("singling_out")
    known = tuple(ORIGINAL.columns)
    for finding, size in ((one, 1), (several, 3)):
        trials = run(SinglingOut(columns=known, size=size, guesses=60), leak=leak, rng=rng)
        assert finding.risk == risk(trials)
        assert (finding.targets, finding.links.expected) == (trials.attack.tries, trials.attack.expected)
    assert (one.scenario.name, several.scenario.name) == ("one column", "3 columns")  # type: ignore[union-attr]


def test_singling_out_by_a_named_adversary_uses_its_columns_only() -> None:
    answer = ask(ORIGINAL, FOREIGN, attacks=["singling_out"], scenarios=["n=age,sex"], guesses=30)
    named = found(answer)[-1]
    assert named.scenario is not None
    assert (named.scenario.name, named.scenario.first) == ("n", ("age", "sex"))
    alone = SinglingOut(columns=("age", "sex"), size=2, guesses=10_000)
    assert named.targets <= run(alone).attack.tries


@pytest.mark.parametrize("attack", sorted(GUESSES))
@pytest.mark.parametrize("leak", [True, False])
def test_each_sensitive_column_gets_the_figures_of_the_attack(attack: str, leak: bool) -> None:
    answer = ask(
        ORIGINAL, LEAK if leak else FOREIGN, CONTROL, attacks=[attack], sensitive=["ill", "income"], tolerance=0.1,
        targets=None,
    )  # fmt: skip
    assert [each.secret for each in found(answer)] == ["income", "ill"]
    for finding in found(answer):
        known = ("age", "sex", "region")
        trials = run(GUESSES[attack](secret=finding.secret, known=known, tolerance=0.1, targets=None), leak=leak)
        assert finding.risk == risk(trials)
        assert finding.links.expected == trials.attack.expected
        assert finding.scenario is not None
        assert (finding.scenario.first, finding.scenario.origin) == (known, "all")


@pytest.mark.parametrize("attack", sorted(GUESSES))
def test_a_named_adversary_guesses_from_what_it_holds(attack: str) -> None:
    answer = ask(
        ORIGINAL, LEAK, CONTROL, attacks=[attack], sensitive=["ill"], scenarios=["n=age", "age:region"], targets=None
    )
    single, both = found(answer)
    for finding, known in ((single, ("age",)), (both, ("age", "region"))):
        assert finding.risk == risk(run(GUESSES[attack](secret=ILL, known=known, targets=None), leak=True))


@pytest.mark.parametrize("method", ["distance", "density"])
@pytest.mark.parametrize("targets", [30, None])
def test_membership_is_that_of_the_attack_on_those_who_were_drawn(method: Any, targets: int | None) -> None:
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=["membership"], targets=targets)
    rng = generator("membership")
    original, released, control = tables(True)
    inside = np.random.default_rng(SEED).integers(2**63, size=3)[0]
    drawn = draw_people(original, targets, rng=np.random.default_rng([inside, 0])).told
    knowledge = Knowledge(original.take(drawn), control, scale=original.extremes())
    by_method = {}
    for each in ("distance", "density"):
        by_method[each] = Membership(columns=tuple(ORIGINAL.columns), method=each, targets=None).run(
            released=released, knowledge=knowledge, rng=rng
        )
    (finding,) = (each for each in found(answer) if each.scenario and each.scenario.name == f"by {method}")
    assert finding.risk == risk(by_method[method])
    assert finding.targets == (30 if targets else 120)


def test_membership_attacks_everybody_who_was_asked_for() -> None:
    many, others = people(620, 7), people(60, 8)
    answer = ask(many, people(50, 9), others, attacks=["membership"], targets=None)
    assert {finding.targets for finding in found(answer)} == {620}
    few = ask(ORIGINAL, LEAK, CONTROL, attacks=["membership"], targets=20)
    assert not any("were asked for" in finding.remark for finding in found(few))


def test_without_control_membership_says_why_there_is_none() -> None:
    (finding,) = found(ask(ORIGINAL, LEAK, attacks=["membership"]))
    assert (finding.targets, finding.risk.attack_rate.defined) == (0, False)
    assert "there is no control table" in finding.remark
    small = found(ask(ORIGINAL, LEAK, CONTROL.head(45), attacks=["membership"]))
    assert [each.risk.attack_rate.defined for each in small] == [True, False]
    assert "at least 60 people" in small[1].remark


# --- the worst column is measured again -------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", sorted(GUESSES))
def test_the_worst_column_is_measured_on_people_whom_the_search_never_saw(attack: str) -> None:
    answer = ask(ORIGINAL, FOREIGN, CONTROL, attacks=[attack], targets=40)
    worst, mean = found(answer)
    original, released, control = tables()
    seeds = np.random.default_rng(SEED).integers(2**63, size=3)
    inside, outside = (
        draw_people(table, 40, rng=np.random.default_rng([seed, 0]))
        for table, seed in ((original, seeds[0]), (control, seeds[1]))
    )
    assert not set(inside.search) & set(inside.fresh)

    def guess(secret: str, part: str) -> Trials:
        knowledge = Knowledge(
            original.take(getattr(inside, part)), control.take(getattr(outside, part)), scale=original.extremes()
        )
        others = tuple(name for name in original.column_names if name != secret)
        trials: Trials = GUESSES[attack](secret=secret, known=others, targets=None).run(
            released=released, knowledge=knowledge, rng=np.random.default_rng(0)
        )
        return trials

    seen = {secret: guess(secret, "search") for secret in original.column_names}
    best = max(seen, key=lambda secret: risk(seen[secret]).excess_over_control.value)
    assert worst.secret == best
    assert worst.risk == risk(guess(best, "fresh"))
    assert worst.scenario is not None
    assert (worst.scenario.origin, best in worst.scenario.first) == ("worst", False)
    hits = np.mean([each.attack.expected / each.attack.tries for each in seen.values()])
    assert mean.risk.attack_rate.value == pytest.approx(hits)
    assert mean.secret == ""


def test_columns_that_hold_nothing_to_guess_are_left_out_of_the_search() -> None:
    flat = [each.with_columns(one=pl.lit(1), gone=pl.lit(None, pl.String)) for each in (ORIGINAL, FOREIGN, CONTROL)]
    worst, mean = found(ask(*flat, attacks=["inference"], targets=30))
    assert worst.secret in ORIGINAL.columns
    assert mean.scenario is not None
    assert mean.scenario.name == "mean of 5 columns"
    nothing = pl.DataFrame({"a": [1] * 30, "b": ["x"] * 30})
    (finding,) = found(ask(nothing, nothing, attacks=["inference"]))
    assert finding.remark == "No column has two different values that could be guessed."


def rarely_told(rows: int, seed: int) -> pl.DataFrame:
    """Return people of whom three tell something, so that among a few there is often nobody who does."""
    return people(rows, seed).select("age", "sex").with_columns(told=pl.Series(["x", "y", "x"] + [None] * (rows - 3)))


@pytest.mark.unwatched
@pytest.mark.parametrize("attack", sorted(GUESSES))
def test_a_column_that_hardly_anybody_has_does_not_end_the_audit(attack: str) -> None:
    tables = [rarely_told(90, seed) for seed in (1, 2, 3)]
    for seed in range(6):
        for sensitive in ((), ("told",)):
            first = found(ask(*tables, seed=seed, attacks=[attack], targets=10, sensitive=sensitive))[0]
            assert first.targets or "told" in first.remark


# --- planted leaks, and nothing there ---------------------------------------------------------------------------------

NEW = ("singling_out", "inference", "attribute_disclosure", "membership")


def worst_of_each(answer: AuditAnswer) -> dict[str, Finding]:
    """Return the finding of each attack that has people outside to compare with, the means left out."""
    single = [each for each in found(answer) if each.scenario is None or each.scenario.origin != "random"]
    return {finding.attack: finding for finding in single if finding.risk.excess_over_control.defined}


@pytest.mark.parametrize("sensitive", [(), ("ill",)])
def test_people_who_are_released_as_they_are_are_found_out(sensitive: tuple[str, ...]) -> None:
    answer = ask(ORIGINAL, LEAK, CONTROL, attacks=NEW, targets=60, sensitive=sensitive)
    worst = worst_of_each(answer)
    assert set(worst) == set(NEW)
    assert all(is_proved(finding) for finding in worst.values())
    if sensitive:
        assert all(worst[attack].risk.excess_over_control.low > 0.7 for attack in GUESSES)


def test_a_leak_for_half_of_the_people_is_found_for_half_of_them() -> None:
    half = pl.concat([ORIGINAL.head(60), people(60, 20)])
    answer = ask(ORIGINAL, half, CONTROL, attacks=["attribute_disclosure", "membership"], sensitive=["ill"])
    for finding in worst_of_each(answer).values():
        excess = finding.risk.excess_over_control
        assert excess.low - 0.05 < 0.5 < excess.high + 0.05
        assert is_proved(finding)


@pytest.mark.unwatched
def test_a_table_of_other_people_gives_nobody_away() -> None:
    """Of 12 such audits no attack may raise more false alarms than an interval of 95% leaves room for."""
    alarms = dict.fromkeys(NEW, 0)
    excess: dict[str, list[float]] = {attack: [] for attack in NEW}
    for seed in range(12):
        made = (people(rows, 1000 + 10 * seed + at) for at, rows in enumerate((100, 100, 100)))
        answer = ask(*made, seed=seed, attacks=NEW, targets=50, guesses=100)
        for attack, finding in worst_of_each(answer).items():
            alarms[attack] += is_proved(finding)
            excess[attack].append(finding.risk.excess_over_control.value)
    assert max(alarms.values()) <= 2
    # Had the winner of the search not been measured again, the mean would be well above nothing.
    assert abs(np.mean(excess["inference"])) < 0.06
    assert abs(np.mean(excess["membership"])) < 0.03


# --- a model of one's own ---------------------------------------------------------------------------------------------


class Constant:
    """A model that always guesses the value it was told."""

    def __init__(self, value: float) -> None:
        self.value = value

    def fit(self, *_: Any) -> "Constant":
        return self

    def predict(self, known: Any) -> Any:
        return np.full(len(known), self.value)


class Failing(Constant):
    """A model that fails with a message that quotes what it was given."""

    def fit(self, *_: Any) -> "Constant":
        raise ValueError("Zephyrine")


def test_a_model_guesses_instead_of_the_nearest_record() -> None:
    model = Constant(0.0)
    (finding,) = found(ask(ORIGINAL, LEAK, attacks=["inference"], sensitive=["ill"], model=model, targets=None))
    trials = run(Inference(secret=ILL, known=("age", "sex", "region", "income"), targets=None, model=model), leak=True)
    assert finding.risk.attack_rate == risk(trials).attack_rate
    assert finding.risk.attack_rate.value == pytest.approx((ORIGINAL["ill"] == "flu").mean())


@pytest.mark.parametrize("sensitive", [(), ("ill",)])
def test_a_model_that_fails_is_refused_without_its_words(sensitive: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="the model Failing must fit 120 released rows") as refused:
        ask(ORIGINAL, LEAK, attacks=["inference"], sensitive=sensitive, model=Failing(0))
    assert "Zephyrine" not in str(refused.value)
