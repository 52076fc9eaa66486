"""The site: it builds without a warning, every page is in its navigation, and it needs no network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import conf
from fences import ROOT, name

HOME = ROOT / "docs" / "README.md"
FETCHED = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']([^"']+)|<link\b[^>]*\bhref=["']([^"']+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", "-c", "docs", "-d", f"{out}/doctrees"]
    built = subprocess.run([*command, ".", f"{out}/html"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return out / "html"


def test_every_page_is_in_the_navigation() -> None:
    listed = {(HOME.parent / f"{page}.md").resolve() for _, page in conf.LISTED.findall(HOME.read_text())}
    written = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")}
    written -= set((ROOT / "docs" / "bandits").glob("[a-z]*.md"))  # of their own table
    assert sorted(map(name, written - listed)) == [name(HOME)]
    assert sorted(map(name, listed - written)) == []


def test_navigation_has_a_group_for_each_heading() -> None:
    text = "# Home\n\n[x](x.md)\n\n## One\n\n- [A](a.md)\n- [B](../b/README.md)\n\n## Two\n\n- [C](c.md#d)\n- [E](e.md)"
    trees = re.findall(r":caption: (.*)\n\n((?:.+\n)*?)```", conf.navigation(text))
    assert trees == [("One", "A <a>\nB <../b/README>\n"), ("Two", "E <e>\n")]


def test_the_site_is_whole(site: Path) -> None:
    home = (site / "docs" / "README.html").read_text()
    captions = re.findall(r'<p class="caption"[^>]*><span class="caption-text">(.*?)</span>', home)
    assert captions == re.findall(r"^## (.*)$", HOME.read_text(), re.MULTILINE)
    assert "docs/README.html" in (site / "index.html").read_text()
    for page in ("CHANGELOG.html", "docs/bandits/merge_dts.html", "docs/http.html", "examples/README.html"):
        assert (site / page).exists()


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    # A theme with a font of a web service, or math from a CDN, would be caught: both are named by an address.
    fetched = []
    for page in site.rglob("*.html"):
        addresses = ["".join(match) for match in FETCHED.findall(page.read_text())]
        fetched += [(page.name, address) for address in addresses if re.match(r"(https?:)?//", address)]
    for sheet in site.rglob("*.css"):
        fetched += [
            (sheet.name, found)
            for found in re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\s]+", sheet.read_text())
        ]
    assert fetched == []
    assert FETCHED.findall('<script async src="https://cdn.example/mathjax.js">') == [
        ("https://cdn.example/mathjax.js", "")
    ]
