"""The mean regret of kernel and literal twin agrees within 4 standard errors.

False alarm: below 1e-4 per comparison, by the number of errors that the specification allows. Where 24 runs of the twin
are more than 3 errors away, 72 more decide, so that chance is small and the tails are normal. Seeds are fixed: an alarm
that appears says that a kernel has changed. Look at the law (test_law) before the luck.
"""

import math

import numpy as np
import numpy.typing as npt
import pytest

import rankduel as rd
from fidelity import wrong
from fidelity.problems import CYCLE, CYCLE2
from naive import NAIVE, Naive, play

PROBLEMS = {"cycle": CYCLE, "cycle2": CYCLE2, "bradley_terry": rd.problems.bradley_terry(12, seed=3)}
HORIZON = 1500
TWINS, MORE_TWINS, RUNS = 24, 72, 400
Floats = npt.NDArray[np.float64]


def regret_of_kernel(name: str, problem: rd.PreferenceMatrix) -> Floats:
    runs = rd.simulate_runs(name, problem, horizon=HORIZON, runs=RUNS, seed=1, checkpoints=[HORIZON])
    return np.array([run.regret[-1] for run in runs])


def regret_of_twin(twin: type[Naive], problem: rd.PreferenceMatrix, runs: range = range(TWINS)) -> Floats:
    ends = []
    for run in runs:
        streams = np.random.SeedSequence([run, int(problem.fingerprint[:8], 16)]).spawn(2)
        bandit, coin = twin(problem.n_arms, rng=np.random.default_rng(streams[0])), np.random.default_rng(streams[1])
        ends.append(play(bandit, problem.probabilities, problem.gaps, HORIZON, coin, [HORIZON])[-1])
    return np.array(ends)


def standard_errors_apart(one: Floats, other: Floats) -> float:
    error = math.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    return float(abs(one.mean() - other.mean()) / error)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", rd.REGISTRY)
def test_mean_regret(name: str, problem: str) -> None:
    kernel, twin = regret_of_kernel(name, PROBLEMS[problem]), regret_of_twin(NAIVE[name], PROBLEMS[problem])
    if standard_errors_apart(kernel, twin) > 3:
        more = range(TWINS, TWINS + MORE_TWINS)
        twin = np.concatenate([twin, regret_of_twin(NAIVE[name], PROBLEMS[problem], more)])
    assert standard_errors_apart(kernel, twin) < 4, f"kernel {kernel.mean():.1f}, twin {twin.mean():.1f}"


@pytest.mark.parametrize(
    ("name", "variant", "problem"),
    [
        ("REX3", wrong.Rex3WithoutFactor2, "bradley_terry"),
        ("RMED1", wrong.Rmed1OneOpponent, "cycle"),
    ],
)
def test_a_wrong_variant_is_far_off(name: str, variant: type[Naive], problem: str) -> None:
    kernel, twin = regret_of_kernel(name, PROBLEMS[problem]), regret_of_twin(variant, PROBLEMS[problem])
    assert standard_errors_apart(kernel, twin) > 6, f"kernel {kernel.mean():.1f}, twin {twin.mean():.1f}"
