"""Configuration of the documentation site: `make docs-site` builds it with Sphinx and MyST from the Markdown files.

The source folder is the root of the repository, so that links between pages work both on the site and on a code host.
The navigation is generated from docs/README.md: each heading is a group, and each list item is a page of the group.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

import rankduel

ROOT = Path(__file__).resolve().parent.parent
HOME = "docs/README"
LISTED = re.compile(r"^- \[([^\]]*)\]\(([^)\s]+)\.md\)", re.MULTILINE)  # a list item that begins with a link to a page

project = "rankduel"
author = "the authors of rankduel"
project_copyright = "the authors of rankduel, Apache-2.0"
version = release = rankduel.__version__

extensions = ["myst_parser"]
root_doc = HOME
include_patterns = ["*.md", "docs/**", "examples/**"]
exclude_patterns = [".*", "build", "dist", "results", "src", "tests", "benchmarks", "**/node_modules"]
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # HTTP examples without "HTTP/1.1" are not highlighted

myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = "rankduel"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "home.html"}  # the root of the site redirects to docs/README
templates_path = ["templates"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7ab7ff", "color-brand-content": "#7ab7ff"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def navigation(text: str) -> str:
    """Make one hidden table of contents for each heading, with the pages that are listed below it."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    groups = zip(["", *parts[1::2]], parts[::2], strict=True)
    trees = [(caption, pages) for caption, part in groups if (pages := LISTED.findall(part))]
    return "".join(
        "\n".join(["", "", "```{toctree}", ":hidden:", f":caption: {caption}", "", *map(_entry, pages), "```", ""])
        for caption, pages in trees
    )


def _entry(page: tuple[str, str]) -> str:
    return f"{page[0]} <{page[1]}>"


def add_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add the navigation to the home page and to the table of bandits."""
    if page == HOME:
        source[0] += navigation(source[0])
    elif page == "docs/bandits/README":
        source[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\n[a-z]*\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the hook. Sphinx calls this function."""
    app.connect("source-read", add_navigation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
