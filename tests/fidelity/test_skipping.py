"""Where one arm wins nearly every draw, duels are jumped over: the law is that of the twin, and duels are independent.

False alarm: at most 1e-6 per test. Caught: a leader that is never taken to fall below its level.
"""

import io
from collections import Counter

import numpy as np
import pytest
from scipy.stats import beta, chi2_contingency

import rankduel as rd
from fidelity.law import ALARM, CAUGHT, State, compare, reach
from fidelity.problems import hopeless, ladder
from statistical.evidence import Counts, Floats, fit
from statistical.test_beta_argmax import chances_of_largest

STATES = [
    *(State("DTS", ladder(K, 2), n * K) for K, n in ((3, 100), (5, 60), (9, 30), (17, 30))),
    State("DTS", ladder(9, 1.5), 1800),
    State("DTS", ladder(9, 1.2), 3000),
    State("DTS", hopeless(9), 2000),
    State("SelfSparring", ladder(3, 1.2), 10_000),
    State("SelfSparring", ladder(5, 1.2), 10_000),
    State("SelfSparring", ladder(5, 1.5), 4000),
    State("SelfSparring", ladder(9, 1.2), 10_000),
    State("SelfSparring", hopeless(9), 20_000),
]


def arrays_of(bandit: rd.Bandit) -> dict[str, Floats]:
    """The state, as a snapshot has it."""
    with np.load(io.BytesIO(bandit.snapshot())) as file:
        return {name: file[name] for name in file if name != "header"}


def leader_of(bandit: rd.Bandit) -> int | None:
    """The arm whose duels with itself are jumped over, if there is one."""
    bandit.forget(bandit.ask())
    arrays = arrays_of(bandit)
    if isinstance(bandit, rd.DTS):
        return int(arrays["favourite"][0]) if arrays["calm"][1] >= 0 else None
    return int(arrays["leader"][0]) if arrays["leader"][0] >= 0 else None


@pytest.mark.parametrize("state", STATES, ids=str)
def test_same_law(state: State) -> None:
    assert leader_of(reach(state)[0]) is not None, "nothing is skipped: this tests nothing"
    assert compare(state, kernel=60_000, twin=8_000) > ALARM


@pytest.mark.parametrize("state", [STATES[2], STATES[6], STATES[-2], STATES[-1]], ids=str)
def test_duels_without_a_tell_are_independent(state: State) -> None:
    bandit, _ = reach(state)
    leader = leader_of(bandit)
    quiet = []
    for _ in range(600_000):
        duel = bandit.ask()
        bandit.forget(duel)
        quiet.append(duel.first == duel.second == leader)
    for lag in (1, 2, 7):
        table = Counter(zip(quiet, quiet[lag:], strict=False))
        cells = [[table[a, b] for b in (False, True)] for a in (False, True)]
        assert min(map(min, cells)) > 100
        assert chi2_contingency(cells, correction=False).pvalue > ALARM


def with_level(bandit: rd.Bandit, deviations: float, posteriors: Counts | None = None) -> rd.SelfSparring:
    """The same bandit with a level so many deviations below its leader's mean, and all rates to be computed again.

    Perhaps with other posteriors, too, of which the first is the leader's.
    """
    with np.load(io.BytesIO(bandit.snapshot())) as file:
        arrays = dict(file)
    if posteriors is not None:
        arrays["arms"][:], arrays["leader"][0] = posteriors, 0
    a, b = arrays["arms"][int(arrays["leader"][0])]
    arrays["level"][0] = max(1e-3, a / (a + b) - deviations * np.sqrt(a * b / (a + b) ** 3))
    arrays["calm"][1] = 1.2 * (a + b)
    arrays["fitted"][0] = 0
    out = io.BytesIO()
    np.savez(out, **arrays)
    return rd.SelfSparring.restore(out.getvalue())


def drawn(bandit: rd.SelfSparring, n: int) -> Counts:
    """How often each arm was drawn, on either side."""
    counts = np.zeros(bandit.n_arms, np.int64)
    for _ in range(n):
        duel = bandit.ask()
        bandit.forget(duel)
        counts[duel.first] += 1
        counts[duel.second] += 1
    return counts


CLOSE = np.array([(1000, 1000), (912, 1060), (908, 1060), (300, 365), (1, 9)])


@pytest.mark.parametrize("more", [0, 20, 150])
def test_a_leader_below_its_level(more: int) -> None:
    """With a level as high as can be, and while the leader goes on meeting itself: against numerical integration."""
    bandit = with_level(rd.SelfSparring(5, seed=1), 2.3, CLOSE)
    level = arrays_of(bandit)["level"][0]
    told = 0
    while told < more:
        duel = bandit.ask()
        if duel.first == duel.second == 0:
            bandit.tell(duel, rd.Outcome.FIRST)
            told += 1
        else:
            bandit.forget(duel)
    assert leader_of(bandit) == 0
    a, b = arrays_of(bandit)["arms"].T
    assert (a[0], b[0]) == (1000 + more, 1000 + more)
    seen = drawn(bandit, 400_000)
    assert leader_of(bandit) == 0
    assert arrays_of(bandit)["level"][0] == level, "it is no longer this level"
    assert fit(seen, chances_of_largest(a, b)) > ALARM
    if more == 0:
        values = np.random.default_rng(1).beta(a, b, (1_000_000, len(a)))
        values[:, 0] = np.maximum(values[:, 0], level)
        never = np.bincount(values.argmax(axis=1), minlength=len(a)) / len(values)
        assert fit(seen, never) < CAUGHT


@pytest.mark.parametrize("share", [0.15, 0.3, 0.45, 0.5, 0.52, 0.6, 0.85])
def test_the_leader_is_bounded_for_all_that_it_comes_through(share: float) -> None:
    """The chance to be below the level, after n more wins and as many losses, is never more than the bound."""
    tried = 0
    for size in (100, 1000, 100_000):
        for deviations in (2.2, 3.0, 4.0, 5.0):
            posteriors = np.array([(round(share * size), round((1 - share) * size)), (2, 10 * size)])
            bandit = with_level(rd.SelfSparring(2, seed=1), deviations, posteriors)
            if leader_of(bandit) is None:
                continue
            arrays = arrays_of(bandit)
            level, until = arrays["level"][0], arrays["calm"][1]
            a, b = arrays["arms"][0]
            n = np.arange(0, (until - a - b) / 2 + 1)
            bound = -np.expm1(-arrays["tree"][len(arrays["tree"]) // 2])
            assert (beta.cdf(level, a + n, b + n) <= bound).all()
            tried += 1
    assert tried >= 3


def test_a_snapshot_while_draws_are_skipped() -> None:
    for state in (STATES[3], STATES[-3]):
        bandit, _ = reach(state)
        assert leader_of(bandit) is not None
        again = type(bandit).restore(bandit.snapshot())
        assert [bandit.ask() for _ in range(2000)] == [again.ask() for _ in range(2000)]
