"""Files that are given: every limit holds while they come, and what is refused leaves nothing on the disk."""

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.web.servers import awaited
from unveil.data.files.source import Source
from unveil.web import RefusedError, uploads
from unveil.web.uploads import SUFFIXES, Limits, Upload, Uploads, shown_name, suffix_of

SMALL = Limits(file=1000, total=2500, files=5, at_once=2)


async def sent(
    pieces: Iterable[bytes], *, pause: float = 0.0, then: BaseException | None = None
) -> AsyncIterator[bytes]:
    for piece in pieces:
        await asyncio.sleep(pause)
        yield piece
    if then is not None:
        raise then


def give(kept: Uploads, pieces: Iterable[bytes], name: str = "people.csv", **more: Any) -> Upload:
    declared = more.pop("declared", None)
    return awaited(kept.receive(name, sent(pieces, **more), declared=declared))


def refused(kept: Uploads, pieces: Iterable[bytes], status: int, **more: Any) -> str:
    """Return why a file is refused, after checking that it left nothing."""
    before = sorted(kept.folder.iterdir()), kept.room, kept.all()
    with pytest.raises(RefusedError) as caught:
        give(kept, pieces, **more)
    assert caught.value.status == status
    assert (sorted(kept.folder.iterdir()), kept.room, kept.all()) == before
    return str(caught.value)


def test_a_file_arrives_as_it_was_sent(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)
    content = [os.urandom(70_000) for _ in range(40)]
    old = os.umask(0)
    try:
        upload = give(kept, content, "People of 2024.CSV")
    finally:
        os.umask(old)
    assert upload.path.read_bytes() == b"".join(content)
    assert (upload.size, upload.name) == (2_800_000, "People of 2024.CSV")
    assert upload.path == tmp_path / f"{upload.id}.csv"
    assert stat.S_IMODE(upload.path.stat().st_mode) == 0o600
    assert kept.find(upload.id) == upload
    assert give(kept, [b""]).size == 0
    kept.remove(upload.id)
    assert not upload.path.exists()
    assert len(kept.all()) == 1


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)
    for identity in ("", "..", "../../etc/passwd", "\0", "/etc/passwd", "a" * 10_000):
        with pytest.raises(RefusedError, match="Upload it again") as caught:
            kept.find(identity)
        assert caught.value.status == 404
        with pytest.raises(RefusedError):
            kept.remove(identity)


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/cron.d/x",
        "/etc/passwd",
        "..",
        ".",
        "",
        "a\0b.csv",
        "a/../b.csv",
        "con.csv",
        "x" * 5000,
        "\n.csv",
        "é.csv",
    ],
)
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    upload = give(Uploads(folder), [b"a"], name)
    assert upload.path.parent == folder
    assert upload.path.name.partition(".")[0] == upload.id
    assert upload.path.name.removeprefix(upload.id) in ("", *SUFFIXES)
    assert [each.name for each in tmp_path.iterdir()] == ["files"]


@given(st.text())
def test_a_shown_name_fits_on_a_line(name: str) -> None:
    shown = shown_name(name)
    assert 0 < len(shown) <= 120
    assert shown.isprintable()
    assert not set(shown) & {"/", "\\"}
    assert suffix_of(name) in ("", *SUFFIXES)


def test_a_file_may_be_as_large_as_the_limit_and_no_larger(tmp_path: Path) -> None:
    kept = Uploads(tmp_path, SMALL)
    assert give(kept, [b"x" * 500] * 2).size == 1000
    assert "larger size limit" in refused(kept, [b"x" * 500, b"x" * 501], 413)
    # Announced, it is refused before anything is read; and what is announced is not believed.
    assert "larger size limit" in refused(kept, [b"x"], 413, declared=1001)
    refused(kept, [b"x" * 1001], 413, declared=10)


def test_an_endless_file_is_refused_when_it_is_too_large(tmp_path: Path) -> None:
    read = []

    def endless() -> Iterable[bytes]:
        while True:
            read.append(1)
            yield b"x" * 65_536

    refused(Uploads(tmp_path, Limits(file=3_000_000)), endless(), 413)
    assert len(read) < 100, "not more is read than the limit and what is collected before it is written"


def test_all_files_together_have_a_limit(tmp_path: Path) -> None:
    kept = Uploads(tmp_path, SMALL)
    first = give(kept, [b"x" * 1000])
    give(kept, [b"x" * 1000])
    assert kept.room == 500
    assert "Remove files" in refused(kept, [b"x" * 501], 413)
    assert "Remove files" in refused(kept, [b"x"], 413, declared=501)
    kept.remove(first.id)
    assert give(kept, [b"x" * 1000], declared=1000).size == 1000


def test_the_number_of_files_has_a_limit(tmp_path: Path) -> None:
    kept = Uploads(tmp_path, SMALL)
    for _ in range(5):
        give(kept, [b"x"])
    assert "Remove some" in refused(kept, [b"x"], 413)


def test_files_that_come_together_share_the_limit(tmp_path: Path) -> None:
    kept = Uploads(tmp_path, Limits(file=1000, total=1500))

    async def both() -> list[Any]:
        files = [kept.receive("a.csv", sent([b"x" * 500] * 2, pause=0.001)) for _ in range(2)]
        return await asyncio.gather(*files, return_exceptions=True)

    outcome = awaited(both())
    assert sorted(type(each).__name__ for each in outcome) == ["RefusedError", "Upload"]
    assert kept.room == 500
    assert len(list(tmp_path.iterdir())) == 1


def test_more_at_once_are_asked_to_try_again(tmp_path: Path) -> None:
    kept = Uploads(tmp_path, SMALL)

    async def three() -> list[Any]:
        files = [kept.receive("a.csv", sent([b"x"], pause=0.01)) for _ in range(3)]
        return await asyncio.gather(*files, return_exceptions=True)

    *fine, busy = awaited(three())
    assert all(isinstance(each, Upload) for each in fine)
    assert isinstance(busy, RefusedError)
    assert (busy.status, "Try again" in str(busy)) == (503, True)
    assert give(kept, [b"x"]).size == 1


def test_who_sends_nothing_for_too_long_is_given_up(tmp_path: Path) -> None:
    assert "too slow" in refused(Uploads(tmp_path, Limits(idle=0.05)), [b"x"], 408, pause=60.0)


def test_who_sends_a_little_for_ever_is_given_up(tmp_path: Path) -> None:
    assert "too slow" in refused(Uploads(tmp_path, Limits(seconds=0.2)), [b"x"] * 9000, 408, pause=0.01)


@pytest.mark.parametrize("error", [RuntimeError("gone"), asyncio.CancelledError(), KeyboardInterrupt()])
def test_a_file_that_is_broken_off_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    kept = Uploads(tmp_path, SMALL)
    with pytest.raises(type(error)):
        give(kept, [b"x" * 100] * 3, then=error)
    assert list(tmp_path.iterdir()) == []
    assert kept.room == 1000
    assert give(kept, [b"x"]).size == 1, "its place is free again"


def test_a_full_disk_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def write(self, _: bytes) -> None:
            raise OSError(errno.ENOSPC, "full")

    kept = Uploads(tmp_path)
    monkeypatch.setattr(uploads, "open_private", lambda _: Full())
    assert "Free some space" in refused(kept, [b"x"], 507)
    monkeypatch.setattr(Full, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "broken")))
    assert "temporary files" in refused(kept, [b"x"], 500)


def test_what_is_in_the_way_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("mine", encoding="utf-8")
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.setattr("secrets.token_hex", lambda _: "fixed")
    (folder / "fixed.csv").symlink_to(outside)
    with pytest.raises(RefusedError):
        give(Uploads(folder), [b"theirs"])
    assert outside.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["people.tab", "people.TSV", "people.tsv.gz", "people.tab.gzip"])
def test_the_ending_that_tells_a_reader_what_is_between_columns_is_kept(name: str) -> None:
    assert Source(Path(f"0123{suffix_of(name)}"), "csv").usual == "\t"


def test_a_file_is_looked_at_once(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)
    upload = give(kept, [b"a,b\n1,2\n"])
    looked: list[str] = []
    answers: Iterator[dict[str, Any]] = iter([{"error": "busy"}, {"rows": 1}, {"rows": 2}])

    async def look(each: Upload) -> dict[str, Any]:
        looked.append(each.id)
        return next(answers)

    async def thrice() -> list[dict[str, Any]]:
        return [await kept.seen(upload, look) for _ in range(3)]

    assert awaited(thrice()) == [{"error": "busy"}, {"rows": 1}, {"rows": 1}]
    assert len(looked) == 2
    kept.remove(upload.id)
    assert kept._seen == {}
