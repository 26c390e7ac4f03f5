"""Personal numbers, detected by shape and check digits.

Only those are listed whose published example numbers pass; the tests hold them.
"""

from collections.abc import Callable
from typing import NamedTuple


class Numbering(NamedTuple):
    """Type of personal number: shape, check-digit rule, and smallest sample.

    ``digits`` is the length to which whole numbers, which lost their leading zeros, are filled up; 0 fills nothing.
    """

    label: str
    shape: str
    holds: Callable[[str], bool]
    fewest: int
    digits: int = 0


def luhn(digits: str) -> bool:
    """Return whether the digits pass the Luhn check of card numbers.

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def iban(text: str) -> bool:
    """Return whether an IBAN is valid (modulo 97)."""
    return int("".join(str(int(letter, 36)) for letter in text[4:] + text[:4])) % 97 == 1


def bsn(digits: str) -> bool:
    """Return whether a Dutch BSN is valid (weighted sum modulo 11)."""
    return _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0 and int(digits) > 0


def dni(text: str) -> bool:
    """Return whether a Spanish DNI or NIE is valid (modulo 23)."""
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(text[:-1].translate(str.maketrans("XYZ", "012"))) % 23] == text[-1]


_ODD = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True)) | dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
        strict=True,
    )
)


def codice_fiscale(text: str) -> bool:
    """Return whether an Italian codice fiscale has a valid check letter."""
    even = sum(int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in text[1:15:2])
    return (sum(_ODD[sign] for sign in text[:15:2]) + even) % 26 == ord(text[15]) - ord("A")


def steuer_id(digits: str) -> bool:
    """Return whether a German tax number is valid (ISO 7064)."""
    product = 10
    for digit in digits[:10]:
        product = 2 * ((int(digit) + product) % 10 or 10) % 11
    return (11 - product) % 10 == int(digits[10])


def nir(text: str) -> bool:
    """Return whether a French NIR is valid (97 minus remainder)."""
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - int(number) % 97 == int(text[13:])


def nhs(digits: str) -> bool:
    """Return whether an NHS number is valid (weights 10 to 1, modulo 11)."""
    return _weighted(digits, range(10, 0, -1)) % 11 == 0 and int(digits) > 0


def rijksregister(digits: str) -> bool:
    """Return whether a Belgian national number is valid (modulo 97)."""
    return int(digits[9:]) in (97 - int(century + digits[:9]) % 97 for century in ("", "2"))


def pesel(digits: str) -> bool:
    """Return whether Polish weights give a multiple of 10."""
    return _weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def cpf(digits: str) -> bool:
    """Return whether both Brazilian check digits hold."""
    sums = (_weighted(digits[:length], range(length + 1, 1, -1)) for length in (9, 10))
    return all(10 * total % 11 % 10 == int(digit) for total, digit in zip(sums, digits[9:], strict=True))


def hetu(text: str) -> bool:
    """Return whether a Finnish personal code is valid (modulo 31)."""
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(text[:6] + text[-4:-1]) % 31] == text[-1]


def _weighted(digits: str, weights: "range | tuple[int, ...]") -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


def _shape_alone(_: str) -> bool:
    return True


_CARD = r"^(4[0-9]{15}|5[1-5][0-9]{14}|2[2-7][0-9]{14}|6[0-9]{15}|3[47][0-9]{13})$"
ACCOUNTS = (
    Numbering("bank accounts (IBAN)", r"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$", iban, 3),
    Numbering("payment cards", _CARD, luhn, 10),
)
_BIRTH = r"[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"
_FISCAL = r"^[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-EHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]$"
NATIONAL_IDS = (
    Numbering("Italian tax codes", _FISCAL, codice_fiscale, 2),
    Numbering("Spanish identity cards", r"^([0-9]{8}|[XYZ][0-9]{7})[A-Z]$", dni, 3),
    Numbering("French social security numbers", r"^[12][0-9]{4}[0-9][0-9AB][0-9]{8}$", nir, 3),
    Numbering("Finnish identity codes", r"^[0-3][0-9][01][0-9]{3}[A-FU-Y]?[0-9]{3}[0-9A-Y]$", hetu, 3),
    Numbering("Belgian national numbers", rf"^{_BIRTH}[0-9]{{5}}$", rijksregister, 5, 11),
    Numbering("Brazilian tax numbers", r"^[0-9]{11}$", cpf, 5, 11),
    Numbering("Polish identity numbers", r"^[0-9]{2}[0-9][0-9][0-3][0-9]{6}$", pesel, 10, 11),
    Numbering("German tax numbers", r"^[1-9][0-9]{10}$", steuer_id, 10),
    Numbering("British health service numbers", r"^[1-9][0-9]{9}$", nhs, 10),
    Numbering("Swedish personal numbers", rf"^{_BIRTH}[0-9]{{4}}$", luhn, 10, 10),
    Numbering("Dutch citizen service numbers", r"^[0-9]{9}$", bsn, 10, 9),
    Numbering("Canadian social insurance numbers", r"^[1-79][0-9]{8}$", luhn, 10),
    Numbering(
        "British national insurance numbers", r"^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][0-9]{6}[A-D]$", _shape_alone, 5
    ),
)
#: Recognized by its hyphens, so it is looked for before those are taken out.
SSN = r"^(00[1-9]|0[1-9][0-9]|[1-578][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])-(0[1-9]|[1-9][0-9])-[0-9]{4}$"
