"""Multileaved lists have the law of the definition, counted out in fractions; and ties are broken fairly.

False alarm: at most 1e-6 per test. Caught: probabilistic lists that are drawn with another tau, one method's lists for
another's, ties that stay in file order.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from itertools import permutations

import numpy as np
import pytest

from naive.multileaving import NAIVE_MULTILEAVINGS, Orders, Probabilistic, broken
from rankduel.interleaving import MULTILEAVINGS, trial
from statistical.evidence import ALARM, CAUGHT, fit

N = 40_000
EVERY = pytest.mark.parametrize("name", list(MULTILEAVINGS))
A, B, C = [0, 1, 2, 3], [1, 2, 3, 0], [0, 3, 2, 1]

Law = dict[tuple[Hashable, ...], float]


def law_of(name: str, orders: Orders, k: int) -> Law:
    law: Law = {}
    for (documents, _), chance in NAIVE_MULTILEAVINGS[name].lists(orders, k).items():
        law[documents] = law.get(documents, 0) + float(chance)
    return law


def p_value(counts: Mapping[tuple[Hashable, ...], int], law: Law) -> float:
    if set(counts) - set(law):
        return 0.0  # an impossible list
    return fit([counts.get(documents, 0) for documents in law], list(law.values()))


def lists(name: str, scores: list[list[float]], k: int, ties: str = "consistent") -> Counter[tuple[Hashable, ...]]:
    done = trial(MULTILEAVINGS[name](), scores, np.zeros(4), k=k, impressions=N, ties=ties, seed=1)  # type: ignore[arg-type]
    return Counter(map(tuple, done.documents.tolist()))


def scores_of(orders: list[list[int]]) -> list[list[float]]:
    return [[-float(order.index(d)) for d in range(4)] for order in orders]


@EVERY
@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("orders", [[A, B], [A, B, C], [B, C, C, A]])
def test_lists(name: str, k: int, orders: list[list[int]]) -> None:
    assert p_value(lists(name, scores_of(orders), k), law_of(name, orders, k)) > ALARM


def test_what_is_caught() -> None:
    counts = lists("probabilistic", scores_of([A, B]), 4)
    gentle: Law = {d: float(p) for (d, _), p in Probabilistic(tau=2).lists([A, B], 4).items()}
    assert p_value(counts, gentle) < CAUGHT
    assert p_value(lists("sosm", scores_of([A, B]), 4), law_of("pairwise_preference", [A, B], 4)) < CAUGHT


@EVERY
def test_ties(name: str) -> None:
    """The second ranker has two pairs of ties: the law is the mean over their four orders."""
    scores = [scores_of([B])[0], [1.0, 0.0, 1.0, 0.0]]
    mean: Law = {}
    for left, right in ([a, b] for a in permutations([0, 2]) for b in permutations([1, 3])):
        for documents, chance in law_of(name, [B, [*left, *right]], 3).items():
            mean[documents] = mean.get(documents, 0) + chance / 4
    assert p_value(lists(name, scores, 3), mean) > ALARM
    file_order = law_of(name, broken(scores, None), 3)
    assert p_value(lists(name, scores, 3), file_order) < CAUGHT
    assert p_value(lists(name, scores, 3, "file"), file_order) > ALARM


def test_a_constant_ranker_is_neither_good_nor_bad() -> None:
    """All tied, against a ranker that knows nothing: no preference on average. Six deviations, false alarm 1e-8."""
    scores = [[float(x) for x in np.random.default_rng(3).permutation(12)], [0.0] * 12]
    for name in MULTILEAVINGS:
        done = trial(MULTILEAVINGS[name](), scores, np.full(12, 0.3), k=5, impressions=N, seed=2)
        scale = 1.0 if name != "pairwise_preference" else 4.0  # its preferences are sums of weights
        assert abs(done.preferences[0, 1]) < 6 * scale / N**0.5, name
