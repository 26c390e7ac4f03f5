"""Plan an audit: chance to pass, smallest leak found, and sizes."""

from collections.abc import Iterable
from math import ceil
from typing import Any

import numpy as np

from unveil.errors import whole_number
from unveil.metrics.verdict.effects import FEWEST_ATTEMPTS
from unveil.metrics.verdict.plan import pass_chance
from unveil.metrics.verdict.plan import plan as plan_audit
from unveil.questions.plan.findings import PassChance, PlanFindings, PlannedSize
from unveil.questions.plan.settings import PlanSettings
from unveil.questions.plan.view import VIEW
from unveil.questions.request import Request, Response
from unveil.questions.result import Result
from unveil.questions.settings import takes_settings

#: The sizes of the table, as multiples of the people given.
FACTORS = (0.5, 1, 2, 4)
POINTS = 25


@takes_settings(PlanSettings)
def plan(
    people: int | None = None,
    control: int | None = None,
    threshold: float | None = None,
    settings: PlanSettings | None = None,
    **changes: Any,
) -> Result[PlanFindings]:
    """Compute the power of an audit of a given size.

    Parameters
    ----------
    people, control
        Number of attacked people, and of people in the control group; 20 or more.
    threshold
        The largest acceptable excess risk, such as 0.09.
    settings
        All settings as one object; keywords replace single ones.

    Examples
    --------
    >>> plan(300, 300, 0.09)
    <Result: With 300 people and 300 in the control group, a leak-free release passes a threshold of 9% in 4 of 100 audits.>
    """  # noqa: E501
    given = {"people": people, "control": control, "threshold": threshold}
    changes |= {name: value for name, value in given.items() if value is not None}
    return Result(_run(PlanSettings.merge(settings, changes)), VIEW)


def ask(request: Request) -> Response:
    """Answer a request of a front end."""
    answer = plan(settings=PlanSettings.of_request(request))
    return Response(answer=answer)


def _run(settings: PlanSettings) -> PlanFindings:
    """Return what an audit of this size can show, and audits of other sizes."""
    people = whole_number(settings.people, "people", at_least=FEWEST_ATTEMPTS)
    control = whole_number(settings.control, "control", at_least=FEWEST_ATTEMPTS)
    threshold: Any = settings.threshold  # checked by the computation, which refuses None
    more = {each: getattr(settings, each) for each in ("attackers", "baseline", "correlation")}
    found = plan_audit(people, control, threshold, **more)

    def sizes(numbers: Iterable[float]) -> list[tuple[int, int]]:
        pairs = dict.fromkeys((ceil(number), ceil(number * control / people)) for number in numbers)
        return [pair for pair in pairs if min(pair) >= FEWEST_ATTEMPTS]

    def planned(pair: tuple[int, int]) -> PlannedSize:
        each = plan_audit(*pair, threshold, **more)
        return PlannedSize(
            people=pair[0], control=pair[1], pass_chance=each.pass_chance, smallest_found=each.smallest_found
        )

    def point(pair: tuple[int, int]) -> PassChance:
        rates = settings.baseline, settings.baseline
        chance = pass_chance(pair, rates, threshold, attackers=settings.attackers, correlation=settings.correlation)
        return PassChance(people=pair[0], control=pair[1], pass_chance=chance)

    least = FEWEST_ATTEMPTS * max(1.0, people / control)
    low = max(least, min(people, found.people_needed) / 4)
    points = np.geomspace(low, 2 * max(people, found.people_needed, low), POINTS)
    return PlanFindings(
        people=people,
        control=control,
        threshold=threshold,
        **more,
        pass_chance=found.pass_chance,
        smallest_found=found.smallest_found,
        people_needed=found.people_needed,
        sizes=tuple(map(planned, sizes(people * factor for factor in FACTORS))),
        curve=tuple(map(point, sizes(points.tolist()))),
    )
