"""What holds for every preference matrix, whatever its numbers."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankduel.preferences import Kind, PreferenceMatrix, Problem, Utilities, regret

chances = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0])


@st.composite
def matrices(draw: st.DrawFn, min_arms: int = 1, max_arms: int = 9) -> PreferenceMatrix:
    K = draw(st.integers(min_arms, max_arms))
    upper = np.triu(draw(arrays(np.float64, (K, K), elements=chances)), 1)
    P = upper + np.tril(1 - upper.T, -1) + np.eye(K) / 2
    if draw(st.booleans()):
        best = draw(st.integers(0, K - 1))
        P[best], P[:, best] = 0.75, 0.25
        P[best, best] = 0.5
    return PreferenceMatrix(P)


# Utilities that differ at all differ by 1e-9: half of the least float is 0, and so would be the regret.
steps = st.integers(-30 * 10**9, 30 * 10**9).map(lambda step: step / 1e9)
many_utilities = arrays(np.float64, st.integers(1, 12), elements=steps).map(Utilities)


@given(matrices())
def test_the_matrix_is_exactly_antisymmetric_about_one_half(problem: PreferenceMatrix) -> None:
    P = problem.probabilities
    assert (P - 0.5 == -(P - 0.5).T).all()
    assert (P + P.T == 1).all()
    assert (P >= 0).all()
    assert PreferenceMatrix(P) == problem  # making it exact twice changes nothing


@given(matrices(), st.data())
def test_relabelling_permutes_everything(problem: PreferenceMatrix, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(problem.n_arms)))
    twin, new_label = problem.subset(order), np.argsort(order).tolist()
    assert (twin.probabilities == problem.probabilities[np.ix_(order, order)]).all()
    assert twin.copeland_scores.tolist() == problem.copeland_scores[order].tolist()
    assert twin.borda_scores.tolist() == pytest.approx(problem.borda_scores[order].tolist())
    assert set(twin.copeland_winners) == {new_label[arm] for arm in problem.copeland_winners}
    assert twin.three_cycles == problem.three_cycles
    assert twin.smallest_gap == problem.smallest_gap
    assert {frozenset(group) for group in twin.duplicates(0.1)} == {
        frozenset(new_label[arm] for arm in group) for group in problem.duplicates(0.1)
    }
    if problem.condorcet_winner is None:
        assert twin.condorcet_winner is None
    else:
        assert twin.condorcet_winner == new_label[problem.condorcet_winner]
        assert twin.gaps.tolist() == problem.gaps[order].tolist()
    assert (twin == problem) == (twin.probabilities == problem.probabilities).all()


@given(matrices(min_arms=2))
def test_flipping_the_matrix_makes_winners_losers(problem: PreferenceMatrix) -> None:
    P, flipped = problem.probabilities, PreferenceMatrix(problem.probabilities.T)
    assert flipped.three_cycles == problem.three_cycles
    assert flipped.duplicates(0.1) == problem.duplicates(0.1)
    assert (flipped.borda_scores + problem.borda_scores).tolist() == pytest.approx([problem.n_arms] * problem.n_arms)
    ties = ((P == 0.5).sum(axis=1) - 1) / (problem.n_arms - 1)
    assert (flipped.copeland_scores + problem.copeland_scores + ties).tolist() == pytest.approx([1.0] * problem.n_arms)
    if problem.condorcet_winner is not None:
        assert flipped.copeland_scores[problem.condorcet_winner] == 0
        assert flipped.condorcet_winner != problem.condorcet_winner


@given(matrices())
def test_winners_of_every_kind_agree_where_they_must(problem: PreferenceMatrix) -> None:
    assert problem.borda_scores.sum() == pytest.approx(problem.n_arms**2 / 2)
    assert len(problem.copeland_winners) >= 1
    assert 0 <= problem.three_cycles <= problem.n_arms * (problem.n_arms**2 - 1) / 24 + 1e-9
    x = problem.von_neumann
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(1)
    assert (x @ problem.probabilities).min() >= 0.5 - 1e-9
    if problem.condorcet_winner is not None:
        assert problem.copeland_winners == (problem.condorcet_winner,)
        assert 2 * problem.borda_scores[problem.condorcet_winner] >= problem.n_arms - 1e-9


@given(matrices() | many_utilities)
def test_regret_is_zero_for_the_best_and_weak_average_strong_are_in_order(problem: Problem) -> None:
    arms = np.arange(problem.n_arms)
    first, second = (grid.ravel() for grid in np.meshgrid(arms, arms))
    costs = {}
    for kind in get_args(Kind):
        if kind != "copeland" and problem.condorcet_winner is None:
            continue
        costs[kind] = regret(problem, kind).of(first, second)
        assert (costs[kind] >= 0).all()
        assert costs[kind].tolist() == regret(problem, kind).of(second, first).tolist()
    for best in problem.copeland_winners:
        assert regret(problem, "copeland").of(best, best) == 0
    if problem.condorcet_winner is not None:
        assert (costs["weak"] <= costs["average"]).all()
        assert (costs["average"] <= costs["strong"]).all()
        assert costs["strong"].max() <= 0.5
        assert (costs["weak"][(first == problem.condorcet_winner) | (second == problem.condorcet_winner)] == 0).all()
        only_best = (first == problem.condorcet_winner) & (second == problem.condorcet_winner)
        assert ((costs["strong"] == 0) == only_best).all()


@given(many_utilities)
def test_utilities_are_transitive(problem: Utilities) -> None:
    assert problem.matrix().three_cycles == 0


names = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=3, max_size=3)


@settings(max_examples=50)
@given(matrices(min_arms=3, max_arms=3), names.filter(lambda names: len(set(names)) == 3))
def test_files_give_back_what_they_were_given(problem: PreferenceMatrix, names: list[str]) -> None:
    problem = PreferenceMatrix(problem.probabilities, tuple(names))
    with TemporaryDirectory() as folder:
        for suffix in (".npz", ".csv", ".csv.gz"):
            problem.save(path := Path(folder) / f"m{suffix}")
            assert PreferenceMatrix.load(path) == problem
        for suffix in (".txt", ".npy", ".txt.gz"):
            problem.save(path := Path(folder) / f"m{suffix}")
            assert (PreferenceMatrix.load(path).probabilities == problem.probabilities).all()
