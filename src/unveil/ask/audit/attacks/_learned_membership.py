"""Membership by an adversary who knows of some people whether they are in the data, and learned from them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from unveil.ask.audit.attacks.attack import AttackedRelease
from unveil.ask.audit.findings import Scenario
from unveil.ask.audit.separation import ExposedPerson, NamedShare, ScoreArea, Separation, UnusualPeople
from unveil.ask.audit.trials import Evidence, Tried, by_groups, figure_of, finding_of, grouped, not_run, without_rates
from unveil.guess.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray, IntArray
    from unveil.ask.audit.people import Parts
    from unveil.data.table import Table

#: Shares of people outside the data who are named wrongly, at which it is told how many members are named.
WRONGLY = (0.05, 0.01, 0.001)
#: The parts of people outside the data who are as far from all others as the people looked at apart.
UNUSUAL = (0.05, 0.01)
#: The level that the report shows, and those by which the release is judged beside it.
SHOWN, BESIDE = 0.05, (0.01, 0.2)
#: The one score that is used where there are too few people to learn from, named before anybody was attacked.
ALONE = "relative"
#: For so many people at most it is looked up which released row gives them away, looking at so many cells in all.
MOST_TRACED, MOST_CELLS = 100, 10**8
#: How sure it must be that people of the two tables lie differently among others before nothing is said.
OTHER_KIND = 0.99


def learned(attacked: AttackedRelease) -> tuple[Tried, ...]:
    """Return how often those measured are called members, and whom that exposes; nothing without people to divide."""
    from unveil.attack.table.membership_scores import SCORES, Combination, score_people, unusual
    from unveil.measure.trials.membership import area_under_curve

    parts, release = attacked.drawn.parts, attacked.prepared.release
    if parts is None or release.control is None:
        return ()
    columns = attacked.prepared.known + attacked.prepared.sensitive
    population = release.control.take(parts.population)
    measured = (release.original.take(parts.measured[0]), release.control.take(parts.measured[1]))
    scale = attacked.drawn.scale
    far = unusual(population=population, people=measured, columns=columns, scale=scale)
    apart = area_under_curve(*far, confidence=OTHER_KIND)
    if not apart.low <= 0.5 <= apart.high:
        return (not_run(attacked.attack, _OTHER_KIND, scenario=_scenario(parts, columns)),)
    teachers = (release.original.take(parts.learning[0]), release.control.take(parts.learning[1]))
    scored = score_people(
        released=release.released,
        population=population,
        people=(*measured, *(teachers if parts.learns else ())),
        columns=columns,
        names=tuple(SCORES) if parts.learns else (ALONE,),
        scale=scale,
        rng=attacked.rng,
    )
    adversary = Combination.learned(scored[2], scored[3]) if parts.learns else None
    members, others = (scores[ALONE] if adversary is None else adversary(scores) for scores in scored[:2])
    reference = None if adversary is None else _reference(scored[2], scored[3])
    found = _tried(attacked, parts, columns, (members, others), reference)
    weights = {} if adversary is None else adversary.weights
    scores = [
        ScoreArea(
            name=name,
            sees=SCORES[name].group,
            area=area_under_curve(scored[0][name], scored[1][name]),
            weights=weights.get(name, ()),
        )
        for name in scored[0]
    ]
    whose = [_whose(attacked, members=side) for side in (True, False)]
    by_person = [_of_people(each, own) for each, own in zip((members, others), whose, strict=True)]
    far_by_person = [_of_people(each, own) for each, own in zip(far, whose, strict=True)]
    separation = _separation(by_person, far_by_person, parts, tuple(scores))
    exposed = _exposed(attacked, parts, (members, others), (far[0], far[1]), measured[0], population)
    return (replace(found, finding=replace(found.finding, separation=separation), exposed=exposed),)


def _reference(members: "Mapping[str, FloatArray]", others: "Mapping[str, FloatArray]") -> "FloatArray":
    """Return what people score who are not in the data, each by what was learned without a fifth of them and theirs.

    Those learned from score lower than others do: they would make a threshold that too many are above.
    """
    from unveil.attack.table.membership_scores import Combination

    def some(scores: "Mapping[str, FloatArray]", fold: int, *, left_out: bool) -> "dict[str, FloatArray]":
        return {name: each[(np.arange(each.size) % _FOLDS == fold) == left_out] for name, each in scores.items()}

    found = []
    for fold in range(_FOLDS):
        rest = (some(side, fold, left_out=False) for side in (members, others))
        found.append(Combination.learned(*rest)(some(others, fold, left_out=True)))
    return np.concatenate(found)


_FOLDS = 5
_OTHER_KIND = (
    "Nothing was learned: how far people are from others tells those in the data from those of the control, whatever "
    "was released, so that the control is of another kind."
)


def _scenario(parts: "Parts", columns: tuple[str, ...]) -> Scenario:
    if not parts.learns:
        reason = "calls those members to whom a released record is nearer than to anybody outside"
        return Scenario(name="by relative nearness", first=columns, reason=reason, origin="all")
    number = min(each.size for each in parts.learning)
    reason = f"learned from {number} people of each kind, who were not attacked, what tells members apart"
    return Scenario(name="learned", first=columns, reason=reason, origin="all")


def _tried(
    attacked: AttackedRelease,
    parts: "Parts",
    columns: tuple[str, ...],
    scores: "tuple[FloatArray, FloatArray]",
    reference: "FloatArray | None",
) -> Tried:
    """Return what the adversary reaches, and the figures that it is judged by.

    Somebody is called a member who scores higher than all but a share of the outsiders it was learned from; without
    such people, who is in the highest share of all who are measured. Who is in the data plays no part in either.
    """
    from unveil._kernels.neighbours.density import chance_of_highest
    from unveil.attack.table.membership import highest, ranks

    drawn, every = attacked.drawn, np.concatenate(scores)
    who = _scenario(parts, columns)

    def called(level: float) -> Trials:
        exact = Fraction(repr(level))
        chances = highest(every, level) if reference is None else chance_of_highest(every, reference, exact)
        sides = [Attempts.from_chances(side, rows=np.arange(side.size)) for side in np.split(chances, [scores[0].size])]
        naive = Attempts.from_chances(np.full(scores[0].size, level))
        return Trials(attack=sides[0], naive=naive, control=sides[1], what="it is called a member")

    def evidence(level: float, name: str) -> Evidence:
        trials = called(level)
        about = finding_of(attacked.attack, trials, scenario=replace(who, name=name))
        figure = figure_of(about, control_tries=scores[1].size)
        if level > SHOWN:
            # Being called among so many gives nobody away by itself: it proves, and is not what a headline tells.
            figure = without_rates(figure)
        statistic = np.concatenate([_chances(trials.attack), _chances(trials.control)])
        return Evidence(figure=figure, statistic=statistic, pool="measured", is_shown=name == who.name)

    shown = evidence(SHOWN, who.name)
    # A mean rank is no share of people.
    rank = replace(without_rates(shown.figure), adversary=f"{who.name}, mean rank")
    trials = called(SHOWN)
    return Tried(
        finding=finding_of(attacked.attack, trials, scenario=who, groups=grouped(trials, drawn, "measured")),
        evidence=(
            shown,
            *(evidence(level, f"{who.name}, {100 * level:g}% called") for level in BESIDE),
            *(by_groups(drawn.people, shown) if drawn.people.by is not None else ()),
            replace(shown, figure=rank, statistic=ranks(every), is_shown=False),
        ),
    )


def _chances(attempts: Attempts | None) -> "FloatArray":
    return np.empty(0) if attempts is None or attempts.chances is None else attempts.chances


def _whose(attacked: AttackedRelease, *, members: bool) -> "IntArray | None":
    """Return whose each row is of the members, or of the others, who are measured; None where each is a person."""
    people = attacked.drawn.people
    person = people.person("measured")
    return None if person is None else person[people.is_member("measured") == members]


def _of_people(scores: "FloatArray", person: "IntArray | None") -> "FloatArray":
    """Return one score for each person: the mean over the rows."""
    if person is None:
        return scores
    _, place = np.unique(person, return_inverse=True)
    return np.bincount(place, weights=scores) / np.bincount(place)


def _separation(
    scores: "Sequence[FloatArray]", far: "Sequence[FloatArray]", parts: "Parts", alone: tuple[ScoreArea, ...]
) -> Separation:
    from unveil.measure.trials.membership import area_under_curve, called_at, curve, pointed_out

    members, others = scores

    def of_unusual(share: float) -> UnusualPeople:
        # The same cut for both: where outsiders have it.
        edge = np.quantile(far[1], 1 - share, method="higher")
        own, other = members[far[0] >= edge], others[far[1] >= edge]
        named = called_at(own, other, SHOWN)
        return UnusualPeople(
            share=share,
            members=own.size,
            others=other.size,
            area=area_under_curve(own, other),
            named=NamedShare(wrongly=SHOWN, rate=named),
        )

    return Separation(
        area=area_under_curve(members, others),
        named=tuple(NamedShare(wrongly=each, rate=called_at(members, others, each)) for each in WRONGLY),
        pointed_out=int(np.count_nonzero(pointed_out(members, others))),
        members=members.size,
        others=others.size,
        learned_from=(parts.learning[0].size, parts.learning[1].size),
        population=parts.population.size,
        scores=alone,
        unusual=tuple(of_unusual(each) for each in UNUSUAL),
        curve=curve(members, others),
    )


def _exposed(
    attacked: AttackedRelease,
    parts: "Parts",
    scores: "tuple[FloatArray, FloatArray]",
    far: "tuple[FloatArray, FloatArray]",
    members: "Table",
    population: "Table",
) -> tuple[ExposedPerson, ...]:
    """Return how exposed each member is who was measured, the most exposed first."""
    from unveil.attack.table.membership_scores import given_away_by
    from unveil.measure.trials.membership import pointed_out

    # Of people who are equally exposed the more unusual first, then as the lot has it.
    order = np.lexsort((-far[0], -scores[0]))
    above, less = np.sort(scores[1]), np.sort(far[1])
    as_exposed = above.size - np.searchsorted(above, scores[0], "left")
    unusual = np.searchsorted(less, far[0], "left") / max(less.size, 1)
    named = pointed_out(scores[0], scores[1])
    released = attacked.prepared.release.released
    cells = max(released.rows * len(released.column_names), 1)
    traced = order[: min(MOST_TRACED, max(MOST_CELLS // cells, 1))]
    ways = given_away_by(
        released=released,
        population=population,
        people=members,
        rows=traced,
        columns=attacked.prepared.known + attacked.prepared.sensitive,
        scale=attacked.drawn.scale,
    )
    way_of = dict(zip(traced.tolist(), ways, strict=True))
    return tuple(
        ExposedPerson(
            row=int(parts.measured[0][place]),
            as_exposed=int(as_exposed[place]),
            others=above.size,
            pointed_out=bool(named[place]),
            unusual=float(unusual[place]),
            released_row=way_of[place].row if place in way_of else -1,
            columns=way_of[place].columns if place in way_of else (),
        )
        for place in order.tolist()
    )
