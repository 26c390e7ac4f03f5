"""Masking methods as sdcMicro and ARX write them."""

from math import sqrt

import numpy as np
import polars as pl
import pytest

from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections import (
    AdditiveNoise,
    CorrelatedNoise,
    Microaggregation,
    RankSwapping,
    UnivariateMicroaggregation,
)
from unveil.protections.dialects import RecodedElsewhere, as_written
from unveil.protections.table._recognition import DeclaredFile


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("additive-noise:scale=0.2", AdditiveNoise(scale=0.2)),
        ("sdcMicro::addNoise(obj, noise = 20)", AdditiveNoise(scale=0.2)),
        ("addNoise(noise=150)", AdditiveNoise(scale=1.5)),
        ("addNoise()", AdditiveNoise(scale=1.5)),
        (
            'addNoise(dat, variables = c("age", "income"), noise = 9, method = "correlated")',
            CorrelatedNoise(columns=("age", "income"), scale=sqrt(0.09)),
        ),
        ("microaggregation(aggr=5)", Microaggregation(k=5)),
        ("sdcMicro:microaggregation(sdc, aggr=4, method='onedims')", UnivariateMicroaggregation(k=4)),
        ("microaggregation(aggr=4, measure='median')", RecodedElsewhere(k=4)),
        ("rankSwap(P=10, TopPercent=0, BottomPercent=0)", RankSwapping(p=10.0)),
        ("new KAnonymity(5)", RecodedElsewhere(k=5)),
        ("ARX:KAnonymity(5)", RecodedElsewhere(k=5)),
        ("5-Anonymity", RecodedElsewhere(k=5)),
    ],
)
def test_what_can_be_mapped_is(text: str, wanted: object) -> None:
    assert as_written(text).protection == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pram(pd=0.8, alpha=0.5)", "a transition matrix, which sdcMicro draws at random"),
        ("rankSwap(P=10)", "extreme values are replaced"),
        ("rankSwap(R0=0.95,TopPercent=0,BottomPercent=0)", "rankSwap without P"),
        ("addNoise(noise=20, method='ROMM')", "depends on more than its settings"),
        ("addNoise(noise=much)", "not a number"),
        ("addNoise(noise=(20)", "separated by commas"),
        ("microaggregation(aggr=3, method='mafast')", "it is not known here which columns share"),
        ("EDDifferentialPrivacy(2, 0.01)", "samples the rows"),
        ("localSuppression(k=3)", "cannot be mapped"),
        ("KAnonymity()", "not a number"),
        ("aditive-noise", "there is no protection"),
        ("sdcMicro::addNoise(noise=20", "is not complete"),
        ("localSuppression(k=3)", "sdcMicro and ARX: addNoise, microaggregation, rankSwap, KAnonymity"),
    ],
)
def test_what_cannot_be_mapped_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        as_written(text)
    assert said in str(caught.value)


def test_a_suppressed_row_needs_nobody_like_it() -> None:
    original = Table.from_frame(pl.DataFrame({"town": ["Ulm", "Ulm", "Bonn"]}), roles={"town": "known"})
    for shown, wanted in ((["U", "U", "*"], 0), (["U", "U", "B"], 1)):
        released = Table.from_frame(pl.DataFrame({"town": shown}), roles={"town": "known"})
        assert len(RecodedElsewhere(k=2).declared(DeclaredFile(original, released, np.arange(3))).against) == wanted
