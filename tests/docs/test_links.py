"""Every link between the pages leads somewhere, and no file sends anybody to a package registry."""

import re
import subprocess
from pathlib import Path

import pytest

from fences import ROOT, name

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "ana" + "conda.org",
    "conda" + "-forge.org",
    "npm" + "js.org",
    "yarn" + "pkg.com",
    "index" + "-url",
    "find" + "-links",
    "trusted" + "-host",
]


def tracked() -> list[Path]:
    """What a commit would hold: no builds, no environments."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


def markdown() -> list[Path]:
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").rglob("*.md")),
    ]


def anchors(page: Path) -> set[str]:
    """The names of the headings, as they stand behind the # of a link."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", markdown(), ids=name)
def test_links_resolve(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for match in LINK.finditer(text):
        target, _, anchor = (match[1] or match[2]).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        there = (page.parent / target).resolve() if target else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(match[0])
    assert broken == []


def test_every_page_can_be_reached() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            targets = [(match[1] or match[2]).partition("#")[0] for match in LINK.finditer(page.read_text())]
            waiting += [there for target in targets if (there := (page.parent / target).resolve()) in markdown()]
    assert sorted(map(name, set(markdown()) - reached)) == []


def test_no_registry_is_named() -> None:
    named = []
    for path in tracked():
        content = path.read_bytes().lower()
        named += [f"{name(path)}: {host}" for host in HOSTS if host.encode() in content]
    assert named == []
