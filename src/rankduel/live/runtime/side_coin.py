"""Sides of a duel: a coin flip decides which ranker is `first`, and a seed makes the page.

`State.choose` and `State.pair` (state.py) swap the sides, and `State._learn` swaps them back for the bandit. `first` is
not the top of the page: the interleaving method draws the order from the seed, in `begin` (balanced.pyx, optimized.pyx)
or `place` (team_draft.pyx, probabilistic.pyx).
"""

from hashlib import blake2b

from rankduel.randomness import subseed

__all__ = ["SideCoin"]

_SEED_BITS = 2**48 - 1  # exact in any JSON
_COIN_BIT = 2**48


class SideCoin:
    """Coin flips of one tournament. The same duel id gives the same flip and the same page, also during replay.

    Because of the flip, each side wins half of the duels on average, for all bandits and rankers. The dashboard checks
    this.

    >>> swapped = [SideCoin(seed=1).flip(f"1-{number}")[0] for number in range(1_000)]
    >>> 450 < sum(swapped) < 550
    True
    """

    def __init__(self, seed: int) -> None:
        self._keyed = blake2b(key=subseed(seed, "luck").to_bytes(16, "little"), digest_size=7)

    def flip(self, id: str) -> tuple[bool, int]:
        """Return whether the sides that the bandit chose are swapped, and the seed of the page."""
        digest = self._keyed.copy()
        digest.update(id.encode())
        bits = int.from_bytes(digest.digest(), "little")
        return not bits & _COIN_BIT, bits & _SEED_BITS
