"""Named streams: `(seed, "world")` and `(seed, "bandit")` are independent, and stay the same whatever else is drawn."""

import hashlib
import secrets

import numpy as np

from rankduel.errors import brief

__all__ = ["bit_generator", "fresh_seed", "generator", "subseed"]


def _sequence(seed: int, *names: str | int) -> np.random.SeedSequence:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a non-negative int, got {brief(seed)}")
    digest = hashlib.sha256(repr(names).encode()).digest()
    return np.random.SeedSequence(int(seed), spawn_key=tuple(np.frombuffer(digest, np.uint32).tolist()))


def bit_generator(seed: int, *names: str | int) -> np.random.SFC64:
    """The stream of that name, as the compiled kernels use it. SFC64 is NumPy's fastest generator.

    >>> bit_generator(1, "world").random_raw() == bit_generator(1, "world").random_raw()
    True
    >>> bit_generator(1, "world").random_raw() == bit_generator(1, "bandit").random_raw()
    False
    """
    return np.random.SFC64(_sequence(seed, *names))


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """The same stream with NumPy's distributions on it."""
    return np.random.Generator(bit_generator(seed, *names))


def subseed(seed: int, *names: str | int) -> int:
    """A seed of its own for a part of the work: run 7 of an experiment, say.

    >>> subseed(1, "run", 7) == subseed(1, "run", 7) != subseed(1, "run", 8)
    True
    """
    low, high = _sequence(seed, *names).generate_state(2, np.uint64)
    return (int(high) << 64) | int(low)


def fresh_seed() -> int:
    """A seed nobody has used: what `seed=None` becomes, so that even such a run can be repeated."""
    return secrets.randbits(64)
