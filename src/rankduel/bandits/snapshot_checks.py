"""Snapshot validation: a bandit declares rules for its arrays, and `check` applies them.

Kernels trust their arrays. An index out of range, a tree with wrong sums or a curve that does not fit its counts could
make them access memory out of bounds, or loop without end. A bandit's `_snapshot_rules` therefore yields triples of an
array's name, its values and a rule. It is a generator, and each triple is checked before the next one is computed. So a
rule may rely on all arrays that were checked before it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rankduel.errors import SnapshotError

__all__ = ["MAX_DUELS", "Equal", "Rules", "Shape", "Values", "check", "check_whole", "curve_rules", "tree_rules"]

MAX_DUELS = 2**48  # kernels count exactly up to this number
Array = npt.NDArray[Any]
STALE, FLAT = -1, -2  # markers of `randomness/beta.pxd`: no curve is fitted


class Rule(Protocol):
    """A condition on the values of an array."""

    def wrong(self, found: Array) -> Array: ...
    def expected(self, where: tuple[int, ...]) -> str: ...


Rules = Iterator[tuple[str, Any, Rule]]


@dataclass(frozen=True)
class Values:
    """Values from `low` to `high` (numbers or arrays), or one of the `markers`. Never NaN."""

    low: Any
    high: Any
    whole: bool = False
    markers: tuple[float, ...] = ()

    def wrong(self, found: Array) -> Array:
        """Mask of the values that break the rule."""
        right = (found >= self.low) & (found <= self.high)
        if self.whole:
            right &= found == np.floor(found)
        for marker in self.markers:
            right |= found == marker
        return np.asarray(~right)

    def expected(self, where: tuple[int, ...]) -> str:
        """Describe the rule at an index, for the error message."""
        kind = "a whole number" if self.whole else "a number"
        low, high = (_at(end, where) for end in (self.low, self.high))
        return f"{kind} from {low} to {high}" + "".join(f", or {marker}" for marker in self.markers)


@dataclass(frozen=True)
class Equal:
    """Values equal to `other`, or within the relative tolerance `close`."""

    other: Any
    close: float = 0.0

    def wrong(self, found: Array) -> Array:
        """Mask of the values that break the rule."""
        other = np.asarray(self.other)
        if other.ndim and other.shape != found.shape:
            return np.array(True)
        if self.close:
            return np.asarray(~np.isclose(found, other, rtol=self.close, atol=1e-280))
        return np.asarray(found != other)

    def expected(self, where: tuple[int, ...]) -> str:
        """Describe the rule at an index, for the error message."""
        return str(_at(self.other, where))


@dataclass(frozen=True)
class Shape:
    """An array of this dtype and shape. None in the shape stands for any length."""

    dtype: Any
    shape: tuple[int | None, ...]

    def fits(self, found: Array) -> bool:
        """Whether the array has this dtype and shape."""
        lengths = zip(found.shape, self.shape, strict=False)
        return (
            found.dtype == np.dtype(self.dtype)
            and found.ndim == len(self.shape)
            and all(length in (there, None) for there, length in lengths)
        )

    def wrong(self, found: Array) -> Array:
        """True if dtype or shape differ: a single value, not a mask."""
        return np.array(not self.fits(found))

    def expected(self, where: tuple[int, ...]) -> str:
        """Describe the rule, for the error message."""
        return f"{np.dtype(self.dtype)}{self.shape}"


def check(rules: Iterable[tuple[str, Any, Rule]]) -> None:
    """Raise a SnapshotError with the first array that breaks its rule, the index and the value.

    >>> check([("order", np.array([0, 7]), Values(0, 1))])
    Traceback (most recent call last):
    rankduel.errors.SnapshotError: order[1] is 7, expected a number from 0 to 1
    """
    for name, values, rule in rules:
        found = np.asarray(values)
        wrong = rule.wrong(found)
        if not wrong.any():
            continue
        where = tuple(int(place) for place in np.argwhere(wrong)[0])
        place = f"[{', '.join(map(str, where))}]" if where else ""
        raise SnapshotError(f"{name}{place} is {_at(found, where)}, expected {rule.expected(where)}")


def check_whole(name: str, value: object, low: int, high: int) -> int:
    """Return the value if it is an int from low to high. Otherwise raise a SnapshotError."""
    if type(value) is not int or not low <= value <= high:
        raise SnapshotError(f"{name} is {value!r}, expected a whole number from {low} to {high}")
    return value


def tree_rules(name: str, tree: Array, leaves: Array, close: float) -> Rules:
    """Rules for a sum tree (`randomness/sum_tree.pxd`): given leaves, zeros behind them, and correct sums."""
    size = len(tree) // 2
    n = len(leaves)
    yield name, tree[size : size + n], Equal(leaves, close)
    yield name, tree[size + n :], Equal(0)
    yield name, tree[1:size], Equal(tree[2::2] + tree[3::2])


def curve_rules(name: str, records: Array, bar: float) -> Rules:
    """Rules for records of `bandits/kernels/pair_posterior.pxd`: valid probabilities, curves that fit the counts."""
    a, b, mode, width, gap, mass, above_half, step = np.moveaxis(records, -1, 0)
    yield name, above_half, Values(0, 1)
    yield name, step, Values(0, MAX_DUELS)
    yield name, mode, Values(0, 1)
    yield name, width, Values(0, 1)
    yield name, mass, Values(0, MAX_DUELS)
    yield name, gap, Values(0, MAX_DUELS, markers=(STALE, FLAT))
    fitted = gap >= 0
    a, b = a[fitted], b[fitted]
    yield name, np.minimum(a, b), Values(2, MAX_DUELS)
    inverse = 1 / (a + b - 2)
    m = (a - 1) * inverse
    bend = np.where(m >= 0.1, 4 - 6.75 * (0.5 - m) ** 2, 1)
    wider = np.where(m >= 0.5, 1, 1 / (m * (1 - m) * bend))
    yield name, mode[fitted], Equal(m, close=1e-9)
    wide = np.sqrt(m * (1 - m) * inverse * wider)
    yield name, width[fitted], Equal(wide, close=1e-9)
    gap = gap[fitted]
    yield name, gap, Equal(np.where(gap > 0, (bar - m) / wide, 0), close=1e-6)
    yield name, (bar - m)[gap == 0], Values(-1, 0.61 * wide[gap == 0])


def _at(values: Any, where: tuple[int, ...]) -> Any:
    """The value at an index. A number applies to every index. Without an index, the dtype and shape of the array."""
    array = np.asarray(values)
    if array.ndim and not where:
        return f"{array.dtype}{array.shape}"
    return array[where].item() if array.ndim else array.item()
