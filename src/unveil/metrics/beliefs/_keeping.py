"""Definition 14 by one kept share per record, instead of a coupling.

A guess q is compatible with the truth p if some coupling ``f(z, x) <= f(z, z)`` has row sums p and column sums q. Let
``k(z)`` be what z keeps of its own mass in any case, at most ``min(p(z), q(z))``. Then the rest, ``p - k``, must reach
the rest of what is asked for, ``q - k``, with at most ``k(z)`` from z to any one record (z itself may take more: that
only helps). A way with such limits exists, by cuts of the flow, exactly if for every number t the t records that lack
most lack no more than can reach them:

    sum of the t greatest q - k  <=  sum over z of min(p(z) - k(z), t * k(z)).

The left side is convex in k and the right side concave, so that the search for k is a convex one in n numbers, with
n conditions that one sorting evaluates. Linear programs over the conditions met so far find it. To keep them small, the
records of a coarse group keep the same share of what they could; a k that is found is a proof all the same, and the
prices of the conditions are a score that is then checked on every record by itself.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Differences of probability up to this are rounding.
_TOLERANCE = 1e-9
#: How finely groups are distinguished by the logarithms of p and q, one after the other: from some 20 to some 200
#: groups.
RESOLUTIONS = (0.25, 0.5, 1.0)
#: Linear programs at one resolution; most cases need a handful, and those that need more are next to a tie.
_PROGRAMS = 60
#: Shares are first looked for this near to keeping all, which is nearly right where it is wrong; far steps go astray.
_FIRST_RADIUS = 0.1
#: After this many steps it is asked whether any shares at all could do.
_EVERY = 3
#: Conditions that are added after one program.
_ADDED = 7
_LEAST = 1e-9


class RecordShares(NamedTuple):
    """Numbers of records with the same p and q (``members``)."""

    members: FloatArray
    truth: FloatArray
    guess: FloatArray

    @property
    def most(self) -> FloatArray:
        """Return the largest share that each record could keep."""
        return np.minimum(self.truth, self.guess)


class KeepingResult(NamedTuple):
    """Whether records can keep enough; otherwise a refuting score per group."""

    fits: bool
    score: FloatArray | None = None


class KeepingConditions(NamedTuple):
    """Deficits for each number t of records, by sorted group borders."""

    order: IntArray
    many: FloatArray
    lacking: FloatArray
    #: To this many records the rest of each group can go.
    reach: FloatArray


def conditions(shares: RecordShares, kept: FloatArray) -> KeepingConditions:
    """Return the violation of each condition; at most 0 if all hold.

    Between the borders of groups the left side is linear in t and the right side concave, so that no t lacks more.

    >>> half = RecordShares(np.ones(3), np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5]))
    >>> bool(conditions(half, half.most).lacking.max() <= 0)
    True
    """
    needs, spare, members = shares.guess - kept, shares.truth - kept, shares.members
    order = np.argsort(-needs, kind="stable")
    count = np.cumsum(members[order])
    asked = np.cumsum((members * needs)[order])
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(kept > 0, spare / kept, np.where(spare > 0, np.inf, 0.0))
    by_reach = np.argsort(reach, kind="stable")
    done = np.concatenate([[0.0], np.cumsum((members * spare)[by_reach])])
    going = np.concatenate([np.cumsum((members * kept)[by_reach][::-1])[::-1], [0.0]])
    place = np.searchsorted(reach[by_reach], count, side="right")
    return KeepingConditions(order, count, asked - done[place] - count * going[place], reach)


def search(shares: RecordShares, resolution: float) -> KeepingResult | None:
    """Search kept shares per large group; return None if nothing is decided.

    >>> certain = RecordShares(np.ones(2), np.array([1.0, 0.0]), np.array([0.25, 0.75]))
    >>> search(certain, 1.0).fits
    False
    """
    label = _coarse(shares, resolution)
    known, centre, radius = _KnownConditions(shares, label), np.ones(int(label.max()) + 1), _FIRST_RADIUS
    trial, least = centre, np.inf
    for step in range(_PROGRAMS):
        found = conditions(shares, trial[label] * shares.most)
        lacking = float(found.lacking.max())
        if lacking <= _TOLERANCE:
            return KeepingResult(True)
        if lacking < least:
            least, centre, radius = lacking, trial, min(1.0, 1.5 * radius)
        else:
            radius *= 0.7
        if not known.add(found) and radius < _TOLERANCE:
            return None
        if step % _EVERY == _EVERY - 1:
            bound = known.solved(np.zeros(centre.size), np.ones(centre.size))
            if bound is not None and bound.lacking > _TOLERANCE:
                return KeepingResult(False, bound.score)
        near = known.solved(np.maximum(centre - radius, 0.0), np.minimum(centre + radius, 1.0))
        if near is None:
            return None
        trial = near.part
    return None


def _coarse(shares: RecordShares, resolution: float) -> IntArray:
    """Return groups by the logarithms of p and q, and the greater."""
    heights = [np.round(np.log2(np.maximum(each, _LEAST)) * resolution) for each in (shares.truth, shares.guess)]
    keys = np.stack([*heights, shares.guess <= shares.truth], axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


class _KeepingSolution(NamedTuple):
    """Shares with the smallest deficit, and dual prices as record scores."""

    part: FloatArray
    lacking: float
    score: FloatArray


class _KnownConditions:
    """Conditions met so far, as rows of a linear program.

    The variables are the shares that groups keep.
    """

    def __init__(self, shares: RecordShares, label: IntArray) -> None:
        self.shares, self.label, self.groups = shares, label, int(label.max()) + 1
        self.lines: list[FloatArray] = []
        self.bounds: list[float] = []
        self.asking: list[BoolArray] = []
        self.seen: set[bytes] = set()

    def add(self, conditions: KeepingConditions) -> int:
        """Add the worst conditions; return the number of new ones."""
        before, lacking = len(self.lines), conditions.lacking
        padded = np.concatenate([[-np.inf], lacking, [-np.inf]])
        peak = np.flatnonzero((lacking > _TOLERANCE) & (lacking >= padded[:-2]) & (lacking >= padded[2:]))
        for place in peak[np.argsort(-lacking[peak], kind="stable")][:_ADDED].tolist():
            self._line(conditions, place)
        return len(self.lines) - before

    def _line(self, conditions: KeepingConditions, place: int) -> None:
        members, truth, guess = self.shares
        asking = np.zeros(members.size, np.bool_)
        asking[conditions.order[: place + 1]] = True
        whole = conditions.reach <= conditions.many[place]  # their rest is gone before each of the t has had its limit
        key = asking.tobytes() + whole.tobytes()
        if key in self.seen:
            return
        self.seen.add(key)
        weight = members * self.shares.most * (np.where(whole, 1.0, -conditions.many[place]) - asking)
        self.lines.append(np.bincount(self.label, weight, self.groups).astype(np.float64))
        self.bounds.append(float(np.sum((members * truth)[whole]) - np.sum((members * guess)[asking])))
        self.asking.append(asking)

    def solved(self, low: FloatArray, high: FloatArray) -> _KeepingSolution | None:
        """Return the shares between two bounds that fail least.

        A condition asks on behalf of its t records; a record that keeps all that it is guessed takes from its score.
        """
        from scipy.optimize import linprog

        lines = np.hstack([np.array(self.lines), -np.ones((len(self.lines), 1))])
        found = linprog(
            np.append(np.zeros(self.groups), 1.0),
            A_ub=lines,
            b_ub=np.array(self.bounds),
            bounds=np.column_stack([np.append(low, -np.inf), np.append(high, np.inf)]),
            method="highs",
        )
        if found.status != 0:
            return None
        price, full = -found.ineqlin.marginals, -found.upper.marginals[:-1]
        could = np.bincount(self.label, self.shares.members * self.shares.most, self.groups)
        full = np.divide(full, could, out=np.zeros(self.groups), where=could > 0)[self.label]
        score = price @ np.array(self.asking, np.float64) - np.where(self.shares.guess <= self.shares.truth, full, 0.0)
        return _KeepingSolution(np.clip(found.x[:-1], 0.0, 1.0), float(found.x[-1]), score)
