import pickle

import numpy as np
import pytest

from rankduel.preferences import Kind, PreferenceMatrix, Problem, Regret, Utilities, regret
from rankduel.preferences.problems import cycle, utilities

THREE = PreferenceMatrix.from_array([[0.5, 0.4, 0.7], [0.6, 0.5, 0.9], [0.3, 0.1, 0.5]])  # 1 beats 0 beats 2
CIRCLE = PreferenceMatrix.from_array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])


@pytest.mark.parametrize(
    ("kind", "gaps", "combine", "of_0_and_2"),
    [
        ("average", [0.1, 0.0, 0.4], "mean", 0.25),
        ("weak", [0.1, 0.0, 0.4], "min", 0.1),
        ("strong", [0.1, 0.0, 0.4], "max", 0.4),
        ("copeland", [0.5, 0.0, 1.0], "mean", 0.75),
    ],
)
def test_the_kinds_of_regret(kind: Kind, gaps: list[float], combine: str, of_0_and_2: float) -> None:
    cost = regret(THREE, kind)
    assert cost.gaps.tolist() == pytest.approx(gaps)
    assert cost.combine == combine
    assert cost.of(0, 2) == cost.of(2, 0) == pytest.approx(of_0_and_2)
    assert isinstance(cost.of(0, 2), float)
    first, second = np.array([1, 0, 2]), np.array([1, 2, 2])
    assert cost.of(first, second).tolist() == pytest.approx([0.0, of_0_and_2, gaps[2]])


def test_average_is_the_default() -> None:
    assert regret(THREE).combine == "mean"
    assert regret(THREE).gaps.tolist() == THREE.gaps.tolist()


def test_cycle_costs_at_most_a_hundredth() -> None:
    assert regret(cycle()).gaps.tolist() == pytest.approx([0.0] + [0.01] * 19)


@pytest.mark.parametrize("kind", ["average", "weak", "strong"])
@pytest.mark.parametrize("problem", [CIRCLE, Utilities(np.array([1.0, 1.0]))])
def test_without_a_condorcet_winner_copeland_is_suggested(problem: Problem, kind: Kind) -> None:
    message = f"{kind} regret needs a Condorcet winner, but <.* no Condorcet winner> has none; use kind='copeland'"
    with pytest.raises(ValueError, match=message):
        regret(problem, kind)
    assert min(regret(problem, "copeland").gaps) == 0


def test_an_unknown_kind_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="kind must be one of average, weak, strong, copeland, got 'mean'"):
        regret(THREE, "mean")  # type: ignore[arg-type]


def test_utilities_cost_the_same_as_their_matrix() -> None:
    problem = utilities(40, seed=2)
    kinds: tuple[Kind, ...] = ("average", "weak", "strong", "copeland")
    for kind in kinds:
        small, large = regret(problem.matrix(), kind), regret(problem, kind)
        assert small.combine == large.combine
        assert small.gaps.tolist() == pytest.approx(large.gaps.tolist(), abs=1e-15)


def test_gaps_are_what_the_compiled_loop_takes() -> None:
    gaps = regret(THREE.subset([2, 1, 0])).gaps
    assert gaps.dtype == np.float64
    assert gaps.flags.c_contiguous
    assert not gaps.flags.writeable
    assert Regret(np.arange(10.0)[::2]).gaps.flags.c_contiguous


def test_a_wrong_regret_is_refused() -> None:
    with pytest.raises(ValueError, match="combine must be one of mean, min, max, got 'sum'"):
        Regret(np.zeros(2), "sum")  # type: ignore[arg-type]
    for gaps in (np.zeros((2, 2)), np.array([0.0, np.nan])):
        with pytest.raises(ValueError, match="gaps must be a one-dimensional array of finite numbers, one per arm"):
            Regret(gaps)


def test_a_pickled_copy_is_still_read_only() -> None:
    twin = pickle.loads(pickle.dumps(regret(THREE, "strong")))
    assert (twin.gaps.tolist(), twin.combine) == (regret(THREE).gaps.tolist(), "max")
    assert not twin.gaps.flags.writeable
