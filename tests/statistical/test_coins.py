"""Sixty-four coins at once, each with its own chance, and how they are counted.

False alarm: at most 1e-6 per test. Caught: what is behind the last place left out, a random word used for two places.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom, norm

import rankduel as rd
from rankduel.randomness import bit_generator
from statistical.evidence import ALARM, CAUGHT, Counts, Floats, fit
from statistical.test_tournaments import counted_out

N = 400_000
ALL = 2**64 - 1
RNG = np.random.default_rng(1)

COINS: dict[str, Floats] = {
    "new": np.full(64, 0.5),
    "met once": np.tile([0.5, 0.25, 0.75, 0.5], 16),
    "met a few times": RNG.integers(0, 65, 64) / 64,
    "any": RNG.random(64),
    "lopsided": np.concatenate([10.0 ** -np.arange(1, 17), 1 - 10.0 ** -np.arange(1, 17), 2.0 ** -np.arange(1, 33)]),
    "around the last place": 2.0**-13 * np.arange(0.25, 16.25, 0.25),
    "mixed": np.concatenate([[0, 1, 0.5, 0.25, 0.75], RNG.random(30), np.full(29, 0.5)]),
}


def bits(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    """A row for each word, from the lowest bit on."""
    return np.unpackbits(words.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")


def tosses(kernel: Any, chances: Floats, *, wanted: int = ALL, seed: int = 1, n: int = N) -> npt.NDArray[np.uint8]:
    # They had other chances before: all that is kept of a coin must change.
    before = np.random.default_rng(2).random((3, 64))
    return bits(kernel.tosses(bit_generator(seed, "coins"), np.vstack([before, chances]), wanted, n))


def worst(yes: Counts, chances: Floats) -> float:
    """The p-value of the coin that fits its chance worst."""
    below, above = binom.cdf(yes, N, chances), binom.sf(yes - 1, N, chances)
    return float(min(1, 2 * len(yes) * np.minimum(below, above).min()))


@pytest.mark.parametrize("name", COINS)
def test_chances(kernel: Any, name: str) -> None:
    assert worst(tosses(kernel, COINS[name]).sum(axis=0, dtype=np.int64), COINS[name]) > ALARM


@pytest.mark.parametrize("wanted", [1, 2**63, 0x00FF_F0F0_1234_8001])
def test_chances_of_those_that_are_wanted(kernel: Any, wanted: int) -> None:
    some = bits(np.array([wanted], np.uint64))[0] == 1
    yes = tosses(kernel, COINS["any"], wanted=wanted).sum(axis=0, dtype=np.int64)
    assert worst(yes[some], COINS["any"][some]) > ALARM


def test_what_is_caught(kernel: Any) -> None:
    close = COINS["around the last place"]
    yes = tosses(kernel, close).sum(axis=0, dtype=np.int64)
    assert worst(yes, np.floor(close * 2**kernel.N_PLACES) / 2**kernel.N_PLACES) < CAUGHT
    yes = tosses(kernel, COINS["met once"]).sum(axis=0, dtype=np.int64)
    # With one word for both places, a coin of 1/4 is a yes whenever it is still open, and one of 3/4 never then.
    assert worst(yes, np.full(64, 0.5)) < CAUGHT


@pytest.mark.parametrize("name", ["new", "met once", "any", "mixed"])
def test_coins_are_independent(kernel: Any, name: str) -> None:
    """Of each other, and of those of the next word. Caught: as little as one toss of 50 that is shared by two coins."""
    fair = (COINS[name] > 0.02) & (COINS[name] < 0.98)
    yes = tosses(kernel, COINS[name])[:, fair]

    def largest_correlation(yes: npt.NDArray[np.uint8]) -> float:
        chances = COINS[name][fair]
        z = ((yes - chances) / np.sqrt(chances * (1 - chances))).astype(np.float32)
        same, lagged = np.triu(z.T @ z, 1), z[1:].T @ z[:-1]
        largest = max(abs(same).max(), abs(lagged).max()) / np.sqrt(len(z))
        return float(2 * norm.sf(largest) * (same.size + lagged.size))

    assert largest_correlation(yes) > ALARM
    shared = yes.copy()
    # Two coins of the same chance, or nearly.
    a, b = np.argsort(COINS[name][fair], kind="stable")[10:12]
    shared[::50, a] = shared[::50, b]
    assert largest_correlation(shared) < CAUGHT


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 63, 64, 65, 1000, 1023, 1024])
def test_tally(kernel: Any, n: int) -> None:
    """Nothing is drawn by the kernel: no false alarm."""
    words = np.random.default_rng(n).integers(0, ALL, n, np.uint64, endpoint=True)
    words[::3] = ALL
    assert kernel.tally(words).tolist() == bits(words).sum(axis=0, dtype=int).tolist()
    assert kernel.n_ones(words).tolist() == bits(words).sum(axis=1, dtype=int).tolist()


FEW = np.array([[0, 2, 1, 0], [1, 0, 3, 0], [0, 0, 0, 2], [1, 0, 1, 0]])


def among_many(n_arms: int, places: list[int], wins: Counts) -> Counts:
    """How often each of a few arms is first that have surely beaten all the others, wherever they stand."""
    bandit = rd.DTS(n_arms, alpha=1e6, seed=4)
    record = np.zeros((n_arms, n_arms), np.int64)
    record[places] = 30  # theta < 1/2 with a chance of 2^-31
    record[np.ix_(places, places)] = wins
    lessons = [pair for pair in np.argwhere(record).tolist() for _ in range(record[tuple(pair)])]
    for number, k in enumerate(np.random.default_rng(1).permutation(len(lessons)), 1):
        bandit.adopt(rd.Duel(number, *lessons[k]), rd.Outcome.FIRST)
    counts = np.zeros(n_arms, np.int64)
    for _ in range(100_000):
        counts[bandit.propose().first] += 1
    assert counts.sum() == counts[places].sum()
    return counts[places]


@pytest.mark.parametrize(
    ("n_arms", "places"),
    [
        (64, [0, 1, 62, 63]),
        (65, [64, 0, 63, 1]),
        (70, [3, 66, 40, 69]),
        (130, [3, 64, 129, 70]),
        (200, [199, 128, 65, 0]),
    ],
)
def test_each_pair_is_drawn_once(n_arms: int, places: list[int]) -> None:
    """Against every outcome of the few, counted out. Caught: theta_ij and theta_ji drawn apart, ties to the lowest."""
    counts = among_many(n_arms, places, FEW)
    assert fit(counts, counted_out(FEW)) > ALARM
    assert fit(counts, counted_out(FEW, apart=True)) < CAUGHT
    assert fit(counts, counted_out(FEW.T)) < CAUGHT
    order = np.argsort(places)
    lowest = np.empty(4)
    lowest[order] = counted_out(FEW[np.ix_(order, order)], lowest=True)
    assert fit(counts, lowest) < CAUGHT
