"""Certified bandits: arms that come and go, warm starts, what they say, and the alarm when the winner loses."""

import io
import math

import numpy as np
import pytest

import rankduel as rd
from rankduel.testing.fixtures import require_same_answers, require_same_state, state


def play(bandit: rd.Bandit, problem: rd.PreferenceMatrix, duels: int, seed: int = 1) -> None:
    coin = np.random.default_rng(seed)
    for _ in range(duels):
        if bandit.winner is not None or bandit.tied:
            break
        duel = bandit.ask()
        first_won = coin.random() < problem.probabilities[duel.first, duel.second]
        bandit.tell(duel, rd.Outcome.FIRST if first_won else rd.Outcome.SECOND)


def ladder(n_arms: int, best: int = 0) -> rd.PreferenceMatrix:
    strength = -np.arange(n_arms, dtype=float)
    strength[[0, best]] = strength[[best, 0]]
    return rd.PreferenceMatrix(1 / (1 + np.exp(strength[None] - strength[:, None])))


def test_an_arm_that_comes_late_and_is_the_best_wins() -> None:
    bandit = rd.CertifiedSparring(5, seed=1)
    play(bandit, ladder(8, best=6), 60)
    assert bandit.add(3) == [5, 6, 7]
    assert bandit.n_arms == 8
    assert {5, 6, 7} <= set(bandit.alive.tolist())
    play(bandit, ladder(8, best=6), 10_000)
    assert bandit.winner == 6
    assert bandit.decision().winner == 6


def test_a_winner_can_be_challenged() -> None:
    bandit = rd.CertifiedSparring(3, seed=1)
    play(bandit, ladder(4, best=3), 10_000)
    assert bandit.winner is not None
    bandit.add()
    assert bandit.winner is None
    play(bandit, ladder(4, best=3), 10_000)
    assert bandit.winner == 3


def test_a_paused_arm_meets_nobody_and_stays_in_the_race() -> None:
    bandit = rd.CertifiedSparring(4, seed=2)
    bandit.pause(0)
    bandit.pause(0)  # twice is once
    for _ in range(300):
        duel = bandit.ask()
        assert 0 not in (duel.first, duel.second)
        bandit.tell(duel, rd.Outcome.TIE)
    assert 0 in bandit.alive
    bandit.resume(0)
    bandit.resume(0)
    play(bandit, ladder(4), 10_000)
    assert bandit.winner == 0


def test_if_all_are_paused_somebody_is_still_shown() -> None:
    bandit = rd.CertifiedSparring(2, seed=2)
    bandit.pause(0)
    bandit.pause(1)
    assert {bandit.ask().first, bandit.ask().second} <= {0, 1}


def test_a_retired_arm_is_out_and_no_elimination() -> None:
    bandit = rd.CertifiedSparring(4, seed=3)
    duels = [bandit.ask() for _ in range(50)]
    bandit.retire(0)
    for duel in duels:  # what was on its way is taken, and teaches nothing about it
        bandit.tell(duel, rd.Outcome.FIRST)
    assert 0 not in bandit.alive
    play(bandit, ladder(4), 10_000)
    assert bandit.winner == 1
    assert 0 not in [out.arm for out in bandit.decision().eliminated]
    with pytest.raises(ValueError, match="arm 0 is already eliminated or retired"):
        bandit.pause(0)
    with pytest.raises(ValueError, match="arm 1: it is the last arm left"):
        bandit.retire(1)
    with pytest.raises(ValueError, match="arm must be a number from 0 to 3, got 4"):
        bandit.retire(4)


def test_a_snapshot_keeps_those_who_came_and_went() -> None:
    bandit = rd.CertifiedSparring(6, tolerance=0.05, seed=4)
    bandit.add(2)
    play(bandit, ladder(8), 100)
    bandit.pause(1)
    bandit.retire(2)
    again = rd.Bandit.restore(bandit.snapshot())
    require_same_state(state(bandit), state(again), "restored")
    require_same_answers(bandit, again, "restored")


def test_a_warm_start_saves_duels_and_a_wrong_one_does_not_break_the_promise() -> None:
    """Counts of 40 duels of each pair, right or turned round; 20 runs each, seeds fixed."""
    problem = rd.problems.bradley_terry(20)
    right = np.random.default_rng(1).binomial(40, problem.probabilities)
    np.fill_diagonal(right, 0)
    ends: dict[str, list[float]] = {}
    for name, wins in (("cold", None), ("right", right), ("wrong", right.T)):
        ends[name] = []
        for seed in range(20):
            bandit = rd.CertifiedSparring(20, seed=seed)
            if wins is not None:
                bandit.warm_start(wins)
                assert bandit.told == 0
                assert len(bandit.alive) == 20
            run = rd.simulate(bandit, problem, horizon=100_000, seed=seed)
            assert run.winner == problem.condorcet_winner
            ends[name].append(run.regret[-1])
    assert np.mean(ends["right"]) < 0.9 * np.mean(ends["cold"])
    assert np.mean(ends["wrong"]) < 3 * np.mean(ends["cold"])


def test_a_certified_warm_start_is_evidence() -> None:
    bandit = rd.CertifiedSparring(2, seed=1)
    bandit.warm_start([[0, 90], [10, 0]], certify=True)
    assert bandit.winner == 0
    assert bandit.confidence().delta == 0.01


@pytest.mark.parametrize(
    ("wins", "options", "message"),
    [
        ([[0, 1]], {}, "shape"),
        ([[0, -1], [1, 0]], {}, "the negative number -"),
        ([[0.5, 1], [1, 0]], {}, "whole numbers"),
        ([[0, 1], [1, 0]], {"weight": 0}, "weight must be > 0"),
    ],
)
def test_wrong_warm_starts(wins: list[list[float]], options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rd.CertifiedSparring(2).warm_start(wins, **options)  # type: ignore[arg-type]


def test_a_warm_start_comes_first() -> None:
    bandit = rd.CertifiedSparring(2)
    bandit.ask()
    with pytest.raises(ValueError, match="before the first duel, but 1 were already asked for"):
        bandit.warm_start([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("Certified(delta=0)", "delta must be > 0 and <= 0.5, got 0"),
        ("Certified(delta=0.1, tolerance=1)", "tolerance must be > 0 and <= 0.25, got 1"),
        ("Certified(alpha=1)", "Certified has no option 'alpha'; its options: delta, tolerance"),
        ("Bonferroni", "elimination must be Certified"),
        (0.05, "elimination must be Certified"),
    ],
)
def test_wrong_rules(rule: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rd.MergeDTS(3, elimination=rule)  # type: ignore[arg-type]


def test_the_papers_rule_only_where_it_belongs() -> None:
    assert repr(rd.MergeDTS(3, elimination=rd.Hoeffding(0.5, 100), seed=1)) == repr(
        rd.MergeDTS(3, alpha=0.5, c=100, seed=1)
    )
    with pytest.raises(ValueError, match="elimination of SelfSparring must be Certified"):
        rd.SelfSparring(3, elimination=rd.Hoeffding(0.5, 100))


def test_what_is_said() -> None:
    assert rd.MergeDTS(3).confidence().meaning.startswith("This bandit gives no guarantee.")
    bandit = rd.CertifiedSparring(3, delta=0.05, seed=1)
    assert bandit.decision().headline == "No decision yet: 3 of 3 arms are left (0 duels)."
    assert bandit.decision().meaning.startswith("The decision will have at least 95 % confidence, provided that")
    play(bandit, ladder(3), 10_000)
    decision = bandit.decision()
    assert decision.headline == (f"Arm 0 is the best of 3 arms, with at least 95 % confidence ({bandit.told:,} duels).")
    assert [out.arm for out in decision.eliminated] in ([1, 2], [2, 1])
    assert all(out.evidence is not None and out.evidence >= math.log(20) for out in decision.eliminated)
    assert "evidence" in str(decision.eliminated[0])


CERTIFIED = ["CertifiedSparring(delta=0.01)"] + [
    f"{name}(elimination=Certified(delta=0.01))" for name in ("MergeDTS", "MergeRUCB", "SelfSparring", "DTS", "Uniform")
]


def circle(n_arms: int, p: float) -> rd.PreferenceMatrix:
    """Each arm beats the half of the others that follow it, with probability p: all are alike, and none is the best."""
    behind = (np.arange(n_arms)[None] - np.arange(n_arms)[:, None]) % n_arms
    return rd.PreferenceMatrix(np.where(behind == 0, 0.5, np.where(behind <= n_arms // 2, p, 1 - p)))


def test_no_best_arm_is_noticed() -> None:
    """Scissors, paper, stone: the last arms left carry evidence against each; it is told when p is small."""
    seen = []
    for seed in range(40):
        bandit = rd.CertifiedSparring(3, delta=0.001, seed=seed)
        play(bandit, circle(3, 0.8), 20_000, seed=seed)
        seen.append(bandit.confidence().p_best_exists)
        assert ("No arm beats all others" in bandit.confidence().headline) == (seen[-1] <= 0.1)
        assert bandit.confidence().in_doubt == (seen[-1] <= 0.1)
        assert bool(bandit.decision().copeland) == (seen[-1] <= 0.1)
    assert min(seen) <= 0.1


@pytest.mark.parametrize("spec", CERTIFIED)
def test_where_no_best_arm_is_in_sight_the_answer_is_who_wins_most_pairs(spec: str) -> None:
    """Beside the circle there are two more arms that lose to everybody: no Copeland answer may name them."""
    P = np.full((7, 7), 0.5)
    P[:5, :5] = circle(5, 0.9).probabilities
    P[:5, 5:], P[5:, :5] = 0.9, 0.1
    doubts = 0
    for seed in range(10):
        bandit = rd.bandit_from(spec, 7, seed=seed)
        play(bandit, rd.PreferenceMatrix(P), 5000, seed=seed)
        decision = bandit.decision()
        if decision.copeland:
            doubts += 1
            assert set(decision.copeland) <= set(range(5))
            assert decision.headline.startswith("No arm beats all others (p = ")
            assert decision.meaning.endswith(
                f"{', '.join(map(str, decision.copeland))}: an estimate without a guarantee."
            )
            assert "the best of" not in decision.headline
    assert doubts > 0


@pytest.mark.parametrize("spec", CERTIFIED)
def test_pairs_won_are_counted_of_arms_that_are_out_too(spec: str) -> None:
    """By hand, of all duels: also where records were dropped with an arm, and after a snapshot."""
    n_arms = 24 if spec.startswith(("DTS", "SelfSparring")) else 64
    problem = rd.problems.random_tournament(n_arms, winner=0.7)
    bandit = rd.bandit_from(spec, n_arms, seed=3)
    wins, coin = np.zeros((n_arms, n_arms), np.int64), np.random.default_rng(3)
    for _ in range(8000):
        if bandit.winner is not None:
            break
        duel = bandit.ask()
        first_won = bool(coin.random() < problem.probabilities[duel.first, duel.second])
        bandit.tell(duel, rd.Outcome.FIRST if first_won else rd.Outcome.SECOND)
        wins[(duel.first, duel.second) if first_won else (duel.second, duel.first)] += 1
    assert len(bandit.decision().eliminated) > n_arms // 4
    leads = np.sign(wins - wins.T).sum(1)
    assert bandit._leads().tolist() == leads.tolist()
    assert type(bandit).restore(bandit.snapshot())._leads().tolist() == leads.tolist()
    assert bandit._copeland() == tuple(np.flatnonzero(leads == leads.max()).tolist())


def test_a_retired_arm_is_no_copeland_answer() -> None:
    bandit = rd.CertifiedSparring(4, seed=1)
    play(bandit, ladder(4), 30)
    assert bandit._copeland() == (0,)
    bandit.retire(0)
    assert 0 not in bandit._copeland()


def test_counts_of_a_pair_stand_still_before_they_overflow() -> None:
    """A record of 2^32 - 1 wins is full: one more duel changes neither side. More than that is no record."""
    bandit = rd.CertifiedSparring(2, delta=1e-200, seed=1)
    for _ in range(3):
        bandit.tell(bandit.ask(), rd.Outcome.FIRST)

    def restored(wins: int) -> rd.CertifiedSparring:
        with np.load(io.BytesIO(bandit.snapshot())) as file:
            arrays = dict(file)
        arrays["meetings"][:, 2] = wins
        arrays["evidence"][:] = 1e-250  # nobody goes here
        changed = io.BytesIO()
        np.savez(changed, **arrays)
        return rd.CertifiedSparring.restore(changed.getvalue())

    full = restored(2**32 - 1)
    before = full.meetings.tolist()
    for outcome in (rd.Outcome.FIRST, rd.Outcome.SECOND):
        full.tell(full.ask(), outcome)
    assert full.meetings.tolist() == before
    nearly = restored(2**32 - 2)
    for _ in range(20):
        nearly.tell(nearly.ask(), rd.Outcome.FIRST)
    assert nearly.meetings[0, 2] == 2**32 - 1
    with pytest.raises(rd.SnapshotError, match=r"meetings\[0, 0\] is 4294967296, expected a number"):
        restored(2**32)


def test_a_page_of_many_says_what_it_guarantees() -> None:
    bandit = rd.CertifiedMulti(3, delta=0.1, seed=1)
    assert "at least 90 % confidence" in bandit.confidence().meaning
    while bandit.winner is None:
        duel = bandit.ask()
        arms = np.array(duel.arms)
        bandit.tell(duel, np.sign(arms[None, :] - arms[:, None]).astype(float))
    assert bandit.decision().headline.startswith("Arm 0 is the best of 3 arms, with at least 90 % confidence (")
