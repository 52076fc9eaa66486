"""Balanced Interleaving: its two lists, its two rules of depth, and its known bias. Nothing here is random."""

from fractions import Fraction

import pytest

from naive import interleaving as naive
from rankduel.interleaving import BalancedInterleaving

Order = tuple[int, ...]


@pytest.mark.parametrize(
    ("first", "second", "k"),
    [
        ((0, 1, 2, 3), (1, 2, 3, 0), 4),
        ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0), 3),
        ((0, 1), (2, 3, 4, 5), 6),
        ((), (0, 1, 2), 2),
        ((5, 1, 0), (0, 7), 9),
    ],
)
@pytest.mark.parametrize("depth", ["lowest", "both"])
def test_lists_and_credits(first: Order, second: Order, k: int, depth: str) -> None:
    method = BalancedInterleaving(depth=depth)
    lists = {shown.documents: shown for shown in (method.interleave(first, second, k=k, seed=s) for s in range(64))}
    assert set(lists) == set(naive.balanced(first, second, k))
    for documents, shown in lists.items():
        for clicked in naive.subsets(documents):  # type: ignore[arg-type]
            vector = [d in clicked for d in documents]
            expected = naive.balanced_credit(first, second, documents, vector, depth)  # type: ignore[arg-type]
            assert method.credit(shown, clicked) == expected


@pytest.mark.parametrize(("depth", "wins", "losses"), [("lowest", 0.1024, 0.3904), ("both", 0.16, 0.3904)])
def test_known_bias(depth: str, wins: float, losses: float) -> None:
    """Blind clicks prefer the list whose first document the other has moved to the end. Caught: the other rule."""
    first, second = (0, 1, 2, 3), (1, 2, 3, 0)
    method = BalancedInterleaving(depth=depth)
    lists = {shown.documents: shown for shown in (method.interleave(first, second, k=4, seed=s) for s in range(64))}
    vectors = naive.click_vectors([Fraction(1, 5)] * 4, [Fraction(0)] * 4, anywhere=False)
    won = lost = 0.0
    for documents, probability in naive.balanced(first, second, 4).items():
        for clicks, p in vectors.items():
            clicked = [d for d, click in zip(documents, clicks, strict=True) if click]
            credit = method.credit(lists[documents], clicked)
            won += float(probability * p) * (credit > 0)
            lost += float(probability * p) * (credit < 0)
    assert [won, lost] == pytest.approx([wins, losses])


def test_each_list_is_as_likely() -> None:
    # 10,000 coins: five standard errors are 250.
    shown = [BalancedInterleaving().interleave("ab", "ba", seed=seed).documents[0] for seed in range(10_000)]
    assert abs(shown.count("a") - 5000) < 250
