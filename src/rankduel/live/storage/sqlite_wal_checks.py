"""Check SQLite's write-ahead log for damage that SQLite mistakes for the end of the log.

Each commit appends frames to the log. A frame holds a page and a checksum that continues the checksum of the frame
before. After a crash, SQLite reads the log up to the first wrong checksum, because an incomplete commit ends like that.
Damage in the middle of the log looks the same, and SQLite would silently undo all commits after it.

The two cases differ: each commit is synced before the next one is written, so at most one commit follows the frames of
an incomplete commit. If two valid commits follow an invalid frame, the log is damaged.
https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_damage"]

_MAGIC = {0x377F0682: "<u4", 0x377F0683: ">u4"}  # byte order of the words that are summed
_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24
_MAX_FRAMES_PER_READ = 1_000

Words = NDArray[np.uint32]


def log_damage(log: Path) -> str | None:
    """Describe the damage of a log; None if it is undamaged.

    It reads a damaged log twice: while another process writes to it, the log may look damaged once.
    """
    damage = _damage(log)
    return damage if damage is not None and _damage(log) == damage else None


def _damage(log: Path) -> str | None:
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return None
    with file:
        header = file.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES:
            return None
        fields = np.frombuffer(header, ">u4")
        order = _MAGIC.get(int(fields[0]))
        if order is None or not np.array_equal(_sums(np.frombuffer(header[:24], order)[None])[0], fields[6:]):
            return f"the log {log} has a damaged header"
        page, salts, sums = int(fields[2]), fields[4:6], fields[6:]
        frames = wrong = commits = 0  # frames so far; the first invalid one; valid commits in a row after it
        size = _FRAME_HEADER_BYTES + page
        while n := len(chunk := file.read(_MAX_FRAMES_PER_READ * size)) // size:
            heads = np.frombuffer(chunk, ">u4", n * size // 4).reshape(n, -1)[:, :6]
            words = np.frombuffer(chunk, order, n * size // 4).reshape(n, -1)
            before = np.concatenate([sums[None], heads[:, 4:]])[:-1]
            summed = _sums(np.hstack([words[:, :2], words[:, 6:]]), before)
            sound = (summed == heads[:, 4:]).all(axis=1) & (heads[:, 2:4] == salts).all(axis=1)
            for is_sound, commit in zip(sound.tolist(), heads[:, 1].tolist(), strict=True):
                frames += 1
                if not is_sound:
                    wrong, commits = wrong or frames, 0
                elif wrong and commit:
                    commits += 1
                    if commits == 2:
                        return f"the log {log} is damaged at frame {wrong}: later commits would be lost"
            sums = heads[-1, 4:]
    return None


def _sums(words: NDArray[Any], before: NDArray[Any] | None = None) -> Words:
    """Return the checksum of each row of words, continuing the checksums `before`.

    For each two words a and b, the two sums become `s += a + t` and `t += b + s`, all modulo 2**32. So the final sums
    are weighted sums of all words, with weights that depend only on the position of a word.
    """
    weights = _weights(words.shape[1])
    sums: Words = words.astype(np.uint32) @ weights[2:]
    return sums if before is None else sums + before.astype(np.uint32) @ weights[:2]


@cache
def _weights(n: int) -> Words:
    """Return the weights of the two sums before, and of each of n words, in the two sums after."""
    columns = []
    for s, t in ((1, 0), (0, 1)):
        column: list[int] = []
        for _ in range(n // 2):
            s, t = (s + t) % 2**32, (s + 2 * t) % 2**32  # noqa: PLW2901 - both use the sums of the step before
            column[:0] = [s, (t - s) % 2**32]
        columns.append([s, t, *column])
    return np.array(columns, np.uint32).T
