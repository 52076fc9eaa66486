"""Elimination rules as people type them, and what a decision says about them."""

import pytest

from rankduel.bandits.elimination import (
    Certified,
    Confidence,
    Decision,
    Elimination,
    Hoeffding,
    elimination_from,
)


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        (None, None),
        ("Certified", Certified()),
        ("Certified(delta=0.05, tolerance=0.02)", Certified(0.05, 0.02)),
        ("Hoeffding(alpha=0.8**6, c=4e6)", Hoeffding(0.8**6, 4e6)),
    ],
)
def test_a_rule_is_read_as_people_type_it(typed: object, rule: object) -> None:
    assert elimination_from(typed) == elimination_from(rule) == rule


@pytest.mark.parametrize("rule", [Certified(0.05), Certified(0.05, 0.02), Hoeffding(0.5, 10.0)])
def test_the_repr_of_a_rule_makes_it_again(rule: Certified | Hoeffding) -> None:
    assert elimination_from(repr(rule)) == rule


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("Certified(delta=0)", "delta must be > 0 and <= 0.5, got 0"),
        ("Certified(delta=0.6)", "delta must be > 0 and <= 0.5, got 0.6"),
        ("Certified(tolerance=0.3)", "tolerance must be > 0 and <= 0.25, got 0.3"),
        ("Certified(alpha=1)", "Certified has no option 'alpha'; its options: delta, tolerance"),
        ("Hoeffding(alpha=-1, c=1)", "alpha must be > 0, got -1"),
        ("Bonferroni", r"elimination must be Certified\(delta=...\) or Hoeffding"),
        (7, "got 7"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_value(typed: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        elimination_from(typed)


def confidence(
    delta: float | None, alive: tuple[int, ...], tied: bool = False, tolerance: float | None = None, doubt: float = 0.0
) -> Confidence:
    return Confidence(delta, alive, tied, tolerance, doubt, champion=alive[0], n_arms=4, told=1300)


def test_a_decision_says_what_is_guaranteed_and_what_is_not() -> None:
    decided = Decision(3, (), confidence(0.05, (3,)), (Elimination(1, 120, 3, 4.2),))
    assert decided.headline == "Arm 3 is the best of 4 arms, with at least 95 % confidence (1,300 duels)."
    assert str(decided) == f"{decided.headline}\n{decided.meaning}" == str(decided.confidence)
    assert str(decided.eliminated[0]) == "arm 1 was eliminated after duel 120, which arm 3 won, evidence 4.20"
    tied = Decision(None, (1, 2), confidence(0.05, (1, 2), True, 0.02), ())
    assert tied.headline.startswith("Arms 1, 2 are tied for the best of 4 arms")
    assert "within 0.02 of one half" in tied.meaning
    without = Decision(3, (), confidence(None, (3,)), ())
    assert without.headline == "Arm 3 is the last of 4 arms left (1,300 duels). This bandit gives no guarantee."


def test_no_best_arm_is_claimed_once_there_is_evidence_against_all() -> None:
    assert not confidence(0.05, (0, 1), doubt=2.3).in_doubt  # p = 0.1003
    doubtful = confidence(0.05, (0, 1), doubt=2.31)
    assert doubtful.in_doubt
    assert doubtful.p_best_exists == pytest.approx(0.0993, abs=1e-4)
    assert confidence(0.05, (0, 1), doubt=-5.0).p_best_exists == 1
    estimate = Decision(None, (), doubtful, (), copeland=(0,))
    assert estimate.headline.startswith("No arm beats all others (p = 0.099).")
    assert estimate.meaning.endswith("Most pairs are won by arm 0: an estimate without a guarantee.")
