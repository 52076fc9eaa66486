"""Probabilistic Interleaving: exact by enumeration, and the kernel's law by chi-square.

False alarm: at most 1e-6 per test; whatever is enumerated cannot give one.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import interleaving as naive
from rankduel.interleaving import Interleaved, ProbabilisticInterleaving
from statistical.evidence import ALARM, CAUGHT, fit

METHOD = ProbabilisticInterleaving()
FIRST, SECOND = (1, 3, 2, 0), (0, 1, 3, 2)

Order = tuple[int, ...]


def listed(shown: Order, chances: list[Fraction]) -> Interleaved:
    return Interleaved("probabilistic", shown, "probabilities", tuple(map(float, chances)))


def agreement(counts: Mapping[Order, int], law: Mapping[Order, Fraction]) -> float:
    assert set(counts) <= set(law)
    return fit([counts.get(shown, 0) for shown in law], [float(p) for p in law.values()])


def test_golden_values() -> None:
    assert float(naive.probabilistic(FIRST, SECOND, 4)[1, 0, 3, 2]) == pytest.approx(0.182775, abs=5e-7)
    for shown, clicked, credit in [((1, 0, 3, 2), 1, 7 / 9), ((0, 1, 3, 2), 0, -0.969231)]:
        made = listed(shown, naive.posteriors(FIRST, SECOND, shown))
        assert METHOD.credit(made, [clicked]) == pytest.approx(credit, abs=5e-7)


def test_hardly_random_rankers() -> None:
    # With a huge tau only the coins are left: each order of the two captains has probability 1/4.
    method = ProbabilisticInterleaving(tau=50)
    lists = Counter(method.interleave(FIRST, SECOND, k=4, seed=seed).documents for seed in range(20_000))
    law = {(1, 0, 3, 2): 0.25, (1, 3, 0, 2): 0.125, (1, 3, 2, 0): 0.125, (0, 1, 3, 2): 0.5}
    assert set(lists) <= set(law)
    assert fit([lists[shown] for shown in law], list(law.values())) > ALARM


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "k"), [(FIRST, SECOND, 4), ((0, 1, 2, 3, 4), (1, 2, 3, 4, 0), 3), ((0, 1), (2, 1, 3), 4)]
)
def test_law_of_lists(first: Order, second: Order, k: int) -> None:
    """Caught: ranks among the documents left instead of original ones, renormalised."""
    law = naive.probabilistic(first, second, k)
    assert sum(law.values()) == 1
    lists = [METHOD.interleave(first, second, k=k, seed=seed) for seed in range(60_000)]
    counts = Counter(shown.documents for shown in lists)
    assert agreement(counts, law) > ALARM  # type: ignore[arg-type]
    if first != (0, 1):  # two documents have but two ranks
        assert agreement(counts, naive.probabilistic(first, second, k, chance=naive.re_ranked_chance)) < CAUGHT  # type: ignore[arg-type]
    for shown in {shown.documents: shown for shown in lists}.values():
        expected = naive.posteriors(first, second, shown.documents)  # type: ignore[arg-type]
        assert shown.credit_data == pytest.approx(list(map(float, expected)), abs=1e-12)


def test_the_last_document_is_anybodys() -> None:
    for seed in range(100):
        shown = METHOD.interleave(range(5), [3, 1, 4, 2, 0], k=5, seed=seed)
        assert shown.credit_data is not None
        assert shown.credit_data[-1] == pytest.approx(0.5, abs=1e-12)
        assert all(0 < p < 1 for p in shown.credit_data)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.data())
def test_dynamic_programming_is_enumeration(chances: list[float], data: st.DataObject) -> None:
    clicks = data.draw(st.lists(st.booleans(), min_size=len(chances), max_size=len(chances)))
    shown = Interleaved("probabilistic", tuple(range(len(chances))), "probabilities", tuple(chances))
    clicked = [d for d, click in enumerate(clicks) if click]
    credit = METHOD.credit(shown, clicked)
    assert credit == pytest.approx(float(naive.probabilistic_credit(chances, clicks)), abs=2e-9)
    assert -1 <= credit <= 1
    swapped = Interleaved("probabilistic", shown.documents, "probabilities", tuple(1 - p for p in chances))
    assert METHOD.credit(swapped, clicked) == pytest.approx(-credit, abs=2e-9)


IID = [Fraction(1, 5)] * 4
NEVER = [Fraction(0)] * 4
POSITIONS = [Fraction(9, 10), Fraction(1, 2), Fraction(1, 5), Fraction(1, 10)]
HALVES = [Fraction(1, 2)] * 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "click", "stop", "wins", "losses"),
    [
        ((0, 1, 2, 3), (1, 2, 3, 0), IID, NEVER, 0.205149, 0.282851),
        ((0, 1, 2, 3, 4), (1, 2, 3, 4, 0), IID, NEVER, 0.243670, 0.346730),
        ((0, 1, 2, 3), (3, 2, 1, 0), IID, NEVER, 0.244, 0.244),
        ((0, 1, 2, 3), (1, 2, 3, 0), POSITIONS, NEVER, 0.52809, 0.43191),
        ((0, 1, 2, 3), (1, 2, 3, 0), HALVES, HALVES, 0.39218, 0.48282),
    ],
)
def test_blind_clicks(
    *, first: Order, second: Order, click: list[Fraction], stop: list[Fraction], wins: float, losses: float
) -> None:
    """The expected credit is exactly 0; its sign is biased, by exactly so much."""
    vectors = naive.click_vectors(click, stop, anywhere=False)
    expected, won, lost = Fraction(0), 0.0, 0.0
    for shown, probability in naive.probabilistic(first, second, 4).items():
        chances = naive.posteriors(first, second, shown)
        made = listed(shown, chances)
        for clicks, p in vectors.items():
            credit = METHOD.credit(made, [d for d, click in zip(shown, clicks, strict=True) if click])
            exact = naive.probabilistic_credit(chances, clicks)
            assert credit == pytest.approx(float(exact), abs=1e-9)
            assert isinstance(exact, Fraction)
            expected += probability * p * exact
            won += float(probability * p) * (credit > 0)
            lost += float(probability * p) * (credit < 0)
    assert expected == 0
    assert [won, lost] == pytest.approx([wins, losses], abs=6e-6)


def test_identical_rankings_always_tie() -> None:
    for seed in range(200):
        shown = METHOD.interleave(range(20), range(20), k=10, seed=seed)
        for clicks in [shown.documents[:1], shown.documents[2:7], shown.documents]:
            assert METHOD.credit(shown, clicks) == 0


@pytest.mark.parametrize(("n", "k", "tau"), [(200, 200, 3), (1500, 40, 3), (60, 60, 0), (40, 40, 12), (25, 25, 50)])
def test_deep_lists_stay_exact(n: int, k: int, tau: int) -> None:
    """Masses are kept by subtraction. Caught: never summing them up again."""
    method = ProbabilisticInterleaving(tau=tau)
    first, second = tuple(range(n)), tuple(sorted(range(n), key=lambda d: (d * 7919) % n))
    shown = method.interleave(first, second, k=k, seed=3)
    assert len(set(shown.documents)) == min(k, n)
    weights = [{d: Fraction(1, rank**tau) for rank, d in enumerate(order, 1)} for order in (first, second)]
    masses = [sum(weight.values(), Fraction(0)) for weight in weights]
    assert shown.credit_data is not None
    for d, probability in zip(shown.documents, shown.credit_data, strict=True):
        p, q = (weight[d] / mass for weight, mass in zip(weights, masses, strict=True))  # type: ignore[index]
        masses = [mass - weight[d] for weight, mass in zip(weights, masses, strict=True)]  # type: ignore[index]
        assert probability == pytest.approx(float(p / (p + q)), abs=1e-11)


@pytest.mark.slow
def test_one_object_serves_rankings_of_any_length() -> None:
    for n in (3, 1024, 1025, 5000, 10):
        shown = METHOD.interleave(range(n), range(n - 1, -1, -1), k=10, seed=n)
        expected = naive.posteriors(tuple(range(n)), tuple(range(n - 1, -1, -1)), shown.documents[:3])  # type: ignore[arg-type]
        assert shown.credit_data is not None
        assert shown.credit_data[:3] == pytest.approx(list(map(float, expected)), abs=1e-12)


def test_what_only_one_ranker_has_is_its_own() -> None:
    shown = METHOD.interleave("ab", "cd", seed=1)
    assert shown.credit_data is not None
    assert dict(zip(shown.documents, shown.credit_data, strict=True)) == {"a": 1, "b": 1, "c": 0, "d": 0}
    assert METHOD.credit(shown, "ab") == 1
    assert METHOD.credit(shown, "ac") == 0


def test_all_click_vectors_of_all_lists() -> None:
    """Every list of four documents with every set of clicks: the kernel's credit is the enumeration's."""
    first, second = (0, 1, 2, 3), (2, 0, 3, 1)
    for shown in naive.probabilistic(first, second, 4, tau=2):
        chances = naive.posteriors(first, second, shown, tau=2)
        for clicks in product([False, True], repeat=4):
            clicked = [d for d, click in zip(shown, clicks, strict=True) if click]
            expected = float(naive.probabilistic_credit(chances, clicks))
            assert METHOD.credit(listed(shown, chances), clicked) == pytest.approx(expected, abs=1e-9)
