"""The flagship and the certificate against their literal twins, step by step. A false alarm is impossible."""

import itertools
import math

import numpy as np
import pytest

import rankduel as rd
from naive.certified_sparring import Certificate, CertifiedSparring
from rankduel.randomness import bit_generator

PROBLEMS = {
    "cycle": rd.problems.cycle(),
    "cycle2": rd.problems.cycle2(),
    "bradley_terry": rd.problems.bradley_terry(30),
    "random": rd.problems.random_tournament(12),
    "many": rd.problems.bradley_terry(520),  # four levels of samples, and then three
    "even": rd.PreferenceMatrix(np.full((3, 3), 0.5)),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("delta", [0.3, 0.01])
def test_the_same_duels_as_the_twin(name: str, delta: float) -> None:
    problem = PROBLEMS[name]
    bandit = rd.CertifiedSparring(problem.n_arms, delta=delta, seed=4)
    rng = np.random.Generator(bit_generator(4, "bandit"))
    twin = CertifiedSparring(problem.n_arms, delta=delta, rng=rng)
    coin = np.random.default_rng(8)
    for _ in range(6000):
        duel = bandit.ask()
        assert (duel.first, duel.second) == twin.choose()
        first_won = bool(coin.random() < problem.probabilities[duel.first, duel.second])
        bandit.tell(duel, rd.Outcome.FIRST if first_won else rd.Outcome.SECOND)
        twin.learn(duel.first, duel.second, first_won)
        assert bandit.alive.tolist() == twin.alive
    for out in bandit.decision().eliminated:
        assert out.evidence is not None
        assert out.evidence == pytest.approx(twin.certificate.against(out.arm), rel=1e-9)
        assert out.evidence >= math.log(1 / delta)


@pytest.mark.parametrize("spec", ["MergeDTS", "MergeRUCB", "SelfSparring", "DTS", "Uniform"])
def test_every_bandit_hears_the_same_evidence(spec: str) -> None:
    """Whoever chooses the duels: an arm goes at the very duel at which the twin's evidence is enough."""
    problem = rd.problems.cycle2()
    bandit = rd.bandit_from(f"{spec}(elimination=Certified(delta=0.1))", 20, seed=2)
    twin, wins, coin = Certificate(20, 0.1), np.zeros((20, 20), np.int64), np.random.default_rng(3)
    gone: list[int] = []
    for _ in range(40_000):
        duel = bandit.ask()
        assert not {duel.first, duel.second} & set(gone)
        if bandit.winner is not None:
            break
        assert duel.first != duel.second
        first_won = coin.random() < problem.probabilities[duel.first, duel.second]
        bandit.tell(duel, rd.Outcome.FIRST if first_won else rd.Outcome.SECOND)
        winner, loser = (duel.first, duel.second) if first_won else (duel.second, duel.first)
        for arm, other in ((winner, loser), (loser, winner)):
            twin.record_bets(arm, arm == winner, int(wins[arm, other]), int(wins[other, arm]))
        wins[winner, loser] += 1
        if twin.enough(loser):
            gone.append(loser)
        assert [out.arm for out in bandit.decision().eliminated] == gone
    assert len(gone) >= 5


@pytest.mark.parametrize("p", [0.5, 0.6, 0.9])
def test_the_evidence_against_the_best_arm_is_a_supermartingale(p: float) -> None:
    """By enumeration of all 2^12 courses of 12 duels, against two opponents in turn: its mean never exceeds 1."""
    mean = 0.0
    for course in itertools.product((True, False), repeat=12):
        certificate, wins = Certificate(1, 0.01), np.zeros((2, 2), np.int64)
        for k, won in enumerate(course):
            opponent = k % 2
            certificate.record_bets(0, won, int(wins[opponent, 0]), int(wins[opponent, 1]), guess=0.3, trust=20)
            wins[opponent, 0 if won else 1] += 1
        mean += math.exp(certificate.against(0)) * p ** sum(course) * (1 - p) ** (12 - sum(course))
    assert mean <= 1 + 1e-12
    assert p > 0.5 or mean == pytest.approx(1)  # at even odds every bet is fair, and nothing is given away
