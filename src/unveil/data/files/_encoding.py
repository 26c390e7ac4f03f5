"""Tell in which encoding a text is written, by its bytes; what is in UTF-8 already costs no copy."""

from unveil.errors import InputError

_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_WESTERN = "äöüßàáâãåæçèéêëìíîïñòóôõøœùúûýÄÖÜÀÁÂÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕØŒÙÚÛÝ"
_EASTERN = "ąćęłńśźżčďěňřšťůžőűăţşđľĺŕĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽŐŰĂŢŞĐĽĹŔ"
#: Encodings of one byte a sign, and which letters are common in what is written in them.
_ONE_BYTE = {
    "cp1252": _WESTERN,
    "cp1250": _WESTERN + _EASTERN,
    "mac-roman": _WESTERN,
    "cp437": _WESTERN,
}
#: No text has these; a form feed, an escape and the end that DOS wrote are in some.
_CONTROLS = frozenset({*range(9), *range(14, 26), *range(28, 32)})
#: By how much the letters of another one must be more before Windows-1252 is given up.
_CLEARLY_MORE = 0.05
#: How an encoding is called in words.
NAMES = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "mac-roman": "Mac Roman",
    "cp437": "code page 437",
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
}


def encoding_of(text: bytes, *, cut: bool = False) -> str | None:
    r"""Return the encoding of a text, or None for bytes that are no text; ``cut`` says that it goes on.

    A byte order mark says it. Else it is UTF-8 where all of it is valid, or so much that the rest must be a slip, which
    reading says; UTF-16 where every other byte is zero; else Windows-1252, unless another encoding of one byte a sign
    makes clearly more letters of the bytes outside ASCII.

    >>> encoding_of("Zoë".encode()), encoding_of("Zoë".encode("cp1252")), encoding_of("Zoë".encode("utf-16-le"))
    ('utf-8', 'cp1252', 'utf-16-le')
    """
    for mark, name in _MARKS.items():
        if text.startswith(mark):
            return name
    if b"\0" in text:
        return _wide(text)
    if cut:  # perhaps within a sign
        text = text.rstrip(bytes(range(0x80, 0x100)))
    try:
        text.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        signs = text.decode("utf-8", "surrogateescape")
    if not _CONTROLS.isdisjoint(text):
        return None
    wrong = sum("\udc80" <= sign <= "\udcff" for sign in signs)
    right = sum(sign > "\x7f" for sign in signs) - wrong
    # Two bytes of another encoding hardly ever make a sign of UTF-8: where many do, two encodings are mixed.
    return "utf-8" if right * 10 >= wrong else _one_byte(text)


def _wide(text: bytes) -> str | None:
    pairs = max(len(text) // 2, 1)
    first, second = text[::2].count(0) / pairs, text[1::2].count(0) / pairs
    if second > 0.5 and first < 0.05:
        return "utf-16-le"
    return "utf-16-be" if first > 0.5 and second < 0.05 else None


def _one_byte(text: bytes) -> str:
    odd = bytes(byte for byte in text if byte > 0x7F)
    share = {
        name: sum(sign in letters for sign in odd.decode(name, "replace")) / len(odd)
        for name, letters in _ONE_BYTE.items()
    }
    best = max(share, key=lambda name: share[name])
    return best if share[best] >= share["cp1252"] + _CLEARLY_MORE else "cp1252"


def as_utf8(text: bytes, encoding: str, name: str) -> bytes:
    """Return the text in UTF-8; ``name`` is what messages call the file."""
    try:
        return text.decode(encoding).encode("utf-8")
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = text[:start].decode(encoding, "ignore").count("\n") + 1
        raise InputError(
            f"the text of {name} must be in {NAMES.get(encoding, encoding)}, but is not in line {line}. Say which "
            "encoding it has with --read encoding=NAME, or save it again as UTF-8"
        ) from None  # what Python says holds bytes of it
