from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from unveil.data import samples
from unveil.data.partitions import read_partition, read_partitions, read_policy, read_weights


def make(folder: Path, text: str, name: str = "file.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def partition_file(folder: Path, name: str, rows: list[tuple[str, str]]) -> Path:
    return make(folder, "item,cluster\n" + "".join(f"{item},{cluster}\n" for item, cluster in rows), name)


def test_columns_can_be_called_otherwise(tmp_path: Path) -> None:
    path = make(tmp_path, "who,what\nx,01\nx,1\n")
    assert read_partition(path, item="what", cluster="who").rows() == [("01", "x"), ("1", "x")]
    message = refusal(lambda: read_partition(path, item="what"))
    assert "column 'cluster'" in message
    assert "--cluster" in message
    assert "--item" not in message


def test_a_repeated_row_counts_once_and_is_noted(tmp_path: Path) -> None:
    truth = partition_file(tmp_path, "truth.csv", [("b", "x"), ("a", "y"), ("b", "x"), ("b", "x")])
    guess = partition_file(tmp_path, "guess.csv", [("a", "1"), ("b", "1")])
    frame, notes = read_partitions(truth, [guess])
    assert frame.rows() == [("b", "x", "1"), ("a", "y", "1")]
    assert notes == (f"Rows of {str(truth)!r} that repeat an item with the same cluster were left out: 2.",)
    assert read_partition(truth).rows() == [("b", "x"), ("a", "y")]
    many = [(f"i{n % 5000}", "x") for n in range(6000)]
    assert read_partition(partition_file(tmp_path, "many.csv", many)).rows() == many[:5000]


def test_an_item_in_two_clusters_is_refused_with_both_rows(tmp_path: Path) -> None:
    rows = [("SECRET1", "x"), ("SECRET2", "x"), ("SECRET1", "x"), ("SECRET3", "x"), ("SECRET2", "y"), ("SECRET1", "z")]
    message = refusal(lambda: read_partition(partition_file(tmp_path, "truth.csv", rows)))
    assert "truth.csv" in message
    assert "rows 2 and 5 " in message
    assert "such items: 2." in message


@pytest.mark.parametrize(("row", "column"), [(",x", "item"), ("SECRET,", "cluster")])
def test_an_empty_name_is_refused_with_its_row(tmp_path: Path, row: str, column: str) -> None:
    message = refusal(lambda: read_partition(make(tmp_path, f"item,cluster\nSECRET,x\n{row}\n{row}\n")))
    assert f"column '{column}'" in message
    assert "row 2 " in message
    assert "such rows: 2)" in message


def test_items_in_one_file_only_are_refused_or_dropped_and_noted(tmp_path: Path) -> None:
    truth = partition_file(tmp_path, "truth.csv", [("SECRET1", "x"), ("b", "x"), ("c", "y")])
    fewer = partition_file(tmp_path, "fewer.csv", [("c", "1"), ("b", "2")])
    other = partition_file(tmp_path, "other.csv", [("SECRET4", "1"), ("SECRET1", "1"), ("c", "1"), ("SECRET5", "1")])
    message = refusal(lambda: read_partitions(truth, [truth, fewer]))
    assert f"{str(fewer)!r} lacks 1 of the 3 items of {str(truth)!r}." in message
    assert "drop unmatched items" in message
    message = refusal(lambda: read_partitions(truth, [other]))
    assert f"lacks 1 of the 3 items of {str(truth)!r} and {str(truth)!r} lacks 2 of the 4 items" in message
    frame, notes = read_partitions(truth, [fewer, truth, other], drop_unmatched=True)
    assert frame.columns == ["item", "truth", "guess_0", "guess_1", "guess_2"]
    assert frame.rows() == [("c", "y", "1", "y", "1")]
    assert [MARKER in note for note in notes] == [False, False]
    assert "lacks 1 of the 3 items" in notes[0]
    assert "lacks 2 of the 4 items" in notes[1]


def test_files_without_a_common_item_are_refused(tmp_path: Path) -> None:
    truth = partition_file(tmp_path, "truth.csv", [("SECRET1", "x")])
    guess = partition_file(tmp_path, "guess.csv", [("SECRET2", "x")])
    assert "have none" in refusal(lambda: read_partitions(truth, [guess], drop_unmatched=True))
    assert "at least one" in refusal(lambda: read_partitions(truth, []))


ASSIGNMENTS = st.dictionaries(st.sampled_from([f"i{n}" for n in range(12)]), st.sampled_from("xyz"), min_size=1)


@pytest.mark.parametrize("hashes_collide", [False, True])
@settings(deadline=None, max_examples=24)
@given(truth=ASSIGNMENTS, guesses=st.lists(ASSIGNMENTS, min_size=1, max_size=3), data=st.data())
def test_files_are_matched_as_dictionaries_are(
    tmp_path_factory: pytest.TempPathFactory,
    hashes_collide: bool,
    truth: dict[str, str],
    guesses: list[dict[str, str]],
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    if data.draw(st.booleans()):  # independent draws hardly ever have the same items
        guesses = [
            {item: guess.get(item, "w") for item in data.draw(st.permutations(list(truth)))} for guess in guesses
        ]
    paths = [partition_file(folder, f"{i}.csv", list(each.items())) for i, each in enumerate([truth, *guesses])]
    expected = [
        (item, cluster, *(guess[item] for guess in guesses))
        for item, cluster in truth.items()
        if all(item in guess for guess in guesses)
    ]
    matched = all(guess.keys() == truth.keys() for guess in guesses)
    with pytest.MonkeyPatch.context() as patch:
        if hashes_collide:
            patch.setattr(pl.Series, "hash", lambda series: pl.Series([0] * series.len(), dtype=pl.UInt64))
        if expected:
            frame, notes = read_partitions(paths[0], paths[1:], drop_unmatched=True)
            assert frame.rows() == expected
            assert (notes == ()) == matched
        if not matched:
            refusal(lambda: read_partitions(paths[0], paths[1:]))


def test_many_clusters_and_long_files_are_matched(tmp_path: Path) -> None:
    n = 30_000
    truth, guess = tmp_path / "truth.parquet", tmp_path / "guess.csv"
    pl.DataFrame({"item": range(n), "cluster": range(n)}).write_parquet(truth)
    pl.DataFrame({"item": range(n - 1, -1, -1), "cluster": range(n)}).write_csv(guess)
    frame, notes = read_partitions(truth, [guess])
    assert notes == ()
    assert frame["truth"].cast(pl.Int64).to_list() == list(range(n))
    assert frame["guess_0"].cast(pl.Int64).to_list() == list(range(n - 1, -1, -1))


def test_a_policy_is_read_exactly_as_written(tmp_path: Path) -> None:
    text = (
        "contamination_desirable,alpha,comment,beta,subject\n"
        'YES,1/3,SECRET,.9,"a,b"\n no,0.1,,1e-3,01\n1,,,1.,1\n0,+1,,0/7,x\nTrue,,,,y\nfalse,,,,z\n,0.50,,,w\n'
    )
    frame = read_policy(make(tmp_path, text))
    assert frame.columns == ["subject", "alpha", "beta", "contamination_desirable"]
    assert frame.rows() == [
        ("a,b", "1/3", ".9", True),
        ("01", "0.1", "1e-3", False),
        ("1", None, "1.", True),
        ("x", "+1", "0/7", False),
        ("y", None, None, True),
        ("z", None, None, False),
        ("w", "0.50", None, None),
    ]
    assert [Fraction(text) for text in frame["alpha"].drop_nulls()] == [
        Fraction(1, 3),
        Fraction(1, 10),
        1,
        Fraction(1, 2),
    ]


def test_a_policy_may_name_subjects_alone_and_come_as_parquet(tmp_path: Path) -> None:
    assert read_policy(make(tmp_path, "subject\na\n")).rows() == [("a", None, None, None)]
    path = tmp_path / "policy.parquet"
    pl.DataFrame({"subject": [7], "beta": [0.1], "contamination_desirable": [True]}).write_parquet(path)
    assert read_policy(path).rows() == [("7", None, "0.1", True)]


NO_SHARES = [
    "SECRET",
    "1.5",
    "-0.1",
    "3/2",
    "1/0",
    "nan",
    "inf",
    "1e999999999",
    "1e-9999",
    "1_0/20",
    "½",
    "0." + "1" * 200,
]


@pytest.mark.parametrize("cell", NO_SHARES)
@pytest.mark.parametrize("column", ["alpha", "beta"])
def test_a_policy_with_a_wrong_number_is_refused_with_its_row(tmp_path: Path, column: str, cell: str) -> None:
    message = refusal(lambda: read_policy(make(tmp_path, f"subject,{column}\na,\nb,1\nc,{cell}\nd,2\n", "policy.csv")))
    assert f"column '{column}' of" in message
    assert "policy.csv" in message
    assert "row 3 " in message
    assert "such rows: 2)" in message
    assert cell not in message.replace(str(tmp_path), "")


def test_a_policy_with_other_faults_is_refused(tmp_path: Path) -> None:
    message = refusal(lambda: read_policy(make(tmp_path, "subject,contamination_desirable\na,yes\nb,SECRET\n")))
    assert "column 'contamination_desirable'" in message
    assert "row 2 " in message
    message = refusal(lambda: read_policy(make(tmp_path, "subject,alpha\nSECRET,1\nb,1\nSECRET,0\nSECRET,1\n")))
    assert "row 3 has that of row 1 " in message
    assert "such rows: 2)" in message
    assert "column 'subject'" in refusal(lambda: read_policy(make(tmp_path, "subject,alpha\n,1\n")))
    assert "'subject'" in refusal(lambda: read_policy(make(tmp_path, "name,alpha\nSECRET,1\n")))
    assert "'Beta'?" in refusal(lambda: read_policy(make(tmp_path, "subject,Beta\nSECRET,1\n")))


def test_weights_are_read_for_items_or_for_items_of_subjects(tmp_path: Path) -> None:
    frame = read_weights(make(tmp_path, "weight,item\n0.1,01\n 1 ,1\n0,x\n1e-3,y\n"))
    assert frame.columns == ["item", "weight"]
    assert frame.rows() == [("01", 0.1), ("1", 1.0), ("x", 0.0), ("y", 0.001)]
    frame = read_weights(make(tmp_path, "item,weight,subject\na,0.5,s\na,0.25,t\n"))
    assert frame.columns == ["subject", "item", "weight"]
    assert frame.rows() == [("s", "a", 0.5), ("t", "a", 0.25)]


def test_a_weight_may_be_a_fraction_as_alpha_may(tmp_path: Path) -> None:
    assert read_weights(make(tmp_path, "item,weight\na,1/8\nb, 3/4 \n"))["weight"].to_list() == [0.125, 0.75]


@pytest.mark.parametrize("cell", ["NaN", "-1"])
def test_the_advice_on_a_wrong_weight_does_not_make_the_item_count_in_full(tmp_path: Path, cell: str) -> None:
    message = refusal(lambda: read_weights(make(tmp_path, f"item,weight\nb,{cell}\n")))
    assert message.endswith("Write such a number; items without a row have weight 1")


@pytest.mark.parametrize("cell", ["SECRET", "1.01", "-0.5", "nan", "inf", "", "3/2", "1/0"])
def test_a_wrong_weight_is_refused_with_its_row(tmp_path: Path, cell: str) -> None:
    message = refusal(lambda: read_weights(make(tmp_path, f"item,weight\nSECRET,0.5\nb,{cell}\n")))
    assert "column 'weight'" in message
    assert "row 2 " in message


def test_an_item_weighed_twice_is_refused(tmp_path: Path) -> None:
    message = refusal(lambda: read_weights(make(tmp_path, "item,weight\na,1\nSECRET,1\nb,1\nSECRET,1\n")))
    assert "another item, but row 4 has that of row 2 " in message
    text = "subject,item,weight\ns,SECRET,1\nt,SECRET,1\nt,SECRET,0\n"
    assert "another subject and item, but row 3 has that of row 2 " in refusal(
        lambda: read_weights(make(tmp_path, text))
    )


# Rows are the adversary's clusters; columns are triangles, squares, circles and stars.
CAREFUL = [(0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (0, 0, 3, 0), (1, 0, 0, 0), (1, 0, 1, 0), (3, 2, 0, 0)]
BOLD = [(0, 0, 5, 3), (1, 4, 1, 1), (5, 2, 0, 2)]


def test_the_examples_are_the_partitions_of_section_4() -> None:
    names = ["partition_truth.csv", "partition_guess_careful.csv", "partition_guess_bold.csv"]
    truth, *guesses = [samples.path(name) for name in names]
    frame, notes = read_partitions(truth, guesses)
    assert notes == ()
    assert frame.height == 24
    subjects = ["triangles", "squares", "circles", "stars"]
    for column, expected in (("guess_0", CAREFUL), ("guess_1", BOLD)):
        cells = Counter(zip(frame[column], frame["truth"], strict=True))
        clusters = sorted(set(frame[column]))
        assert [tuple(cells[cluster, subject] for subject in subjects) for cluster in clusters] == expected


def test_an_example_that_is_not_there_is_refused() -> None:
    assert "partition_truth.csv" in refusal(lambda: samples.path("../__init__.py"))
