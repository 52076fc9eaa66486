"""Text files, gzipped or not, in chunks of whole lines."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from rankduel.errors import DatasetError

__all__ = ["portions", "words"]

_BYTES_PER_CHUNK = 1 << 20
_MARK = b"\xef\xbb\xbf"  # some editors begin UTF-8 with it


def portions(path: Path, watch: Callable[[int], object] = lambda _: None) -> Iterator[bytes]:
    """Whole lines, about a megabyte at a time, each ending in a newline. Gzip is told by content, not by name.

    `watch` is told how many bytes of the file were read.
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
            raise DatasetError(f"{path}: a truncated or damaged gzip file ({error})") from error
        if rest:
            yield rest + b"\n"


def words(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The words of every line that has any, with the number of the line, from 1."""
    number = 0
    for portion in portions(path):
        for line in portion.decode("utf-8", "backslashreplace").split("\n")[:-1]:
            number += 1
            if found := line.split():
                yield number, found
