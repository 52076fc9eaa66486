from collections.abc import Callable
from itertools import combinations
from time import process_time

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from rankduel.preferences import PreferenceMatrix, simplex
from rankduel.preferences.problems import cycle, random_tournament, uninformative

Floats = NDArray[np.float64]


def slow_three_cycles(P: Floats) -> int:
    circles = 0
    for i, j, k in combinations(range(len(P)), 3):
        circles += P[i, j] > 0.5 and P[j, k] > 0.5 and P[k, i] > 0.5
        circles += P[i, k] > 0.5 and P[k, j] > 0.5 and P[j, i] > 0.5
    return circles


def slow_wins(P: Floats) -> list[int]:
    return [sum(1 for j in range(len(P)) if j != i and P[i, j] > 0.5) for i in range(len(P))]


def with_ties(K: int, seed: int, levels: int) -> PreferenceMatrix:
    """Chances rounded to few levels: ties, duplicates and degenerate vertices of the linear programme."""
    upper = np.triu(np.random.default_rng(seed).integers(0, levels + 1, (K, K)) / levels, 1)
    return PreferenceMatrix.from_array(upper + np.tril(1 - upper.T, -1) + np.eye(K) / 2)


def with_copies(K: int, seed: int) -> PreferenceMatrix:
    return random_tournament(K // 5 + 1, winner=None, seed=seed).subset(
        np.random.default_rng(seed).integers(0, K // 5 + 1, K).tolist()
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("levels", [1, 2, 4, 1000])
def test_counts_agree_with_counting_one_by_one(seed: int, levels: int) -> None:
    problem = with_ties(3 + seed, seed, levels)
    P, wins = problem.probabilities, slow_wins(problem.probabilities)
    assert problem.three_cycles == slow_three_cycles(P)
    assert problem.copeland_scores.tolist() == [win / (len(P) - 1) for win in wins]
    assert problem.copeland_winners == tuple(i for i, win in enumerate(wins) if win == max(wins))
    assert problem.condorcet_winner == (wins.index(len(P) - 1) if len(P) - 1 in wins else None)
    assert problem.borda_scores.tolist() == pytest.approx([sum(row) for row in P.tolist()])


def test_a_tie_is_no_win() -> None:
    problem = PreferenceMatrix.from_array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.8], [0.1, 0.2, 0.5]])
    assert problem.condorcet_winner is None
    assert problem.copeland_winners == (0, 1)
    assert problem.borda_winner == 0


def test_duplicates_are_groups_of_arms_with_the_same_row() -> None:
    problem = random_tournament(4, seed=2).subset([0, 1, 2, 1, 3, 0, 1])
    assert problem.duplicates() == ((0, 5), (1, 3, 6))
    assert uninformative(20, 0.3).duplicates(0.0) == (
        tuple(np.flatnonzero(uninformative(20, 0.3).copeland_scores == 0).tolist()),
    )


def test_duplicates_need_more_than_a_draw_between_them() -> None:
    problem = PreferenceMatrix.from_array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.8], [0.1, 0.2, 0.5]])
    assert problem.duplicates(0.05) == ()
    assert problem.duplicates(0.101) == ((0, 1),)


def test_duplicates_join_chains_in_whatever_order_the_arms_come() -> None:
    steps = np.array([0.4, 0.0, 0.1, 0.2, 0.3, 0.9])
    problem = PreferenceMatrix.from_array(0.5 + (steps[:, None] - steps) / 2)
    assert problem.duplicates(0.051) == ((0, 1, 2, 3, 4),)


DEGENERATE = {
    "all tied": PreferenceMatrix.from_array(np.full((40, 40), 0.5)),
    "rock paper scissors": PreferenceMatrix.from_array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]]),
    "cycle": cycle(),
    "cycle without its winner": cycle().subset(range(1, 20)),
    "round table of 137": PreferenceMatrix.from_array(
        np.select([(lag := (np.arange(137) - np.arange(137)[:, None]) % 137) == 0, lag <= 68], [0.5, 1.0], 0.0)
    ),
    "faint": PreferenceMatrix.from_array(0.5 + 1e-9 * (random_tournament(30, winner=None).probabilities - 0.5)),
    "uninformative": uninformative(60),
    **{f"coins {K}": with_ties(K, K, 1) for K in (2, 5, 31, 136)},
    **{f"coins and ties {K}": with_ties(K, K, 2) for K in (3, 31, 136)},
    **{f"copies {K}": with_copies(K, K) for K in (31, 136)},
    **{f"random {K}": random_tournament(K, winner=None, seed=K) for K in (2, 3, 7, 31, 136)},
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_no_arm_beats_the_von_neumann_strategy(name: str) -> None:
    """A symmetric game has value 0. SciPy's own solution of the linear programme is held to the same standard."""
    problem = DEGENERATE[name]
    A, x = problem.probabilities - 0.5, problem.von_neumann
    scale = max(np.abs(A).max(), 1e-300)
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(1)
    K = len(A)
    oracle = linprog(  # maximise v subject to x @ A >= v
        c=np.append(np.zeros(K), -1.0),
        A_ub=np.hstack([-A.T / scale, np.ones((K, 1))]),
        b_ub=np.zeros(K),
        A_eq=[[1.0] * K + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * K + [(None, None)],
    )
    assert oracle.status == 0
    assert (x @ A).min() / scale == pytest.approx(-oracle.fun, abs=1e-9)
    assert (x @ A).min() / scale > -1e-11


def test_the_von_neumann_strategy_of_a_condorcet_winner_is_to_play_it() -> None:
    for problem in (cycle(), random_tournament(50, winner=0.501, seed=1)):
        assert problem.condorcet_winner is not None
        assert problem.von_neumann[problem.condorcet_winner] == pytest.approx(1)


def test_the_unique_strategy_of_rock_paper_scissors_with_weights() -> None:
    problem = PreferenceMatrix.from_array([[0.5, 0.9, 0.3], [0.1, 0.5, 0.6], [0.7, 0.4, 0.5]])
    assert problem.von_neumann.tolist() == pytest.approx([1 / 7, 2 / 7, 4 / 7])  # opposite gaps .1, .2, .4


def test_blands_rule_alone_finds_the_same_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplex, "_MAX_STALLED_PIVOTS", -1)
    for problem in (DEGENERATE["coins 31"], DEGENERATE["copies 31"], DEGENERATE["cycle without its winner"]):
        A = problem.probabilities - 0.5
        assert (simplex.maximin(A) @ A).min() > -1e-11


@pytest.mark.slow
def test_299_arms_take_seconds_at_most() -> None:
    problem = random_tournament(299, winner=None)
    start = process_time()
    assert (problem.von_neumann @ (problem.probabilities - 0.5)).min() > -1e-10
    assert process_time() - start < 20  # 0.5 s on an idle machine


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "facts"),  # arms, Condorcet winner, its smallest gap, three-cycles
    [
        ("mslr_navigational_136", (136, 109, 0.0056, 377)),
        ("mslr_perfect_136", (136, 109, 0.0066, 447)),
        ("mslr_informational_cdc_135", (135, 113, 0.0047, 336)),
        ("mslr_perfect_zoghi_136", (136, 12, 0.0038, 448)),
        ("dts_mslr32_noncondorcet_reconstructed", (32, None, None, 3)),
        ("dts_mslr5_condorcet", (5, 0, 0.0352, 0)),
        ("dts_mslr5_noncondorcet", (5, None, None, 1)),
        ("letor_np2004_64", (64, 13, 0.0096, 434)),
        ("arxiv6", (6, 0, 0.04, 0)),
        ("sushi16", (16, 0, 0.012, 0)),
        ("sushi100_preflib", (100, 18, 0.0124, 4939)),
        ("irish10_raveh", (10, 0, 0.0693, 1)),
        ("rankings_baseball2015_299", (299, 240, 0.0344, 923)),
        ("wmt16_eng_rus", (12, 5, 0.0793, 2)),
        ("llmfao_crowd_bt", (59, 17, 0.0834, 0)),
    ],
)
def test_the_real_matrices_are_as_the_manifest_says(
    real_matrix: Callable[[str], PreferenceMatrix], name: str, facts: tuple[int, int | None, float | None, int]
) -> None:
    problem = real_matrix(name)
    n_arms, winner, smallest_gap, three_cycles = facts
    assert (problem.n_arms, problem.condorcet_winner, problem.three_cycles) == (n_arms, winner, three_cycles)
    assert problem.smallest_gap == (smallest_gap and pytest.approx(smallest_gap, abs=5.1e-5))
    assert (problem.von_neumann @ (problem.probabilities - 0.5)).min() > -1e-12


@pytest.mark.shared_data
def test_the_duplicate_features_of_mslr_are_found(real_matrix: Callable[[str], PreferenceMatrix]) -> None:
    twins = [(i + k, j + k) for i, j in ((0, 5), (20, 35), (45, 60), (70, 85)) for k in range(5)]
    idf = (15, 16, 17, 18, 19)
    assert real_matrix("mslr_navigational_136").duplicates(0.005) == tuple(sorted([*twins, (10, 14), idf]))


@pytest.mark.shared_data
def test_the_borda_winner_of_mslr_informational_is_not_the_condorcet_winner(
    real_matrix: Callable[[str], PreferenceMatrix],
) -> None:
    problem = real_matrix("mslr_informational_cdc_135")
    assert (problem.condorcet_winner, problem.borda_winner) == (113, 118)
    assert problem.borda_scores[[118, 113]].tolist() == pytest.approx([83.147, 82.973], abs=6e-4)
