"""Which cells stand for no value, and whether codes have an order: loops over cells, straight from the definitions."""

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

_SUPPRESSED = ["*", "**", "***", "****", "*****", "suppressed", "redacted", "masked", "withheld", "confidential", "(d)"]
_MISSING = [
    *[
        "na",
        "n.a.",
        "nan",
        "null",
        "nil",
        "missing",
        "?",
        "--",
        ".",
        "..",
        "...",
        "…",
        "#n/a",
        "refused",
        "dk",
        "k.a.",
        "unbekannt",
        "inconnu",
        "nsp",
    ],
    *("not stated", "not reported", "not available", "don't know", "don’t know", "keine angabe"),
]
_MISSING_BESIDE_NUMBERS = ["none", "unknown", "no answer", "-"]
_NOT_APPLICABLE = [*["n/a", "inap", "iap", "niu", "entfällt", "(x)"], "not applicable", "trifft nicht zu", "sans objet"]
_NEGATIVE = [-6, -7, -8, -9, -66, -77, -88, -99, -97, -98, -666, -777, -888, -999, -9999]


def number(cell: str) -> float | None:
    """Return the number that a cell is, if it is one of digits with at most one point."""
    plain = cell.strip().lstrip("+-")
    return float(cell) if plain.replace(".", "", 1).isdigit() else None


def markers(cells: Sequence[str]) -> list[str]:
    """Return for each cell what it stands for, "" where it is a value or empty."""
    numbers = [value for cell in cells if (value := number(cell)) is not None]
    words = {cell.strip().lower() for cell in cells if cell.strip() and number(cell) is None}
    different = set(numbers)

    def listed(word: str) -> str:
        if word in _SUPPRESSED:
            return "suppressed"
        if word in _MISSING or (word in _MISSING_BESIDE_NUMBERS and different):
            return "missing"
        if word in _NOT_APPLICABLE or (word in ("n", "x") and len(different) >= 2):
            return "not applicable"
        return ""

    rest = {word for word in words if not listed(word)}
    unlisted = len(rest) <= 2 and len(different) >= 5 and not any(sign.isdigit() for word in rest for sign in word)
    told = _numbers_that_are_none(numbers) if unlisted or not rest else {}
    found = []
    for cell in cells:
        value, word = number(cell), cell.strip().lower()
        if value is not None:
            found.append(told.get(value, ""))
        else:
            found.append(listed(word) or ("missing" if word and unlisted else ""))
    return found


def _numbers_that_are_none(numbers: Sequence[float]) -> dict[float, str]:
    if len(numbers) < 20:
        return {}
    different = sorted(set(numbers))
    below = [value for value in different if value < 0]
    told: dict[float, str] = {}
    if 1 <= len(below) <= 4 and len(below) < len(different) and all(value in _NEGATIVE for value in below):
        told = dict.fromkeys(below, "missing")
    times = Counter(numbers)
    best: list[float] = []
    for many in range(1, 5):
        top, rest = different[-many:], different[:-many]
        nines = all(
            value in (97, 98, 997, 998) or str(int(value)) in _repeated() for value in top if value == int(value)
        )
        whole = all(value == int(value) and times[value] >= 2 for value in top)
        if len(rest) - len(told) >= 2 and nines and whole and rest[-1] < top[0] / 2:
            best = top
    return told | dict.fromkeys(best, "own code")


def _repeated() -> set[str]:
    return {digit * length for digit in "789" for length in range(2, 12)}


def order_share(
    codes: Sequence[float | None], features: Sequence[Sequence[float | None]], order: Sequence[int]
) -> float:
    """Return the part of what codes tell about features that straight lines along an order of the codes explain.

    Each feature is a list with one number per row. Those that differ between codes with F above 4 count; NaN if none
    does. ``order`` gives each code, ascending, its place.
    """
    different = sorted({code for code in codes if code is not None})
    place = {code: order[at] for at, code in enumerate(different)}
    lines = between = 0.0
    for feature in features:
        pairs = [(place[c], x) for c, x in zip(codes, feature, strict=True) if c is not None and x is not None]
        groups = {at: [x for p, x in pairs if p == at] for at in {p for p, _ in pairs}}
        values = [x for _, x in pairs]
        mean = sum(values) / len(values)
        total = sum((x - mean) ** 2 for x in values)
        among = sum(len(own) * (sum(own) / len(own) - mean) ** 2 for own in groups.values())
        if total == 0 or len(groups) < 2 or len(pairs) == len(groups) or among < 1e-12 * total:
            continue
        within = (total - among) / (len(pairs) - len(groups))
        if within > 1e-12 * total and among / (len(groups) - 1) / within <= 4:
            continue
        slope_x = np.array([p for p, _ in pairs], float)
        line = np.polyval(np.polyfit(slope_x, values, 1), slope_x)
        lines += float(((line - mean) ** 2).sum()) / total
        between += among / total
    return lines / between if between else float("nan")


def best_order(codes: Sequence[float | None], features: Sequence[Sequence[float | None]]) -> float:
    """Return the greatest share that any order of the codes reaches."""
    size = len({code for code in codes if code is not None})
    return max(order_share(codes, features, order) for order in itertools.permutations(range(size)))
