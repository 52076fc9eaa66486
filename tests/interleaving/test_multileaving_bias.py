"""Clicks that have nothing to do with relevance: whom do they favour? Exactly, over all lists and all clicks.

The lists and their probabilities are the twins', in fractions (that the kernels follow them is tested in
tests/statistical); every list is credited by the kernel.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from naive.multileaving import NAIVE_MULTILEAVINGS, Orders, sign
from rankduel.interleaving import (
    MULTILEAVINGS,
    SOSM,
    Multileaved,
    Multileaving,
    PairwisePreferenceMultileaving,
    ProbabilisticMultileaving,
    TeamDraftMultileaving,
)

A, B, C = [0, 1, 2, 3], [1, 2, 3, 0], [3, 2, 1, 0]
Clicks = Callable[[int], Iterator[tuple[tuple[int, ...], Fraction]]]


def by_place(chances: Sequence[float]) -> Clicks:
    """Each place is clicked with its own chance."""

    def clicks(n: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        exact = [Fraction(str(chance)) for chance in chances[:n]]
        for bits in product([0, 1], repeat=n):
            chance = Fraction(1)
            for bit, p in zip(bits, exact, strict=True):
                chance *= p if bit else 1 - p
            yield tuple(i for i, bit in enumerate(bits) if bit), chance

    return clicks


def cascade(n: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """From the top: half of the documents are clicked, and half of the clicks are the last."""

    def go(clicked: tuple[int, ...], place: int, chance: Fraction) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        if place == n:
            yield clicked, chance
            return
        yield from go(clicked, place + 1, chance / 2)
        yield (*clicked, place), chance / 4
        yield from go((*clicked, place), place + 1, chance / 4)

    yield from go((), 0, Fraction(1))


EVEN = by_place([0.2] * 4)
FADING = by_place([0.9, 0.5, 0.2, 0.1])


def impressions(
    method: Multileaving, orders: Orders, clicks: Clicks, k: int = 4
) -> Iterator[tuple[Multileaved, list[object], float]]:
    """Every list, every set of clicks on it, and their probability."""
    twin = NAIVE_MULTILEAVINGS[next(name for name, kind in MULTILEAVINGS.items() if type(method) is kind)]
    for (documents, teams), chance in twin.lists(orders, k).items():
        evidence = tuple(tuple(float(x) for x in row) for row in twin.evidence(orders, documents, teams))
        shown = Multileaved(repr(method), len(orders), documents, evidence)
        for clicked, p in clicks(len(documents)):
            yield shown, [documents[i] for i in clicked], float(chance * p)


def outcomes(method: Multileaving, orders: Orders, clicks: Clicks) -> tuple[float, ...]:
    """The mean preference of the first over the second, and the chances that it is positive, negative, a tie."""
    mean, chance = 0.0, [0.0, 0.0, 0.0]
    for shown, clicked, p in impressions(method, orders, clicks):
        preference = float(method.preferences(shown, clicked)[0, 1])
        mean += p * preference
        chance[{1: 0, -1: 1, 0: 2}[sign(preference)]] += p
    return mean, *chance


def mean_scores(
    method: SOSM | PairwisePreferenceMultileaving, orders: Orders, clicks: Clicks
) -> npt.NDArray[np.float64]:
    total = np.zeros(len(orders))
    for shown, clicked, p in impressions(method, orders, clicks):
        total += p * method.scores(shown, clicked)
    return total


def test_all_lists() -> None:
    for name, method in MULTILEAVINGS.items():
        total = sum(p for _, _, p in impressions(method(), [A, B, C], EVEN))
        assert total == pytest.approx(1, abs=1e-12), name


def test_sosm() -> None:
    _, *chances = outcomes(SOSM(), [A, B], EVEN)
    assert chances == pytest.approx([0.1984, 0.3904, 0.4112], abs=1e-12)
    even, fading = mean_scores(SOSM(), [A, B], EVEN), mean_scores(SOSM(), [A, B], FADING)
    assert even[0] == pytest.approx(even[1], abs=1e-12)
    assert fading[0] - fading[1] == pytest.approx(0.0568, abs=5e-5)
    _, first, second, _ = outcomes(SOSM(), [A, B], FADING)
    assert [first, second] == pytest.approx([0.691, 0.264], abs=5e-4)


@pytest.mark.parametrize("clicks", [EVEN, FADING, cascade])
def test_pairs_favour_nobody(clicks: Clicks) -> None:
    for orders in ([A, B], [A, C], [A, B, C]):
        scores = mean_scores(PairwisePreferenceMultileaving(), orders, clicks)
        assert scores == pytest.approx(scores[0], abs=1e-12)
        short = sum(
            p * PairwisePreferenceMultileaving().preferences(shown, clicked)
            for shown, clicked, p in impressions(PairwisePreferenceMultileaving(), orders, clicks, k=3)
        )
        assert np.abs(short).max() < 1e-12


def test_averaged_pairs_favour_somebody() -> None:
    assert mean_scores(PairwisePreferenceMultileaving(), [A, B], EVEN) == pytest.approx([0.8672, 0.8672], abs=1e-12)
    averaged = mean_scores(PairwisePreferenceMultileaving(average=True), [A, B], EVEN)
    assert averaged == pytest.approx([0.4072, 0.4936], abs=5e-5)


@pytest.mark.parametrize(
    ("orders", "clicks", "first", "second"),
    [
        ([A, B], EVEN, 0.205149, 0.282851),
        ([A, C], EVEN, 0.244, 0.244),
        ([A, B], FADING, 0.52809, 0.43191),
        ([A, B], cascade, 0.39218, 0.48282),
    ],
)
def test_probabilistic(orders: Orders, clicks: Clicks, first: float, second: float) -> None:
    """Unbiased in expectation, and yet not in sign."""
    mean, *chances = outcomes(ProbabilisticMultileaving(), orders, clicks)
    assert mean == pytest.approx(0, abs=1e-12)
    assert chances[:2] == pytest.approx([first, second], abs=5e-6)


def test_probabilistic_of_three() -> None:
    mean = sum(
        p * ProbabilisticMultileaving().preferences(shown, clicked)
        for shown, clicked, p in impressions(ProbabilisticMultileaving(), [A, B, C], cascade)
    )
    assert np.abs(mean).max() < 1e-12


def test_golden_values_of_two() -> None:
    """Those of Hofmann, Whiteson and de Rijke's program for two rankers."""
    first, second = [1, 3, 2, 0], [0, 1, 3, 2]
    law = NAIVE_MULTILEAVINGS["probabilistic"].lists([first, second], 4)
    assert sum(law.values()) == 1
    assert float(law[(1, 0, 3, 2), ()]) == pytest.approx(0.182775, abs=5e-7)
    method = ProbabilisticMultileaving()
    found = {(shown := method.multileave([first, second], seed=seed)).documents: shown for seed in range(50)}
    assert method.preferences(found[1, 0, 3, 2], [1])[0, 1] == pytest.approx(7 / 9, abs=1e-12)
    assert method.preferences(found[0, 1, 3, 2], [0])[0, 1] == pytest.approx(-0.969231, abs=5e-7)


def test_team_draft() -> None:
    _, *chances = outcomes(TeamDraftMultileaving(), [A, B], EVEN)
    assert chances == pytest.approx([0.2432, 0.2432, 0.5136], abs=1e-12)
    _, *chances = outcomes(TeamDraftMultileaving(), [A, B], FADING)
    assert chances[:2] == pytest.approx([0.2825, 0.2825], abs=1e-12)
    for clicks in (EVEN, FADING, cascade):
        assert outcomes(TeamDraftMultileaving(), [A, B, C], clicks)[0] == pytest.approx(0, abs=1e-12)


def test_team_draft_of_two() -> None:
    """The team with fewer picks is next, a coin if they are equal: nothing else is drawn."""
    law = NAIVE_MULTILEAVINGS["team_draft"].lists([[0, 1, 2, 3, 4], [0, 2, 1, 4, 3]], 5)
    assert all(teams[0] == -1 and chance == Fraction(1, 4) for (_, teams), chance in law.items())
    assert {teams[1:] for _, teams in law} == {(0, 1, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 0, 1, 0)}
