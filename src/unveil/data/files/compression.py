"""Extract the single table from a gzip, zip, or workbook file."""

import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from unveil._optional import need
from unveil.data.files import source as _source
from unveil.errors import InputError, shortened

if TYPE_CHECKING:
    import polars as pl

_ZIP, _OLD_WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BOOKS = {"xl/workbook.xml", "xl/workbook.bin"}
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError, KeyError)


def unpacked(path: Path, content: bytes | None, head: bytes) -> tuple[bytes, str] | None:
    """Return the table bytes and name inside a packed file, or None.

    Parameters
    ----------
    path
        The file, for messages, and to be read where ``content`` is None.
    head
        Its first bytes.

    Raises
    ------
    InputError
        If it is damaged or locked, or holds no table or several.
    """
    if head.startswith(_source.GZIP):
        return _source.decompressed(path, content), ""
    if not head.startswith((_ZIP, _OLD_WORKBOOK)):
        return None
    content = path.read_bytes() if content is None else content
    if head.startswith(_OLD_WORKBOOK):
        return _only_sheet(path, content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _refuse_large(path, archive)
            if _is_workbook(archive):
                return _only_sheet(path, content)
            return _only_file(path, archive)
    except InputError:
        raise
    except _DAMAGED:
        raise InputError(
            f"the archive {_source.shown(path)} is cut short or damaged. Copy or pack it again"
        ) from None  # what is said of it can hold names of files


def _refuse_large(path: Path, archive: zipfile.ZipFile) -> None:
    if sum(each.file_size for each in archive.infolist()) > _source.LARGEST:
        raise _source.too_large(path, _source.LARGEST)


def _is_workbook(archive: zipfile.ZipFile) -> bool:
    names = set(archive.namelist())
    return bool(names & _BOOKS) or ("mimetype" in names and archive.read("mimetype").strip() == _OPEN_DOCUMENT)


def _only_file(path: Path, archive: zipfile.ZipFile) -> tuple[bytes, str]:
    """Return the only file of an archive, ignoring system files."""
    files = [
        each
        for each in archive.infolist()
        if not (each.is_dir() or each.filename.startswith("__MACOSX/") or PurePosixPath(each.filename).name[:1] == ".")
    ]
    if len(files) != 1:
        raise InputError(
            f"the archive {_source.shown(path)} must hold one table, but holds {len(files) or 'no'} files. Unpack it "
            "and name the file with the table"
        )
    if files[0].flag_bits & 1:
        raise InputError(f"the archive {_source.shown(path)} is locked with a password. Unpack it first")
    with archive.open(files[0]) as stream:
        content = stream.read(_source.LARGEST + 1)  # its own word about its size may be wrong
    if len(content) > _source.LARGEST:
        raise _source.too_large(path, _source.LARGEST)
    return content, f"the file {shortened(PurePosixPath(files[0].filename).name)}"


def _only_sheet(path: Path, content: bytes) -> tuple[bytes, str]:
    """Return the only non-empty sheet of a workbook, as CSV."""
    fastexcel = need("fastexcel", extra="files")
    try:
        book = fastexcel.read_excel(content)
        sheets = {name: _cells(book, name) for name in book.sheet_names}
    except fastexcel.FastExcelError:
        raise InputError(  # what it says can hold names and cells
            f"the workbook {_source.shown(path)} is damaged, locked, or of a kind that cannot be read. Save it again "
            "as xlsx without a password, or the sheet as CSV"
        ) from None
    filled = {name: frame for name, frame in sheets.items() if frame.height}
    if len(filled) != 1:
        raise InputError(
            f"the workbook {_source.shown(path)} must hold one sheet with cells, but has {len(filled) or 'none'}. Keep "
            "the sheet with the table alone, or save that sheet as CSV"
        )
    ((name, frame),) = filled.items()
    return frame.write_csv(include_header=False).encode("utf-8"), f"{_source.SHEET} {shortened(name)}"


def _cells(book: Any, name: str) -> "pl.DataFrame":
    """Return the cells of a sheet as text, without empty margins."""
    import polars as pl

    frame: pl.DataFrame = book.load_sheet(name, header_row=None, dtypes="string").to_polars()
    columns = [place for place, column in enumerate(frame) if column.null_count() < frame.height]
    if not columns:
        return pl.DataFrame()
    rows = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    return frame[: rows[-1] + 1, : columns[-1] + 1]
