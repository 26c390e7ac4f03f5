"""Settings for reading a text file: separator, decimal mark, encoding, header."""

from dataclasses import dataclass
from typing import Literal

from unveil.errors import InputError, shortened

#: Whether the first line names the columns: found out by its content, or as told.
Header = Literal["detect", "yes", "no"]
HEADERS: tuple[Header, ...] = ("detect", "yes", "no")
#: What may stand between two cells, and what messages call it; the earlier one where nothing else decides.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
#: What may stand before the decimals of a number.
DECIMALS = {".": "decimal points", ",": "decimal commas"}
_WRITTEN = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|", "point": "."}
#: No text that holds a table is written in an encoding that changes these signs; UTF-16 and UTF-32 only widen them.
_PLAIN = 'a\\n+AGE-,;\t|"\n'


@dataclass(frozen=True, kw_only=True)
class FileSettings:
    r"""Settings of a text file; "detect" infers each from the content.

    Parameters
    ----------
    separator
        The sign between two cells: ``,``, ``;``, a tab or ``|``, also by its name ("comma", "semicolon", "tab", "bar").
    decimal
        The sign before decimals: ``.`` or ``,``, also by its name ("point", "comma").
    encoding
        The encoding of the text, as Python calls it, such as "utf-8", "cp1252" or "utf-16".
    header
        "yes" where the first line names the columns, "no" where it is data: columns are then called ``column_1`` and so
        on. Where "detect" finds data in it, the file is refused, because its cells would become names.

    Examples
    --------
    >>> FileSettings(separator="tab", decimal="comma").separator
    '\t'
    """

    separator: str = "detect"
    decimal: str = "detect"
    encoding: str = "detect"
    header: Header = "detect"

    def __post_init__(self) -> None:
        check_header(self.header)
        for name, known in (("separator", SEPARATORS), ("decimal", DECIMALS)):
            told = getattr(self, name)
            sign = _WRITTEN.get(told, told)
            if sign != "detect" and sign not in known:
                words = ", ".join(word for word, each in _WRITTEN.items() if each in known and word.isalpha())
                raise InputError(f"{name} must be one of detect, {words}, but is not. Name the sign, as {name}='comma'")
            object.__setattr__(self, name, sign)
        if self.separator == self.decimal == ",":
            raise InputError(
                "separator and decimal must be different signs, but both are commas. Leave one of them to be detected"
            )
        if self.encoding != "detect" and not _is_encoding(self.encoding):
            raise InputError(
                f"encoding must be detect or an encoding of text such as utf-8, cp1252 or utf-16, but "
                f"{shortened(self.encoding)} is none. Look up how Python calls it"
            )


def check_header(header: str) -> Header:
    """Validate the header setting.

    >>> check_header("no")
    'no'
    """
    for known in HEADERS:
        if header == known:
            return known
    raise InputError(f"header must be one of {', '.join(HEADERS)}. Write header='no' for a file without column names")


def _is_encoding(name: str) -> bool:
    try:
        written = _PLAIN.encode(name)
        return written.replace(b"\0", b"").endswith(_PLAIN.encode("ascii"))
    except (LookupError, ValueError, TypeError):
        return False
