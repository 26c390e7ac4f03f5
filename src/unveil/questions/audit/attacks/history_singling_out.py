"""Singling out by known events: rows of a person that only one released person has."""

from typing import TYPE_CHECKING

from unveil.guesses.trials import Attempts
from unveil.questions.audit.attack_results import AttackResult, not_run
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.history_membership import everybody_of
from unveil.questions.audit.attacks.singling_out import tried_predicates
from unveil.questions.audit.findings import AttackScenario

if TYPE_CHECKING:
    from unveil.attacks.people.exact import EventIndex
    from unveil.attacks.people.rows import PersonRows

#: The numbers of events that an attacker knows.
EVENTS = (1, 2, 4)
#: With fewer predicates nothing is said.
_FEWEST = 20


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often known events isolate exactly one person, by child table and number of events."""
    from unveil.attacks.people.exact import EventIndex

    found: list[AttackResult] = []
    for rows in everybody_of(attacked):
        index = EventIndex.of(rows)
        found += [_tried(attacked, rows, index, number) for number in EVENTS]
    return tuple(found)


def _tried(attacked: AttackedRelease, rows: "PersonRows", index: "EventIndex", number: int) -> AttackResult:
    from unveil.attacks.people.exact import known_events, single_out_by_chance
    from unveil.attacks.table.singling_out import PredicateMatches

    scenario = AttackScenario(
        name=f"{rows.name}, {number} known {'event' if number == 1 else 'events'}",
        first=tuple(column.name for column in rows.columns),
        reason="knows rows of a person, with numbers in twentieths",
        origin="all",
    )
    members = attacked.prepared.release.original.rows
    found = known_events(index, number, predicates=attacked.settings.predicates, rng=attacked.rng)
    if found.predicates < _FEWEST:
        why = f"Fewer than {_FEWEST} predicates fit exactly one released person."
        return not_run(attacked.attack, why, scenario=scenario)
    hits = single_out_by_chance(index, number, members, predicates=found.predicates, rng=attacked.rng)
    naive = Attempts(tries=found.predicates, expected=hits, low=hits, high=hits)
    return tried_predicates(attacked, scenario, PredicateMatches(found.starts, found.targets, naive, ()))


ATTACK = AuditAttack(
    name="history_singling_out",
    effect_name="singling_out",
    also_called=("known events", "unicity"),
    run=run,
    title="Singling out by known events",
    about=(
        "Singling out by known events: predicates are 1, 2, or 4 rows that exactly one released person has, with "
        "numbers in twentieths of the release. The attack succeeds when they fit exactly one person. The baseline is "
        "the same count for as many people of the control group."
    ),
    asks="who",
    needs_children=True,
    tries_are_people=False,
)
