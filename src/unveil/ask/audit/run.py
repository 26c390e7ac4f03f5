"""All attacks and measures on one release, in the order of the report."""

from dataclasses import replace

import numpy as np

from unveil.ask.audit.attacks.inference import Guesser, guess_columns
from unveil.ask.audit.attacks.linkability import Linked, Linker, link_searched, link_told
from unveil.ask.audit.attacks.membership import tell_members
from unveil.ask.audit.attacks.records import RECORD_ATTACKS, Records
from unveil.ask.audit.attacks.singling_out import single_out
from unveil.ask.audit.attacks.texts import ATTACK_TEXTS
from unveil.ask.audit.findings import Audited, Finding, Scenario
from unveil.ask.audit.inputs import One, Prepared
from unveil.ask.audit.people import Drawn
from unveil.ask.audit.scenarios import settle
from unveil.ask.audit.settings import Asked
from unveil.data.table.release import Release
from unveil.measure.releases.disclosure import Disclosure, disclosure
from unveil.measure.releases.utility import Utility, loss_summary
from unveil.show.progress import Progress

#: What is measured on the original itself, to be set beside the release: one attack for each of the three questions.
BEFORE = tuple(name for name, text in ATTACK_TEXTS.items() if text.answers is not None)


def audit_one(
    prepared: Prepared,
    one: One,
    told: tuple[Scenario, ...] | None,
    asked: Asked,
    *,
    seed: int | None,
    progress: Progress,
) -> Audited:
    """Return everything found about one release."""
    run = _Run(prepared, one, told, asked, seed)
    parts = prepared.parts
    for place, attack in enumerate(prepared.attacks):
        run.do(attack, _within(progress, place, len(parts)))
    progress("measuring what the release is worth", 0.95)
    return Audited(
        name=one.release.name,
        rows=one.release.released.rows,
        kind=one.release.kind,
        columns=one.known,
        sha256=one.sha256,
        findings=tuple(run.findings),
        weights=run.linked.weights,
        search=run.linked.search,
        disclosure=_disclosure(one, asked) if "disclosure" in parts else None,
        utility=_utility(one) if "utility" in parts else None,
    )


def audit_before(
    prepared: Prepared, told: tuple[Scenario, ...] | None, asked: Asked, *, progress: Progress
) -> Audited | None:
    """Return what the three questions give where the original itself is the release: the figures before."""
    if "before" not in prepared.parts:
        return None
    first = prepared.releases[0]
    original = first.release.original
    itself = "the original itself"
    release = Release(original, replace(original, name=itself), first.release.control, kind="masked", name=itself)
    whole = prepared.original
    alone = Release(whole, replace(whole, name=itself), kind="masked", name=itself)
    one = first._replace(release=release, alone=alone, truth=np.arange(original.rows), sha256=None)
    chosen = tuple(attack for attack in prepared.attacks if attack in BEFORE)
    bare = replace(
        prepared, attacks=chosen, parts=(*chosen, *(("disclosure",) if "disclosure" in prepared.parts else ()))
    )
    plain = replace(asked, compatibility=None, neighbours=min(asked.neighbours, original.rows))
    return audit_one(bare, one, told, plain, seed=None, progress=progress)


def _within(progress: Progress, place: int, parts: int) -> Progress:
    return lambda name, share: progress(name, (place + share) / parts)


class _Run:
    """The attacks on one release, as they are asked for one after the other."""

    def __init__(
        self,
        prepared: Prepared,
        one: One,
        told: tuple[Scenario, ...] | None,
        asked: Asked,
        seed: int | None,
    ) -> None:
        self.one, self.told, self.asked, self.seed = one, told, asked, seed
        self.drawn = Drawn(
            release=one.release,
            people=prepared.people,
            outsiders=prepared.outsiders,
            groups=prepared.groups,
            minimum_cell=asked.minimum_cell,
            looks=len(prepared.releases) * sum(ATTACK_TEXTS[attack].per_person for attack in prepared.attacks) or 1,
        )
        # Whatever is wrong with an adversary is said before anything is attacked.
        columns = one.release.original.column_names
        links = "linkability" in prepared.attacks
        self.settled = [
            settle(each, one.known, columns=columns, left_out=one.left_out, links=links) for each in told or ()
        ]
        self.linked = Linked(findings=())
        self.findings: list[Finding] = []

    def do(self, attack: str, progress: Progress) -> None:
        """Run one attack and keep what it found."""
        one, asked, rng = self.one, self.asked, self.one.rng(attack)
        progress(f"trying {ATTACK_TEXTS[attack].title.lower()}", 0.0)
        if attack == "singling_out":
            # A description may use anything that is released.
            columns = one.known + one.sensitive
            self.findings += single_out(self.drawn, columns, self.told, guesses=asked.guesses, rng=rng)
        elif attack == "linkability":
            self.linked = self._link(progress, rng)
            self.findings += self.linked.findings
        elif attack in ("inference", "attribute_disclosure"):
            guesser = Guesser(
                attack=attack,
                drawn=self.drawn,
                known=one.known,
                sensitive=one.sensitive,
                withheld=one.withheld,
                tolerance=asked.tolerance,
                rng=rng,
                model=asked.model,
            )
            self.findings += guess_columns(guesser, self.told, progress=progress)
        elif attack == "membership":
            self.findings += tell_members(self.drawn, one.known + one.sensitive, rng=rng)
        else:
            records = Records(
                release=one.release, known=one.known, targets=asked.targets, truth=one.truth, rng=rng, drawn=self.drawn
            )
            self.findings.append(RECORD_ATTACKS[attack](records))

    def _link(self, progress: Progress, rng: np.random.Generator) -> Linked:
        one, asked = self.one, self.asked
        linker = Linker(
            drawn=self.drawn,
            neighbours=asked.neighbours,
            rng=rng,
            compatibility=asked.compatibility,
            targets=asked.targets,
            seed=self.seed,
        )
        if self.told is None:
            return link_searched(linker, one.known, progress=progress)
        return link_told(linker, self.settled, progress=progress)


def _disclosure(one: One, asked: Asked) -> Disclosure:
    return disclosure(
        one.release if one.alone is None else one.alone,
        columns=one.known,
        sensitive=one.sensitive,
        weights=asked.weight,
        household=asked.household,
        population_size=asked.population_size,
        minimum_cell=asked.minimum_cell,
    )


def _utility(one: One) -> Utility:
    return loss_summary(one.release, rng=one.rng("utility"), columns_left_out=one.columns_left_out)
