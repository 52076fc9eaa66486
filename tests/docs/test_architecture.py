"""ARCHITECTURE.md and the pages beside it: every path and function they name exists, and no package is missing."""

import ast
import doctest
import re
from pathlib import Path

import pytest

import draw_layers
from fences import ROOT

PACKAGE = ROOT / "src" / "rankduel"
PAGES = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / f"{page}.md" for page in ("internals", "exact-sampling")),
]
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)(?:::([\w.]+))?`")
SUFFIXES = (".py", ".pyx", ".pxd", ".md", ".toml", ".js", ".json")
COMPILED = r"^\s*(?:cdef|cpdef|def|class)\b[^\n(=]*?\b{name}\s*[(:]"


def text(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def section(heading: str) -> str:
    return text(ROOT / "ARCHITECTURE.md").partition(f"\n## {heading}")[2].partition("\n## ")[0]


def rows(part: str) -> list[list[str]]:
    """The cells of a table, without its head."""
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [line.strip("|").split(" | ") for line in lines[2:]]


def named(part: str) -> list[tuple[str, str]]:
    """All paths, each with the function that stands behind its ::, or ""."""
    return [found for found in NAMED.findall(part) if "/" in found[0] or found[0].endswith(SUFFIXES)]


def resolved(path: str) -> Path | None:
    """Where a path leads: in the package, or from the root of the repository on."""
    return next((there for there in (PACKAGE / path, ROOT / path) if there.exists()), None)


def defines(path: Path, name: str) -> bool:
    """Whether a file defines a function, a method, a class or a constant of that name."""
    if path.suffix != ".py":
        return re.search(COMPILED.format(name=re.escape(name)), path.read_text(), re.MULTILINE) is not None
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if name in {target.id for target in targets if isinstance(target, ast.Name)}:
                return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_exists(page: Path) -> None:
    found = [each for each in named(text(page)) if "/" in each[0] or page.stem == "ARCHITECTURE"]
    assert len(found) > 3
    missing = sorted({path for path, _ in found if resolved(path) is None})
    assert [path for path in missing if not path.startswith("build/")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_function_exists(page: Path) -> None:
    missing = []
    for path, name in named(text(page)):
        there = resolved(path)
        if name and (there is None or not defines(there, name.rpartition(".")[2])):
            missing.append(f"{path}::{name}")
    for name, path in re.findall(r"`(\w+)` in `([\w./]+\.\w+)`", text(page)):
        there = resolved(path)
        if there is None or not there.is_file() or not defines(there, name):
            missing.append(f"{name} in {path}")
    assert missing == []


def test_a_wrong_name_would_be_noticed() -> None:
    assert named("`live/hall.py::enter`, `a word`, `POST /v1/x`, `/v1/x`, `setup.py`, `x::y`") == [
        ("live/hall.py", "enter"),
        ("setup.py", ""),
    ]
    assert resolved("live/hall.py") is None
    assert resolved("live/settings.py") == PACKAGE / "live" / "settings.py"
    assert resolved("tests/naive") == ROOT / "tests" / "naive"
    assert defines(PACKAGE / "live" / "rules" / "duels.py", "apply_outcome")
    assert defines(PACKAGE / "live" / "settings.py", "DIALS")
    assert not defines(PACKAGE / "live" / "rules" / "duels.py", "tell_later")
    assert defines(PACKAGE / "simulation" / "play.pyx", "advance")
    assert defines(PACKAGE / "simulation" / "play.pyx", "Play")
    assert not defines(PACKAGE / "simulation" / "play.pyx", "retreat")


def test_every_package_is_in_the_table() -> None:
    listed = {path.strip("/") for row in rows(section("Packages")) for path, _ in named(row[0])}
    packages = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")} - {"."}
    modules = {path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("_")}
    assert listed == packages | modules


def test_the_table_of_changes_is_long_enough() -> None:
    found = rows(section("To change X, edit Y"))
    assert len(found) >= 30
    for row in found:
        assert named(row[1]), row[0]
    assert len({row[0] for row in found}) == len(found)


@pytest.mark.parametrize("walk", ["Walk 1", "Walk 2", "Walk 3"])
def test_every_hop_of_a_walk_names_a_file(walk: str) -> None:
    hops = re.findall(r"^(\d+)\. ((?:.+\n(?:   +.*\n)*)+?)(?=^\d+\. |^\n|\Z)", section(walk), re.MULTILINE)
    assert [int(number) for number, _ in hops] == list(range(1, len(hops) + 1))
    assert len(hops) >= 7
    assert [number for number, hop in hops if not named(hop)] == []


def test_the_glossary_has_each_word_once() -> None:
    words = [word for row in rows(section("Glossary")) for word in row[0].strip().split(", ")]
    assert len(words) > 40
    assert len(set(words)) == len(words)


def test_every_folder_of_tests_is_in_the_table_of_tests() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Where a test belongs")[2].partition("\n## ")[0]
    folders = {path.parent.relative_to(ROOT).parts[1] for path in (ROOT / "tests").glob("*/*.py")}
    assert {folder for folder in folders if f"`tests/{folder}" not in told} == set()


def test_the_picture_shows_the_imports_as_they_are() -> None:
    drawn = (ROOT / "docs" / "pictures" / "layers.svg").read_text()
    now = draw_layers.layers()
    assert draw_layers.from_svg(drawn) == draw_layers.as_values(now), "run: make pictures"


def test_the_picture_agrees_with_the_contract() -> None:
    graph = draw_layers.layers()["rankduel"]
    level = {name: number for number, row in enumerate(graph.rows) for name in row}
    assert len(graph.edges) > 20
    assert [(a, b) for a, b in graph.edges if level[a] >= level[b]] == []
    assert ("simulation", "bandits") in graph.edges
    assert ("bandits", "randomness") in graph.edges  # a cimport, which import-linter does not see


def test_own_examples() -> None:
    assert doctest.testmod(draw_layers).failed == 0
