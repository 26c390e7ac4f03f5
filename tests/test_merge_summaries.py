"""Summaries of one study whose data sets were run apart."""

from pathlib import Path

import polars as pl
import pytest

from tools.merge_summaries import merged
from unveil.study import Results, Study
from unveil.study.seal import Seal, sealed

ROOT = Path(__file__).parents[1]


def test_data_sets_that_were_run_apart_are_put_together_and_none_is_counted_twice(tmp_path: Path) -> None:
    whole = ROOT / "studies" / "results" / "paper-2.parquet"
    study = Study.read(ROOT / "studies" / "paper-2.toml")
    parts = []
    for number, names in enumerate((("pgp", "dblp"), ("google", "cora", "caida"), ("caida",))):
        # The second part ends within caida, as a run does that was stopped.
        some = pl.read_parquet(whole).filter(pl.col("data").is_in(names))
        rows = some.filter((pl.col("data") != "caida") | (pl.col("attack") == "YG:theta=2")) if number == 1 else some
        told = pl.read_parquet_metadata(whole)
        more = {key: told[key] for key in ("form", "study", "manifest", "errors")}
        parts.append(tmp_path / f"{number}.parquet")
        parts[-1].write_bytes(sealed(rows, Seal("summary", "", "fine"), more, level=1))
    (tmp_path / "all.parquet").write_bytes(merged(study, parts))
    kept, made = Results.read(whole), Results.read(tmp_path / "all.parquet")
    assert len(made.fine) == len(kept.fine) == 3600
    order = ["data", "protect", "attack", "axis", "level", "replication"]
    assert made.frame.sort(order).equals(kept.frame.sort(order))
    with pytest.raises(SystemExit, match="is of another study"):
        merged(study, [ROOT / "studies" / "results" / "paper-1.parquet"])
