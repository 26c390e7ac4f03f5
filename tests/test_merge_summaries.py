"""Summaries of one study whose data sets were run apart."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tools.merge_summaries import merged
from unveil.studies import Study
from unveil.work.seal import Seal, sealed_parquet

ROOT = Path(__file__).parents[1]


def test_data_sets_that_were_run_apart_are_put_together_and_none_is_counted_twice(tmp_path: Path) -> None:
    whole = ROOT / "studies" / "results" / "paper-2.parquet"
    told = pl.read_parquet_metadata(whole)
    kept = pl.read_parquet(whole).filter(
        pl.col("metric").is_in(["attempted", "correct"]), pl.col("attack").is_in(["YG:theta=2", "NS:theta=0.5"])
    )

    def part(name: str, rows: pl.DataFrame) -> Path:
        more = {key: told[key] for key in ("form", "study", "manifest", "errors", "seconds")}
        (tmp_path / name).write_bytes(sealed_parquet(rows, Seal("summary", "", "fine"), more, level=1))
        return tmp_path / name

    caida = pl.col("data") == "caida"
    stopped = kept.filter(pl.col("data").is_in(["google", "cora"]) | (caida & (pl.col("attack") == "YG:theta=2")))
    first = part("first", kept.filter(pl.col("data").is_in(["pgp", "dblp"])))
    parts = [first, part("stopped", stopped), part("last", kept.filter(caida))]
    study = Study.read(ROOT / "studies" / "paper-2.toml")
    made = pl.read_parquet(merged(study, parts))
    order = ["data", "protect", "attack", "axis", "metric"]
    assert made.sort(order).equals(kept.sort(order))
    other = replace(study, seed=study.seed + 1)
    with pytest.raises(SystemExit, match="first is of another study"):
        merged(other, parts)
