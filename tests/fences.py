"""The fenced blocks of a Markdown page: what the documentation promises, ready to be run."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Fence:
    """A block: what stands behind the opening fence, the text, and the line on which the text begins."""

    info: str
    text: str
    line: int


def pages() -> list[Path]:
    """The pages that people write. Those of docs/bandits are made from docstrings, and run as doctests."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def name(page: Path) -> str:
    """The page as a test is called after it."""
    return str(page.relative_to(ROOT))


def fences(page: Path) -> list[Fence]:
    """All fenced blocks of a page, in order."""
    text = page.read_text()
    found = re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Fence(match[1].strip(), match[2], text.count("\n", 0, match.start(2)) + 1) for match in found]


def only(page: Path, info: str) -> Fence:
    """The one block of a page with that info string."""
    (fence,) = [fence for fence in fences(page) if fence.info == info]
    return fence
