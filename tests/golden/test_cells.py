"""Releases with coarse cells whose truth is known beforehand: the worked example, one illness per class, only stars."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from tests.approved.sentences import Approved
from unveil.attacks.table.attribute_disclosure import AttributeDisclosure
from unveil.attacks.table.inference import Guess, Inference
from unveil.attacks.table.linkability import Linkability
from unveil.cli import main
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.guesses.trials import Attempts
from unveil.metrics.releases.disclosure import disclosure, k_anonymity

ILL = "ill"
KNOWN = ("age", "sex", "town")
ILLNESSES = ("flu", "gout", "cold", "none")
#: Three standard errors of 1,200 tries are 0.0375.
BY_CHANCE = 1 / len(ILLNESSES)
TOWNS = ("Bonn", "Jena", "Kiel", "Trier", "Ulm")


def decade(age: int) -> str:
    return f"{age // 10 * 10}-{age // 10 * 10 + 9}"


#: Eight ways to write the same bands of ten years.
SPELLINGS: dict[str, Callable[[int], Any]] = {
    "30-39": decade,
    "[30,40)": lambda age: f"[{age // 10 * 10},{age // 10 * 10 + 10})",
    "3*": lambda age: f"{age // 10}*",
    "70+ at the end": lambda age: "70+" if age >= 70 else decade(age),
    "<30 and ≥70": lambda age: "<30" if age < 30 else "≥70" if age >= 70 else decade(age),
    "floors": lambda age: age // 10 * 10,
    "middles": lambda age: age // 10 * 10 + 4.5,
    "30-40": lambda age: f"{age // 10 * 10}-{age // 10 * 10 + 10}",
}


def people(seed: int) -> pl.DataFrame:
    """Return 1,200 people in classes of decade, sex and town with one illness each, 20 people on average."""
    rng = np.random.default_rng(seed)
    age, sex, town = rng.integers(20, 80, 1200), rng.choice(["f", "m"], 1200), rng.choice(TOWNS, 1200)
    of_class = dict(
        zip(((decade, one, other) for decade in range(2, 8) for one in "fm" for other in TOWNS),
            rng.choice(ILLNESSES, 60).tolist(), strict=True)
    )  # fmt: skip
    illness = [of_class[each] for each in zip((age // 10).tolist(), sex.tolist(), town.tolist(), strict=True)]
    return pl.DataFrame({"age": age, "sex": sex, "town": town, ILL: illness})


def strangers(seed: int) -> pl.DataFrame:
    """Return as many others, whose illness has nothing to do with their class: any guess is right for a quarter."""
    # A stream of its own: from that of `people` the illness would follow from the age.
    rng = np.random.default_rng([seed, 1])
    return people(seed).with_columns(pl.Series(ILL, rng.choice(ILLNESSES, 1200)))


def shown(frame: pl.DataFrame, spelling: str, stars: float = 0.0) -> pl.DataFrame:
    """Return the release, its rows in another order; some ages are stars, or empty where they are numbers."""
    gone = np.random.default_rng(3).random(frame.height) < stars
    cells = [SPELLINGS[spelling](age) for age in frame["age"].to_list()]
    lost = "*" if isinstance(cells[0], str) else None
    ages = pl.Series("age", [lost if away else cell for cell, away in zip(cells, gone, strict=True)])
    return frame.with_columns(ages).sample(fraction=1.0, shuffle=True, seed=1)


def release_of(original: pl.DataFrame, released: pl.DataFrame, control: pl.DataFrame) -> Release:
    tables = [
        Table.from_frame(frame, name=name)
        for name, frame in (("original", original), ("released", released), ("control", control))
    ]
    return Release(tables[0], tables[1], tables[2], kind="masked")


def rate(attempts: Attempts | None) -> float:
    assert attempts is not None
    return attempts.expected / attempts.tries


def rates(release: Release, known: tuple[str, ...] = KNOWN) -> dict[str, float]:
    """Return how often illnesses are guessed right, in the data and outside."""
    knowledge = Knowledge(release.original, release.control)
    found: dict[str, float] = {}
    for guess in get_args(Guess):
        attack = Inference(secret=ILL, known=known, targets=None, guess=guess)
        trials = attack.run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(1))
        found |= {guess: rate(trials.attack), f"{guess} outside": rate(trials.control)}
    disclosed = AttributeDisclosure(secret=ILL, known=known, targets=None).details(
        released=release.released, knowledge=knowledge, rng=np.random.default_rng(1)
    )
    return found | {"sure": rate(disclosed.sure), "sure of shown": rate(disclosed.sure_of_shown)}


def test_the_worked_example() -> None:
    """Who is 31 fits all rows, which weigh 1.5, 1.5 and 1: flu with 3/4. Who is 44 fits the star alone: gout."""
    original = Table.from_frame(pl.DataFrame({"age": [31, 38, 44], ILL: ["flu", "flu", "gout"]}), name="original")
    frame = pl.DataFrame({"age": ["30-39", "30-39", "*"], ILL: ["flu", "flu", "gout"]})
    released = Table.from_frame(frame, name="released")
    knowledge = Knowledge(original)
    attack = Inference(secret=ILL, known=("age",), targets=None)
    trials = attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(1))
    assert trials.attack.chances == pytest.approx([0.75, 0.75, 1.0])
    likeliest = Inference(secret=ILL, known=("age",), targets=None, guess="class")
    trials = likeliest.run(released=released, knowledge=knowledge, rng=np.random.default_rng(1))
    assert trials.attack.chances is not None
    assert trials.attack.chances.tolist() == [1.0, 1.0, 1.0]
    disclosed = AttributeDisclosure(secret=ILL, known=("age",), targets=None).details(
        released=released, knowledge=knowledge, rng=np.random.default_rng(1)
    )
    assert disclosed.sure.chances is not None
    assert disclosed.sure.chances.tolist() == [0.0, 0.0, 1.0]
    assert disclosed.matched.expected == 3


def test_one_illness_per_class_is_told_in_every_spelling() -> None:
    original, control = people(0), strangers(50)
    found = {way: rates(release_of(original, shown(original, way), control)) for way in SPELLINGS}
    for each in found.values():
        assert {key: value for key, value in each.items() if "outside" not in key} == {
            "lot": 1.0, "class": 1.0, "sure": 1.0, "sure of shown": 1.0,
        }  # fmt: skip
        assert each == found["30-39"]
    assert found["30-39"]["lot outside"] == pytest.approx(BY_CHANCE, abs=0.04)


@pytest.mark.parametrize("way", ["30-39", "floors"])
def test_stars_among_them_hide_nothing_from_who_takes_the_likeliest(way: str) -> None:
    original, control = people(0), strangers(50)
    found = rates(release_of(original, shown(original, way, stars=0.15), control))
    assert (found["class"], found["sure"], found["sure of shown"]) == (1.0, 0.0, 1.0)
    assert found["lot"] == pytest.approx(0.904, abs=0.01)
    assert found["lot outside"] == pytest.approx(BY_CHANCE, abs=0.04)


def test_only_stars_tell_nothing() -> None:
    original, control = people(0), strangers(50)
    stars = original.with_columns(pl.lit("*").alias(name) for name in KNOWN)
    release = release_of(original, stars, control)
    knowledge = Knowledge(release.original, release.control)
    attacks: list[Inference | Linkability] = [
        Inference(secret=ILL, known=KNOWN, targets=None),
        Inference(secret=ILL, known=KNOWN, targets=None, guess="class"),
        Linkability(first=("age",), second=("sex", "town"), neighbours=10, targets=None),
    ]
    for attack in attacks:
        trials = attack.run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(1))
        assert trials.attack.chances is not None
        assert trials.naive.chances is not None
        assert trials.attack.chances.tobytes() == trials.naive.chances.tobytes()
    assert k_anonymity(release, columns=KNOWN) == k_anonymity(release, columns=KNOWN, missing="any") == 1200


def test_suppressed_cells_are_told_both_ways() -> None:
    original = people(0)
    release = release_of(original, shown(original, "30-39", stars=0.15), strangers(50))
    found = disclosure(release, columns=KNOWN, sensitive=[ILL])
    other = k_anonymity(release, columns=KNOWN, missing="any")
    assert found.k_anonymity < other
    assert f"the smallest class has {other} rows; here it is a separate value" in found.notes[-1]


def test_the_headline_says_so(tmp_path: Path, approved: Approved) -> None:
    original = people(0)
    original.write_csv(tmp_path / "original.csv")
    strangers(50).write_csv(tmp_path / "control.csv")
    answers = []
    for way in ("30-39", "[30,40)", "3*"):
        shown(original, way).write_csv(tmp_path / "released.csv")
        files = [str(tmp_path / name) for name in ("original.csv", "released.csv")]
        options = ["--control", str(tmp_path / "control.csv"), "--kind", "masked", "--sensitive", ILL, "--id", "none"]
        few = ["--targets", "200", "--guesses", "100", "--seed", "1"]
        run = CliRunner().invoke(main, ["audit", *files, *options, *few])
        assert run.exit_code == 0, run.output
        # Strangers have an illness of their own where those of a class share one: the two are of different kinds.
        approved(run.output.splitlines()[0])
        approved(run.output.splitlines()[1])
        run = CliRunner().invoke(main, ["audit", *files, *options, *few, "--json"])
        answers.append(json.loads(run.stdout))
        for release in answers[-1]["releases"]:
            del release["sha256"]
    assert answers[0] == answers[1] == answers[2]


def test_what_is_told_about_cells_reaches_them(tmp_path: Path, approved: Approved) -> None:
    """Labels by a hierarchy, and numbers that look rounded: by option and by a file of settings, with one answer."""
    original = people(0)
    halves = dict(zip(TOWNS, ("west", "east", "north", "west", "south"), strict=True))
    released = shown(original, "floors").with_columns(pl.col("town").replace_strict(halves))
    for name, frame in (("original", original), ("released", released)):
        frame.write_csv(tmp_path / f"{name}.csv")
    (tmp_path / "towns.csv").write_text(
        "".join(f"{town};{half};*\n" for town, half in halves.items()), encoding="utf-8"
    )
    settings = tmp_path / "settings.toml"
    files = [str(tmp_path / f"{name}.csv") for name in ("original", "released")]
    more = ["--kind", "masked", "--sensitive", ILL, "--attacks", "inference", "--json", "--seed", "1"]

    def asked(*told: str) -> Any:
        run = CliRunner().invoke(main, ["audit", *files, *more, *told])
        assert run.exit_code == 0, run.output
        return json.loads(run.stdout)

    def rate_of(answer: Any) -> float:
        return max(float(each["attack_rate"]["value"]) for each in answer["releases"][0]["attacks"])

    plain = asked()
    told = asked("--hierarchy", f"town={tmp_path / 'towns.csv'}")
    assert rate_of(plain) < rate_of(told)
    approved(told["notes"][0])
    settings.write_text(
        'original = "original.csv"\nreleased = "released.csv"\nexact = "age"\n[hierarchy]\ntown = "towns.csv"\n',
        encoding="utf-8",
    )
    files = ["--config", str(settings)]
    exact = asked()
    assert rate_of(exact) != rate_of(told)
    assert not any("rounded" in note for note in exact["notes"])
    run = CliRunner().invoke(main, ["audit", *files, *more, "--hierarchy", "town"])
    assert "Write COLUMN=FILE" in run.output


def test_who_is_behind_a_record_is_asked_with_a_hierarchy_too(tmp_path: Path) -> None:
    """Forty people of four ages in decades and two halves of a country: each is one of as many as share both."""
    halves = dict(zip(TOWNS, ("west", "east", "east", "west", "west"), strict=True))
    cells = [(20 + number, TOWNS[number % 5]) for number in range(40)]
    classes = [(decade(age), halves[town]) for age, town in cells]
    for name, head, lines in (
        ("original.csv", "age,town\n", cells),
        ("released.csv", "age,town\n", classes),
        ("truth.csv", "released,original\n", [(number, number) for number in range(1, 41)]),
    ):
        (tmp_path / name).write_text(head + "".join(f"{one},{other}\n" for one, other in lines), encoding="utf-8")
    (tmp_path / "towns.csv").write_text("".join(f"{each[0]};{each[1]}\n" for each in halves.items()), encoding="utf-8")
    files = [str(tmp_path / f"{name}.csv") for name in ("original", "released")]
    told = ["--truth", str(tmp_path / "truth.csv"), "--hierarchy", f"town={tmp_path / 'towns.csv'}", "--json"]
    for attack in ("candidate-set", "nearest"):
        run = CliRunner().invoke(main, ["reidentify", *files, *told, "--attack", attack])
        assert run.exit_code == 0, run.output
        (found,) = json.loads(run.stdout)["attacks"]
        expected = np.mean([1 / classes.count(each) for each in classes])
        assert found["attack_rate"]["value"] == pytest.approx(expected)
