"""Fellegi-Sunter linkage by the library splink, for typos and large files."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil._optional import need
from unveil.attacks._listing import attack
from unveil.attacks.table._agreement_patterns import check_blocks
from unveil.attacks.table._scores import ScoredPairs, candidates_of_scores, check_share
from unveil.attacks.table.record_linkage import check_settings
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import Candidates

if TYPE_CHECKING:
    import polars as pl


# The two inputs by names that splink orders this way, so that released rows are on the left.
_RELEASED, _ORIGINAL = "a_released", "b_original"
_WORDS = ("category", "text")


@attack(
    source='Fellegi and Sunter, "A theory for record linkage", 1969, as implemented in splink 5',
    name="splink",
    aka=("splink-linkage",),
    example="blocks=education,vote",
    extra="linkage",
)
@dataclass(frozen=True, kw_only=True)
class SplinkLinkage:
    """Link records with splink, by similarity of texts, for large files.

    The recipe is that of `FellegiSunter`: what pairs at random do is taken from random pairs and fixed, what matching
    pairs do is learned by EM inside each block for the columns that it does not use, and the candidates of a released
    row are trusted in proportion to their Bayes factors. Words are compared by the similarity of Jaro and Winkler,
    numbers and dates by steps of standard deviations of the original column, truth values and levels as equal or not.
    A released cell that stands for several values counts as missing.

    splink is an extra: ``pip install 'unveil[linkage]'``. No column name reaches it, nor its queries.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the attacker knows.
    blocks
        Groups of columns: only pairs that are equal in all columns of a group are candidates, those of all groups
        together. Each column should be outside of one of them, or what it is worth stays as splink first supposes.
    similarities
        How alike two words must be for each level below equal, from 0 to 1.
    steps
        How near two numbers must be for each level below equal, in standard deviations.
    random_pairs
        How many pairs tell what pairs at random do.
    least
        Candidates whose Bayes factor is less than this share of the target's largest are left out.
    """

    blocks: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] | None = None
    similarities: tuple[float, ...] = (0.92, 0.8)
    steps: tuple[float, ...] = (0.1, 0.3, 1.0)
    random_pairs: int = 2_000_000
    least: float = 0.0

    def __post_init__(self) -> None:
        check_settings(self.columns, 1, None)
        whole_number(self.random_pairs, "random_pairs")
        check_blocks(self.blocks)
        check_share("least", self.least)
        if not self.blocks:
            raise InputError("splink needs at least one block, such as (('surname',),). Name columns of few equal rows")
        if any(not 0 <= one <= 1 for one in self.similarities) or any(step < 0 for step in self.steps):
            raise InputError("similarities must be from 0 to 1, and steps at least 0. Pass such numbers")

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:
        """Return each released row's candidates; ``rng`` seeds random pairs.

        It needs the extra ``linkage``.
        """
        splink = need("splink", extra="linkage")
        original, masked = self._tables(released, knowledge)
        short = {name: f"c{place}" for place, name in enumerate(original.column_names)}
        # By content, so that the order of rows plays no part in which pairs are drawn.
        orders = [_by_content(table.frame) for table in (masked, original)]
        frames = [_plain(table, order) for table, order in zip((masked, original), orders, strict=True)]
        found = self._predicted(splink, frames, self._comparisons(original), short, original.rows, rng)
        target, candidate = orders[0][found.target], orders[1][found.candidate]
        order = np.lexsort((candidate, target))
        scored = ScoredPairs(target[order], candidate[order], found.score[order])
        return candidates_of_scores([scored], masked.rows, at_least=self.least, targets=None)

    def _tables(self, released: Table, knowledge: Knowledge) -> tuple[Table, Table]:
        original, masked = agree(knowledge.records, released)
        # What stands for several values says nothing here, as what is missing.
        masked = masked.single_values()
        names = self.columns or tuple(column.name for column in original.columns if column.role == "known")
        for name in {name for block in self.blocks for name in block} - set(names):
            raise InputError(
                f"a block names column {name!r}, which is not compared. Columns: {', '.join(names)}. "
                "Name one of these, or add it to columns"
            )
        return original.select(names), masked.select(names)

    def _comparisons(self, original: Table) -> list[dict[str, Any]]:
        """Return each column's comparison as SQL conditions, best level first."""
        made = []
        for place, column in enumerate(original.columns):
            one, other = f'"c{place}_l"', f'"c{place}_r"'
            levels = [_level(f"{one} IS NULL OR {other} IS NULL", is_null_level=True), _level(f"{one} = {other}")]
            if column.kind in _WORDS:
                levels += [
                    _level(f"jaro_winkler_similarity({one}, {other}) >= {float(least)!r}")
                    for least in sorted(self.similarities, reverse=True)
                ]
            elif column.kind in ("number", "date"):
                spread = _spread(original.series(column.name))
                levels += [_level(f"abs({one} - {other}) <= {step * spread!r}") for step in sorted(self.steps)]
            levels.append(_level("ELSE"))
            made.append({"output_column_name": f"c{place}", "comparison_levels": levels})
        return made

    def _predicted(
        self,
        splink: ModuleType,
        frames: Sequence["pl.DataFrame"],
        comparisons: list[dict[str, Any]],
        short: dict[str, str],
        size: int,
        rng: np.random.Generator,
    ) -> ScoredPairs:
        """Return the pairs that splink weighed, and the logarithms of their weights."""
        import polars as pl

        blocks = [splink.block_on(*(short[name] for name in block)) for block in self.blocks]
        settings = splink.SettingsCreator(
            link_type="link_only",
            comparisons=comparisons,
            blocking_rules_to_generate_predictions=blocks,
            probability_two_random_records_match=1 / max(2, size),
            retain_matching_columns=False,
        )
        # Without a folder for what finds no room in memory, no record gets on the disk, where all could read it.
        database = splink.DuckDBAPI(connection=need("duckdb", extra="linkage").connect(config={"temp_directory": ""}))
        tables = [
            database.register(frame.to_arrow(), dataset_display_name=name)
            for frame, name in zip(frames, (_RELEASED, _ORIGINAL), strict=True)
        ]
        linker = splink.Linker(tables, settings, log_level=logging.ERROR)
        linker.training.estimate_u_using_random_sampling(
            max_pairs=self.random_pairs, seed=int(rng.integers(2**31)), min_count_per_level=None
        )
        for block in blocks:
            linker.training.estimate_parameters_using_expectation_maximisation(block, fix_u_probabilities=True)
        answer = pl.DataFrame(linker.inference.predict(warning_mode="never").as_pyarrow_table())
        # Which input is on the left, only its name tells.
        left = (answer["source_dataset_l"] == _RELEASED).to_numpy()
        one, other = (answer[f"unique_id_{side}"].to_numpy().astype(np.int64) for side in "lr")
        score = answer["match_weight"].to_numpy().astype(np.float64) * np.log(2)
        return ScoredPairs(np.where(left, one, other), np.where(left, other, one), score)


def _level(condition: str, *, is_null_level: bool = False) -> dict[str, Any]:
    level: dict[str, Any] = {"sql_condition": condition, "label_for_charts": condition}
    return level | ({"is_null_level": True} if is_null_level else {})


def _spread(values: "pl.Series") -> float:
    import polars as pl

    number = values.cast(pl.Int64) if values.dtype == pl.Datetime else values
    return float(number.cast(pl.Float64).std(ddof=0) or 0.0)  # type: ignore[arg-type]


def _by_content(frame: "pl.DataFrame") -> IntArray:
    """Return the rows in content order."""
    import polars as pl

    plain = pl.DataFrame({f"c{place}": column for place, column in enumerate(frame)})
    order: IntArray = plain.with_row_index("row").sort(plain.columns)["row"].to_numpy().astype(np.int64)
    return order


def _plain(table: Table, order: IntArray) -> "pl.DataFrame":
    """Return the rows in this order, with plain names and types."""
    import polars as pl

    columns = {}
    for place, column in enumerate(table.frame[order]):
        kind = table.columns[place].kind
        number = column.cast(pl.Int64) if column.dtype == pl.Datetime else column
        columns[f"c{place}"] = number.cast(pl.Float64 if kind in ("number", "date") else pl.String)
    return pl.DataFrame({"unique_id": np.arange(order.size), **columns})
