"""A protection as it is written on the command line and in files."""

from unveil._specification import from_text
from unveil.protect._listing import PROTECTIONS, Protects


def protection_from(text: str) -> Protects:
    """Return the protection that ``text`` describes: ``name:key=value,key=value``, or ``package.module:Class``.

    The names are those of ``unveil list protections``; :func:`unveil._specification.from_text` has the details.

    >>> protection_from("rank-swapping:share=0.1,columns=age,income")
    RankSwapping(columns=('age', 'income'), share=0.1, p=None, shuffle=True, draws=None, seed=0)
    """
    known = {protection.name: protection.make for protection in PROTECTIONS.values()}
    aka = {other: protection.name for protection in PROTECTIONS.values() for other in protection.aka}
    made: Protects = from_text(text, known, aka=aka, what="protection", method="apply")
    return made
