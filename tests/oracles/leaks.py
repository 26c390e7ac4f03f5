"""An adversary's program: everything that a shareable page gives away about a few people, read off the page alone.

It knows how rates and intervals are computed (the page says so) and nothing of the code that made the page. It reads
texts, attributes, pictures and scripts; solves intervals for hits and tries; subtracts parts from totals; and looks for
cells, folders and hashes of files that it is given to compare with.
"""

import base64
import hashlib
import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from html.parser import HTMLParser
from itertools import pairwise
from math import isnan, nan
from typing import Any

from scipy.special import betaincinv

PERCENT = r"([<>]?)(-?\d+(?:\.\d+)?)%"
#: A rate with its interval, in a sentence or in a cell of a table.
RATE = re.compile(
    r"(?<![\w.])(?P<share>\d+(?:\.\d+)?)%(?: of [^().]{1,80})? "
    r"\((?:(?P<low>\d+(?:\.\d+)?)%? ?(?:to|–) ?(?P<high>\d+(?:\.\d+)?)%"
    r"|(?:at most|≤) (?P<most>\d+(?:\.\d+)?)%|(?:at least|≥) (?P<least>\d+(?:\.\d+)?)%)\)"
)
#: What does not stand for the figure itself but for a bound of it.
BOUND = re.compile(
    r"(?:less than|more than|below|above|between|fewer than|at least|at most|limit of|to|and|≤|≥)\s*$", re.IGNORECASE
)


@dataclass
class Table:
    """A table of the page as texts."""

    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)

    @property
    def head(self) -> list[str]:
        """The names of its columns."""
        return self.rows[0] if self.rows else []

    @property
    def body(self) -> list[list[str]]:
        """The other rows."""
        return self.rows[1:]

    def column(self, *names: str) -> int | None:
        """Return the place of the first column that has one of these names."""
        return next((place for place, name in enumerate(self.head) if name in names), None)


class Page(HTMLParser):
    """A page as an adversary reads it: texts, attributes, tables, and the values written into pictures."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.attributes: list[str] = []
        self.tables: list[Table] = []
        self.drawn: list[str] = []
        self._cell: list[str] | None = None
        self._caption = self._value = self._style = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what attributes say, and see where a cell begins."""
        self.attributes += [value for _, value in attrs if value]
        self._style = tag == "style"
        if tag == "table":
            self.tables.append(Table())
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        elif tag in ("td", "th"):
            self._cell = []
        self._caption = tag == "caption"
        self._value = tag == "text" and "value" in dict(attrs).get("class", "").split()  # type: ignore[union-attr]

    def handle_endtag(self, tag: str) -> None:
        """See where a cell ends."""
        if tag in ("td", "th") and self._cell is not None:
            self.tables[-1].rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        self._style = False

    def handle_data(self, data: str) -> None:
        """Keep a text where it belongs."""
        if self._style:
            return
        if self._cell is not None:
            self._cell.append(data)
        elif self._caption and data.strip():
            self.tables[-1].caption = " ".join(data.split())
            self._caption = False
        if self._value and data.strip():
            self.drawn.append(data.strip())
            self._value = False
        self.texts.append(data)

    @cached_property
    def text(self) -> str:
        """All that can be read, with attributes."""
        return html.unescape(" ".join(" ".join([*self.texts, *self.attributes]).split()))


def leaks(
    page: str,
    *,
    minimum: int = 11,
    cells: Iterable[str] = (),
    folders: Iterable[str] = (),
    files: Iterable[bytes] = (),
    truths: Collection[tuple[float, float]] | None = None,
) -> list[str]:
    """Return what the page gives away, one sentence each; empty where nothing was found.

    ``cells``, ``folders`` and ``files`` (their bytes) are what must not be on it. ``truths`` are the true pairs of
    hits and tries: a pair that a rate and its interval suggest gives nobody away unless it is one of these.
    """
    seen = Page(page)
    few = range(1, minimum)
    found = [*_cells(seen.text, cells), *(f"folder {each}" for each in folders if each in page)]
    found += _hashes(page, seen, files)
    totals = _totals(seen, minimum)
    found += _counts(seen.text, few)
    levels = [float(each) / 100 for each in set(re.findall(r"Bonferroni: ([\d.]+)% each", seen.text))]
    exact, controls = _of_groups(seen), _of_groups(seen, "Control")
    for text in dict.fromkeys(_rates(seen)):
        is_exact = bool(_forms(_written(text)) & exact)
        # How many of the control group are in a group the page does not say.
        sizes = list(range(max(totals, default=0), 0, -1)) if _written(text) in controls else totals
        found += [f"{text}: {why}" for why in _solved(text, sizes, minimum, levels if is_exact else (), truths)]
    found += _risks(page, totals, minimum)
    found += _copied(seen, minimum)
    # What is drawn beside the loss of utility is an excess, which is no share of people, and neither is what as many
    # strangers would give: that is estimated from how many of the control each description fits.
    no_shares = _excesses(seen) | {text.split(" (")[0] for text in _of_descriptions(seen, (2,))}
    drawn = [text for text in seen.drawn if not _forms(text) & no_shares]
    found += [f"drawn {text}: {why}" for text in drawn for why in _bare(text, totals, minimum)]
    found += _few_named(seen, minimum)
    found += drawn_leaks(page, totals, minimum=minimum)
    people = next((_number(row[2]) for table in seen.tables for row in table.body if row[0] == "Original"), nan)
    for table in seen.tables:
        found += [f"{table.caption}: {why}" for why in _table(table, totals, people, minimum)]
    return list(dict.fromkeys(found))


def _cells(text: str, cells: Iterable[str]) -> Iterator[str]:
    words = set(re.findall(r"[\w.,@'’-]+", text))
    words |= {word.strip(".,'") for word in words}
    for cell in cells:
        if cell in words or (len(cell) > 5 and not cell.replace(".", "").isdigit() and cell in text):
            yield f"cell {cell!r}"


def _hashes(page: str, seen: Page, files: Iterable[bytes]) -> Iterator[str]:
    for content in files:
        for way in ("md5", "sha1", "sha256", "sha512", "blake2b"):
            digest = hashlib.new(way, content, usedforsecurity=False).digest()
            for text in (digest.hex(), base64.b64encode(digest).decode().rstrip("=")):
                if text in page or text[:16] in page:
                    yield f"{way} of a file"
    keyed = {
        cell
        for table in seen.tables
        if (at := table.column("Keyed digest")) is not None
        for row in table.body
        for cell in row[at : at + 1]
    }
    for text in re.findall(r"\b[0-9a-f]{32,}\b", seen.text):
        if text not in keyed:
            yield "a hash that is no keyed digest"


def _totals(seen: Page, minimum: int) -> list[int]:
    """Return how many people there are of some kind, by the page: rows of files, tries, people of groups."""
    numbers = [
        int(each.replace(",", ""))
        for each in re.findall(
            r"\bof (\d[\d,]*)\b(?!\.\d|%| limits| audits| pred| attacks| releases| changes)", seen.text
        )
    ]
    numbers += [int(each.replace(",", "")) for each in re.findall(r"\b(\d[\d,]*) (?:rows|people)\b", seen.text)]
    for table in seen.tables:
        at = table.column("Rows", "People (attacked)")
        for row in table.body if at is not None else ():
            numbers += [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?![\d.%])", row[at])]  # type: ignore[index]
    whole = {number for number in numbers if number >= minimum}
    # Searches are made on one half of the people and measured on the other.
    return sorted(whole | {number // 2 for number in whole if number // 2 >= minimum})


def _counts(text: str, few: range) -> Iterator[str]:
    """Yield how many people the page says there are, where they are few."""
    for match in re.finditer(r"\b(\d+)(?:\.\d+)? (?:people|persons?|rows?|records?|targets|cells)\b", text):
        before = text[max(0, match.start() - 20) : match.start()]
        if int(match[1]) in few and not BOUND.search(before) and not re.search(r"\d[.,]$|all $", before):
            yield f"count {match[0]!r}"
    for match in re.finditer(
        r"(?<![\d.,])(\d[\d,]*(?:\.\d+)?)(?: \([\d.,–]+\))? of (\d[\d,]*)"
        r"\b(?!\.\d|%| limits| audits| pred| attacks| releases| changes)",
        text,
    ):
        hits, tries = (float(each.replace(",", "")) for each in match.groups())
        if (
            BOUND.search(text[max(0, match.start() - 20) : match.start()])
            or "than" in text[match.start() - 6 : match.start()]
        ):
            continue
        if hits <= tries and (0 < hits < few.stop or 0 < tries - hits < few.stop or tries in few):
            yield f"hits {match[0]!r}"


def _rates(seen: Page) -> Iterator[str]:
    excesses = _excesses(seen) | _of_descriptions(seen) | set(_named(seen))
    for match in RATE.finditer(seen.text):
        written = re.sub(r"% of [^()]*\(", "% (", _written(match[0]))
        if not _forms(written) & excesses and not BOUND.search(seen.text[max(0, match.start() - 20) : match.start()]):
            yield match[0]


def _of_descriptions(seen: Page, columns: tuple[int, ...] = (1, 2)) -> set[str]:
    """Return the rates of singling out, whose intervals are those of fewer tries, as the page says.

    Their hits stand beside them and are looked at by themselves; what strangers would give is no share of tries.
    """
    tables = [table for table in seen.tables if table.caption.startswith("Singling out")]
    return {row[at] for table in tables for row in table.body for at in columns if at < len(row)}


#: One row of the chart of risks; what stands in it is read from its lengths too.
_RISK = re.compile(
    r'<tr role="row"(?P<data>[^>]*)>(?P<cells>(?:(?!</tr>).)*<td role="cell" class="plot">.*?)</tr>', re.DOTALL
)
_LENGTHS = re.compile(r'class="risk-(?:bar|tick control)"[^>]*?(?:width|x1)="([\d.]+)%"')
_POINTS = ("Points (at least, at most)", "Excess (points)")


def _risks(page: str, totals: Sequence[int], minimum: int) -> Iterator[str]:
    """Yield what the chart of risks draws of a few, and every number of what it does not show."""
    for row in _RISK.finditer(page):
        risk = re.sub(r"<[^>]+>|\s+", " ", row["cells"].partition("</th>")[0]).strip()
        if "not shown" in row["cells"]:
            drawn = re.findall(r'class="risk-(?:bar|tick|dot|limits)[^>]*>', row["cells"])
            numbers = re.findall(r'data-(?:low|high)="-?\d[^"]*"', row["data"])
            yield from (f"{risk}: {each} of what is not shown" for each in (*drawn, *numbers))
        # Predicates are no people.
        for length in (
            _LENGTHS.findall(row["cells"]) if "singling out" not in risk.partition("identification ")[2] else ()
        ):
            share = float(length) / 100
            if 0 < share < 1 and totals and all(_is_few(share * tries, tries, minimum) for tries in totals):
                yield f"{risk}: {length}% is drawn, a few of any of {list(totals)}"


def _points(cell: str) -> float:
    """Return an excess in points as a share."""
    match = re.match(r"(−?[\d.]+)(?: \(|$)", cell)
    return float(match[1].replace("−", "-")) / 100 if match else nan


def _copied(seen: Page, minimum: int) -> Iterator[str]:
    """Yield the few who are not copied, and the few of the control group that expected copies stem from."""
    sizes = [
        re.search(rf"\b([\d,]+) rows {where}", seen.text) for where in ("of original data", "in the control group")
    ]
    people, control = (float(size[1].replace(",", "")) if size else nan for size in sizes)
    for match in re.finditer(
        r"(?<!than )([\d,]+) people with a record released as an exact copy(?:; (\d[\d,]*) expected)?"
        r"(?:[^.]*; (\d+) beyond)?",
        seen.text,
    ):
        copied, expected, beyond = (float((each or "0").replace(",", "")) for each in match.groups())
        if 0 < people - copied < minimum:
            yield f"all but {people - copied:g} are copied"
        if expected and _is_few(expected * control / people, control, minimum):
            yield f"{expected * control / people:.1f} copied of the control group"
        if 0 < beyond < minimum:
            yield f"{beyond:g} copied beyond chance"


def _named(seen: Page) -> list[str]:
    """Return the shares of members who are named at a threshold, which is drawn too: their intervals are wider."""
    tables = [table for table in seen.tables if table.caption.startswith("Members and non-members")]
    return [cell for table in tables for row in table.body if "TPR" in row[0] for cell in row[1:]]


def _few_named(seen: Page, minimum: int) -> Iterator[str]:
    """Yield shares of those measured, whose number the page states, that are a few people."""
    for measured in {int(each.replace(",", "")) for each in re.findall(r"Measured on ([\d,]+) members and", seen.text)}:
        for cell in _named(seen):
            if (match := RATE.match(cell)) and _is_few(float(match["share"]) / 100 * measured, measured, minimum):
                yield f"named {cell}: a few of {measured}"


def _written(text: str) -> str:
    """Return a rate as tables write it."""
    text = text.replace("at least", "≥").replace("at most", "≤").replace("% to ", "–")
    text = text.replace("0.0% (0.0–", "0% (≤ ") if text.startswith("0.0% ") else text
    return re.sub(r"^100\.0% \(([\d.]+)–100\.0%\)", r"100% (≥ \1%)", text)


def _forms(text: str) -> set[str]:
    """Return a rate as it is written, and with the digits of tables: whole percents from 10 on.

    What was rounded to a half before may be rounded up or down.
    """

    def whole(each: re.Match[str], shift: float) -> str:
        return each[0] if float(each[0]) < 9.95 else f"{float(each[0]) + shift:.0f}"

    return {text, *(re.sub(r"\d+\.\d+", partial(whole, shift=shift), text) for shift in (-0.05, 0.05))}


def _of_groups(seen: Page, column: str = "") -> set[str]:
    """Return the rates of groups, whose intervals allow for all groups, as the page says; of one column if named."""
    tables = [table for table in seen.tables if table.column("People (attacked)") is not None]
    if column:
        places = [(table, table.column(column)) for table in tables]
        return {row[at] for table, at in places if at is not None for row in table.body}
    highest = {row[at] for table in seen.tables if (at := table.column("Rate")) is not None for row in table.body}
    return highest | {cell for table in tables for row in table.body if row[0] != "everybody" for cell in row[2:]}


@cache
def interval(hits: float, tries: int, level: float = 0.95) -> tuple[float, float]:
    """Return the ends of Clopper and Pearson's interval, by the textbook."""
    tail = (1 - level) / 2
    low = float(betaincinv(hits, tries - hits + 1, tail)) if hits else 0.0
    return low, float(betaincinv(hits + 1, tries - hits, 1 - tail)) if hits < tries else 1.0


def _solved(
    text: str,
    totals: Sequence[int],
    minimum: int,
    levels: Sequence[float] = (),
    truths: Collection[tuple[float, float]] | None = None,
) -> Iterator[str]:
    """Yield what a rate and its interval give away: all pairs of hits and tries that fit the digits are of a few."""
    match = RATE.search(text)
    if match is None:
        return
    share = float(match["share"]) / 100
    low, high = (float(match[name] or nan) / 100 for name in ("low", "high"))
    low, high = (
        (float(match["least"]) / 100 if match["least"] else low),
        (float(match["most"]) / 100 if match["most"] else high),
    )
    units = tuple(
        _unit(text or "") for text in (match["share"], match["low"] or match["least"], match["high"] or match["most"])
    )
    most = max(totals, default=minimum)

    def fits(numbers: Iterable[int]) -> Iterator[tuple[float, int]]:
        for tries in numbers:
            for level in levels:
                yield from _exact_pairs(share, low, high, tries, level, units)
            if not levels:
                yield from _pairs(share, low, high, tries, units)

    # Numbers that the page tells come first: only where none of them fits may it be any, and to try thousands is slow.
    numbers = totals if next(fits(totals), None) else range(most, 0, -1)
    known = []
    for hits, tries in fits(numbers):
        if not _is_few(hits, tries, minimum):
            return
        known.append((hits, tries))
    if known and (truths is None or any(_is_true(pair, truths, minimum) for pair in known)):
        found = sorted({round(each, 1) for each, _ in known})
        yield f"hits {found} of {sorted({tries for _, tries in known})}"


def _is_true(pair: tuple[float, int], truths: Collection[tuple[float, float]], minimum: int) -> bool:
    few = [(hits, tries) for hits, tries in truths if _is_few(hits, tries, minimum)]
    # Of expected hits far below one those that are near are others.
    return any(abs(pair[0] - hits) < min(0.5, hits / 2 + 0.05) and abs(pair[1] - tries) < 0.5 for hits, tries in few)


def _unit(percent: str) -> float:
    """Return what one more in the last digit of a number in percent is as a share."""
    return 10.0 ** -(2 + len(percent.partition(".")[2]))


def _pairs(share: float, low: float, high: float, tries: int, units: Sequence[float]) -> Iterator[tuple[float, int]]:
    """Yield the hits of so many tries that make the digits, whole ones first; expected hits need not be whole."""
    slack = 0.51 * units[0]
    ends = (share - slack) * tries, (share + slack) * tries
    whole = [
        float(hits)
        for hits in range(max(0, int(ends[0])), min(tries, int(ends[1]) + 1) + 1)
        if ends[0] <= hits <= ends[1]
    ]
    for hits in whole or [min(max(share * tries, 0.0), float(tries))]:
        one, other = interval(hits, tries)
        if (isnan(low) or abs(one - low) < 1.01 * units[1]) and (isnan(high) or abs(other - high) < 1.01 * units[2]):
            yield hits, tries


def _exact_pairs(
    share: float, low: float, high: float, tries: int, level: float, units: Sequence[float]
) -> Iterator[tuple[float, int]]:
    """Yield the hits that make the digits where the interval is that of a group, at its own confidence."""
    slack = 0.0 if units[0] < 0.005 else 0.5 * units[0]  # a whole percent leaves more of them open
    for hits in dict.fromkeys(
        min(max(each * tries, 0.0), float(tries)) for each in (share - slack, share, share + slack)
    ):
        one, other = interval(hits, tries, level)
        near = 0.01 + (slack and 0.005)
        if (isnan(low) or abs(one - low) < near) and (isnan(high) or abs(other - high) < near):
            yield hits, tries


def _is_few(hits: float, tries: float, minimum: int) -> bool:
    return tries < minimum or 0.05 < hits < minimum - 0.5 or 0.05 < tries - hits < minimum - 0.5


def _excesses(seen: Page) -> set[str]:
    """Return the figures that the page calls an excess: no shares of people, and no interval of one."""
    cells: list[str] = []
    for table in seen.tables:
        at = table.column("Normalized excess")
        for row in table.body:
            cells += row[1:] if "excess" in row[0] or "excess" in row[1:2] else [] if at is None else [row[at]]
    return {*cells, *(cell.split(" ")[0] for cell in cells)}


def _bare(text: str, totals: Sequence[int], minimum: int) -> Iterator[str]:
    """Yield what a share without an interval gives away: it is of a few whichever of the totals it is a share of."""
    match = re.fullmatch(PERCENT, text)
    if match is None or not totals:
        return
    share = float(match[2]) / 100
    if 0 < share < 1 and (match[1] or all(_is_few(share * tries, tries, minimum) for tries in totals)):
        yield f"a few of any of {list(totals)}"


def _table(table: Table, totals: Sequence[int], people: float, minimum: int) -> Iterator[str]:
    """Yield what a table gives away by itself and by arithmetic; the original has as many ``people``."""
    yield from _files(table, minimum)
    yield from _groups(table, minimum)
    yield from _excess(table, totals, minimum)
    yield from _classes(table, totals, minimum)
    for name in ("Missing", "Households", "Expected re-identifications", "Copies"):
        at = table.column(name)
        for row in table.body if at is not None else ():
            number = _number(row[at])  # type: ignore[index]
            if 0 < number < minimum or (name == "Missing" and 0 < people - number < minimum):
                yield f"{name} {number:g}"
    if table.caption.startswith("Special uniques"):
        for row in table.body:
            numbers = [_number(cell) for cell in row[1:-1]]
            rest = people - sum(each for each in numbers if not isnan(each))
            if any(0 < each < minimum for each in numbers) or (sum(map(isnan, numbers)) == 1 and 0 < rest < minimum):
                yield f"special uniques {row[1:-1]}"


def _number(cell: str) -> float:
    match = re.fullmatch(r"(\d[\d,]*(?:\.\d+)?)", cell)
    return float(match[1].replace(",", "")) if match else nan


def _share(cell: str) -> float:
    """Return the share that a cell says, NaN where it says a bound or nothing."""
    match = re.match(PERCENT, cell)
    return float(match[2]) / 100 if match and not match[1] else nan


def _files(table: Table, minimum: int) -> Iterator[str]:
    part, rows = table.column("Part"), table.column("Rows")
    if part is None or rows is None:
        return
    sizes = {row[part]: _number(row[rows]) for row in table.body}
    for row in table.body:
        if row[part] == "Release" and 0 < abs(sizes.get("Original", nan) - _number(row[rows])) < minimum:
            yield "the release lacks a few rows"


def _groups(table: Table, minimum: int) -> Iterator[str]:
    """Yield the few in a group: by its own rate, by what is left of the total, and by who was not attacked."""
    at = table.column("People (attacked)")
    if at is None:
        return
    place = table.column("Attack success")
    hits, tried = {}, {}
    for row in table.body:
        people, tries = (float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", row[at]))
        hits[row[0]], tried[row[0]] = nan if place is None else _share(row[place]) * tries, tries
        if 0 < people - tries < minimum:
            yield f"{people - tries:g} of {row[0]!r} were not attacked"
    for group, number in hits.items():
        if not isnan(number) and _is_few(number, tried[group], minimum):
            yield f"{number:.1f} of {group!r}"
    total = hits.pop("everybody", nan)
    hidden = [group for group, number in hits.items() if isnan(number)]
    rest = total - sum(number for number in hits.values() if not isnan(number))
    # Where all groups are hidden nothing is told but the total.
    if len(hidden) in range(1, len(hits)) and _is_few(rest, sum(tried[group] for group in hidden), minimum):
        yield f"{rest:.1f} are left for {hidden}"


def _excess(table: Table, totals: Sequence[int], minimum: int) -> Iterator[str]:
    """Yield the hits that an excess gives away where the rate it is made of is hidden."""
    attack, control = table.column("Attack success"), table.column("Control", "Baseline")
    normalized, more = table.column("Normalized excess"), table.column("Excess (at least, at most)", *_POINTS)
    if attack is None or control is None or (normalized is None and more is None):
        return
    for row in (each for each in table.body if len(each) == len(table.head)):
        inside, outside = (_share(row[place]) for place in (attack, control))
        excess = _share(row[normalized]) if normalized is not None else _points(row[more or 0])
        if isnan(excess) or isnan(inside) == isnan(outside) or excess == 1:
            continue
        if normalized is None:
            solved = outside + excess if isnan(inside) else inside - excess
        else:
            solved = excess * (1 - outside) + outside if isnan(inside) else (inside - excess) / (1 - excess)
        if totals and all(_is_few(solved * tries, tries, minimum) for tries in totals):
            yield f"the excess of {row[0]!r} gives {solved:.1%}"


def _classes(table: Table, totals: Sequence[int], minimum: int) -> Iterator[str]:
    """Yield the few in small classes, and those between two sizes of classes."""
    named = [
        place
        for place, name in enumerate(table.head)
        if name == "Sample unique" or re.fullmatch(r"Class below \d+", name)
    ]
    single = [
        place
        for place, name in enumerate(table.head)
        if name in ("Disclosed", "Missing, original", "Missing, released")
    ]
    single += [place for place, name in enumerate(table.head) if name in ("Distance", "Population unique", "Per row")]
    for row in table.body:
        shares = [_share(row[place]) for place in named]
        pairs = [(0.0, each) for each in shares] + [(one, other) for one in shares for other in shares if other > one]
        pairs += [(0.0, _share(row[place])) for place in single]
        for one, other in pairs:
            gaps = [(other - one) * tries for tries in totals]
            if gaps and not isnan(gaps[0]) and all(0.3 < gap < minimum - 0.5 for gap in gaps):
                yield f"{row[0]!r} has a few between {one:.1%} and {other:.1%}"
        smallest = table.column("k")
        if smallest is not None and 0 < _number(row[smallest]) < minimum:
            yield f"{row[0]!r} has a class of {row[smallest]}"


def decision_leaks(decision: Mapping[str, Any], *, minimum: int = 11) -> list[str]:
    """Return what the decision of an audit, as JSON, gives away about a few people, one sentence each.

    Rates times attempts are hits, what chance explains of copies is a number of the control group, and differences of
    numbers that contain one another are numbers too.
    """
    found: list[str] = []
    people, control = decision["people"], decision["control_people"]
    for release in decision["releases"]:
        found += _of_effects(release, people, control, minimum)
        found += _of_individuals(release, people, control, minimum)
        found += _of_groups_in(release, people, minimum)
        effects = [each for each in release["effects"] if each["attack_rate"] is not None]
        tries = [{each[name] for each in effects} for name in ("attempts", "control_attempts")]
        # Sentences leave open which attempts a rate is one of.
        texts = " ".join([decision["headline"], decision["subline"], *decision["next"]])
        found += _in_sentences(texts, people, control, tries, minimum)
    return list(dict.fromkeys(found))


def _of_effects(release: Mapping[str, Any], people: float, control: float, minimum: int) -> Iterator[str]:
    """Yield the few who are hit, or are not, by rates, by excesses, and by limits."""
    rows = [row["worst"] for row in release["risks"]]
    shown = {_digits(each["excess"]["high"]) for each in [*release["effects"], *rows] if each is not None}
    if release["highest"] is not None and _digits(release["highest"]) not in shown:
        yield f"highest {release['highest']} is that of a hidden effect"
    for effect in (each for each in (*release["effects"], *rows, release["worst_excess"]) if each is not None):
        called, excess = f"{effect['attack']} {effect['attacker']} {effect['sensitive']}", effect["excess"]["value"]
        inside, outside = effect["attack_rate"], effect["baseline"]
        sides = [(inside, effect["attempts"]), (outside, effect["control_attempts"])]
        if excess is not None and (inside is None) != (outside is None):
            sides += [(None if outside is None else outside + excess, effect["attempts"])]
        if effect["uncorrected"] is not None and outside is not None:
            sides += [(outside + effect["uncorrected"], effect["attempts"])]
        for rate, tries in sides:
            if rate is not None and tries and _is_few(rate * tries, tries, minimum):
                yield f"{called}: {rate * tries:.1f} of {tries}"
        # Predicates are no people, and some attacks are made on a part of the people alone.
        if effect["attack"] != "singling_out":
            totals = (people, effect["attempts"]), (control, effect["control_attempts"])
            yield from (f"{called}: {all_ - some} not attacked" for all_, some in totals if 0 < all_ - some < minimum)
        if inside is None and any(effect[name] is not None for name in ("people_needed", "auc", "p_adjusted")):
            yield f"{called}: a number of a hidden effect"
        for name in ("attempts", "control_attempts"):
            if 0 < effect[name] < minimum and inside is not None:
                yield f"{called}: {effect[name]} {name}"


def _digits(number: float | None) -> float | None:
    return None if number is None else round(number, 9)


def _of_individuals(release: Mapping[str, Any], people: float, control: float, minimum: int) -> Iterator[str]:
    """Yield the few among exposed people, and the few who are not."""
    each = release["individuals"]
    classes = [
        number for _, number in sorted((int(size), number) for size, number in each["people_in_classes_below"].items())
    ]
    chains = [
        [each["unmistakable"], each["copies_seen"], people],
        [each["rare_copies"], each["copies_seen"], people],
        [each["flagged"], people],
        [*classes, people],
    ]
    for chain in chains:
        known = [0.0, *(number for number in chain if number is not None)]
        for one, other in pairwise(known):
            if 0 < other - one < minimum:
                yield f"{other - one:g} people between {one:g} and {other:g}"
    for name in ("copies_expected", "rare_copies_expected"):
        if each[name] is not None and control:
            hits = each[name] * control / people
            if _is_few(hits, control, minimum):
                yield f"{name} is {hits:.1f} of the control group"
    if each["smallest_class"] is not None and each["smallest_class"] < minimum:
        yield f"a class of {each['smallest_class']}"


def _of_groups_in(release: Mapping[str, Any], people: float, minimum: int) -> Iterator[str]:
    """Yield the few in a group, those outside it, and what a group leaves of all hits of an attack."""
    groups = [*release["individuals"]["groups"], *([release["group"]] if release.get("group") else [])]
    totals = {
        each["attack"]: each["attack_rate"] * each["attempts"] for each in release["effects"] if each["attack_rate"]
    }
    for each in groups:
        size, value = each["people"], each["excess"]["value"]
        if size is not None and (0 < size < minimum or 0 < people - size < minimum):
            yield f"a group of {size}"
        if value is None or size is None:
            continue
        if _is_few(value * size, size, minimum):
            yield f"{value * size:.1f} of the group {each['group']!r}"
        rest = totals.get(each["attack"], nan) - value * size
        if 0.05 < rest < minimum - 0.5:
            yield f"{rest:.1f} outside the group {each['group']!r}"


def _in_sentences(
    text: str, people: float, control: float, tries: Sequence[Collection[int]], minimum: int
) -> Iterator[str]:
    """Yield the few in the sentences of the first screen, by numbers and by rates of either table."""
    yield from _counts(text, range(1, minimum))
    if match := re.search(
        r"(?<!least )(\d[\d,]*) people's (?:rare )?records are released unchanged(?:, (\d[\d,]*) expected)?", text
    ):
        seen, expected = (float((each or "0").replace(",", "")) for each in match.groups())
        if 0 < people - seen < minimum:
            yield f"all but {people - seen:g} are copied"
        if control and expected and _is_few(expected * control / people, control, minimum):
            yield f"{expected * control / people:.1f} copied of the control group"
    for match in re.finditer(r"[:(] ?(\d+(?:\.\d+)?)%, control (\d+(?:\.\d+)?)%", text):
        for percent, numbers in zip(match.groups(), tries, strict=True):
            if 0 in numbers:  # what strangers would give is no share of attempts
                continue
            slack = 0.5 * _unit(percent)
            ends = [(float(percent) / 100 + sign * slack) * number for number in numbers for sign in (-1, 1)]
            wholes = [number for number in numbers for _ in (-1, 1)]
            if ends and all(_is_few(end, whole, minimum) for end, whole in zip(ends, wholes, strict=True)):
                yield f"{percent}% of any of {sorted(numbers)}"


# Charts: the adversary measures bars and lines, and turns lengths into numbers of people.

_BAR = re.compile(
    r'<rect class="[\w -]+"(?: fill="[^"]*")? x="[-\d.]+" y="[-\d.]+" width="(?P<width>[\d.]+)" '
    r'height="(?P<height>[\d.]+)"><title>(?P<title>[^<]*)</title>'
)
_OUTLINE = re.compile(r'<path class="outline" d="M0 (?P<floor>[\d.]+)(?P<steps>[^"]*)"><title>(?P<title>[^<]*)</title>')
_CURVE = re.compile(r'<path class="line [^>]* d="(?P<path>[^"]*)"><title>(?P<title>[^<]*AUC[^<]*)</title>')
_CHART = re.compile(r"<svg (?P<head>[^>]*)>(?P<body>.*?)</svg>", re.DOTALL)
#: How far a number is off that was measured on a picture.
_BLUR = 0.4


def drawn_leaks(page: str, totals: Iterable[int], *, minimum: int = 11) -> list[str]:
    """Return what charts draw of a few people, whichever of the totals it is a share of."""
    sizes = [total for total in totals if total >= minimum]
    found = []
    for chart in _CHART.finditer(page):
        for title, share in [*_bars_of(chart["head"], chart["body"]), *_curves_of(chart["head"], chart["body"])]:
            if sizes and all(_BLUR < share * total < minimum - _BLUR for total in sizes):
                found.append(f"drawn {title!r}: {[round(share * total, 1) for total in sizes]}")
    return found


def _unit_of(head: str) -> float:
    """Return the share that a pixel of the height of a chart stands for; NaN where it has no axis."""
    box, axis = re.search(r'data-box="[-\d.]+ [-\d.]+ [\d.]+ ([\d.]+)"', head), re.search(r'data-y="(\S+) (\S+)"', head)
    return (float(axis[2]) - float(axis[1])) / float(box[1]) if box and axis else nan


def _bars_of(head: str, body: str) -> Iterator[tuple[str, float]]:
    """Yield the share that each bar stands for, by its length and the axis, or by a bar whose share is said."""
    bars = [(each["title"], float(each["width"]), float(each["height"])) for each in _BAR.finditer(body)]
    unit = _unit_of(head)
    if not isnan(unit):
        yield from ((title, height * unit) for title, _, height in bars)
        return
    # Small charts have no axis. Categories have bars of one height, numbers bars of one width and an outline.
    outlines = [
        (each["title"], float(each["floor"]) - float(top))
        for each in _OUTLINE.finditer(body)
        for top in re.findall(r"V([\d.]+)H", each["steps"])
    ]
    across = not outlines
    lengths = [(title, width if across else height) for title, width, height in bars]
    said = [(length, float(match[1]) / 100) for title, length in lengths if (match := re.search(r"([\d.]+)%", title))]
    if said:
        length, share = max(said)
        yield from ((title, each / length * share) for title, each in [*lengths, *outlines])


def _curves_of(head: str, body: str) -> Iterator[tuple[str, float]]:
    """Yield the shares of members at which an ROC curve is level, and those that are left there."""
    unit = _unit_of(head)
    top = re.search(r'data-box="[-\d.]+ ([-\d.]+) [\d.]+ ([\d.]+)"', head)
    for curve in _CURVE.finditer(body) if top else ():
        points = [tuple(map(float, each)) for each in re.findall(r"[ML]([\d.]+) ([\d.]+)", curve["path"])]
        for (_, one), (_, other) in pairwise(points):
            if one == other:
                share = (float(top[1]) + float(top[2]) - one) * unit  # type: ignore[index]
                yield curve["title"], share
                yield f"rest of {curve['title']}", 1 - share
