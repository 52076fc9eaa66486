"""Draw the import layers of ARCHITECTURE.md: `python docs/draw_layers.py` writes docs/pictures/layers.svg.

Rows are the layers of the import contracts in pyproject.toml. Arrows are actual imports: grimp finds the imports of
Python modules, and this script reads the imports and cimports of Cython files. An arrow is omitted where a longer path
implies it. The SVG contains the same data as JSON, so that a test can compare it with the sources.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape, unescape
from itertools import accumulate, combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import grimp

import rankduel
from draw import PICTURES, Picture

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(rankduel.__file__).parent
OPENED = ("live", "service", "bandits")  # packages with their own panel
PANEL_WIDTHS = (300, 300, 248)
WIDTH, MARGIN, GAP = 960, 24, 16
BOX_HEIGHT, ROW_HEIGHT, PANEL_ROW_HEIGHT = 46, 76, 58

Edges = set[tuple[str, str]]
Rows = list[list[str]]


class Graph(NamedTuple):
    """Import graph: boxes in rows from the top down, the boxes that are packages, and the imports between boxes."""

    rows: Rows
    packages: list[str]
    edges: list[tuple[str, str]]


def imports() -> Edges:
    """Find all imports between modules of the package."""
    graph = grimp.build_graph("rankduel", exclude_type_checking_imports=True, cache_dir=None)
    found = {(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)}
    for path in sorted(PACKAGE.rglob("*.p[yx][xd]")):
        code = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
        module = ".".join(("rankduel", *path.relative_to(PACKAGE).with_suffix("").parts))
        found |= {(module, other) for other in re.findall(r"^(?:from|cimport|import) (rankduel[\w.]*)", code, re.M)}
    return found


def contracts() -> dict[str, Rows]:
    """Read the layers of each exhaustive import contract, by package."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {
        contract["containers"][0]: [
            [name.strip(" ()") for name in re.split(r"[|:]", layer)] for layer in contract["layers"]
        ]
        for contract in listed
        if contract["type"] == "layers" and contract.get("exhaustive")
    }


def part_of(module: str, package: str, algorithms: Iterable[str]) -> str | None:
    """Find the box of a module in a panel or in the whole picture, or None if it has no box.

    >>> part_of("rankduel.live.storage.sqlite", "rankduel", ()), part_of("rankduel.live.rules", "rankduel.live", ())
    ('live', 'rules')
    """
    if not module.startswith(f"{package}."):
        return None
    part = module.removeprefix(f"{package}.").partition(".")[0]
    if part in ("__init__", "__main__"):
        return None
    return "algorithms" if part in algorithms and package.endswith("bandits") else part


def reduced(edges: Edges) -> Edges:
    """Transitive reduction: remove the edges that a longer path implies.

    >>> sorted(reduced({("a", "b"), ("b", "c"), ("a", "c")}))
    [('a', 'b'), ('b', 'c')]
    """
    return {(a, b) for a, b in edges if not any(b in below(c, edges) for x, c in edges if x == a and c != b)}


def below(start: str, edges: Edges) -> set[str]:
    """Find everything that can be reached from a start."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        new = {b for a, b in edges if a == here} - reached
        reached |= new
        waiting += new
    return reached


def stacked(names: Iterable[str], edges: Edges) -> Rows:
    """Compute rows where no contract lists layers: each box is one row above the highest box that it imports.

    >>> stacked("abcd", {("a", "b"), ("b", "c"), ("a", "d")})
    [['a'], ['b'], ['c', 'd']]
    """
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in depths:
            depths[name] = max((1 + depth(b) for a, b in edges if a == name), default=0)
        return depths[name]

    rows: dict[int, list[str]] = {}
    for name in sorted(names):
        rows.setdefault(depth(name), []).append(name)
    return [rows[level] for level in sorted(rows, reverse=True)]


def graph_of(package: str, found: Edges) -> Graph:
    """Build the graph of a package: its boxes and the imports between them."""
    algorithms = {
        cls.__module__.rpartition(".")[2] for cls in (*rankduel.REGISTRY.values(), *rankduel.MULTI_REGISTRY.values())
    }
    pairs = {(part_of(a, package, algorithms), part_of(b, package, algorithms)) for a, b in found}
    edges = {(a, b) for a, b in pairs if a is not None and b is not None and a != b}
    circles = sorted((a, b) for a, b in edges if a in below(b, edges))
    if circles:
        raise ValueError(f"{package} has circular imports: {circles}; remove one import of each circle")
    folder = PACKAGE.joinpath(*package.split(".")[1:])
    inner = {path.parent.name for path in folder.glob("*/__init__.py")}
    modules = {path.stem for path in folder.iterdir() if path.suffix in (".py", ".pyx", ".pxd")}
    boxes = {part_of(f"{package}.{name}", package, algorithms) for name in inner | modules} - {None}
    rows = contracts().get(package)
    names = {name for name in boxes if name is not None}
    if rows is None:
        rows = stacked(names, edges)
    rows = [[name for name in row if name in names] for row in rows]
    return Graph(rows, sorted(inner), sorted(reduced(edges)))


def layers() -> dict[str, Graph]:
    """Build all graphs of the picture: the packages, and the contents of some of them."""
    found = imports()
    return {name: graph_of(name, found) for name in ("rankduel", *(f"rankduel.{each}" for each in OPENED))}


def as_values(graphs: Mapping[str, Graph]) -> Any:
    """Convert the graphs to values for JSON."""
    return json.loads(json.dumps({name: graph._asdict() for name, graph in graphs.items()}))


def from_svg(text: str) -> Any:
    """Read the JSON data from a drawn picture."""
    found = re.search(r"<metadata>(.*?)</metadata>", text, re.DOTALL)
    return None if found is None else json.loads(unescape(found[1]))


# Layout. A long arrow passes through an invisible narrow box in each row between its ends. Arrows to the same box share
# these boxes.


class Sheet:
    """Layout of the boxes and arrows in one part of the picture."""

    def __init__(
        self, graph: Graph, labels: Mapping[str, Sequence[str]], corner: tuple[int, int], width: int, gap: int
    ) -> None:
        self.labels = labels
        self.left, self.top = corner
        self.width, self.gap = width, gap
        self.rows = [part for row in graph.rows for part in self._wrapped(row)]
        level = {name: row for row, names in enumerate(self.rows) for name in names}
        self.steps: Edges = set()
        for a, b in graph.edges:
            if level[a] >= level[b]:
                continue  # both are in one layer: the contract covers it, and no arrow is drawn
            here = a
            for row in range(level[a] + 1, level[b]):
                passing = f">{b}"
                if passing not in self.rows[row]:
                    self.rows[row].append(passing)
                self.steps.add((f"{row - 1} {here}", f"{row} {passing}"))
                here = passing
            self.steps.add((f"{level[b] - 1} {here}", f"{level[b]} {b}"))
        self.x: dict[str, float] = {}
        self._order()
        self._place()

    def size(self, name: str) -> float:
        """Compute the width of a box from its text."""
        if name.startswith(">"):
            return 2.0
        return (
            max(8.4 * len(line) if number == 0 else 6.8 * len(line) for number, line in enumerate(self.labels[name]))
            + 20
        )

    def _wrapped(self, row: Sequence[str]) -> Rows:
        """Wrap a layer into as many rows as it needs."""
        parts: Rows = [[]]
        for name in row:
            if parts[-1] and sum(self.size(each) + self.gap for each in (*parts[-1], name)) > self.width:
                parts.append([])
            parts[-1].append(name)
        return parts

    def _order(self) -> None:
        """Swap boxes within a row as long as this reduces the number of crossing arrows."""
        for _ in range(8):
            for number in range(len(self.rows)):
                self._spread(number, squeezed=False)
            for number in (*range(len(self.rows)), *reversed(range(len(self.rows)))):
                self.rows[number].sort(key=partial(self._wanted, number))
                self._spread(number, squeezed=False)
        best = self._crossings()
        improved = True
        while improved:
            improved = False
            for names in self.rows:
                for one, other in combinations(range(len(names)), 2):
                    names[one], names[other] = names[other], names[one]
                    if (now := self._crossings()) < best:
                        best, improved = now, True
                    else:
                        names[one], names[other] = names[other], names[one]

    def _crossings(self) -> int:
        at = {f"{number} {name}": place for number, row in enumerate(self.rows) for place, name in enumerate(row)}
        steps = sorted((a.partition(" ")[0], at[a], at[b]) for a, b in self.steps)
        return sum(
            row == other_row and (a - other_a) * (b - other_b) < 0
            for (row, a, b), (other_row, other_a, other_b) in combinations(steps, 2)
        )

    def _place(self) -> None:
        for number in range(len(self.rows)):
            self._spread(number, squeezed=False)
        for _ in range(40):
            for number in (*range(len(self.rows)), *reversed(range(len(self.rows)))):
                self._spread(number, squeezed=True)

    def _wanted(self, number: int, name: str) -> float:
        """Compute the preferred position of a box: a weighted mean of its neighbours. Long arrows stay straight."""
        key = f"{number} {name}"
        tied = [(b, b in self.x) for a, b in self.steps if a == key] + [
            (a, a in self.x) for a, b in self.steps if b == key
        ]
        total, weights = 0.1 * (self.left + self.width / 2), 0.1
        for other, known in sorted(tied):
            weight = 6.0 if name.startswith(">") and ">" in other else 1.0
            if known:
                total, weights = total + weight * self.x[other], weights + weight
        return total / weights

    def _spread(self, number: int, *, squeezed: bool) -> None:
        """Place the boxes of a row near their preferred positions, in order and without overlap."""
        names = self.rows[number]
        sizes = [self.size(name) for name in names]
        apart = [0.0, *((one + other) / 2 + self.gap for one, other in pairwise(sizes))]
        offsets = list(accumulate(apart))
        if squeezed:
            wanted = [self._wanted(number, name) for name in names]
        else:
            wanted = [self.left + self.width / 2 + offset - offsets[-1] / 2 for offset in offsets]
        nearest = rising([at - offset for at, offset in zip(wanted, offsets, strict=True)])
        low, high = self.left + sizes[0] / 2, self.left + self.width - sizes[-1] / 2 - offsets[-1]
        for name, at, offset in zip(names, nearest, offsets, strict=True):
            self.x[f"{number} {name}"] = max(low, min(high, at)) + offset


def rising(values: Sequence[float]) -> list[float]:
    """Isotonic regression: the non-decreasing sequence nearest to these values, by pooling adjacent violators.

    >>> rising([1.0, 4.0, 2.0, 5.0])
    [1.0, 3.0, 3.0, 5.0]
    """
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, some), (other, more) = blocks.pop(-2), blocks.pop()
            blocks.append(((one * some + other * more) / (some + more), some + more))
    return [mean for mean, count in blocks for _ in range(count)]


def draw(picture: Picture, graph: Graph, sheet: Sheet, row_height: int) -> None:
    """Draw the arrows, then the boxes on top."""
    height = {name: BOX_HEIGHT if len(sheet.labels.get(name, ())) > 1 else 30 for row in sheet.rows for name in row}
    middle = {
        f"{number} {name}": sheet.top + number * row_height + BOX_HEIGHT / 2
        for number, row in enumerate(sheet.rows)
        for name in row
    }

    def half(key: str) -> float:
        name = key.partition(" ")[2]
        return 0.0 if name.startswith(">") else height[name] / 2

    for a, b in sorted(sheet.steps):
        x0, y0, x1, y1 = sheet.x[a], middle[a] + half(a), sheet.x[b], middle[b] - half(b)
        ends = not b.partition(" ")[2].startswith(">")
        end = y1 - 8 if ends else y1
        bend = (end - y0) / 2
        picture.parts.append(
            f'<path class="line" d="M{x0:.1f},{y0:.1f} C{x0:.1f},{y0 + bend:.1f} {x1:.1f},{end - bend:.1f} '
            f'{x1:.1f},{end:.1f}"/>'
        )
        if ends:
            picture.parts.append(
                f'<polygon class="tip" points="{x1:.1f},{y1:.1f} {x1 - 4:.1f},{y1 - 9:.1f} {x1 + 4:.1f},{y1 - 9:.1f}"/>'
            )
    for number, row in enumerate(sheet.rows):
        for name in row:
            if name.startswith(">"):
                continue
            key = f"{number} {name}"
            size = sheet.size(name)
            corner = round(sheet.x[key] - size / 2, 1), round(middle[key] - half(key), 1)
            looks = "fa" if name in graph.packages else "box"
            picture.box(corner, (round(size, 1), height[name]), sheet.labels[name], looks)


def picture(graphs: Mapping[str, Graph]) -> Picture:
    """Draw all packages, and below them the contents of three packages."""
    whole = graphs["rankduel"]
    inner = {
        name: sorted(path.parent.name for path in (PACKAGE / name).glob("*/__init__.py")) for name in whole.packages
    }
    labels = {
        name: (name, ", ".join(inner[name])) if inner.get(name) else (name,) for row in whole.rows for name in row
    }
    sheets = [Sheet(whole, labels, (MARGIN, 24), WIDTH - 2 * MARGIN, 34)]
    top = 24 + ROW_HEIGHT * len(sheets[0].rows) + 16
    left = MARGIN
    for name, width in zip(OPENED, PANEL_WIDTHS, strict=True):
        names = {each: (each,) for row in graphs[f"rankduel.{name}"].rows for each in row}
        sheets.append(Sheet(graphs[f"rankduel.{name}"], names, (left, top + 34), width, GAP))
        left += width + 2 * GAP
    made = Picture(
        "The packages of rankduel and their layers",
        "Rows of boxes, from the top down: "
        + "; ".join(", ".join(row) for row in whole.rows)
        + ". Arrows point from a package to those it imports, always downwards. Below, the same for the modules and "
        + f"sub-packages of {', '.join(OPENED)}.",
        width=WIDTH,
        height=top + 40 + PANEL_ROW_HEIGHT * max(len(sheet.rows) for sheet in sheets[1:]),
    )
    made.parts.append(f"<metadata>{escape(json.dumps(as_values(graphs), sort_keys=True), quote=False)}</metadata>")
    made.text(MARGIN, 34, "src/rankduel", "strong", "start")
    made.text(MARGIN, 54, "blue: a package with its sub-packages", "small", "start")
    made.text(MARGIN, 72, "grey: a module", "small", "start")
    made.text(MARGIN, 90, "arrow: imports", "small", "start")
    draw(made, whole, sheets[0], ROW_HEIGHT)
    for name, sheet in zip(OPENED, sheets[1:], strict=True):
        made.text(sheet.left, top + 20, f"{name}/", "strong", "start")
        draw(made, graphs[f"rankduel.{name}"], sheet, PANEL_ROW_HEIGHT)
    return made


def main() -> None:
    """Write the picture."""
    PICTURES.mkdir(exist_ok=True)
    picture(layers()).save("layers")


if __name__ == "__main__":
    main()
