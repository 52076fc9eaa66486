"""The draws of exponential weights: how often is what the propensity says.

False alarm: at most 1e-6 per test. Caught: exploration left out or done twice, a draw that ends on the wrong leaf.
"""

import io

import numpy as np
import pytest

import rankduel as rd
from fidelity.problems import hopeless, ladder
from naive import SparringTsallisINF
from statistical.evidence import ALARM, CAUGHT, Floats, draws, fit

N = 120_000


def propensities(bandit: rd.Bandit, side: int) -> Floats:
    """The chance of every arm on that side, as duels tell it."""
    found: dict[int, float] = {}
    for _ in range(200_000):
        duel = bandit.ask()
        bandit.forget(duel)
        assert duel.propensity is not None
        found[(duel.first, duel.second)[side]] = duel.propensity[side]
        if len(found) == bandit.n_arms:
            return np.array([found[arm] for arm in range(bandit.n_arms)])
    raise AssertionError("some arm is never drawn")


@pytest.mark.parametrize("n_duels", [0, 50, 3000])
@pytest.mark.parametrize("n_arms", [1, 2, 3, 6, 17, 40])
@pytest.mark.parametrize("kind", [rd.REX3, rd.SparringEXP3])
def test_frequencies_are_propensities(kind: type[rd.REX3 | rd.SparringEXP3], n_arms: int, n_duels: int) -> None:
    gamma = 0.3
    bandit = kind(n_arms, gamma=gamma, seed=1)
    problem = hopeless(n_arms) if n_arms > 10 else ladder(n_arms)
    rd.simulate(bandit, problem, horizon=max(1, n_duels), seed=1)
    pairs = draws(bandit, N)
    for side in (0, 1):
        chances = propensities(bandit, side)
        assert chances.sum() == pytest.approx(1, abs=1e-9)
        counts = np.zeros(n_arms)
        for pair, n in pairs.items():
            counts[pair[side]] += n
        assert fit(counts, chances) > ALARM
        if n_duels == 3000 and n_arms > 2:
            greedy = (chances - gamma / n_arms) / (1 - gamma)  # no exploration
            assert fit(counts, np.maximum(greedy, 1e-12) / np.maximum(greedy, 1e-12).sum()) < CAUGHT
            twice = (1 - gamma) * chances + gamma / n_arms
            assert fit(counts, twice) < CAUGHT
            assert fit(counts, np.roll(chances, 1)) < CAUGHT


def test_the_two_draws_are_independent() -> None:
    bandit = rd.REX3(4, gamma=0.2, seed=2)
    rd.simulate(bandit, ladder(4), horizon=300, seed=2)
    chances = propensities(bandit, 0)
    pairs = draws(bandit, N)
    observed = [pairs[i, j] for i in range(4) for j in range(4)]
    assert fit(observed, np.outer(chances, chances).ravel()) > ALARM
    without = np.outer(chances, chances) * (1 - np.eye(4))
    assert fit(observed, (without / without.sum()).ravel()) < CAUGHT


@pytest.mark.parametrize("n_arms", [2, 3, 17])
def test_tsallis_frequencies_are_weights(n_arms: int) -> None:
    """Its weights change with the number of the duel, so that arms are expected as often as these sum up to.

    The sum of draws of several chances varies less than draws of their mean: the rate of false alarms is smaller still.
    """
    bandit = rd.SparringTsallisINF(n_arms, seed=4)
    rd.simulate(bandit, ladder(n_arms), horizon=2000, seed=4)
    twin = SparringTsallisINF(n_arms, rng=np.random.default_rng(1))
    with np.load(io.BytesIO(bandit.snapshot())) as stored:
        losses = [stored["first_losses"], stored["second_losses"]]
    pairs = draws(bandit, N)
    for side in (0, 1):
        every = 40  # between two neighbours of these, weights are nearly on a line
        numbers = np.arange(2000 + every / 2, 2000 + N, every)
        chances = np.mean([twin.weights(losses[side], 2 / np.sqrt(number)) for number in numbers], axis=0)
        counts = np.zeros(n_arms)
        for pair, n in pairs.items():
            counts[pair[side]] += n
        assert fit(counts, chances) > ALARM
        assert fit(counts, twin.weights(losses[side], 2 / np.sqrt(2000))) < CAUGHT  # the number forgotten
        assert fit(counts, np.roll(chances, 1)) < CAUGHT


def test_weights_do_not_overflow() -> None:
    """An arm that always wins, for half a million duels with much exploration: propensities stay what they must be."""
    certain = rd.PreferenceMatrix.from_array([[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]])
    bandit = rd.REX3(3, gamma=0.5, seed=3)
    rd.simulate(bandit, certain, horizon=500_000, seed=3)
    assert propensities(bandit, 0) == pytest.approx([0.5 + 0.5 / 3, 0.5 / 3, 0.5 / 3], abs=1e-9)
