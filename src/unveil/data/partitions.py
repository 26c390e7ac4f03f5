"""Read partitions, and the policy and weights that go with them, from files."""

import os
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unveil.data.files.read import read_table, refuse_cells, refuse_repeats
from unveil.data.files.source import shown
from unveil.data.matrices.csv_matrix import written_numbers
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]

# Exponents are kept short: a fraction with a million digits would take minutes to compare.
_NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)", re.ASCII)
_LONGEST_NUMBER = 100
_TRUTH_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_partition(path: PathLike, *, item: str = "item", cluster: str = "cluster") -> "pl.DataFrame":
    """Return the items of a file and their clusters, as text columns.

    Items and clusters are names: ``01`` and ``1`` differ. A row that repeats an item with the same cluster says nothing
    new and is left out; an item with two clusters is an error. The order is that of the file.

    >>> from unveil.data import samples
    >>> read_partition(samples.path("partition_truth.csv")).row(0)
    ('triangle-1', 'triangles')
    """
    return _read_partition(path, item, cluster)[0]


def read_partitions(
    truth_path: PathLike,
    guess_paths: Sequence[PathLike],
    *,
    item: str = "item",
    cluster: str = "cluster",
    drop_unmatched: bool = False,
) -> tuple["pl.DataFrame", tuple[str, ...]]:
    """Return the clusters of each item in all files, with notes.

    Parameters
    ----------
    truth_path
        The file that says which items really belong together.
    guess_paths
        One file for each partition the attacker holds; all must have the items of the truth.
    item, cluster
        What the two columns are called in the files.
    drop_unmatched
        True leaves out the items that are not in every file, and notes how many; False makes them an error.

    Returns
    -------
    frame, notes
        Text columns ``item``, ``truth``, ``guess_0``, ``guess_1``, … in the order of the truth, and plain sentences.

    Raises
    ------
    InputError
        If a file cannot be read, lacks a name or gives an item two clusters, or if items are in one file only.

    Examples
    --------
    >>> from unveil.data import samples
    >>> truth, guess = samples.path("partition_truth.csv"), samples.path("partition_guess_bold.csv")
    >>> frame, notes = read_partitions(truth, [guess])
    >>> frame.row(0), notes
    (('triangle-1', 'triangles', 'B'), ())
    """
    if not guess_paths:
        raise InputError("there must be at least one file with a guess, but there is none. Name it after the truth")
    frame, notes = _read_partition(truth_path, item, cluster)
    frame = frame.rename({"cluster": "truth"})
    for index, path in enumerate(guess_paths):
        guess, more = _read_partition(path, item, cluster)
        frame = _beside(frame, guess.rename({"cluster": f"guess_{index}"}))
        notes += more
        seen = _unmatched(truth_path, path, frame, guess.height)
        if seen and not drop_unmatched:
            raise InputError(
                f"all files must have the same items, but {seen}. Correct the files, or drop unmatched items"
            )
        if seen:
            notes += (f"Items that are not in every file were left out: {seen}.",)
    frame = frame.drop_nulls()
    if frame.height == 0:
        raise InputError(
            f"{shown(Path(truth_path))} and every guess must have items in common, but have none. "
            "Check that the files use the same item names"
        )
    return frame, notes


def read_policy(path: PathLike) -> "pl.DataFrame":
    r"""Return the policy of each subject in a file; null for the default.

    Columns ``subject`` (text, each once), ``alpha`` and ``beta`` (text, exactly as written: a number or a fraction such
    as ``1/3``, from 0 to 1) and ``contamination_desirable`` (Boolean, from true/false, yes/no or 1/0). Only ``subject``
    must be in the file; a missing column or an empty cell is null.

    Raises
    ------
    InputError
        With the file, the column and the row, if a cell is none of these or a subject comes twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "policy.csv")
    ...     _ = file.write_text("subject,alpha,contamination_desirable\nAlice,1/3,yes\nBob,,\n")
    ...     read_policy(file).rows()
    [('Alice', '1/3', None, True), ('Bob', None, None, None)]
    """
    import polars as pl

    settings = ("alpha", "beta", "contamination_desirable")
    columns = {name: name for name in ("subject", *settings)}
    frame = read_table(path, columns, optional=settings, complete=["subject"], numbers=["alpha", "beta"])
    refuse_repeats(frame, path, ["subject"])
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in settings if name not in frame.columns)
    frame = frame.with_columns(pl.col(name).str.strip_chars() for name in settings)
    for name in ("alpha", "beta"):
        distinct = frame[name].drop_nulls().unique()
        unusable = [text for text in distinct if not _is_share(text)]
        must = "hold a number from 0 to 1, such as 0.5 or 1/3, or be empty"
        refuse_cells(frame[name].is_in(unusable).fill_null(value=False), path, name, must)
    words = frame["contamination_desirable"].str.to_lowercase()
    desirable = words.replace_strict(_TRUTH_WORDS, default=None, return_dtype=pl.Boolean)
    must = "hold true or false, yes or no, 1 or 0, or be empty"
    refuse_cells(words.is_not_null() & desirable.is_null(), path, "contamination_desirable", must)
    return frame.select("subject", "alpha", "beta", desirable)


def read_weights(path: PathLike) -> "pl.DataFrame":
    r"""Return the weights of items, for all subjects or per subject.

    A weight is a number (or a fraction such as ``1/8``) from 0 (does not count) to 1 (counts in full), of one item for
    all subjects or for the one subject named. Items that the file does not name are left to the reader of the result.

    Raises
    ------
    InputError
        With the file, the column and the row, if a weight is not such a number or an item (of a subject) comes twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "weights.csv")
    ...     _ = file.write_text("item,weight\nphone,0.25\n")
    ...     read_weights(file).rows()
    [('phone', 0.25)]
    """
    columns = {name: name for name in ("subject", "item", "weight")}
    frame = read_table(path, columns, optional=["subject"], complete=list(columns), numbers=["weight"])
    weight = written_numbers(frame["weight"]).alias("weight")
    usable = weight.is_between(0, 1).fill_null(value=False)
    must = "hold a number from 0 (the item does not count) to 1 (it counts in full), such as 0.25 or 1/4"
    advice = "Write such a number; items without a row have weight 1"
    refuse_cells(~usable, path, "weight", must, advice)
    refuse_repeats(frame, path, [name for name in ("subject", "item") if name in frame.columns])
    return frame.with_columns(weight)


def read_links(path: PathLike) -> "pl.DataFrame":
    r"""Return at which rate evidence links two clusters: columns ``cluster``, ``other`` and ``rate``.

    A rate is a number from 0 up, such as the probability that a record linkage gives. A pair is named once, in either
    order.

    Raises
    ------
    InputError
        With the file, the column and the row, if a rate is no such number, or a pair is one cluster or comes twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "links.csv")
    ...     _ = file.write_text("cluster,other,rate\nx,y,0.25\n")
    ...     read_links(file).rows()
    [('x', 'y', 0.25)]
    """
    import polars as pl

    columns = {name: name for name in ("cluster", "other", "rate")}
    frame = read_table(path, columns, complete=list(columns), numbers=["rate"])
    rate = written_numbers(frame["rate"]).alias("rate")
    usable = (rate.is_finite() & (rate >= 0)).fill_null(value=False)
    refuse_cells(~usable, path, "rate", "hold a number from 0 up, such as 0.25 or 1/4")
    refuse_cells(frame["cluster"] == frame["other"], path, "other", "name another cluster than the column cluster does")
    ends = pl.concat_list("cluster", "other").list.sort().list.join("\x00").alias("pair")
    again = frame.select(ends.is_duplicated() & ~ends.is_first_distinct()).to_series()
    refuse_cells(again, path, "other", "name a pair that no row above names, in either order", "Keep one row per pair")
    return frame.with_columns(rate)


def _read_partition(path: PathLike, item: str, cluster: str) -> tuple["pl.DataFrame", tuple[str, ...]]:
    import polars as pl

    frame = read_table(
        path,
        {"item": item, "cluster": cluster},
        complete=["item", "cluster"],
        options={"item": "--item-column", "cluster": "--cluster-column"},
    )
    # As many hashes as rows prove that all items differ, five times faster than comparing names.
    if frame["item"].hash().n_unique() == frame.height or not (repeats := frame.height - frame["item"].n_unique()):
        return frame, ()
    first = pl.col("cluster", "row").first().over("item").name.prefix("first_")
    again = frame.with_row_index("row", offset=1).filter(pl.col("item").is_duplicated()).with_columns(first)
    torn = again.filter(pl.col("cluster") != pl.col("first_cluster"))
    if torn.height:
        raise InputError(
            f"every item of {shown(Path(path))} must be in one cluster, but rows {torn['first_row'][0]} and "
            f"{torn['row'][0]} (counted from 1 below the header) put one item in two; such items: "
            f"{torn['item'].n_unique()}. Keep the right row of each"
        )
    note = f"Rows of {shown(Path(path))} that repeat an item with the same cluster were left out: {repeats}."
    return frame.unique("item", keep="first", maintain_order=True), (note,)


def _beside(frame: "pl.DataFrame", guess: "pl.DataFrame") -> "pl.DataFrame":
    """Return the frame with the guessed clusters, null for missing items."""
    if guess.height == frame.height:
        # Most often both have the same items: putting both in the order of their hashes pairs them in half the
        # time and memory of a join. Where this is wrong, the names differ, and the join decides.
        place = np.empty(frame.height, np.int64)
        place[frame["item"].hash().arg_sort().to_numpy()] = guess["item"].hash().arg_sort().to_numpy()
        paired = guess[place]
        if (paired["item"] == frame["item"]).all():
            return frame.hstack([paired[:, 1]])
    return frame.join(guess, on="item", how="left", maintain_order="left")


def _unmatched(truth_path: PathLike, path: PathLike, frame: "pl.DataFrame", guessed: int) -> str:
    """Return a phrase with the number of unmatched items, or ""."""
    lacking = frame[:, -1].null_count()
    truth, guess = shown(Path(truth_path)), shown(Path(path))
    extra = guessed - (frame.height - lacking)
    parts = [f"{guess} lacks {lacking} of the {frame.height} items of {truth}"] if lacking else []
    parts += [f"{truth} lacks {extra} of the {guessed} items of {guess}"] if extra else []
    return " and ".join(parts)


def _is_share(text: str) -> bool:
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return False
    try:
        return 0 <= Fraction(text) <= 1
    except ZeroDivisionError:
        return False
