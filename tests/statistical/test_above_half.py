"""P(theta_ij > 1/2) is kept up to date by a known step: against the incomplete beta function, up to 100,000 updates.

Nothing is drawn: the outcomes are fixed, a false alarm is impossible. Caught: a step of the wrong pair, side or size.
"""

import io

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import betainc

import rankduel as rd

Floats = npt.NDArray[np.float64]


def pairs(bandit: rd.Bandit) -> Floats:
    """The records of all pairs, a row of numbers each."""
    with np.load(io.BytesIO(bandit.snapshot())) as file:
        records: Floats = file["pairs"]
    return records.reshape(-1, records.shape[-1])


def column(bandit: rd.Bandit) -> int:
    """Where P(theta > 1/2) stands in a record: it alone is 1/2 in a new bandit, for every pair of different arms."""
    half = (pairs(bandit) == 0.5).sum(axis=0)
    (found,) = np.flatnonzero(half >= bandit.n_arms**2 - bandit.n_arms)
    return int(found)


def outcomes(share: float, n: int) -> npt.NDArray[np.bool_]:
    """Whether arm 0 wins; a random order of about that share."""
    return np.random.default_rng(n).random(n) < share


def different(bandit: rd.Bandit) -> rd.Duel:
    """The next duel of two different arms."""
    while (duel := bandit.ask()).first == duel.second:
        bandit.forget(duel)
    return duel


@pytest.mark.parametrize(
    ("kind", "share", "n"),
    [
        ("MergeDTS", 0.5, 100_000),
        ("MergeDTS", 0.501, 100_000),
        ("MergeDTS", 0.6, 100_000),
        ("MergeDTS", 0.9, 20_000),
        ("MergeDTS", 1.0, 20_000),
        ("DTS", 0.5, 30_000),
        ("DTS", 0.48, 3000),
        ("DTS", 0.0, 3000),
    ],
)
def test_one_pair(kind: str, share: float, n: int) -> None:
    bandit = rd.MergeDTS(2, alpha=1e9, seed=1) if kind == "MergeDTS" else rd.DTS(2, alpha=1e9, seed=1)
    where = column(bandit)
    # A DTS that is sure of an arm lets it meet itself: what is told then was asked for before.
    pool = [different(bandit) for _ in range(n)] if kind == "DTS" and share != 0.5 else []
    wins = losses = 0
    for k, won in enumerate(outcomes(share, n), 1):
        duel = pool.pop() if pool else different(bandit)
        wins, losses = wins + won, losses + (not won)
        bandit.tell(duel, rd.Outcome.FIRST if won == (duel.first == 0) else rd.Outcome.SECOND)
        if k <= 5 or k in (10, 100, 1000, 3000, 10_000, 30_000, 100_000):
            expected = sorted([betainc(losses + 1, wins + 1, 0.5), betainc(wins + 1, losses + 1, 0.5)])
            # of the four records, two are of an arm and itself
            kept = sorted(pairs(bandit)[[1, 2], where])
            assert kept == pytest.approx(expected, abs=1e-11), f"after {k} updates, {wins} : {losses}"


@pytest.mark.parametrize("kind", ["MergeDTS", "DTS"])
def test_many_pairs(kind: str) -> None:
    """Each record of a matrix is of its own two arms, from its own side."""
    n_arms = 5
    bandit = rd.MergeDTS(n_arms, alpha=1e9, seed=2) if kind == "MergeDTS" else rd.DTS(n_arms, alpha=1e9, seed=2)
    where = column(bandit)
    wins = np.zeros((n_arms, n_arms))
    rng = np.random.default_rng(2)
    for _ in range(3000):
        duel = bandit.ask()
        first_wins = bool(rng.random() < (1 + duel.first) / (2 + duel.first + duel.second))
        bandit.tell(duel, rd.Outcome.FIRST if first_wins else rd.Outcome.SECOND)
        if duel.first != duel.second:
            winner, loser = (duel.first, duel.second) if first_wins else (duel.second, duel.first)
            wins[winner, loser] += 1
    order = bandit.batches[0] if isinstance(bandit, rd.MergeDTS) else list(range(n_arms))
    kept = np.empty((n_arms, n_arms))
    kept[np.ix_(order, order)] = pairs(bandit)[:, where].reshape(n_arms, n_arms)
    expected = betainc(wins.T + 1, wins + 1, 0.5)
    if isinstance(bandit, rd.DTS):
        kept = kept.T  # [opponent, arm]
    others = ~np.eye(n_arms, dtype=bool)
    assert kept[others] == pytest.approx(expected[others], abs=1e-12)
    assert kept[others] != pytest.approx(expected.T[others], abs=1e-3)
