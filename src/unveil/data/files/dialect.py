"""Text format of a table: separators, decimal mark, quotes, and header.

All of it is told from the first megabyte, by a few rules, and what is not as in plain CSV is said in words.
"""

import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from unveil.data.files._encoding import NAMES
from unveil.data.files._shape import empty_lines, first_rows, look
from unveil.data.files.header import looks_like_names
from unveil.data.files.settings import DECIMALS, SEPARATORS, FileSettings

#: How much of a file is looked at.
LOOKED_AT = 1 << 20
_SEPARATOR_LINE = re.compile(rb"(?:\xef\xbb\xbf)?sep=([,;\t|])\r?\n", re.IGNORECASE)
#: A first line whose cells all stand between apostrophes.
_APOSTROPHES = re.compile(rb"(?:\xef\xbb\xbf)?'[^'\r\n]*'(?:[,;\t|]'[^'\r\n]*')*\r?\n")

#: What groups digits, beside the sign that is not the decimal mark: blanks, also such that do not break, apostrophes.
GROUPING = "[ \u00a0\u202f'’]"


def _numbers(mark: str, group: str) -> str:
    """Return the pattern of numeric cells with this decimal mark.

    Bounds in brackets have no comma between them: that could be the decimal mark.
    """
    grouped = f"[1-9][0-9]{{0,2}}(?:(?:[{group}][0-9]{{3}})+|(?:{GROUPING}[0-9]{{3}})+)"
    number = f"[+-]?(?:(?:{grouped}|[0-9]+)(?:[{mark}][0-9]*)?|[{mark}][0-9]+)(?:[eE][+-]?[0-9]+)?"
    alone = f"(?:(?:[<>]=?|[≤≥]) *)?{number}(?: *(?:-|–|to|bis) *{number})? *[+]?"
    return f"^ *(?:{alone}|[(\\[] *{number} *; *{number} *[)\\]]) *$"


#: Cells that hold numbers, by their decimal mark, as Python and polars read patterns.
NUMBERS = {",": _numbers(",", "."), ".": _numbers(".", ",")}
_COMMA, _POINT = re.compile(NUMBERS[","]), re.compile(NUMBERS["."])
_GROUPS = re.compile(f"[0-9]{GROUPING}[0-9]{{3}}")
#: A column is one of numbers, and has a say, where so many of its cells with a digit are numbers.
MOST_OF = 0.9
#: Of so many different cells of a column the decimal mark is told, wherever they stand.
_MOST_DIFFERENT = 1_000
#: How many times as many cells must speak for a decimal mark as against it.
_CLEARLY_MORE = 10


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Text format of a table (default: plain CSV).

    ``skipped`` counts the lines above the table, ``grouped`` says that digits stand in groups of three, and ``doubt``
    what could not be told for sure: "thousands" where a comma before three digits may also be a decimal mark, "both"
    where cells speak for either.
    """

    separator: str = ","
    quote: str = '"'
    decimal: str = "."
    grouped: bool = False
    encoding: str = "utf-8"
    skipped: int = 0
    doubt: Literal["", "thousands", "both"] = ""

    def words(self, *, usual: str = ",", header: bool = True) -> str:
        """Return the differences from plain CSV, with the overriding options.

        >>> Dialect(separator=";", decimal=",").words()
        'read with semicolons, decimal commas, header in line 1 (--separator, --decimal, --header to overrule)'
        """
        told = {
            "--separator": SEPARATORS[self.separator] * (self.separator != usual),
            "--decimal": self._numbers(),
            "--encoding": NAMES.get(self.encoding, self.encoding) * (self.encoding != "utf-8"),
        }
        parts = [word for word in told.values() if word] + ["apostrophes around cells"] * (self.quote != '"')
        if not parts and not self.skipped:
            return ""
        parts.append(f"{'header in' if header else 'no header, data from'} line {self.skipped + 1}")
        options = [option for option, word in told.items() if word]
        return f"read with {', '.join(parts)} ({', '.join([*options, '--header'])} to overrule)"

    def _numbers(self) -> str:
        if self.doubt == "both":
            return "decimal points, although many numbers seem to have decimal commas"
        if self.doubt == "thousands":
            return "commas between thousands, unless they are decimal commas"
        return DECIMALS[self.decimal] * (self.decimal != ".") or "digits in groups of three" * self.grouped


def dialect_of(head: bytes, settings: FileSettings, *, usual: str = ",", cut: bool = False) -> Dialect:
    r"""Return the detected text format; given settings take precedence.

    Parameters
    ----------
    head
        Its first bytes.
    usual
        The separator where nothing else decides.
    cut
        Whether the text goes on, so that its last line may be half of one.

    Examples
    --------
    >>> dialect_of(b"town;size\nUlm;1,5\nBonn;3,25\n", FileSettings()).decimal
    ','
    """
    text = head[: head.rfind(b"\n") + 1] or head if cut else head
    told = _SEPARATOR_LINE.match(text)
    skipped = int(told is not None)
    if told is not None:
        text = text[told.end() :]
        settings = replace(settings, separator=told[1].decode()) if settings.separator == "detect" else settings
    remarks = _remarks(text)
    text, skipped = text[sum(map(len, remarks)) :], skipped + len(remarks)
    found = _dialect(text, settings, usual)
    if remarks and _is_first_row(remarks[-1], text, found):
        found = _dialect(remarks[-1] + text, settings, usual)
        skipped -= 1
    return replace(found, skipped=skipped)


def _remarks(text: bytes) -> list[bytes]:
    """Return the comment lines above a table that begin with ``#``."""
    start = len(b"\xef\xbb\xbf") * text.startswith(b"\xef\xbb\xbf")
    lines: list[bytes] = []
    for line in io.BytesIO(text):
        if not line[start if not lines else 0 :].startswith(b"#"):
            return lines
        lines.append(line)
    return []


def _is_first_row(remark: bytes, below: bytes, dialect: Dialect) -> bool:
    """Return whether a line that begins with ``#`` is a table row.

    A column may be called ``# of children``, and a table about colours may begin with one.
    """
    rows, own = (first_rows(each, dialect.separator, dialect.quote) for each in (below, remark))
    if not rows or not own or len(own[0]) != len(rows[0]):
        return False
    if len(rows[0]) == 1:
        return remark[1:2].strip() != b""
    return not looks_like_names(rows[0], rows[1:])


def _dialect(text: bytes, settings: FileSettings, usual: str) -> Dialect:
    quote = "'" if b'"' not in text and _APOSTROPHES.match(text) else '"'
    sign = _separator(text, quote, usual) if settings.separator == "detect" else settings.separator
    found = Dialect(quote=quote, separator=sign)
    # Where no cell has quotes, commas between cells leave none inside them.
    if sign == "," and quote.encode() not in text and not _GROUPS.search(text.decode("utf-8", "replace")):
        return replace(found, decimal="." if settings.decimal == "detect" else settings.decimal)
    return _with_decimals(found, first_rows(text, sign, quote, at_most=None)[1:], settings.decimal)


def _separator(text: bytes, quote: str, usual: str) -> str:
    """Return the separator that yields the most rows of equal width.

    Then the sign that leaves the fewest others inside cells: in a file without header, decimal commas are as regular as
    the semicolons between them. Then the one with most cells.
    """
    ranked = []
    for place, sign in enumerate(sorted(SEPARATORS, key=lambda sign: sign != usual)):
        if sign.encode() not in text:
            continue
        lines = look(text if text.endswith(b"\n") else text + b"\n", sign, quote, last=True)
        fields = lines.fields[~empty_lines(lines)]
        width, count = Counter(fields.tolist()).most_common(1)[0] if fields.size else (0, 0)
        if width >= 2 and fields[0] == width:
            ranked.append((-count / fields.size, _others_inside(text, sign, quote), -width, place, sign))
    if ranked:
        return min(ranked)[-1]
    first = text.partition(b"\n")[0]
    return usual if usual.encode() in first else next((sign for sign in SEPARATORS if sign.encode() in first), usual)


def _others_inside(text: bytes, sign: str, quote: str) -> float:
    """Return the share of cells in which another separator stands, unless they are numbers."""
    cells = [cell for row in first_rows(text[: 1 << 14], sign, quote) for cell in row]
    wrong = sum(any(each in cell for each in SEPARATORS) and not _COMMA.match(cell) for cell in cells)
    return round(wrong / max(len(cells), 1), 2)


def _with_decimals(dialect: Dialect, rows: Sequence[Sequence[str]], decimal: str) -> Dialect:
    """Return the dialect with its decimal mark, by a 10:1 majority."""
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    votes: Counter[str] = Counter()
    for column in zip(*(row for row in rows if len(row) == width), strict=True):
        different = list(Counter(column).items())
        some = different[:: len(different) // _MOST_DIFFERENT + 1]
        cells = {cell: times for cell, times in some if re.search("[0-9]", cell)}
        numbers = {cell: times for cell, times in cells.items() if _COMMA.match(cell) or _POINT.match(cell)}
        if sum(numbers.values()) >= MOST_OF * sum(cells.values()):
            for cell, times in numbers.items():
                votes[_vote(cell)] += times
    comma, point, grouped, doubtful = (votes[each] for each in (",", ".", "grouped", "?"))
    point += grouped
    if decimal == "," or (decimal == "detect" and comma and comma >= _CLEARLY_MORE * point):
        return replace(dialect, decimal=",")
    dialect = replace(dialect, grouped=bool(grouped or doubtful))
    if decimal == "." or not (comma or doubtful):
        return dialect
    if comma * _CLEARLY_MORE > point:
        return replace(dialect, grouped=False, doubt="both")
    return replace(dialect, doubt="" if point else "thousands")


def _vote(number: str) -> str:
    """Return the decimal mark implied by a number: mark, "grouped", "?", or ""."""
    if not _POINT.match(number):
        return ","
    if _COMMA.match(number):
        return "?" if "," in number else ""
    return "grouped" if "," in number or _GROUPS.search(number) else "."
