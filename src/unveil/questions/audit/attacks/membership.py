"""Membership inference by two scores and a learned one."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unveil.guesses.trials import Attempts, Trials, mean_of_rows
from unveil.metrics.verdict.effects import cross_fitted_membership
from unveil.questions.audit.attack_results import (
    AttackResult,
    FigureEvidence,
    by_groups,
    figure_of,
    finding_of,
    grouped,
    not_run,
    tried,
    without_rates,
)
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import (
    SEPARABLE,
    AttackScenario,
    ExposedPerson,
    OutlierMembership,
    ScoreArea,
    Separation,
    TprAtFpr,
)
from unveil.questions.audit.people import per_person

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray, IntArray
    from unveil.attacks.table.membership_scores import LearnedCombination
    from unveil.data.table import Table
    from unveil.metrics.epsilon.bound import EpsilonBound
    from unveil.metrics.trials.risk import Rate
    from unveil.questions.audit.people import LearnMeasureSplit


#: Names of scores and of their families in reports, where they differ.
SCORE_NAMES = {"nearest": "dcr", "density": "density_ratio", "relative": "dcr_difference"}
FAMILIES = {"nearness": "distances"}
#: The false-positive rates at which the TPR is stated.
FPRS = (0.05, 0.01, 0.001)
#: The parts of people outside the data who are as far from all others as the people looked at apart.
OUTLIERS = (0.05, 0.01)
#: The level that the report shows, and those by which the release is judged beside it.
SHOWN, BESIDE = 0.05, (0.01, 0.2)
#: The one score that is used where there are too few people to learn from, named before anybody was attacked.
ALONE = "relative"
#: The scores whose curves are drawn next to that of what was learned.
DRAWN = ("nearest", "density")
#: For so many people at most it is looked up which released row gives them away, looking at so many cells in all.
MOST_TRACED, MOST_CELLS = 100, 10**8
#: How sure it must be that people of the two tables lie differently among others before nothing is said.
OTHER_KIND = 0.99


def learned(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return membership findings, and the people that they expose."""
    from unveil.attacks.table.membership import TREES_FROM
    from unveil.attacks.table.membership_scores import SCORES, LearnedCombination, unusual
    from unveil.metrics.trials.membership import area_under_curve, curve

    if attacked.drawn.parts is None or attacked.prepared.release.control is None:
        return ()
    case = _Case(attacked, attacked.drawn.parts, attacked.prepared.release.control)
    far = unusual(population=case.population, people=case.measured, columns=case.columns, scale=attacked.drawn.scale)
    scored = case.calibrated(case.scores(attacked.prepared.release.released, (*case.measured, *case.teachers)))
    # Decided once: those who learn from four fifths for the threshold must learn in the same way.
    trees = case.parts.learning[0].size >= TREES_FROM
    adversary = LearnedCombination.learned(*scored[2:], trees=trees) if case.parts.learns else None
    reference = scored[2][ALONE] if adversary is None else _reference(*scored[2:], trees=trees)
    # Whom the lot divided is of one kind.
    apart = None if attacked.drawn.people.by_lot else case.told_apart_without_the_release(adversary, far)
    if apart is not None and not apart.low <= 0.5 <= apart.high:
        made = not_run(attacked.attack, _OTHER_KIND, scenario=case.scenario)
        return (replace(made, finding=replace(made.finding, figures={SEPARABLE: apart.value})),)
    members, others = (scores[ALONE] if adversary is None else adversary(scores) for scores in scored[:2])
    found = _tried_scores(case, (members, others), reference)
    scores = tuple(
        ScoreArea(
            name=SCORE_NAMES.get(name, name),
            sees=FAMILIES.get(SCORES[name].group, SCORES[name].group),
            area=area_under_curve(scored[0][name], scored[1][name]),
            weights=() if adversary is None else adversary.weights[name],
            curve=curve(scored[0][name], scored[1][name]) if adversary is not None and name in DRAWN else None,
        )
        for name in scored[0]
    )
    own = case.by_person((members, others))
    separation = replace(_separation(own, reference, case.by_person(far), case, scores), epsilon=_epsilon(case, own))
    exposed = _exposed(case, (members, others), reference, far)
    return (replace(found, finding=replace(found.finding, separation=separation), exposed=exposed),)


@dataclass(frozen=True, eq=False)
class _Case:
    """One release with reference, training, and measured people."""

    attacked: AttackedRelease
    parts: "LearnMeasureSplit"
    control: "Table"

    @property
    def columns(self) -> tuple[str, ...]:
        return self.attacked.prepared.known + self.attacked.prepared.sensitive

    @cached_property
    def population(self) -> "Table":
        given = self.attacked.prepared.reference
        return self.control.take(self.parts.population) if given is None else given

    @cached_property
    def measured(self) -> "tuple[Table, Table]":
        return self._members.take(self.parts.measured[0]), self.control.take(self.parts.measured[1])

    @cached_property
    def teachers(self) -> "tuple[Table, ...]":
        """Training people: members where there are enough, and non-members."""
        others = self.control.take(self.parts.learning[1])
        return (self._members.take(self.parts.learning[0]), others) if self.parts.learns else (others,)

    @property
    def _members(self) -> "Table":
        return self.attacked.prepared.release.original

    @property
    def scenario(self) -> AttackScenario:
        if not self.parts.learns:
            name, reason = "DCR-difference score", "flags people closer to the release than non-members are"
        else:
            number = min(self.learned_from)
            name = "learned score"
            reason = f"trained on {number} members and {number} non-members who were not measured"
        return AttackScenario(name=name, first=self.columns, reason=reason, origin="all")

    def scores(self, released: "Table", people: "Sequence[Table]") -> "list[dict[str, FloatArray]]":
        """Return the scores of people against these released rows."""
        from unveil.attacks.table.membership_scores import SCORES, score_people

        return score_people(
            released=released,
            population=self.population,
            people=people,
            columns=self.columns,
            names=tuple(SCORES) if self.parts.learns else (ALONE,),
            scale=self.attacked.drawn.scale,
            # The same sets of columns against every release.
            rng=deepcopy(self.attacked.rng),
        )

    def calibrated(self, scored: "list[dict[str, FloatArray]]") -> "list[dict[str, FloatArray]]":
        """Return the scores of measured people and teachers, calibrated where there are siblings."""
        from unveil.questions.audit.reference.calibration import calibrated_scores

        siblings = self.attacked.prepared.siblings
        if siblings is None:
            return scored
        own, others = self.parts.measured
        inside, outside = self.parts.learning
        controls = self._members.rows
        rows = [own, controls + others, *([inside] if self.parts.learns else []), controls + outside]
        return calibrated_scores(scored, (*self.measured, *self.teachers), rows, siblings, self.scores)

    def told_apart_without_the_release(
        self, adversary: "LearnedCombination | None", far: "Sequence[FloatArray]"
    ) -> "Rate":
        """Return how well the original alone separates members from non-members.

        They tell nothing about those who are measured unless the control is of another kind, which an adversary who
        learns sees where no check of single columns does. Without anybody to learn from it is how far people are from
        the population that must not tell them apart.
        """
        from unveil.metrics.trials.membership import area_under_curve

        sides = far if adversary is None else [adversary(each) for each in self.scores(self.teachers[0], self.measured)]
        return area_under_curve(*self.by_person(sides), confidence=OTHER_KIND)

    def by_person(self, scores: "Sequence[FloatArray]") -> "list[FloatArray]":
        """Return mean scores per person, of members and of non-members."""
        people = self.attacked.drawn.people
        person, is_member = people.person("measured"), people.is_member("measured")
        if person is None:
            return list(scores)
        return [mean_of_rows(each, person[is_member == side]) for each, side in zip(scores, (True, False), strict=True)]

    def number_of(self, rows: "IntArray", *, outside: bool = False) -> int:
        """Return the number of people with rows in each table."""
        everybody = self.attacked.drawn.people.everybody
        return np.unique(everybody.person[rows + (self._members.rows if outside else 0)]).size

    @property
    def learned_from(self) -> tuple[int, int]:
        """Number of members and of non-members in the training set."""
        return self.number_of(self.parts.learning[0]), self.number_of(self.parts.learning[1], outside=True)


def _reference(members: "Mapping[str, FloatArray]", others: "Mapping[str, FloatArray]", *, trees: bool) -> "FloatArray":
    """Return cross-validated scores of people outside the data.

    Those learned from score lower than others do: they would make a threshold that too many are above.
    """
    from unveil.attacks.table.membership_scores import LearnedCombination

    def some(scores: "Mapping[str, FloatArray]", fold: int, *, left_out: bool) -> "dict[str, FloatArray]":
        return {name: each[(np.arange(each.size) % _FOLDS == fold) == left_out] for name, each in scores.items()}

    found = []
    for fold in range(_FOLDS):
        rest = (some(side, fold, left_out=False) for side in (members, others))
        found.append(LearnedCombination.learned(*rest, trees=trees)(some(others, fold, left_out=True)))
    return np.concatenate(found)


_FOLDS = 5
_OTHER_KIND = (
    "The learned score is not shown. It separates members from the control group without the release, so the control "
    "group is from another population."
)


def _tried_scores(case: _Case, scores: "tuple[FloatArray, FloatArray]", reference: "FloatArray") -> AttackResult:
    """Return the membership finding and its tests.

    Somebody is called a member who scores higher than all but a share of the reference: outsiders who are not measured.
    """
    from unveil._kernels.neighbours.density import chance_of_highest
    from unveil.attacks.table.membership import ranks
    from unveil.metrics.verdict.effects import membership_pair

    attack, drawn, who = case.attacked.attack, case.attacked.drawn, case.scenario
    members, others = case.by_person(scores)
    every = np.concatenate(scores)

    def called(level: float) -> Trials:
        chances = chance_of_highest(every, reference, Fraction(repr(level)))
        sides = [Attempts.from_chances(side, rows=np.arange(side.size)) for side in np.split(chances, [scores[0].size])]
        naive = Attempts.from_chances(np.full(scores[0].size, level))
        return Trials(attack=sides[0], naive=naive, control=sides[1], what="it is called a member")

    def evidence(level: float, name: str) -> FigureEvidence:
        trials = called(level)
        own = per_person(trials, drawn.people, "measured")
        about = finding_of(attack, own, scenario=replace(who, name=name))
        figure = figure_of(about, control_tries=0 if own.control is None else own.control.tries)
        if level > SHOWN:
            # Being called among so many gives nobody away by itself: it proves, and is not what a headline tells.
            figure = without_rates(figure)
        statistic = np.concatenate([_chances(trials.attack), _chances(trials.control)])
        return FigureEvidence(figure=figure, statistic=statistic, pool="measured", is_shown=name == who.name)

    shown = evidence(SHOWN, who.name)
    # The AUC is no share of people.
    rank = replace(without_rates(shown.figure), adversary=f"{who.name}, AUC")
    trials = called(SHOWN)
    own = per_person(trials, drawn.people, "measured")
    return AttackResult(
        finding=finding_of(attack, own, scenario=who, groups=grouped(trials, drawn, "measured")),
        effect=membership_pair(members, others, reference),
        evidence=(
            shown,
            *(evidence(level, f"{who.name}, {100 * level:g}% flagged") for level in BESIDE),
            *(by_groups(drawn.people, shown) if drawn.people.by is not None else ()),
            replace(shown, figure=rank, statistic=ranks(every), is_shown=False),
        ),
    )


def _chances(attempts: Attempts | None) -> "FloatArray":
    return np.empty(0) if attempts is None or attempts.chances is None else attempts.chances


def _separation(
    scores: "Sequence[FloatArray]",
    reference: "FloatArray",
    far: "Sequence[FloatArray]",
    case: _Case,
    alone: tuple[ScoreArea, ...],
) -> Separation:
    from unveil.metrics.trials.membership import area_under_curve, called_at, curve, pointed_out

    members, others = scores

    def of_outliers(share: float) -> OutlierMembership:
        # The same cut for both: where outsiders have it.
        edge = np.quantile(far[1], 1 - share, method="higher")
        own, other = members[far[0] >= edge], others[far[1] >= edge]
        named = called_at(own, other, SHOWN)
        return OutlierMembership(
            share=share,
            members=own.size,
            others=other.size,
            area=area_under_curve(own, other),
            tpr_at_fpr=TprAtFpr(fpr=SHOWN, rate=named),
        )

    return Separation(
        area=area_under_curve(members, others),
        tpr_at_fpr=tuple(TprAtFpr(fpr=each, rate=called_at(members, others, each)) for each in FPRS),
        flagged=int(np.count_nonzero(pointed_out(members, reference))),
        members=members.size,
        others=others.size,
        learned_from=case.learned_from,
        population=(
            case.number_of(case.parts.population, outside=True)
            if case.attacked.prepared.reference is None
            else case.population.rows
        ),
        scores=alone,
        outliers=tuple(of_outliers(each) for each in OUTLIERS),
        curve=curve(members, others),
    )


def _epsilon(case: _Case, scores: "Sequence[FloatArray]") -> "EpsilonBound":
    """Return the empirical lower bound on ε from random member/non-member pairs."""
    from unveil.metrics.epsilon.coins import bound_of_pairs, pair_by_lot

    claim, rng = case.attacked.settings.claim, case.attacked.prepared.rng("epsilon")
    delta = 0.0 if claim is None else claim.delta_against("replace")
    return bound_of_pairs([pair_by_lot(*scores, rng=rng)], rng=rng, delta=delta)


def _exposed(
    case: _Case, scores: "tuple[FloatArray, FloatArray]", reference: "FloatArray", far: "Sequence[FloatArray]"
) -> tuple[ExposedPerson, ...]:
    """Return the exposure of each measured member, most exposed first."""
    from unveil.attacks.table.membership_scores import given_away_by
    from unveil.metrics.trials.membership import pointed_out

    # Of people who are equally exposed the more unusual first, then as the lot has it.
    order = np.lexsort((-far[0], -scores[0]))
    above, less = np.sort(scores[1]), np.sort(far[1])
    as_exposed = above.size - np.searchsorted(above, scores[0], "left")
    unusual = np.searchsorted(less, far[0], "left") / max(less.size, 1)
    named = pointed_out(scores[0], reference)
    released = case.attacked.prepared.release.released
    cells = max(released.rows * len(released.column_names), 1)
    traced = order[: min(MOST_TRACED, max(MOST_CELLS // cells, 1))]
    ways = given_away_by(
        released=released,
        population=case.population,
        people=case.measured[0],
        rows=traced,
        columns=case.columns,
        scale=case.attacked.drawn.scale,
    )
    way_of = dict(zip(traced.tolist(), ways, strict=True))
    return tuple(
        ExposedPerson(
            row=int(case.parts.measured[0][place]),
            as_exposed=int(as_exposed[place]),
            others=above.size,
            flagged=bool(named[place]),
            outlier_percentile=float(unusual[place]),
            released_row=way_of[place].row if place in way_of else -1,
            columns=way_of[place].columns if place in way_of else (),
            unheard=way_of[place].unheard if place in way_of else (),
            weights=way_of[place].weights if place in way_of else (),
        )
        for place in order.tolist()
    )


_METHODS = {
    "DCR score": ("flags the people closest to the release", (0.01, 0.2)),
    "density-ratio score": ("flags people closer to the release than to similar people", (0.01,)),
}


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return the TPR and FPR of membership inference."""
    from unveil.attacks.table.membership import pool_scores

    prepared, people = attacked.prepared, attacked.drawn.people
    if prepared.release.control is None:
        why = "Not run: it needs a control group."
        return (not_run(attacked.attack, why),)
    columns = prepared.known + prepared.sensitive
    scores = pool_scores(
        released=prepared.release.released,
        knowledge=attacked.drawn.knowledge(),
        columns=columns,
        person=people.person("attacked"),
    )
    return (
        *(
            tried_score(
                attacked,
                AttackScenario(name=method, first=columns, reason=reason, origin="all"),
                score,
                beside=shares,
                tests_ranks=method == "density-ratio score",
                tests_groups=method == "density-ratio score",
            )
            for (method, (reason, shares)), score in zip(_METHODS.items(), scores, strict=True)
        ),
        *learned(attacked),
    )


def tried_score(
    attacked: AttackedRelease,
    who: AttackScenario,
    score: "FloatArray",
    *,
    beside: tuple[float, ...],
    tests_ranks: bool,
    tests_groups: bool,
) -> AttackResult:
    """Return the result of one score: TPR, AUC, and the rates at the shares ``beside``."""
    from unveil.attacks.table.membership import highest, ranks

    drawn, inside = attacked.drawn, attacked.drawn.people.inside.size

    def called(share: float) -> Trials:
        chances = highest(score, share)
        sides = [Attempts.from_chances(side, rows=np.arange(side.size)) for side in np.split(chances, [inside])]
        naive = Attempts.from_chances(np.full(inside, share))
        return Trials(attack=sides[0], naive=naive, control=sides[1], what="it is called a member")

    def found(share: float, name: str) -> AttackResult:
        trials = called(share)
        own, groups = per_person(trials, drawn.people), grouped(trials, drawn)
        finding = finding_of(attacked.attack, own, scenario=replace(who, name=name), groups=groups)
        return tried(drawn, finding, trials)

    def at_share(share: float) -> FigureEvidence:
        evidence = found(share, f"{who.name}, {100 * share:g}% flagged").evidence[0]
        return replace(evidence, is_shown=False)

    person, sides = drawn.people.person("attacked"), np.split(score, [inside])
    if person is not None:
        sides = [mean_of_rows(own, whose) for own, whose in zip(sides, np.split(person, [inside]), strict=True)]
    shown = replace(found(SHOWN, who.name), effect=cross_fitted_membership(*sides))
    evidence = [*shown.evidence, *map(at_share, beside)]
    if tests_groups and drawn.people.by is not None:
        evidence += by_groups(drawn.people, shown.evidence[0])
    if tests_ranks:
        # The AUC is no share of people.
        about = replace(without_rates(shown.evidence[0].figure), adversary=f"{who.name}, AUC")
        evidence.append(replace(shown.evidence[0], figure=about, statistic=ranks(score), is_shown=False))
    return replace(shown, evidence=tuple(evidence))


ATTACK = AuditAttack(
    name="membership",
    also_called=("mia", "membership inference", "membership disclosure"),
    run=run,
    title="Membership inference",
    about=(
        "Membership inference uses three scores. They are the distance to the closest released record (DCR), its "
        "ratio to the distance to the nearest other person (density ratio), and a learned score. The learned score is "
        "trained on a third of the people, who are not measured. The effect is TPR − FPR at 5% nominal FPR; other "
        "people set the cutoff."
    ),
    asks="member",
    needs_control=True,
    learns=True,
    takes_memory=True,
)
