"""Who is behind each masked row, and is the attack that says so valid under the masking used?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.ask.reidentify.findings import Attacked, Reidentified
from unveil.ask.reidentify.inputs import (
    case_of,
    checked_truth,
    chosen_attacks,
    keeps_order,
    made_release,
    simulated_note,
    with_known,
)
from unveil.ask.reidentify.run import Case, Guessed, guess_of, steps_of
from unveil.ask.reidentify.verdicts import Truths, clashes_of, judged, nobody_witness, told_apart, truths_of
from unveil.attack.specification import Attacks
from unveil.data.release import Release
from unveil.data.table import Table
from unveil.guess.beliefs import Beliefs
from unveil.guess.candidates import NOBODY
from unveil.measure.confusion import confusion
from unveil.measure.utility import loss_summary
from unveil.protect import Protects, protection_text
from unveil.show.limits import Quantity
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    from unveil.show.blocks import Page

SCHEMA = "unveil.reidentify/1"


@dataclass(frozen=True, kw_only=True, eq=False)
class ReidentifyAnswer:
    """How far attacks on a masked release get and which of them are valid; as JSON, as a page and as a picture."""

    found: Reidentified

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for: the hit rate of the attack that hits most, and its upper end."""
        rates = [attacked.hit_rate for attacked in self.found.attacks]
        worst = {
            "hit_rate": max((rate.value for rate in rates if rate.defined), default=float("nan")),
            "hit_rate.high": max((rate.high for rate in rates if rate.defined), default=float("nan")),
        }
        meaning = meanings()
        return {
            name: Quantity(name=name, value=value, meaning=meaning[name], exceeded_when_undefined=False)
            for name, value in worst.items()
        }

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil import __version__
        from unveil.ask.reidentify.view import page

        return page(self.found, seed=seed, version=__version__)

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the report as one HTML page that needs no network and holds no value of the data."""
        from unveil.show.limits import with_limits
        from unveil.show.page import render

        return render(with_limits(self.page(seed=seed), limits, self.quantities))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON; a verdict that cannot be had is null, with the reason beside it."""
        from unveil import __version__
        from unveil.ask.reidentify.tables import figures
        from unveil.show.machine import dumps

        told = {"limits": list(limits), "seed": seed, "version": __version__}
        return dumps({"schema": SCHEMA, **figures(self.found), **told})

    def plot(self) -> NDArray[Any]:
        """Return matplotlib axes with hit rate and doubt against the number of columns known."""
        from unveil.ask.reidentify.charts import charts
        from unveil.show.draw.lines import draw_all

        return draw_all(charts(self.found))


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return {
        "hit_rate": "the share of released records whose right person is the best bet of the attack that hits most "
        "often (expected, where bets tie). Exceeded when greater than VALUE",
        "hit_rate.high": "the upper end of the 95 % interval of the hit rate, the highest over the attacks. Exceeded "
        "when greater than VALUE",
    }


def reidentify(
    original: Any,
    released: Any = None,
    *,
    attacks: Sequence[str | Attacks],
    protect: str | Protects | None = None,
    truth: ArrayLike | None = None,
    known: Sequence[str] | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> ReidentifyAnswer:
    """Return how far attacks on a masked release get, and which of them are valid under the masking used.

    Parameters
    ----------
    original
        The people, as a `Table` or any DataFrame.
    released
        What was released of them: a table or DataFrame (then with ``truth``), or a `Release`, which knows its truth and
        perhaps how it was made. None with ``protect``.
    attacks
        Attacks, or how they are written (``"intersection:p=10"``). Where a setting is left open that whoever knows the
        protection would know, it is filled in: p of the rank swapping, and the mechanism.
    protect
        The protection that makes the release, or how it is written (``"rank-swapping:p=10"``).
    truth
        For each released row the original row that it was made from, counted from 0, each at most once; -1 for none.
    known
        The columns that the adversary knows, in the order in which they are learnt; all columns of that role that both
        tables have unless given, the most telling first.
    rng
        Where randomness comes from.
    progress, notes
        Called with the name of a step and the share done; sentences to carry into the report.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 60), "income": [7 * k % 41 for k in range(40)]})
    >>> answer = reidentify(people, protect="rank-swapping:p=10", attacks=["intersection", "intersection:p=5"],
    ...                     rng=np.random.default_rng(1))
    >>> [attacked.is_valid for attacked in answer.found.attacks]
    [True, False]
    """
    table = original if isinstance(original, Table) else Table.from_frame(original, name="original")
    people, about_roles = with_known(table, known)
    progress("protecting", 0.0)
    release, protection = made_release(people, released, truth, protect, rng)
    numbers = checked_truth(release, people.rows)
    case, order = case_of(people, release, numbers, known)
    chosen = chosen_attacks(attacks, protection, release.mechanism, case)
    progress("computing the true probability", 0.0)
    truths = truths_of(case, rng=rng)
    found, guesses = [], {}
    for place, (name, attack) in enumerate(chosen.items()):
        attacked, guesses[name] = _attacked(
            name, attack, case, truths, rng, lambda share, at=place: progress("attacking", (at + share) / len(chosen))
        )
        found.append(attacked)
    progress("comparing the attacks", 0.0)
    apart = [note for name, guessed in guesses.items() for note in told_apart(name, guessed, case)]
    least = [each.confusion for each in found if not isnan(each.confusion)]
    return ReidentifyAnswer(
        found=Reidentified(
            records=case.released.rows,
            originals=people.rows,
            somebody=int((numbers != NOBODY).sum()),
            protect=None if protect is None else (protect if isinstance(protect, str) else protection_text(protect)),
            known=case.original.column_names,
            order=order,
            attacks=tuple(found),
            clashes=clashes_of(guesses, people.rows),
            keeps_order=keeps_order(numbers),
            confusion=min(least, default=float("nan")),
            # A stream of its own, so that measuring it changes no other figure.
            loss=loss_summary(Release(people, release.released), rng=rng.spawn(1)[0]).loss,
            notes=(*notes, *about_roles, *release.notes, *simulated_note(release.mechanism), *apart),
        )
    )


def _attacked(
    name: str, attack: Attacks, case: Case, truths: Truths, rng: np.random.Generator, report: Any
) -> tuple[Attacked, Guessed]:
    """Run one attack, with fewer columns too, and judge it."""
    seed = int(rng.integers(2**63))
    guessed = guess_of(attack, case, seed=seed)
    steps = steps_of(attack, case, guessed, seed=seed, report=report)
    report(0.9)
    record, file = judged(guessed, truths.record, "record"), judged(guessed, truths.file, "file")
    alike = confusion(guessed.guess)
    alike = alike[~np.isnan(alike)]
    attacked = Attacked(
        attack=name,
        summary=(type(attack).__doc__ or "").strip().partition("\n")[0],
        leaves="Beliefs" if isinstance(guessed.guess, Beliefs) else "Candidates",
        targets=guessed.aimed_at.size,
        attempted=int(alike.size),
        nobody=guessed.nobody.size,
        record_level=record.verdict,
        file_level=file.verdict,
        steps=steps,
        confusion=float(alike.min()) if alike.size else float("nan"),
        typical_confusion=float(np.median(alike)) if alike.size else float("nan"),
        witness=" ".join(filter(None, [nobody_witness(guessed) or record.witness or file.witness])),
    )
    return attacked, guessed
