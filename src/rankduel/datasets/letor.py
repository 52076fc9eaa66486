"""`load_letor`: learning-to-rank files as they are distributed. Every feature is a ranker, or every model is."""

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
_SCORES_PER_BATCH = 1 << 20  # held in memory before they are ranked


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

    path: a file; the folder of a fold; or several of either, read one after the other.
    part: of a folder: "train", "vali", "test" or "all"; or the beginning of a file's name, such as "set1.train".
    models: files of trained models (LightGBM text, XGBoost JSON or UBJSON), which then are the rankers. Without them
        every feature is one, the highest value first; also those that are constant.
    first_feature: the feature that the models know as their first: 1, or 0 if a model was trained on the text file by
        LightGBM's or XGBoost's own reader, for which column 0 exists and is empty.
    cache: keep the tables on disk, by the content of the files, and map them into memory the next time. True:
        $RANKDUEL_CACHE or ~/.cache/rankduel; or a folder; False: never. A folder that cannot be written is no error.
    watch: called with the bytes read so far, and all bytes.

    The lines of a query follow each other; the same qid in another file is another query, and named after its file too.
    A feature that a line does not have is 0. Whatever is wrong with a file is a DatasetError that names the place.

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
                        f"{file}:{line}: query {name!r} again, which began at line {lines[name]}: "
                        "the lines of a query must follow each other"
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
        raise DatasetError(f"{', '.join(map(str, files))}: no queries in it")
    if not tables.n_rankers:
        raise DatasetError(f"{', '.join(map(str, files))}: no features in it")
    features = (f"feature {number + 1}" for number in range(tables.n_rankers))
    rankers = tuple(features if models is None else (model.name for model in models))
    offsets, order, start = tables.finished()
    return Collection(tuple(queries), offsets, np.concatenate(grades), rankers, order, start)


def _new_name(name: str, file: Path, taken: dict[str, None]) -> str:
    """The query's name, behind that of its file where another file has such a query too."""
    for candidate in (name, f"{file.name}:{name}", f"{file}:{name}"):
        if candidate not in taken:
            return candidate
    raise DatasetError(f"{file} is to be read twice")


def _files(path: Pathish | Sequence[Pathish], part: str) -> list[Path]:
    paths = [Path(path)] if isinstance(path, str | PathLike) else [Path(one) for one in path]
    if not paths:
        raise ValueError("no files to load")
    return [file for one in paths for file in (_of_folder(one, part) if one.is_dir() else [one])]


def _of_folder(folder: Path, part: str) -> list[Path]:
    """The files of a part, as those who distribute them call them: train.txt, set1.train.txt, vali.txt.gz ..."""
    here = sorted(file.name for file in folder.iterdir())
    found = []
    for one in _PARTS if part == "all" else [part]:
        stems = "|".join(map(re.escape, _PARTS.get(one, (one,))))
        pattern = re.compile(rf"(.*[._-])?({stems})(\.txt|\.dat)?(\.gz)?", re.IGNORECASE)
        named = [name for name in here if pattern.fullmatch(name)]
        if len(named) > 1:
            raise DatasetError(f"{folder}: which {one} is meant? {', '.join(named)}")
        found += named
    if not found:
        raise DatasetError(f"{folder}: no file for part {part!r} among {', '.join(here[:20]) or 'nothing'}")
    return [folder / name for name in found]


def _state(file: Path) -> tuple[int, int]:
    if not file.exists():
        raise FileNotFoundError(f"no such file: {file}")
    return file.stat().st_size, file.stat().st_mtime_ns


def _content(files: Sequence[Path], models: Sequence[Pathish] | None, first_feature: int) -> object:
    """All that decides what becomes of the files: their bytes, and their names where these may tell queries apart."""
    names = [str(file) for file in files] if len(files) > 1 else []
    known = None if models is None else [(Path(model).name, disk.digest_of(Path(model))) for model in models]
    return ["letor", [disk.digest_of(file) for file in files], names, known, first_feature]
