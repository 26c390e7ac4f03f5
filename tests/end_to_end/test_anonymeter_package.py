"""Side by side with the real package: its links on small tables are golden, and made anew where it is installed.

``UNVEIL_ANONYMETER_PYTHON`` names a Python that has anonymeter 1.1.0, which needs an older numpy than unveil.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.golden import make_anonymeter_golden as golden
from unveil.attacks.anonymeter.linkability import AnonymeterLinkability, links
from unveil.data.table import Table
from unveil.data.table.release import Knowledge

HERE = Path(__file__).parent.parent
GOLDEN = json.loads((HERE / "golden" / "anonymeter_links.json").read_text())
PEER = os.environ.get("UNVEIL_ANONYMETER_PYTHON")


def test_every_case_is_golden() -> None:
    assert [case.name for case in golden.cases()] == list(GOLDEN)
    assert any(GOLDEN.values())


@pytest.mark.parametrize("case", list(golden.cases()), ids=lambda case: case.name)
def test_links_are_those_of_the_package(case: golden.Case) -> None:
    original, released = (golden.frame(pd, columns, case.types) for columns in (case.original, case.released))
    found = links(original, released, range(len(original)), case.first, case.second, case.neighbours)
    assert np.flatnonzero(found).tolist() == GOLDEN[case.name]


def run_peer(*arguments: str) -> str:
    assert PEER is not None
    done = subprocess.run([PEER, "-W", "ignore", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


if PEER is not None:  # not a skip: without the package the golden links above stand for it

    def test_the_package_still_gives_the_golden_links() -> None:
        assert json.loads(run_peer(golden.__file__)) == GOLDEN

    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_whole_run_draws_and_links_the_same_targets(tmp_path: Path, seed: int) -> None:
        rng = np.random.default_rng(seed)
        paths, tables = [], []
        for name, size in (("original", 900), ("released", 3000), ("control", 700)):
            frame = pd.DataFrame(
                {
                    "age": rng.integers(18, 90, size),
                    "pay": rng.integers(0, 500, size) / 10,
                    "town": rng.choice(["Ulm", "Bonn", "Kiel"], size),
                    "job": rng.choice(list("abcdefgh"), size),
                }
            )
            paths.append(str(tmp_path / f"{name}.csv"))
            frame.to_csv(paths[-1], index=False)
            tables.append(Table.read(paths[-1], name=name))
        original, released, control = tables
        groups = {"first": ("age", "town"), "second": ("pay", "job")}
        attack = AnonymeterLinkability(**groups, neighbours=10, targets=200, seed=seed)
        trials = attack.run(released=released, knowledge=Knowledge(original, control), rng=rng)
        options = ["--targets", "200", "--neighbours", "10", "--seed", str(seed), "--control", paths[2]]
        columns = [word for which, names in groups.items() for word in (f"--{which}", *names)]
        script = str(HERE.parent / "benchmarks" / "anonymeter_peer.py")
        answer = json.loads(run_peer(script, paths[0], paths[1], *options, *columns))
        for attempts, expected in ((trials.attack, answer["attack"]), (trials.control, answer["control"])):
            assert attempts is not None
            assert attempts.chances is not None
            assert np.flatnonzero(attempts.chances).tolist() == expected
