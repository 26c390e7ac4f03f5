"""Groups of rows that a split keeps together, by their definition: slow and obvious."""

from collections.abc import Sequence


def groups_of_rows(person: Sequence[object], household: Sequence[object]) -> list[set[int]]:
    """Return sets of rows that steps over shared people and households connect.

    None is shared with no other row.
    """
    left, found = set(range(len(person))), []
    while left:
        group, grew = {min(left)}, True
        while grew:
            more = {
                row
                for row in left
                for other in group
                for key in (person, household)
                if key[row] is not None and key[row] == key[other]
            }
            grew = not more <= group
            group |= more
        left -= group
        found.append(group)
    return found
