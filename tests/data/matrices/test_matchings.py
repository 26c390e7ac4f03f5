"""Matching attacks from files of every kind; what is wrong is named by file, column and row, and never shown."""

import gzip
import io
import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from unveil.data import samples
from unveil.data.matrices.csv_matrix import written_number
from unveil.data.matrices.dataflows import read_dataflow
from unveil.data.matrices.matchings import (
    read_frequencies,
    read_matchings,
    read_matrix,
    read_ranges,
    read_transactions,
    read_truth,
)
from unveil.errors import InputError
from unveil.guesses.dataflow import Dataflow
from unveil.guesses.matching import Matching
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.guesses.unequal_matching import UnequalMatching

MATRIX = [[0.5, 0.0], [0.25, 2.0]]


def save(folder: Path, content: str | bytes, name: str = "file.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows(matrix: Any) -> Any:
    return (matrix.toarray() if sp.issparse(matrix) else matrix).tolist()


# --- matrices in CSV --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "items", "pseudonyms"),
    [
        ("0.5,0\n0.25,2\n", None, None),
        ("u,v\n0.5,0\n0.25,2\n", None, ("u", "v")),
        ("Flu,0.5,0\nCold,0.25,2\n", ("Flu", "Cold"), None),
        (",u,v\nFlu,0.5,0\nCold,0.25,2\n", ("Flu", "Cold"), ("u", "v")),
        ("item,u,v\nFlu,0.5,0\nCold,0.25,2", ("Flu", "Cold"), ("u", "v")),
        (",0,1\n0,0.5,0\n1,0.25,2\n", ("0", "1"), ("0", "1")),
        ('"",u,"a,""b"""\r\n"Fl\nu",50%, 0 \r\n01,1/4,2e0\r\n', ("Fl\nu", "01"), ("u", 'a,"b"')),
    ],
)
def test_a_matrix_with_and_without_names(tmp_path: Path, text: str, items: Any, pseudonyms: Any) -> None:
    for path in (save(tmp_path, text), save(tmp_path, gzip.compress(text.encode()), "file.csv.gz")):
        file = read_matrix(path)
        assert rows(file.matrix) == MATRIX
        assert (file.items, file.pseudonyms) == (items, pseudonyms)
        attack = Matching.read(path)
        assert (rows(attack.matrix), attack.items, attack.pseudonyms) == (MATRIX, items, pseudonyms)


def test_one_cell_and_tabs_and_very_small_numbers(tmp_path: Path) -> None:
    assert rows(read_matrix(save(tmp_path, "1e-300")).matrix) == [[1e-300]]
    assert read_matrix(save(tmp_path, "u\n1\n")).pseudonyms == ("u",)
    assert read_matrix(save(tmp_path, ",u\nFlu,1\n"))[1:] == (("Flu",), ("u",))
    assert rows(read_matrix(save(tmp_path, "1\t2\n3\t4\n", "file.tsv")).matrix) == [[1, 2], [3, 4]]


@given(st.integers(1, 4), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=24)
def test_every_number_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, n: int, with_entries: bool, with_tokens: bool, seed: int
) -> None:
    matrix = np.exp(np.random.default_rng(seed).normal(0, 100, (n, n)))
    lines = [[*([f"item {k}"] * with_entries), *map(repr, row.tolist())] for k, row in enumerate(matrix)]
    if with_tokens:
        lines.insert(0, [*([""] * with_entries), *(f"pseudonym {k}" for k in range(n))])
    path = save(tmp_path_factory.mktemp("matrix"), "\n".join(",".join(line) for line in lines))
    file = read_matrix(path)
    np.testing.assert_array_equal(file.matrix, matrix)
    assert (file.items is not None, file.pseudonyms is not None) == (with_entries, with_tokens)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("u,v\n", "empty"),
        ("1,2,3\n4,5,6\n", "2 x 3"),  # not two rows with names that are numbers
        ("1,2\n4,5\n7,8\n", "3 x 2"),
        ("1,2,3,4\n4,5,6,7\n", "2 x 4"),
        (",u,v,w\nFlu,1,2,3\nCold,1,2,3\n", "square.* 2 x 3"),
        (",u,v\nFlu,1,2\nCold,1,2\nAsthma,1,2\n", "square.* 3 x 2"),
        (f",u,v\nFlu,1,{MARKER}\nCold,1,2\n", r"row 1, column 2 \(counted from 1, without names\); such cells: 1"),
        (f"1,{MARKER}\n1,2\n", "row 1, column 2"),
        ("1,2\n3,\n", "row 2, column 2"),
        ("1,nan\n3,4\n", "row 1, column 2"),
        ("1,2\n3,nan\n", "row 2, column 2"),
        ("1,2\ninf,4\n", "row 2, column 1"),
        ("1,2\n1/0,4\n", "row 2, column 1"),
        ("1,2\n-3,4\n", "row 2, column 1 .* is negative"),
        (f",{MARKER},{MARKER}\nFlu,1,2\nCold,3,4\n", "columns .* must differ, but number 2 has that of number 1"),
        (f",u,v\n{MARKER},1,2\n{MARKER},3,4\n", "rows .* must differ, but number 2 has that of number 1"),
        (",u,\nFlu,1,2\nCold,3,4\n", "names of the columns .* number 2"),
        (",u,v\n,1,2\nCold,3,4\n", "names of the rows .* number 1"),
        ("1,2\n3\n", "1 field"),
        ("0,0\n1,1\n", "perfect matching.* row 1"),
    ],
)
def test_a_csv_file_that_is_no_attack_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = save(tmp_path, text, "attack.csv")
    said = refusal(lambda: Matching.read(path))
    assert re.search(message, said)
    assert "attack.csv" in said


def test_what_is_no_file_of_a_matrix_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(lambda: read_matrix(tmp_path / "none.csv"))
    assert "folder" in refusal(lambda: read_matrix(tmp_path))
    table = tmp_path / "file.parquet"
    pl.DataFrame({"u": [1.0]}).write_parquet(table)
    assert "this is one of another kind" in refusal(lambda: read_matrix(table))


@pytest.mark.parametrize(
    ("cell", "number"),
    [("33.3%", 0.333), ("1/3", 1 / 3), (" 2 / 4 ", 0.5), ("50 %", 0.5), ("1e2%", 1.0), (".5", 0.5), ("-1/4", -0.25)],
)
def test_percent_and_fractions_are_the_nearest_numbers(cell: str, number: float) -> None:
    assert written_number(cell) == number


@pytest.mark.parametrize("cell", ["", "x", "1/0", "0x1", "1e9999", "١", "1/2/3", "%", "1_0", "9" * 200, "nan"])
def test_anything_else_is_no_number(cell: str) -> None:
    assert written_number(cell) is None


# --- matrices of numpy, scipy and Matrix Market -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, np.dtype(">f8")])
def test_arrays_of_numpy(tmp_path: Path, dtype: Any) -> None:
    given_array = np.array([[1, 0], [3, 2]], dtype)
    np.save(tmp_path / "a.npy", given_array)
    np.save(tmp_path / "f.npy", np.asfortranarray(given_array))
    np.savez(tmp_path / "one.npz", given_array)
    np.savez_compressed(tmp_path / "names.npz", matrix=given_array, items=["Flu", "Cold"], pseudonyms=["u", "v"])
    for name in ("a.npy", "f.npy", "one.npz", "names.npz"):
        file = read_matrix(tmp_path / name)
        assert rows(file.matrix) == [[1, 0], [3, 2]]
        assert isinstance(file.matrix, np.ndarray)
        assert not file.matrix.flags.writeable
        wanted = (("Flu", "Cold"), ("u", "v")) if name == "names.npz" else (None, None)
        assert file[1:] == wanted


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.dia_array, sp.bsr_array])
def test_sparse_matrices_of_scipy_stay_sparse(tmp_path: Path, kind: Callable[[Any], Any]) -> None:
    sp.save_npz(tmp_path / "sparse.npz", kind(np.array(MATRIX)))
    file = read_matrix(tmp_path / "sparse.npz")
    assert isinstance(file.matrix, sp.csr_array)
    assert rows(file.matrix) == MATRIX


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    ("text", "wanted", "sparse"),
    [
        ("%%MatrixMarket matrix coordinate real general\n% note\n2 2 3\n1 1 0.5\n2 1 0.25\n2 2 2\n", MATRIX, True),
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n", [[0, 1], [1, 0]], True),
        ("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 3\n2 2 1\n", [[0, 3], [3, 1]], True),
        ("%%MatrixMarket matrix array real general\n2 2\n0.5\n0.25\n0\n2\n", MATRIX, False),
        ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n0.25\n% note\n2\n", [[1, 0.25], [0.25, 2]], False),
    ],
)
def test_matrix_market(tmp_path: Path, text: str, wanted: Any, sparse: bool, compress: bool) -> None:
    content = gzip.compress(text.encode()) if compress else text
    file = read_matrix(save(tmp_path, content, "matrix.mtx.gz" if compress else "matrix.mtx"))
    assert rows(file.matrix) == wanted
    assert sp.issparse(file.matrix) == sparse


def test_what_scipy_writes_as_matrix_market_is_read(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "matrix.mtx", sp.coo_array(np.array(MATRIX)))
    assert rows(read_matrix(tmp_path / "matrix.mtx").matrix) == MATRIX


class Trap:
    """Would leave a file behind if it were unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    objects = np.empty((1, 1), object)
    objects[0, 0] = Trap(sprung)
    np.save(tmp_path / "a.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "a.npz", objects)
    np.savez(tmp_path / "names.npz", matrix=np.eye(1), items=objects[0])
    np.savez(tmp_path / "format.npz", format=objects, data=objects)
    save(tmp_path, pickle.dumps(Trap(sprung)), "bare.npy")
    for name in ("a.npy", "a.npz", "names.npz", "format.npz", "bare.npy"):
        assert name in refusal(lambda name=name: read_matrix(tmp_path / name))  # type: ignore[misc]
    assert not sprung.exists()


def npy_header(shape: str) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": eval(shape)})  # noqa: S307
    return stream.getvalue()


def archive(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name in names:
            file.writestr(name, b"x")
    return stream.getvalue()


MARKET = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("short.npy", npy_header("(2, 2)") + b"\0" * 8, "damaged"),
        ("huge.npy", npy_header("(10**9, 10**9)"), "at most 10,000 rows"),
        ("long.npy", npy_header("(2, 3)") + b"\0" * 48, "2 x 3"),
        ("flat.npy", npy_header("(4,)") + b"\0" * 32, "square"),
        ("magic.npy", b"\x93NUMPY\x01\x00", "damaged"),
        ("sheet.npz", archive("xl/workbook.xml"), "the workbook .* is damaged"),
        ("cut.npz", archive("a.npy")[:-30], "damaged"),
        ("wrong.npz", archive("a.npy"), "damaged"),
        ("two.npz", archive("a.npy", "b.npy"), "has 2 arrays"),
        ("a.mtx", MARKET + "2 3 1\n1 1 1\n", "2 x 3"),
        ("a.mtx", MARKET + "2 2 1\n5 1 1\n", "damaged"),
        ("a.mtx", MARKET + f"2 2 1\n1 1 {MARKER}\n", "damaged"),
        ("a.mtx", MARKET + "2 2 5\n1 1 1\n", "damaged"),
        ("a.mtx", MARKET + "2 2 2\n1 1 1\n1 1 1\n", "1 lines repeat"),
        ("a.mtx", MARKET + "2 2 2\n1 1 1\n2 2 -1\n", "row 2, column 2 .* negative"),
        ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "complex"),
        ("a.mtx", "%%MatrixMarket matrix array real general\n99999 99999\n", "at most 10,000 rows"),
        ("a.mtx", MARKET + "99999 99999 999999999\n", "at most 100,000,000 values"),
        ("a.mtx", "%%MatrixMarket nonsense\n", "damaged"),
        # The reader of scipy ends the process on these two.
        ("a.mtx", MARKET + "2 2 3\n1 1 0.\0005\n1 2 1\n2 1 1\n", "damaged, cut short"),
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n% x\n3 3 2\n2 1\n3 1e", "damaged, cut short"),
        ("a.mtx", MARKET + "2 2 3\n1 1 1\n", "damaged, cut short"),
        ("a.mtx", MARKET + "2 2 1\n3 1 1\n", "damaged"),
        ("a.mtx", MARKET + "2 2 1\n1.5 1 1\n", "damaged"),
        ("a.mtx", MARKET.replace("general", "hermitian") + "2 2 1\n1 1 1\n", "general or symmetric, but is hermitian"),
        ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n", "damaged"),
        ("a.mtx.gz", gzip.compress(MARKET.encode() * 50)[:-9], "cut short"),
    ],
    # Archives hold the time at which they were made, which must not be in the name of a test.
    ids=lambda value: "" if isinstance(value, bytes) else None,
)  # fmt: skip
def test_other_files_that_hold_no_attack_are_refused(tmp_path: Path, name: str, content: Any, message: str) -> None:
    path = save(tmp_path, content, name)
    said = refusal(lambda: Matching.read(path))
    assert re.search(message, said)
    assert name in said


def test_a_sparse_file_that_points_outside_itself_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", format="csr", shape=[2, 2], data=[1.0, 1.0], indices=[0, 9], indptr=[0, 1, 2])
    assert "a.npz" in refusal(lambda: read_matrix(tmp_path / "a.npz"))


# --- truth ------------------------------------------------------------------------------------------------------------

NAMED = Matching.from_matrix(np.ones((3, 3)), items=["a", "b", "3"], pseudonyms=["x", "y", "z"])
NAMELESS = Matching(np.ones((3, 3)))


def test_truth_by_name_and_by_number(tmp_path: Path) -> None:
    assert read_truth(save(tmp_path, "pseudonym,item\ny,3\nz,a\nx,b\n"), NAMED).tolist() == [2, 0, 1]
    assert read_truth(save(tmp_path, "item,pseudonym\n1,3\n2,1\n3,2\n"), NAMELESS).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("attack", "text", "message"),
    [
        (NAMED, f"a,x\n{MARKER},y\n3,z\n", "column 'item' .* row 2"),
        (NAMED, f"a,x\nb,y\n3,{MARKER}\n", "column 'pseudonym' .* row 3"),
        (NAMED, "a,x\nb,y\n", "lacks the pseudonym of 1"),
        (NAMED, "a,x\nb,x\n3,z\n", "another pseudonym, but row 2 has that of row 1"),
        (NAMED, "a,x\nb,y\na,z\n", "another item, but row 3 has that of row 1"),
        (NAMED, "a,x\nb,\n3,z\n", "column 'pseudonym' .* row 2"),
        (NAMELESS, "1,1\n2,2\n4,3\n", "whole number from 1 to 3.* row 3"),
        (NAMELESS, "0,1\n2,2\n3,3\n", "row 1"),
        (NAMELESS, f"1,1\n2,2\n3,{MARKER}\n", "column 'pseudonym' .* row 3"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(tmp_path: Path, attack: Matching, text: str, message: str) -> None:
    path = save(tmp_path, "item,pseudonym\n" + text, "truth.csv")
    said = refusal(lambda: read_truth(path, attack))
    assert re.search(message, said)
    assert "truth.csv" in said


# --- ranges, frequencies and transactions -----------------------------------------------------------------------------


def test_ranges_and_frequencies(tmp_path: Path) -> None:
    ranges = read_ranges(save(tmp_path, "item,low,high\n01,0.1,25%\n1,1/3,1/3\n"))
    assert ranges.items == ("01", "1")
    assert (ranges.low.tolist(), ranges.high.tolist()) == ([0.1, 1 / 3], [0.25, 1 / 3])
    seen = read_frequencies(save(tmp_path, "frequency,pseudonym\n0,v\n20%,u\n"))
    assert (seen.pseudonyms, seen.frequency.tolist(), seen.notes) == (("v", "u"), [0.0, 0.2], ())


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_ranges, "item,low,high\na,1,2\nb,3,2\n", "'low' .* at most 'high', .* row 2"),
        (read_ranges, f"item,low,high\na,{MARKER},2\n", "'low' .* number .* row 1"),
        (read_ranges, "item,low,high\na,1,\n", "'high' .* row 1"),
        (read_ranges, "item,low,high\na,1,inf\n", "'high' .* row 1"),
        (read_ranges, f"item,low,high\n{MARKER},1,2\n{MARKER},1,2\n", "row 2 has that of row 1"),
        (read_ranges, "item,low\na,1\n", "'high'"),
        (read_ranges, "item,low,high\n", "header only"),
        (read_frequencies, "pseudonym,frequency\nu,1\nv,\n", "'frequency' .* row 2"),
        (read_frequencies, "pseudonym,frequency\nu,-1\n", "'frequency' .* at least 0.* row 1"),
        (read_frequencies, f"pseudonym,frequency\nu,{MARKER}\n", "'frequency' .* row 1"),
        (read_frequencies, f"pseudonym,frequency\n{MARKER},1\n{MARKER},2\n", "row 2 has that of row 1"),
        (read_transactions, "transaction,pseudonym\n1,u\n,v\n", "'transaction' .* row 2"),
        (read_transactions, "transaction,pseudonym\n1,u\n1,\n", "'pseudonym' .* row 2"),
        (read_transactions, "transaction,pseudonym\n1,\n2,\n", "has a pseudonym"),
    ],
)
def test_what_says_nothing_of_frequencies_is_refused(
    tmp_path: Path, read: Callable[[Path], Any], text: str, message: str
) -> None:
    path = save(tmp_path, text, "known.csv")
    said = refusal(lambda: read(path))
    assert re.search(message, said)
    assert "known.csv" in said


def test_transactions_are_sets_and_may_be_empty(tmp_path: Path) -> None:
    seen = read_transactions(save(tmp_path, "transaction,pseudonym\n1,v\n2,u\n1,v\n1,u\n3,\n4,u\n"))
    assert (seen.pseudonyms, seen.frequency.tolist()) == (("u", "v"), [0.75, 0.25])
    assert [re.sub(r"'.*'", "FILE", note) for note in seen.notes] == [
        "Rows of FILE that repeat a pseudonym of the same transaction were left out: 1.",
        "Transactions of FILE without pseudonyms count among all 4: 1.",
    ]


def test_shares_meet_the_ends_of_ranges_exactly(tmp_path: Path) -> None:
    text = "transaction,pseudonym\n" + "".join(f"{k},{'u' if k < 33 else 'v'}\n" for k in range(1000))
    seen = read_transactions(save(tmp_path, text))
    ranges = read_ranges(save(tmp_path, "item,low,high\na,3.3%,3.3%\nb,967/1000,0.967\n", "ranges.csv"))
    assert rows(Matching.from_ranges(ranges.low, ranges.high, seen.frequency).matrix) == [[1, 0], [0, 1]]


# --- explicit matchings -----------------------------------------------------------------------------------------------


def test_matchings_one_in_each_row(tmp_path: Path) -> None:
    path = save(tmp_path, "probability,Flu,Cold\n25%,v,u\n0.75,u,v\n")
    assert read_matchings(path).matchings.tolist() == [[1, 0], [0, 1]]
    guess = MatchingDistribution.read(path)
    assert (guess.items, guess.pseudonyms) == (("Flu", "Cold"), ("u", "v"))
    assert (guess.matchings.tolist(), guess.probability.tolist()) == ([[0, 1], [1, 0]], [0.75, 0.25])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("probability,a,b\n0.5,u,v\n0.4,v,u\n", "sum to 0.9, not 1"),
        (f"probability,a,b\n0.5,u,v\n0.5,u,{MARKER}\n", "row 2"),
        (f"probability,a,b\n1,{MARKER},{MARKER}\n", "row 1"),
        (f"probability,a,b\n{MARKER},u,v\n", "'probability' .* row 1"),
        ("probability,a,b\n-1,u,v\n", "'probability' .* row 1"),
        ("probability,a,b\n1,u,\n", "'b' .* row 1"),
        ("chance,a,b\n1,u,v\n", "'probability'"),
        ("probability\n1\n", "one column per item"),
    ],
)
def test_a_file_that_is_no_distribution_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = save(tmp_path, text, "matchings.csv")
    said = refusal(lambda: MatchingDistribution.read(path))
    assert re.search(message, said)
    assert "matchings.csv" in said


# --- networks ---------------------------------------------------------------------------------------------------------

NETWORK = """
items = ["Flu", "Viral Fever", "Cold", "Asthma", "Tuberculosis"]
pseudonyms = ["u", "v", "x", "y", "z"]
[[node]]
name = "first"
inputs = ["Flu", "Viral Fever", "inner"]
outputs = ["x", "y", "z"]
matrix = [["1/3", "1/3", "1/3"], ["1/3", "1/3", "1/3"], ["1/3", "1/3", "1/3"]]
[[node]]
inputs = ["Cold", "Asthma", "Tuberculosis"]
outputs = ["u", "v", "inner"]
"""


def test_figure_3_3_as_toml_and_csv(tmp_path: Path) -> None:
    flow = Dataflow.read(save(tmp_path, NETWORK, "network.toml"))
    upper, lower = [0, 0, 3, 3, 3], [3, 3, 1, 1, 1]
    np.testing.assert_allclose(flow.matrix * 9, [upper, upper, lower, lower, lower])
    links = [("1", a, b) for a in ("Flu", "Viral Fever", "inner") for b in ("x", "y", "z")]
    links += [("2", a, b) for a in ("Cold", "Asthma", "Tuberculosis") for b in ("u", "v", "inner")]
    text = "node,input,output,chance\n" + "".join(f"{','.join(link)},1/3\n" for link in links)
    again = Dataflow.read(save(tmp_path, text))
    assert (again.items, again.pseudonyms) == (flow.items, ("x", "y", "z", "u", "v"))
    np.testing.assert_allclose(again.matrix[:, [3, 4, 0, 1, 2]], flow.matrix, atol=1e-15)


def test_names_of_earlier_versions_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "names.npz", matrix=np.eye(2), entries=["Flu", "Cold"], tokens=["u", "v"])
    assert read_matrix(tmp_path / "names.npz")[1:] == (("Flu", "Cold"), ("u", "v"))
    old = NETWORK.replace("items =", "entries =").replace("pseudonyms =", "tokens =")
    assert Dataflow.read(save(tmp_path, old, "old.toml")).pseudonyms == ("u", "v", "x", "y", "z")
    truth = save(tmp_path, "entry,token\nFlu,v\nCold,u\n", "truth.csv")
    assert read_truth(truth, Matching(np.ones((2, 2)), ("Flu", "Cold"), ("u", "v"))).tolist() == [1, 0]


def test_the_embedded_network_has_three_nodes() -> None:
    file = read_dataflow(samples.path("matching_dataflow.csv"))
    assert [len(inputs) for inputs, _, _ in file.nodes] == [3, 3, 2]
    assert (file.items, file.pseudonyms) == (None, None)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "[[node", "must be TOML"),
        ("a.toml", "items = ['a']", "must have \\[\\[node\\]\\]"),
        ("a.toml", "node = 3", "must have \\[\\[node\\]\\]"),
        ("a.toml", "[[node]]\ninput = ['a']\n", "at node 1 .* Did you mean 'inputs'"),
        ("a.toml", "[[node]]\ninputs = ['a']\n", "'outputs' of .* at node 1"),
        ("a.toml", "[[node]]\ninputs = 'a'\noutputs = ['u']\n", "'inputs' of .* list of names"),
        ("a.toml", "[[node]]\ninputs = ['a']\noutputs = ['u']\nmatrix = 3\n", "'matrix' .* at node 1"),
        ("a.toml", f"[[node]]\ninputs = ['a']\noutputs = ['u']\nmatrix = [['{MARKER}']]\n", "'matrix' .* at node 1"),
        ("a.toml", "[[node]]\ninputs = ['a']\noutputs = ['u']\nmatrix = [[0.5]]\n", "at node 1 .*sum to 1"),
        ("a.toml", f"[[node]]\ninputs = ['{MARKER}', 'b']\noutputs = ['u']\n", "at node 1 .*2 inputs and 1 outputs"),
        ("a.toml", f"[[node]]\ninputs = ['{MARKER}']\noutputs = ['{MARKER}']\n", "has a loop"),
        ("a.csv", "node,input\n1,a\n", "'output'"),
        ("a.csv", "node,input,output\n1,a,\n", "'output' .* row 1"),
        ("a.csv", f"node,input,output\n1,{MARKER},u\n1,{MARKER},u\n", "row 2 has that of row 1"),
        ("a.csv", f"node,input,output,chance\n1,a,u,{MARKER}\n", "'chance' .* row 1"),
        ("a.csv", "node,input,output,chance\n1,a,u,2\n", "'chance' .* row 1"),
        ("a.csv", "node,input,output,chance\n1,a,u,0.5\n", "at node 1 .*sum to 1"),
    ],
)
def test_a_file_that_is_no_network_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = save(tmp_path, text, name)
    said = refusal(lambda: Dataflow.read(path))
    assert re.search(message, said)
    assert name in said


# --- more rows than columns, or fewer ---------------------------------------------------------------------------------


def test_a_matrix_that_is_not_square_is_read_where_it_may_be(tmp_path: Path) -> None:
    expected = [[0.5, 0.0, 2.0], [1.0, 1.0, 0.25]]
    files = {
        name: tmp_path / name for name in ("plain.csv", "named.csv", "numbers.csv", "m.npy", "s.npz", "m.mtx", "a.mtx")
    }
    files["plain.csv"].write_text("0.5,0,2\n1,1,1/4\n")
    files["named.csv"].write_text("item,u,v,w\nFlu,0.5,0,2\nCold,1,1,25%\n")
    files["numbers.csv"].write_text(",7,8,9\n1,0.5,0,2\n2,1,1,0.25\n")
    np.save(files["m.npy"], np.array(expected))
    sp.save_npz(files["s.npz"], sp.csr_array(np.array(expected)))
    scipy.io.mmwrite(files["m.mtx"], sp.coo_array(np.array(expected)))
    scipy.io.mmwrite(files["a.mtx"], np.array(expected))
    for file in files.values():
        found = read_matrix(file, square=False)
        matrix = found.matrix if isinstance(found.matrix, np.ndarray) else found.matrix.toarray()
        assert matrix.tolist() == expected, file
        with pytest.raises(InputError, match="must be square"):
            read_matrix(file)
    assert read_matrix(files["named.csv"], square=False)[1:] == (("Flu", "Cold"), ("u", "v", "w"))
    assert read_matrix(files["numbers.csv"], square=False)[1:] == (("1", "2"), ("7", "8", "9"))
    assert read_matrix(files["plain.csv"], square=False)[1:] == (None, None)


def test_the_truth_of_unequal_sizes_may_leave_entries_out(tmp_path: Path) -> None:
    guess = UnequalMatching(np.ones((3, 2)), ("Flu", "Cold", "Gout"), ("u", "v"))
    file = tmp_path / "truth.csv"
    file.write_text("item,pseudonym\nGout,u\nCold,\n")
    assert read_truth(file, guess).tolist() == [-1, -1, 0]
    for content, said in (
        ("Gout,u\nCold,u\n", "row 2"),
        ("Gout,x\n", "name a pseudonym"),
        ("Gout,u\nGout,\n", "row 2"),
    ):
        file.write_text(f"item,pseudonym\n{content}")
        with pytest.raises(InputError, match=said):
            read_truth(file, guess)
