"""Read and write preference matrices: npz, npy, csv or plain text, by the suffix of the file, gzipped or not."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from rankduel.preferences.arrays import Floats

__all__ = ["load", "save"]

Names = tuple[str, ...]


def load(path: Path) -> tuple[Floats, Names | None]:
    """Return the numbers of a file, not yet validated, and the names of the arms if the file has them."""
    if not path.exists():
        raise FileNotFoundError(f"matrix file not found: {path}")
    try:
        content = gzip.decompress(path.read_bytes()) if _gzipped(path) else path.read_bytes()
        if _format(path) in (".npz", ".npy"):
            return _load_numpy(content)
        text = content.decode("utf-8-sig")
        return _load_csv(text) if _format(path) == ".csv" else (_numbers(_words(text)), None)
    except (ValueError, EOFError, BadZipFile, gzip.BadGzipFile, zlib.error, csv.Error) as error:
        raise ValueError(f"cannot read {path}: {error}") from error


def save(path: Path, probabilities: Floats, names: Names | None) -> None:
    """Write the exact numbers. npz and csv files also keep the names of the arms, npy and text files do not."""
    content = io.BytesIO()
    if _format(path) == ".npz":
        arrays = {"P": probabilities} if names is None else {"P": probabilities, "names": np.array(names)}
        np.savez_compressed(content, allow_pickle=False, **arrays)
    elif _format(path) == ".npy":
        np.save(content, probabilities)
    else:
        content.write(_text(probabilities, names, _format(path)).encode())
    path.write_bytes(gzip.compress(content.getvalue(), mtime=0) if _gzipped(path) else content.getvalue())


def _gzipped(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _format(path: Path) -> str:
    return (path.with_suffix("") if _gzipped(path) else path).suffix.lower()


def _text(probabilities: Floats, names: Names | None, suffix: str) -> str:
    text = io.StringIO()
    if suffix == ".csv":
        rows = csv.writer(text)
        if names is not None:
            rows.writerow(names)
        rows.writerows(probabilities.tolist())
    else:
        text.writelines(" ".join(map(repr, row)) + "\n" for row in probabilities.tolist())
    return text.getvalue()


def _load_numpy(content: bytes) -> tuple[Floats, Names | None]:
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded, None
    with loaded:
        if "P" not in loaded:
            raise ValueError(f"the file has no array 'P', only {', '.join(loaded.files) or 'nothing'}")
        return loaded["P"], tuple(loaded["names"].astype(np.str_).tolist()) if "names" in loaded else None


def _words(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if words := line.partition("#")[0].replace(",", " ").split():
            yield number, words


def _load_csv(text: str) -> tuple[Floats, Names | None]:
    reader = csv.reader(io.StringIO(text, newline=""))
    rows = [(reader.line_num, row) for row in reader if row]
    if rows and len(rows) == len(rows[0][1]) + 1:  # one row more than columns: the first row has the names
        return _numbers(rows[1:]), tuple(rows[0][1])
    return _numbers(rows), None


def _numbers(rows: Iterable[tuple[int, list[str]]]) -> Floats:
    array: list[list[float]] = []
    for number, row in rows:
        if array and len(row) != len(array[0]):
            raise ValueError(f"line {number}: {len(row)} values, expected {len(array[0])} as in the first row")
        array.append([_number(word, number) for word in row])
    if not array:
        raise ValueError("the file has no numbers")
    return np.array(array)


def _number(word: str, line: int) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"line {line}: expected a number, got {word!r}") from None
