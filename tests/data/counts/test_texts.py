"""What the text of a cell says; what rounding and percentages leave possible, against trying every count."""

import pytest

from unveil.data.counts.percentages import range_of_percent
from unveil.data.counts.settings import CountSettings, Rounding, range_from
from unveil.data.counts.texts import UnreadableError, told_by
from unveil.errors import InputError

PLAIN = CountSettings()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("17", ("figure", 17, 17)),
        ("1,204", ("figure", 1204, 1204)),
        ("1 204", ("figure", 1204, 1204)),
        ("17.0", ("figure", 17, 17)),
        ("0", ("figure", 0, 0)),
        ("<5", ("range", 1, 4)),
        ("≤ 4", ("range", 1, 4)),
        ("1-4", ("range", 1, 4)),
        ("1 to 4", ("range", 1, 4)),
        ("≥ 10", ("range", 10, None)),
        ("10+", ("range", 10, None)),
        ("*", ("symbol", 0, None)),
        ("", ("symbol", 0, None)),
        ("[c]", ("symbol", 0, None)),
        ("[REDACTED]", ("symbol", 0, None)),
        ("NA", ("symbol", 0, None)),
        ("[z]", ("nothing", 0, None)),
    ],
)
def test_texts_of_cells(text: str, told: tuple[str, int, int | None]) -> None:
    found = told_by(text, PLAIN)
    assert (found.told, found.low, found.high) == told


@pytest.mark.parametrize("text", ["-3", "3.5", "1,5", "-", "–", "12%", "?", "Zephyrine", "9" * 20, "4-1"])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        told_by(text, PLAIN)
    assert text not in "-–" or text in caught.value.args[1]
    assert "Zephyrine" not in str(caught.value)


def test_what_is_told_goes_first() -> None:
    settings = CountSettings(hidden={"<5": (0, 4), "-": (0, 0), "[z]": None})
    assert told_by("<5", settings).low == 0
    assert told_by("-", settings).high == 0
    assert told_by("[z]", settings).told == "nothing"


def rounded(value: int, base: int, way: str) -> set[int]:
    """Return what a count may be shown as."""
    below, rest = value - value % base, value % base
    if not rest:
        return {value}
    match way:
        case "up":
            return {below + base}
        case "down":
            return {below}
        case "random":
            return {below, below + base}
        case "half-up":
            return {below + base} if 2 * rest >= base else {below}
        case "half-down":
            return {below + base} if 2 * rest > base else {below}
    both = {below, below + base} if 2 * rest == base else set()
    return both or ({below + base} if 2 * rest > base else {below})


@pytest.mark.parametrize("way", ["nearest", "half-up", "half-down", "random", "up", "down"])
@pytest.mark.parametrize("base", [2, 3, 5, 10])
def test_rounding_leaves_every_count_that_rounds_to_it(way: str, base: int) -> None:
    settings = CountSettings(rounding=Rounding(base=base, way=way))
    for shown in range(0, 5 * base, base):
        possible = [value for value in range(8 * base) if shown in rounded(value, base, way)]
        found = told_by(str(shown), settings)
        assert (found.low, found.high) == (min(possible), max(possible))
    with pytest.raises(UnreadableError, match="multiples"):
        told_by(str(base + 1), settings) if base > 1 else None


def test_rounding_of_inner_cells_leaves_totals_exact() -> None:
    settings = CountSettings(rounding=Rounding.from_text("5:nearest:inner"))
    assert told_by("10", settings, inner=True).high == 12
    assert told_by("11", settings, inner=False).told == "figure"


def test_bounded_noise() -> None:
    assert (told_by("7", CountSettings(noise=2)).low, told_by("7", CountSettings(noise=2)).high) == (5, 9)
    assert told_by("0", CountSettings(noise=2)).high == 2
    assert told_by("0", CountSettings(noise=2, zeros_true=True)).told == "figure"


@pytest.mark.parametrize("base", [1, 7, 240, 999])
@pytest.mark.parametrize("decimals", [0, 1])
def test_a_percentage_leaves_every_count_that_is_shown_so(base: int, decimals: int) -> None:
    half = 0.5 * 10**-decimals + 1e-9
    for count in range(0, base + 1, max(1, base // 40)):
        text = f"{100 * count / base:.{decimals}f}"
        possible = [value for value in range(base + 1) if abs(100 * value / base - float(text)) <= half]
        found = told_by(range_of_percent(text, base), PLAIN)
        assert (found.low, found.high) == (min(possible), max(possible))


def test_settings_are_read_or_refused() -> None:
    assert range_from(" 1 .. 4") == (1, 4)
    for text in ("4..1", "x", "", "-1", "1...4"):
        with pytest.raises(InputError, match="Write it so"):
            range_from(text)
    for text in ("", "5:sideways", "x:random", "5:up:down"):
        with pytest.raises(InputError, match="Write"):
            Rounding.from_text(text)
    with pytest.raises(InputError, match="cannot be combined"):
        CountSettings(noise=1, rounding=Rounding(base=3))
