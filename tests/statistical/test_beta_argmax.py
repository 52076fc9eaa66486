"""Which of many Beta variables is the largest: the kernel against probabilities by numerical integration.

False alarm: at most 1e-6 per test. Caught: a normal approximation, a prior that is off, and whatever bends a tail.
"""

import numpy as np
import pytest
from scipy import stats

import rankduel as rd
from statistical.evidence import (
    ALARM,
    CAUGHT,
    Counts,
    Floats,
    draws,
    first_arms,
    fit,
    teach_first_side,
    teach_pairs,
)

N = 200_000

POSTERIORS = {  # a and b of each arm
    "new": [(1, 1)] * 3,
    "two new": [(1, 1)] * 2,
    "never won": [(1, 5), (1, 3), (1, 1)],
    "never lost": [(5, 1), (3, 1), (1, 1)],
    "never won, never lost": [(1, 4), (4, 1), (2, 2), (1, 1)],
    "one of each": [(2, 2), (2, 3), (3, 2), (2, 9), (9, 2)],
    "hardly ever win": [(2, 60), (3, 80), (2, 40), (5, 100)],
    "hardly ever lose": [(60, 2), (80, 3), (40, 2), (100, 5)],
    "below a tenth": [(4, 50), (8, 90), (16, 200)],
    "few": [(4, 6), (5, 6), (3, 4), (7, 11)],
    "some": [(20, 30), (24, 30), (30, 40), (3, 5)],
    "much and little": [(400, 300), (3, 2), (30, 25), (1, 1)],
    "equal": [(500, 500)] * 4,
    "huge": [(30_000, 20_000), (29_900, 20_100), (300, 200)],
    "huge and equal": [(20_000, 30_000)] * 3,
    "hopeless": [(1000, 500), (980, 520)] + [(10, 90)] * 12 + [(300, 250), (3, 2), (1, 20)],
    "three rows": [(6 + k % 5, 9 - k % 4) for k in range(40)],
    "hopeless in three rows": [(700, 300), (20, 10)] + [(2 + k % 3, 40 + k) for k in range(33)],
}


def chances_of_largest(a: Floats, b: Floats, floor: float = 0.0) -> Floats:
    """P(arm i is the largest, and above the floor) = integral of f_i times all other F_j."""
    levels = np.concatenate(
        [10.0 ** np.arange(-13, -2), np.linspace(0.01, 0.99, 99), 1 - 10.0 ** np.arange(-3, -14, -1)]
    )
    edges = np.unique(np.clip(np.concatenate([stats.beta.ppf(levels[:, None], a, b).ravel(), [floor, 1]]), floor, 1))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half + half * nodes).ravel()
    w = (half * weights).ravel()
    density, below = stats.beta.pdf(x[:, None], a, b), stats.beta.cdf(x[:, None], a, b)
    chances = np.array([(w * density[:, i] * np.delete(below, i, axis=1).prod(axis=1)).sum() for i in range(len(a))])
    assert abs(chances.sum() + stats.beta.cdf(floor, a, b).prod() - 1) < 1e-7
    return chances


def test_the_integral_by_hand() -> None:
    assert chances_of_largest(np.array([1.0, 1]), np.array([1.0, 1])) == pytest.approx([0.5, 0.5])
    # P(X > Y), X ~ Beta(2, 1), Y uniform: the mean of X.
    assert chances_of_largest(np.array([2.0, 1]), np.array([1.0, 1])) == pytest.approx([2 / 3, 1 / 3])
    # Both below 1/2: 1/4 * 1/2.
    assert chances_of_largest(np.array([2.0, 1]), np.array([1.0, 1]), 0.5).sum() == pytest.approx(7 / 8)


@pytest.fixture(scope="module")
def observed() -> dict[str, Counts]:
    return {}


def first_arms_of(name: str, observed: dict[str, Counts]) -> Counts:
    if name not in observed:
        a, b = np.array(POSTERIORS[name]).T
        bandit = rd.SparringThompson(len(a), seed=1)
        teach_first_side(bandit, a - 1, b - 1)
        observed[name] = first_arms(draws(bandit, N), len(a))
    return observed[name]


@pytest.mark.parametrize("name", POSTERIORS)
def test_thompson_sampling(name: str, observed: dict[str, Counts]) -> None:
    a, b = np.array(POSTERIORS[name], float).T
    assert fit(first_arms_of(name, observed), chances_of_largest(a, b)) > ALARM


@pytest.mark.parametrize("name", ["never won, never lost", "hardly ever win", "below a tenth"])
def test_a_normal_approximation_is_caught(name: str, observed: dict[str, Counts]) -> None:
    a, b = np.array(POSTERIORS[name], float).T
    mean = a / (a + b)
    values = np.random.default_rng(1).normal(mean, np.sqrt(mean * (1 - mean) / (a + b + 1)), (2_000_000, len(a)))
    normal = np.bincount(values.argmax(axis=1), minlength=len(a)) / len(values)
    assert fit(first_arms_of(name, observed), normal) < CAUGHT


@pytest.mark.parametrize("name", ["never lost", "few", "some", "three rows", "hopeless in three rows"])
def test_a_prior_that_is_off_is_caught(name: str, observed: dict[str, Counts]) -> None:
    a, b = np.array(POSTERIORS[name], float).T
    assert fit(first_arms_of(name, observed), chances_of_largest(a + 0.5, b)) < CAUGHT


def test_both_draws_of_self_sparring_are_independent() -> None:
    """The pair's chances are the product of the arms'. Caught: the two largest of one draw, no self-duels."""
    wins = np.array([[0, 5, 7], [3, 0, 4], [1, 2, 0]])
    bandit = rd.SelfSparring(3, seed=2)
    teach_pairs(bandit, wins)
    chances = chances_of_largest(wins.sum(axis=1) + 1.0, wins.sum(axis=0) + 1.0)
    pairs = draws(bandit, N)
    observed = [pairs[i, j] for i in range(3) for j in range(3)]
    assert fit(observed, np.outer(chances, chances).ravel()) > ALARM
    without = np.outer(chances, chances) * (1 - np.eye(3))
    assert fit(observed, (without / without.sum()).ravel()) < CAUGHT


def random_wins(n_arms: int, most: int, seed: int) -> Counts:
    """Some pairs have never met, some arms have never lost to another."""
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, most + 1, (n_arms, n_arms)) * (rng.random((n_arms, n_arms)) < 0.8)
    np.fill_diagonal(wins, 0)
    return np.asarray(wins, np.int64)


def second_of_merge_dts(wins: Counts, c: int) -> Floats:
    """Argmin of phi_j = argmax of 1 - phi_j ~ Beta(w_cj + 1, w_jc + 1), j != c."""
    others = np.delete(np.arange(len(wins)), c)
    return np.insert(chances_of_largest(wins[c, others] + 1.0, wins[others, c] + 1.0), c, 0)


def second_of_dts(wins: Counts, c: int) -> Floats:
    """Argmax of phi_j ~ Beta(w_jc + 1, w_cj + 1), j != c, or c itself where all are below 1/2."""
    others = np.delete(np.arange(len(wins)), c)
    chances = chances_of_largest(wins[others, c] + 1.0, wins[c, others] + 1.0, floor=0.5)
    return np.insert(chances, c, 1 - chances.sum())


def second_of_certified_dts(wins: Counts, c: int) -> Floats:
    """Argmax of phi_j ~ Beta(w_jc + 1, w_cj + 1), j != c."""
    return second_of_merge_dts(wins.T, c)


@pytest.mark.parametrize(
    ("n_arms", "most"), [(2, 3), (3, 4), (4, 300), (5, 30), (9, 1), (16, 6), (17, 40), (24, 8), (24, 2), (70, 1)]
)
@pytest.mark.parametrize("kind", ["MergeDTS", "DTS", "DTS certified"])
def test_the_second_arm_given_the_first(kind: str, n_arms: int, most: int) -> None:
    """With alpha so large that nobody is ruled out. Caught, below: the row for the column."""
    wins = random_wins(n_arms, most, seed=n_arms)
    bandit: rd.Bandit
    if kind == "DTS":
        bandit, law = rd.DTS(n_arms, alpha=1e6, seed=3), second_of_dts
    elif kind == "DTS certified":
        bandit = rd.DTS(n_arms, alpha=1e6, elimination=rd.Certified(delta=1e-300), seed=3)
        law = second_of_certified_dts
    else:
        bandit, law = rd.MergeDTS(n_arms, batch_size=n_arms, alpha=1e6, seed=3), second_of_merge_dts
    teach_pairs(bandit, wins)
    pairs = draws(bandit, N)
    by_first = {c: [pairs[c, j] for j in range(n_arms)] for c in range(n_arms)}
    often = sorted(by_first, key=lambda c: -sum(by_first[c]))[:4]
    values = [fit(by_first[c], law(wins, c)) for c in often]
    assert len(often) * min(values) > ALARM
    if n_arms > 2:
        assert 4 * min(fit(by_first[c], law(wins.T, c)) for c in often) < CAUGHT
