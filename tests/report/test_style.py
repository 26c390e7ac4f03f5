"""What a person with weak eyes, at night or on paper can still read: computed from the style sheet itself."""

import re

import pytest

from unveil.report.page import asset
from unveil.report.svg.lines import LOOKS

SHEET = asset("page.css")


def colours(block: str) -> dict[str, str]:
    """Return the colours that a block of the style sheet names."""
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


LIGHT = colours(SHEET.split("@media", 1)[0])
DARK = colours(SHEET.split("@media screen and (prefers-color-scheme: dark)", 1)[1].split("* {", 1)[0])


def luminance(colour: str) -> float:
    """Return the relative luminance as WCAG 2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 (the same) to 21 (black on white)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


TEXT_ON = [("ink", "paper"), ("soft", "paper"), ("ink", "panel"), ("soft", "panel"), ("link", "paper")]
TEXT_ON += [(tone, f"{tone}-paper") for tone in ("good", "warning", "bad", "neutral")]
TEXT_ON += [("ink", f"{tone}-paper") for tone in ("good", "warning", "bad", "neutral")]
TEXT_ON += [("bad", "paper")]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT_ON)
def test_text_can_be_read(theme: dict[str, str], text: str, ground: str) -> None:
    assert contrast(theme[text], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("line", [*LOOKS, "focus"])
@pytest.mark.parametrize("ground", ["paper", "panel"])
def test_lines_can_be_seen(theme: dict[str, str], line: str, ground: str) -> None:
    assert contrast(theme[line], theme[ground]) >= 3


def test_both_themes_name_the_same_colours() -> None:
    assert set(LIGHT) == set(DARK)


def test_matplotlib_has_the_colours_of_the_page() -> None:
    assert {style: look.colour for style, look in LOOKS.items()} == {style: LIGHT[style] for style in LOOKS}


def test_print_is_never_dark() -> None:
    # Dark colours are only for screens, so that paper keeps those of the light theme.
    assert [line for line in SHEET.splitlines() if "prefers-color-scheme" in line] == [
        "@media screen and (prefers-color-scheme: dark) {"
    ]


def test_the_style_sheet_fetches_nothing() -> None:
    assert not re.search(r"url\(|@import|https?:", SHEET)


@pytest.mark.parametrize("name", ["page", "partition"])
def test_the_script_fetches_nothing_and_writes_no_markup(name: str) -> None:
    script = asset(f"{name}.js").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(
        r"https?:|fetch|XMLHttp|import|innerHTML|outerHTML|insertAdjacent|document\.write|eval", script
    )
