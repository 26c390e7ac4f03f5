"""Codes of a variable as sets of leaves: totals, subtotals, and bands."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from unveil.data.table._cell_texts import folded

#: What the leaf is called that stands for all codes that are not listed.
NOT_LISTED = "(not listed)"
_TOTAL = re.compile(r"(all|total|totals|sum|overall|grand total)\b(?!\s*other)", re.IGNORECASE)
_TOTAL_CODES = frozenset({"t", "_t", "sum", "overall"})
_BAND = re.compile(r"(\d{1,4})\s*(?:-|–|to|\.\.)\s*(\d{1,4})", re.ASCII)
_SINGLE = re.compile(r"\d{1,4}", re.ASCII)
_OVER = re.compile(r"(\d{1,4})\s*(?:\+|and over|and above|and older|or over|or older|or more|plus)", re.ASCII)
_FROM = re.compile(r"(?:>=|≥)\s*(\d{1,4})", re.ASCII)
_UNDER = re.compile(r"(?:under|below|less than|<)\s*(\d{1,4})", re.ASCII)
#: Above this nobody is.
_TOP = 10_000
#: Words that may stand around a band, such as in "aged 18 to 64 years".
_AROUND = re.compile(r"\b(aged?|ages?|years?|yrs?|old)\b")


@dataclass(frozen=True, eq=False)
class CountVariable:
    """Variable of published counts: its codes as leaf sets, total first.

    Attributes
    ----------
    name
        What its column is called.
    codes
        What each code is called: the first is the total, whether or not it is shown; leaves are codes too.
    leaves
        For each code the leaves that it stands for, as the bits of a number.
    shown
        Whether a table has each code.
    partitions
        A code and the codes that it is the sum of, for every sum that is known.
    """

    name: str
    codes: tuple[str, ...]
    leaves: tuple[int, ...]
    shown: tuple[bool, ...]
    partitions: tuple[tuple[int, tuple[int, ...]], ...]

    def is_leaf(self, code: int) -> bool:
        """Return whether a code stands for one leaf."""
        return self.leaves[code].bit_count() == 1


def is_total(label: str) -> bool:
    """Return whether a code is called as totals are.

    >>> [is_total(each) for each in ("Total", "All ages", "_T", "Allen", "All other", "Totals")]
    [True, True, True, False, False, True]
    """
    plain = label.strip()
    return plain.casefold() in _TOTAL_CODES or _TOTAL.match(plain) is not None


def band_of(label: str) -> tuple[int, int] | None:
    """Return the first number of a band and the first above it.

    >>> band_of("0-17"), band_of("65 and over"), band_of("18"), band_of("under 5"), band_of("north")
    ((0, 18), (65, 10000), (18, 19), (0, 5), None)
    """
    plain = " ".join(_AROUND.sub(" ", folded(label)).split())
    if found := _BAND.fullmatch(plain):
        low, high = int(found[1]), int(found[2]) + 1
    elif found := _SINGLE.fullmatch(plain):
        low, high = int(plain), int(plain) + 1
    elif found := _OVER.fullmatch(plain) or _FROM.fullmatch(plain):
        low, high = int(found[1]), _TOP
    elif found := _UNDER.fullmatch(plain):
        low, high = 0, int(found[1])
    else:
        return None
    return (low, high) if low < high else None


def overlapping(labels: Iterable[str]) -> tuple[str, str] | None:
    """Return two partly overlapping bands, or None.

    >>> overlapping(["0-10", "10-20", "0-20"]), overlapping(["0-9", "10-20", "0-20"])
    (('0-10', '10-20'), None)
    """
    known = sorted((band, label) for label in labels if (band := band_of(label)) is not None)
    pairs = ((one, other) for at, one in enumerate(known) for other in known[at + 1 :])
    return next(
        ((first, second) for ((start, end), first), ((begin, last), second) in pairs if start < begin < end < last),
        None,
    )


def variable_of(
    name: str,
    labels: Sequence[str],
    *,
    groups: Mapping[str, frozenset[str]] | None = None,
    order: Iterable[str] = (),
    rest: bool = False,
) -> CountVariable:
    """Return a variable with these codes, without a total, and their leaves.

    Parameters
    ----------
    name, labels
        What it is called, and the codes that tables have, each once.
    groups
        For folded codes that are sums the folded leaves that they stand for.
    order
        How leaves of groups are called that no table has.
    rest
        Whether not all codes are listed.

    Examples
    --------
    >>> ages = variable_of("age", ["0-17", "18+", "0-18", "19+"])
    >>> ages.codes
    ('Total', '0-17', '18+', '0-18', '19+', '18')
    >>> ages.partitions
    ((0, (1, 2)), (0, (3, 4)), (2, (5, 4)), (3, (1, 5)))
    """
    if groups:
        sets = [groups.get(folded(label), frozenset({folded(label)})) for label in labels]
        named = {folded(label): label for label in (*order, *labels)}
        leaf_names = list(dict.fromkeys(leaf for own in sets for leaf in sorted(own)))
        leaf_names += [leaf for own in groups.values() for leaf in sorted(own) if leaf not in leaf_names]
        leaf_names = list(dict.fromkeys(leaf_names))
        place = {leaf: at for at, leaf in enumerate(leaf_names)}
        masks = [sum(1 << place[leaf] for leaf in own) for own in sets]
        called = [named.get(leaf, leaf) for leaf in leaf_names]
    elif (bands := _bands(labels)) is not None:
        masks, called = bands
    else:
        masks, called = [1 << at for at in range(len(labels))], list(labels)
    if rest:
        called.append(NOT_LISTED)
    return _variable(name, labels, masks, called)


def _bands(labels: Sequence[str]) -> tuple[list[int], list[str]] | None:
    """Return the leaves and labels of each band, or None without bands."""
    bands = [band_of(label) for label in labels]
    known = [band for band in bands if band is not None]
    if len(known) < len(labels) or all(high - low == 1 for low, high in known):
        return None
    ends = sorted({end for band in known for end in band})
    pieces = list(pairwise(ends))
    masks = [sum(1 << at for at, piece in enumerate(pieces) if low <= piece[0] < high) for low, high in known]
    return masks, [_called(low, high) for low, high in pieces]


def _called(low: int, high: int) -> str:
    if high >= _TOP:
        return f"{low}+"
    return str(low) if high == low + 1 else f"{low}-{high - 1}"


def _variable(name: str, labels: Sequence[str], masks: Sequence[int], leaf_names: Sequence[str]) -> CountVariable:
    every = (1 << len(leaf_names)) - 1
    codes, leaves, shown = ["Total", *labels], [every, *masks], [True, *([True] * len(labels))]
    have = set(leaves)
    for at, leaf in enumerate(leaf_names):
        if 1 << at not in have:
            codes.append(leaf)
            leaves.append(1 << at)
            shown.append(False)
    return CountVariable(name, tuple(codes), tuple(leaves), tuple(shown), tuple(partitions_of(leaves)))


def partitions_of(leaves: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Return sums of disjoint codes that cover all leaves.

    Every largest part of a code is in one of its sums, filled up with the largest codes that fit, so that what follows
    from subtotals is found one sum at a time. Codes for the same leaves are equal to the first of them.
    """
    first: dict[int, int] = {}
    same = []
    for code, own in enumerate(leaves):
        if first.setdefault(own, code) != code:
            same.append((code, (first[own],)))
    single = [code for own, code in first.items() if own.bit_count() == 1]
    wide = sorted(
        (code for own, code in first.items() if own.bit_count() > 1), key=lambda code: -leaves[code].bit_count()
    )
    found = []
    for code in sorted(wide):
        own = leaves[code]
        inside = [each for each in wide if each != code and leaves[each] & ~own == 0]
        inside += [each for each in single if leaves[each] & ~own == 0]
        covered: set[int] = set()
        for part in inside:
            if part in covered or any(leaves[part] & ~leaves[each] == 0 for each in inside if each in covered):
                continue
            pieces = _filled(own, part, inside, leaves)
            covered.update(pieces)
            found.append((code, tuple(sorted(pieces, key=lambda each: (leaves[each] & -leaves[each]).bit_length()))))
    return found + same


def _filled(own: int, part: int, inside: Sequence[int], leaves: Sequence[int]) -> list[int]:
    left, pieces = own & ~leaves[part], [part]
    for each in inside:
        if left and leaves[each] & ~left == 0:
            pieces.append(each)
            left &= ~leaves[each]
    return pieces
