"""The z of each person among siblings, in the record-level risk."""

from statistics import mean, pstdev
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.questions.audit.reference.made_up import people, released, siblings
from unveil.attacks.table.sibling_calibration import nearness_to_releases
from unveil.data.table import Table
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.sections.exposure import exposed_table

ORIGINAL, CONTROL = people(1), people(2)
RELEASE = released(ORIGINAL, 3, copied=0.2)
PLAIN: dict[str, Any] = {"release_type": "synthetic", "attacks": ["membership"], "sensitive": "none"}
COLUMNS = ["age", "sex", "region", "job", "income"]


def table(answer: AuditResult) -> pl.DataFrame:
    made = exposed_table(answer.findings)
    return pl.DataFrame(list(made.rows), schema=list(made.columns), orient="row")


def test_z_is_the_distance_from_the_siblings_and_ranks_people() -> None:
    releases = siblings(4)[0]
    found = table(audit(ORIGINAL, RELEASE, CONTROL, **PLAIN, identifiers=["id"], sibling=releases))
    read = [Table.from_frame(each.select(COLUMNS)) for each in (RELEASE, *releases, ORIGINAL)]
    scores = nearness_to_releases(read[:-1], read[-1], COLUMNS, ranks=[1])[:, :, 0]
    assert found.height >= 60
    for row, z in found.select("row", "sibling_z").rows():
        own, *others = scores[int(row) - 1].tolist()
        assert float(z) == pytest.approx((own - mean(others)) / (pstdev(others) + 0.1), rel=1e-3, abs=1e-3)
    ranked = found.with_columns(pl.col("sibling_z").cast(pl.Float64), pl.col("sibling_rank").cast(pl.Int64))
    best = ranked.sort("sibling_rank")["sibling_z"].to_list()
    assert best == sorted(best, reverse=True)
    # Copied people lead.
    copied = set(ORIGINAL.with_row_index("row", offset=1).join(RELEASE, on=COLUMNS, how="semi")["row"].to_list())
    first = ranked.sort("sibling_rank")["row"].cast(pl.Int64).to_list()[:5]
    assert set(first) <= copied


def test_siblings_that_saw_a_person_are_left_out() -> None:
    releases, behind = siblings(4)
    shared = [pl.concat([each.head(110), ORIGINAL.head(10)]) for each in behind[:2]] + behind[2:]
    answer = audit(ORIGINAL, RELEASE, CONTROL, **PLAIN, identifiers=["id"], sibling=releases, sibling_people=shared)
    found = table(answer)
    lacking = found.filter(pl.col("sibling_rank") == "")["row"].cast(pl.Int64).to_list()
    assert set(lacking) == set(found["row"].cast(pl.Int64).to_list()) & set(range(1, 11))


def test_two_siblings_or_another_population_give_no_z() -> None:
    for releases in (siblings(2)[0], siblings(4, older=30)[0]):
        found = table(audit(ORIGINAL, RELEASE, CONTROL, **PLAIN, identifiers=["id"], sibling=releases))
        assert "sibling_z" not in found.columns


def test_runs_of_a_generator_give_z_to_people_of_the_first_run() -> None:
    frame = people(8, 200).drop("id").with_columns(weight=np.random.default_rng(3).integers(0, 10**6, 200))

    def generator(given: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        copied = given[rng.permutation(given.height)[: given.height // 5]]
        others = people(int(rng.integers(10**6)), given.height - copied.height).drop("id")
        others = others.with_columns(weight=rng.integers(0, 10**6, others.height))
        return pl.concat([others, copied])

    answer = audit(frame, generator=generator, runs=8, rng=np.random.default_rng(1), **PLAIN)
    found = table(answer)
    assert set(found["sibling_rank"].to_list()) >= {"1"}
    assert all(each for each in found["sibling_z"].to_list())
    assert "sibling_z" not in audit(frame, generator=generator, runs=2, rng=np.random.default_rng(1), **PLAIN).to_html()
