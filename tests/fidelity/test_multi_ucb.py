"""MultiUCB against its literal twin, which computes every bound at every step; and its conventions."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import rankduel as rd
from naive.multi_ucb import MultiUCB as Twin
from rankduel.interleaving import SOSM

Floats = npt.NDArray[np.float64]


def noisy(quality: Floats, arms: Any, rng: np.random.Generator, ties: float = 0.3) -> Floats:
    """Preferences by quality and chance, with ties; antisymmetric."""
    n = len(arms)
    difference = quality[arms][:, None] - quality[arms][None, :] + rng.normal(size=(n, n))
    upper = np.triu(np.sign(difference) * (rng.random((n, n)) > ties), 1)
    return np.asarray(upper - upper.T)


@pytest.mark.parametrize("n_arms", [1, 2, 3, 8, 30])
@pytest.mark.parametrize("alpha", [0.05, 0.51])
@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0])
def test_traces_are_equal(n_arms: int, alpha: float, spread: float) -> None:
    rng = np.random.default_rng(n_arms)
    quality = spread * rng.normal(size=n_arms)
    bandit, twin = rd.MultiUCB(n_arms, alpha=alpha, seed=1), Twin(n_arms, alpha=alpha)
    sizes = set()
    for step in range(1500 if n_arms < 30 else 400):
        arms = bandit.candidates().tolist()
        assert arms == twin.candidates(), step
        sizes.add(len(arms))
        preferences = noisy(quality, arms, rng)
        bandit.update(arms, preferences)
        twin.update(arms, preferences)
        if rng.random() < 0.02:  # arms that nobody asked for, in any order
            arms = rng.permutation(n_arms)[: rng.integers(1, n_arms + 1)].tolist()
            preferences = noisy(quality, arms, rng)
            bandit.update(arms, preferences)
            twin.update(arms, preferences)
        if step % 500 == 99:
            bandit = rd.MultiUCB.restore(bandit.snapshot())
    np.testing.assert_array_equal(bandit.wins, twin.wins)
    assert bandit.told == twin.t
    if n_arms > 2 and spread == 2.0:
        assert min(sizes) < n_arms


def test_all_out_means_all_in() -> None:
    """A cycle in which everybody is clearly beaten by somebody."""
    bandit, twin = rd.MultiUCB(3, alpha=0.01, seed=1), Twin(3, alpha=0.01)
    cycle = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    for _ in range(50):
        bandit.update([0, 1, 2], cycle)
        twin.update([0, 1, 2], cycle.astype(float))
        assert bandit.candidates().tolist() == twin.candidates() == [0, 1, 2]
    for _ in range(200):  # arm 0 gets even with arm 2 and comes in alone; and from there on as the twin does
        for bandit_or_twin in (bandit, twin):
            bandit_or_twin.update([2, 0], np.array([[0.0, -1.0], [1.0, 0.0]]))
        assert bandit.candidates().tolist() == twin.candidates()
    assert bandit.winner == 0


def test_out_and_in_again() -> None:
    """Time alone lets an arm in again: nothing is learnt while only one arm is left."""
    bandit, twin = rd.MultiUCB(2, seed=1), Twin(2)
    counts = []
    for _ in range(3000):
        arms = bandit.candidates().tolist()
        assert arms == twin.candidates()
        counts.append(len(arms))
        preferences = np.array([[0.0, 1.0], [-1.0, 0.0]]) if len(arms) == 2 else np.zeros((1, 1))
        bandit.update(arms, preferences)
        twin.update(arms, preferences)
    assert 2 in counts[counts.index(1) :]
    assert counts.count(2) < 40


def test_released_rule_never_leaves_anybody_out() -> None:
    bandit = rd.MultiUCB(5, rule="released", seed=1)
    for _ in range(500):
        assert bandit.candidates().tolist() == [0, 1, 2, 3, 4]
        bandit.update(bandit.candidates(), np.sign(np.arange(5)[None, :] - np.arange(5)[:, None]))
    assert bandit.champion == 0
    assert bandit.winner is None


def test_with_sosm() -> None:
    """Twelve rankers of one query, and a reader who clicks what is relevant: the bad ones go."""
    rng, method = np.random.default_rng(1), SOSM()
    relevance = np.linspace(0.9, 0.0, 30)
    rankings = [np.argsort(-(relevance + noise * rng.normal(size=30))).tolist() for noise in np.linspace(0, 2, 12)]
    bandit = rd.MultiUCB(12, seed=1)
    for step in range(2000):
        arms = bandit.candidates()
        shown = method.multileave([rankings[arm] for arm in arms], seed=step)
        clicks = [d for d in shown.documents if rng.random() < relevance[d]]
        bandit.update(arms, method.preferences(shown, clicks))
    assert bandit.champion in (0, 1)
    assert bandit.n_candidates < 6


def test_conventions() -> None:
    bandit = rd.MultiUCB(4, alpha=1, seed=7)
    assert repr(bandit) == "MultiUCB(4, alpha=1.0, rule='corrected', seed=7)"
    assert bandit.parameters == {"alpha": 1.0, "rule": "corrected"}
    assert (bandit.n_arms, bandit.seed, bandit.told, bandit.n_candidates) == (4, 7, 0, 4)
    assert rd.MultiUCB(1).winner == 0
    bandit.update([3, 1], [[0, 2.5], [-2.5, 0]])
    assert bandit.wins[3, 1] == 1
    assert bandit.wins.sum() == 1
    with pytest.raises(ValueError, match="read-only"):
        bandit.wins[0, 0] = 1
    again = pickle.loads(pickle.dumps(bandit))
    assert repr(again) == repr(bandit)
    np.testing.assert_array_equal(again.wins, bandit.wins)
    assert again.told == 1


@pytest.mark.parametrize(
    ("arms", "preferences", "message"),
    [
        ([0, 0], np.zeros((2, 2)), "arms must be different whole numbers"),
        ([0.5, 1], np.zeros((2, 2)), "arms must be different whole numbers"),
        ([[0, 1]], np.zeros((2, 2)), "arms must be different whole numbers"),
        ([0, 4], np.zeros((2, 2)), "arms must be from 0 to 3, got 4"),
        ([0, -1], np.zeros((2, 2)), "arms must be from 0 to 3, got -1"),
        ([0, 1], np.zeros((3, 3)), r"preferences of 2 arms must be 2 x 2, got shape \(3, 3\)"),
        ([0, 1], [[0, 1], [1, 0]], r"preferences\[0, 1\] = 1.0, expected minus preferences\[1, 0\] = 1.0"),
        ([0, 1], [[0, np.nan], [np.nan, 0]], r"preferences\[0, 1\] = nan"),
    ],
)
def test_bad_updates(arms: Any, preferences: Any, message: str) -> None:
    bandit = rd.MultiUCB(4)
    with pytest.raises(ValueError, match=message):
        bandit.update(arms, preferences)
    assert bandit.told == 0


def test_bad_parameters() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"n_arms": 0}, "n_arms must be a whole number of at least 1, got 0"),
        ({"alpha": 0}, "alpha must be > 0, got 0"),
        ({"rule": "broken"}, "rule must be corrected or released, got 'broken'"),
        ({"seed": -1}, "seed must be a non-negative int, got -1"),
    ]
    for bad, message in cases:
        with pytest.raises(ValueError, match=message):
            rd.MultiUCB(**({"n_arms": 4} | bad))


def test_bad_snapshots() -> None:
    good = rd.MultiUCB(3, seed=1).snapshot()
    with pytest.raises(rd.SnapshotError, match="not a rankduel snapshot"):
        rd.MultiUCB.restore(good[:50])
    with pytest.raises(rd.SnapshotError, match="snapshot"):
        rd.MultiUCB.restore(rd.RUCB(3, seed=1).snapshot())
