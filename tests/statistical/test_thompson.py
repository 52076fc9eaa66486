"""Thompson sampling over many arms: who is the largest of all, against probabilities by numerical integration.

False alarm: at most 1e-6 per test. Caught: proposals that are all kept, any arm where nothing is above the level, a
prior that is off, and a second arm that does not care who is first.
"""

import io
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rankduel as rd
from statistical.evidence import ALARM, CAUGHT, Counts, Floats, draws, fit

N = 200_000

Groups = tuple[tuple[int, int, int], ...]  # how many arms have which a and b

ARMS: dict[str, Groups] = {
    "new": ((150, 1, 1),),
    "after a duel or two": ((60, 1, 1), (40, 1, 2), (40, 2, 1), (20, 2, 2), (10, 3, 1), (20, 1, 4), (10, 3, 2)),
    "never lost": ((100, 1, 1), (1, 30, 1), (2, 12, 1), (20, 1, 6)),
    "never won": ((100, 1, 9), (50, 1, 3), (3, 2, 5)),
    "leaders": ((1, 900, 500), (1, 880, 520), (2, 300, 180), (80, 30, 60), (60, 2, 9), (30, 1, 12), (10, 4, 3)),
    "equal": ((100, 50, 50),),
    "low": ((30, 4, 50), (30, 8, 90), (3, 30, 200), (20, 1, 20)),
    "one leader": ((1, 400, 100), (100, 20, 40), (20, 1, 1)),
    "forty": ((30, 5, 6), (5, 12, 8), (4, 40, 30), (1, 1, 1)),
}


@cache
def chances(groups: Groups) -> Floats:
    """P(this arm of a group is the largest) = integral of f times all other F; as many alike are taken as a power."""
    tails = 10.0 ** np.arange(-13, -2)
    levels = np.concatenate([tails, np.linspace(0.01, 0.99, 99), 1 - tails])
    n, a, b = np.array(groups, float).T
    edges = np.unique(np.concatenate([stats.beta.ppf(levels[:, None], a, b).ravel(), [0, 1]]))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges)[:, None] / 2
    x, w = (edges[:-1, None] + half + half * nodes).ravel(), (half * weights).ravel()
    below = np.maximum(stats.beta.logcdf(x[:, None], a, b), -1e5)
    others = np.minimum((below * n).sum(1, keepdims=True) - below, 0)  # of an empty group it is nothing, and not needed
    each = w @ (stats.beta.pdf(x[:, None], a, b) * np.exp(others))
    assert abs(each @ n - 1) < 1e-7
    return np.asarray(each, np.float64)


def by_arm(groups: Groups, each: Floats) -> Floats:
    return np.repeat(each, [n for n, _, _ in groups])


def arms_of(groups: Groups) -> Floats:
    return np.repeat(np.array([(a, b) for _, a, b in groups], float), [n for n, _, _ in groups], axis=0)


def arrays_of(bandit: rd.Bandit) -> dict[str, Floats]:
    with np.load(io.BytesIO(bandit.snapshot())) as file:
        return dict(file)


def knowing(bandit: rd.SelfSparring, arms: Floats, out: Counts | None = None) -> rd.SelfSparring:
    """The same bandit with these posteriors, and some arms out."""
    arrays: dict[str, Any] = {**arrays_of(bandit)}
    arrays["arms"][:], arrays["fitted"][0] = arms, 0
    if out is not None:
        arrays["weights"][out], arrays["left"][0] = -1, len(arms) - len(out)
        arrays["gone"][out], arrays["gone_by"][out] = 1, len(arms) - 1
        header = json.loads(str(arrays["header"]))
        arrays["header"] = np.array(json.dumps(header | {"n_alive": len(arms) - len(out)}))
    file = io.BytesIO()
    np.savez(file, **arrays)
    return rd.SelfSparring.restore(file.getvalue())


@cache
def seen(name: str) -> tuple[Counts, dict[str, Floats]]:
    """How often each arm was drawn, on either side, and the state in which it was."""
    arms = arms_of(ARMS[name])
    bandit = knowing(rd.SelfSparring(len(arms), seed=1), arms)
    counts = np.zeros(len(arms), np.int64)
    for (first, second), n in draws(bandit, 4 * N if name == "forty" else N).items():
        counts[first] += n
        counts[second] += n
    return counts, arrays_of(bandit)


@pytest.mark.parametrize("name", ARMS)
def test_law(name: str) -> None:
    assert fit(seen(name)[0], by_arm(ARMS[name], chances(ARMS[name]))) > ALARM


@pytest.mark.parametrize("name", ["after a duel or two", "never lost", "leaders", "low", "forty"])
def test_a_prior_that_is_off_is_caught(name: str) -> None:
    groups = tuple((n, a + 1, b) for n, a, b in ARMS[name])
    assert fit(seen(name)[0], by_arm(ARMS[name], chances(groups))) < CAUGHT


def simulated(name: str, *, keep: bool, below: bool) -> Floats:
    """The kernel's way with NumPy: perhaps without rejection, perhaps with any arm where nothing is above the level."""
    groups, (_, arrays) = ARMS[name], seen(name)
    (a, b), level, n = arms_of(groups).T, arrays["level"][0], 400_000
    rng = np.random.default_rng(1)
    sure = arrays["weights"] > 0
    rates = arrays["tree"][len(arrays["tree"]) // 2 :][: len(a)]
    winners = np.zeros(len(a))
    for _ in range(n // 2000):
        slope = np.where(sure, 1, b - (a - 1) * (1 - level) / level)
        d = rng.exponential(1 / slope, (2000, len(a)))
        values = 1 - (1 - level) * np.exp(-d)
        arrives = rng.random((2000, len(a))) < -np.expm1(-rates)
        if keep:
            ratio = (a - 1) * (np.log(values / level) - d * (1 - level) / level)
            arrives &= np.log(rng.random(values.shape)) < ratio
        values = np.where(arrives, values, -1)
        values[:, sure] = rng.beta(a[sure], b[sure], (2000, sure.sum()))
        nothing = values.max(1) <= level
        others = rng.random((nothing.sum(), len(a)))
        if below:
            others = rng.beta(a, b, others.shape)
            while (high := (others > level) & ~sure).any():
                others = np.where(high, rng.beta(a, b, others.shape), others)
            others = np.where(sure, values[nothing], others)
        values[nothing] = others
        winners += np.bincount(values.argmax(1), minlength=len(a))
    each = [part.mean() for part in np.split(winners / n, np.cumsum([k for k, _, _ in groups])[:-1])]
    return by_arm(groups, np.array(each))


@pytest.mark.parametrize("name", ["leaders", "low", "forty"])
def test_wrong_ways_are_caught(name: str) -> None:
    assert fit(seen(name)[0], simulated(name, keep=True, below=True)) > CAUGHT, "the right way, itself simulated"
    assert fit(seen(name)[0], simulated(name, keep=False, below=True)) < CAUGHT


def test_any_arm_where_nothing_is_above_the_level_is_caught() -> None:
    assert fit(seen("forty")[0], simulated("forty", keep=True, below=False)) < CAUGHT


@pytest.mark.parametrize("name", ["after a duel or two", "never lost", "leaders", "one leader", "forty"])
@pytest.mark.parametrize("some_out", [False, True])
def test_two_different_arms_of_those_left(name: str, some_out: bool) -> None:
    """With a certificate: arms that are out are never drawn, and the second is the largest without the first."""
    groups, arms = ARMS[name], arms_of(ARMS[name])
    starts = np.cumsum([0, *(n for n, _, _ in groups)])
    n_out = np.array([n // 3 if some_out else 0 for n, _, _ in groups])
    out = np.concatenate([np.arange(start, start + n) for start, n in zip(starts, n_out, strict=False)])
    left = tuple((n - int(gone), a, b) for (n, a, b), gone in zip(groups, n_out, strict=True))
    group_of = np.repeat(np.arange(len(groups)), [n for n, _, _ in groups])
    bandit = knowing(rd.SelfSparring(len(arms), elimination=rd.Certified(0.01), seed=2), arms, out)
    pairs = np.zeros((len(groups), len(groups)))
    for (first, second), n in draws(bandit, N).items():
        assert first != second
        assert first not in out
        assert second not in out
        pairs[group_of[first], group_of[second]] += n
    sizes = np.array([n for n, _, _ in left])
    firsts = chances(left) * sizes
    law = np.zeros(pairs.shape)
    for g in range(len(groups)):
        others = tuple((n - (h == g), a, b) for h, (n, a, b) in enumerate(left))
        law[g] = firsts[g] * chances(others) * [n for n, _, _ in others]
    assert fit(pairs.ravel(), law.ravel()) > ALARM
    if len(arms) < 50 or name.endswith(("leader", "leaders")):  # else an arm hardly ever meets itself
        assert fit(pairs.ravel(), np.outer(firsts, firsts).ravel()) < CAUGHT
