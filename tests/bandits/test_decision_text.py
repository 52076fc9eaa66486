"""Texts of a decision in all states, for rankers and for arms."""

from dataclasses import replace

import pytest

from rankduel.bandits.decision_text import DecisionFacts, confidence_percent, headline, meaning

WINNER = DecisionFacts(
    left=1,
    tried=5,
    retired=0,
    resolved=1300,
    leader="ltr",
    winner="ltr",
    tied=(),
    delta=0.01,
    tolerance=None,
    p_best_exists=1.0,
)
OPEN = replace(WINNER, left=3, winner=None)
TIED = replace(WINNER, left=2, winner=None, tied=("ltr", "ltr-2"), tolerance=0.02)
ARM = replace(WINNER, tried=3, leader="0", winner="0", resolved=12, noun="arm")
HOLDS = "The confidence holds whenever you look, provided that "
ASSUMED = "votes are independent and preferences do not change."
PROVIDED = f"one ranker is at least as good as all others, {ASSUMED}"
ADVICE = "Use a certified bandit, such as CertifiedSparring, to find the best ranker with a confidence."


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (WINNER, "ltr is the best of 5 rankers, with at least 99 % confidence (1,300 duels)."),
        (replace(WINNER, delta=0.001), "ltr is the best of 5 rankers, with at least 99.9 % confidence (1,300 duels)."),
        (replace(WINNER, tried=6, retired=2),
         "ltr is the best of 4 rankers (2 retired), with at least 99 % confidence (1,300 duels)."),
        (replace(WINNER, tried=1, resolved=1),
         "ltr is the best of 1 ranker, with at least 99 % confidence (1 duel)."),
        (TIED, "ltr, ltr-2 are tied for the best of 5 rankers, with at least 99 % confidence (1,300 duels)."),
        (replace(TIED, left=9, tried=1_000, tied=tuple("abcdefghi")),
         "a, b, c, d and 5 more are tied for the best of 1,000 rankers, with at least 99 % confidence (1,300 duels)."),
        (replace(TIED, tied=tuple("abcde")),
         "a, b, c, d, e are tied for the best of 5 rankers, with at least 99 % confidence (1,300 duels)."),
        (OPEN, "No decision yet: 3 of 5 rankers are left, and ltr leads (1,300 duels)."),
        (replace(OPEN, tried=6, retired=1),
         "No decision yet: 3 of 5 rankers (1 retired) are left, and ltr leads (1,300 duels)."),
        (replace(OPEN, left=5, resolved=0), "No decision yet: 5 of 5 rankers are left (0 duels)."),
        (replace(WINNER, delta=None),
         "ltr is the last of 5 rankers left (1,300 duels). This bandit gives no guarantee."),
        (replace(OPEN, delta=None), "No decision yet: 3 of 5 rankers are left, and ltr leads (1,300 duels)."),
        (replace(WINNER, p_best_exists=0.003),
         "No ranker beats all others (p = 0.003). ltr is the last of 5 rankers left (1,300 duels)."),
        (replace(OPEN, p_best_exists=0.1),
         "No ranker beats all others (p = 0.1). 3 of 5 rankers are left, and ltr leads (1,300 duels)."),
        (replace(TIED, p_best_exists=0.05),
         "No ranker beats all others (p = 0.05). "
         "ltr, ltr-2 are the last of 5 rankers left, and tied (1,300 duels)."),
        (ARM, "Arm 0 is the best of 3 arms, with at least 99 % confidence (12 duels)."),
        (replace(ARM, winner=None, tied=("0", "2")),
         "Arms 0, 2 are tied for the best of 3 arms, with at least 99 % confidence (12 duels)."),
        (replace(ARM, winner=None, left=2), "No decision yet: 2 of 3 arms are left, and arm 0 leads (12 duels)."),
    ],
)  # fmt: skip
def test_headline(facts: DecisionFacts, text: str) -> None:
    assert headline(facts) == text


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (WINNER, HOLDS + PROVIDED),
        (replace(WINNER, tried=6, retired=1),
         f"{HOLDS}one ranker that is not retired is at least as good as all others, retired ones included, {ASSUMED}"),
        (TIED,
         f"{HOLDS}{PROVIDED} Tied rankers beat each other with a probability within 0.02 of one half."),
        (OPEN, f"The decision will have at least 99 % confidence, provided that {PROVIDED}"),
        (replace(WINNER, delta=None), ADVICE),
        (replace(OPEN, delta=None), f"This bandit gives no guarantee. {ADVICE}"),
        (replace(WINNER, p_best_exists=0.003),
         'p is the p-value of "one ranker is at least as good as all others". It holds whenever you look, '
         f"provided that {ASSUMED}"),
        (replace(WINNER, p_best_exists=0.003, copeland=("bm25", "ltr")),
         'p is the p-value of "one ranker is at least as good as all others". It holds whenever you look, '
         f"provided that {ASSUMED} Most pairs are won by bm25, ltr: an estimate without a guarantee."),
        (replace(ARM, p_best_exists=0.003, copeland=("1",), retired=1),
         'p is the p-value of "one arm that is not retired is at least as good as all others, retired ones included". '
         f"It holds whenever you look, provided that {ASSUMED} "
         "Most pairs are won by arm 1: an estimate without a guarantee."),
    ],
)  # fmt: skip
def test_meaning(facts: DecisionFacts, text: str) -> None:
    assert meaning(facts) == text


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.05, 0.01, 0.001, None])
@pytest.mark.parametrize("p", [1.0, 0.101, 0.1, 1e-9])
def test_a_confidence_is_claimed_only_where_it_is_reached(delta: float | None, p: float) -> None:
    for facts in (WINNER, OPEN, TIED):
        reached = facts.decided and delta is not None and p > 0.1
        shown = headline(replace(facts, delta=delta, p_best_exists=p))
        assert ("confidence" in shown) == ("the best of" in shown) == reached


def test_no_confidence_is_rounded_to_certainty() -> None:
    for delta in (1e-3, 1e-6, 1e-9, 1e-10, 1e-300):
        assert float(confidence_percent(delta).removesuffix(" %")) < 100


def test_a_ranker_keeps_its_name_as_it_is() -> None:
    assert headline(replace(WINNER, winner="bM25")).startswith("bM25 is the best")
    assert headline(replace(TIED, tied=("ranker 1", "ranker 2"))).startswith("ranker 1, ranker 2 are tied")
