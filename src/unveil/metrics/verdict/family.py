"""Joint test of all audit statistics, with a bounded false-alarm rate.

There is one hypothesis: given the pool and the release, every choice of N of the N + m people as those in the data was
equally likely. A statistic is a number that grows with how much is given away; it is computed for the people who are in
the data and again for people drawn at random, the same draws for all statistics, and the step-down procedure of the
least p (:mod:`unveil._kernels.verdict.step_down`) makes one error of them.

Scores, thresholds and groups must come from the release or from the whole pool. Whatever looks at who is a member must
be done again in each draw (a set-wise statistic).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.threads import side_by_side
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.hypergeometric import hypergeometric_p, normal_p
from unveil._kernels.verdict.labels import member_sums, singling_out_counts
from unveil._kernels.verdict.step_down import holm, step_down
from unveil.errors import InputError, whole_number
from unveil.metrics.verdict.pool import Pool

#: The error of all families together: a leak-free release is flagged by statistics in at most this many audits.
LEVEL = 0.045
DRAWS = 10_000
#: p is a share of draws, so that many statistics need many of them to be told from chance.
DRAWS_PER_FIGURE = 40
FEWEST_DRAWS = 999
#: A pool of more people is not drawn again: p comes from the hypergeometric or the normal distribution.
DRAWN_UP_TO = 50_000
FEWEST_TRIES = 20
FEWEST_SINGLED_OUT = 10
TOO_FEW = "too few attempts to test"


@dataclass(frozen=True, eq=False)
class FittedGuesses:
    """Number of predicates that fit exactly one member.

    Predicate g fits those at ``places[starts[g]:starts[g + 1]]``.
    """

    starts: IntArray
    places: IntArray

    def __call__(self, drawn: BoolArray) -> FloatArray:
        """Return the number in each draw of labels."""
        return singling_out_counts(drawn, self.starts, self.places)

    def among(self, some: IntArray) -> "FittedGuesses":
        """Return the same for labels of fitting places, ascending."""
        return FittedGuesses(self.starts, np.searchsorted(some, self.places))


@dataclass(frozen=True)
class OwnDraws:
    """A statistic with its own permutation, ``draw(number, rng)``.

    It gives 1 + number values. One example is the order of rows.

    The first is the statistic as it was seen. Draw b of it is made independently of draw b of the labels. Where which
    row is whose is not given away, its place among its draws is as random as any other, whoever the members are; so
    what was seen of both is exchangeable with the draws of both, which is all that is needed to judge them together.
    (Ties among its draws may hang on who the members are, which is why that is exact where there are none, and nearly
    else.)
    """

    draw: Callable[[int, np.random.Generator], FloatArray]


#: Scores of the rows of a pool, zeros and ones as hits or none; guesses; or draws of its own.
Statistic = FloatArray | BoolArray | FittedGuesses | OwnDraws


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureToJudge:
    """A test statistic of the audit.

    Attributes
    ----------
    name
        How it is called; each name once.
    statistic
        Scores of the rows of the pool, whose sum over members counts; or guesses, of which those count that fit exactly
        one member; or draws of its own.
    tries, control_tries
        How many attempts it rests on, on members and on people of the control. Draws of its own need no control.
    about
        About how many different people guesses are; left out where each try is about another person.
    pool
        The name of the pool it is about.
    """

    name: str
    statistic: Statistic
    tries: int
    control_tries: int | None = None
    about: int | None = None
    pool: str = "people"

    def __post_init__(self) -> None:
        if not isinstance(self.statistic, FittedGuesses | OwnDraws):
            scores = np.asarray(self.statistic)
            # Hits are many where everyone is looked at, and a byte holds each.
            scores = scores if scores.dtype == np.bool_ else scores.astype(np.float64, copy=False)
            object.__setattr__(self, "statistic", scores)

    def why_not(self, pool: Pool | None) -> str:
        """Return why it is not judged; nothing where it is.

        Who is a member must not decide what is judged: tries on people count as many as there would be in each table if
        the people of both were divided at random.
        """
        tries = float(self.tries)
        if isinstance(self.statistic, np.ndarray) and pool is not None:
            tries = (self.tries + (self.control_tries or 0)) * min(pool.members, pool.others) / pool.people
        few = tries < FEWEST_TRIES or (self.about is not None and self.about < FEWEST_SINGLED_OUT)
        return TOO_FEW if few else ""


@dataclass(frozen=True, kw_only=True)
class FigureJudgement:
    """Test result of one statistic; NaN with the reason in ``why``.

    ``p`` is its probability by chance alone, ``adjusted`` that of any statistic as clear as this in the whole audit,
    and ``found`` whether the latter is at most the level.
    """

    name: str
    p: float
    adjusted: float
    found: bool
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class FamilyJudgement:
    """Test results of all audit statistics, in the given order.

    Attributes
    ----------
    judgements
        One for each statistic.
    draws
        How many draws p rests on, the fewest of all pools; 0 where no statistic needed any.
    level
        The error of the whole: what adjusted p is held against.
    """

    judgements: tuple[FigureJudgement, ...]
    draws: int
    level: float

    @property
    def found(self) -> tuple[FigureJudgement, ...]:
        """Significant statistics, strongest first.

        There are none in at least 95.5% of audits of leak-free releases.
        """
        return tuple(sorted((one for one in self.judgements if one.found), key=lambda one: (one.adjusted, one.p)))

    @property
    def judged(self) -> int:
        """Number of tests that adjusted p accounts for."""
        return sum(not one.why for one in self.judgements)


def judge(
    figures: Sequence[FigureToJudge],
    pools: Mapping[str, Pool | None],
    *,
    rng: np.random.Generator,
    draws: int = DRAWS,
    level: float = LEVEL,
    shares: Mapping[str, float] | None = None,
) -> FamilyJudgement:
    """Return the p and adjusted p of each statistic.

    Figures of one pool are one family, judged by the same draws. Where there are several pools (some people attacked at
    great expense, everyone, and those on whom it is measured what was learned from others) each may err with its share
    of the level, the same for all by default: adjusted p are divided by it, so that all of them are held against one
    level. A pool is None where there is no control, for statistics with draws of their own.

    A pool of more than 50,000 people is not drawn: scores of 0 and 1 have the exact hypergeometric p, other scores that
    of a normal distribution with the variance of a finite population, and Holm's procedure joins them; statistics that
    count guesses are still drawn, as often as their number requires, and so are all statistics of a pool of households.

    Parameters
    ----------
    figures
        What was computed; statistics with too few tries are shown as such and join no family.
    pools
        The people of each pool by its name.
    rng
        Where draws come from. Shuffled rows and any number of threads give the same p.
    draws
        How many draws are made of each pool, if need be more: 40 for each statistic, and at least 999.
    level
        The probability with which a leak-free release may be flagged.
    shares
        The share of the level that each pool has; together at most 1.

    Examples
    --------
    >>> pool = Pool(is_member=np.arange(80) < 40, contents=np.arange(80))
    >>> hit = FigureToJudge(name="copies", statistic=(np.arange(80) < 12) * 1.0, tries=40, control_tries=40)
    >>> few = FigureToJudge(name="order", statistic=np.zeros(80), tries=4, control_tries=4)
    >>> family = judge([hit, few], {"people": pool}, rng=np.random.default_rng(0))
    >>> [(one.name, one.found, one.why) for one in family.judgements]
    [('copies', True, ''), ('order', False, 'too few attempts to test')]
    """
    whole_number(draws, "draws")
    _check(figures, pools)
    why = {figure.name: figure.why_not(pools[figure.pool]) for figure in figures}
    share = dict.fromkeys(pools, 1 / max(len(pools), 1)) if shares is None else shares
    p, adjusted, made = {}, {}, []
    for number, (name, pool) in enumerate(pools.items()):
        joined = [figure for figure in figures if figure.pool == name and not why[figure.name]]
        if not joined:
            continue
        own = np.random.default_rng([int(rng.integers(2**63)), number])
        if pool is None or pool.people <= DRAWN_UP_TO or pool.household is not None:
            made.append(draws_needed(len(joined), draws if pool is None or pool.people <= DRAWN_UP_TO else 0))
            alone, together = step_down(_statistics(joined, pool, made[-1], own))
        else:
            fewest = draws_needed(len(joined), 0)
            made += [fewest for figure in joined if not isinstance(figure.statistic, np.ndarray)]
            alone = np.array([_without_draws(figure, pool, fewest, own) for figure in joined])
            together = holm(alone)
        for figure, one, all_of_them in zip(joined, alone, together, strict=True):
            p[figure.name], adjusted[figure.name] = float(one), min(float(all_of_them) / share[name], 1.0)
    return FamilyJudgement(
        judgements=tuple(
            FigureJudgement(
                name=figure.name,
                p=p.get(figure.name, nan),
                adjusted=adjusted.get(figure.name, nan),
                found=adjusted.get(figure.name, nan) <= level,
                why=why[figure.name],
            )
            for figure in figures
        ),
        draws=min(made, default=0),
        level=level,
    )


def draws_needed(figures: int, asked: int = DRAWS) -> int:
    """Return the number of permutations needed for these tests.

    >>> draws_needed(20), draws_needed(20, 100), draws_needed(300)
    (10000, 999, 11999)
    """
    return max(asked, FEWEST_DRAWS, DRAWS_PER_FIGURE * figures - 1)


def singling_out_statistic(pool: Pool, starts: ArrayLike, rows: ArrayLike) -> FittedGuesses:
    """Return the statistic of singling out: predicates that fit one member.

    Guess g fits the rows ``rows[starts[g]:starts[g + 1]]`` of the pool, and so the people they belong to. It is at the
    size of the original for every size of the control.

    >>> pool = Pool(is_member=[True, True, False], contents=[1, 2, 3])
    >>> singling_out_statistic(pool, [0, 1, 3], [0, 1, 2])(pool.labels[None])
    array([2.])
    """
    return FittedGuesses(*pool.fitted(starts, rows))


def _check(figures: Sequence[FigureToJudge], pools: Mapping[str, Pool | None]) -> None:
    names = [figure.name for figure in figures]
    if len(set(names)) < len(names):
        raise InputError(f"{len(names)} statistics have only {len(set(names))} names. Rename some")
    for figure in figures:
        if figure.pool not in pools:
            raise InputError(f"the pool of {figure.name!r} is not one of {sorted(pools)}. Pass its people too")
        if pools[figure.pool] is None and not figure.why_not(None) and not isinstance(figure.statistic, OwnDraws):
            raise InputError(f"{figure.name!r} needs a control group. Pass a control, or leave it out")


def _statistics(
    figures: Sequence[FigureToJudge], pool: Pool | None, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return the statistics at [draw, statistic]; row 0 is observed."""
    found = np.empty((draws + 1, len(figures)))
    # Apart, so that labels are the same whether or not some statistics have draws of their own.
    of_labels, of_rows = rng.spawn(2)

    def draw_own() -> None:
        for at, figure in enumerate(figures):
            if isinstance(figure.statistic, OwnDraws):
                found[:, at] = figure.statistic.draw(draws, of_rows)

    if pool is None:
        draw_own()
        return found
    scored = [at for at, figure in enumerate(figures) if isinstance(figure.statistic, np.ndarray)]
    scores = np.zeros((pool.people, len(scored)))
    for column, at in enumerate(scored):
        scores[:, column] = pool.scores(figures[at].statistic)  # type: ignore[arg-type]
    each_of = ((at, figure.statistic) for at, figure in enumerate(figures))
    fitted = [(at, each) for at, each in each_of if isinstance(each, FittedGuesses)]
    seen, used = pool.labels, None
    some = np.union1d(np.flatnonzero(scores.any(axis=1)), np.concatenate([[], *(each.places for _, each in fitted)]))
    if 2 * some.size < pool.people:
        # People without a part in any statistic need no label.
        used = some = some.astype(np.int64)
        seen, scores = pool.labels[some], scores[some]
        fitted = [(at, each.among(some)) for at, each in fitted]
    drawn_labels = pool.draw_labels(draws, of_labels, used)

    def figures_of(make: Callable[[], BoolArray]) -> FloatArray:
        drawn = make()
        block = np.empty((len(drawn), len(figures)))
        block[:, scored] = member_sums(drawn, scores)
        for at, guesses in fitted:
            block[:, at] = guesses(drawn)
        return block

    counted = [*scored, *(at for at, _ in fitted)]
    blocks = [partial(figures_of, make) for make in (lambda: seen[None], *drawn_labels)]
    _, *of_blocks = side_by_side(draw_own, *blocks)
    found[:, counted] = np.concatenate(of_blocks)[:, counted]
    return found


def _without_draws(figure: FigureToJudge, pool: Pool, draws: int, rng: np.random.Generator) -> float:
    """Return p of one statistic without permutations, for large pools."""
    if not isinstance(figure.statistic, np.ndarray):
        return float(step_down(_statistics([figure], pool, draws, rng)).p[0])
    hits = pool.hits(figure.statistic)
    if hits is None:
        return normal_p(pool.scores(figure.statistic), pool.labels)
    return hypergeometric_p(*hits, pool.members, pool.others)
