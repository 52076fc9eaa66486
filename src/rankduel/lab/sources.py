"""Sources of problems: a file with your data, a documented stand-in if there is none, or a definition."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rankduel import datasets
from rankduel.datasets import Collection
from rankduel.lab.plan import problem_from
from rankduel.preferences import PreferenceMatrix, problems
from rankduel.simulation import Problem, SearchWorld
from rankduel.spec import parse

__all__ = ["Origin", "Source", "Sources", "data_folder"]

Origin = Literal["data", "sample", "stand-in", "definition"]

_SUFFIXES = (".npz", ".npy", ".csv", ".txt", ".csv.gz", ".txt.gz")


@dataclass(frozen=True, eq=False)
class Source:
    """A problem with its title and its origin."""

    title: str
    problem: Problem
    origin: Origin
    description: str


@cache
def _known() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "paper" / "data.toml").read_text(encoding="utf-8"))


def data_folder(folder: Path | None = None) -> Path | None:
    """Return the data folder: the given one, or the one in RANKDUEL_DATA, or None."""
    name = "data"
    if folder is None and (named := os.environ.get("RANKDUEL_DATA")):
        name, folder = "RANKDUEL_DATA", Path(named)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"{name} must be an existing folder, got {folder}")
    return folder


class Sources:
    """Finds problems, and caches them.

    >>> Sources(None).find("mslr_navigational").description
    'stand-in: web_search'
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._found: dict[str, Source] = {}

    def find(self, text: str, world: Mapping[str, Any] | None = None, spec_folder: Path = Path()) -> Source:
        """Find the problem of a spec: one of the paper, a named problem, a matrix file, or a synthetic collection.

        A file may be in the data folder or next to the spec.
        """
        key = repr((text, sorted((world or {}).items()), str(spec_folder)))
        if key not in self._found:
            self._found[key] = self._find(text, world or {}, spec_folder)
        return self._found[key]

    def _find(self, text: str, world: Mapping[str, Any], spec_folder: Path) -> Source:
        known = _known().get(text)
        if known is None:
            if _is_synthetic(text):
                return Source(text, _world(_synthetic(text), world), "definition", text)
            if found := self._paths([text]):
                return Source(found[0].stem, PreferenceMatrix.load(found[0]), "data", f"data: {found[0].name}")
            file = spec_folder / text
            if text.endswith(_SUFFIXES) and not file.is_file() and not Path(text).is_file():
                raise ValueError(
                    f"no file {text!r} in the data folder or next to the spec; pass data='FOLDER' or set RANKDUEL_DATA"
                )
            name, problem = problem_from(str(file) if file.is_file() else text)
            return Source(name, problem, "definition", f"file {file.name}" if file.is_file() else text)
        if "matrix" in known:
            return self._matrix(known)
        return self._collection(known, world)

    def _matrix(self, known: Mapping[str, Any]) -> Source:
        title = known["title"]
        rule: Callable[[PreferenceMatrix], PreferenceMatrix] | None = getattr(problems, known.get("rule", ""), None)
        names = [f"{name}{suffix}" for name in known["matrix"] for suffix in _SUFFIXES]
        for path in self._paths([*names, *(f"matrices/{name}" for name in names)]):
            matrix = PreferenceMatrix.load(path)
            if matrix.n_arms not in known["n_arms"]:
                expected = " or ".join(map(str, known["n_arms"]))
                raise ValueError(f"{path} has {matrix.n_arms} arms, but {title} has {expected}; use the matching file")
            return Source(title, rule(matrix) if rule else matrix, "data", f"data: {path.name}")
        return Source(title, problems.named(known["stand_in"]), "stand-in", f"stand-in: {known['stand_in']}")

    def _collection(self, known: Mapping[str, Any], world: Mapping[str, Any]) -> Source:
        title = known["title"]
        origins: tuple[tuple[str, Origin], ...] = (("collection", "data"), ("sample", "sample"))
        for key, origin in origins:
            for path in self._paths(known.get(key, [])):
                collection = datasets.load_letor(path)
                told = f"{origin}: {path.name}, {collection.n_queries:,} queries"
                return Source(title, _world(collection, world), origin, told)
        stand_in = known["stand_in"]
        return Source(title, _world(_synthetic(stand_in), world), "stand-in", f"stand-in: {stand_in}")

    def _paths(self, names: list[str]) -> list[Path]:
        """The paths that exist in the data folder."""
        if self.folder is None:
            return []
        return [path for name in names if (path := self.folder / name).exists()]


def _is_synthetic(text: str) -> bool:
    return text.partition("(")[0].strip() == "synthetic"


def _synthetic(text: str) -> Collection:
    make: Callable[..., Collection] = datasets.synthetic
    return make(**parse(text)[1])


def _world(collection: Collection, options: Mapping[str, Any]) -> SearchWorld:
    make: Callable[..., SearchWorld] = SearchWorld
    return make(collection, **options)
