"""A bounded cache of recently used items."""

from typing import Generic, TypeVar

__all__ = ["RecentCache"]

K = TypeVar("K")
V = TypeVar("V")


class RecentCache(Generic[K, V]):
    """A cache of at least the last `most` items that were set or read, and at most twice as many.

    >>> recent = RecentCache(2)
    >>> for number in range(5):
    ...     recent[number] = str(number)
    ...     assert recent.get(0) == "0"
    >>> recent.get(1) is None, recent.get(4)
    (True, '4')
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._new: dict[K, V] = {}  # two generations: when the new one is full, it becomes the old one
        self._old: dict[K, V] = {}

    def __setitem__(self, key: K, value: V) -> None:
        if len(self._new) >= self._most:
            self._new, self._old = {}, self._new
        self._new[key] = value

    def get(self, key: K) -> V | None:
        """Return the value of a key; None if it is not cached."""
        value = self._new.get(key)
        if value is None and (value := self._old.get(key)) is not None:
            self[key] = value
        return value
