"""People with an illness that nobody can know from the rest, released as they are or not at all."""

from collections.abc import Callable
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl

from unveil.attacks.table.attribute_disclosure import AttributeDisclosure
from unveil.attacks.table.inference import Inference
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge
from unveil.guesses.trials import Trials
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.findings import AttackFinding, Audit
from unveil.questions.result import Result

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


def ask(*given: Any, seed: int = SEED, **settings: Any) -> AuditResult:
    return audit(*given, rng=np.random.default_rng(seed), **settings)


def found(answer: Result[Audit], attack: str | None = None) -> list[AttackFinding]:
    every = (finding for release in answer.findings.releases for finding in release.findings)
    return [finding for finding in every if attack in (None, finding.attack)]


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
