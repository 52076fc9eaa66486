"""`load_letor`: read learning-to-rank files (LETOR, SVMlight). Features or trained models are the rankers."""

import re
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rankduel.datasets import cache as disk
from rankduel.datasets.collection import Collection
from rankduel.datasets.files import portions
from rankduel.datasets.letor_text import LetorText
from rankduel.datasets.models import Model, load_models
from rankduel.errors import DatasetError
from rankduel.rankings import GrowingTables

__all__ = ["load_letor"]

Watch = Callable[[int, int], object]
Pathish = str | PathLike[str]

_PARTS = {
    "train": ("train", "trainingset"),
    "vali": ("vali", "valid", "validation", "validationset"),
    "test": ("test", "testset"),
}
_SCORES_PER_BATCH = 1 << 20  # rank the documents that were read when their scores exceed this number


def load_letor(
    path: Pathish | Sequence[Pathish],
    *,
    part: str = "train",
    models: Sequence[Pathish] | None = None,
    first_feature: int = 1,
    cache: bool | Pathish = True,
    watch: Watch | None = None,
) -> Collection:
    r"""Read LETOR or SVMlight text, `grade qid:Q 1:v 2:v ... # comment`, gzipped or not.

    path: a file, the folder of a fold, or a list of files and folders.
    part: the file to read from a folder: "train", "vali", "test", "all", or the beginning of a file name, such as
        "set1.train".
    models: files of trained models (LightGBM text, XGBoost JSON or UBJSON) that are the rankers. By default, every
        feature is a ranker, even a constant one. It puts the highest value first.
    first_feature: the number of the feature in column 0 of the models: 1, or 0 if a model was trained on the text file
        by the reader of LightGBM or XGBoost. Then column 0 exists and is empty.
    cache: cache the tables on disk, with a hash of the files as key, and map them into memory the next time. True uses
        the folder $RANKDUEL_CACHE or ~/.cache/rankduel. Pass a path for another folder, or False to disable the cache.
        If the folder is not writable, nothing is cached.
    watch: a function that is called with the number of bytes read so far and in total.

    The lines of a query must be consecutive. The same qid in another file is another query, and its name includes the
    file name. A missing feature is 0. An invalid file raises DatasetError with the file and line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "train.txt"
    ...     _ = file.write_text("2 qid:1 1:0.5 2:7 # a document\n0 qid:1 2:9\n1 qid:2 1:1\n")
    ...     collection = load_letor(folder, cache=False)
    >>> collection, collection.rankers
    (<Collection: 2 queries, 3 documents, 2 rankers, grades 0 to 2>, ('feature 1', 'feature 2'))
    """
    files = _files(path, part)
    if first_feature not in (0, 1):
        raise ValueError(f"first_feature must be 0 or 1, got {first_feature!r}")
    rankers = None if models is None else load_models(models, first_feature)
    before = [_state(file) for file in files]
    total = sum(size for size, _ in before)
    entry = disk.entry_path(cache, _content(files, models, first_feature) if cache is not False else None)
    if entry is not None and (kept := disk.read(entry)) is not None:
        if watch is not None:
            watch(total, total)
        return kept
    collection = _read(files, rankers, watch, total)
    if entry is not None and before == [_state(file) for file in files]:  # unchanged since their bytes were hashed
        disk.write(entry, collection)
    return collection


def _read(files: Sequence[Path], models: Sequence[Model] | None, watch: Watch | None, total: int) -> Collection:
    text, tables = LetorText(), GrowingTables()
    grades: list[npt.NDArray[np.uint8]] = []
    queries: dict[str, None] = {}
    done = 0

    def tell(read: int) -> None:
        if watch is not None:
            watch(done + read, total)

    for file in files:
        lines: dict[str, int] = {}

        def rank(file: Path = file, lines: dict[str, int] = lines) -> None:
            scores, offsets, graded, names, begins = text.take()
            for name, line in zip(names, begins, strict=True):
                if name in lines:
                    raise DatasetError(
                        f"{file}:{line}: query {name!r} already began at line {lines[name]}; "
                        "the lines of a query must be consecutive"
                    )
                lines[name] = line
                queries[_new_name(name, file, queries)] = None
            grades.append(graded)
            if models is not None:
                scores = np.stack([model.scores(scores) for model in models], axis=1) if len(scores) else scores[:, :0]
            tables.add(scores, offsets)

        text.open(file)
        for portion in portions(file, tell):
            text.feed(portion)
            if text.documents_ready * text.n_features >= _SCORES_PER_BATCH:
                rank()
        text.close()
        rank()
        done += file.stat().st_size
    if not queries:
        raise DatasetError(f"{', '.join(map(str, files))}: no queries; expected lines of grade qid:Q feature:value")
    if not tables.n_rankers:
        raise DatasetError(f"{', '.join(map(str, files))}: no features; expected lines of grade qid:Q feature:value")
    features = (f"feature {number + 1}" for number in range(tables.n_rankers))
    rankers = tuple(features if models is None else (model.name for model in models))
    offsets, order, start = tables.finished()
    return Collection(tuple(queries), offsets, np.concatenate(grades), rankers, order, start)


def _new_name(name: str, file: Path, taken: dict[str, None]) -> str:
    """Name a query. If another file has a query of this name, prefix the name of the file."""
    for candidate in (name, f"{file.name}:{name}", f"{file}:{name}"):
        if candidate not in taken:
            return candidate
    raise DatasetError(f"{file} is listed twice; list each file once")


def _files(path: Pathish | Sequence[Pathish], part: str) -> list[Path]:
    paths = [Path(path)] if isinstance(path, str | PathLike) else [Path(one) for one in path]
    if not paths:
        raise ValueError("path must name at least one file or folder, got an empty list")
    return [file for one in paths for file in (_of_folder(one, part) if one.is_dir() else [one])]


def _of_folder(folder: Path, part: str) -> list[Path]:
    """Find the files of a part by their usual names, such as train.txt, set1.train.txt or vali.txt.gz."""
    here = sorted(file.name for file in folder.iterdir())
    found = []
    for one in _PARTS if part == "all" else [part]:
        stems = "|".join(map(re.escape, _PARTS.get(one, (one,))))
        pattern = re.compile(rf"(.*[._-])?({stems})(\.txt|\.dat)?(\.gz)?", re.IGNORECASE)
        named = [name for name in here if pattern.fullmatch(name)]
        if len(named) > 1:
            raise DatasetError(f"{folder}: part {one!r} matches {', '.join(named)}; pass one of these names as part")
        found += named
    if not found:
        raise DatasetError(f"{folder}: no file for part {part!r}; files: {', '.join(here[:20]) or 'none'}")
    return [folder / name for name in found]


def _state(file: Path) -> tuple[int, int]:
    if not file.exists():
        raise FileNotFoundError(f"no such file: {file}")
    return file.stat().st_size, file.stat().st_mtime_ns


def _content(files: Sequence[Path], models: Sequence[Pathish] | None, first_feature: int) -> object:
    """Everything that determines the collection: the bytes of the files, and their names if these may name queries."""
    names = [str(file) for file in files] if len(files) > 1 else []
    known = None if models is None else [(Path(model).name, disk.digest_of(Path(model))) for model in models]
    return ["letor", [disk.digest_of(file) for file in files], names, known, first_feature]
