"""The same files give the same decision through every front end."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import unveil
from tests.examples.test_pipelines import run_action
from unveil.cli import main
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections import RankSwapping
from unveil.questions.audit.protect import protected
from unveil.report.figures import json_of
from unveil.report.machine import compact
from unveil.web import NamedFile
from unveil.web.questions import answer as web_answer

SETTINGS: Mapping[str, Any] = {"release_type": "synthetic", "sensitive": ["income"], "predicates": 200, "seed": 3}
WORDS = ("--release-type=synthetic", "--sensitive=income", "--guesses=200", "--seed=3")


@dataclass(frozen=True)
class Case:
    """A release with a threshold, and what every front end must decide."""

    released: str
    threshold: float | None
    decision: str
    code: int


CASES = {
    "fail": Case("copied", 0.09, "fail", 3),
    "pass": Case("fresh", 0.4, "pass", 0),
    "inconclusive": Case("fresh", 0.09, "inconclusive", 5),
    "no threshold": Case("fresh", None, "none", 0),
}


def people(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=240)
    return pl.DataFrame(
        {
            **{f"c{at}": np.round(size + rng.normal(size=240), 1) for at in range(3)},
            "town": rng.choice(["Ulm", "Bonn", "Kiel", "Trier"], 240),
            "income": np.round(30 + 5 * size + rng.normal(size=240)),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    tables = {"people": people(1), "others": people(2), "fresh": people(3)}
    tables["copied"] = tables["people"].sample(fraction=1.0, shuffle=True, seed=1)
    for name, table in tables.items():
        table.write_csv(made / f"{name}.csv")
    return made


def settings_of(case: Case) -> dict[str, Any]:
    return {**SETTINGS, **({} if case.threshold is None else {"threshold": case.threshold})}


def words_of(case: Case) -> list[str]:
    return [*WORDS, *([] if case.threshold is None else [f"--threshold={case.threshold}"])]


def by_paths(folder: Path, case: Case) -> Any:
    people, released, others = (folder / f"{name}.csv" for name in ("people", case.released, "others"))
    return unveil.audit(people, released, others, **settings_of(case)).to_dict()["decision"]


def by_frames(library: str) -> Callable[[Path, Case], Any]:
    def decide(folder: Path, case: Case) -> Any:
        read: Any = pytest.importorskip(library).read_csv
        original, released, control = (read(folder / f"{name}.csv") for name in ("people", case.released, "others"))
        answer = unveil.audit(original, {f"{case.released}.csv": released}, control, **settings_of(case))
        return answer.to_dict()["decision"]

    return decide


def by_command(folder: Path, case: Case) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        files = ["people.csv", f"{case.released}.csv", "--control=others.csv"]
        done = CliRunner().invoke(main, ["audit", *files, *words_of(case), "--json"])
    assert done.exit_code == case.code, done.stderr
    return json.loads(done.stdout)["decision"]


def by_web(folder: Path, case: Case) -> Any:
    names = {"original": "people", "released": case.released, "control": "others"}
    given: Any = {key: NamedFile(path=folder / f"{name}.csv", name=f"{name}.csv") for key, name in names.items()}
    given["released"] = [given["released"]]
    column = {"suggested": "known", "kind": "number", "guessed": "number"}
    roles = [{**column, "name": "income", "role": "sensitive"}]
    settings = {"release_type": ["synthetic"], "columns": roles, "predicates": "200", "seed": "3"}
    if case.threshold is not None:
        settings["threshold"] = str(case.threshold)
    return json.loads(web_answer("audit", given, settings).json)["decision"]


def by_assertion(folder: Path, case: Case) -> Any:
    paths = [folder / f"{name}.csv" for name in ("people", case.released, "others")]
    if case.threshold is None:
        with pytest.raises(InputError, match="No threshold is set"):
            unveil.assert_release(*paths, **settings_of(case))
        return by_paths(folder, case)
    if case.decision == "fail":
        with pytest.raises(AssertionError) as failed:
            unveil.assert_release(*paths, **settings_of(case))
        expected = by_paths(folder, case)
        assert str(failed.value).splitlines()[0] == expected["headline"]
        return expected
    if case.decision == "inconclusive":
        with pytest.raises(AssertionError, match=r"^Inconclusive"):
            unveil.assert_release(*paths, **settings_of(case))
    answer = unveil.assert_release(*paths, **settings_of(case), accept_inconclusive=True)
    return answer.to_dict()["decision"]


def by_action(folder: Path, case: Case) -> Any:
    arguments = "\n".join([*words_of(case), "--json"])
    inputs = {"original": "people.csv", "released": f"{case.released}.csv", "control": "others.csv"}
    done = run_action(folder, **inputs, arguments=arguments, report="report.html")
    assert done.returncode == case.code, done.stderr
    return json.loads(done.stdout)["decision"]


WAYS = {
    "paths": by_paths,
    "pandas": by_frames("pandas"),
    "polars": by_frames("polars"),
    "command line": by_command,
    "web": by_web,
    "assertion": by_assertion,
    "action": by_action,
}


@pytest.mark.parametrize("name", CASES)
def test_every_front_end_gives_the_same_decision(name: str, folder: Path) -> None:
    case = CASES[name]
    expected = by_paths(folder, case)
    assert (expected["decision"], expected["exit"]) == (case.decision, case.code)
    ways = {way: decide for way, decide in WAYS.items() if case.threshold is not None or way != "assertion"}
    found = {way: decide(folder, case) for way, decide in ways.items()}
    assert {way: each for way, each in found.items() if each != expected} == {}


@pytest.mark.parametrize("threshold", [0.09, 0.9, None])
def test_protect_decides_on_its_last_release_as_an_audit_of_the_same_releases(threshold: float | None) -> None:
    original, control = people(1), people(2)
    settings: dict[str, Any] = {"sensitive": ["income"], "threshold": threshold}
    made = unveil.protect(original, control, method="rank-swapping:p=30", rng=np.random.default_rng(7), **settings)
    rng = np.random.default_rng(7)
    steps = [("rank-swapping:p=30", RankSwapping(p=30))]
    releases = list(protected(Table.from_frame(original, name="original"), steps, rng=rng))
    audited = unveil.audit(releases[0].original, {each.name: each for each in releases}, control, rng=rng, **settings)
    last, same = made.decided.releases[-1], audited.decided.releases[-1]
    assert (last.level, last.decision) == (same.level, same.decision)
    assert [compact(json_of(each)) for each in last.effects] == [compact(json_of(each)) for each in same.effects]
    # The table as it is stands beside it and decides nothing.
    assert made.decided.releases[0].is_reference
    assert (made.level, made.decision) == (last.level, last.decision)
