import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from rankduel.lab import Curve, Panel, PlotUnavailable, save_plot

DUELS = np.array([1, 10, 100, 1000])


def test_png_and_svg(tmp_path: Path) -> None:
    curves = [Curve("MergeDTS", DUELS, DUELS / 2, DUELS / 10), Curve("Uniform", DUELS, DUELS / 1)]
    png, svg = save_plot(tmp_path / "a.b", [Panel("the regret", curves)], title="The title")
    assert (png, svg) == (tmp_path / "a.b.png", tmp_path / "a.b.svg")
    image = imread(png)
    assert image.shape[:2] == (750, 1200)
    colours = {tuple(colour) for colour in (image[..., :3].reshape(-1, 3) * 255).round().astype(int).tolist()}
    assert {(0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00)} <= colours
    assert ElementTree.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    drawn = svg.read_text()
    for text in ("The title", "the regret", "duels", "MergeDTS", "Uniform", "1,000"):
        assert f"<!-- {text} -->" in drawn
    before = png.read_bytes(), svg.read_bytes()
    save_plot(tmp_path / "a.b", [Panel("the regret", curves)], title="The title")
    assert (png.read_bytes(), svg.read_bytes()) == before


def test_odd_curves_are_drawn_without_a_warning(tmp_path: Path) -> None:
    one = np.array([1])
    save_plot(tmp_path / "point", [Panel("", [Curve("one duel", one, np.array([0.5]), np.array([0.0]))])], title="")
    save_plot(tmp_path / "zero", [Panel("", [Curve("no regret", DUELS, np.zeros(4))])], title="")
    many = [Curve(f"bandit {number}", DUELS, DUELS * number) for number in range(30)]
    save_plot(tmp_path / "many", [Panel("", many), Panel("", many, from_zero=False)], title="")


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PlotUnavailable, match=r"pip install 'rankduel\[lab\]'"):
        save_plot(tmp_path / "plot", [Panel("", [Curve("MergeDTS", DUELS, DUELS / 2)])], title="")
    assert not list(tmp_path.iterdir())


def test_a_pdf_and_points_on_two_log_axes(tmp_path: Path) -> None:
    panel = Panel(
        "CPU time", [Curve("MergeDTS", DUELS, DUELS * 2.0, DUELS / 10)], across="rankers", log=True, points=True
    )
    (svg, pdf) = save_plot(tmp_path / "growth", [panel], title="Growth", formats=("svg", "pdf"))
    assert "<!-- rankers -->" in svg.read_text()
    assert pdf.read_bytes().startswith(b"%PDF")
    assert b"CreationDate" not in pdf.read_bytes()
