"""The pictures: well-formed, told in words, readable on a dark screen, used by a page, and drawn by docs/draw.py."""

import doctest
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import draw
from fences import ROOT

PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


def test_there_are_some() -> None:
    assert {path.stem for path in PICTURES} >= {"certificate", "duel", "interleaving", "left", "regret"}


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_pictures_can_be_read(path: Path) -> None:
    text = path.read_text()
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert len(root.findtext(f"{SVG}title") or "") > 5
    assert len(root.findtext(f"{SVG}desc") or "") > 50
    assert "prefers-color-scheme: dark" in text
    assert path.stat().st_size < 60_000
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for written in root.iter(f"{SVG}text"):
        assert 0 < float(written.get("x", -1)) < width
        assert 0 < float(written.get("y", -1)) < height


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_text_stands_out_from_the_paper(path: Path) -> None:
    # WCAG AA for text: a contrast of 4.5. Catches a grey that is too light, in either scheme.
    light, _, dark = re.sub(r"(?s).*<style>(.*)</style>.*", r"\1", path.read_text()).partition("@media")
    for style in (light, dark):
        paper = colour(style, r"\.paper")
        inks = [colour(style, ink) for ink in ("text", r"\.small", r"\.ta", r"\.tb", r"\.tc", r"\.td")]
        assert min(contrast(ink, paper) for ink in inks) >= 4.5


def colour(style: str, selector: str) -> str:
    found = re.search(rf"(?:^|\s){selector} {{[^}}]*fill: #(\w+)", style)
    assert found, selector
    return "".join(2 * digit for digit in found[1]) if len(found[1]) == 3 else found[1]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_picture_is_used() -> None:
    told = "".join(page.read_text() for page in (ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md")))
    assert [path.name for path in PICTURES if f"pictures/{path.name})" not in told] == []


@pytest.mark.parametrize("picture", ["duel", "interleaving"])
def test_drawings_are_up_to_date(picture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Those without chance or measurement: Team Draft pages are the same on every machine.
    monkeypatch.setattr(draw, "PICTURES", tmp_path)
    getattr(draw, picture)()
    assert (tmp_path / f"{picture}.svg").read_text() == (ROOT / "docs" / "pictures" / f"{picture}.svg").read_text()


def test_own_examples() -> None:
    assert doctest.testmod(draw).failed == 0
