"""Read text files, gzipped or not, in chunks of whole lines."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from rankduel.errors import DatasetError

__all__ = ["portions", "words"]

_BYTES_PER_CHUNK = 1 << 20
_MARK = b"\xef\xbb\xbf"  # byte order mark that some editors write before UTF-8


def portions(path: Path, watch: Callable[[int], object] = lambda _: None) -> Iterator[bytes]:
    """Yield whole lines, about a megabyte at a time, each with a newline. Gzip is recognised by content, not by name.

    `watch` is called with the number of bytes read so far.
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    with path.open("rb") as file:
        gzipped = file.peek(2)[:2] == b"\x1f\x8b"
        text = gzip.GzipFile(fileobj=file) if gzipped else file
        rest, first = b"", True
        try:
            while portion := text.read(_BYTES_PER_CHUNK):
                watch(file.tell())
                portion = rest + portion
                if first:
                    portion, first = portion.removeprefix(_MARK), False
                end = portion.rfind(b"\n") + 1
                rest = portion[end:]
                if end:
                    yield portion[:end]
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DatasetError(f"{path}: truncated or damaged gzip file: {error}") from error
        if rest:
            yield rest + b"\n"


def words(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, from 1, and the words of every line that is not blank."""
    number = 0
    for portion in portions(path):
        for line in portion.decode("utf-8", "backslashreplace").split("\n")[:-1]:
            number += 1
            if found := line.split():
                yield number, found
