"""Team Draft against the enumeration of all its coins. False alarm: at most 1e-6 per test."""

from collections import Counter
from fractions import Fraction

import pytest

from naive import interleaving as naive
from rankduel.interleaving import Interleaved, TeamDraftInterleaving
from statistical.evidence import ALARM, fit

METHOD = TeamDraftInterleaving()
NAMES = {1: "first", -1: "second", 0: None}

Order = tuple[int, ...]


@pytest.mark.parametrize(
    ("first", "second", "k"),
    [
        ((0, 1, 2, 3), (1, 2, 3, 0), 4),
        ((0, 1, 2, 3, 4, 5), (0, 1, 3, 2, 5, 4), 5),
        ((0, 1, 2), (0, 1, 2), 3),
        ((0, 1), (2, 3, 4, 5), 6),
        ((0,), (0, 1, 2), 3),
        ((), (0, 1, 2), 2),
        ((3, 4, 5, 0), (0, 3), 9),
    ],
)
def test_law_of_lists_and_teams(first: Order, second: Order, k: int) -> None:
    law = naive.team_draft(first, second, k)
    assert sum(law.values()) == 1
    counts: Counter[tuple[tuple[object, ...], tuple[str | None, ...]]] = Counter()
    for seed in range(20_000):
        shown = METHOD.interleave(first, second, k=k, seed=seed)
        assert shown.credit_data is not None
        counts[shown.documents, shown.credit_data] += 1
    expected = {(shown, tuple(NAMES[team] for team in teams)): float(p) for (shown, teams), p in law.items()}
    assert set(counts) <= set(expected)
    assert fit([counts[cell] for cell in expected], list(expected.values())) > ALARM


@pytest.mark.parametrize(
    ("click", "stop", "wins"),
    [
        ([Fraction(1, 5)] * 4, [Fraction(0)] * 4, 0.2432),
        ([Fraction(9, 10), Fraction(1, 2), Fraction(1, 5), Fraction(1, 10)], [Fraction(0)] * 4, 0.2825),
        ([Fraction(1, 2)] * 4, [Fraction(1, 2)] * 4, None),
    ],
)
def test_blind_clicks_are_fair(click: list[Fraction], stop: list[Fraction], wins: float | None) -> None:
    vectors = naive.click_vectors(click, stop, anywhere=False)
    won = lost = Fraction(0)
    for (shown, teams), probability in naive.team_draft((0, 1, 2, 3), (1, 2, 3, 0), 4).items():
        made = Interleaved("team_draft", shown, "teams", tuple(NAMES[team] for team in teams))
        for clicks, p in vectors.items():
            credit = METHOD.credit(made, [d for d, click in zip(shown, clicks, strict=True) if click])
            assert credit == naive.team_draft_credit(teams, clicks)
            won += probability * p * (credit > 0)
            lost += probability * p * (credit < 0)
    assert won == lost
    if wins is not None:
        assert float(won) == pytest.approx(wins, abs=6e-5)


def test_picks_differ_by_at_most_one() -> None:
    for seed in range(300):
        shown = METHOD.interleave(range(30), range(29, -1, -1), k=11, seed=seed)
        assert shown.credit_data is not None
        for n in range(12):
            assert abs(shown.credit_data[:n].count("first") - shown.credit_data[:n].count("second")) <= 1


def test_the_common_prefix_decides_nothing() -> None:
    shown = METHOD.interleave("abcde", "abdce", k=4, seed=1)
    assert shown.credit_data is not None
    assert shown.credit_data[:2] == (None, None)
    assert METHOD.credit(shown, "ab") == 0
    assert METHOD.credit(shown, "abc") == 1
    assert METHOD.credit(shown, "abd") == -1
