"""Named random streams: `(seed, "world")` and `(seed, "bandit")` are independent of each other.

A stream depends on its seed and name only. So a change in one part of the program does not change the random numbers of
another part.
"""

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
    """Open a named stream for compiled kernels. SFC64 is NumPy's fastest bit generator.

    >>> bit_generator(1, "world").random_raw() == bit_generator(1, "world").random_raw()
    True
    >>> bit_generator(1, "world").random_raw() == bit_generator(1, "bandit").random_raw()
    False
    """
    return np.random.SFC64(_sequence(seed, *names))


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Open a named stream as a NumPy generator, with all distributions."""
    return np.random.Generator(bit_generator(seed, *names))


def subseed(seed: int, *names: str | int) -> int:
    """Derive a seed for a part of the work, for example run 7 of an experiment.

    >>> subseed(1, "run", 7) == subseed(1, "run", 7) != subseed(1, "run", 8)
    True
    """
    low, high = _sequence(seed, *names).generate_state(2, np.uint64)
    return (int(high) << 64) | int(low)


def fresh_seed() -> int:
    """Draw a random seed for `seed=None`. Callers store it, so that you can repeat such a run too."""
    return secrets.randbits(64)
