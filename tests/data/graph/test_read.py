import bz2
import gzip
import io
import os
import tarfile
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import refusal
from tests.oracles.edge_list import SlowGraph, read_slowly, slow_graph
from unveil.data.graph import Graph, _edge_layout, _edge_lines
from unveil.data.graph.read import read_graph


def make(folder: Path, text: str | bytes, name: str = "edges.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def named_edges(graph: Graph) -> set[frozenset[str]]:
    one, other = graph.ends
    return {frozenset((graph.name_of(int(a)), graph.name_of(int(b)))) for a, b in zip(one, other, strict=True)}


def agrees(graph: Graph, slow: SlowGraph) -> None:
    assert [graph.name_of(node) for node in range(graph.nodes)] == slow.names
    assert named_edges(graph) == slow.edges
    text = "; ".join(graph.notes)
    for count, words in ((slow.loops, " loop"), (slow.repeats, " repeated edge"), (slow.both_ways, " both directions")):
        assert (words in text) == (count > 0)
    for count, start in ((slow.loops, "loop"), (slow.repeats, "repeated edge")):
        if count:
            assert f"{count} {start}{' was' if count == 1 else 's were'} left out" in graph.notes


TRIANGLE = {frozenset(pair) for pair in (("1", "2"), ("2", "10"), ("1", "10"))}
SNAP = "# Undirected graph: triangle\n# FromNodeId\tToNodeId\n1\t2\n2\t10\n10\t1\n"
KONECT = "% sym unweighted\n% 3 3 3\n1 2\n2 10\n10 1\n"


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (SNAP, ()),
        (SNAP.replace("\n", "\r\n"), ()),
        ("\ufeff" + SNAP, ()),
        ("1 2\n\n  2   10 \n\t10\t 1", ()),
        ("1 2\n# a remark between\n2 10\n%\n10 1\n\n", ()),
        (KONECT, ()),
        ("source,target\n1,2\n2,10\n10,1\n", ()),
        ("# a remark\nFrom,To\r\n1,2\r\n2,10\r\n10,1\r\n", ()),
        ("node_1, node_2\n1, 2\n2, 10\n10, 1\n", ()),
        ('"Source","Target"\n"1","2"\n2,10\n10,1\n', ()),
        ("id,weight,from,to\n7,3,1,2\n8,1,2,10\n9,1,10,1\n", ("columns 'id', 'weight' were ignored",)),
        ("src,dst,when\n1,2,5\n2,10,5\n10,1,6\n", ("the column 'when' was ignored",)),
        ("1,2\n2,10\n10,1\n", ("the file has no header: its first line was read as an edge",)),
        ("# why\n1, 2\n2, 10\n10, 1\n", ("the file has no header: its first line was read as an edge",)),
        ("source target\n1 2\n2 10\n10 1\n", ("the first line was read as a header",)),
        ("source\ttarget\n1\t2\n2\t10\n10\t1\n", ("the first line was read as a header",)),
        (
            "Id Source Target\n5 1 2\n6 2 10\n7 10 1\n",
            ("the first line was read as a header", "the column 'Id' was ignored"),
        ),
        (
            "weight  to from\n5 1 2\n6 2  10\n# 1 2 3 4\n7 10 1\n",
            ("the first line was read as a header", "the column 'weight' was ignored"),
        ),
        (
            "Id Label Type Source Weight Target\n5 a x 1 7 2\n6 b x 2 7 10\n7 c x 10 7 1\n",
            ("the first line was read as a header", "columns 'Id', 'Label', 'Type', 'Weight' were ignored"),
        ),
        (
            "Label\tSource\tTarget\tW\r\na b\t1\t2\t\r\n\t2\t10\t5\r\n\r\nc\t10\t1\t5\r\n",
            ("the first line was read as a header", "columns 'Label', 'W' were ignored"),
        ),
        ("\tsource\ttarget\n0\t1\t2\n1\t2\t10\n2\t10\t1\n", ("the first line was read as a header",)),
        ("i,j,k\n1,2,x\n2,10,x\n10,1,x\n", ("the column 'k' was ignored",)),
        ("1 2 0.5\n2 10 1e3\n10 1 -2\n", ("the third column (weights or times) was ignored",)),
        ("1 2 1 5\n2 10 1 6\n10 1 1 7\n", ("the third and fourth columns (weights or times) were ignored",)),
        (
            "1,2,1,5\n2,10,,6\n10,1,1,7\n",
            (
                "the file has no header: its first line was read as an edge",
                "the third and fourth columns (weights or times) were ignored",
            ),
        ),
        (
            "% sym signed\n1 2 1 5\n2 10 -1 6\n10 1 1 7\n",
            ("weights were ignored (the header calls the edges signed)", "times were ignored"),
        ),
        (
            "% asym unweighted\n1 2\n2 10\n10 1\n2 1\n",
            ("the directions of edges were dropped: 1 of 3 edges occurred in both",),
        ),
        (
            "# Directed graph (each line once)\n1 2\n2 10\n10 1\n",
            ("the directions of edges were dropped: 0 of 3 edges",),
        ),
    ],
)
def test_one_triangle_in_many_formats(tmp_path: Path, text: str, notes: tuple[str, ...]) -> None:
    for name, content in (("edges", text.encode()), ("edges.tsv", gzip.compress(text.encode()))):
        graph = read_graph(make(tmp_path, content, name))
        assert graph.name == "edges graph"
        assert list(graph.names if graph.names is not None else []) == ["1", "2", "10"]
        assert named_edges(graph) == TRIANGLE
        assert len(graph.notes) == len(notes)
        assert all(said.startswith(want) for said, want in zip(graph.notes, notes, strict=True))
    assert read_graph(make(tmp_path, bz2.compress(text.encode()), "edges.bz2"), name="mine").name == "mine"


def archive(files: dict[str, bytes], mode: str) -> bytes:
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode=mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return memory.getvalue()


@pytest.mark.parametrize("mode", ["w:bz2", "w:gz", "w"])
def test_a_konect_archive_is_read_where_it_is(tmp_path: Path, mode: str) -> None:
    files = {"tri/README.tri": b"1 2\n", "tri/meta.tri": b"name: x\n", "tri/out.tri": KONECT.encode()}
    path = make(tmp_path, archive(files, mode), "tri.tar.bz2")
    graph = read_graph(path)
    assert named_edges(graph) == TRIANGLE
    assert graph.name == "tri graph"
    assert [entry.name for entry in tmp_path.iterdir()] == ["tri.tar.bz2"]
    # The edges begin after three headers and two small files of 512 bytes each.
    content = path.read_bytes()[: 5 * 512 + 10] if mode == "w" else path.read_bytes()[:-20]
    assert "cut short or damaged" in refusal(lambda: read_graph(make(tmp_path, content, "cut.tar")))


@pytest.mark.parametrize("names", [(), ("tri/edges.txt",), ("a/out.a", "b/out.b")])
def test_an_archive_must_hold_one_file_of_edges(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = make(tmp_path, archive(dict.fromkeys(("tri/README", *names), b"1 2\n"), "w:gz"), "a.tar.gz")
    message = refusal(lambda: read_graph(path))
    assert f"of its {1 + len(names)} files {sum('out.' in name for name in names)} are called so" in message


def test_a_link_in_an_archive_is_no_file_of_edges(tmp_path: Path) -> None:
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as tar:
        entry = tarfile.TarInfo("tri/out.tri")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(entry)
    assert "of its 0 files 0" in refusal(lambda: read_graph(make(tmp_path, memory.getvalue(), "a.tar")))


@pytest.mark.parametrize("packed", [False, True])
def test_a_compressed_file_cannot_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    text = b"1 2\n" * 3000
    path = make(tmp_path, archive({"x/out.x": text}, "w:bz2") if packed else gzip.compress(text), "x.tar.bz2")
    assert read_graph(path).notes == ("2,999 repeated edges were left out",)
    monkeypatch.setattr(_edge_lines, "LARGEST", 10_000)
    monkeypatch.setattr(_edge_lines, "HEAD", 1000)
    monkeypatch.setattr(_edge_lines, "_BLOCK", 1000)
    assert "at most 10,000 bytes" in refusal(lambda: read_graph(path))


def test_a_header_that_promises_a_huge_file_is_refused_before_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_edge_lines, "LARGEST", 20_000)
    entry = tarfile.TarInfo("x/out.x")
    entry.size = 10_000_000_000
    damaged = bz2.compress(entry.tobuf() + b"1 2\n" * 128)
    message = refusal(lambda: read_graph(make(tmp_path, damaged, "x.tar.bz2")))
    assert "at most 20,000 bytes, but one has 10,000,000,000" in message


NAMES = st.sampled_from(["1", "2", "3", "10", "-4", "007", "7", "x", "Zoë", "a,b", '"', "12345678901234567890"])
GAPS = st.sampled_from([" ", "\t", "   ", " \t"])
LINES = st.one_of(
    st.tuples(NAMES, GAPS, NAMES).map("".join),
    st.tuples(st.sampled_from(["1", "2", "3"]), GAPS, st.sampled_from(["1", "2", "3"])).map("".join),
    st.sampled_from(["", "  ", "# remark", "%", "  # 1 2 3 4 5", "\r"]),
)


@given(lines=st.lists(LINES, max_size=12), block=st.integers(4, 40), last=st.sampled_from(["", "\n", "\r\n"]))
@settings(deadline=None, max_examples=22)
def test_lines_agree_with_a_slow_reader(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], block: int, last: str
) -> None:
    text = "\n".join(["1 2", *lines]) + last
    path = make(tmp_path_factory.mktemp("lines"), text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_edge_lines, "_BLOCK", block)
        agrees(read_graph(path), read_slowly(text))


CELLS = st.sampled_from(["1", "2", "10", "007", "x", "y z", 'a,"b"', "Zoë\n", "#1"])


@given(rows=st.lists(st.tuples(CELLS, st.none() | CELLS), min_size=1, max_size=12))
@settings(deadline=None, max_examples=24)
def test_csv_agrees_with_a_slow_reader(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str | None]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "edges.csv"
    frame = pl.DataFrame(rows, schema={"source": pl.String, "target": pl.String}, orient="row")
    frame.write_csv(path)
    plain = [(one.strip(), None if other is None else other.strip()) for one, other in rows]
    agrees(read_graph(path), slow_graph(plain))
    frame.write_parquet(path)
    agrees(read_graph(path), slow_graph(plain))


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    lines = ["b a", "10 9", "9 a", "a 2", "2 a", "c c"]
    one = read_graph(make(tmp_path, "\n".join(lines)))
    other = read_graph(make(tmp_path, "\n".join(reversed(lines))))
    assert one.names is not None
    assert other.names is not None
    assert list(one.names) == list(other.names) == ["2", "9", "10", "a", "b", "c"]
    assert one.keys.tolist() == other.keys.tolist()
    assert one.notes == other.notes


def test_nodes_without_an_edge_survive(tmp_path: Path) -> None:
    graph = read_graph(make(tmp_path, "source,target\n7,\n1,2\n5,5\n2,2\n"))
    assert list(graph.names if graph.names is not None else []) == ["1", "2", "5", "7"]
    assert graph.degrees.tolist() == [1, 1, 0, 0]
    assert graph.notes == ("2 loops were left out",)
    alone = read_graph(make(tmp_path, "0,\n1,\n"))
    assert (alone.nodes, alone.edges, alone.names) == (2, 0, None)


def test_nodes_that_konect_counts_are_there(tmp_path: Path) -> None:
    graph = read_graph(make(tmp_path, "% asym positive\n% 3 5 5\n2 3\n3 2\n5 2\n", "out.mail"))
    assert graph.name == "mail graph"
    assert list(graph.names if graph.names is not None else []) == ["1", "2", "3", "4", "5"]
    assert graph.degrees.tolist() == [0, 2, 1, 0, 1]
    assert graph.notes[0] == "2 nodes were added that the header counts and no edge names"


@pytest.mark.parametrize("declared", ["4", "2000000000", "3"])
def test_a_count_of_nodes_that_cannot_be_right_is_not_followed(tmp_path: Path, declared: str) -> None:
    graph = read_graph(make(tmp_path, f"% sym unweighted\n% 3 {declared} {declared}\n2 3\n5 2\n"))
    assert graph.nodes == 3
    said = f"the header counts {int(declared):,} nodes, but the edges name 3, and only these were read"
    assert graph.notes == ((said,) if declared != "3" else ())


def test_numbers_without_a_gap_need_no_names(tmp_path: Path) -> None:
    assert read_graph(make(tmp_path, "2 0\n1 0\n")).names is None
    assert read_graph(make(tmp_path, "2 0\n1 00\n")).names is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["is empty"]),
        (" \n\n", ["is empty"]),
        ("# only\n% remarks\n\n", ["has no line among 3 ", "a remark"]),
        ("# 1\nsource target\n", ["header only"]),
        ("source,target\n", ["header only"]),
        ("SECRET\n", ["line 1 ", "1 column", "'name,'"]),
        ("1 2\n\n# x\nSECRET\n3 4\n", ["line 4 ", "must hold 2 columns", "holds 1 column"]),
        ("SECRET;2\n3;4\n", ["line 1 ", "semicolons"]),
        ("1 2\nSECRET;2\n", ["line 2 ", "semicolons"]),
        ("1 2 3 4 SECRET\n", ["line 1 ", "two names, and at most a weight and a time", "5 columns"]),
        ("1 2\n1 2 3 4 SECRET\n", ["line 2 ", "5 columns"]),
        ("1 2\n1 2 3\n", ["line 2 ", "must hold 2 columns, as the first does, but holds 3"]),
        ("1 2 3\n1 2 SECRET\n", ["third column", "line 2", "data=False"]),
        ("1 2 {}\n", ["third column", "line 1"]),
        ("SECRET Jones\tSECRET Smith\n", ["third column", "need CSV"]),
        ("1 2 3 4\n\n1 2 3 SECRET\n", ["fourth column", "line 3"]),
        ("1,2\n3,SECRET,5\n", ["line 2 ", "holds 3 columns"]),
        ("1,2\n3\n", ["line 2 ", "holds 1 column"]),
        ('1,2\n\n3,"SECRET"\n', ["line 3 ", "quote", "source,target"]),
        ("1,2\n3,4\n,SECRET\n", ["line 3 ", "must name the source", "such lines: 1)"]),
        ("source,target\n1,2\n,SECRET\n,\n", ["row 2 ", "below the header", "such rows: 2)"]),
        ("SECRET,alice\nbob,eve\n", ["none of its 2 columns has such a name", "'source,target' above"]),
        ("source,SECRET\nSECRET,eve\n", ["of such names its 2 columns have only 'source'"]),
        ("user1,SECRET\nuser2,SECRET\n", ["none of its 2 columns has such a name"]),
        ("node1 SECRET,node7\n", ["none of its 2 columns has such a name"]),
        ("1 2\nSECRET,4\n", ["line 2 ", "commas between the names, unlike in the first line"]),
        ("1,2\n3 4\n", ["line 2 ", "spaces between the names, unlike in the first line"]),
        ("1,2\n3\t4\n", ["line 2 ", "tabs between the names, unlike in the first line"]),
        ("1 2\n\nSECRET, 4\n", ["line 3 ", "also has a comma"]),
        ("1 2\nSECRET ,4\n", ["line 2 ", "also has a comma"]),
        ("source\ttarget\n1 2\n", ["line 2 ", "must hold 2 columns", "spaces between"]),
        ('source\ttarget\n1\t"SECRET"\n', ["line 2 ", "quote", "commas instead of tabs"]),
        ("id source target type x\n1 2 3 4\n", ["line 2 ", "must hold 5 columns, as the first does, but holds 4"]),
        ("personA personB\n1 2\n2 3\n", ["line 1 ", "two words", "source and target instead"]),
        ("# x\nu v\n\n1 2\n", ["line 2 ", "two words"]),
        ("personA personB w\n1 2 3\n", ["third column", "line 1", "source and target in a header"]),
        (b"1 2\r2 3\r", ["line 1 ", "carriage return alone"]),
        (b"source target\r1 2\r", ["line 1 ", "carriage return alone"]),
        (b"# SECRET\r1 2\r", ["line 1 ", "carriage return alone"]),
        (b"1 2\n\n3 4\r5 6\n", ["line 3 ", "carriage return alone"]),
        (b"1,2\n3,4\r5,6\n", ["line 2 ", "carriage return alone"]),
        ("source,target,source\nSECRET,eve,1\n", ["each once", "'source', 'target', 'source'"]),
        ("source,target\n1,2\n3\n", ["row 2", "1 field"]),
        ('source,target\n1,2\n"3,4\n', ["row 2", "quote"]),
        ("% bip unweighted\n1 1\n", ["bipartite", "one set of nodes"]),
        ("1 2\n\0\0 3\n", ["binary"]),
        (b"\x80\x02}q\x00.", ["binary"]),
        (b"1 2\nSECRET \xff\xfe\n", ["line 2 ", "UTF-8"]),
        (b"source,target\nSECRET,\xff\n", ["row 1", "UTF-8"]),
        (b"PK\x03\x04...", ["zip archive"]),
        (gzip.compress(b"1 2\n" * 100, mtime=0)[:-9], ["cut short or damaged"]),
        (bz2.compress(b"1 2\n" * 100)[:-9], ["cut short or damaged"]),
        (b"\x1f\x8bnot gzip at all", ["cut short or damaged"]),
        (b"BZhnot bzip2 at all", ["cut short or damaged"]),
        (b"1 2\n" + b"SECRET" * 200_000, ["line 2 ", "longer than 1 MB"]),
        ("source,target\nSECRET,x\n SECRET,y\n", ["rows 1 and 2 ", "below the header", "such names: 1)"]),
        ("source,target\nSECRET,x\ny,SECRET \nx ,y\n", ["rows 1 and 2 ", "such names: 2)"]),
        ("1 SECRET\n\n2 SECRET\u00a0\n", ["lines 1 and 3 ", "such names: 1)"]),
        ("1,2\n2,7\n3, 2\n", ["lines 1 and 3 ", "such names: 1)"]),
    ],
)
def test_a_file_that_holds_no_graph_is_refused_in_one_sentence(
    tmp_path: Path, text: str | bytes, words: list[str]
) -> None:
    message = refusal(lambda: read_graph(make(tmp_path, text, "broken.txt")))
    assert "broken.txt" in message
    assert [word for word in words if word not in message] == []


USUAL = [("user1", "user2", "user3"), ("node_1", "node_2", "node_9"), ("i", "j", "k"), ("from", "to", "from")]


@pytest.mark.parametrize("between", [",", " ", "\t"])
@pytest.mark.parametrize("names", USUAL)
def test_a_header_that_could_be_an_edge_is_refused(tmp_path: Path, between: str, names: tuple[str, str, str]) -> None:
    one, other, third = names
    for second in ((third, "SECRET"), ("SECRET", other)):
        lines = [(one, other), second]
        path = make(tmp_path, "# a remark\n" + "".join(between.join(line) + "\n" for line in lines))
        if len(one) == 1 and between != ",":  # without commas single letters are nodes
            assert {frozenset(line) for line in lines} == named_edges(read_graph(path))
            continue
        message = refusal(lambda path=path: read_graph(path))  # type: ignore[misc]
        assert "line 2 " in message
        assert "must be a header or an edge, but can be both" in message
        assert "such cells: 1)" in message
        # Both ways out that the message names are ways out.
        rest = between.join(second) + "\n"
        assert read_graph(make(tmp_path, f"source{between}target\n{rest}")).edges == 1
        assert read_graph(make(tmp_path, f"source{between}target\n{one}{between}{other}\n{rest}")).edges == 2


def test_source_and_target_are_a_header_whatever_the_nodes_are_called(tmp_path: Path) -> None:
    for between in ", ":
        text = "source,target\nsource,code\ncode,target\n".replace(",", between)
        assert named_edges(read_graph(make(tmp_path, text))) == {
            frozenset(("source", "code")),
            frozenset(("code", "target")),
        }


def test_a_header_that_is_not_sure_is_noted_and_shows_no_other_cell(tmp_path: Path) -> None:
    graph = read_graph(make(tmp_path, "user1,user2,SECRET\nAda,Bob,x\n"))
    assert graph.notes == ("the first line was read as a header", "1 more column was ignored")
    assert named_edges(graph) == {frozenset(("Ada", "Bob"))}
    spaced = read_graph(make(tmp_path, "user1 user2 SECRET SECRET\nAda Bob x y\n"))
    assert spaced.notes == ("the first line was read as a header", "2 more columns were ignored")


def test_letters_that_also_name_columns_are_noted_unless_they_come_again(tmp_path: Path) -> None:
    said = "the first line was read as an edge, though columns are often called so too"
    assert read_graph(make(tmp_path, "u v\nAda Bob\n")).notes == (said,)
    assert read_graph(make(tmp_path, "u v\nAda u\n")).notes == ()
    assert read_graph(make(tmp_path, "u v\n")).notes == ()
    assert read_graph(make(tmp_path, "x 1\n1 2\n")).nodes == 3


def test_tabs_below_a_header_keep_names_with_spaces_and_empty_cells(tmp_path: Path) -> None:
    graph = read_graph(
        make(tmp_path, "\n".join(["Label\tSource\tTarget", "\tAda L\tBob", "x y\tEve\t", "z\tBob\tEve"]))
    )
    assert list(graph.names if graph.names is not None else []) == ["Ada L", "Bob", "Eve"]
    assert named_edges(graph) == {frozenset(("Ada L", "Bob")), frozenset(("Bob", "Eve"))}


def test_bad_bytes_far_into_a_file_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_edge_lines, "HEAD", 64)
    monkeypatch.setattr(_edge_layout, "HEAD", 64)
    monkeypatch.setattr(_edge_lines, "_BLOCK", 100)
    assert "binary" in refusal(lambda: read_graph(make(tmp_path, b"1 2\n" * 100 + b"\0\n")))
    assert "line 101 " in refusal(lambda: read_graph(make(tmp_path, b"1 2\n" * 100 + b"x\n")))
    monkeypatch.setattr(_edge_lines, "_LONGEST_LINE", 150)
    assert "line 101 " in refusal(lambda: read_graph(make(tmp_path, b"1 2\n" * 100 + b"x" * 500)))
    assert "its first 1 MB has no whole line" in refusal(lambda: read_graph(make(tmp_path, b"# 1\n" * 100 + b"x\n")))


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(lambda: read_graph(tmp_path / "none.txt"))
    assert "is a folder" in refusal(lambda: read_graph(tmp_path))


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_once(tmp_path: Path, packed: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = gzip.compress(SNAP.encode()) if packed else SNAP.encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    graph = read_graph(pipe)
    writer.join()
    assert named_edges(graph) == TRIANGLE
    assert graph.name == "graph"


# --- Matrix Market ----------------------------------------------------------------------------------------------------

MARKET = "%%MatrixMarket matrix coordinate {} {}\n% a remark\n4 4 3\n"


@pytest.mark.parametrize(
    ("field", "lines"),
    [
        ("pattern", "2 1\n3 2\n4 3\n"),
        ("real", "2 1 0.5\n3 2 1e3\n4 3 -2\n"),
        ("integer", "2 1 1\n3 2 4\n4 3 2\n"),
        ("double", "2 1 1\n3 2 4\n4 3 2"),
    ],
)
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_the_sizes_of_a_matrix_are_no_edge(tmp_path: Path, field: str, lines: str, symmetry: str) -> None:
    graph = read_graph(make(tmp_path, MARKET.format(field, symmetry) + lines, "a.mtx"))
    assert graph.names is not None
    assert graph.names.tolist() == ["1", "2", "3", "4"]
    assert sorted(zip(*(end.tolist() for end in graph.ends), strict=True)) == [(0, 1), (1, 2), (2, 3)]
    assert any("directions" in note for note in graph.notes) == (symmetry == "general")
    assert any("weights were ignored" in note for note in graph.notes) == (field != "pattern")


def test_nodes_without_an_edge_are_those_that_the_matrix_counts(tmp_path: Path) -> None:
    graph = read_graph(make(tmp_path, "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 1\n2 1\n", "a.mtx"))
    assert (graph.nodes, graph.edges) == (5, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MARKET.format("complex", "general") + "1 2 1 0\n", "pattern, integer or real"),
        (MARKET.format("real", "hermitian") + "1 2 1\n", "general or symmetric"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n", "must be coordinate"),
        ("%%MatrixMarket nonsense\n2 2 1\n1 2\n", "must be coordinate"),
        ("%%MatrixMarket matrix coordinate pattern general\n4 5 1\n1 2\n", "must be square"),
        ("%%MatrixMarket matrix coordinate pattern general\n1 2\n", "the numbers of rows, columns, and non-zeros"),
        (MARKET.format("pattern", "general") + "1 2\n2 3\n", "the 3 entries that line 3 counts, but holds 2"),
        (MARKET.format("pattern", "general") + "1 2 5\n2 3 5\n3 4 5\n", "line 4"),
    ],
)
def test_a_matrix_that_is_no_graph_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(lambda: read_graph(make(tmp_path, text, "a.mtx")))
