"""Sets of elements as flat rows, and their atoms.

The rows of a family are in ascending order of the number that has their elements as bits: whoever holds the largest
element that the other lacks comes later. Atoms are numbered by their largest element, so the same order holds for sets
of atoms as whole numbers.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unveil._kernels.mass.masses import WORD, Masks, mask_type
from unveil._kernels.types import BoolArray, FloatArray, IntArray

_ROWS_PER_PASS = 62
_PASSES = 20
_CELLS_AT_ONCE = 2**24


class SetRows(NamedTuple):
    """Set ``k`` holds ``element[start[k]:start[k + 1]]``, ascending and distinct."""

    start: IntArray
    element: IntArray


class Atoms:
    """Partition of the elements: ``label[k]`` is the atom of ``element[k]``."""

    def __init__(self, element: IntArray, label: IntArray) -> None:
        self.element = element
        self.label = label

    @cached_property
    def sizes(self) -> IntArray:
        """The number of elements of each atom."""
        return np.bincount(self.label)

    @cached_property
    def first(self) -> IntArray:
        """Where in ``element`` the first one of each atom is."""
        return np.unique(self.label, return_index=True)[1]

    @property
    def count(self) -> int:
        """The number of atoms."""
        return int(self.sizes.size)


def canonical(rows: SetRows, mass: FloatArray) -> tuple[SetRows, FloatArray]:
    """Return each set once and in order, with the sum of its masses."""
    count = mass.size
    if count <= 1:
        return rows, mass
    # The largest element first and the most significant byte first: as text, rows sort as the sets do.
    ends = rows.element.size - rows.start
    text = rows.element[::-1].astype(">i8").tobytes()
    keys = [text[8 * low : 8 * high] for low, high in zip(ends[1:].tolist(), ends[:-1].tolist(), strict=True)]
    order = sorted(range(count), key=keys.__getitem__)
    if order == list(range(count)) and len(set(keys)) == count:
        return rows, mass
    kept: list[int] = []
    sums: list[float] = []
    for k in order:
        if kept and keys[k] == keys[kept[-1]]:
            sums[-1] += float(mass[k])
        else:
            kept.append(k)
            sums.append(float(mass[k]))
    return chosen_rows(rows, np.array(kept)), np.array(sums)


def chosen_rows(rows: SetRows, which: IntArray) -> SetRows:
    """Return these sets, in this order."""
    lengths = np.diff(rows.start)[which]
    start = np.concatenate([[0], np.cumsum(lengths)])
    at = np.arange(start[-1]) + np.repeat(rows.start[which] - start[:-1], lengths)
    return SetRows(start, rows.element[at])


def joined_rows(parts: Sequence[SetRows]) -> SetRows:
    """Return the sets of several families one after the other."""
    lengths = np.concatenate([np.diff(part.start) for part in parts])
    return SetRows(np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([part.element for part in parts]))


def is_member(elements: IntArray, event: IntArray) -> BoolArray:
    """Return the elements that lie in an ascending event."""
    if event.size == 0:
        return np.zeros(elements.size, np.bool_)
    at = np.minimum(np.searchsorted(event, elements), event.size - 1)
    found: BoolArray = event[at] == elements
    return found


def shared_counts(rows: SetRows, event: IntArray) -> IntArray:
    """Return the size of each set's intersection with an ascending event."""
    return np.add.reduceat(is_member(rows.element, event).astype(np.int64), rows.start[:-1])


def atoms_of(rows: SetRows) -> Atoms:
    """Return the blocks of elements that lie in the same sets."""
    if rows.start.size == 2:
        return Atoms(rows.element, np.zeros(rows.element.size, np.int64))
    element, at = np.unique(rows.element, return_inverse=True)
    row_of = np.repeat(np.arange(rows.start.size - 1), np.diff(rows.start))
    if rows.start.size > _PASSES * _ROWS_PER_PASS:
        return Atoms(element, _by_largest(_same_rows(at, row_of)))
    label = np.zeros(element.size, np.int64)
    for low in range(0, rows.start.size - 1, _ROWS_PER_PASS):
        some = slice(rows.start[low], rows.start[min(low + _ROWS_PER_PASS, rows.start.size - 1)])
        members = np.zeros(element.size, np.int64)
        np.add.at(members, at[some], np.int64(1) << (row_of[some] - low))  # no row holds an element twice
        label = _finer(label, members)
    return Atoms(element, _by_largest(label))


def _same_rows(at: IntArray, row_of: IntArray) -> IntArray:
    """Return equal labels for positions in the same rows."""
    order = np.argsort(at, kind="stable")
    ends = (8 * np.cumsum(np.bincount(at))).tolist()
    text = row_of[order].tobytes()
    number: dict[bytes, int] = {}
    labels = [number.setdefault(text[low:high], len(number)) for low, high in pairwise([0, *ends])]
    return np.array(labels)


def common_atoms(several: Sequence[Atoms]) -> Atoms:
    """Return the least fine partition that refines all given ones."""
    if all(atoms is several[0] for atoms in several):
        return several[0]
    element = np.unique(np.concatenate([atoms.element for atoms in several]))
    label = np.zeros(element.size, np.int64)
    for atoms in several:
        label = _finer(label, _codes(atoms, element))
    return Atoms(element, _by_largest(label))


def _codes(atoms: Atoms, element: IntArray) -> IntArray:
    """Return the atom of each element plus 1, 0 for none."""
    codes = np.zeros(element.size, np.int64)
    codes[np.searchsorted(element, atoms.element)] = atoms.label + 1
    return codes


def _finer(label: IntArray, other: IntArray) -> IntArray:
    """Return labels that differ wherever either of two labels does."""
    values, codes = np.unique(other, return_inverse=True)
    finer: IntArray = np.unique(label * values.size + codes, return_inverse=True)[1]
    return finer


def _by_largest(label: IntArray) -> IntArray:
    """Return the same blocks, numbered by their last position."""
    last = np.zeros(int(label.max()) + 1, np.int64)
    np.maximum.at(last, label, np.arange(label.size))
    number = np.empty(last.size, np.int64)
    number[np.argsort(last)] = np.arange(last.size)
    return number[label]


def entries_of(rows: SetRows, atoms: Atoms) -> SetRows:
    """Return the atom numbers of each set, by first element."""
    label = np.full(atoms.element.size, -1)
    label[atoms.first] = np.arange(atoms.count)
    entry = label[np.searchsorted(atoms.element, rows.element)]
    kept = entry >= 0
    return SetRows(np.concatenate([[0], np.cumsum(kept)])[rows.start], entry[kept])


def masks_of(rows: SetRows, atoms: Atoms) -> Masks:
    """Return each set as a set of atoms, of which it must consist."""
    start, entry = entries_of(rows, atoms)
    if atoms.count <= WORD:
        return np.bitwise_or.reduceat(np.int64(1) << entry, start[:-1])
    masks = np.empty(rows.start.size - 1, object)
    for k in range(masks.size):
        bits = np.zeros(atoms.count, np.bool_)
        bits[entry[start[k] : start[k + 1]]] = True
        masks[k] = int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
    return masks


def moved_masks(masks: Masks, atoms: Atoms, finer: Atoms) -> Masks:
    """Return atom sets as sets of at most 63 finer atoms."""
    if atoms is finer:
        return masks
    codes = _codes(atoms, finer.element)[finer.first]
    moved = np.zeros(masks.size, np.int64)
    for atom in range(atoms.count):
        image = sum(1 << k for k in np.flatnonzero(codes == atom + 1).tolist())
        moved |= ((masks >> atom) & 1).astype(np.int64) * np.int64(image)
    return moved


def coarsened(masks: Masks, atoms: Atoms) -> Atoms:
    """Return the blocks of elements in the same sets."""
    columns = [np.packbits(((masks >> atom) & 1).astype(np.bool_)).tobytes() for atom in range(atoms.count)]
    number = {column: k for k, column in enumerate(sorted(set(columns)))}
    used = [any(column) for column in columns]
    if len(number) == atoms.count and all(used):
        return atoms
    kept = np.array(used)[atoms.label]
    label = np.array([number[column] for column in columns])[atoms.label][kept]
    return Atoms(atoms.element[kept], _by_largest(np.unique(label, return_inverse=True)[1]))


def rows_of(masks: Masks, atoms: Atoms) -> SetRows:
    """Return sets of atoms as rows of elements."""
    lengths, elements = [], []
    step = max(1, _CELLS_AT_ONCE // max(1, atoms.element.size))
    for low in range(0, masks.size, step):
        holds = _bits(masks[low : low + step], atoms.count)[:, atoms.label]
        lengths.append(holds.sum(axis=1))
        elements.append(atoms.element[np.nonzero(holds)[1]])
    return SetRows(np.concatenate([[0], np.cumsum(np.concatenate(lengths))]), np.concatenate(elements))


def _bits(masks: Masks, count: int) -> BoolArray:
    """Return for each set and atom whether the set holds the atom."""
    if mask_type(count) is not object:
        return ((masks[:, None] >> np.arange(count)) & 1).astype(np.bool_)
    width = (count + 7) // 8
    text = b"".join(mask.to_bytes(width, "little") for mask in masks.tolist())
    packed = np.frombuffer(text, np.uint8).reshape(masks.size, width)
    return np.unpackbits(packed, axis=1, count=count, bitorder="little").astype(np.bool_)
