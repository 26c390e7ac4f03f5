"""The page that answers: who is behind each masked record, and is the attack that says so valid?"""

from importlib.metadata import version as installed_version

from unveil.ask.reidentify.charts import charts, learnt
from unveil.ask.reidentify.findings import Reidentified
from unveil.ask.reidentify.tables import attack_table, clash_table, key_numbers, step_table, witness_table
from unveil.ask.reidentify.words import PROVES_NOTHING, headline, levels_differ, tone
from unveil.show.blocks import Page, Section
from unveil.show.text import count, name

__all__ = ["attack_table", "charts", "clash_sentence", "clash_table", "headline", "key_numbers", "page", "tone"]


def page(found: Reidentified, *, seed: int | None = None, version: str | None = None) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML."""
    sections = [_verdict_section(found), _known_section(found)]
    if found.clashes:
        sections.append(
            Section(
                heading="Attacks that cannot both be valid", lead=clash_sentence(found), blocks=(clash_table(found),)
            )
        )
    return Page(
        title="Is this re-identification valid?",
        question=(
            f"Who is behind each of {count(found.records, 'released record', 'released records')}, and are the attacks "
            "that say so valid?"
        ),
        headline=headline(found),
        tone=tone(found),
        sections=tuple(sections),
        method=_method(found),
        untested=_UNTESTED,
        notes=tuple(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in found.notes),
        seed=seed,
        version=installed_version("unveil") if version is None else version,
    )


def clash_sentence(found: Reidentified) -> str:
    """Return what contradictions between attacks mean; it needs no truth.

    Empty where there are none.
    """
    if not found.clashes:
        return ""
    worst = max(found.clashes, key=lambda clash: clash.records)
    more = f" {len(found.clashes) - 1} more pairs contradict each other." if len(found.clashes) > 2 else ""
    more = " One more pair contradicts each other." if len(found.clashes) == 2 else more
    return (
        f"{name(worst.first, 60)} and {name(worst.second, 60)} cannot both be valid for {count(worst.records)} of "
        f"{count(worst.of, 'record', 'records')}: whatever the truth is, at least one of the two is wrong there. That "
        f"is said without looking at the truth.{more}"
    )


def _verdict_section(found: Reidentified) -> Section:
    made = "made elsewhere" if found.protect is None else f"made by {name(found.protect, 80)}"
    lead = (
        f"The release was {made}. A guess is valid if it claims nothing beyond the true probability that the masking "
        f"implies: {PROVES_NOTHING}. A guess that is not valid may still hit, but it claims more than the release "
        f"supports. {levels_differ(found)}"
    )
    return Section(
        heading="Which attacks are valid",
        lead=lead.strip(),
        blocks=(*key_numbers(found), attack_table(found), witness_table(found)),
    )


def _known_section(found: Reidentified) -> Section:
    return Section(
        heading="What each piece of information adds",
        lead=f"The adversary knows {count(len(found.known), 'column', 'columns')} of the original. {learnt(found)}",
        blocks=(*charts(found), step_table(found)),
    )


def _method(found: Reidentified) -> tuple[str, ...]:
    return (
        "Record level: the true probability of each original record given one released record and the columns that "
        "the adversary knows, every original record being as likely beforehand.",
        "File level: the same given all released records at once, of which no two come from one person. It is computed "
        "exactly or not at all.",
        "A guess that is a belief on sets is valid if no set is believed beyond its probability (Definition 7); one "
        "that is a probability, if such a belief leads to it (Definition 14).",
        "An attack that leaves nobody possible for a record is wrong about it, whatever is true; that is a miss.",
        "The best bet is the person of the highest pignistic probability. Where several share it, one is drawn by lot "
        "and the hit rate is the expectation, exactly; its interval is Wilson's at 95%.",
        f"Blind chance is one in {count(found.originals)}: a person of the original picked by lot.",
        "Definitions: Torra and Stokes, A formalization of re-identification in terms of compatible probabilities "
        "(2013); Stokes and Torra, n-Confusion (2012).",
    )


_UNTESTED = (
    "Whether another attack would do better: only those that were named are run.",
    "An adversary who knows only some of the people, or knows them wrongly: here the original itself is known.",
    "What a right match would reveal about the person, and what more releases of the same people would add.",
)
