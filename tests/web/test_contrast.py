"""The colours of the one style sheet keep WCAG 2 AA in both themes: 4.5:1 for text, 3:1 for what else has to be seen."""

import re
from itertools import product

import pytest

from gateway.web.static import FOLDER

SHEET = (FOLDER / "app.css").read_text()
TEXT, SEEN = 4.5, 3.0
GROUNDS = ("bg", "surface", "raise")
# Which texts stand on which grounds; `_declared` adds every pair that one rule of the sheet names.
TEXTS = [
    *product(("ink", "soft", "accent", "ok", "bad", "warn", "hold", "info"), GROUNDS),
    *product(("ink", "soft"), ("pick", "off-bg", "info-bg", "warn-bg", "bad-bg")),
    *product(("ink", "accent"), ("add", "del", "pick")),
    ("soft", "raise"),
]
# Borders of fields, the ring of focus, marks at comments and chosen lines, bars and lines of the picture.
MARKS = [
    *product(("line-strong", "focus", "accent", "warn", "hold", "info", "bad"), GROUNDS),
    *product(("focus", "accent", "warn"), ("add", "pick", "warn-bg", "off-bg", "info-bg")),
]


def _colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def themes() -> dict[str, dict[str, str]]:
    light, dark = re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL)
    return {"light": _colours(light), "dark": _colours(light) | _colours(dark)}


def _declared() -> list[tuple[str, str]]:
    """Text and ground of each rule that sets both."""
    found = []
    for body in re.findall(r"\{([^{}]*)\}", SHEET):
        text = re.search(r"(?<![\w-])color: var\(--([\w-]+)\)", body)
        ground = re.search(r"background(?:-color)?: var\(--([\w-]+)\)", body)
        if text and ground:
            found.append((text[1], ground[1]))
    return found


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one: str, other: str) -> float:
    """WCAG's contrast of two colours, 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_ratio_is_that_of_the_standard() -> None:
    assert ratio("#000000", "#ffffff") == pytest.approx(21)
    assert ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_pair_of_colours_can_be_read(theme: str) -> None:
    colours = themes()[theme]
    pairs = [*((pair, TEXT) for pair in [*TEXTS, *_declared()]), *((pair, SEEN) for pair in MARKS)]
    weak = {
        f"{one} on {ground}": round(found, 2)
        for (one, ground), least in pairs
        if (found := ratio(colours[one], colours[ground])) < least
    }
    assert weak == {}


def test_no_colour_stands_outside_the_two_themes() -> None:
    rules = re.sub(r":root \{.*?\}", "", SHEET, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-f]{3,8}\b", rules) == []
    assert len(_declared()) > 15, "the rules are still read"
